package cupeltiktoken

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// blanks counts the tokens of white space with several line ends, such as blank
// lines with spaces in them. cl100k_base and o200k_base take such a run up to
// its last line end as one piece; the tokenizer that this package uses cuts it
// at the first one, which gives different tokens and takes quadratic time.
type blanks struct {
	marksAreLetters bool // as in the encoding's rules

	load func() *vocabulary // of the tokens that are made of bytes of white space
}

var isBlank = func() (is [256]bool) {
	for _, r := range "\t\n\v\f\r \u0085\u00A0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200A\u2028\u2029\u202F\u205F\u3000" {
		for _, c := range []byte(string(r)) {
			is[c] = true
		}
	}
	return is
}()

func allBlank(token string) bool {
	for i := range len(token) {
		if !isBlank[token[i]] {
			return false
		}
	}
	return true
}

// next returns the first piece of white space, from a position on, that this
// package must count itself. The text between two pieces can be counted separately,
// since tokens start and end at pieces.
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
		// Is there anything else between the first and the last line end?
		if strings.Trim(text[i:end], "\r\n") == "" {
			continue
		}
		if b.takesLineEnds(text[:start]) {
			start += len(run) - len(strings.TrimLeft(run, "\r\n"))
		}
		return start, end, true
	}
}

// takesLineEnds reports whether the token before takes the line ends after it:
// punctuation does, words and numbers do not. Combining marks are punctuation
// in cl100k_base. In o200k_base they are letters, unless they follow two
// characters of punctuation, or a space and one, which take everything up to
// the next letter.
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

func (b *blanks) count(piece string) int {
	return b.load().count(piece)
}
