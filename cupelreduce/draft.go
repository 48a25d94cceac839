package cupelreduce

import (
	"slices"
	"sort"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Ranks order the parts of a text: parts of earlier ranks come in first.
const (
	rankError  uint8 = iota // what went wrong
	rankHead                // names by which a reader asks for the rest: ids, paths, declarations
	rankNames               // identifying parts: names, short strings, first and last lines
	rankDetail              // numbers, first lines of paragraphs, further lines near the ends
	rankRest                // everything else
	rankRepeat              // parts that repeat the text or the reader's window
	rankSigns               // parts without a word
	numRanks
)

// weights has the worth of a part of each rank, in binary fractions, whose sums
// are exact.
var weights = [numRanks]float64{8, 8, 4, 1, 0.5, 0.125, 0.125}

// oneFromEnd is, for each rank, how many parts come in for each one from the end of
// the text. Few parts of high ranks come from the end, so that most of them stay
// together, and more of the rest do.
var oneFromEnd = [numRanks]int{8, 8, 8, 8, 3, 3, 3}

// wholeWorth is the worth of a whole text beyond its parts: a reader need not ask
// for any of it again. It also keeps the worth of every smaller form below it.
const wholeWorth = 4

// ellipsis ends a cut text, and begins a mark.
const ellipsis = "…"

// part is a piece of a line, or a key=value of a row.
type part struct {
	text   string
	row    int32
	place  int32 // in the order
	end    int32 // where its source ends in the document
	values int32 // that it stands for
	rank   uint8
	heads  bool // is the first of its row in the order, and adds the prefix
	piece  bool // of a line, with the line end if it is the last
	first  bool // piece of its line
}

// draft is a text taken apart. Its parts have one order, and each form is a prefix
// of it, so that each form contains the smaller ones. The last part is followed by
// the bytes of the document, which replaces its parts from its beginning on.
type draft struct {
	rows   []string // prefixes of the lines of a form, or headings of the texts in it
	parts  []part
	order  []int32   // parts by rank
	ends   []int     // bytes of none of them, of the first, of the first two
	worths []float64 // likewise
	size   int       // bytes of all of them
	source string    // of a document
	names  seen      // in the texts
	lines  []line    // of the last text
}

// newDraft makes room for the parts of a text.
func newDraft(text string, parts int) draft {
	return draft{names: newSeen(len(text)), parts: make([]part, 0, parts)}
}

func (d *draft) addRow(prefix string) {
	d.rows = append(d.rows, prefix)
}

// addPart adds a part of the last row.
func (d *draft) addPart(p part) {
	p.row = int32(len(d.rows)) - 1
	if !says(p.text) {
		p.rank = rankSigns
	}
	d.parts = append(d.parts, p)
}

// sort puts the parts in order: by rank, each in the order of the text. A text of
// lines shows its end early, and parts of low ranks come from both ends.
func (d *draft) sort() {
	d.names, d.lines = nil, nil
	d.order = make([]int32, 0, len(d.parts))
	for rank := range numRanks {
		begin := len(d.order)
		for i := range d.parts {
			if d.parts[i].rank == rank {
				d.order = append(d.order, int32(i))
			}
		}
		if d.source == "" {
			fromEnds(d.order[begin:], oneFromEnd[rank])
		}
	}
	d.ends = make([]int, len(d.order)+1)
	d.worths = make([]float64, len(d.order)+1)
	worth, begun := 0.0, make([]bool, len(d.rows))
	for place, i := range d.order {
		p := &d.parts[i]
		p.place, p.heads = int32(place), !begun[p.row]
		begun[p.row] = true
		d.size += len(p.text)
		if p.heads {
			d.size += len(d.rows[p.row])
		}
		if !p.piece {
			d.size++ // what separates it from others
		}
		worth += float64(weights[p.rank] * float64(p.values))
		d.ends[place+1], d.worths[place+1] = d.size, worth
	}
}

// fromEnds takes every so many-th part from the back, and the others from the
// front.
func fromEnds(order []int32, step int) {
	from := slices.Clone(order)
	for i := range order {
		if i%step == step-1 {
			order[i], from = from[len(from)-1], from[:len(from)-1]
		} else {
			order[i], from = from[0], from[1:]
		}
	}
}

// end is the largest place that a form may have.
func (d *draft) end() int { return d.size + len(d.source) }

// worth returns the worth of a form.
func (d *draft) worth(at int) float64 {
	taken, left := d.taken(at)
	if taken == len(d.order) {
		return d.worths[taken] + wholeWorth/2*float64(left)/float64(len(d.source)+1)
	}
	size := d.ends[taken+1] - d.ends[taken]
	return d.worths[taken] + (d.worths[taken+1]-d.worths[taken])*float64(left)/float64(size)
}

// taken is how many parts a form has whole, and how many bytes are left for more.
func (d *draft) taken(at int) (parts, left int) {
	parts = sort.SearchInts(d.ends, at+1) - 1
	return parts, at - d.ends[parts]
}

// form writes the form at a place: everything before it in the order. It also
// reports whether the form says something.
func (d *draft) form(at int) (text string, says bool) {
	w := writer{draft: d}
	w.Grow(min(at, 2*d.size) + 64)
	taken, left := d.taken(at)
	raw := 0
	if taken == len(d.order) && left > 0 {
		raw = boundary(d.source, left)
		w.WriteString(d.source[:raw] + ellipsis)
		w.says = true
	}
	for i := range d.parts {
		switch p := &d.parts[i]; {
		case int(p.place) > taken && !p.piece:
			w.left += int(p.values)
		case int(p.place) > taken:
			w.omit(i, 0)
		case int(p.place) == taken:
			w.cut(i, left, at)
		case raw == 0 || int(p.end) > raw:
			w.write(i, p.text)
		}
	}
	w.mark(-1)
	if w.left > 0 {
		w.newline()
		w.WriteString(ellipsis + " +" + strconv.Itoa(w.left))
	}
	return strings.TrimRight(w.String(), "\n"), w.says
}

// writer writes a form.
type writer struct {
	strings.Builder
	*draft
	row  int32 // that was begun last, plus one
	gap  gap
	left int // values that are left out, and lines of texts that are missing whole
	says bool
}

// gap counts what was left out of a text since the last part.
type gap struct {
	from, to int // parts
	cut      int // bytes of the first that stand
	lines    int
	bytes    int
}

// omit leaves out a part except for its first bytes.
func (w *writer) omit(i, but int) {
	p := &w.parts[i]
	if !p.piece {
		if but == 0 {
			w.left += int(p.values)
		}
		return
	}
	if w.parts[w.gap.from].row != p.row {
		w.mark(-1)
	}
	if w.gap.bytes == 0 {
		w.gap = gap{from: i, cut: but}
	}
	if p.first && but == 0 {
		w.gap.lines++
	}
	w.gap.to = i
	w.gap.bytes += len(p.text) - but
}

// write writes a part, or the beginning of one.
func (w *writer) write(i int, text string) {
	p := &w.parts[i]
	if text == "" {
		w.omit(i, 0)
		return
	}
	if w.parts[w.gap.from].row != p.row {
		w.mark(-1)
	}
	begun := w.row == p.row+1
	if !begun {
		w.heading(w.rows[p.row])
		w.row = p.row + 1
	}
	if w.gap.bytes > 0 {
		w.mark(i)
	} else if begun && !p.piece {
		w.WriteByte(' ')
	}
	w.WriteString(text)
	w.says = w.says || (p.piece || strings.Contains(text, "=") || len(text) > 2*maxWord) && says(text)
	switch {
	case len(text) == len(p.text):
	case p.piece:
		w.omit(i, len(text))
	default:
		w.WriteString(ellipsis)
	}
}

// heading begins a row. A long heading is a name that says something by
// itself.
func (w *writer) heading(prefix string) {
	w.newline()
	w.WriteString(prefix)
	w.says = w.says || len(prefix) > 2*maxWord && says(prefix)
}

// cut writes as much of a part as fits, and the prefix of its row if the part adds it. A
// cut name misleads, and is not worth the small gain.
func (w *writer) cut(i, left, size int) {
	p := &w.parts[i]
	few, prefix, text := maxWord, "", ""
	if !p.piece {
		few = max(few, size/32)
	}
	if p.heads {
		prefix = w.rows[p.row]
	}
	if n := left - len(prefix); n > 0 && len(p.text) > few {
		text = p.text[:boundary(p.text, n)]
	}
	if text == "" && len(prefix) > few {
		w.heading(prefix[:boundary(prefix, left)])
	}
	w.write(i, text)
}

// mark writes the mark of a gap in a text, in front of a part or at the end.
func (w *writer) mark(next int) {
	g := w.gap
	w.gap = gap{}
	if g.bytes == 0 {
		return
	}
	if w.row != w.parts[g.from].row+1 {
		w.left += g.lines
		return
	}
	inside := next >= 0 && !w.parts[next].first
	if inside && g.lines == 1 && w.parts[g.from].first {
		g.lines = 0 // only the beginning of this line
	}
	broken, mark := "", ellipsis
	switch {
	case g.lines > 0:
		mark += " +" + strconv.Itoa(g.lines) + "\n"
		if !w.atLineStart() {
			broken = ellipsis + "\n"
		}
	case g.bytes >= manyBytes || inside:
		mark += " +" + strconv.Itoa(g.bytes) + " bytes"
	}
	if inside {
		mark += ellipsis + " "
	} else if g.lines == 0 {
		mark += "\n"
	}
	if g.bytes > len(mark) {
		w.WriteString(broken + mark)
		return
	}
	for i := g.from; i <= g.to; i++ {
		w.WriteString(w.parts[i].text[g.cut:])
		g.cut = 0
	}
}

// manyBytes is the number of missing bytes from which a cut line states it.
const manyBytes = 100

func (w *writer) atLineStart() bool {
	s := w.String()
	return s == "" || s[len(s)-1] == '\n'
}

func (w *writer) newline() {
	if !w.atLineStart() {
		w.WriteByte('\n')
	}
}

// maxWord is the farthest that a cut may move back to the end of a word, in
// bytes.
const maxWord = 12

// boundary returns a place at or a little before n where s can be cut: between
// words if there is one, and never inside a character.
func boundary(s string, n int) int {
	if n >= len(s) {
		return len(s)
	}
	for i := n; i > n-maxWord; i-- {
		if i == 0 || classes[s[i]] == space || classes[s[i-1]] == space {
			return i
		}
	}
	for !utf8.RuneStart(s[n]) {
		n--
	}
	return n
}

// says reports whether a text has a letter or digit, and is more than a prompt or
// a tag.
func says(s string) bool {
	s = strings.TrimSpace(s)
	if s != "" && strings.IndexByte("$#>%", s[len(s)-1]) >= 0 && strings.IndexByte(s, ' ') < 0 {
		return false
	}
	for i := range len(s) {
		switch c := classes[s[i]]; {
		case s[i] >= utf8.RuneSelf:
			return strings.ContainsFunc(s[i:], func(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) })
		case c == lower || c == upper || c == digit:
			return true
		}
	}
	return false
}
