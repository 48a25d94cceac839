package cupel

import (
	"context"
	"fmt"
	"slices"

	"github.com/wollax/cupel-go/cupel/internal/exact"
	"github.com/wollax/cupel-go/cupel/internal/promoted"
)

// NonMonotonic is implemented by slicers that know whether a larger budget can
// make them leave out an item that a smaller one includes. Functions that
// search by budget check for it, through wrappers, to guard against such
// slicers.
//
// It implements the Conformance Notes of the Budget Simulation chapter.
type NonMonotonic interface {
	// NonMonotonic reports whether that can happen.
	NonMonotonic() bool
}

// SweepSlicer is an optional interface of a [Slicer] whose choice depends on
// the target alone, not on the ceiling, and that can move from one target to
// the next at less cost than slicing again. A [Cursor] uses it; with any other
// slicer, the cursor slices again at each budget.
//
// A type that embeds a SweepSlicer inherits its Sweep, which is used only if
// the type inherits Slice as well. A type with its own Slice is sliced again at
// each budget until it has its own Sweep too.
type SweepSlicer interface {
	Slicer
	// Sweep returns the choices for items, or nil if this slicer cannot follow
	// them after all, such as a wrapper around a slicer that cannot. items are
	// those that Slice would get. The slicer must not change them, and may keep
	// them as long as the result is in use.
	Sweep(items []ScoredItem) SliceSweep
}

// SliceSweep follows the choice of a slicer from target to target. Only one
// goroutine uses it.
type SliceSweep interface {
	// Advance moves to a target, at least 0 and usually higher than the last.
	// It reports the list of positions that Slice returns for that target, in
	// that order, as a change of the previous list, which is empty at first:
	// the first keep positions stay, all others leave, and more are appended.
	// more is valid until the next call.
	Advance(target int) (keep int, more []int)
	// Next returns the lowest target at which the choice may change, above that
	// of the last Advance, or above 0 before the first. It returns false if
	// there is none.
	Next() (target int, ok bool)
}

// Sweep returns the sweep of s over items. It returns nil if s is not a
// [SweepSlicer], if s inherits Sweep from an embedded type but has its own
// Slice, or if s cannot follow. Slicers that wrap others use it. It does not
// recover a panic of s.
func Sweep(s Slicer, items []ScoredItem) SliceSweep {
	sweeper, ok := s.(SweepSlicer)
	if !ok || !promoted.Sweep.Agree(s) {
		return nil
	}
	sweep := sweeper.Sweep(items)
	if isNil(sweep) {
		return nil
	}
	return sweep
}

// Cursor moves from budget to budget and reports which candidates come and go.
// Each budget costs as much as [Prepared.Select], or much less with a
// [SweepSlicer] and rising budgets. Get it from [Prepared.Cursor]. Only one
// goroutine may use it at a time.
type Cursor struct {
	prepared *Prepared
	sweep    SliceSweep
	opened   bool
	at       position

	list   []int     // what the sweep has chosen, as positions in prepared.sorted
	marks  []mark    // by position in prepared.sorted
	sliced exact.Sum // tokens of list
	target int       // of the last Advance
	next   int       // the next target to look at
	last   bool      // there is none

	in         []mark  // by candidate
	forms      []int32 // by candidate, of candidates with units: the form it is in
	changed    []int
	tokens     exact.Sum
	came, went []int
}

// position is what a cursor knows about its current budget.
type position uint8

const (
	elsewhere position = iota // nothing about others
	unfit                     // the pinned items do not fit
	following                 // the selection is the pinned items and list
)

type mark uint8

const (
	out mark = iota
	in
	moved // from one to the other, in the current move
)

// SelectionChange is the difference between the selection at one budget and at
// the previous one.
type SelectionChange struct {
	Came []int // candidates that came in, ascending; valid until the next Move
	Went []int // candidates that went out, ascending; valid until the next Move
	// Changed are the candidates that stay in but in another form, ascending;
	// valid until the next Move. It is empty without smaller forms.
	Changed []int
	Tokens  int // tokens of the selected items in their forms, clamped to the range of int
}

// Cursor returns a cursor without a budget, which selects nothing. It takes two
// bytes a candidate, plus what a [SweepSlicer] needs.
func (p *Prepared) Cursor() *Cursor {
	c := &Cursor{prepared: p}
	if p.ready() == nil {
		c.in, c.marks = make([]mark, len(p.pass.items)), make([]mark, len(p.sorted))
	}
	return c
}

// Move moves to a budget. It selects as [Prepared.Select] does, with the same
// errors. After an error nothing is selected.
func (c *Cursor) Move(ctx context.Context, budget ContextBudget) (SelectionChange, error) {
	if c == nil || c.prepared == nil {
		return SelectionChange{}, &InvalidConfigError{Component: "Cursor", Reason: "the cursor is empty: get it from Prepared.Cursor"}
	}
	c.came, c.went, c.changed = c.came[:0], c.went[:0], c.changed[:0]
	err := c.move(contextOr(ctx), budget)
	if err != nil {
		c.undo()
		c.become(nil)
		c.tokens = exact.Sum{} // forms may have had fewer than their items
	}
	slices.Sort(c.came)
	slices.Sort(c.went)
	return SelectionChange{Came: c.came, Went: c.went, Changed: c.changed, Tokens: c.tokens.Int()}, err
}

// Unchanged reports whether moving to budget would certainly change nothing, or
// fail like the last move because of the pinned items. It does not ask the
// slicer.
func (c *Cursor) Unchanged(budget ContextBudget) bool {
	if c == nil {
		return false
	}
	switch c.at {
	case unfit:
		return !budget.holds(c.prepared.pass.pinnedTokens)
	case following:
		target := budget.effective(c.prepared.pass.pinnedTokens).TargetTokens
		return budget.holds(c.prepared.pass.pinnedTokens) && target >= c.target && (target < c.next || c.last) &&
			!c.tokens.Greater(budget.targetTokens)
	default:
		return false
	}
}

func (c *Cursor) move(ctx context.Context, budget ContextBudget) error {
	was := c.at
	c.at = elsewhere
	if err := c.prepared.ready(); err != nil {
		return err
	}
	if err := c.open(); err != nil {
		return err
	}
	if c.sweep == nil {
		return c.probe(ctx, budget)
	}
	if err := ctx.Err(); err != nil {
		return &CanceledError{Stage: StageClassify, Err: err, Cause: context.Cause(ctx)}
	}
	pinned := c.prepared.pass.pinnedTokens
	if err := budget.checkPinned(pinned); err != nil {
		c.at = unfit
		return err
	}
	target := budget.effective(pinned).TargetTokens
	if err := c.advance(target, was == following); err != nil {
		c.close()
		return err
	}
	if pinned.Plus(c.sliced).Greater(budget.targetTokens) {
		return c.probe(ctx, budget) // the slicer does not decide about an overflow
	}
	if was != following {
		c.become(c.listed())
	}
	c.at = following
	return nil
}

// probe slices again.
func (c *Cursor) probe(ctx context.Context, budget ContextBudget) error {
	c.undo()
	var positions []int
	var forms []int32 // parallel to positions
	var tokens exact.Sum
	err := c.prepared.selectWith(ctx, budget, func(r *run) {
		positions = r.mergedCandidates()
		if r.units != nil {
			forms, tokens = r.units.mergedForms(), sumOf(r.units.merged)
		}
	})
	if err == nil {
		c.become(positions)
		if c.prepared.pass.units != nil {
			c.shape(positions, forms, tokens)
		}
	} else if c.prepared.pass.units == nil && budget.checkPinned(c.prepared.pass.pinnedTokens) != nil {
		c.at = unfit
	}
	return err
}

// shape notes the forms of what is in, and which of them have changed.
func (c *Cursor) shape(candidates []int, forms []int32, tokens exact.Sum) {
	if c.forms == nil {
		c.forms = make([]int32, len(c.in))
	}
	came := newPositions(len(c.in))
	defer came.free()
	for _, i := range c.came {
		came.take(i)
	}
	for n, i := range candidates {
		if c.forms[i] != forms[n] && !came.has(i) {
			c.changed = append(c.changed, i)
		}
		c.forms[i] = forms[n]
	}
	slices.Sort(c.changed)
	c.tokens = tokens
}

// undo reverts what advance reported.
func (c *Cursor) undo() {
	for _, i := range c.came {
		c.enter(i, out)
	}
	for _, i := range c.went {
		c.enter(i, in)
	}
	c.came, c.went = c.came[:0], c.went[:0]
}

// enter marks a candidate as in or out.
func (c *Cursor) enter(candidate int, m mark) {
	c.in[candidate] = m
	if tokens := c.prepared.pass.items[candidate].tokens; m == in {
		c.tokens.Add(tokens)
	} else {
		c.tokens.Sub(tokens)
	}
}

// become replaces the selection by the candidates.
func (c *Cursor) become(candidates []int) {
	for _, i := range candidates {
		if c.in[i] == out {
			c.came = append(c.came, i)
			c.enter(i, in)
		}
		c.in[i] = moved
	}
	for i, m := range c.in {
		switch m {
		case in:
			c.went = append(c.went, i)
			c.enter(i, out)
		case moved:
			c.in[i] = in
		case out:
		}
	}
}

// listed returns the candidates that the sweep selects.
func (c *Cursor) listed() []int {
	candidates := slices.Clone(c.prepared.pass.pinned)
	for _, at := range c.list {
		candidates = append(candidates, c.candidate(at))
	}
	return candidates
}

func (c *Cursor) candidate(at int) int {
	return c.prepared.pass.scoreable[c.prepared.keys[at].Index]
}

// open asks the slicer for its sweep, once.
func (c *Cursor) open() (err error) {
	if c.opened {
		return nil
	}
	if c.prepared.pass.units != nil { // the left-over pass cannot be followed
		c.opened = true
		return nil
	}
	slicer := c.prepared.pipeline.config.Slicer
	defer recoverStrategy("slicer", slicer, &err)
	c.sweep = Sweep(slicer, slices.Clone(c.prepared.sorted))
	c.opened = true
	return nil
}

// close forgets the sweep.
func (c *Cursor) close() {
	clear(c.marks)
	c.list = c.list[:0]
	c.sliced, c.sweep, c.opened = exact.Sum{}, nil, false
	c.target, c.next, c.last = 0, 0, false
}

// advance moves list to a target, and the selection with it if follow is set.
func (c *Cursor) advance(target int, follow bool) (err error) {
	if target >= c.target && (target < c.next || c.last) {
		c.target = target
		return nil
	}
	slicer := c.prepared.pipeline.config.Slicer
	defer recoverStrategy("slicer", slicer, &err)
	keep, more := c.sweep.Advance(target)
	c.target = target
	next, ok := c.sweep.Next()
	c.next, c.last = next, !ok
	if keep < 0 || keep > len(c.list) || ok && next <= target {
		return contractError("slicer", slicer, fmt.Sprintf(
			"cannot be followed: at target %d it kept %d of %d positions and named %d as the next target", target, keep, len(c.list), next))
	}

	left := c.list[keep:]
	for _, at := range left {
		c.marks[at] = moved
	}
	for _, at := range more {
		if at < 0 || at >= len(c.marks) {
			return brokenContract("slicer", slicer, "out of range", at, len(c.marks))
		}
		switch c.marks[at] {
		case in:
			return brokenContract("slicer", slicer, "twice", at, len(c.marks))
		case out:
			c.sliced.Add(c.prepared.sorted[at].Item.tokens)
			if follow {
				c.came = append(c.came, c.candidate(at))
				c.enter(c.candidate(at), in)
			}
		case moved: // it has not left after all
		}
		c.marks[at] = in
	}
	for _, at := range left {
		if c.marks[at] != moved {
			continue // it left and came back
		}
		c.marks[at] = out
		c.sliced.Sub(c.prepared.sorted[at].Item.tokens)
		if follow {
			c.went = append(c.went, c.candidate(at))
			c.enter(c.candidate(at), out)
		}
	}
	c.list = append(c.list[:keep], more...)
	return nil
}
