package cupelreduce

import (
	"strconv"
	"strings"
	"unicode/utf8"
)

// Ranks say in which order the parts of a text come in.
const (
	rankHead   uint8 = iota // what a reader asks for the rest by: ids, paths, errors, declarations
	rankNames               // what says what it is: names, short strings, first and last lines
	rankDetail              // numbers, first lines of paragraphs, further lines near the ends
	rankRest                // everything else
	rankRepeat              // what the text or the reader's window says already
	numRanks
)

// weights is what a part of each rank is worth: binary fractions, whose sums are
// exact.
var weights = [numRanks]float64{8, 4, 1, 0.5, 0.125}

// wholeWorth is what a whole text is worth beyond its parts: nothing in it has to
// be asked for again. It also keeps the worth of every smaller form below it.
const wholeWorth = 4

// ellipsis ends what was cut, and begins a marker.
const ellipsis = "…"

// maxSkips is how many parts that do not fit are passed over for smaller ones.
const maxSkips = 16

// part is a line, or a key=value of one.
type part struct {
	text   string
	row    int
	cost   int     // tokens
	weight float64 // by rank, times the number of values in it
	values int     // that it stands for
	rank   uint8
	line   bool // of a text in a value
	in     bool // chosen
}

// row is a line of an outline: its parts behind a prefix.
type row struct {
	prefix string
	cost   int // tokens of the prefix
	in     int // parts chosen
}

// draft is a text taken apart, from which an outline chooses. Parts of a row
// stand one behind the other.
type draft struct {
	rows  []row
	parts []part
	order []int // parts by rank
	lines bool  // of a text: a marker in each gap, rather than a count at the end
}

func (d *draft) addRow(prefix string) {
	d.rows = append(d.rows, row{prefix: prefix})
}

// addPart adds a part of the last row that stands for a number of values.
func (d *draft) addPart(text string, rank uint8, values int) {
	d.parts = append(d.parts, part{text: text, row: len(d.rows) - 1, rank: rank, values: values, weight: weights[rank] * float64(values)})
}

// count counts every part once, and puts them in order.
func (d *draft) count(count func(string) int) {
	for i := range d.rows {
		if r := &d.rows[i]; r.prefix != "" {
			r.cost = count(r.prefix)
		}
	}
	d.order = make([]int, 0, len(d.parts))
	for rank := range numRanks {
		for i := range d.parts {
			if p := &d.parts[i]; p.rank == rank {
				p.cost = count(p.text) + 1
				d.order = append(d.order, i)
			}
		}
	}
}

// choose takes further parts in order of rank while they fit into a number of
// tokens, beginning at a place in the order. Parts of a rank behind one that
// did not fit are passed over. It returns where it ended and what is left.
func (d *draft) choose(from, left int) (end, rest int) {
	skips, last := 0, numRanks
	for i := from; i < len(d.order); i++ {
		p := &d.parts[d.order[i]]
		if p.in {
			continue
		}
		if p.rank > last || skips > maxSkips {
			return i, left
		}
		cost := p.cost
		if r := &d.rows[p.row]; r.in == 0 {
			cost += r.cost
			if d.lines {
				// A line that comes in splits the gap that it is in.
				cost += d.gap(p.row-1) + d.gap(p.row+1) - 1
			}
		}
		if cost > left {
			skips, last = skips+1, p.rank
			continue
		}
		d.take(p)
		left -= cost
	}
	return len(d.order), left
}

func (d *draft) take(p *part) {
	p.in = true
	d.rows[p.row].in++
}

// gap is 1 where a row is left out.
func (d *draft) gap(i int) int {
	if i < 0 || i >= len(d.rows) || d.rows[i].in > 0 {
		return 0
	}
	return 1
}

// clear gives everything back.
func (d *draft) clear() {
	for i := range d.parts {
		d.parts[i].in = false
	}
	for i := range d.rows {
		d.rows[i].in = 0
	}
}

// fill chooses for a number of tokens and returns the outline. Counts of parts
// need not add up to the count of the whole, nor be right about markers: what is
// too much is given back, and what is left is used.
func (d *draft) fill(tokens, size int, count func(string) int) string {
	for room := tokens; room > 0; room -= max(1, room/8) {
		d.clear()
		d.choose(0, room)
		out := d.String()
		total := count(out)
		if total > tokens || len(out) > size {
			continue
		}
		for range 2 {
			if _, rest := d.choose(0, tokens-total-1); rest == tokens-total-1 {
				break
			}
			more := d.String()
			if total = count(more); total > tokens || len(more) > size {
				break
			}
			out = more
		}
		return out
	}
	return ""
}

// worth is the sum of what the chosen parts are worth.
func (d *draft) worth() (sum float64) {
	for i := range d.parts {
		if d.parts[i].in {
			sum += d.parts[i].weight
		}
	}
	return sum
}

// whole is what the whole text is worth.
func (d *draft) whole() float64 {
	sum := float64(wholeWorth)
	for i := range d.parts {
		sum += d.parts[i].weight
	}
	return sum
}

// String writes what was chosen. It is empty if nothing was.
func (d *draft) String() string {
	var b strings.Builder
	written, out := 0, 0  // the row that was written last, plus one; parts left out
	values, lines := 0, 0 // of the parts left out
	for i := range d.parts {
		p := &d.parts[i]
		switch {
		case !p.in:
			out++
			if p.line {
				lines++
			} else {
				values += p.values
			}
			continue
		case written == p.row+1:
			b.WriteByte(' ')
		default:
			if d.lines && out > 0 {
				// The head of a block says itself that something follows.
				if written == 0 || !opens(d.parts[written-1].text) {
					newline(&b)
					b.WriteString(ellipsis)
				}
				out = 0
			}
			newline(&b)
			b.WriteString(d.rows[p.row].prefix)
			written = p.row + 1
		}
		b.WriteString(p.text)
	}
	if out > 0 && written > 0 {
		newline(&b)
		b.WriteString(ellipsis)
		if !d.lines {
			b.WriteString(more(values, lines))
		}
	}
	return b.String()
}

// more says how much is left out of a document: values, and lines of the texts that
// are values.
func more(values, lines int) string {
	count := func(n int, what string) string {
		if n != 1 {
			what += "s"
		}
		return "+" + strconv.Itoa(n) + " " + what
	}
	switch {
	case lines == 0:
		return " " + count(values, "value")
	case values == 0:
		return " " + count(lines, "line")
	}
	return " " + count(values, "value") + ", " + count(lines, "line")
}

func newline(b *strings.Builder) {
	if b.Len() > 0 {
		b.WriteByte('\n')
	}
}

// cut cuts a text after at most n bytes, between characters, and ends it with an
// ellipsis if anything is missing. The result is never longer than s.
func cut(s string, n int) string {
	if len(s) <= n || len(s) <= len(ellipsis) {
		return s
	}
	n = max(0, min(n, len(s)-len(ellipsis)))
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return strings.TrimRight(s[:n], " \t") + ellipsis
}
