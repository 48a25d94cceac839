package cupel

import (
	"context"
	"fmt"
	"sync"
)

// Slicer selects items that fit a budget.
//
// items are sorted by score, highest first, and must be neither changed nor
// retained. The result is a subset, given as positions in items. Its tokens should
// not exceed budget.TargetTokens, and it is empty if items is empty or the target
// is 0. A slicer must be safe for concurrent use and keep no state between calls.
// ctx is the run's context; long work should stop when it is done.
//
// It implements the Slicers chapter of the specification.
type Slicer interface {
	Slice(ctx context.Context, items []ScoredItem, budget SliceBudget) (Selection, error)
}

// SliceBudget is what a slicer may spend: the budget of the run minus pinned
// items, output reserve, reserved slots and safety margin.
type SliceBudget struct {
	MaxTokens    int // the ceiling in tokens, at least 0
	TargetTokens int // the goal in tokens, at least 0 and at most the ceiling
}

// Selection is what a slicer decided.
type Selection struct {
	// Indices are the positions of the selected items, each at most once, in
	// any order: the pipeline merges by score.
	Indices []int
	// Smaller are the positions that are selected in a smaller form, none of them
	// in Indices or Drops. A slicer that wraps another passes them on, or loses
	// what they select.
	Smaller []SmallerForm
	// Drops are the positions that the slicer dropped for a reason of its own.
	// Everything else that is not selected is reported as [ExcludeBudgetExceeded].
	Drops []Drop
	// Shortfalls are requirements that the candidates could not meet, in the
	// order found.
	Shortfalls []CountRequirementShortfall
}

// Drop is an item that a slicer dropped for a reason other than the budget.
type Drop struct {
	Index  int // position in the list that the slicer was given
	Reason ExclusionReason
}

// CountRequirementShortfall says that there were fewer candidates of a kind than a
// count slicer requires.
//
// It implements the Scarcity Reporting section of the CountQuotaSlice chapter.
type CountRequirementShortfall struct {
	Kind           ContextKind // spelled as the slicer's entry does
	RequiredCount  int         // items required
	SatisfiedCount int         // items committed
	extra          *extraFields
}

// String returns the shortfall as one line: "CountRequirementShortfall: Memory
// has 1 of 3 required items".
func (s CountRequirementShortfall) String() string {
	return fmt.Sprintf("CountRequirementShortfall: %s has %d of %d required items", s.Kind, s.SatisfiedCount, s.RequiredCount)
}

// SlicerWrapper is implemented by slicers that contain others. Validation, cycle
// detection and the guards of some slicers look inside them.
type SlicerWrapper interface {
	// Slicers returns the slicers that this one calls, in order.
	Slicers() []Slicer
}

// KindNarrower is implemented by slicers with settings for several kinds. A
// QuotaSlice passes its inner slicer one kind at a time, and first calls ForKind to
// get the slicer for that kind.
//
// A type that embeds a KindNarrower inherits its ForKind, which would bypass the
// type's own Slice. A type with its own Slice therefore needs its own ForKind too;
// without one it is an error inside a QuotaSlice.
type KindNarrower interface {
	// ForKind returns the slicer to use for a list that holds items of one
	// kind only.
	ForKind(kind ContextKind) Slicer
}

// Slice runs a slicer and checks its contract: positions in range, none
// twice, none both selected and dropped, no forms that an item does not have.
// After a [LeftOverSlicer] it runs the left-over pass. Slicers that wrap others use
// it, so that an error names the slicer that made the mistake.
//
// A panic or an error is returned as a [StrategyError] that names s, a broken
// contract as a [ContractError]. Errors that already name a strategy, and ctx.Err(),
// are returned unchanged, as from [ScoreAll]. A nil ctx is [context.Background].
func Slice(ctx context.Context, s Slicer, items []ScoredItem, budget SliceBudget) (sel Selection, err error) {
	sel, err = slice(ctx, s, items, budget)
	if l, ok := s.(LeftOverSlicer); ok && err == nil && anyFillable(items) {
		return fillUp(l, items, budget, sel)
	}
	return sel, err
}

// slice is Slice without the left-over pass.
func slice(ctx context.Context, s Slicer, items []ScoredItem, budget SliceBudget) (sel Selection, err error) {
	ctx = contextOr(ctx)
	if isNil(s) {
		return Selection{}, &StrategyError{Role: "slicer", Strategy: typeName(s), Reason: "is nil"}
	}
	ctx, timing := startTiming(ctx, s)
	defer timing.end()
	defer recoverStrategy("slicer", s, &err)
	sel, err = s.Slice(ctx, items, budget)
	if err != nil {
		return Selection{}, strategyError(ctx, "slicer", s, err)
	}
	seen := newPositions(len(items))
	defer seen.free()
	for _, i := range sel.Indices {
		if problem := seen.take(i); problem != "" {
			return Selection{}, brokenContract("slicer", s, problem, i, len(items))
		}
	}
	for _, f := range sel.Smaller {
		if problem := seen.take(f.Index); problem != "" {
			return Selection{}, brokenContract("slicer", s, problem, f.Index, len(items))
		}
		if it := items[f.Index].Item; f.Form < 1 || f.Form > it.numForms()+len(it.older()) {
			return Selection{}, contractError("slicer", s, fmt.Sprintf("returned position %d in form %d, and it has %d smaller forms", f.Index, f.Form, it.numForms()))
		}
	}
	for _, d := range sel.Drops {
		if problem := seen.take(d.Index); problem != "" {
			return Selection{}, brokenContract("slicer", s, problem, d.Index, len(items))
		}
		if d.Reason.Code == "" {
			return Selection{}, brokenContract("slicer", s, "as dropped without a reason, out", d.Index, len(items))
		}
	}
	return sel, nil
}

func brokenContract(role string, s any, problem string, i, n int) error {
	return contractError(role, s, fmt.Sprintf("returned position %d %s of %d items", i, problem, n))
}

func contractError(role string, s any, reason string) error {
	return &ContractError{StrategyError{Role: role, Strategy: typeName(s), Reason: reason}}
}

// positions is a set of positions in a list, with pooled memory.
type positions struct {
	n     int
	words []uint64
}

var positionsPool = sync.Pool{New: func() any { return new(positions) }}

// newPositions returns an empty set for a list of n.
func newPositions(n int) *positions {
	p := positionsPool.Get().(*positions)
	words := (n + 63) / 64
	if cap(p.words) < words {
		p.words = make([]uint64, words)
	}
	p.n, p.words = n, p.words[:words]
	clear(p.words)
	return p
}

func (p *positions) free() { positionsPool.Put(p) }

// take adds i, or says why it cannot be.
func (p *positions) take(i int) string {
	if i < 0 || i >= p.n {
		return "out of range"
	}
	word, bit := &p.words[i/64], uint64(1)<<(i%64)
	if *word&bit != 0 {
		return "twice"
	}
	*word |= bit
	return ""
}

func (p *positions) has(i int) bool { return p.words[i/64]&(1<<(i%64)) != 0 }
