package cupeltiktoken

import (
	"unicode"
	"unicode/utf8"
)

// The tokenizer takes about 40 bytes of memory for each byte of a word, so that
// the memory for a long word fits no cache. A text is therefore counted in
// segments, which end where every encoding ends a token. A segment with a long
// word is counted by its runs.
const (
	segmentSize = 64 << 10 // bytes after which a segment ends at the next possible place
	longRun     = 16 << 10 // bytes of a run that is counted separately
	longestWord = 1 << 20  // bytes of anything else that are never cut
)

// segments cuts a text.
type segments struct {
	text string
	end  int // of the text that was handed out
}

// next returns the next segment, and "" at the end.
func (s *segments) next() string {
	from := s.end
	s.end = len(s.text)
	if len(s.text)-from > segmentSize {
		s.end = cutAfter(s.text, from+segmentSize)
	}
	return s.text[from:s.end]
}

// cutBefore returns the last place up to a position where a character begins.
func cutBefore(text string, at int) int {
	if at >= len(text) {
		return len(text)
	}
	for i := 1; i < utf8.UTFMax && !utf8.RuneStart(text[at]); i++ {
		at--
	}
	return at
}

// cutAfter returns the first place from a position on where the text may be
// cut without changing its tokens: after a letter or a number, and before
// something else that is neither, nor a mark, nor the apostrophe of a
// contraction; and between a letter and a number. Every encoding ends a piece
// there, and none looks back.
func cutAfter(text string, from int) int {
	for from < len(text) && !utf8.RuneStart(text[from]) {
		from++
	}
	inWord, inNumber := false, false
	for i, r := range text[from:] {
		switch letter, number := unicode.IsLetter(r), unicode.IsNumber(r); {
		case letter && inNumber, number && inWord:
			return from + i
		case letter, number:
			inWord, inNumber = letter, number
		case (inWord || inNumber) && !unicode.IsMark(r) && r != '\'':
			return from + i
		default:
			inWord, inNumber = false, false
		}
	}
	return len(text)
}

// class is a class of characters. A run is a sequence of characters of one class.
type class byte

const (
	noClass class = iota // white space, numbers and special cases
	punctuation
	lower // letters: all, or by case if the encoding distinguishes it
	upper
	caseless
)

// findRun returns the first run of longRun bytes, up to its end. If the longest
// word has none, it returns end = start, the place to continue from.
//
// From any place within a run the tokenizer makes one piece up to the same end, so
// counting can start at any token of the run.
func (c *Counter) findRun(text string) (start, end int) {
	of := noClass
	for i, r := range text {
		next := c.classOf(r)
		if next == of && of != noClass {
			continue
		}
		// A character without a class is alone, and not long enough. Whether a capital
		// letter ends a piece depends on the letters before caseless ones.
		if i-start >= longRun && (of != caseless || next != upper) {
			return start, i
		}
		start, of = i, next
		if start >= longestWord {
			return start, start
		}
	}
	if len(text)-start >= longRun {
		return start, len(text)
	}
	return len(text), len(text)
}

func (c *Counter) classOf(r rune) class {
	byCase := c.encoding == EncodingO200kBase
	switch {
	case 'a' <= r && r <= 'z':
		return lower
	case r == utf8.RuneError || r == '\x7F':
		return noClass
	case unicode.IsMark(r):
		if byCase {
			return caseless
		}
		return noClass
	case unicode.IsLetter(r):
		switch {
		case !byCase || unicode.Is(unicode.Ll, r):
			return lower
		case unicode.Is(unicode.Lu, r) || unicode.Is(unicode.Lt, r):
			return upper
		}
		return caseless
	case unicode.IsNumber(r) || unicode.IsSpace(r):
		return noClass
	}
	return punctuation
}
