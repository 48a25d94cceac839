// Package terminal prints text for people, on a terminal or to a pipe: with columns
// that align in every script, and with control characters in content escaped.
package terminal

import (
	"fmt"
	"io"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf16"

	"github.com/mattn/go-runewidth"
	"golang.org/x/term"
)

// DefaultWidth is the width in columns if it is unknown.
const DefaultWidth = 100

// Screen describes where output goes.
type Screen struct {
	Terminal bool // output goes to a terminal
	Width    int  // columns, positive
}

// Detect returns the Screen that w writes to. A pipe or a file is as wide as the terminal
// that beside writes to, so that it gets the tables of the terminal. COLUMNS in the
// environment overrides the width.
func Detect(w, beside io.Writer, getenv func(string) string) Screen {
	screen := Screen{Width: DefaultWidth}
	for _, out := range []io.Writer{beside, w} {
		file, ok := out.(*os.File)
		screen.Terminal = ok && term.IsTerminal(int(file.Fd()))
		if screen.Terminal {
			if columns, _, err := term.GetSize(int(file.Fd())); err == nil && columns > 0 {
				screen.Width = columns
			}
		}
	}
	if columns, err := strconv.Atoi(getenv("COLUMNS")); err == nil && columns > 0 {
		screen.Width = columns
	}
	return screen
}

// Printer prints lines and tables. After the first error it writes nothing; Err
// returns the error.
type Printer struct {
	w     io.Writer
	width int
	err   error
}

// Printer returns a printer for this screen that writes to w.
func (s Screen) Printer(w io.Writer) *Printer { return &Printer{w: w, width: s.Width} }

// Err returns the first error of a write, or nil.
func (p *Printer) Err() error { return p.err }

// Line prints a line, which a terminal wraps.
func (p *Printer) Line(format string, args ...any) {
	if p.err == nil {
		_, p.err = fmt.Fprintln(p.w, strings.TrimRight(Safe(fmt.Sprintf(format, args...)), " "))
	}
}

// Paragraph prints a blank line and a line.
func (p *Printer) Paragraph(format string, args ...any) {
	p.Line("")
	p.Line(format, args...)
}

// Lines is Line for text of several lines.
func (p *Printer) Lines(format string, args ...any) {
	for line := range strings.SplitSeq(fmt.Sprintf(format, args...), "\n") {
		p.Line("%s", line)
	}
}

// The width of a cell: of the last column on the narrowest screen, and of any other on
// all screens.
const leastLast, mostCell = 16, 40

// Table prints rows under headings, or without a line of headings if all are empty. A
// column without a cell that has text is left out. The last column shows as much of
// its cells as the screen has room for.
func (p *Printer) Table(heads []string, rows [][]any) {
	if len(rows) == 0 {
		return
	}
	columns := make([]column, len(heads))
	last := len(heads) - 1
	left := p.width
	for c, head := range heads {
		columns[c] = columnOf(head, c, rows)
		if columns[c].width > 0 && c < last {
			left -= columns[c].width + len(gap)
		}
	}
	columns[last].width = min(columns[last].width, max(left, leastLast))
	for r := range len(rows) + 1 {
		if r == 0 && strings.Join(heads, "") == "" {
			continue
		}
		var cells []string
		for _, column := range columns {
			if column.width > 0 {
				cells = append(cells, column.cell(r))
			}
		}
		p.Line("%s", strings.Join(cells, gap))
	}
}

// gap is the text between columns.
const gap = "  "

// column is a column with its heading as its first cell.
type column struct {
	cells []string
	width int // 0 if there is nothing in it
	right bool
}

// figure is a cell of a column that is aligned to the right.
var figure = regexp.MustCompile(`^[-+#]?([0-9.]+(e[-+][0-9]+)?%?|NaN|Inf)?$`)

func columnOf(head string, c int, rows [][]any) column {
	made := column{cells: []string{head}, right: true}
	for _, row := range rows {
		cell := Excerpt(fmt.Sprint(row[c]), DefaultWidth*2)
		if c < len(row)-1 {
			cell = Cut(cell, mostCell)
		}
		made.cells = append(made.cells, cell)
		made.right = made.right && figure.MatchString(cell)
		made.width = max(made.width, Width(cell))
	}
	if made.width > 0 {
		made.width = max(made.width, Width(head))
	}
	return made
}

func (c *column) cell(row int) string {
	text := Cut(c.cells[row], c.width)
	if c.right {
		return locale.FillLeft(text, c.width)
	}
	return locale.FillRight(text, c.width)
}

// locale has the widths of characters, the same in every locale.
var locale = &runewidth.Condition{StrictEmojiNeutral: true}

// Width returns the width of safe text in columns.
func Width(text string) int { return locale.StringWidth(text) }

// Cut returns safe text in at most the given number of columns: unchanged if it fits,
// otherwise its beginning and an ellipsis.
func Cut(text string, columns int) string { return locale.Truncate(text, columns, ellipsis) }

const ellipsis = "…"

// Excerpt returns the first line of a content as safe text, in at most the given number
// of columns, and with an ellipsis if there is more.
func Excerpt(content string, columns int) string {
	line := FirstLine(content)
	more := len(strings.TrimSpace(content)) > len(line)
	if limit := columns * 8; len(line) > limit { // what is beyond is not looked at
		line, more = strings.ToValidUTF8(line[:limit], ""), true
	}
	line = Safe(strings.ReplaceAll(line, "\t", " "))
	if more {
		line += " " + ellipsis
	}
	return Cut(line, columns)
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

// joiners join letters and emoji, and do nothing by themselves.
var joiners = []rune{'\u200c', '\u200d'}

// printable reports whether a terminal only shows a rune, without any other
// effect.
func printable(r rune) bool { return unicode.IsGraphic(r) || slices.Contains(joiners, r) }

// Safe returns text as one line that is safe to print on a terminal: control characters,
// line ends and invisible characters, such as marks that change the direction of text,
// become Go escapes, such as \n and \u202e. Bytes that are not UTF-8 become U+FFFD.
func Safe(text string) string {
	var b strings.Builder
	for _, r := range text {
		if printable(r) {
			b.WriteRune(r)
		} else {
			b.WriteString(strings.Trim(strconv.QuoteRune(r), "'"))
		}
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

// EscapeJSON returns equivalent JSON text in which control and invisible characters
// are escaped. encoding/json does not escape them above ASCII.
func EscapeJSON(text []byte) []byte {
	var b strings.Builder
	for _, r := range string(text) {
		if !escaped(r) {
			b.WriteRune(r)
			continue
		}
		for _, unit := range utf16.Encode([]rune{r}) {
			fmt.Fprintf(&b, `\u%04x`, unit)
		}
	}
	return []byte(b.String())
}

// escaped reports whether a rune of JSON is escaped. All of these are in strings.
func escaped(r rune) bool { return r != '\n' && r != '\t' && !unicode.IsGraphic(r) }
