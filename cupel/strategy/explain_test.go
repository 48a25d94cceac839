package strategy_test

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupel/strategy"
)

// explained selects the first item, and explains the others.
type explained struct {
	explain func() (strategy.Obstacle, error)
}

func (*explained) Slice(_ context.Context, _ []cupel.ScoredItem, _ cupel.SliceBudget) (strategy.Selection, error) {
	return strategy.Selection{Indices: []int{0}, Drops: []strategy.Drop{{Index: 3, Reason: cupel.ExclusionReason{Code: cupel.ExcludeFiltered}}}}, nil
}

func (e *explained) Facts() strategy.Facts {
	return strategy.Facts{Of: e, Explain: func(context.Context, []cupel.ScoredItem, cupel.SliceBudget, strategy.Selection, int) (strategy.Obstacle, error) {
		return e.explain()
	}}
}

// embedding has the methods of a slicer that explains itself, and another Slice.
type embedding struct{ *explained }

func (embedding) Slice(context.Context, []cupel.ScoredItem, cupel.SliceBudget) (strategy.Selection, error) {
	return strategy.Selection{Indices: []int{1, 0}}, nil
}

type genericEmbedding[S strategy.Slicer] struct{ strategy.Slicer }

func TestExplain(t *testing.T) {
	items := ranked(t, 4)
	saying := func(before ...int) *explained {
		return &explained{func() (strategy.Obstacle, error) {
			return strategy.Obstacle{Rule: "because", Before: before, OutUntil: 9}, nil
		}}
	}
	for _, tt := range []struct {
		why    string
		slicer strategy.Slicer
		at     int
		rule   string
		before []int
		err    string // part of the text
	}{
		{"it says so itself", saying(0), 2, "because", []int{0}, ""},
		{"what it dropped may be named", saying(0, 3), 2, "because", []int{0, 3}, ""},
		{"it is not asked about what it chose", saying(9), 0, "", nil, ""},
		{"the second did not keep the third out", saying(1), 2, "", nil, "returned position 1 as an obstacle that it did not choose, of 4 items"},
		{"nothing keeps itself out", saying(3), 3, "", nil, "returned position 3 as an obstacle"},
		{"one item is one obstacle", saying(0, 0), 2, "", nil, "returned position 0 twice of 4 items"},
		{"there is no such obstacle", saying(-1), 2, "", nil, "returned position -1 out of range of 4 items"},
		{"a slicer may not know", &explained{func() (strategy.Obstacle, error) { return strategy.Obstacle{Rule: "no"}, errOwn }}, 2, "", nil, errOwn.Error()},
		{"the embedded slicer's account is not its own", embedding{saying(0)}, 2, "embedding chose others, with 1000 tokens.", []int{1, 0}, ""},
		{"the name of a generic type is enough", &genericEmbedding[strategy.Slicer]{Slicer: saying(0)}, 2, "genericEmbedding chose others, with 1000 tokens.", []int{0}, ""},
		{"struct types may have no name", struct{ strategy.Slicer }{saying(0)}, 2, "The slicer chose others, with 1000 tokens.", []int{0}, ""},
		{"there is no such item", saying(0), 4, "", nil, "at must be a position in the list of 4 items"},
		{"nor one before the first", saying(0), -1, "", nil, "at must be a position in the list of 4 items"},
		{"there is nothing to explain", slicing(strategy.Selection{}, errOwn), 2, "", nil, errOwn.Error()},
	} {
		got, err := strategy.Explain(t.Context(), tt.slicer, items, wide, tt.at)
		if (err != nil) != (tt.err != "") || err != nil && !strings.Contains(err.Error(), tt.err) {
			t.Errorf("%s: got error %v, want %q", tt.why, err, tt.err)
		}
		if got.Rule != tt.rule || !slices.Equal(got.Before, tt.before) || (got.OutUntil == 9) != (got.Rule == "because") {
			t.Errorf("%s: got %+v, want %q %v", tt.why, got, tt.rule, tt.before)
		}
	}

	// A smaller form is chosen too, and more room is more for smaller forms.
	items[1].Item = item(t, "long", 9, cupel.WithVariants(cupel.Variant{Content: "short", Tokens: 2, Worth: .5}))
	small := slicing(strategy.Selection{Indices: []int{0}, Smaller: []strategy.SmallerForm{{Index: 1, Form: 1}}, StaysUntil: 9}, nil)
	for at, want := range map[int][]int{1: nil, 2: {0, 1}} {
		if got, err := strategy.Explain(t.Context(), small, items, wide, at); err != nil || !slices.Equal(got.Before, want) {
			t.Errorf("got %+v, %v, want %v", got, err, want)
		}
	}
	if sel, err := strategy.CallSlicer(t.Context(), small, items, wide); err != nil || sel.StaysUntil != 0 {
		t.Errorf("got %+v, %v", sel, err)
	}
	if got, err := strategy.Explain(t.Context(), saying(0), items, wide, 2); err != nil || got.OutUntil != 0 {
		t.Errorf("got %+v, %v", got, err)
	}
}
