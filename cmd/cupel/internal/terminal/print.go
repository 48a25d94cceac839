package terminal

import (
	"cmp"
	"io"
	"slices"
	"strings"
)

// Style is how text looks if colour is enabled; the zero Style is plain.
type Style string

// The styles, as the parameters of SGR sequences.
const (
	Bold   Style = "1"
	Dim    Style = "2"
	Red    Style = "31"
	Green  Style = "32"
	Yellow Style = "33"
)

// palette holds the styles that distinguish things, such as kinds.
var palette = []Style{"36", "32", "35", "33", "34", "91", "96", "92", "95", "93", "94"}

// Hue returns the style of the i-th of several things to distinguish.
func Hue(i int) Style { return palette[i%len(palette)] }

// Text is a piece of a line. Printing escapes what is not safe on a terminal.
type Text struct {
	Text  string
	Style Style
}

// Plain returns text without a style.
func Plain(text string) Text { return Text{Text: text} }

// Printer prints lines and tables. After the first error it writes nothing; Err
// returns the error.
type Printer struct {
	w      io.Writer
	width  int
	colour bool
	err    error
}

// Width returns the width in columns.
func (p *Printer) Width() int { return p.width }

// Err returns the first error of a write, or nil.
func (p *Printer) Err() error { return p.err }

// Line prints pieces as one line, without wrapping.
func (p *Printer) Line(pieces ...Text) {
	var b strings.Builder
	for _, piece := range pieces {
		p.piece(&b, Safe(piece.Text), piece.Style)
	}
	p.write(strings.TrimRight(b.String(), " "))
}

// Heading prints a name and what is said of it, on one line unless the screen is
// narrow. The text begins with a mark of punctuation.
func (p *Printer) Heading(name Text, text string) {
	const narrow = 80
	if p.width >= narrow || Width(Safe(name.Text+text)) <= p.width {
		p.Line(name, Plain(text))
		return
	}
	p.Line(name, Plain(text[:1]))
	p.Paragraph(text[1:], "")
}

// Paragraph prints text, wrapped to the width.
func (p *Printer) Paragraph(text string, style Style) {
	var line strings.Builder
	columns := 0
	for word := range strings.FieldsSeq(text) {
		word = Safe(word)
		w := Width(word)
		if columns > 0 && columns+1+w > p.width {
			p.Line(Text{line.String(), style})
			line.Reset()
			columns = 0
		}
		if columns > 0 {
			line.WriteByte(' ')
			columns++
		}
		line.WriteString(word)
		columns += w
	}
	p.Line(Text{line.String(), style})
}

func (p *Printer) piece(b *strings.Builder, safe string, style Style) {
	if !p.colour || style == "" || safe == "" {
		b.WriteString(safe)
		return
	}
	b.WriteString("\x1b[" + string(style) + "m" + safe + "\x1b[0m")
}

func (p *Printer) write(line string) {
	if p.err == nil {
		_, p.err = io.WriteString(p.w, line+"\n")
	}
}

// Column is a column of a [Table].
type Column struct {
	Head  string
	Right bool // for numbers
	// Flexible is for the last column: it gets the width that the others
	// leave, and shows an excerpt of each content.
	Flexible bool
	// Drop says what goes first where the screen is too narrow: the column with
	// the highest number. One with 0 stays.
	Drop int
}

// The maximum width of a cell that is not flexible is a third of the screen,
// within these bounds. Such cells hold numbers, and names that may come from a
// file.
const leastMaxCell, mostMaxCell = 30, 60

func (p *Printer) maxCell() int { return min(max(p.width/3, leastMaxCell), mostMaxCell) }

// minFlexible is the largest width of a flexible column on the narrowest screen.
const minFlexible = 16

// minCell is the width to which cells are cut on a narrow screen.
const minCell = 8

// Table prints rows under headings. Columns are as wide as their widest cell and
// two spaces apart. If no column has a heading, the heading line is omitted. Where
// the screen is too narrow, columns are dropped, and then cells are cut.
func (p *Printer) Table(columns []Column, rows [][]Text) {
	for {
		widths := p.widths(columns, rows)
		drop := slices.MaxFunc(columns, func(a, b Column) int { return cmp.Compare(a.Drop, b.Drop) })
		if total(widths) <= p.width || drop.Drop == 0 {
			p.table(columns, p.fitted(columns, widths), rows)
			return
		}
		at := slices.Index(columns, drop)
		columns = slices.Delete(slices.Clone(columns), at, at+1)
		less := make([][]Text, len(rows))
		for i, row := range rows {
			less[i] = slices.Delete(slices.Clone(row), at, at+1)
		}
		rows = less
	}
}

// total returns the width of a table.
func total(widths []int) int {
	columns := 2 * (len(widths) - 1)
	for _, w := range widths {
		columns += w
	}
	return columns
}

// widths returns the width that each column needs.
func (p *Printer) widths(columns []Column, rows [][]Text) []int {
	widths := make([]int, len(columns))
	for c, column := range columns {
		widths[c] = Width(Safe(column.Head))
	}
	for _, row := range rows {
		for c, cell := range row {
			most := p.maxCell()
			if columns[c].Flexible {
				most = minFlexible
			}
			widths[c] = max(widths[c], Width(Excerpt(cell.Text, most)))
		}
	}
	return widths
}

// fitted gives flexible columns what is left, and cuts cells of names if that is
// less than nothing.
func (p *Printer) fitted(columns []Column, widths []int) []int {
	for left := p.width - total(widths); ; left = p.width - total(widths) {
		widest := -1
		for c, column := range columns {
			switch {
			case column.Flexible && left > 0:
				widths[c] += left
				return widths
			case !column.Flexible && !column.Right && widths[c] > minCell && (widest < 0 || widths[c] > widths[widest]):
				widest = c
			}
		}
		if left >= 0 || widest < 0 {
			return widths
		}
		widths[widest] = max(widths[widest]+left, minCell)
	}
}

// table prints a table whose columns have their widths.
func (p *Printer) table(columns []Column, widths []int, rows [][]Text) {
	head := make([]Text, len(columns))
	for c, column := range columns {
		head[c] = Text{column.Head, Dim}
	}
	if slices.ContainsFunc(columns, func(c Column) bool { return c.Head != "" }) {
		p.row(columns, widths, head)
	}
	for _, row := range rows {
		p.row(columns, widths, row)
	}
}

func (p *Printer) row(columns []Column, widths []int, row []Text) {
	var b strings.Builder
	gap := 0 // spaces that are due before the next text
	for c, cell := range row {
		safe := Excerpt(cell.Text, widths[c])
		pad := max(widths[c]-Width(safe), 0)
		if columns[c].Right {
			gap += pad
			pad = 0
		}
		if safe != "" {
			b.WriteString(strings.Repeat(" ", gap))
			gap = 0
		} else {
			pad = widths[c]
			if columns[c].Right {
				pad = 0 // counted above
			}
		}
		p.piece(&b, safe, cell.Style)
		gap += pad + 2
	}
	p.write(b.String())
}
