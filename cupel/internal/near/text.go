package near

import (
	"iter"
	"strings"
	"unicode"
	"unicode/utf8"
)

// word is a word of a text. It is a part of that text.
type word struct {
	text   string
	number bool // it has a digit
}

// MinWords is the least number of words of a text that takes part.
const MinWords = 50

// Long reports whether a text takes part: whether it has at least [MinWords]
// words.
func Long(text string) bool {
	if len(text) < 2*MinWords-1 {
		return false
	}
	n := 0
	eachWord(text, func(word) bool {
		n++
		return n < MinWords
	})
	return n == MinWords
}

// eachWord calls yield with the words of a text, without line numbers, until it
// returns false. A word is a run of letters, marks, digits and underscores, or
// one ideograph or kana. A minus sign before a digit belongs to the word, unless
// a word ends right before it.
func eachWord(text string, yield func(word) bool) {
	for line := range lines(text) {
		sign := -1 // where a minus sign stands right before the next character
		start, number := -1, false
		for i, r := range line {
			in, alone, digit := kindOf(r)
			if start >= 0 && (!in || alone) {
				if !yield(word{line[start:i], number}) {
					return
				}
				start = -1
			}
			switch {
			case alone:
				if !yield(word{line[i : i+utf8.RuneLen(r)], false}) {
					return
				}
			case in && start < 0:
				start, number = i, digit
				if digit && sign >= 0 {
					start = sign
				}
			case in:
				number = number || digit
			}
			if minus := r == '-' || r == '−'; minus && !wordEnds(line[:i]) {
				sign = i
			} else {
				sign = -1
			}
		}
		if start >= 0 && !yield(word{line[start:], number}) {
			return
		}
	}
}

// lines are the lines of a text without their numbers. A number at the start of a
// line, after spaces or tabs, is the line's if the line before has the number below
// at its start, or the line after the one above.
func lines(text string) iter.Seq[string] {
	return func(yield func(string) bool) {
		const none = -2 // neither below nor above another number
		before := none
		number, ends := startNumber(text)
		for text != "" {
			line, rest, _ := strings.Cut(text, "\n")
			next, nextEnds := startNumber(rest)
			last := none
			if ends > 0 {
				last = number
				if number == before+1 || next == number+1 {
					line = line[ends:]
				}
			}
			if !yield(line) {
				return
			}
			text, before, number, ends = rest, last, next, nextEnds
		}
	}
}

// kindOf reports whether a character is part of a word, whether it is a word of
// its own, and whether it makes the word a number.
func kindOf(r rune) (in, alone, digit bool) {
	switch {
	case r < utf8.RuneSelf:
		digit = '0' <= r && r <= '9'
		return digit || r == '_' || 'a' <= r|0x20 && r|0x20 <= 'z', false, digit
	case unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana):
		return true, true, false
	case unicode.IsNumber(r):
		return true, false, true
	}
	return unicode.IsLetter(r) || unicode.IsMark(r), false, false
}

// wordEnds reports whether the last character is part of a word; "" has none.
func wordEnds(text string) bool {
	r, _ := utf8.DecodeLastRuneInString(text)
	in, _, _ := kindOf(r)
	return in
}

// startNumber returns the number of at most nine digits at the start of a line
// and where it ends. What follows is no part of a word, and nothing but a space
// stands between it and another digit. Both are 0 if there is none.
func startNumber(text string) (n, ends int) {
	i := 0
	for i < len(text) && (text[i] == ' ' || text[i] == '\t') {
		i++
	}
	start := i
	for i < len(text) && '0' <= text[i] && text[i] <= '9' {
		n = 10*n + int(text[i]-'0')
		if i++; i-start > 9 {
			return 0, 0
		}
	}
	if i == start {
		return 0, 0
	}
	after, size := utf8.DecodeRuneInString(text[i:])
	if in, _, _ := kindOf(after); in {
		return 0, 0
	}
	if behind := i + size; !unicode.IsSpace(after) && behind < len(text) && '0' <= text[behind] && text[behind] <= '9' {
		return 0, 0
	}
	return n, i
}
