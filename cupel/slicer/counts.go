package slicer

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"strconv"

	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupel/internal/exact"
	"github.com/wollax/cupel-go/cupel/internal/order"
	"github.com/wollax/cupel-go/cupel/strategy"
)

// CountQuotaEntry is what a [CountQuota] or a [CountConstrainedKnapsack]
// demands of one kind, in numbers of items.
//
// It implements the CountQuotaEntry section of the CountQuotaSlice chapter.
type CountQuotaEntry struct {
	// Kind is the kind that the entry limits. It must not be blank. Reports
	// spell it as given here, except that well-known kinds are spelled as their
	// constants.
	Kind cupel.ContextKind
	// RequireCount is the number of items to commit before anything else is
	// chosen: at least 0, at most CapCount.
	RequireCount int
	// CapCount is the largest number of items to choose: at least 0. A cap of 0
	// excludes the kind.
	CapCount int
}

// ScarcityBehavior decides what a count slicer does when there are fewer
// candidates of a kind than its entry requires.
//
// It implements the ScarcityBehavior section of the CountQuotaSlice chapter.
type ScarcityBehavior uint8

// The scarcity behaviors. The zero value is the specification's default.
const (
	// ScarcityDegrade takes the candidates that exist and returns a
	// [cupel.CountRequirementShortfall] with the selection.
	ScarcityDegrade ScarcityBehavior = iota
	// ScarcityThrow fails with a [cupel.ScarcityError].
	ScarcityThrow
)

// String returns the specification's name: "Degrade" or "Throw".
func (b ScarcityBehavior) String() string {
	switch b {
	case ScarcityDegrade:
		return "Degrade"
	case ScarcityThrow:
		return "Throw"
	}
	return "ScarcityBehavior(" + strconv.Itoa(int(b)) + ")"
}

// CountOption is an optional setting of a [CountQuota] or a
// [CountConstrainedKnapsack].
type CountOption func(*counter)

// WithScarcity sets what a count slicer does when there are fewer candidates of
// a kind than its entry requires; [ScarcityDegrade] by default.
func WithScarcity(behavior ScarcityBehavior) CountOption {
	return func(c *counter) { c.scarcity = behavior }
}

// counter is what the two count slicers share.
type counter struct {
	component string // the specification's name of the slicer
	inner     strategy.Slicer
	byScore   bool // the caps take the inner selection by score, not in the order of inner
	scarcity  ScarcityBehavior
	entries   []CountQuotaEntry // in configuration order
}

// newCounter returns a counter, and records in wrong what is wrong with it.
func newCounter(wrong *strategy.Problems, inner strategy.Slicer, entries []CountQuotaEntry, opts []CountOption) counter {
	c := counter{component: wrong.Component, inner: inner, entries: slices.Clone(entries)}
	kinds := make(map[string]int, len(entries))
	for _, opt := range opts {
		if opt != nil {
			opt(&c)
		}
	}
	if c.scarcity > ScarcityThrow {
		wrong.Add("scarcityBehavior", c.scarcity.String(), "scarcityBehavior must be Degrade or Throw")
	}
	for i := range c.entries {
		e := &c.entries[i]
		checkKind(wrong, kinds, i, e.Kind, "")
		e.Kind = e.Kind.Canonical()
		e.validate(wrong, i)
	}
	return c
}

func (e CountQuotaEntry) validate(wrong *strategy.Problems, i int) {
	at := strategy.Element("entries", i)
	if e.RequireCount < 0 {
		wrong.Add(at+".requireCount", strconv.Itoa(e.RequireCount), "requireCount must be at least 0")
	}
	switch {
	case e.CapCount < 0:
		wrong.Add(at+".capCount", strconv.Itoa(e.CapCount), "capCount must be at least 0")
	case e.CapCount == 0 && e.RequireCount > 0:
		wrong.Add(at+".capCount", strconv.Itoa(e.CapCount), "a zero cap with a positive requirement can never be satisfied")
	case e.RequireCount > e.CapCount:
		wrong.Add(at+".requireCount", strconv.Itoa(e.RequireCount), fmt.Sprintf("requireCount must be at most capCount (%d)", e.CapCount))
	}
}

// countFields are the settings that the two count slicers share.
var countFields = []strategy.Field{
	{Name: "entries", Type: strategy.List, Doc: "The entries, at most one for each kind.", Fields: []strategy.Field{
		{Name: "kind", Type: strategy.Kind, Required: true, Doc: "A kind of item, in any casing."},
		{Name: "requireCount", Type: strategy.Int, Range: strategy.NonNegative, Default: 0, Doc: "The number of items to commit before anything else is chosen."},
		{Name: "capCount", Type: strategy.Int, Range: strategy.NonNegative, Doc: "The largest number of items; unlimited by default."},
	}},
	{Name: "scarcity", Type: strategy.Enum, Values: []string{ScarcityDegrade.String(), ScarcityThrow.String()}, Default: ScarcityDegrade.String(),
		Doc: "What happens when there are fewer items of a kind than its entry requires."},
}

// countsOf returns the settings of countFields.
func countsOf(a strategy.Args) (ScarcityBehavior, []CountQuotaEntry) {
	scarcity := ScarcityDegrade
	if strategy.Get[string](a, "scarcity") == ScarcityThrow.String() {
		scarcity = ScarcityThrow
	}
	var entries []CountQuotaEntry
	for _, e := range strategy.Get[[]strategy.Args](a, "entries") {
		limit := math.MaxInt
		if e.Has("capCount") {
			limit = strategy.Get[int](e, "capCount")
		}
		entries = append(entries, CountQuotaEntry{cupel.ContextKind(strategy.Get[string](e, "kind")), strategy.Get[int](e, "requireCount"), limit})
	}
	return scarcity, entries
}

// settings adds the settings of countFields to those given.
func (c counter) settings(given map[string]any) map[string]any {
	entries := make([]map[string]any, len(c.entries))
	for i, e := range c.entries {
		entries[i] = map[string]any{"kind": string(e.Kind), "requireCount": e.RequireCount}
		if e.CapCount != math.MaxInt {
			entries[i]["capCount"] = e.CapCount
		}
	}
	given["entries"], given["scarcity"] = entries, c.scarcity.String()
	return given
}

// forKind returns a counter with only the entry of one kind, here and inside.
func (c counter) forKind(kind cupel.ContextKind) counter {
	i := slices.IndexFunc(c.entries, func(e CountQuotaEntry) bool { return e.Kind.Equal(kind) })
	c.entries = c.entries[max(i, 0) : i+1]
	c.inner = narrow(c.inner, strategy.FactsOf(c.inner).ForKind, kind)
	return c
}

// facts returns the facts of a count slicer that is built. with returns one with
// another counter.
func (c *counter) facts(of strategy.Slicer, with func(counter) strategy.Slicer) strategy.Facts {
	return strategy.Facts{
		Of: of, Slicers: []strategy.Slicer{c.inner}, Explain: c.explain,
		ForKind: func(kind cupel.ContextKind) strategy.Slicer { return with(c.forKind(kind)) },
	}
}

// slice runs the three phases.
func (c *counter) slice(ctx context.Context, items []cupel.ScoredItem, budget cupel.SliceBudget) (strategy.Selection, error) {
	if len(items) == 0 || budget.TargetTokens <= 0 {
		return strategy.Selection{}, nil
	}
	s := newScratch(items)
	defer s.free()
	sel := strategy.Selection{Indices: s.selected[:0]}

	// Phase 1: commit what is required.
	budget, spent, err := c.commit(s, items, budget, &sel)
	if err != nil {
		return strategy.Selection{}, err
	}
	sel.Indices = append(sel.Indices, s.committed...)

	// Phase 2: the inner slicer chooses from the remaining items, with the
	// remaining tokens.
	if err := strategy.AppendSlicerOn(ctx, &sel, c.inner, items, s.rest, budget); err != nil {
		return strategy.Selection{}, err
	}
	sel.StaysUntil = withSpent(sel.StaysUntil, budget, spent)

	// Phase 3: keep the numbers within the caps.
	picked := s.picked[:0]
	indices := sel.Indices[:len(s.committed)]
	for _, i := range sel.Indices[len(indices):] {
		picked = append(picked, strategy.SmallerForm{Index: i})
	}
	picked = append(picked, sel.Smaller...)
	s.picked = picked
	if c.byScore {
		slices.SortFunc(picked, func(a, b strategy.SmallerForm) int {
			return cmp.Or(cmp.Compare(order.Key(items[b.Index].Score), order.Key(items[a.Index].Score)), cmp.Compare(a.Index, b.Index))
		})
	}
	sel.Smaller = nil
	dropped := s.rest[:0] // memory for as many; the inner slicer has returned
	for _, p := range picked {
		g := &s.groups[s.numbers[p.Index]]
		switch {
		case g.entry != nil && g.count >= g.entry.CapCount:
			dropped = append(dropped, p.Index)
			continue
		case p.Form > 0:
			sel.Smaller = append(sel.Smaller, p)
		default:
			indices = append(indices, p.Index)
		}
		g.count++
	}
	sel.Indices = indices
	sel.Drops = slices.Grow(sel.Drops, len(dropped))
	for _, i := range dropped {
		g := &s.groups[s.numbers[i]]
		if g.over.Code == "" { // from its first drop on, the count of a kind stays the same
			g.over = cupel.NewExclusionReason(cupel.ExcludeCountCapExceeded, cupel.ReasonData{Kind: g.entry.Kind, Cap: g.entry.CapCount, Count: g.count})
		}
		sel.Drops = append(sel.Drops, strategy.Drop{Index: i, Reason: g.over})
	}
	return s.result(sel), nil
}

// commit is phase 1. For each entry in turn, it selects as many of the best
// items of the kind as the entry requires, and records shortfalls in sel.
// Afterwards s.committed holds what is selected, and s.rest everything else. It
// returns the budget that is left for the rest, and the tokens selected.
func (c *counter) commit(s *scratch, items []cupel.ScoredItem, budget cupel.SliceBudget, sel *strategy.Selection) (left cupel.SliceBudget, spent exact.Sum, err error) {
	buffer := order.Borrow(len(items))
	defer buffer.Return()
	for i := range c.entries {
		e := &c.entries[i]
		candidates := buffer.Pairs[:0]
		g := s.find(e.Kind)
		if g != nil && e.RequireCount > 0 {
			for _, at := range s.of(g) {
				if items[at].Item.Tokens() >= 0 {
					candidates = append(candidates, order.Pair{Key: order.Key(items[at].Score), Index: at})
				}
			}
		}
		n := min(len(candidates), e.RequireCount)
		if n < e.RequireCount {
			if c.scarcity == ScarcityThrow {
				return left, spent, &cupel.ScarcityError{Slicer: c.component, Kind: e.Kind, RequireCount: e.RequireCount, Satisfied: n}
			}
			sel.Shortfalls = append(sel.Shortfalls, cupel.CountRequirementShortfall{Kind: e.Kind, RequiredCount: e.RequireCount, SatisfiedCount: n})
		}
		if g != nil {
			g.entry, g.count = e, n
		}
		order.SortDescending(candidates)
		for _, p := range candidates[:n] {
			spent.Add(items[p.Index].Item.Tokens())
			s.committed = append(s.committed, p.Index)
			s.numbers[p.Index] = committed
		}
	}
	for i, n := range s.numbers {
		if n != committed {
			s.rest = append(s.rest, i)
		}
	}
	budget.TargetTokens = min(max(0, exact.Of(budget.TargetTokens).Minus(spent).Int()), budget.MaxTokens)
	return budget, spent, nil
}

// committed stands for the group of an item that was committed.
const committed = -1

// withSpent turns the target of the inner slicer up to which something stays the same
// into one of the whole. It returns 0 if the inner slicer does not know one.
func withSpent(until int, inner cupel.SliceBudget, spent exact.Sum) int {
	if until <= inner.TargetTokens {
		return 0
	}
	return exact.Of(until).Plus(spent).Int()
}

// explain says that the kind has reached its cap, or that required items came first
// and what the inner slicer says about the rest.
func (c *counter) explain(ctx context.Context, items []cupel.ScoredItem, budget cupel.SliceBudget, chosen strategy.Selection, at int) (strategy.Obstacle, error) {
	if budget.TargetTokens <= 0 {
		return strategy.Obstacle{Rule: c.component + " has no tokens to choose with."}, nil
	}
	s := newScratch(items)
	defer s.free()
	left, spent, err := c.commit(s, items, budget, new(strategy.Selection))
	if err != nil {
		return strategy.Obstacle{}, err
	}
	e := s.groups[s.numbers[at]].entry
	capped := func(d strategy.Drop) bool {
		return d.Index == at && d.Reason.Code == cupel.ExcludeCountCapExceeded && d.Reason.Data().Cap == e.CapCount
	}
	switch {
	case e == nil || !slices.ContainsFunc(chosen.Drops, capped):
		// the inner slicer left it out
	case e.CapCount == 0:
		return strategy.Obstacle{Rule: fmt.Sprintf("%s takes no items of the kind %s.", c.component, e.Kind)}, nil
	default:
		other := func(i int) bool { return !items[i].Item.Kind().Equal(e.Kind) }
		return strategy.Obstacle{
			Rule:   fmt.Sprintf("%s takes at most %s of the kind %s.", c.component, count(e.CapCount), e.Kind),
			Before: slices.DeleteFunc(allOf(chosen), other),
		}, nil
	}
	o, err := explainOn(ctx, c.inner, items, s.rest, left, at)
	o.OutUntil = withSpent(o.OutUntil, left, spent)
	if n := len(s.committed); n > 0 {
		o.Before = slices.Concat(s.committed, o.Before)
		o.Rule = fmt.Sprintf("%s takes the required items of a kind first, here %s. %s", c.component, count(n), o.Rule)
	}
	return o, err
}

// allOf returns the positions that were chosen in some form.
func allOf(chosen strategy.Selection) []int {
	all := slices.Clone(chosen.Indices)
	for _, f := range chosen.Smaller {
		all = append(all, f.Index)
	}
	return all
}

func count(items int) string {
	if items == 1 {
		return "1 item"
	}
	return fmt.Sprintf("%d items", items)
}
