package knapsack

import (
	"errors"
	"slices"
	"unsafe"
)

// Lists of states in input order. The list before item i has, for every weight
// that is of interest, the best value of the items before i up to that weight, as
// the table's row has; only the steps of that function are stored, so that weights
// may be of any size.
//
// Which states can be dropped? At item i the backward walk compares, for the
// capacity q that is left, the values of the items before i with item i and
// without it. It looks up both in the list. A set that the walk can end with costs
// at most the gap (bounds.go), and so does its part before item i. No set of those
// items is better at its weight or below, or the whole could be improved. So the
// list has a state with its value. Every other state is a set too, and never has
// too large a value, so a comparison can only be wrong about sets that the walk
// cannot end with.

// errTooMuchWork says that the lists grew so long that the table is the better
// way.
var errTooMuchWork = errors.New("knapsack: too many states")

// frontier is the engine that uses lists.
type frontier struct {
	solver *solver
	most   uint64 // states with higher costs are of no interest
	cur    []state
	first  int       // item that lists[0] belongs to
	lists  [][]state // the list before every item since the record was emptied
	arena  arena[state]
	spare  []state

	largest int    // states that a list may have
	effort  uint64 // states that may still be made; 0 ends the run unless unlimited
	endless bool
}

const stateBytes = int64(unsafe.Sizeof(state{}))

// solveFrontier decides the items by lists. If effort is above 0, it gives up
// after that many states with errTooMuchWork, having decided nothing.
func (s *solver) solveFrontier(effort uint64) error {
	limit := s.tune.limit
	f := &frontier{
		solver:  s,
		most:    s.gap.shifted(s.unit),
		largest: int(limit / 8 / stateBytes),
		effort:  effort,
		endless: effort == 0,
	}
	if !f.endless {
		// Blocks are run a second time only if there is no table.
		f.effort = min(effort, uint64(limit/4/stateBytes))
	}
	return newTracer(s, f, limit/4, limit/4).answer(s.goal)
}

func (f *frontier) load(at []state, from int) {
	if at == nil {
		at = []state{{}}
	}
	f.cur = at
	f.first = from
	f.lists = f.lists[:0]
	f.arena.reset()
}

func (f *frontier) push(i int, lo, hi int64) error {
	steps := uint64(len(f.cur))
	if !f.endless {
		if steps >= f.effort {
			return errTooMuchWork
		}
		f.effort -= steps
	}
	if err := f.solver.spend(8 * steps); err != nil {
		return err
	}
	next := f.arena.reserve(2 * len(f.cur))
	next = f.merge(next[:0], &f.solver.items[i], uint64(lo), uint64(hi))
	f.arena.keep(len(next))
	f.lists = append(f.lists, f.cur)
	f.cur = next
	if len(next) > f.largest {
		return &LimitError{Limit: f.solver.tune.limit, Need: 8 * stateBytes * int64(len(next))}
	}
	return nil
}

// merge appends to dst the states of the current list without the item and with
// it.
func (f *frontier) merge(dst []state, it *item, lo, hi uint64) []state {
	cur, most := f.cur, f.most
	w, v := uint64(it.w), it.v
	out, in := it.cost, uint64(0) // cost of leaving it out and of taking it
	if !it.in {
		out, in = 0, it.cost
	}
	last := int64(-1)
	i, j := 0, 0
	for i < len(cur) {
		var x state
		if without, with := &cur[i], &cur[j]; without.w < with.w+w || without.w == with.w+w && without.v >= with.v+v {
			x = state{without.w, without.v, without.cost + out}
			i++
		} else {
			x = state{with.w + w, with.v + v, with.cost + in}
			j++
		}
		if x.w > hi {
			return dst
		}
		if x.v > last && x.cost <= most {
			dst = f.put(dst, x, lo)
			last = x.v
		}
	}
	for ; j < len(cur); j++ {
		x := state{cur[j].w + w, cur[j].v + v, cur[j].cost + in}
		if x.w > hi {
			return dst
		}
		if x.v > last && x.cost <= most {
			dst = f.put(dst, x, lo)
			last = x.v
		}
	}
	return dst
}

// put appends x. Of the states up to lo, only the best matters.
func (f *frontier) put(dst []state, x state, lo uint64) []state {
	if n := len(dst); n > 0 && x.w <= lo {
		dst[n-1] = x
		return dst
	}
	return append(dst, x)
}

func (f *frontier) worth(capacity int64) int64 { return best(f.cur, uint64(capacity)) }

func (f *frontier) taken(i int, capacity int64) bool {
	list := f.lists[i-f.first]
	it := &f.solver.items[i]
	if capacity < it.w {
		return false
	}
	with := best(list, uint64(capacity-it.w))
	return with >= 0 && with+it.v > best(list, uint64(capacity))
}

// best returns the value that list has for a capacity, or -1 if it has none.
func best(list []state, capacity uint64) int64 {
	n, found := slices.BinarySearchFunc(list, capacity, func(x state, w uint64) int {
		switch {
		case x.w < w:
			return -1
		case x.w > w:
			return 1
		}
		return 0
	})
	if found {
		return list[n].v
	}
	if n == 0 {
		return -1
	}
	return list[n-1].v
}

func (f *frontier) recorded() int64 { return f.arena.bytes() }

func (f *frontier) forget() {
	f.first += len(f.lists)
	f.lists = f.lists[:0]
	f.spare = append(f.spare[:0], f.cur...)
	f.arena.reset()
	f.cur = f.arena.reserve(len(f.spare))
	copy(f.cur, f.spare)
	f.arena.keep(len(f.cur))
}

func (f *frontier) save() ([]state, int64) {
	return slices.Clone(f.cur), stateBytes * int64(len(f.cur))
}
