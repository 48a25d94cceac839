package cupeltiktoken

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/tiktoken-go/tokenizer"
)

// blanks counts the tokens of white space in which lines end more than once,
// such as blank lines with spaces in them. cl100k_base and o200k_base take such
// a run up to its last line end as one piece; the tokenizer that this package
// uses cuts it at the first one, which gives other tokens and takes quadratic
// time.
type blanks struct {
	vocabulary      int  // tokens to look at
	marksAreLetters bool // as the encoding's rules have it

	load    func() // fills what follows, once
	ranks   map[string]uint32
	longest int // bytes of the longest token
}

// read takes the tokens that are made of bytes of white space from the
// vocabulary.
func (b *blanks) read(encoding Encoding) {
	b.ranks = make(map[string]uint32)
	var isBlank [256]bool
	for _, r := range "\t\n\v\f\r \u0085\u00A0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200A\u2028\u2029\u202F\u205F\u3000" {
		for _, c := range []byte(string(r)) {
			isBlank[c] = true
		}
	}
	// One that decodes bytes as they are; the counter's own replaces them.
	codec, err := tokenizer.Get(tokenizer.Encoding(encoding))
	if err != nil {
		return // it was there a moment ago
	}
	for id := range uint(b.vocabulary) {
		token, err := codec.Decode([]uint{id})
		if err != nil {
			continue
		}
		all := true
		for i := range len(token) {
			all = all && isBlank[token[i]]
		}
		if all {
			b.ranks[token] = uint32(id)
			b.longest = max(b.longest, len(token))
		}
	}
}

// next returns the first piece of white space from a position on that has to be
// counted here. The text between two pieces may be counted by itself: a piece
// starts and ends where tokens do.
func (b *blanks) next(text string, from int) (start, end int, ok bool) {
	for at := from; ; {
		i := strings.IndexAny(text[at:], "\r\n")
		if i < 0 {
			return 0, 0, false
		}
		i += at
		start = from + len(strings.TrimRightFunc(text[from:i], unicode.IsSpace))
		rest := strings.TrimLeftFunc(text[i:], unicode.IsSpace)
		run := text[start : len(text)-len(rest)]
		at = start + len(run)
		end = start + strings.LastIndexAny(run, "\r\n") + 1
		// Is there anything but line ends between the first and the last one?
		if strings.Trim(text[i:end], "\r\n") == "" {
			continue
		}
		if i == start && b.takesLineEnds(text[:start]) {
			start += len(run) - len(strings.TrimLeft(run, "\r\n"))
		}
		return start, end, true
	}
}

// takesLineEnds reports whether the token before takes the line ends after it:
// punctuation does, words and numbers do not. Marks that combine with the
// character before are punctuation in cl100k_base; in o200k_base they are
// letters, unless they come after two characters of punctuation or a space and
// one, which take everything up to the next letter.
func (b *blanks) takesLineEnds(before string) bool {
	last, _ := utf8.DecodeLastRuneInString(before)
	if before == "" || !isPunctuation(last) {
		return false
	}
	if !b.marksAreLetters || !unicode.IsMark(last) {
		return true
	}
	outside := strings.LastIndexFunc(before, func(r rune) bool { return !isPunctuation(r) })
	afterSpace := outside >= 0 && before[outside] == ' '
	if outside >= 0 {
		_, size := utf8.DecodeRuneInString(before[outside:])
		outside += size - 1
	}
	run := strings.TrimLeftFunc(before[outside+1:], unicode.IsMark)
	afterSpace = afterSpace && len(run) == len(before)-outside-1
	for run != "" {
		if afterSpace {
			return true
		}
		_, size := utf8.DecodeRuneInString(run)
		if r, _ := utf8.DecodeRuneInString(run[size:]); !unicode.IsMark(r) {
			return true
		}
		run = strings.TrimLeftFunc(run[size:], unicode.IsMark)
	}
	return false
}

func isPunctuation(r rune) bool {
	return !unicode.IsSpace(r) && !unicode.IsLetter(r) && !unicode.IsNumber(r)
}

// part is a token to be: it starts at its own index, and ends where the next
// one starts.
type part struct {
	previous, next int
	rank           uint32 // of the token that it makes with the next one
}

const noRank = 1<<18 - 1 // no vocabulary is as large

// count is byte pair encoding: of all neighbours that make a token, those of
// the lowest rank become one, the leftmost first, until there are none.
func (b *blanks) count(piece string) int {
	b.load()
	parts := make([]part, len(piece)+1)
	for i := range parts {
		parts[i] = part{i - 1, i + 1, noRank}
	}
	var queue heap
	look := func(i int) {
		parts[i].rank = noRank
		second := parts[i].next
		if second >= len(piece) {
			return
		}
		end := parts[second].next
		if end-i > b.longest {
			return
		}
		if rank, ok := b.ranks[piece[i:end]]; ok {
			parts[i].rank = rank
			queue.push(uint64(rank)<<46 | uint64(i))
		}
	}
	for i := range len(piece) {
		look(i)
	}
	tokens := len(piece)
	for len(queue) > 0 {
		lowest := queue.pop()
		i, rank := int(lowest&(1<<46-1)), uint32(lowest>>46)
		if parts[i].rank != rank { // it was joined with another one since
			continue
		}
		second := parts[i].next
		parts[second].rank = noRank
		parts[i].next = parts[second].next
		parts[parts[i].next].previous = i
		tokens--
		look(i)
		if parts[i].previous >= 0 {
			look(parts[i].previous)
		}
	}
	return tokens
}

// heap is a binary heap with the smallest number first.
type heap []uint64

func (h *heap) push(x uint64) {
	*h = append(*h, x)
	s := *h
	for i := len(s) - 1; i > 0 && s[i] < s[(i-1)/2]; i = (i - 1) / 2 {
		s[i], s[(i-1)/2] = s[(i-1)/2], s[i]
	}
}

func (h *heap) pop() uint64 {
	s := *h
	first, last := s[0], len(s)-1
	s[0] = s[last]
	s = s[:last]
	*h = s
	for i := 0; ; {
		child := 2*i + 1
		if child >= len(s) {
			return first
		}
		if child+1 < len(s) && s[child+1] < s[child] {
			child++
		}
		if s[i] <= s[child] {
			return first
		}
		s[i], s[child] = s[child], s[i]
		i = child
	}
}
