package cupelrelevance

import (
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/width"
)

// maxTerm is how many bytes of a word count. The rest of a longer word is read
// once and discarded, so its cost is linear in its length.
const maxTerm = 64

// class is the tokenizer's class of an ASCII byte.
type class uint8

const (
	separator class = iota
	lower           // digits too: no part of an identifier begins at one
	upper
	underscore
	wide      // not ASCII; for other characters, the script has no spaces
	picture   // an emoji or a sign like it, a term by itself
	invisible // ignored, without separating words
)

var classes = func() (c [256]class) {
	for b := range c {
		switch {
		case b >= utf8.RuneSelf:
			c[b] = wide
		case 'a' <= b && b <= 'z', '0' <= b && b <= '9':
			c[b] = lower
		case 'A' <= b && b <= 'Z':
			c[b] = upper
		case b == '_':
			c[b] = underscore
		}
	}
	return c
}()

// tokenizer cuts text into terms in one pass.
//
// A term is a word in small letters: letters, marks and digits in a row. A word
// with capitals or underscores inside is an identifier: it gives itself,
// without the underscores, and each of its parts. Scripts that are written
// without spaces give overlapping pairs of characters, or a single character if
// it stands alone. Apostrophes, points and everything else separate; invisible
// characters (joiners, direction marks, soft hyphens) are skipped. Terms end
// after maxTerm bytes.
type tokenizer struct {
	// emit receives each term, which is valid only until emit returns, and
	// whether it is an ordinary word, which has a stem.
	emit func(term []byte, word bool)

	whole []byte // of the word being read, without underscores
	part  []byte // of the identifier's part being read
	parts int    // parts that are finished
	pair  []byte // of the run of a script without spaces
	runes int    // in that run
}

func newTokenizer(emit func(term []byte, word bool)) *tokenizer {
	return &tokenizer{
		emit:  emit,
		whole: make([]byte, 0, maxTerm+utf8.UTFMax),
		part:  make([]byte, 0, maxTerm+utf8.UTFMax),
		pair:  make([]byte, 0, 2*utf8.UTFMax),
	}
}

// text reads one text from its start to its end. It takes linear time.
func (t *tokenizer) text(s string) {
	for i := 0; i < len(s); {
		if classes[s[i]] == separator {
			i++
			continue
		}
		i = t.word(s, i)
	}
}

// word reads one word of any shape, beginning at start, and returns where it
// ends.
func (t *tokenizer) word(s string, start int) int {
	t.whole, t.part, t.pair, t.parts, t.runes = t.whole[:0], t.part[:0], t.pair[:0], 0, 0
	previous := separator
	i := start
	for i < len(s) {
		c, size := classes[s[i]], 1
		r := rune(s[i])
		if c == wide {
			r, size = utf8.DecodeRuneInString(s[i:])
			r = oneWidth(r)
			if c = classify(r, size); c == picture {
				if previous == separator {
					t.emit([]byte(string(r)), false)
					return i + size
				}
				break
			} else if c == wide { // a script without spaces
				if previous != separator && previous != wide {
					break
				}
				t.character(r)
				previous = wide
				i += size
				continue
			}
			if c == invisible {
				i += size
				continue
			}
		}
		if c == separator || previous == wide {
			break
		}
		switch c {
		case underscore:
			t.endPart()
		case upper:
			if previous == lower || startsSmall(s[i+size:]) {
				t.endPart()
			}
			t.add(unicode.ToLower(r))
		default:
			t.add(unicode.ToLower(r))
		}
		previous = c
		i += size
	}
	if t.runes > 0 {
		t.endRun()
	} else {
		t.endWord()
	}
	if i == start { // a byte that begins nothing
		_, size := utf8.DecodeRuneInString(s[i:])
		i += size
	}
	return i
}

// oneWidth returns the usual form of a character of the width of its neighbors,
// as Chinese and Japanese text has them.
func oneWidth(r rune) rune {
	if r < 0xFF00 || r > 0xFFEF {
		return r
	}
	if usual := width.LookupRune(r).Folded(); usual != 0 {
		return usual
	}
	return r
}

// isPicture reports whether people write a symbol in place of a word.
func isPicture(r rune) bool {
	return unicode.Is(unicode.So, r) && (r >= 0x2600 && r < 0x2800 || r >= 0x2B00 && r < 0x2C00 || r >= 0x1F000)
}

// classify returns the class of a character that is not ASCII as it is written; wide means that its
// script is written without spaces.
func classify(r rune, size int) class {
	switch {
	case size == 1: // no UTF-8
		return separator
	case r < utf8.RuneSelf:
		return classes[r]
	case unicode.IsLower(r):
		return lower
	case unicode.IsUpper(r), unicode.IsTitle(r):
		return upper
	case unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul, unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar):
		if unicode.IsLetter(r) || unicode.IsMark(r) || unicode.IsNumber(r) {
			return wide
		}
		return separator
	case unicode.IsLetter(r), unicode.IsMark(r), unicode.IsNumber(r):
		if r >= 0xFE00 && r <= 0xFE0F { // variation selectors, of emoji mostly
			return invisible
		}
		return lower
	case unicode.Is(unicode.Cf, r), r >= 0x1F3FB && r <= 0x1F3FF: // colors of skin
		return invisible
	case isPicture(r):
		return picture
	}
	return separator
}

// startsSmall reports whether s begins with a small letter: in HTTPServer the
// S, and not the P, begins a part.
func startsSmall(s string) bool {
	if s == "" {
		return false
	}
	if s[0] < utf8.RuneSelf {
		return 'a' <= s[0] && s[0] <= 'z'
	}
	r, _ := utf8.DecodeRuneInString(s)
	return unicode.IsLower(r)
}

func (t *tokenizer) add(r rune) {
	if len(t.part) < maxTerm {
		t.part = utf8.AppendRune(t.part, r)
	}
	if len(t.whole) < maxTerm {
		t.whole = utf8.AppendRune(t.whole, r)
	}
}

// endPart ends a part of an identifier and emits it at once, so that an
// identifier with many parts needs no memory. A word with a single part is not an
// identifier.
func (t *tokenizer) endPart() {
	if len(t.part) == 0 {
		return
	}
	t.emit(t.part, true)
	t.parts++
	t.part = t.part[:0]
}

func (t *tokenizer) endWord() {
	t.endPart()
	if t.parts > 1 {
		t.emit(t.whole, false)
	}
}

// character adds one to a run of characters without spaces.
func (t *tokenizer) character(r rune) {
	_, size := utf8.DecodeRune(t.pair)
	if t.runes++; t.runes > 2 {
		t.pair = append(t.pair[:0], t.pair[size:]...)
	}
	t.pair = utf8.AppendRune(t.pair, r)
	if t.runes > 1 {
		t.emit(t.pair, false)
	}
}

func (t *tokenizer) endRun() {
	if t.runes == 1 {
		t.emit(t.pair, false)
	}
}
