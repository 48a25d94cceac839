package cupeltiktoken

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/tiktoken-go/tokenizer"

	"github.com/wollax/cupel-go/cupel"
)

var _ cupel.TokenCounter = (*Counter)(nil)

// Encoding names a vocabulary and its rules for splitting text.
type Encoding string

// The encodings. Encodings that split ordinary text in the same way are
// accepted as aliases: gpt2 for EncodingR50kBase, p50k_edit for
// EncodingP50kBase, and o200k_harmony for EncodingO200kBase.
const (
	EncodingO200kBase  Encoding = "o200k_base"  // GPT-4o and everything since, o1, o3, o4
	EncodingCl100kBase Encoding = "cl100k_base" // GPT-4, GPT-3.5, the embedding models
	EncodingP50kBase   Encoding = "p50k_base"   // text-davinci-002 and -003, Codex
	EncodingR50kBase   Encoding = "r50k_base"   // GPT-3, GPT-2
)

// UnknownError reports an unknown encoding or model.
type UnknownError struct {
	What  string   // "encoding" or "model"
	Name  string   // as given
	Known []string // the known names, sorted; names that end in * are prefixes
}

func (e *UnknownError) Error() string {
	return fmt.Sprintf("cupeltiktoken: unknown %s %q; want one of %s", e.What, e.Name, strings.Join(e.Known, ", "))
}

// Counter counts tokens in one encoding. Get one from [ForEncoding] or
// [ForModel]. It is safe for concurrent use.
type Counter struct {
	encoding Encoding
	words    tokenizer.Codec
	blanks   *blanks            // nil if the codec counts them correctly
	all      func() *vocabulary // for long words
	counted  sync.Pool          // of map[string]int: tokens of short texts
}

// ForEncoding returns the counter of an encoding, or an [UnknownError]. The
// first call for an encoding loads its vocabulary, which takes some 10 to 30
// milliseconds; later ones return the same counter.
func ForEncoding(name Encoding) (*Counter, error) {
	if same, ok := sameAs[name]; ok {
		name = same
	}
	load, ok := counters[name]
	if !ok {
		return nil, &UnknownError{"encoding", string(name), knownEncodings()}
	}
	return load()
}

// ForModel returns the counter for a model, such as "gpt-4o", "gpt-4-0613" or
// "ft:gpt-3.5-turbo:acme", or an [UnknownError]. Names are as in OpenAI's tiktoken;
// dated and fine-tuned models match the longest known prefix.
func ForModel(name string) (*Counter, error) {
	encoding, ok := models[name]
	if !ok {
		longest := ""
		for prefix, e := range prefixes {
			if strings.HasPrefix(name, prefix) && len(prefix) > len(longest) {
				longest, encoding = prefix, e
			}
		}
		if longest == "" {
			return nil, &UnknownError{"model", name, knownModels()}
		}
	}
	return ForEncoding(encoding)
}

// Encoding returns the name of the encoding, or "" for an empty counter.
func (c *Counter) Encoding() Encoding {
	if c == nil {
		return ""
	}
	return c.encoding
}

// CountTokens implements [cupel.TokenCounter]. It takes time linear in the
// length of the text and at most about 50 MB of memory. The package
// documentation describes which texts beyond 1 MiB are estimates. It fails only
// for a zero Counter, never because of the text.
func (c *Counter) CountTokens(text string) (int, error) {
	if c == nil || c.words == nil {
		return 0, errors.New("cupeltiktoken: the counter is empty: build it with ForEncoding or ForModel")
	}
	tokens := 0
	for all := (segments{text: text}); ; {
		segment := all.next()
		if segment == "" {
			return tokens, nil
		}
		tokens += c.countShort(segment)
	}
}

const (
	// maxCounted is how many short texts are remembered at once.
	maxCounted = 1 << 15
	// shortText is the length in bytes from which a text is not remembered.
	shortText = 48
)

// countShort counts the tokens of a segment word by word. Most words recur, and a
// look-up is faster than counting.
func (c *Counter) countShort(text string) (tokens int) {
	counted, _ := c.counted.Get().(map[string]int)
	if counted == nil {
		counted = make(map[string]int)
	}
	defer c.counted.Put(counted)
	for text != "" {
		end := cutAfter(text, 0)
		word := text[:end]
		text = text[end:]
		n, known := counted[word]
		if !known {
			n = c.countLong(word)
			if len(counted) == maxCounted {
				clear(counted)
			}
			if len(word) < shortText {
				counted[strings.Clone(word)] = n
			}
		}
		tokens += n
	}
	return tokens
}

// countLong counts the tokens of a word. If a run makes the word long, it counts
// most of the run separately.
func (c *Counter) countLong(text string) int {
	tokens := 0
	for len(text) > longRun {
		start, end := c.findRun(text)
		if end-start < longRun {
			if len(text) <= segmentSize+longestWord {
				break
			}
			// No place is better.
			end = 0
			for end < start {
				part := cutBefore(text, end+segmentSize)
				tokens += c.count(text[end:part])
				end = part
			}
			text = text[end:]
			continue
		}
		n, at := c.countRun(text, start, end)
		tokens += n
		text = text[at:]
	}
	return tokens + c.count(text)
}

// countRun counts the tokens from the start of a text up to the last windows of a
// run. It returns where the next token begins.
func (c *Counter) countRun(text string, start, end int) (tokens, at int) {
	m := mergers.Get().(*merger)
	defer mergers.Put(m)
	all := c.all()
	for size := window; ; size *= 2 {
		n, from, first := c.countTo(text[:cutBefore(text, start+size)])
		m.ends = m.merge(all, text[from:min(from+size, end)], m.ends)
		if int(m.ends[0]) == first {
			at, tokens = m.advance(all, text[from:end])
			return n + tokens, from + at
		}
		if start+2*size > end || size >= longestWord {
			at = cutBefore(text, start+size)
			return c.count(text[:at]), at
		}
	}
}

// count counts the tokens of a text as a whole.
func (c *Counter) count(text string) int {
	tokens, rest := c.countBlanks(strings.ReplaceAll(text, del, likeDel))
	return tokens + c.countWords(rest)
}

// countTo counts the tokens of a text that ends in a run of a window, up to the last
// token that begins with a character and overlap bytes before the end. It returns
// the start and the size of that token.
func (c *Counter) countTo(text string) (tokens, at, size int) {
	tokens, rest := c.countBlanks(strings.ReplaceAll(text, del, likeDel))
	_, list, _ := c.words.Encode(rest) // as in countWords
	// Start from the end, because tokens of invalid UTF-8 at the start are
	// longer.
	at = len(text)
	for at > len(text)-overlap || !utf8.RuneStart(text[at]) {
		size = len(list[len(list)-1])
		at -= size
		list = list[:len(list)-1]
	}
	return tokens + len(list), at, size
}

// countBlanks counts the tokens up to the last piece that the tokenizer gets
// wrong, and returns the text after it.
func (c *Counter) countBlanks(text string) (tokens int, rest string) {
	if c.blanks == nil {
		return 0, text
	}
	for from := 0; ; {
		start, end, ok := c.blanks.next(text, from)
		if !ok {
			return tokens, text[from:]
		}
		tokens += c.countWords(text[from:start]) + c.blanks.count(text[start:end])
		from = end
	}
}

// countWords counts the tokens as the tokenizer does. It does not fail: it replaces
// invalid UTF-8, and its search has no time limit.
func (c *Counter) countWords(text string) int {
	n, _ := c.words.Count(text)
	return n
}

// The tokenizer omits the character DEL, so another control character replaces
// it. Both are split off like punctuation, and each is one token that is never
// part of a longer one.
const del, likeDel = "\x7F", "\x02"

var counters = map[Encoding]func() (*Counter, error){
	EncodingO200kBase: sync.OnceValues(func() (*Counter, error) {
		return load(EncodingO200kBase, 200_000, &blanks{marksAreLetters: true})
	}),
	EncodingCl100kBase: sync.OnceValues(func() (*Counter, error) { return load(EncodingCl100kBase, 100_256, &blanks{}) }),
	EncodingP50kBase:   sync.OnceValues(func() (*Counter, error) { return load(EncodingP50kBase, 50_281, nil) }),
	EncodingR50kBase:   sync.OnceValues(func() (*Counter, error) { return load(EncodingR50kBase, 50_257, nil) }),
}

// load makes the counter of an encoding with the given number of tokens.
func load(encoding Encoding, size int, b *blanks) (*Counter, error) {
	words, err := tokenizer.Get(tokenizer.Encoding(encoding))
	if err != nil {
		return nil, err
	}
	words.SetErrorMode(tokenizer.ErrorModeReplace)
	if b != nil {
		b.load = sync.OnceValue(func() *vocabulary { return newVocabulary(readRanks(encoding, size, allBlank)) })
	}
	all := sync.OnceValue(func() *vocabulary {
		return newVocabulary(readRanks(encoding, size, func(string) bool { return true }))
	})
	return &Counter{encoding: encoding, words: words, blanks: b, all: all}, nil
}
