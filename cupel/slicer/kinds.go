package slicer

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupel/internal/engine"
	"github.com/wollax/cupel-go/cupel/internal/exact"
	"github.com/wollax/cupel-go/cupel/strategy"
)

// scratch is the working memory of one call of a wrapper.
type scratch struct {
	byKey     map[string]int // group of each kind, by its folded spelling
	groups    []group        // the kinds in order of their first items
	numbers   []int          // group of each item
	positions []int          // of the groups, one after the other
	selected  []int          // for results, which are copied out at their length

	// Of count slicers:
	committed []int                  // positions selected first
	rest      []int                  // the other positions, ascending
	picked    []strategy.SmallerForm // what the inner slicer selected; form 0 is the full one
}

// group is the candidates of one kind.
type group struct {
	kind       cupel.ContextKind // as the first candidate spells it
	mass       exact.Sum         // tokens of the candidates
	start, end int               // where their positions are in scratch.positions, ascending

	// Of Quota:
	least, most int // tokens required for the kind, and that it may have
	budget      cupel.SliceBudget

	// Of count slicers:
	entry *CountQuotaEntry // nil: unlimited
	count int              // number selected
	over  cupel.ExclusionReason
}

var scratchPool = sync.Pool{New: func() any { return &scratch{byKey: make(map[string]int)} }}

// newScratch returns memory with the groups of the items.
func newScratch(items []cupel.ScoredItem) *scratch {
	s := scratchPool.Get().(*scratch)
	// Most lists have a few kinds in one spelling. Comparing with the last kind in
	// the same place, usually the same constant, is several times faster than a
	// lookup.
	var recent [32]struct {
		kind  cupel.ContextKind
		group int
	}
	numbers, positions := engine.Resize(s.numbers, len(items)), engine.Resize(s.positions, len(items))
	for i := range numbers { // first, so that the misses of the cache overlap
		numbers[i] = items[i].Item.Tokens()
	}
	for i, tokens := range numbers {
		kind := items[i].Item.Kind()
		last := &recent[placeOf(kind)%uint(len(recent))]
		if last.kind != kind || kind == "" {
			last.kind, last.group = kind, s.groupOf(kind)
		}
		numbers[i] = last.group
		g := &s.groups[last.group]
		g.end++
		if tokens > 0 {
			g.mass.Add(tokens)
		}
	}
	start := 0
	for i := range s.groups {
		g := &s.groups[i]
		g.start, g.end, start = start, start, start+g.end
	}
	for i, n := range numbers {
		g := &s.groups[n]
		positions[g.end] = i
		g.end++
	}
	s.numbers, s.positions = numbers, positions
	return s
}

// placeOf returns a number for a kind. Those of the well-known kinds differ
// modulo 32.
func placeOf(kind cupel.ContextKind) uint {
	if kind == "" {
		return 0
	}
	return uint(len(kind)) + uint(kind[0]) + uint(kind[len(kind)-1])
}

// groupOf returns the group of a kind, which may be a new one.
func (s *scratch) groupOf(kind cupel.ContextKind) int {
	key := kind.Key()
	n, ok := s.byKey[key]
	if !ok {
		n = len(s.groups)
		s.byKey[key] = n
		s.groups = append(s.groups, group{kind: kind})
	}
	return n
}

// of returns the positions of a group, ascending.
func (s *scratch) of(g *group) []int { return s.positions[g.start:g.end] }

// find returns the group of an entry, or nil if there are no such items.
func (s *scratch) find(kind cupel.ContextKind) *group {
	if n, ok := s.byKey[kind.Key()]; ok {
		return &s.groups[n]
	}
	return nil
}

// free returns the memory to the pool, without the kinds of the call.
func (s *scratch) free() {
	// Clearing a map keeps its size, and takes time in proportion to it: one
	// list with very many kinds must not slow down all later ones.
	if len(s.groups) > 128 {
		return
	}
	clear(s.byKey)
	clear(s.groups)
	s.groups, s.committed, s.rest = s.groups[:0], s.committed[:0], s.rest[:0]
	scratchPool.Put(s)
}

// result makes a selection that was gathered in s.selected the caller's.
func (s *scratch) result(sel strategy.Selection) strategy.Selection {
	s.selected = sel.Indices
	sel.Indices = slices.Clone(sel.Indices)
	return sel
}

// narrow returns the slicer for lists of one kind (R19), if s has a ForKind, or s.
func narrow(s strategy.Slicer, forKind func(cupel.ContextKind) strategy.Slicer, kind cupel.ContextKind) strategy.Slicer {
	if forKind == nil {
		return s
	}
	return forKind(kind)
}

// explainOn explains as inner does that got the items at the positions, which
// ascend. at is one of them.
func explainOn(ctx context.Context, inner strategy.Slicer, items []cupel.ScoredItem, positions []int, budget cupel.SliceBudget, at int) (strategy.Obstacle, error) {
	list := make([]cupel.ScoredItem, len(positions))
	for i, p := range positions {
		list[i] = items[p]
	}
	place, _ := slices.BinarySearch(positions, at)
	o, err := strategy.Explain(ctx, inner, list, budget, place)
	before := make([]int, len(o.Before)) // the list may be the inner slicer's own
	for i, p := range o.Before {
		before[i] = positions[p]
	}
	o.Before = before
	return o, err
}

// checkKind records what is wrong with the kind of entry i, and adds the kind
// to kinds, which holds the folded kinds of the entries before. advice says
// what to write instead.
func checkKind(wrong *strategy.Problems, kinds map[string]int, i int, kind cupel.ContextKind, advice string) {
	field := strategy.Element("entries", i) + ".kind"
	if kind.IsBlank() {
		wrong.Add(field, fmt.Sprintf("%q", kind), "kind must not be blank")
		return
	}
	if earlier, ok := kinds[kind.Key()]; ok {
		first := strategy.Element("entries", earlier)
		wrong.Repeated(field, fmt.Sprintf("%q", kind), "kind has an entry already, "+first+": "+advice+"kinds are compared without ASCII case", first+".kind")
		return
	}
	kinds[kind.Key()] = i
}

// checkInner returns what is wrong with the slicer given to a wrapper.
func checkInner(component string, inner strategy.Slicer) error {
	if inner == nil {
		return &cupel.InvalidConfigError{Component: component, Field: "inner", Reason: "inner slicer must not be nil"}
	}
	return strategy.ValidateSlicer(inner)
}

// notBuilt returns the facts of a wrapper built without its constructor.
func notBuilt(s strategy.Slicer, component string) strategy.Facts {
	constructor := "New" + strings.TrimSuffix(component, "Slice")
	return strategy.Facts{Of: s, Invalid: &cupel.InvalidConfigError{Component: component, Reason: "slicer has no inner slicer: build it with " + constructor}}
}

// valueOf returns a strategy of type T, or what a pointer to one points to.
func valueOf[T any](s any) (value T, ok bool) {
	if p, isPointer := s.(*T); isPointer && p != nil {
		return *p, true
	}
	value, ok = s.(T)
	return value, ok
}
