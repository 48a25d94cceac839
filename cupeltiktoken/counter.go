package cupeltiktoken

import (
	"errors"
	"fmt"
	"strings"
	"sync"

	"github.com/tiktoken-go/tokenizer"

	"github.com/wollax/cupel-go/cupel"
)

var _ cupel.TokenCounter = (*Counter)(nil)

// Encoding names a vocabulary with its rules of cutting texts.
type Encoding string

// The encodings. Others that cut ordinary text in the same way are known by
// their names: gpt2 is EncodingR50kBase, p50k_edit is EncodingP50kBase, and o200k_harmony is
// EncodingO200kBase.
const (
	EncodingO200kBase  Encoding = "o200k_base"  // GPT-4o and everything since, o1, o3, o4
	EncodingCl100kBase Encoding = "cl100k_base" // GPT-4, GPT-3.5, the embedding models
	EncodingP50kBase   Encoding = "p50k_base"   // text-davinci-002 and -003, Codex
	EncodingR50kBase   Encoding = "r50k_base"   // GPT-3, GPT-2
)

// UnknownError reports the name of an encoding or a model that this package
// does not know.
type UnknownError struct {
	What  string   // "encoding" or "model"
	Name  string   // as it was given
	Known []string // the names that are known, sorted; those that end in * are prefixes
}

func (e *UnknownError) Error() string {
	return fmt.Sprintf("cupeltiktoken: unknown %s %q; known are %s", e.What, e.Name, strings.Join(e.Known, ", "))
}

// Counter counts the tokens of texts in one encoding. Build it with
// [ForEncoding] or [ForModel]. It never changes and is safe for concurrent use.
type Counter struct {
	encoding Encoding
	words    tokenizer.Codec
	blanks   *blanks // nil where the codec can be left alone
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

// ForModel returns the counter for the model of this name, such as "gpt-4o",
// "gpt-4-0613" or "ft:gpt-3.5-turbo:acme", or an [UnknownError]. Names are
// those of OpenAI's tiktoken, dated and fine-tuned models go by the longest
// prefix.
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

// CountTokens implements [cupel.TokenCounter]. Time is linear in the length of
// the text, and memory beyond the text is at most some 50 MB. A word, or other
// text without a letter or a number before something else, that is longer than
// 1 MiB is counted in parts of 64 KiB: what joins two parts adds a few tokens,
// always the same number for the same text. It fails for a counter that was
// not built by this package's functions, and never for a text.
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
		n, err := c.count(segment)
		if err != nil {
			return 0, err
		}
		tokens += n
	}
}

// count counts the tokens of a text as a whole.
func (c *Counter) count(text string) (int, error) {
	text = strings.ReplaceAll(text, del, likeDel)
	tokens, from := 0, 0
	if c.blanks != nil {
		for {
			start, end, ok := c.blanks.next(text, from)
			if !ok {
				break
			}
			n, err := c.words.Count(text[from:start])
			if err != nil {
				return 0, err
			}
			tokens += n + c.blanks.count(text[start:end])
			from = end
		}
	}
	n, err := c.words.Count(text[from:])
	return tokens + n, err
}

// The tokenizer below leaves the character del out. Another control character
// stands in for it: both are cut at as punctuation is, and are one token each,
// in no vocabulary part of a longer one.
const del, likeDel = "\x7F", "\x02"

var counters = map[Encoding]func() (*Counter, error){
	EncodingO200kBase: sync.OnceValues(func() (*Counter, error) {
		return load(EncodingO200kBase, &blanks{vocabulary: 200_000, marksAreLetters: true})
	}),
	EncodingCl100kBase: sync.OnceValues(func() (*Counter, error) { return load(EncodingCl100kBase, &blanks{vocabulary: 100_256}) }),
	EncodingP50kBase:   sync.OnceValues(func() (*Counter, error) { return load(EncodingP50kBase, nil) }),
	EncodingR50kBase:   sync.OnceValues(func() (*Counter, error) { return load(EncodingR50kBase, nil) }),
}

func load(encoding Encoding, b *blanks) (*Counter, error) {
	words, err := tokenizer.Get(tokenizer.Encoding(encoding))
	if err != nil {
		return nil, err
	}
	words.SetErrorMode(tokenizer.ErrorModeReplace)
	if b != nil {
		b.load = sync.OnceFunc(func() { b.read(encoding) })
	}
	return &Counter{encoding, words, b}, nil
}
