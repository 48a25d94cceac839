package main

import (
	"strconv"
	"strings"
	"unicode"
)

// The most that is looked at of one line, in bytes: content may hold lines of a
// megabyte, and no table is that wide.
const maxLine = 4096

// firstLine returns the first line of a text that is not blank, fit to be
// shown.
func firstLine(text string) string {
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(line); line != "" {
			return visible(line[:min(len(line), maxLine)])
		}
	}
	return ""
}

// visible makes text fit for one line of a terminal: what would move the
// cursor, change colours or the direction of writing is spelled out as in Go
// source, and so is what is not UTF-8. Tabs become spaces.
func visible(text string) string {
	return escape(text, func(r rune) bool { return r == '\t' })
}

// visibleText is [visible] for a text of several lines.
func visibleText(text string) string {
	var b strings.Builder
	for i, line := range strings.Split(text, "\n") {
		if i > 0 {
			b.WriteByte('\n')
		}
		line = strings.TrimSuffix(line, "\r")
		for j, part := range strings.Split(line, "\t") {
			if j > 0 {
				b.WriteByte('\t')
			}
			b.WriteString(visible(part))
		}
	}
	return b.String()
}

// escape spells out what cannot be printed; blank tells what becomes a space.
func escape(text string, blank func(rune) bool) string {
	var b strings.Builder
	for i, r := range text {
		switch {
		case blank(r):
			b.WriteByte(' ')
		case r == unicode.ReplacementChar && !strings.HasPrefix(text[i:], "\uFFFD"):
			const digits = "0123456789abcdef"
			b.WriteString(`\x` + string(digits[text[i]>>4]) + string(digits[text[i]&15]))
		case strconv.IsPrint(r):
			b.WriteRune(r)
		default:
			quoted := strconv.QuoteRuneToASCII(r)
			b.WriteString(quoted[1 : len(quoted)-1])
		}
	}
	return b.String()
}

// width returns the columns that a text takes in a terminal: none for marks
// that combine with the letter before, two for the wide letters of East Asia and
// for emoji.
func width(text string) int {
	n := 0
	for _, r := range text {
		n += runeWidth(r)
	}
	return n
}

func runeWidth(r rune) int {
	switch {
	case unicode.In(r, unicode.Mn, unicode.Me):
		return 0
	case r < 0x1100:
		return 1
	case r <= 0x115F, r >= 0x2E80 && r <= 0xA4CF && r != 0x303F, r >= 0xAC00 && r <= 0xD7A3, r >= 0xF900 && r <= 0xFAFF,
		r >= 0xFE30 && r <= 0xFE6F, r >= 0xFF00 && r <= 0xFF60, r >= 0xFFE0 && r <= 0xFFE6,
		r >= 0x1F300 && r <= 0x1FAFF, r >= 0x20000 && r <= 0x3FFFD:
		return 2
	}
	return 1
}

// fit cuts the end of a text off, where it is wider than a number of columns;
// three dots stand for what is gone.
func fit(text string, columns int) string {
	if width(text) <= columns {
		return text
	}
	n := 0
	for i, r := range text {
		if n += runeWidth(r); n > columns-1 {
			return text[:i] + "…"
		}
	}
	return text
}

// fitEnd is fit for texts whose end tells more than their beginning, such as
// paths.
func fitEnd(text string, columns int) string {
	n := width(text)
	if n <= columns {
		return text
	}
	for i, r := range text {
		w := runeWidth(r)
		if n <= columns-1 && w > 0 { // a mark stays with its letter
			return "…" + text[i:]
		}
		n -= w
	}
	return "…"
}

// thousands writes a number with separators: 1,234,567.
func thousands(n int) string {
	digits := strconv.Itoa(n)
	sign := ""
	if n < 0 {
		sign, digits = "-", digits[1:]
	}
	for i := len(digits) - 3; i > 0; i -= 3 {
		digits = digits[:i] + "," + digits[i:]
	}
	return sign + digits
}

// column is one column of a table. A column with a share is cut where the
// table would be too wide; what the others leave is dealt out by shares.
type column struct {
	title string
	right bool // numbers are flush right
	share int
	end   bool // where it is cut the end stays
}

// table is text in columns.
type table struct {
	columns []column
	rows    [][]string
}

func (t *table) add(cells ...string) { t.rows = append(t.rows, cells) }

// print writes the table, indented by two, in lines of at most total columns.
func (t *table) print(b *strings.Builder, total int) {
	const indent, gap = "  ", "  "
	widths := t.widths(total - len(indent) - len(gap)*(len(t.columns)-1))
	line := func(cell func(i int) string) {
		var l strings.Builder
		for i, c := range t.columns {
			text := cell(i)
			if c.end {
				text = fitEnd(text, widths[i])
			} else {
				text = fit(text, widths[i])
			}
			pad := strings.Repeat(" ", widths[i]-width(text))
			if c.right {
				text, pad = pad, text
			}
			l.WriteString(gap + text + pad)
		}
		b.WriteString(indent + strings.TrimRight(l.String()[len(gap):], " ") + "\n")
	}
	for _, c := range t.columns {
		if c.title != "" {
			line(func(i int) string { return t.columns[i].title })
			break
		}
	}
	for _, row := range t.rows {
		line(func(i int) string { return row[i] })
	}
}

// widths returns the width of each column. Each gets what it needs, but those
// with a share no more than their share of what is there for them, unless
// another needs less.
func (t *table) widths(total int) []int {
	widths := make([]int, len(t.columns))
	var flexible []int
	for i, c := range t.columns {
		widths[i] = width(c.title)
		for _, row := range t.rows {
			widths[i] = max(widths[i], width(row[i]))
		}
		if c.share > 0 {
			flexible = append(flexible, i)
		} else {
			total -= widths[i]
		}
	}
	for len(flexible) > 0 {
		shares := 0
		for _, i := range flexible {
			shares += t.columns[i].share
		}
		// Columns that need less than their share leave the rest to the others.
		var tight []int
		left := total
		for _, i := range flexible {
			if widths[i] <= max(0, total)*t.columns[i].share/shares {
				left -= widths[i]
			} else {
				tight = append(tight, i)
			}
		}
		if len(tight) == len(flexible) {
			for _, i := range tight {
				widths[i] = max(4, max(0, total)*t.columns[i].share/shares)
			}
			return widths
		}
		flexible, total = tight, left
	}
	return widths
}
