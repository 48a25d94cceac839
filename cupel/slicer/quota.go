package slicer

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strconv"

	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupel/internal/exact"
	"github.com/wollax/cupel-go/cupel/strategy"
)

const quotaSlice = "QuotaSlice"

// QuotaEntry is what a [Quota] demands for one kind. Make it with [Require],
// [Cap] or [Between].
type QuotaEntry struct {
	kind         cupel.ContextKind
	require, cap float64 // percent of the target
}

// Require reserves at least minPercent of the target for a kind, without a cap.
// minPercent is in [0,100]. Tokens that the kind cannot use stay unused.
func Require(kind cupel.ContextKind, minPercent float64) QuotaEntry {
	return QuotaEntry{kind, minPercent, 100}
}

// Cap limits a kind to maxPercent of the target and reserves nothing for it.
// maxPercent is in [0,100]; 0 excludes the kind.
func Cap(kind cupel.ContextKind, maxPercent float64) QuotaEntry {
	return QuotaEntry{kind, 0, maxPercent}
}

// Between reserves at least minPercent of the target for a kind and limits it to
// maxPercent; both are in [0,100], and minPercent is at most maxPercent.
func Between(kind cupel.ContextKind, minPercent, maxPercent float64) QuotaEntry {
	return QuotaEntry{kind, minPercent, maxPercent}
}

// Quota divides the target between the kinds of the candidates, and an inner slicer
// chooses within each share, so that no kind crowds out the others. A kind gets its
// required share, plus a part of the rest in proportion to the tokens of its
// candidates, up to its cap. Shares are rounded down to whole tokens; a kind whose
// share is 0 gets no items.
//
// Kinds are compared without ASCII case and come in the order of their first
// items. Kinds without an entry have require 0 and cap 100. If the inner slicer has
// a slicer for each kind ([strategy.Facts]), Quota uses those. The choice is not
// monotonic in the budget.
//
// The zero Quota is not valid: build it with [NewQuota]. In addition to the
// inner slicer's, it takes time linear in the number of items. It implements the
// QuotaSlice chapter of the specification.
type Quota struct {
	inner   strategy.Slicer
	entries []QuotaEntry
}

// NewQuota returns a Quota around inner with at most one entry per kind. It fails with
// a [cupel.InvalidConfigError] when inner is nil or not valid, a kind is blank or has
// two entries, a percentage is outside [0,100] or NaN, a require is above its cap, or
// the requires sum to more than 100 (+1e-9).
func NewQuota(inner strategy.Slicer, entries ...QuotaEntry) (*Quota, error) {
	wrong := strategy.Problems{Component: quotaSlice}
	wrong.AddError(checkInner(quotaSlice, inner))
	kinds := make(map[string]int, len(entries))
	sum, entriesOK := 0.0, wrong.Len()
	for i, e := range entries {
		checkKind(&wrong, kinds, i, e.kind, "give the kind one entry, with Between; ")
		e.validate(&wrong, i)
		sum += e.require
	}
	if wrong.Len() == entriesOK && sum > 100+1e-9 {
		wrong.Add("entries", formatPercent(sum), "the sum of all require percentages must not exceed 100%")
	}
	if err := wrong.Err(); err != nil {
		return nil, err
	}
	return &Quota{inner, slices.Clone(entries)}, nil
}

var quotaDescriptor = strategy.Descriptor{
	Name: "quota", Component: quotaSlice,
	Doc: "Shares the target out between kinds, around another slicer.",
	Fields: []strategy.Field{
		{Name: "inner", Type: strategy.Child, Required: true, Doc: "The slicer that chooses within each share."},
		{Name: "entries", Type: strategy.List, Doc: "The entries, at most one for each kind.", Fields: []strategy.Field{
			{Name: "kind", Type: strategy.Kind, Required: true, Doc: "A kind of item, in any casing."},
			{Name: "require", Type: strategy.Number, Range: strategy.Percent, Default: 0.0, Doc: "The part reserved for the kind, in percent of the target."},
			{Name: "cap", Type: strategy.Number, Range: strategy.Percent, Default: 100.0, Doc: "The most that the kind may use, in percent of the target."},
		}},
	},
	Build: func(a strategy.Args) (any, error) {
		var entries []QuotaEntry
		for _, e := range strategy.Get[[]strategy.Args](a, "entries") {
			entries = append(entries, Between(cupel.ContextKind(strategy.Get[string](e, "kind")), strategy.Get[float64](e, "require"), strategy.Get[float64](e, "cap")))
		}
		return strategy.Built(NewQuota(strategy.Get[strategy.Slicer](a, "inner"), entries...))
	},
	Settings: strategy.Only(func(q *Quota) map[string]any {
		entries := make([]map[string]any, len(q.entries))
		for i, e := range q.entries {
			entries[i] = map[string]any{"kind": string(e.kind), "require": e.require, "cap": e.cap}
		}
		return map[string]any{"inner": q.inner, "entries": entries}
	}),
}

// tokens returns what is required and the cap for a target, in tokens, rounded
// down as the slicer does.
func (e QuotaEntry) tokens(target int) (require, cap int) {
	return percentOf(e.require, target), percentOf(e.cap, target)
}

func (e QuotaEntry) validate(wrong *strategy.Problems, i int) {
	at := strategy.Element("entries", i)
	requireOK := e.require >= 0 && e.require <= 100 // written so that NaN fails
	capOK := e.cap >= 0 && e.cap <= 100
	if !requireOK {
		wrong.Add(at+".require", formatPercent(e.require), "require must be from 0 to 100 percent")
	}
	if !capOK {
		wrong.Add(at+".cap", formatPercent(e.cap), "cap must be from 0 to 100 percent")
	}
	if requireOK && capOK && e.require > e.cap {
		wrong.Add(at+".require", formatPercent(e.require), fmt.Sprintf("require must be at most the cap of its kind (%s)", formatPercent(e.cap)))
	}
}

func formatPercent(p float64) string { return strconv.FormatFloat(p, 'g', -1, 64) }

// Facts implements [strategy.Describer]: shares move with the target, so the choice is
// not monotonic.
func (q *Quota) Facts() strategy.Facts {
	if q == nil || q.inner == nil {
		return notBuilt(q, quotaSlice)
	}
	return strategy.Facts{Of: q, Slicers: []strategy.Slicer{q.inner}, NonMonotonic: true, Explain: q.explain}
}

// Slice implements [strategy.Slicer]. The positions come kind by kind in order of
// first appearance. It fails when the inner slicer fails, and returns ctx.Err()
// when ctx is done between two kinds.
func (q *Quota) Slice(ctx context.Context, items []cupel.ScoredItem, budget cupel.SliceBudget) (strategy.Selection, error) {
	if q == nil || q.inner == nil {
		return strategy.Selection{}, notBuilt(q, quotaSlice).Invalid
	}
	if len(items) == 0 || budget.TargetTokens <= 0 {
		return strategy.Selection{}, nil
	}
	if ctx == nil {
		ctx = context.Background()
	}
	s := newScratch(items)
	defer s.free()
	q.distribute(s, budget.TargetTokens)
	forKind := strategy.FactsOf(q.inner).ForKind
	sel := strategy.Selection{Indices: s.selected[:0]}
	for i := range s.groups {
		g := &s.groups[i]
		if g.budget.TargetTokens <= 0 {
			continue
		}
		err := ctx.Err()
		if err == nil {
			err = strategy.AppendSlicerOn(ctx, &sel, narrow(q.inner, forKind, g.kind), items, s.of(g), g.budget)
		}
		if err != nil {
			return strategy.Selection{}, err
		}
	}
	sel.StaysUntil = 0 // shares move with the target
	return s.result(sel), nil
}

// explain is Explain of the facts: it names the share of the kind, and explains as
// the inner slicer does within that share.
func (q *Quota) explain(ctx context.Context, items []cupel.ScoredItem, budget cupel.SliceBudget, _ strategy.Selection, at int) (strategy.Obstacle, error) {
	if budget.TargetTokens <= 0 {
		return strategy.Obstacle{Rule: "QuotaSlice has no tokens to share out."}, nil
	}
	s := newScratch(items)
	defer s.free()
	q.distribute(s, budget.TargetTokens)
	g := &s.groups[s.numbers[at]]
	if g.budget.TargetTokens <= 0 {
		return strategy.Obstacle{Rule: fmt.Sprintf("QuotaSlice leaves no tokens for the kind %s.", g.kind)}, nil
	}
	o, err := explainOn(ctx, narrow(q.inner, strategy.FactsOf(q.inner).ForKind, g.kind), items, s.of(g), g.budget, at)
	o.Rule = fmt.Sprintf("QuotaSlice gives the kind %s %d of %d tokens. %s", g.kind, g.budget.TargetTokens, budget.TargetTokens, o.Rule)
	o.OutUntil = 0 // its target is the share
	return o, err
}

// distribute gives each group its share of the target. It is DISTRIBUTE-BUDGET of the
// chapter, step by step.
func (q *Quota) distribute(s *scratch, target int) {
	for i := range s.groups {
		g := &s.groups[i]
		g.most, g.budget.MaxTokens = target, percentOf(100, target)
	}
	var required, total exact.Sum
	for _, e := range q.entries {
		least, most := e.tokens(target)
		required.Add(least)
		if g := s.find(e.kind); g != nil {
			g.least, g.most, g.budget.MaxTokens = least, most, most
		}
	}
	for _, g := range s.groups {
		if g.most > g.least {
			total = total.Plus(g.mass)
		}
	}
	unassigned := max(0, exact.Of(target).Minus(required).Int())
	for i := range s.groups {
		g := &s.groups[i]
		g.budget.TargetTokens = g.most
		if g.most > g.least {
			// min before the sum, which could pass the range of int otherwise.
			g.budget.TargetTokens = g.least + min(g.mass.Share(unassigned, total), g.most-g.least)
		}
		// The chapter gives kinds without an entry the whole target here and
		// floor(100 / 100.0 * target) as their ceiling; above 2^53 these differ, and
		// a target must not be above its ceiling.
		g.budget.MaxTokens = max(g.budget.MaxTokens, g.budget.TargetTokens)
	}
}

// percentOf returns floor(percent / 100.0 * target) in IEEE arithmetic, left to
// right (R9). The largest targets round up to 2^63, which must not wrap.
func percentOf(percent float64, target int) int {
	f := math.Floor(percent / 100.0 * float64(target))
	if f >= math.MaxInt {
		return math.MaxInt
	}
	return int(f)
}
