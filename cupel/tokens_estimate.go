package cupel

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// letterClass is what the number of tokens depends on. A run of characters of
// one class is estimated as a whole.
type letterClass uint8

const (
	classEnd letterClass = iota
	classDigit
	classPunct
	classBlank  // spaces and tabs
	classLine   // line ends
	classSymbol // and all other white space, and control characters
	classEmoji
	classLower // the first class of letters
	classUpper
	classLatin // Latin letters beyond ASCII
	classAlphabet
	classHan
	classKana
	classHangul
	classScript // letters and marks of all other scripts
)

func classOf(r rune) letterClass {
	switch {
	case 'a' <= r && r <= 'z':
		return classLower
	case 'A' <= r && r <= 'Z':
		return classUpper
	case '0' <= r && r <= '9':
		return classDigit
	case r == '\n' || r == '\r':
		return classLine
	case r == ' ' || r == '\t':
		return classBlank
	case r < ' ' || r == 0x7F: // control characters, one token each
		return classSymbol
	case r < utf8.RuneSelf:
		return classPunct
	case r < 0x250 && unicode.IsLetter(r):
		return classLatin
	case 0x400 <= r && r < 0x530: // Cyrillic; Greek takes as much as other scripts
		return classAlphabet
	case unicode.Is(unicode.Han, r):
		return classHan
	case 0x3040 <= r && r < 0x3100:
		return classKana
	case unicode.Is(unicode.Hangul, r):
		return classHangul
	case unicode.IsLetter(r) || unicode.IsMark(r):
		return classScript
	case r >= 0x1F000:
		return classEmoji
	}
	return classSymbol
}

// asciiClasses are the classes of characters that are one byte. Other bytes have none.
var asciiClasses = func() (classes [256]letterClass) {
	for r := range rune(utf8.RuneSelf) {
		classes[r] = classOf(r)
	}
	return classes
}()

func (c letterClass) isLetter() bool { return c >= classLower }

// The average size of pieces, in thousandths of a token. It was measured with
// cl100k_base on English prose, source code, JSON, and documentation in
// Chinese, Japanese, Korean and Spanish, none of them among the samples of the
// tests. Han is set higher than measured: literature has rarer characters than
// documentation.
var (
	// By length in letters; see byLength for longer ones.
	wordMilli     = [...]int{0, 1000, 1000, 1020, 1040, 1100, 1120, 1150, 1220, 1330, 1500, 1550, 1700, 1850, 2100}
	capitalsMilli = [...]int{0, 1020, 1200, 1230, 1330, 1450, 1550, 1800, 2100, 2350, 2550, 2900}
	// By length in characters: operators and brackets.
	punctMilli = [...]int{0, 1000, 1000, 1150, 1600, 2000, 2700}
)

const (
	wordMore     = 420 // each letter beyond the table
	capitalsMore = 400
	punctMore    = 500
	gluedMilli   = 200 // punctuation that goes with the word after it: .name, (x, _id
)

// Thousandths of a token for each character of a class that no table above has.
var charMilli = [...]int{
	classLatin:    450, // in addition to the letters around it
	classAlphabet: 420,
	classHan:      1250,
	classKana:     930,
	classHangul:   1130,
	classScript:   1100,
	classSymbol:   950,
	classEmoji:    2400,
}

// The longest runs that are one token, in characters. Without these limits, a
// megabyte of padding would count as almost nothing.
const (
	longestSpaces        = 128
	longestTabs          = 16
	longestLineEnds      = 32
	longestMixedLineEnds = 8 // "\r\n" four times
)

func byLength(table []int, more, n int) int {
	last := len(table) - 1
	return table[min(n, last)] + max(0, n-last)*more
}

// estimate adds up thousandths of tokens, piece by piece. Pieces end where a
// tokenizer cuts.
type estimate struct {
	rest  string
	milli int
}

// next returns the first run of characters of one class: its class, its length
// in characters and in bytes, and whether all its characters are the same.
func next(text string) (c letterClass, chars, size int, same bool) {
	same = true
	if text != "" && text[0] < utf8.RuneSelf {
		for c = asciiClasses[text[0]]; size < len(text) && asciiClasses[text[size]] == c; size++ {
			same = same && text[size] == text[0]
		}
		if size == len(text) || text[size] < utf8.RuneSelf {
			return c, size, size, same
		}
		same = true
	}
	first := rune(0)
	for at, r := range text {
		is := classOf(r)
		if chars == 0 {
			c, first = is, r
		} else if is != c {
			return c, chars, at, same
		}
		chars++
		same = same && r == first
	}
	return c, chars, len(text), same
}

// piece counts the next piece and removes it from the text.
func (e *estimate) piece() {
	c, n, size, same := next(e.rest)
	before := e.rest
	e.rest = e.rest[size:]
	switch c {
	case classBlank:
		e.blank(n, before[size-1])
	case classLine:
		longest := longestLineEnds
		switch {
		case !same:
			longest = longestMixedLineEnds
		case before[0] == '\r':
			longest = 1
		}
		e.milli += 1000 + (n-1)/longest*1000
	case classPunct:
		e.punct(n, same && isRule(before[0]), false)
	case classDigit:
		e.milli += (n + 2) / 3 * 1000 // three digits are a token
	case classUpper:
		e.upper(n)
	case classLower:
		e.milli += byLength(wordMilli[:], wordMore, n)
	case classAlphabet:
		e.milli += max(1000, n*charMilli[c])
	default:
		e.milli += n * charMilli[c]
	}
}

// blank counts n spaces and tabs. The last one belongs to what follows, where
// the tokenizer allows that; the others are one token.
func (e *estimate) blank(n int, last byte) {
	longest := longestSpaces
	if last == '\t' {
		longest = longestTabs
	}
	e.milli += (n - 1) / longest * 1000
	c, chars, size, same := next(e.rest)
	switch {
	case c == classLine: // they go with the line end, which is counted next
		return
	case c == classEnd:
		n = 1
	case c.isLetter():
		n--
	case c == classPunct && last == ' ':
		n--
		rule := same && isRule(e.rest[0])
		e.rest = e.rest[size:]
		e.punct(chars, rule, true)
	case n > 1:
		e.milli += 1000 // the last one stands alone
	}
	if n > 0 {
		e.milli += 1000
	}
}

// isRule reports whether c is used to draw lines, so that long runs of it are
// one token.
func isRule(c byte) bool { return strings.IndexByte("-=_*#./~+%", c) >= 0 }

// punct counts n characters of punctuation and what belongs to them: the
// following word for a single character, the line ends for several.
func (e *estimate) punct(n int, rule, afterSpace bool) {
	c, _, size, _ := next(e.rest)
	if n == 1 && !afterSpace && c.isLetter() {
		e.milli += gluedMilli
		return
	}
	if rule {
		e.milli += 1000 + n/32*1000
	} else {
		e.milli += byLength(punctMilli[:], punctMore, n)
	}
	if c == classLine {
		e.rest = e.rest[size:]
	}
}

// upper counts n capitals. The last one belongs to the lower case letters after
// it.
func (e *estimate) upper(n int) {
	c, lower, size, _ := next(e.rest)
	if c != classLower {
		e.milli += byLength(capitalsMilli[:], capitalsMore, n)
		return
	}
	e.rest = e.rest[size:]
	e.milli += byLength(capitalsMilli[:], capitalsMore, n-1) + byLength(wordMilli[:], wordMore, lower+1)
}
