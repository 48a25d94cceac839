package knapsack

import (
	"errors"
	"math/bits"
	"sort"
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
// remaining cell is the value of a set, so none is too large; those of the answer
// remain, and so does what the walk compares them with: if the items before one
// reach as much without it as with it, that is part of another optimal set.
//
// It tries the first items alone. If the items up to some item reach the goal, the
// answer contains no later ones, and the fewer items there are, the narrower is
// the window.

// table is the current row and the record of the last items, whose steps are in
// lists.
type table struct {
	*solver
	row    []int64
	lo, hi int      // the window
	record []uint64 // bits of the steps
	whole  bool     // whether the table has all items
}

// sum is about all items before one: their weight, and what those that the bound
// takes earn.
type sum struct{ weight, credit int64 }

// step is the record of an item. Bit k from at on is set if the item is taken at
// capacity from+k. Below from it is not taken; above to, the bit of to decides.
type step struct{ from, to, at int }

// errShort says that a table of some of the items does not reach the goal.
var errShort = errors.New("knapsack: the goal is not reached")

// solveTable decides the items by a table. A row takes 8 bytes for each capacity, and
// at most half of the memory limit. A quarter is for the record, which grows by
// doubling.
func (s *solver) solveTable() error {
	const widest = 1 << 40
	if need := 16 * (min(s.capacity, widest) + 1); need > s.limit || s.capacity > widest {
		return &LimitError{Need: need}
	}
	n := len(s.items)
	t := &table{solver: s, row: make([]int64, s.capacity+1), record: make([]uint64, 0, n)}
	const next = 4
	shift := max(0, bits.Len(uint(n))-2) / next * next // leaves several items
	for ; ; shift -= next {
		if err := t.solveSome(shift); !errors.Is(err, errShort) {
			return err
		}
	}
}

// solveSome tries with so many items that all but a share of 1>>shift of the
// excess weight is left out.
func (t *table) solveSome(shift int) error {
	var before sum
	t.sums = append(t.sums[:0], before)
	for i := range t.items {
		it := &t.items[i]
		before.weight += it.w
		if it.in {
			before.credit += it.cost
		}
		t.sums = append(t.sums, before)
	}
	n := len(t.items)
	enough := t.capacity + (before.weight-t.capacity)>>shift
	to := sort.Search(n, func(i int) bool { return t.sums[i].weight >= enough })
	t.whole = to == n
	return t.decide(to)
}

// decide decides the first items. The record has the last of them: those before
// are run over once more.
func (t *table) decide(to int) error {
	for to > 0 {
		recorded, end, err := t.fill(to)
		if err != nil {
			return err
		}
		if t.worth() < t.goal {
			if !t.whole {
				return errShort
			}
			t.goal = t.worth()
		}
		for i := end - 1; i >= recorded; i-- {
			if t.takes(i - recorded) {
				t.take(&t.items[i])
			}
		}
		to = recorded
	}
	return nil
}

// fill runs over the first items until they reach the goal or there are no more. It
// returns the items that the record has, which begins again when it is full.
func (t *table) fill(to int) (recorded, end int, err error) {
	t.forget()
	t.lo, t.hi, t.row[0] = 0, 0, 0
	for i := range to {
		if t.worth() >= t.goal {
			return recorded, i, nil
		}
		if int64(len(t.record)) > t.limit>>5 {
			t.forget()
			recorded = i
		}
		// The later items can leave no less than this.
		after := t.sums[i+1]
		least := t.capacity - (t.sums[to].weight - after.weight)
		if err := t.push(&t.items[i], int(least), t.gap-after.credit); err != nil {
			return recorded, i, err
		}
	}
	return recorded, to, nil
}

func (t *table) forget() {
	t.steps = t.steps[:0]
	t.record = t.record[:0]
}

// worth returns the value of the items so far.
func (t *table) worth() int64 { return t.row[min(int(t.capacity), t.hi)] }

// takes reports whether the item of step i of the record is taken.
func (t *table) takes(i int) bool {
	s := t.steps[i]
	k := min(int(t.capacity), s.to) - s.from
	return k >= 0 && t.record[s.at+k>>6]>>(k&63)&1 != 0
}

// push runs over an item and records how to decide it. After that, no capacity
// below least is asked for, and costs of the items so far must not pass most.
func (t *table) push(it *item, least int, most int64) error {
	w := int(it.w)
	top := min(t.hi+w, int(t.capacity))
	flat := t.row[t.hi]
	for k := t.hi + 1; k <= top; k++ {
		t.row[k] = flat
	}
	t.hi = top
	lowest := min(max(t.lo, least), top) // what is asked for above top is answered there
	s := step{max(t.lo+w, lowest), top, len(t.record)}
	if s.from <= top {
		t.record = append(t.record, make([]uint64, (top-s.from)>>6+1)...)
		relax(t.row[s.from:top+1], t.row[s.from-w:top+1-w], it.v, t.record[s.at:])
	}
	t.steps = append(t.steps, s)
	t.lo = lowest
	cells := int64(t.hi - t.lo + 1)
	t.cut(most)
	return t.spend(cells)
}

// cut drops cells at both ends of the window that cannot lead to the answer.
// Rows rise, so the last cell of a group decides for all of it.
func (t *table) cut(most int64) {
	const group = 4
	for t.lo+group < t.hi && t.loss(t.lo, t.lo+group-1) > most {
		t.lo += group
	}
	for t.hi-group > t.lo && t.loss(t.hi-group+1, t.hi) > most {
		t.hi -= group
	}
}

// loss returns what the cells in [from, to) cost at least, less what the
// items so far earn at most.
func (t *table) loss(from, to int) int64 {
	return t.price*int64(from>>t.coarse) - t.row[to]<<t.fine
}

// relax improves dst[k] to src[k]+v where that is more, and records in which
// cells it is. The two may overlap: dst comes after src in the same row, and cells
// are visited from the last to the first, as in the chapter.
func relax(dst, src []int64, v int64, record []uint64) {
	src = src[:len(dst)]
	for k := len(record) - 1; k >= 0; k-- {
		d := dst[k<<6:]
		s := src[k<<6:][:len(d)]
		dst = dst[:k<<6]
		var word uint64
		for i := len(d) - 1; i >= 0; i-- {
			if with := s[i] + v; with > d[i] {
				d[i] = with
				word |= 1 << (i & 63)
			}
		}
		record[k] = word
	}
}
