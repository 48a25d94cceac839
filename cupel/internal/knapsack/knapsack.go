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
//     are fixed (bounds.go), and some because others are always preferred to them
//     (dominance.go).
//  3. A search over the cheapest changes of the bound's set finds the best value,
//     which closes the gap as far as possible, or the answer if at most 64 items
//     are left (search.go). Then more items are fixed in the same ways, and those
//     left are searched again if they are few.
//  4. A table decides the others. It is confined to the cells that the gap allows
//     (table.go).
//
// # What a plain version costs
//
// The chapter's table alone, a row of values and a bit for each cell, takes about
// 30 lines, and longer in each case of BenchmarkSolve. For 1,000 items in buckets of
// 100 tokens it takes 1.8 to 2.1 ms, and this package 0.06 to 0.09 ms. In buckets of
// 1 token it takes 132 ms for unrelated scores, 122 ms for equal ones and 104 ms for
// scores almost in proportion to tokens, and this package 0.2, 0.8 and 31 ms. For
// 10,000 items of unrelated scores in buckets of 100 it takes 138 ms, and this package
// 0.4 ms. For 10,000 items in buckets of 1 token, equal scores take 29 times as long
// without dominance, scores of six values 4 times without the search, and scores in
// proportion to tokens 258 times without attempts with the first items.
package knapsack

import (
	"context"
	"slices"
	"sync"
)

// MaxValue is the largest value that an item may have.
const MaxValue = 1 << 40

// Problem is one knapsack.
type Problem struct {
	// Len is the number of items.
	Len int
	// Item returns the weight of an item, at least 1, and its value, at most
	// MaxValue. An item with a value of 0 or less is not taken, and its weight does
	// not count. Item is called once for each item.
	Item func(i int) (weight, value int64)
	// Capacity is the weight that the items taken may have together. One below 1
	// takes nothing.
	Capacity int64
	// MemoryLimit is the number of bytes that states, rows and records of one call may
	// take together. It does not cover the bookkeeping of about 150 bytes per item. Less
	// memory costs time.
	MemoryLimit int64
}

// LimitError reports that an answer needs more memory than allowed.
type LimitError struct {
	// Need is a lower bound, in bytes, of the memory that the answer needs.
	Need int64
}

func (e *LimitError) Error() string { return "knapsack: the memory limit is too low" }

// item is a candidate with what the bounds found out about it.
type item struct {
	w, v int64
	cost int64 // what being on the other side of the bound costs
	pos  int   // position in the Problem
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

	work int64 // steps so far

	freeStates int64 // states that a search may make, however small the table is
}

// Solve returns the positions of the items taken, in the order in which the
// KnapsackSlice chapter of the specification reconstructs them: descending.
//
// It returns a *LimitError if p.MemoryLimit does not suffice, another error if the
// values that fit add up to more than 2^59, and ctx.Err() if ctx ends first. It takes
// time linear in the number of items, plus what the items that bounds leave undecided
// need: at most about as many steps as the table of the chapter has cells. If a record
// of one bit per cell takes more than a quarter of the memory limit, it is made in
// parts, and each part runs over the items before it once more.
func Solve(ctx context.Context, p Problem) ([]int, error) {
	s := usual
	s.ctx = ctx
	return s.solve(p)
}

// usual has the size at which the solver changes its method. It does not change an
// answer.
var usual = solver{freeStates: 1 << 7}

func (s *solver) solve(p Problem) ([]int, error) {
	s.lists = pool.Get().(*lists)
	defer pool.Put(s.lists)
	s.admit(p)
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

// admit keeps the items that can be in the answer.
func (s *solver) admit(p Problem) {
	s.limit, s.capacity = p.MemoryLimit, p.Capacity
	s.items = slices.Grow(s.items[:0], p.Len)
	s.taken = slices.Grow(s.taken[:0], p.Len)[:p.Len]
	clear(s.taken)
	for i := range p.Len {
		w, v := p.Item(i)
		if v > 0 && w <= s.capacity {
			s.items = append(s.items, item{w: w, v: v, pos: i})
		}
	}
}

// run decides all items.
func (s *solver) run() error {
	if err := s.ctx.Err(); err != nil {
		return err
	}
	if s.takeAllThatFit() {
		return nil
	}
	if err := s.bound(); err != nil {
		return err
	}
	for range 2 { // a second search among fewer items may decide them
		s.fix()
		s.dominate()
		if s.takeAllThatFit() {
			return nil
		}
		if decided, err := s.search(); decided || err != nil {
			return err
		}
	}
	return s.solveTable()
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

// spend counts steps of work and looks at the context.
func (s *solver) spend(steps int64) error {
	s.work += steps
	return s.ctx.Err()
}
