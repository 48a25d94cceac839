package knapsack

import (
	"math"
	"unsafe"
)

// The table of the chapter: one row of values at a time, with a bit for every cell
// in which an item is taken. Three things make it smaller.
//
// It computes only a window lo..hi of each row. Below lo are capacities that the
// remaining items cannot leave. Above hi, the weight of all items so far, the row
// no longer rises, and every capacity has the value at hi.
//
// It drops cells at both ends of the window that cannot lead to the answer. Say
// that a set of the items so far has value v and the walk asks for it at capacity
// q. Then the charge for q, less v, is part of what the answer pays (bounds.go),
// free capacity included. If that exceeds the gap, the cell is dropped. Every
// remaining cell is the value of a set, so none is too large, and the cells that
// the walk needs remain; frontier.go says why that is enough.
//
// It does not keep the whole record of a long table: see trace.go.

// value is the type of a row's values: the narrower one is used when it suffices.
type value interface{ int32 | int64 }

// table is the engine that uses rows.
type table[V value] struct {
	solver *solver
	row    []V
	lo, hi int
	first  int    // item that steps[0] belongs to
	steps  []step // the record
	arena  arena[uint64]

	// credit[i] is what the items before i that the bound takes earn above the price.
	// Without credit the window is not cut.
	credit []int64
	gap    int64
}

// step is the record of one item. Bit k is set if the item is taken at capacity
// from+k. Below from it is not taken; above the last bit, the last bit decides.
type step struct {
	from, to      int
	chunk, offset int // of its bits in the arena
}

// window is the saved state of a table.
type window[V value] struct {
	lo, hi int
	row    []V
}

// narrow reports whether 32 bits suffice for values up to most, and for the sum
// of such a value and an item's value.
func narrow(most int64) bool { return most <= math.MaxInt32/2 }

// rowBytes returns the size of a row of values.
func (s *solver) rowBytes(most int64) int64 {
	if narrow(most) {
		return 4 * (s.capacity + 1)
	}
	return 8 * (s.capacity + 1)
}

// mostValue returns the bound, which is at least the value of the best set of
// the items left.
func (s *solver) mostValue() int64 {
	return saturatingAdd(s.inV, mul(s.price.v, s.capacity-s.inW).over(s.price.w))
}

// tableFits reports whether the memory limit leaves room for a table.
func (s *solver) tableFits() bool {
	return s.capacity < 1<<40 && s.rowBytes(s.mostValue()) <= s.tune.limit/2
}

// solveTable decides the items by a table.
func (s *solver) solveTable() error {
	most := s.mostValue()
	bytes := s.rowBytes(most)
	if s.capacity >= 1<<40 || bytes > s.tune.limit/2 {
		return &LimitError{Limit: s.tune.limit, Need: saturatingAdd(bytes, bytes)}
	}
	if narrow(most) {
		return runTable[int32](s, most)
	}
	return runTable[int64](s, most)
}

func runTable[V value](s *solver, most int64) error {
	t := &table[V]{solver: s, row: make([]V, s.capacity+1), steps: make([]step, 0, len(s.items))}
	t.setCredit(most)
	var element V
	row := int64(unsafe.Sizeof(element)) * (s.capacity + 1)
	left := s.tune.limit - row
	record := min(left/2, max(s.tune.ampleRecord, 32*row))
	return newTracer(s, t, record, left-record).answer(s.goal)
}

// setCredit prepares for cutting the window, if all numbers involved are small
// enough for plain arithmetic.
func (t *table[V]) setCredit(most int64) {
	s := t.solver
	const enough = 1 << 60
	if s.gap.hi != 0 || s.gap.lo >= enough ||
		saturatingMul(uint64(s.price.v), uint64(s.capacity)) >= enough ||
		saturatingMul(uint64(s.price.w), uint64(most)) >= enough {
		return
	}
	t.gap = int64(s.gap.lo)
	t.credit = make([]int64, len(s.items)+1)
	for i := range s.items {
		t.credit[i+1] = t.credit[i]
		if it := &s.items[i]; it.in {
			t.credit[i+1] += int64(it.cost)
		}
	}
}

func (t *table[V]) load(at *window[V], from int) {
	t.forget()
	t.first = from
	if at == nil {
		t.lo, t.hi = 0, 0
		t.row[0] = 0
		return
	}
	t.lo, t.hi = at.lo, at.hi
	copy(t.row[t.lo:], at.row)
}

func (t *table[V]) push(i int, lo, hi int64) error {
	it := &t.solver.items[i]
	w := int(it.w)
	// Up to the highest capacity asked for; a saved row may go beyond it.
	t.hi = min(t.hi, int(hi))
	t.lo = min(t.lo, t.hi)
	top := min(t.hi+w, int(hi))
	flat := t.row[t.hi]
	for k := t.hi + 1; k <= top; k++ {
		t.row[k] = flat
	}
	t.hi = top
	lowest := min(int(lo), top) // what is asked for above top is answered there
	from := max(t.lo+w, lowest)
	if from > top {
		t.steps = append(t.steps, step{from: from, to: top})
	} else {
		record := t.arena.reserve((top-from)>>6 + 1)
		t.steps = append(t.steps, step{from, top, t.arena.at, t.arena.used})
		t.arena.keep(len(record))
		relax(t.row[from:top+1], t.row[from-w:top+1-w], V(it.v), record)
	}
	t.lo = max(t.lo, lowest)
	cells := uint64(t.hi - t.lo + 1)
	if t.credit != nil {
		t.cut(i + 1)
	}
	return t.solver.spend(cells)
}

// cut drops cells at both ends of the window that cannot lead to the answer.
// Rows rise, so the last cell of a group decides for all of it.
func (t *table[V]) cut(i int) {
	const few = 16
	price := t.solver.price
	most := t.gap - t.credit[i]
	row, lo, hi := t.row, t.lo, t.hi
	for lo+few < hi && price.v*int64(lo)-price.w*int64(row[lo+few-1]) > most {
		lo += few
	}
	for end := min(lo+few, hi); lo < end && price.v*int64(lo)-price.w*int64(row[lo]) > most; {
		lo++
	}
	for hi-few > lo && price.v*int64(hi-few+1)-price.w*int64(row[hi]) > most {
		hi -= few
	}
	for end := max(hi-few, lo); hi > end && price.v*int64(hi)-price.w*int64(row[hi]) > most; {
		hi--
	}
	t.lo, t.hi = lo, hi
}

// relax improves dst[k] to src[k]+v where that is more, and records in which
// cells it is. The two may overlap: dst comes after src in the same row, and cells
// are visited from the last to the first, as in the chapter.
//
// Whether a cell improves is a coin toss in some stretches of a row and never
// happens in others. So groups of 64 are looked through first where the group
// before had nothing to improve, and improved without a branch elsewhere.
func relax[V value](dst, src []V, v V, record []uint64) {
	src = src[:len(dst)]
	var word uint64
	for k := len(record) - 1; k >= 0; k-- {
		d := dst[k<<6:]
		s := src[k<<6:][:len(d)]
		dst = dst[:k<<6]
		if word == 0 && !improves(d, s, v) {
			record[k] = 0
			continue
		}
		word = 0
		for len(d)&7 != 0 {
			i := len(d) - 1
			d[i], word = improved(d[i], s[i]+v, word)
			d = d[:i]
		}
		for i := len(d) - 8; i >= 0; i -= 8 {
			d, s := (*[8]V)(d[i:]), (*[8]V)(s[i:])
			var eight uint64
			d[7], eight = improved(d[7], s[7]+v, eight)
			d[6], eight = improved(d[6], s[6]+v, eight)
			d[5], eight = improved(d[5], s[5]+v, eight)
			d[4], eight = improved(d[4], s[4]+v, eight)
			d[3], eight = improved(d[3], s[3]+v, eight)
			d[2], eight = improved(d[2], s[2]+v, eight)
			d[1], eight = improved(d[1], s[1]+v, eight)
			d[0], eight = improved(d[0], s[0]+v, eight)
			word = word<<8 | eight
		}
		record[k] = word
	}
}

// improved returns the better of two values, and bits with one more bit
// appended: 1 if with is better than old.
func improved[V value](old, with V, bits uint64) (V, uint64) {
	return max(old, with), bits<<1 | uint64(int64(old)-int64(with))>>63
}

// improves reports whether relax would change anything. s is at least as long
// as d.
func improves[V value](d, s []V, v V) bool {
	for len(d) >= 8 {
		// The differences are small numbers: one is negative when their union is.
		d8, s8 := (*[8]V)(d), (*[8]V)(s)
		if (d8[0]-s8[0]-v)|(d8[1]-s8[1]-v)|(d8[2]-s8[2]-v)|(d8[3]-s8[3]-v)|
			(d8[4]-s8[4]-v)|(d8[5]-s8[5]-v)|(d8[6]-s8[6]-v)|(d8[7]-s8[7]-v) < 0 {
			return true
		}
		d, s = d[8:], s[8:]
	}
	for i := range d {
		if s[i]+v > d[i] {
			return true
		}
	}
	return false
}

func (t *table[V]) worth(capacity int64) int64 {
	return int64(t.row[min(int(capacity), t.hi)])
}

func (t *table[V]) taken(i int, capacity int64) bool {
	s := &t.steps[i-t.first]
	k := min(int(capacity), s.to) - s.from
	return k >= 0 && t.arena.chunks[s.chunk][s.offset+k>>6]>>(uint(k)&63)&1 != 0
}

func (t *table[V]) recorded() int64 {
	return t.arena.bytes() + int64(len(t.steps))*int64(unsafe.Sizeof(step{}))
}

func (t *table[V]) forget() {
	t.first += len(t.steps)
	t.steps = t.steps[:0]
	t.arena.reset()
}

func (t *table[V]) save() (*window[V], int64) {
	row := append([]V(nil), t.row[t.lo:t.hi+1]...)
	var element V
	return &window[V]{t.lo, t.hi, row}, int64(len(row)) * int64(unsafe.Sizeof(element))
}
