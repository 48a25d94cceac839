package slicer

import (
	"context"
	"fmt"
	"math"
	"math/big"
	"math/bits"
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
// items. Kinds without an entry have require 0 and cap 100. If the inner slicer
// is a [cupel.KindNarrower], Quota uses its slicer for each kind. The choice is
// not monotonic in the budget.
//
// The zero Quota is not valid: build it with [NewQuota]. In addition to the
// inner slicer's, it takes time linear in the number of items. It implements the
// QuotaSlice chapter of the specification.
type Quota struct {
	inner   cupel.Slicer
	entries []QuotaEntry
	byKey   map[string]int32 // position in entries, by folded kind
}

// NewQuota returns a Quota around inner with at most one entry a kind. It fails
// with a [cupel.InvalidConfigError] when inner is nil or not valid, or has its own
// Slice but the ForKind of a type that it embeds ([cupel.KindNarrower]), a kind is
// blank or has two entries, a percentage is outside [0,100] or NaN, a require is
// above its cap, or the requires sum to more than 100 (+1e-9).
func NewQuota(inner cupel.Slicer, entries ...QuotaEntry) (*Quota, error) {
	wrong := strategy.Problems{Component: quotaSlice}
	if err := checkInner(quotaSlice, inner); err != nil {
		wrong.AddError(err)
	} else {
		for s := range cupel.AllSlicers(inner) {
			wrong.AddError(checkNarrowing(s))
		}
	}
	q := &Quota{inner: inner, entries: slices.Clone(entries), byKey: make(map[string]int32, len(entries))}
	sum, entriesOK := 0.0, wrong.Len()
	for i, e := range q.entries {
		checkKind(&wrong, q.byKey, i, e.kind, "give the kind one entry, with Between; ")
		e.validate(&wrong, i)
		sum += e.require
	}
	if wrong.Len() == entriesOK && sum > 100+1e-9 {
		wrong.Add("entries", formatPercent(sum), "the sum of all require percentages must not exceed 100%")
	}
	if err := wrong.Err(); err != nil {
		return nil, err
	}
	return q, nil
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
		return strategy.Built(NewQuota(strategy.Get[cupel.Slicer](a, "inner"), entries...))
	},
	Settings: strategy.Only(func(q *Quota) map[string]any {
		entries := make([]map[string]any, len(q.entries))
		for i, e := range q.entries {
			entries[i] = map[string]any{"kind": string(e.kind), "require": e.require, "cap": e.cap}
		}
		return map[string]any{"inner": q.inner, "entries": entries}
	}),
}

// Kind returns the kind that the entry is about, as it was given.
func (e QuotaEntry) Kind() cupel.ContextKind { return e.kind }

// Percentages returns what is required and the cap, in percent of the target.
func (e QuotaEntry) Percentages() (require, cap float64) { return e.require, e.cap }

// Tokens returns what is required and the cap for a target, in tokens, rounded
// down as the slicer does.
func (e QuotaEntry) Tokens(target int) (require, cap int) {
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

// Validate implements [cupel.Validator]. It fails for a Quota that was not
// built with [NewQuota].
func (q *Quota) Validate() error {
	if q == nil || q.inner == nil {
		return notBuilt(quotaSlice, "NewQuota")
	}
	return nil
}

// Entries returns a copy of the entries, in the order given.
func (q *Quota) Entries() []QuotaEntry {
	if q == nil {
		return nil
	}
	return slices.Clone(q.entries)
}

// NonMonotonic implements [cupel.NonMonotonic]: it returns true, since shares
// move with the target.
func (*Quota) NonMonotonic() bool { return true }

// Slicers implements [cupel.SlicerWrapper].
func (q *Quota) Slicers() []cupel.Slicer {
	if q == nil || q.inner == nil {
		return nil
	}
	return []cupel.Slicer{q.inner}
}

// group is the candidates of one kind and their share of the budget.
type group struct {
	kind   cupel.ContextKind // as the first candidate spells it
	mass   mass              // tokens of the candidates
	size   int               // number of candidates
	start  int               // where they begin in scratch.items
	least  int               // tokens required for the kind
	most   int               // tokens that the kind may have
	budget cupel.SliceBudget
}

// Slice implements [cupel.Slicer]. The positions come kind by kind in order of
// first appearance. It fails when the inner slicer fails, and returns ctx.Err()
// when ctx is done between two kinds.
func (q *Quota) Slice(ctx context.Context, items []cupel.ScoredItem, budget cupel.SliceBudget) (cupel.Selection, error) {
	if err := q.Validate(); err != nil {
		return cupel.Selection{}, err
	}
	if len(items) == 0 || budget.TargetTokens <= 0 {
		return cupel.Selection{}, nil
	}
	if ctx == nil {
		ctx = context.Background()
	}
	s := newScratch()
	defer s.free()
	s.partition(items)
	q.distribute(s.groups, budget.TargetTokens)

	var sel cupel.Selection
	for i := range s.groups {
		g := &s.groups[i]
		if g.budget.TargetTokens <= 0 {
			continue
		}
		if err := ctx.Err(); err != nil {
			return cupel.Selection{}, err
		}
		positions := s.positions[g.start : g.start+g.size]
		inner, err := cupel.Slice(ctx, narrow(q.inner, g.kind), s.items[g.start:g.start+g.size:g.start+g.size], g.budget)
		if err != nil {
			return cupel.Selection{}, err
		}
		for _, i := range inner.Indices {
			s.selected = append(s.selected, positions[i])
		}
		for _, f := range inner.Smaller {
			sel.Smaller = append(sel.Smaller, cupel.SmallerForm{Index: positions[f.Index], Form: f.Form})
		}
		for _, d := range inner.Drops {
			sel.Drops = append(sel.Drops, cupel.Drop{Index: positions[d.Index], Reason: d.Reason})
		}
		sel.Shortfalls = append(sel.Shortfalls, inner.Shortfalls...)
	}
	sel.Indices = slices.Clone(s.selected)
	return sel, nil
}

// partition groups items by kind: s.groups in order of first appearance, and
// in s.items the items of one group after those of another, each group in the
// order of the list.
func (s *scratch) partition(items []cupel.ScoredItem) {
	s.numberKinds(items, func(kind cupel.ContextKind) int32 {
		key := kind.Key()
		number, ok := s.keys[key]
		if !ok {
			number = int32(len(s.groups))
			s.keys[key] = number
			s.groups = append(s.groups, group{kind: kind})
		}
		return number
	})
	for i := range items {
		g := &s.groups[s.numbers[i]]
		g.size++
		if tokens := items[i].Item.Tokens(); tokens > 0 {
			g.mass.add(uint64(tokens))
		}
	}
	start := 0
	for i := range s.groups {
		s.groups[i].start = start
		start += s.groups[i].size
		s.groups[i].size = 0 // counted again below
	}
	s.items = resize(s.items, len(items))
	s.positions = resize(s.positions, len(items))
	for i := range items {
		g := &s.groups[s.numbers[i]]
		s.items[g.start+g.size] = items[i]
		s.positions[g.start+g.size] = i
		g.size++
	}
}

// distribute is DISTRIBUTE-BUDGET of the chapter, step by step.
func (q *Quota) distribute(groups []group, target int) {
	var required exact.Sum
	for _, e := range q.entries {
		required.Add(percentOf(e.require, target))
	}
	unassigned := max(0, exact.Of(target).Minus(required).Int())

	var total mass
	for i := range groups {
		g := &groups[i]
		g.least, g.most = 0, target
		g.budget.MaxTokens = percentOf(100, target)
		if n, ok := q.byKey[g.kind.Key()]; ok {
			e := q.entries[n]
			g.least, g.most = percentOf(e.require, target), percentOf(e.cap, target)
			g.budget.MaxTokens = g.most
		}
		if g.most > g.least {
			total.addMass(g.mass)
		}
	}
	for i := range groups {
		g := &groups[i]
		g.budget.TargetTokens = g.most
		if g.most > g.least {
			// min before the sum, which could pass the range of int otherwise.
			g.budget.TargetTokens = g.least + min(g.mass.share(unassigned, total), g.most-g.least)
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

// mass is a sum of token counts in 128 bits: it never wraps (R5).
type mass struct{ hi, lo uint64 }

func (m *mass) add(n uint64) { m.addMass(mass{lo: n}) }

func (m *mass) addMass(n mass) {
	var carry uint64
	m.lo, carry = bits.Add64(m.lo, n.lo, 0)
	m.hi, _ = bits.Add64(m.hi, n.hi, carry)
}

// share returns floor(budget * m / total), or 0 when total is 0. m must be part
// of total, so the result is at most budget.
func (m mass) share(budget int, total mass) int {
	if total.hi == 0 {
		if total.lo == 0 {
			return 0
		}
		hi, lo := bits.Mul64(uint64(budget), m.lo)
		quotient, _ := bits.Div64(hi, lo, total.lo)
		return int(quotient)
	}
	product := new(big.Int).Mul(big.NewInt(int64(budget)), m.big())
	return int(product.Quo(product, total.big()).Int64())
}

func (m mass) big() *big.Int {
	n := new(big.Int).SetUint64(m.hi)
	return n.Lsh(n, 64).Or(n, new(big.Int).SetUint64(m.lo))
}
