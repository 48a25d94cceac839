// Package knapsack solves the 0/1 knapsack problem exactly, with the choice
// among equally good sets that a plain dynamic program makes.
//
// The KnapsackSlice chapter of the specification defines its answer by a table
// of N x C cells: items in input order, strict ">" when an item is added, and
// reconstruction from the last item. At a bucket size of 1 that table has
// billions of cells. This package returns the same set (R16) while looking at
// a small part of it, and refuses only what does not fit a memory limit (R17).
//
// # The tie rule
//
// The table leaves out the last item exactly when the items before it reach
// the best value alone, then decides the item before it in the same way for the
// capacity that remains. So among all optimal sets it picks the one that leaves
// out the last item whenever that is possible, then the one before it, and so
// on: written as a number with bit i set when item i is taken, the least. Call
// it the answer. Two facts carry everything else:
//
//   - Items on which all optimal sets agree can be fixed beforehand, and so can
//     items that the answer is known to contain or to lack: the rest is a
//     smaller knapsack whose answer completes it.
//   - Taking an item of value 0 never helps, and leaving it out is preferred.
//
// # How it is solved
//
//  1. Items that cannot be in the answer go (too heavy, or worth nothing), and
//     when the others fit together they are all taken. Weights and values are
//     divided by their greatest common divisors, which tightens every bound.
//  2. Selection by density finds the item at which a greedy filling breaks off
//     and with it a price of weight. At that price every item has a cost for
//     being on the wrong side, and a set that is no worse than the best known
//     one cannot pay more than the gap between the bound and that set
//     (bounds.go). A short search over the cheapest items makes the gap as
//     small as it can be (improve.go).
//  3. Items that alone cost more than the gap are fixed. Then pairs are
//     compared: a set with an item must also have the items that are lighter,
//     not worse and earlier, and pay for them too (dominance.go).
//  4. The core that is left is solved in input order: by a bit set when all
//     densities are equal (subsetsum.go), by lists of undominated states while
//     they are short (frontier.go), and by a table confined to the cells that the
//     gap allows otherwise (table.go). What the backward walk needs is recorded
//     as far as the memory limit allows and recomputed from checkpoints beyond
//     that (trace.go).
package knapsack

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/bits"
	"slices"
)

// DefaultMemoryLimit is the memory limit in bytes for Options that set none:
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
}

// Options bounds the work of Solve.
type Options struct {
	// MemoryLimit is the number of bytes that the states, tables and
	// checkpoints of one call may take together; 0 or less means
	// DefaultMemoryLimit. It does not cover the bookkeeping of about 100 bytes
	// an item. Less memory costs time. If the answer cannot be found within the
	// limit, Solve returns a *LimitError.
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

// Solve returns the positions of the items taken, in the order in which the
// KnapsackSlice chapter of the specification reconstructs them: descending.
//
// It returns a *LimitError if opts.MemoryLimit does not suffice, an *InputError
// if p breaks the rules of Problem or the sum of its values exceeds 2^61, and
// ctx.Err() if ctx ends first. It takes time linear in the number of items,
// plus what the core needs: at most about as many steps as the table of the
// chapter has cells.
func Solve(ctx context.Context, p Problem, opts Options) ([]int, error) {
	limit := opts.MemoryLimit
	if limit <= 0 {
		limit = DefaultMemoryLimit
	}
	return solve(ctx, p, tuning{limit: limit, thresholds: usual})
}

// tuning is Options plus what only tests set.
type tuning struct {
	limit  int64
	method method
	thresholds
}

// thresholds are the sizes at which the solver changes its method. None of them
// changes an answer. Tests set small ones, so that small problems use every
// method.
type thresholds struct {
	// Tables of at most plainCells cells, and those narrower than plainWidth,
	// are filled as the chapter says, because examining the items would take
	// longer. So are cores narrower than plainRow, because in such short rows
	// choosing the cells would take longer.
	plainCells            uint64
	plainWidth, plainRow  int64
	smallTable            uint64 // a core of at most so many cells is filled before anything else is tried
	fewStates             uint64 // tried before memory is taken for every weight up to the capacity
	leastSearch, leastRun uint64 // states that improve and lists before a table may make, however few cells there are
	longest               uint64 // states that improve may have at a time
	// ampleRecord is the size of a record, in bytes, beyond which blocks are run a
	// second time even if there were memory for more: the second run covers few cells
	// as a rule, and fresh memory has its price as well.
	ampleRecord int64
	stride      uint64 // steps after which the context is looked at
}

var usual = thresholds{
	plainCells: 1 << 13, plainWidth: 64, plainRow: 1 << 10,
	smallTable: 1 << 13, fewStates: 1 << 14,
	leastSearch: 1 << 10, leastRun: 1 << 10, longest: 1 << 15,
	ampleRecord: 16 << 20, stride: 1 << 21,
}

// method forces one way of solving the core. Then only the bounds reduce the
// problem before it, or nothing does.
type method int

const (
	automatic method = iota
	byPlainTable
	byCoreTable
	byCoreFrontier
	byCoreFrontierAfterDominance
)

// item is a candidate with what the bounds found out about it.
type item struct {
	w, v int64
	pos  int32  // position in the Problem
	in   bool   // the bound takes it whole
	cost uint64 // what being on the other side costs, in units of solver.unit
}

// solver holds the state of one call. items are always in input order, and
// capacity is what the items taken so far leave.
type solver struct {
	ctx      context.Context
	tune     tuning
	items    []item
	capacity int64
	taken    []uint64 // bit i is set when item i is in the answer

	price price  // price of weight, from the last call of bound
	gap   wide   // bound minus best known value, at that price
	unit  uint   // costs are shifted right by this many bits
	lead  int64  // best known value of the items left
	goal  int64  // no set of them is worth more
	inW   int64  // weight of the items left that the bound takes
	inV   int64  // their value
	work  uint64 // steps so far
	look  uint64 // when work reaches it ctx is looked at
}

func solve(ctx context.Context, p Problem, tune tuning) ([]int, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	scratch := scratchPool.Get().(*scratch)
	defer scratchPool.Put(scratch)
	s := &solver{ctx: ctx, tune: tune, capacity: p.Capacity}
	if err := s.solve(p, scratch); err != nil {
		return nil, err
	}
	return s.answer(), nil
}

// solve decides every item of p.
func (s *solver) solve(p Problem, scratch *scratch) error {
	s.look = s.tune.stride
	if err := s.admit(p, scratch); err != nil {
		return err
	}
	return s.run(scratch)
}

// admit checks p and keeps the items that can be in the answer.
func (s *solver) admit(p Problem, scratch *scratch) error {
	n := len(p.Weights)
	if len(p.Values) != n {
		return &InputError{Index: -1, Reason: fmt.Sprintf("%d weights but %d values", n, len(p.Values))}
	}
	if n > math.MaxInt32 {
		return &InputError{Index: -1, Reason: fmt.Sprintf("%d items are too many", n)}
	}
	s.taken = make([]uint64, (n+63)/64)
	items := scratch.items[:0]
	for i, w := range p.Weights {
		v := p.Values[i]
		if w < 1 {
			return &InputError{Index: i, Reason: fmt.Sprintf("weight %d is below 1", w)}
		}
		if uint64(v) > MaxValue {
			return &InputError{Index: i, Reason: fmt.Sprintf("value %d is outside [0, 2^40]", v)}
		}
		if w <= s.capacity && v > 0 {
			items = append(items, item{w: w, v: v, pos: int32(i)})
		}
	}
	s.items = items
	scratch.items = items
	return nil
}

// run decides the items left.
func (s *solver) run(scratch *scratch) error {
	if s.takeAllThatFit() {
		return nil
	}
	small := (s.capacity < s.tune.plainWidth || s.cells() <= s.tune.plainCells) && s.plainFits()
	if s.tune.method == byPlainTable || s.tune.method == automatic && small {
		return s.solvePlain(math.MaxInt64)
	}
	for {
		s.divideOut()
		if s.takeAllThatFit() {
			return nil
		}
		if err := s.bound(scratch); err != nil {
			return err
		}
		if err := s.improve(scratch); err != nil {
			return err
		}
		s.fix()
		if gw, gv := s.divisors(); len(s.items) == 0 || gw == 1 && gv == 1 {
			break
		}
	}
	return s.solveCore()
}

// takeAllThatFit takes all items if they fit together, and reports whether
// nothing is left to decide.
func (s *solver) takeAllThatFit() bool {
	left := s.capacity
	for i := range s.items {
		if left -= s.items[i].w; left < 0 {
			return false
		}
	}
	for i := range s.items {
		s.take(s.items[i].pos)
	}
	s.items = s.items[:0]
	return true
}

func (s *solver) take(pos int32) { s.taken[pos>>6] |= 1 << (uint(pos) & 63) }

// answer lists the items taken, the last one first.
func (s *solver) answer() []int {
	n := 0
	for _, word := range s.taken {
		n += bits.OnesCount64(word)
	}
	positions := make([]int, 0, n)
	for i, word := range slices.Backward(s.taken) {
		for word != 0 {
			high := bits.Len64(word) - 1
			positions = append(positions, i<<6+high)
			word &^= 1 << uint(high)
		}
	}
	return positions
}

// solveCore solves what the bounds left open.
func (s *solver) solveCore() error {
	if s.takeAllThatFit() {
		return nil
	}
	switch s.tune.method { //nolint:exhaustive // the other methods go on below
	case byCoreTable:
		return s.solveTable()
	case byCoreFrontier:
		return s.solveFrontier(0)
	case byCoreFrontierAfterDominance:
		s.dominate()
		return s.solveFrontier(0)
	}
	if s.cells() <= s.tune.smallTable && s.tableFits() {
		return s.solveTable()
	}
	equal := s.equalDensities()
	if equal && s.takeAlike() {
		return nil
	}
	if equal && subsetSumBytes(s.capacity) <= s.tune.limit {
		if uint64(s.capacity) > 64*s.tune.fewStates {
			if err := s.solveFrontier(s.tune.fewStates); !errors.Is(err, errTooMuchWork) {
				return err
			}
		}
		return s.solveSubsetSum()
	}
	if s.capacity < s.tune.plainRow && s.plainFits() {
		return s.solvePlain(s.goal)
	}
	if err := s.ctx.Err(); err != nil {
		return err
	}
	s.dominate()
	if s.takeAllThatFit() {
		return nil
	}
	if !s.tableFits() {
		return s.solveFrontier(0)
	}
	// A state of a list costs several times as much as a cell of the table, and
	// lists that grow must cost little compared with the table that follows
	// them.
	err := s.solveFrontier(s.tune.leastRun + s.cells()/128)
	if errors.Is(err, errTooMuchWork) {
		return s.solveTable()
	}
	return err
}

// takeAlike decides items of equal densities and equal weights: they are alike,
// and the answer has the first of them. It reports whether the items are alike.
func (s *solver) takeAlike() bool {
	w := s.items[0].w
	for i := range s.items {
		if s.items[i].w != w {
			return false
		}
	}
	for _, it := range s.items[:s.capacity/w] {
		s.take(it.pos)
	}
	return true
}

// cells returns the largest size of the table that solveTable would fill.
func (s *solver) cells() uint64 {
	return saturatingMul(uint64(len(s.items)), uint64(s.capacity)+1)
}

// spend counts steps of work and checks the context every few million steps.
func (s *solver) spend(steps uint64) error {
	if s.work += steps; s.work < s.look {
		return nil
	}
	s.look = s.work + s.tune.stride
	return s.ctx.Err()
}
