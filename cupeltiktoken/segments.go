package cupeltiktoken

import (
	"unicode"
	"unicode/utf8"
)

// The tokenizer takes some 40 bytes of memory for each byte of a word, and the
// memory that a long word takes no cache holds. A text is therefore counted in
// segments, which end where every encoding ends a token.
const (
	segmentSize = 64 << 10 // bytes from which a segment ends at the next chance
	longestWord = 1 << 20  // bytes of a word that is never cut
)

// segments cuts a text.
type segments struct {
	text string
	end  int // of the text that was handed out
	cut  int // the first place to cut from the last one looked for on, or the text's end
}

// next returns the next segment, and "" at the end. It cuts within a word only
// where there is no other place to cut within longestWord bytes.
func (s *segments) next() string {
	from := s.end
	s.end = len(s.text)
	if len(s.text)-from > segmentSize {
		if least := from + segmentSize; s.cut < least {
			s.cut = cutAfter(s.text, least)
		}
		s.end = s.cut
		if s.end-from > segmentSize+longestWord {
			s.end = from + segmentSize
			for i := 1; i < utf8.UTFMax && !utf8.RuneStart(s.text[s.end]); i++ {
				s.end--
			}
		}
	}
	return s.text[from:s.end]
}

// cutAfter returns the first place from a position on where the text may be
// cut without changing its tokens: after a letter or a number, and before
// something else that is neither, nor a mark, nor the apostrophe of a
// contraction. Every encoding ends a piece there, and none looks back.
func cutAfter(text string, from int) int {
	for from < len(text) && !utf8.RuneStart(text[from]) {
		from++
	}
	inWord := false
	for i, r := range text[from:] {
		switch {
		case unicode.IsLetter(r) || unicode.IsNumber(r):
			inWord = true
		case inWord && !unicode.IsMark(r) && r != '\'':
			return from + i
		default:
			inWord = false
		}
	}
	return len(text)
}
