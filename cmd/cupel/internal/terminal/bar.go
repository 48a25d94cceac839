package terminal

import (
	"cmp"
	"math"
	"slices"
	"strings"
)

// Segment is a part of a bar.
type Segment struct {
	Mark  string // one column wide: identifies the part without colour
	Size  int    // at least 0
	Style Style
}

// Bar prints parts of a whole to scale, between brackets, on one line of at most
// the given number of columns.
func (p *Printer) Bar(segments []Segment, columns int) {
	sizes := make([]int, len(segments))
	for i, s := range segments {
		sizes[i] = s.Size
	}
	var b strings.Builder
	b.WriteByte('[')
	for i, n := range Apportion(sizes, max(columns-2, 1)) {
		p.piece(&b, strings.Repeat(Safe(segments[i].Mark), n), segments[i].Style)
	}
	b.WriteByte(']')
	p.write(b.String())
}

// Apportion distributes columns over sizes: each gets the floor of its share, and
// the rest goes to the largest remainders, earlier ones first. As long as there
// are enough columns, every size above 0 gets at least one, taken from the
// widest.
func Apportion(sizes []int, columns int) []int {
	widths := make([]int, len(sizes))
	total := 0.0
	some := 0
	for _, size := range sizes {
		total += float64(max(size, 0))
		if size > 0 {
			some++
		}
	}
	if total == 0 || columns <= 0 {
		return widths
	}
	remainders := make([]float64, len(sizes))
	left := columns
	for i, size := range sizes {
		share := float64(max(size, 0)) / total * float64(columns)
		widths[i] = min(int(math.Floor(share)), left)
		remainders[i] = share - float64(widths[i])
		left -= widths[i]
	}
	order := make([]int, len(sizes))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(remainders[b], remainders[a]) })
	for _, i := range order {
		if left > 0 && sizes[i] > 0 {
			widths[i]++
			left--
		}
	}
	if some > columns {
		return widths
	}
	for i, size := range sizes {
		if size > 0 && widths[i] == 0 {
			widest := slices.Index(widths, slices.Max(widths))
			widths[widest]--
			widths[i]++
		}
	}
	return widths
}
