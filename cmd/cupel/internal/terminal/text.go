package terminal

import (
	"fmt"
	"iter"
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"

	"golang.org/x/text/width"
)

const (
	joiner    = '\u200d' // joins emoji, and letters of some scripts
	nonJoiner = '\u200c'
	ellipsis  = "…"

	// maxMarks is how many combining marks a letter may have. Vietnamese and biblical
	// Hebrew need four; a long stack of them would cover other lines.
	maxMarks = 6
)

// Safe returns text as one line that is safe to print on a terminal: it replaces
// control characters, line ends, escape sequences, bidi controls, invisible
// characters, stray combining marks and bytes that are not UTF-8 by Go escapes
// such as \n, \x1b and \u202e. Everything else is unchanged. Safe is idempotent.
func Safe(text string) string {
	var b strings.Builder
	for part := range safeParts(text) {
		b.WriteString(part)
	}
	return b.String()
}

// SafeLines is Safe for text of several lines: it keeps the line feeds.
func SafeLines(text string) string {
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		lines[i] = Safe(line)
	}
	return strings.Join(lines, "\n")
}

// EscapeJSON returns equivalent JSON text in which control and invisible
// characters are escaped. encoding/json does not escape them above ASCII.
func EscapeJSON(text []byte) []byte {
	var escaped []byte
	done := 0
	for i := 0; i < len(text); {
		r, size := utf8.DecodeRune(text[i:])
		if r != '\n' && !unicode.IsGraphic(r) { // all of these are in strings
			escaped = append(escaped, text[done:i]...)
			if r < 0x10000 {
				escaped = fmt.Appendf(escaped, `\u%04x`, r)
			} else {
				high, low := utf16.EncodeRune(r)
				escaped = fmt.Appendf(escaped, `\u%04x\u%04x`, high, low)
			}
			done = i + size
		}
		i += size
	}
	if done == 0 {
		return text
	}
	return append(escaped, text[done:]...)
}

// safeParts returns the runes of text one by one, escaped where needed.
func safeParts(text string) iter.Seq[string] {
	return func(yield func(string) bool) {
		s := shown{}
		for i := 0; i < len(text); {
			r, size := utf8.DecodeRuneInString(text[i:])
			part := text[i : i+size]
			if !s.allows(r, size) {
				part = escape(r, part)
				s = shown{base: true} // what follows follows an escape
			}
			if !yield(part) {
				return
			}
			i += size
		}
	}
}

// shown is the state after the runes seen so far.
type shown struct {
	base  bool // there is a letter that marks can combine with
	marks int  // on it
	last  rune // the rune before, 0 at the start
}

func (s *shown) allows(r rune, size int) bool {
	last := s.last
	s.last = r
	switch {
	case r == utf8.RuneError && size <= 1:
		return false
	case r == joiner || r == nonJoiner:
		return s.base && last != joiner && last != nonJoiner
	case unicode.Is(unicode.Variation_Selector, r):
		return s.base && r >= 0xfe00 && r <= 0xfe0f && !unicode.Is(unicode.Variation_Selector, last)
	case unicode.Is(unicode.Mn, r) || unicode.Is(unicode.Me, r):
		s.marks++
		return s.base && s.marks <= maxMarks
	case unicode.IsGraphic(r) || unicode.Is(unicode.Prepended_Concatenation_Mark, r):
		s.base, s.marks = !unicode.IsSpace(r), 0
		return true
	}
	return false
}

// escape returns a rune as Go would write it between quotes.
func escape(r rune, raw string) string {
	switch {
	case r == utf8.RuneError && len(raw) <= 1:
		return fmt.Sprintf(`\x%02x`, raw[0])
	case r == '\n':
		return `\n`
	case r == '\r':
		return `\r`
	case r == '\t':
		return `\t`
	case r < 0x80:
		return fmt.Sprintf(`\x%02x`, r)
	case r < 0x10000:
		return fmt.Sprintf(`\u%04x`, r)
	}
	return fmt.Sprintf(`\U%08x`, r)
}

// cells returns the clusters of safe text, each with its width in columns: a
// letter with its marks, or an emoji with everything joined to it. Terminals
// disagree about joined emoji and flags; this follows the newer ones.
func cells(text string) iter.Seq2[string, int] {
	return func(yield func(string, int) bool) {
		start, columns := 0, 0
		joined, flag := false, false
		for i, r := range text {
			switch w := runeWidth(r); {
			case i == 0:
				columns, flag = w, isFlagLetter(r)
				continue
			case r == '\ufe0f':
				columns = 2 // selects the emoji form
				continue
			case w == 0:
				joined = r == joiner
				continue
			case columns == 2 && (joined && unicode.Is(unicode.So, r) || isSkinTone(r)):
				joined = false
				continue
			case flag && isFlagLetter(r):
				columns, flag = 2, false
				continue
			default:
				if !yield(text[start:i], columns) {
					return
				}
				start, columns, joined, flag = i, w, false, isFlagLetter(r)
			}
		}
		if start < len(text) {
			yield(text[start:], columns)
		}
	}
}

func isFlagLetter(r rune) bool { return r >= 0x1f1e6 && r <= 0x1f1ff }

func isSkinTone(r rune) bool { return r >= 0x1f3fb && r <= 0x1f3ff }

// runeWidth returns the columns of a rune by itself: 0, 1 or 2. Those of
// ambiguous width are narrow, as they are outside East Asian locales.
func runeWidth(r rune) int {
	switch {
	case r >= ' ' && r < 0x7f:
		return 1
	case unicode.In(r, unicode.Mn, unicode.Me, unicode.Cf),
		r >= 0x1160 && r <= 0x11ff, r >= 0xd7b0 && r <= 0xd7ff: // Hangul that joins the syllable before
		return 0
	}
	switch width.LookupRune(r).Kind() {
	case width.EastAsianWide, width.EastAsianFullwidth:
		return 2
	default:
		return 1
	}
}

// Width returns the width of safe text in columns.
func Width(text string) int {
	columns := 0
	for _, w := range cells(text) {
		columns += w
	}
	return columns
}

// Cut returns safe text in at most the given number of columns: unchanged if it
// fits, otherwise its beginning and an ellipsis. It never separates a letter from
// its marks, and reads no more of text than it needs.
func Cut(text string, columns int) string {
	used, end := 0, 0 // end: where the ellipsis would go
	at := 0
	for cell, w := range cells(text) {
		if used+w > columns {
			if columns < 1 {
				return ""
			}
			return text[:end] + ellipsis
		}
		used += w
		at += len(cell)
		if used < columns {
			end = at
		}
	}
	return text
}

// Excerpt returns the beginning of a content as one safe line: its first line
// that is not blank, with spaces for tabs, in at most the given number of
// columns, and with an ellipsis if there is more. Its time depends on the length
// of the result, not of the content.
func Excerpt(content string, columns int) string {
	line, rest := FirstLine(content), ""
	if i := strings.Index(content, line); i >= 0 {
		rest = content[i+len(line):]
	}
	// A column may take many bytes; anything beyond this is marks and joiners.
	const bytesPerColumn = 32
	more := rest != "" && strings.TrimRight(rest[:min(len(rest), 64)], "\r\n\t ") != ""
	if limit := (columns + 1) * bytesPerColumn; len(line) > limit {
		line, more = line[:runeStart(line, limit)], true
	}
	line = Safe(strings.ReplaceAll(line, "\t", " "))
	if more && Width(line)+2 <= columns {
		return line + " " + ellipsis
	}
	if more {
		line += " " + ellipsis
	}
	return Cut(line, columns)
}

// runeStart returns the start of the rune that i is in.
func runeStart(s string, i int) int {
	for j := i; j > 0 && j > i-utf8.UTFMax; j-- {
		if utf8.RuneStart(s[j]) {
			return j
		}
	}
	return i
}

// FirstLine returns the first line of a content that is not blank, without
// surrounding white space. If all lines are blank, it returns the content.
func FirstLine(content string) string {
	for line := range strings.Lines(content) {
		if line = strings.TrimSpace(line); line != "" {
			return line
		}
	}
	return content
}
