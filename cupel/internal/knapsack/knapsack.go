// Package knapsack solves the 0/1 knapsack problem exactly, with the choice
// among equally good sets that a plain dynamic program makes.
//
// The KnapsackSlice chapter of the specification defines its answer by a table
// of N x C cells: items in input order, strict ">" when an item is added, and
// reconstruction from the last item. This package returns the same set (R16)
// from a small part of that table, and refuses only what does not fit a memory
// limit (R17).
//
// # The tie rule
//
// The table leaves out the last item exactly when the items before it reach the
// best value alone, then decides the item before it in the same way for the
// capacity that remains. So among all optimal sets it picks the one that leaves
// out the last item whenever that is possible, then the one before it, and so
// on: written as a number with bit i set when item i is taken, the least. Call
// it the answer. Items on which all optimal sets agree can be fixed beforehand,
// and so can items that the answer is known to contain or to lack: the rest is a
// smaller knapsack whose answer completes it.
//
// # How it is solved
//
//  1. Items that cannot be in the answer go (too heavy, or worth nothing), and
//     when the others fit together they are all taken.
//  2. A greedy set and a price of weight bound what a set can be worth. Items
//     that cost more than the gap between the two on the other side of the bound
//     are fixed (bounds.go).
//  3. A search over the cheapest changes of the bound's set finds the best value,
//     which closes the gap as far as possible (search.go). Then more items are
//     fixed, some because others are always preferred to them (dominance.go).
//  4. The same search, now with sets, finds the answer among at most 64 items
//     that are left. If they are more, or the search grows too long, a table
//     decides them that is confined to the cells that the gap allows (table.go).
package knapsack

import (
	"context"
	"fmt"
	"math"
	"slices"
	"sync"
)

// DefaultMemoryLimit is the memory limit in bytes for a Problem that sets none:
// 256 MiB.
const DefaultMemoryLimit = 256 << 20

// MaxValue is the largest value that an item may have.
const MaxValue = 1 << 40

// Problem is one knapsack. Weights[i] and Values[i] belong to item i. Weights
// are at least 1, and values lie in [0, MaxValue]. Solve does not write to
// either slice. A Capacity below 1 takes nothing.
type Problem struct {
	Weights  []int64
	Values   []int64
	Capacity int64
	// MemoryLimit is the number of bytes that states, rows and records of one
	// call may take together; 0 or less means DefaultMemoryLimit. It does not
	// cover the bookkeeping of about 150 bytes an item. Less memory costs time.
	MemoryLimit int64
}

// LimitError reports that an answer needs more memory than allowed.
type LimitError struct {
	// Limit is the memory limit that was in force, in bytes.
	Limit int64
	// Need is a lower bound, in bytes, of the memory that the answer needs.
	Need int64
}

func (e *LimitError) Error() string {
	return fmt.Sprintf("knapsack: the exact answer needs more than %d bytes of working memory and the limit is %d: raise the limit or coarsen the weights",
		e.Need, e.Limit)
}

// InputError reports what is wrong with a Problem.
type InputError struct {
	// Index is the item at fault, or -1 for the problem as a whole.
	Index int
	// Reason says what is wrong.
	Reason string
}

func (e *InputError) Error() string {
	if e.Index < 0 {
		return "knapsack: " + e.Reason
	}
	return fmt.Sprintf("knapsack: item %d: %s", e.Index, e.Reason)
}

// item is a candidate with what the bounds found out about it.
type item struct {
	w, v int64
	cost int64 // what being on the other side of the bound costs
	pos  int32 // position in the Problem
	in   bool  // the bound takes it
}

// lists is memory whose size depends on the number of items alone. Calls reuse it:
// new memory would take a tenth of the time of a run with 10,000 items.
type lists struct {
	items []item // not decided yet, always in input order
	taken []bool
	sums  []sum
	steps []step
}

var pool = sync.Pool{New: func() any { return new(lists) }}

// solver holds the state of one call.
type solver struct {
	*lists
	ctx      context.Context
	limit    int64
	capacity int64 // what the items taken so far leave
	count    int   // of those

	price        int64 // of a unit of weight, shifted right by coarse
	fine, coarse uint  // a unit of value costs 1<<fine
	gap          int64 // most that a set as good as the best known one may cost
	lead         int64 // best known value of the items left
	goal         int64 // no set of them is worth more

	work, look int64 // steps so far, and when ctx is looked at next

	smallTable int64 // a table of at most so many cells is filled at once
	freeStates int64 // states that a search may make, however small the table is
	stride     int64 // steps after which ctx is looked at
}

// Solve returns the positions of the items taken, in the order in which the
// KnapsackSlice chapter of the specification reconstructs them: descending.
//
// It returns a *LimitError if p.MemoryLimit does not suffice, an *InputError if p
// breaks the rules of Problem or the values that fit add up to more than 2^59,
// and ctx.Err() if ctx ends first. It takes time linear in the number of items,
// plus what the items that bounds leave undecided need: at most about as many
// steps as the table of the chapter has cells, or twice as many if a record of
// a bit a cell takes more than a quarter of the memory limit.
func Solve(ctx context.Context, p Problem) ([]int, error) {
	s := usual
	s.ctx = ctx
	return s.solve(p)
}

// usual has the sizes at which the solver changes its method. None of them
// changes an answer.
var usual = solver{smallTable: 1 << 13, freeStates: 1 << 7, stride: 1 << 21}

func (s *solver) solve(p Problem) ([]int, error) {
	if err := s.ctx.Err(); err != nil {
		return nil, err
	}
	s.look = s.stride
	s.lists = pool.Get().(*lists)
	defer pool.Put(s.lists)
	if err := s.admit(p); err != nil {
		return nil, err
	}
	if err := s.run(); err != nil {
		return nil, err
	}
	positions := make([]int, 0, s.count)
	for i, taken := range slices.Backward(s.taken) {
		if taken {
			positions = append(positions, i)
		}
	}
	return positions, nil
}

// admit checks p and keeps the items that can be in the answer.
func (s *solver) admit(p Problem) error {
	n := len(p.Weights)
	if len(p.Values) != n {
		return &InputError{Index: -1, Reason: fmt.Sprintf("%d weights but %d values", n, len(p.Values))}
	}
	if n > math.MaxInt32 {
		return &InputError{Index: -1, Reason: fmt.Sprintf("%d items are too many", n)}
	}
	if s.limit = p.MemoryLimit; s.limit <= 0 {
		s.limit = DefaultMemoryLimit
	}
	s.capacity = p.Capacity
	s.items = slices.Grow(s.items[:0], n)
	s.taken = slices.Grow(s.taken[:0], n)[:n]
	clear(s.taken)
	for i, w := range p.Weights {
		v := p.Values[i]
		if w < 1 {
			return &InputError{Index: i, Reason: fmt.Sprintf("weight %d is below 1", w)}
		}
		if uint64(v) > MaxValue {
			return &InputError{Index: i, Reason: fmt.Sprintf("value %d is outside [0, 2^40]", v)}
		}
		if w <= s.capacity && v > 0 {
			s.items = append(s.items, item{w: w, v: v, pos: int32(i)})
		}
	}
	return nil
}

// run decides all items.
func (s *solver) run() error {
	if s.takeAllThatFit() {
		return nil
	}
	s.divideOut()
	if s.isSmall() {
		s.gap, s.goal = math.MaxInt64, math.MaxInt64
		return s.solveTable()
	}
	if err := s.bound(); err != nil {
		return err
	}
	s.fix()
	s.dominate()
	if s.takeAllThatFit() {
		return nil
	}
	if err := s.improve(); err != nil {
		return err
	}
	s.fix()
	s.dominate()
	if s.takeAllThatFit() {
		return nil
	}
	if s.goal == s.lead && len(s.items) <= maxSet && !s.isSmall() {
		if done, err := s.solveSearch(); done || err != nil {
			return err
		}
	}
	return s.solveTable()
}

// isSmall reports whether a table is filled in less time than bounds take.
func (s *solver) isSmall() bool {
	return int64(len(s.items)) <= s.smallTable/(s.capacity+1)
}

// takeAllThatFit takes all items left if they fit together, and reports whether
// nothing is left to decide.
func (s *solver) takeAllThatFit() bool {
	left := s.capacity
	for i := range s.items {
		if left -= s.items[i].w; left < 0 {
			return false
		}
	}
	for i := range s.items {
		s.take(&s.items[i])
	}
	return true
}

func (s *solver) take(it *item) {
	s.taken[it.pos] = true
	s.count++
	s.capacity -= it.w
	s.lead -= it.v
	s.goal -= it.v
}

// divideOut divides weights and values by their common divisors. The same sets
// fit, and they compare the same; but capacity that no set can use is gone, and
// the best value is one of fewer numbers.
func (s *solver) divideOut() {
	var gw, gv int64
	for i := range s.items {
		gw, gv = gcd(gw, s.items[i].w), gcd(gv, s.items[i].v)
		if gw == 1 && gv == 1 {
			return
		}
	}
	s.capacity /= gw
	for i := range s.items {
		s.items[i].w /= gw
		s.items[i].v /= gv
	}
}

func gcd(a, b int64) int64 {
	for b != 0 {
		a, b = b, a%b
	}
	return a
}

// spend counts steps of work and looks at the context once a stride.
func (s *solver) spend(steps int64) error {
	if s.work += steps; s.work < s.look {
		return nil
	}
	s.look = s.work + s.stride
	return s.ctx.Err()
}
