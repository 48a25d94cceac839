package strategy

import (
	"context"
	"reflect"

	"github.com/wollax/cupel-go/cupel"
)

// Describer is the one optional interface of strategies: a scorer, slicer or placer
// that describes itself implements it.
type Describer interface {
	Facts() Facts
}

// Facts is a strategy's description of itself. Every field but Of is optional.
type Facts struct {
	// Of is the strategy that the facts are about: the receiver of Facts. A type
	// that embeds a strategy inherits its Facts, which still name the embedded one;
	// they are then not taken for facts of the outer type, whose work may differ.
	// The outer type counts as a wrapper around the embedded one.
	Of any
	// Invalid is why the strategy cannot work, preferably as a
	// [cupel.InvalidConfigError]; nil if it can.
	Invalid error
	// Scorers are the scorers that this one calls, in order.
	Scorers []Scorer
	// Slicers are the slicers that this one calls, in order.
	Slicers []Slicer
	// NonMonotonic reports whether a larger budget can make a slicer leave out an
	// item that a smaller one includes. Searches by budget guard against it.
	NonMonotonic bool
	// LeftOver reports whether a slicer wants the left-over pass, which spends the
	// rest of the target on smaller forms of the items that the slicer did not take.
	// A slicer that leaves items out for reasons other than the budget, without
	// dropping them, must not ask for it.
	LeftOver bool
	// ForKind returns the slicer to use for a list that holds items of one kind
	// only. A slicer with settings for several kinds sets it; QuotaSlice calls it.
	ForKind func(kind cupel.ContextKind) Slicer
	// Explain returns what kept the item at a position of items from being selected.
	// items and budget are the arguments of a call of Slice, chosen is its result,
	// and at is not one of its indices. The positions of the result are among those
	// that chosen selects or drops, each once.
	Explain func(ctx context.Context, items []cupel.ScoredItem, budget cupel.SliceBudget, chosen Selection, at int) (Obstacle, error)
}

// FactsOf returns the facts of a strategy. It returns the zero Facts for one that has
// none. For one that inherits the facts of an embedded strategy, it returns only that
// the embedded one is inside it.
func FactsOf(s any) Facts {
	d, ok := s.(Describer)
	if !ok {
		return Facts{}
	}
	f := d.Facts()
	if sameType(f.Of, s) {
		return f
	}
	outer := Facts{Of: s}
	if inner, ok := f.Of.(Scorer); ok {
		outer.Scorers = []Scorer{inner}
	}
	if inner, ok := f.Of.(Slicer); ok {
		outer.Slicers = []Slicer{inner}
	}
	return outer
}

// sameType reports whether two strategies have one type, or one is a pointer to
// the type of the other.
func sameType(a, b any) bool {
	if a == nil || b == nil {
		return false
	}
	return element(reflect.TypeOf(a)) == element(reflect.TypeOf(b))
}

func element(t reflect.Type) reflect.Type {
	if t.Kind() == reflect.Pointer {
		return t.Elem()
	}
	return t
}
