package slicer

import (
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

// ScarcityBehavior says what a count slicer does when there are fewer
// candidates of a kind than its entry requires.
//
// It implements the ScarcityBehavior section of the CountQuotaSlice chapter.
type ScarcityBehavior uint8

// The scarcity behaviours. The zero value is the specification's default.
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

// counter is what the two count slicers share: their entries, the first phase
// and the last.
type counter struct {
	component string // the specification's name of the slicer
	scarcity  ScarcityBehavior
	entries   []CountQuotaEntry // in configuration order
	byKey     map[string]int32  // position in entries, by folded kind
}

// newCounter returns a counter, and records in wrong what is wrong with it.
func newCounter(wrong *strategy.Problems, entries []CountQuotaEntry, opts []CountOption) counter {
	c := counter{component: wrong.Component, entries: slices.Clone(entries), byKey: make(map[string]int32, len(entries))}
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
		checkKind(wrong, c.byKey, i, e.Kind, "")
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

// forKind returns a counter with only the entry of one kind.
func (c counter) forKind(kind cupel.ContextKind) counter {
	one := counter{component: c.component, scarcity: c.scarcity}
	if i, ok := c.byKey[kind.Key()]; ok {
		one.entries = c.entries[i : i+1 : i+1]
		one.byKey = map[string]int32{kind.Key(): 0}
	}
	return one
}

// slice runs the three phases. If byScore is set, phase 3 goes through the
// inner selection by score; otherwise in the order of the inner slicer.
func (c counter) slice(ctx context.Context, inner cupel.Slicer, byScore bool, items []cupel.ScoredItem, budget cupel.SliceBudget) (cupel.Selection, error) {
	if len(items) == 0 || budget.TargetTokens <= 0 {
		return cupel.Selection{}, nil
	}
	s := newScratch()
	defer s.free()
	var sel cupel.Selection
	c.numberEntries(s, items)

	// Phase 1: commit what is required.
	spent, err := c.commit(s, items, &sel)
	if err != nil {
		return cupel.Selection{}, err
	}

	// Phase 2: the inner slicer chooses from the remaining items, with the
	// remaining tokens.
	rest, places := s.rest(items)
	budget.TargetTokens = min(max(0, exact.Of(budget.TargetTokens).Minus(spent).Int()), budget.MaxTokens)
	chosen, err := cupel.Slice(ctx, inner, rest, budget)
	if err != nil {
		return cupel.Selection{}, err
	}
	sel.Shortfalls = append(sel.Shortfalls, chosen.Shortfalls...)

	// Phase 3: keep the numbers within the caps.
	indices, forms := chosen.Indices, map[int]int(nil)
	if len(chosen.Smaller) > 0 {
		indices, forms = slices.Clone(indices), make(map[int]int, len(chosen.Smaller))
		for _, f := range chosen.Smaller {
			indices, forms[f.Index] = append(indices, f.Index), f.Form
		}
	}
	if byScore {
		indices = s.sortByScore(rest, indices)
	}
	for _, inner := range indices {
		i := places.of(inner)
		if n := s.numbers[i]; n != noEntry {
			if s.counts[n] >= c.entries[n].CapCount {
				s.dropped = append(s.dropped, i)
				continue
			}
			s.counts[n]++
		}
		if form, ok := forms[inner]; ok {
			sel.Smaller = append(sel.Smaller, cupel.SmallerForm{Index: i, Form: form})
			continue
		}
		s.selected = append(s.selected, i)
	}
	sel.Indices = slices.Clone(s.selected)
	sel.Drops = c.drops(s, places, chosen.Drops)
	return sel, nil
}

// drops lists what the inner slicer dropped and what exceeded the caps.
func (c counter) drops(s *scratch, places places, inner []cupel.Drop) []cupel.Drop {
	if len(inner)+len(s.dropped) == 0 {
		return nil
	}
	drops := make([]cupel.Drop, len(inner)+len(s.dropped))
	for i, d := range inner {
		drops[i] = cupel.Drop{Index: places.of(d.Index), Reason: d.Reason}
	}
	// After the first drop of a kind its count does not change, so all drops of
	// the kind share one reason.
	s.reasons = resize(s.reasons, len(c.entries))
	for n, e := range c.entries {
		s.reasons[n] = cupel.NewExclusionReason(cupel.ExcludeCountCapExceeded, cupel.ReasonData{Kind: e.Kind, Cap: e.CapCount, Count: s.counts[n]})
	}
	for k, i := range s.dropped {
		drop := &drops[len(inner)+k]
		drop.Index, drop.Reason = i, s.reasons[s.numbers[i]]
	}
	return drops
}

// numberEntries fills s.numbers with the entry of each item.
func (c counter) numberEntries(s *scratch, items []cupel.ScoredItem) {
	s.numberKinds(items, func(kind cupel.ContextKind) int32 {
		if i, ok := c.byKey[kind.Key()]; ok {
			return i
		}
		return noEntry
	})
}

// noEntry is the number of kinds without an entry.
const noEntry = -1

// commit is phase 1. For each entry in turn, it selects as many of the best
// items of the kind as the entry requires, and records shortfalls in sel.
// s.numbers must hold the entry of every item. Afterwards s.counts holds the
// number selected for each entry, and s.marks what is selected; spent is its
// tokens.
func (c counter) commit(s *scratch, items []cupel.ScoredItem, sel *cupel.Selection) (spent exact.Sum, err error) {
	s.marks = resize(s.marks, len(items))
	clear(s.marks)
	s.counts = resize(s.counts, len(c.entries))
	clear(s.counts)

	// First list all candidates and count those of each kind, then take one
	// kind after the other.
	all := order.Borrow(len(items))
	defer all.Return()
	candidates := all.Pairs[:0]
	open := 0 // entries that want more
	for _, e := range c.entries {
		if e.RequireCount > 0 {
			open++
		}
	}
	byScore := sortedByScore(items)
	for i, n := range s.numbers {
		if open == 0 {
			break
		}
		if n == noEntry || c.entries[n].RequireCount == 0 || items[i].Item.Tokens() < 0 {
			continue
		}
		candidates = append(candidates, order.Pair{Key: order.Key(items[i].Score), Index: i})
		s.counts[n]++
		if byScore && s.counts[n] == c.entries[n].RequireCount {
			open-- // later items are no better, so they matter only while an entry is open
		}
	}
	byKind := order.Borrow(len(candidates))
	defer byKind.Return()
	start := 0
	for n, count := range s.counts {
		s.counts[n] = start
		start += count
	}
	for _, p := range candidates {
		n := s.numbers[p.Index]
		byKind.Pairs[s.counts[n]] = p
		s.counts[n]++ // ends up where the next kind begins
	}

	start = 0
	for n, e := range c.entries {
		ofKind := byKind.Pairs[start:s.counts[n]]
		start = s.counts[n]
		s.counts[n] = min(len(ofKind), e.RequireCount)
		if s.counts[n] < e.RequireCount {
			if c.scarcity == ScarcityThrow {
				return spent, &cupel.ScarcityError{Slicer: c.component, Kind: e.Kind, RequireCount: e.RequireCount, Satisfied: s.counts[n]}
			}
			sel.Shortfalls = append(sel.Shortfalls, cupel.CountRequirementShortfall{
				Kind: e.Kind, RequiredCount: e.RequireCount, SatisfiedCount: s.counts[n]})
		}
		order.SortDescending(ofKind)
		for _, p := range ofKind[:s.counts[n]] {
			spent.Add(items[p.Index].Item.Tokens())
			s.marks[p.Index] = true
			s.selected = append(s.selected, p.Index)
		}
	}
	return spent, nil
}

// sortedByScore reports whether the items come highest score first, as those of
// a pipeline do.
func sortedByScore(items []cupel.ScoredItem) bool {
	for i := 1; i < len(items); i++ {
		// >= settles everything but NaN, and costs less than keys.
		if a, b := items[i-1].Score, items[i].Score; !(a >= b) && order.Key(a) < order.Key(b) {
			return false
		}
	}
	return true
}

// rest returns the items that are not selected, and their places in items.
func (s *scratch) rest(items []cupel.ScoredItem) ([]cupel.ScoredItem, places) {
	if len(s.selected) == 0 {
		return items, places{}
	}
	// Items after the last selected one move as one block. Selected items are
	// usually among the first.
	head := slices.Max(s.selected)
	s.items = resize(s.items, len(items)-len(s.selected))
	s.positions = s.positions[:0]
	for i, marked := range s.marks[:head] {
		if !marked {
			s.items[len(s.positions)] = items[i]
			s.positions = append(s.positions, i)
		}
	}
	copy(s.items[len(s.positions):], items[head+1:])
	return s.items, places{s.positions, len(s.selected)}
}

// places maps the positions of some items in a list to their positions in a
// longer list that they come from.
type places struct {
	head  []int // of the first items
	shift int   // how much larger the positions of all others are
}

func (p places) of(i int) int {
	if i < len(p.head) {
		return p.head[i]
	}
	return i + p.shift
}

// sortByScore sorts the selected positions by score, highest first, then by
// position. It overwrites s.marks.
func (s *scratch) sortByScore(items []cupel.ScoredItem, selected []int) []int {
	// Marks put the positions into ascending order in linear time. The items of
	// a pipeline are sorted already, so that is enough for them.
	s.marks = resize(s.marks, len(items))
	clear(s.marks)
	for _, i := range selected {
		s.marks[i] = true
	}
	buffer := order.Borrow(len(selected))
	defer buffer.Return()
	pairs := buffer.Pairs[:0]
	for i, marked := range s.marks {
		if marked {
			pairs = append(pairs, order.Pair{Key: order.Key(items[i].Score), Index: i})
		}
	}
	order.SortDescending(pairs)
	s.sorted = resize(s.sorted, len(pairs))
	for i, p := range pairs {
		s.sorted[i] = p.Index
	}
	return s.sorted
}
