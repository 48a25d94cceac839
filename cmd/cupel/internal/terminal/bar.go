package terminal

import (
	"cmp"
	"math"
	"slices"
	"strings"
)

// Segment is a part of a bar.
type Segment struct {
	Mark  string // one column wide: tells the part without colour
	Size  int    // at least 0
	Style Style
}

// Bar prints parts of a whole to scale, between brackets, on one line of at most
// so many columns.
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

// Apportion spreads columns over sizes: the floor of each one's share, and what
// is left to the largest remainders, earlier ones first. What is not empty gets
// a column at least, taken from the widest, while there are enough.
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
