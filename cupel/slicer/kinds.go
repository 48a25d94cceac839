package slicer

import (
	"context"
	"fmt"
	"runtime/debug"
	"sync"

	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupel/internal/promoted"
	"github.com/wollax/cupel-go/cupel/strategy"
)

// scratch is the working memory of one call of a wrapper.
type scratch struct {
	spellings map[cupel.ContextKind]int32 // number of each spelling seen
	keys      map[string]int32            // number of each kind seen, by its folded spelling
	numbers   []int32                     // number of each item's kind
	groups    []group                     // Quota: the kinds by number
	counts    []int                       // count slicers: number selected, by entry
	marks     []bool                      // count slicers: by item
	sorted    []int                       // count slicers: the inner selection by score
	items     []cupel.ScoredItem          // what the inner slicer gets
	positions []int                       // where these items are in the caller's list
	selected  []int                       // positions selected so far
	dropped   []int                       // count slicers: positions beyond the caps
	reasons   []cupel.ExclusionReason     // count slicers: why, by entry
}

var scratchPool = sync.Pool{New: func() any {
	return &scratch{spellings: make(map[cupel.ContextKind]int32), keys: make(map[string]int32)}
}}

func newScratch() *scratch { return scratchPool.Get().(*scratch) }

// free returns the memory to the pool.
func (s *scratch) free() {
	s.reset()
	scratchPool.Put(s)
}

// reset forgets the items and kinds of the call.
func (s *scratch) reset() {
	// Clearing a map keeps its size, and takes time in proportion to it: one
	// list with very many kinds must not slow down all later ones.
	const keep = 128
	if len(s.spellings) > keep {
		s.spellings, s.keys = make(map[cupel.ContextKind]int32), make(map[string]int32)
	}
	clear(s.spellings)
	clear(s.keys)
	clear(s.groups)
	clear(s.items)
	clear(s.reasons)
	s.groups, s.items, s.selected, s.dropped = s.groups[:0], s.items[:0], s.selected[:0], s.dropped[:0]
}

// spelling is a kind as some item spells it, and its number.
type spelling struct {
	kind   cupel.ContextKind
	number int32
}

// numberKinds fills s.numbers with the number of each item's kind. The first
// time it meets a spelling, it gets the number from first.
func (s *scratch) numberKinds(items []cupel.ScoredItem, first func(cupel.ContextKind) int32) {
	s.numbers = resize(s.numbers, len(items))
	// Most lists have a handful of spellings. Comparing with the last spelling
	// in the same place, usually the same constant, is several times faster
	// than a lookup.
	var recent [32]spelling
	for i := range items {
		kind := items[i].Item.Kind()
		last := recent[placeOf(kind)%uint(len(recent))]
		if last.kind != kind || kind == "" {
			number, known := s.spellings[kind]
			if !known {
				number = first(kind)
				s.spellings[kind] = number
			}
			last = spelling{kind, number}
			recent[placeOf(kind)%uint(len(recent))] = last
		}
		s.numbers[i] = last.number
	}
}

// placeOf returns a number for a kind. Those of the well-known kinds differ
// modulo 32.
func placeOf(kind cupel.ContextKind) uint {
	if kind == "" {
		return 0
	}
	return uint(len(kind)) + uint(kind[0]) + uint(kind[len(kind)-1])
}

// resize returns a slice of length n with unspecified contents.
func resize[T any](s []T, n int) []T {
	if cap(s) < n {
		return make([]T, n)
	}
	return s[:n]
}

// narrow returns the slicer that s provides for lists of one kind (R19). A
// [cupel.KindNarrower] that fails is replaced by a slicer that returns its
// error, so that the error names it and not the wrapper that called it.
func narrow(s cupel.Slicer, kind cupel.ContextKind) (narrowed cupel.Slicer) {
	n, ok := s.(cupel.KindNarrower)
	if !ok {
		return s
	}
	if err := checkNarrowing(s); err != nil {
		return broken{err}
	}
	defer func() {
		if v := recover(); v != nil {
			narrowed = broken{&cupel.StrategyError{Role: "slicer", Strategy: fmt.Sprintf("%T", s),
				Reason: fmt.Sprintf("panicked when narrowed to kind %q", kind), Err: &cupel.PanicError{Value: v, Stack: debug.Stack()}}}
		}
	}()
	narrowed = n.ForKind(kind)
	if narrowed == nil {
		return broken{&cupel.ContractError{StrategyError: cupel.StrategyError{Role: "slicer", Strategy: fmt.Sprintf("%T", s),
			Reason: fmt.Sprintf("returned no slicer for kind %q", kind)}}}
	}
	return narrowed
}

// checkNarrowing rejects a slicer that has its own Slice but inherits ForKind
// from an embedded type: the result of ForKind would replace that Slice.
func checkNarrowing(s cupel.Slicer) error {
	if _, ok := s.(cupel.KindNarrower); !ok || promoted.ForKind.Agree(s) {
		return nil
	}
	return &cupel.InvalidConfigError{Component: fmt.Sprintf("%T", s),
		Reason: "slicer has its own Slice, but the ForKind of a type that it embeds, which bypasses it: declare ForKind(kind cupel.ContextKind) cupel.Slicer too, or put the embedded slicer into a named field"}
}

// broken stands in for a slicer that could not be made.
type broken struct{ err error }

func (b broken) Slice(context.Context, []cupel.ScoredItem, cupel.SliceBudget) (cupel.Selection, error) {
	return cupel.Selection{}, b.err
}

// checkKind records what is wrong with the kind of entry i, and adds the kind
// to kinds, which holds the folded kinds of the entries before. advice says
// what to write instead.
func checkKind(wrong *strategy.Problems, kinds map[string]int32, i int, kind cupel.ContextKind, advice string) {
	field := strategy.Element("entries", i) + ".kind"
	if kind.IsBlank() {
		wrong.Add(field, fmt.Sprintf("%q", kind), "kind must not be blank")
		return
	}
	if earlier, ok := kinds[kind.Key()]; ok {
		first := strategy.Element("entries", int(earlier))
		wrong.Repeated(field, fmt.Sprintf("%q", kind), "kind has an entry already, "+first+": "+advice+"kinds are compared without ASCII case", first+".kind")
		return
	}
	kinds[kind.Key()] = int32(i)
}

// checkInner returns what is wrong with the slicer given to a wrapper.
func checkInner(component string, inner cupel.Slicer) error {
	if inner == nil {
		return &cupel.InvalidConfigError{Component: component, Field: "inner", Reason: "inner slicer must not be nil"}
	}
	return cupel.ValidateSlicer(inner)
}

// notBuilt is the error of a wrapper built without its constructor.
func notBuilt(component, constructor string) error {
	return &cupel.InvalidConfigError{Component: component, Reason: "slicer has no inner slicer: build it with " + constructor}
}
