package strategy

import (
	"cmp"
	"context"
	"fmt"
	"reflect"
	"runtime/debug"
	"slices"
	"strings"
	"sync"

	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupel/internal/engine"
	"github.com/wollax/cupel-go/cupel/internal/value"
)

// CallScorer scores items with s as a pipeline does. Scorers that wrap others use
// it, so that an error names the scorer that made the mistake.
//
// A panic or an error of s is returned as a [cupel.StrategyError] that names s.
// ctx.Err(), a StrategyError, a [cupel.InvalidConfigError] and a
// [cupel.ScarcityError] are returned unchanged. len(scores) must equal len(items). A
// nil ctx is [context.Background]. In addition to s, it takes O(N) time.
func CallScorer(ctx context.Context, s Scorer, items []*cupel.ContextItem, scores []float64) error {
	if len(scores) != len(items) {
		return strategyError("scorer", s, fmt.Sprintf("was given a slice of %d scores for %d items", len(scores), len(items)), nil)
	}
	return call(ctx, "scorer", s, func(ctx context.Context) error {
		clear(scores) // what a scorer forgets is 0, and not what was there before
		return s.Score(ctx, items, scores)
	})
}

// CallSlicer runs a slicer as a pipeline does and checks its contract: positions in
// range, none twice, none both selected and dropped, no forms that an item does not
// have. After a slicer that asks for it ([Facts]) it runs the left-over pass.
// Slicers that wrap others use it.
//
// A panic or an error is returned as a [cupel.StrategyError] that names s, a broken
// contract as a [cupel.ContractError], with the same exceptions as from [CallScorer].
// A nil ctx is [context.Background].
func CallSlicer(ctx context.Context, s Slicer, items []cupel.ScoredItem, budget cupel.SliceBudget) (sel Selection, err error) {
	err = call(ctx, "slicer", s, func(ctx context.Context) (err error) {
		sel, err = s.Slice(ctx, items, budget)
		return err
	})
	if err == nil {
		err = checkSelection(s, items, &sel)
	}
	if err != nil {
		return Selection{}, err
	}
	if !anyFillable(items) {
		return sel, nil
	}
	sel.StaysUntil = 0 // more room is more for smaller forms
	err = call(ctx, "slicer", s, func(context.Context) error {
		if FactsOf(s).LeftOver {
			sel = leftOver(items, budget.TargetTokens, sel)
		}
		return nil
	})
	return sel, err
}

var lists = sync.Pool{New: func() any { return new([]cupel.ScoredItem) }}

// AppendSlicerOn runs a slicer on some of the items, given by their positions in
// the order in which the slicer is to see them. It appends to sel what the slicer
// selects, smaller forms included, and what it drops, as positions in items, and
// replaces StaysUntil. Slicers that give others a part of their list use it.
//
// It fails as [CallSlicer] does, and with a [cupel.InvalidConfigError] when a
// position is out of range; sel then stays as it is. In addition to s, it takes time
// linear in the number of positions.
func AppendSlicerOn(ctx context.Context, sel *Selection, s Slicer, items []cupel.ScoredItem, positions []int, budget cupel.SliceBudget) error {
	pooled := lists.Get().(*[]cupel.ScoredItem)
	list := engine.Resize(*pooled, len(positions))
	defer func() {
		clear(list) // the items are the caller's
		*pooled = list
		lists.Put(pooled)
	}()
	for i, at := range positions {
		if at < 0 || at >= len(items) {
			return &cupel.InvalidConfigError{
				Component: "AppendSlicerOn", Field: Element("positions", i), Value: fmt.Sprint(at),
				Reason: fmt.Sprintf("position is out of range for a list of %d items", len(items)),
			}
		}
		list[i] = items[at]
	}
	inner, err := CallSlicer(ctx, s, list, budget)
	if err != nil {
		return err
	}
	// The lists may be the slicer's own: they are copied, not changed.
	indices := slices.Grow(sel.Indices, len(inner.Indices))
	for _, i := range inner.Indices {
		indices = append(indices, positions[i])
	}
	sel.Indices = indices
	for _, f := range inner.Smaller {
		sel.Smaller = append(sel.Smaller, SmallerForm{Index: positions[f.Index], Form: f.Form})
	}
	for _, d := range inner.Drops {
		sel.Drops = append(sel.Drops, Drop{Index: positions[d.Index], Reason: d.Reason})
	}
	sel.Shortfalls = append(sel.Shortfalls, inner.Shortfalls...)
	sel.StaysUntil = inner.StaysUntil
	return nil
}

// CallPlacer runs a placer as a pipeline does, on an order that it fills, and checks
// its contract: order must hold each position once. len(order) must equal len(items).
// It fails as [CallSlicer] does.
func CallPlacer(ctx context.Context, p Placer, items []cupel.ScoredItem, order []int) error {
	if len(order) != len(items) {
		return strategyError("placer", p, fmt.Sprintf("was given a slice of %d positions for %d items", len(order), len(items)), nil)
	}
	for i := range order {
		order[i] = i
	}
	err := call(ctx, "placer", p, func(ctx context.Context) error { return p.Place(ctx, items, order) })
	if err != nil {
		return err
	}
	seen := newPositions(len(items))
	defer seen.free()
	for _, i := range order {
		if problem := seen.take(i); problem != "" {
			return brokenContract("placer", p, problem, i, len(items))
		}
	}
	return nil
}

// Explain returns what keeps the item at a position of items from being selected by
// s, and a zero Obstacle when it is selected. Slicers that wrap others use it. It
// costs a [CallSlicer], and the time that the slicer takes to explain itself.
//
// It fails as CallSlicer does, and with a [cupel.StrategyError] when the explanation
// names items that were not chosen.
func Explain(ctx context.Context, s Slicer, items []cupel.ScoredItem, budget cupel.SliceBudget, at int) (o Obstacle, err error) {
	if at < 0 || at >= len(items) {
		return Obstacle{}, &cupel.InvalidConfigError{Component: "Explain", Field: "at", Value: fmt.Sprint(at), Reason: fmt.Sprintf("at must be a position in the list of %d items", len(items))}
	}
	chosen, err := CallSlicer(ctx, s, items, budget)
	if err != nil {
		return Obstacle{}, err
	}
	known, seen := newPositions(len(items)), newPositions(len(items))
	defer known.free()
	defer seen.free()
	taken := slices.Clone(chosen.Indices)
	for _, f := range chosen.Smaller {
		taken = append(taken, f.Index)
	}
	for _, i := range taken {
		known.take(i)
	}
	if known.has(at) {
		return Obstacle{}, nil
	}
	var explain func(context.Context, []cupel.ScoredItem, cupel.SliceBudget, Selection, int) (Obstacle, error)
	err = call(ctx, "slicer", s, func(ctx context.Context) (err error) {
		if explain = FactsOf(s).Explain; explain != nil {
			o, err = explain(ctx, items, budget, chosen, at)
		}
		return err
	})
	switch {
	case err != nil:
		return Obstacle{}, err
	case explain == nil:
		return Obstacle{Rule: fmt.Sprintf("%s chose others, with %d tokens.", shortTypeName(s), budget.TargetTokens), Before: taken}, nil
	}
	if anyFillable(items) {
		o.OutUntil = 0 // the left-over pass may take it
	}
	for _, d := range chosen.Drops {
		known.take(d.Index)
	}
	for _, i := range o.Before {
		problem := seen.take(i)
		if problem == "" && (i == at || !known.has(i)) {
			problem = "as an obstacle that it did not choose,"
		}
		if problem != "" {
			return Obstacle{}, brokenContract("slicer", s, problem, i, len(items))
		}
	}
	return o, nil
}

// call calls a strategy, and turns panics and errors into errors that name the
// strategy.
func call(ctx context.Context, role string, s any, do func(ctx context.Context) error) (err error) {
	if value.IsNil(s) {
		return strategyError(role, s, "is nil", nil)
	}
	if ctx == nil {
		ctx = context.Background()
	}
	defer func() {
		if v := recover(); v != nil {
			err = strategyError(role, s, "panicked", &cupel.PanicError{Value: v, Stack: debug.Stack()})
		}
	}()
	err = do(ctx)
	switch {
	case err == nil:
		return nil
	case value.IsNil(err): // a nil pointer of an error type: it says nothing, and its methods may panic
		return strategyError(role, s, "failed with a nil "+value.TypeName(err), nil)
	case typed(err) || value.IsContextError(ctx, err):
		return err
	}
	return strategyError(role, s, "failed", err)
}

func strategyError(role string, s any, reason string, cause error) *cupel.StrategyError {
	return &cupel.StrategyError{Role: role, Strategy: value.TypeName(s), Reason: reason, Err: cause}
}

// typed reports whether an error already says what failed and why, so that
// wrappers on the way up need not wrap it. Errors that only a run makes do not
// count: they would look like errors of the enclosing run.
func typed(err error) bool {
	switch err.(type) { //nolint:errorlint // each itself, not what it wraps
	case *cupel.InvalidConfigError, *cupel.ScarcityError, *cupel.StrategyError, *cupel.ContractError:
		return true
	}
	return joined(err) != nil // several settings of one strategy
}

func checkSelection(s Slicer, items []cupel.ScoredItem, sel *Selection) error {
	seen := newPositions(len(items))
	defer seen.free()
	for _, i := range sel.Indices {
		if problem := seen.take(i); problem != "" {
			return brokenContract("slicer", s, problem, i, len(items))
		}
	}
	for _, f := range sel.Smaller {
		if problem := seen.take(f.Index); problem != "" {
			return brokenContract("slicer", s, problem, f.Index, len(items))
		}
		forms, older := data.Points(items[f.Index].Item)
		if f.Form < 1 || f.Form > len(forms)+len(older) {
			return contractError("slicer", s, fmt.Sprintf("returned position %d in form %d, and it has %d smaller forms", f.Index, f.Form, len(forms)))
		}
	}
	for _, d := range sel.Drops {
		if problem := seen.take(d.Index); problem != "" {
			return brokenContract("slicer", s, problem, d.Index, len(items))
		}
		if d.Reason.Code == "" {
			return brokenContract("slicer", s, "as dropped without a reason, out", d.Index, len(items))
		}
	}
	return nil
}

func brokenContract(role string, s any, problem string, i, n int) error {
	return contractError(role, s, fmt.Sprintf("returned position %d %s of %d items", i, problem, n))
}

func contractError(role string, s any, reason string) error {
	return &cupel.ContractError{StrategyError: *strategyError(role, s, reason, nil)}
}

// shortTypeName returns the name of the type of s without its package, or "The
// slicer" for a type without a name.
func shortTypeName(s Slicer) string {
	t := element(reflect.TypeOf(s))
	name, _, _ := strings.Cut(t.Name(), "[") // of a generic type
	return cmp.Or(name, "The slicer")
}

// positions is a set of positions in a list.
type positions struct {
	n     int
	words []uint64
}

var sets = sync.Pool{New: func() any { return new(positions) }}

// newPositions returns an empty set for a list of n.
func newPositions(n int) *positions {
	p := sets.Get().(*positions)
	words := (n + 63) / 64
	p.n, p.words = n, engine.Resize(p.words, words)
	clear(p.words)
	return p
}

func (p *positions) free() { sets.Put(p) }

// take adds i, or says why it cannot be.
func (p *positions) take(i int) string {
	if uint(i) >= uint(p.n) {
		return "out of range"
	}
	word, bit := &p.words[uint(i)/64], uint64(1)<<(uint(i)%64)
	if *word&bit != 0 {
		return "twice"
	}
	*word |= bit
	return ""
}

func (p *positions) has(i int) bool { return p.words[i/64]&(1<<(i%64)) != 0 }
