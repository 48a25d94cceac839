package strategy_test

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupel/internal/engine"
	"github.com/wollax/cupel-go/cupel/internal/inside"
	"github.com/wollax/cupel-go/cupel/strategy"
)

// asking is a slicer with a fixed selection that may ask for the left-over pass.
type asking struct {
	strategy.SlicerFunc
	leftOver func() bool
}

func (s *asking) Facts() strategy.Facts { return strategy.Facts{Of: s, LeftOver: s.leftOver()} }

// scored makes an item with smaller forms, or older versions that may come back.
func scored(t testing.TB, score float64, tokens int, forms, older []engine.Form) cupel.ScoredItem {
	t.Helper()
	standIn := inside.Cupel.(interface {
		StandIn(first *cupel.ContextItem, kind cupel.ContextKind, tokens int, pinned bool, members []*cupel.ContextItem, forms, older []engine.Form) *cupel.ContextItem
	}).StandIn
	it := item(t, "text", tokens)
	if forms != nil || older != nil {
		it = standIn(it, cupel.KindMessage, tokens, false, nil, forms, older)
	}
	return cupel.ScoredItem{Item: it, Score: score}
}

func TestLeftOver(t *testing.T) {
	type forms = []engine.Form
	two := []cupel.ScoredItem{
		scored(t, .9, 60, forms{{Tokens: 40, Worth: .7}, {Tokens: 20, Worth: .4}}, nil), scored(t, .8, 50, forms{{Tokens: 30, Worth: .6}, {Tokens: 10, Worth: .3}}, nil),
	}
	free := scored(t, .9, 60, forms{{Tokens: 0, Worth: .5}}, nil)
	plain := scored(t, .1, 9, nil, nil)
	older := []cupel.ScoredItem{ // the worth of an older version is its score
		scored(t, .5, 60, forms{{Tokens: 30, Worth: .5}}, forms{{Tokens: 20, Worth: .9}, {Tokens: 10, Worth: .3}}), plain,
	}
	one := []strategy.SmallerForm{{Index: 0, Form: 2}}
	filtered := cupel.ExclusionReason{Code: cupel.ExcludeFiltered}
	tests := []struct {
		why    string
		items  []cupel.ScoredItem
		target int
		sel    strategy.Selection
		want   string // indices and smaller forms
	}{
		{"a smaller form grows, and another comes in", two, 100, strategy.Selection{Smaller: one}, "[1] [{0 1}]"},
		{"within what is left", two, 49, strategy.Selection{Smaller: one}, "[] [{0 2} {1 2}]"},
		{"to the last token", two, 110, strategy.Selection{Smaller: one}, "[0 1] []"},
		{"what is full does not change", two, 75, strategy.Selection{Indices: []int{1}}, "[1] [{0 2}]"},
		{"what was dropped stays out", two, 100, strategy.Selection{Drops: []strategy.Drop{{Index: 1, Reason: filtered}}}, "[0] []"},
		{"a target of 0 takes nothing", []cupel.ScoredItem{free}, 0, strategy.Selection{}, "[] []"},
		{"a form without tokens comes in with nothing left", []cupel.ScoredItem{plain, free}, 9, strategy.Selection{Indices: []int{0}}, "[0] [{1 1}]"},
		{"a selection above the target stays", two, 40, strategy.Selection{Indices: []int{0}}, "[0] []"},
		{"items without forms do not come in", []cupel.ScoredItem{plain, two[1]}, 40, strategy.Selection{}, "[] [{1 1}]"},
		{"the order given stays, and what is new comes after it", []cupel.ScoredItem{plain, two[1], plain}, 100, strategy.Selection{Indices: []int{2, 0}}, "[2 0 1] []"},
		{"a form that is worth less than the state is none", []cupel.ScoredItem{scored(t, -1, 50, forms{{Tokens: 9, Worth: .1}}, nil)}, 99, strategy.Selection{Smaller: []strategy.SmallerForm{{Index: 0, Form: 1}}}, "[] [{0 1}]"},
		{"the item's own forms come before its older versions", older, 40, strategy.Selection{}, "[] [{0 1}]"},
		{"of these the one of the greatest value", older, 25, strategy.Selection{}, "[] [{0 2}]"},
		{"that fits", older, 19, strategy.Selection{}, "[] [{0 3}]"},
		{"an older version that was chosen does not grow", older, 100, strategy.Selection{Smaller: []strategy.SmallerForm{{Index: 0, Form: 3}}}, "[] [{0 3}]"},
		{"its tokens count", []cupel.ScoredItem{older[0], two[0]}, 50, strategy.Selection{Smaller: []strategy.SmallerForm{{Index: 0, Form: 3}}}, "[] [{0 3} {1 1}]"},
		{"what would fit is out for a reason of the slicer", []cupel.ScoredItem{scored(t, -1, 25, nil, forms{{Tokens: 20, Worth: .9}})}, 25, strategy.Selection{}, "[] []"},
	}
	for _, tt := range tests {
		for _, asks := range []bool{false, true} {
			before := slices.Clone(tt.sel.Indices)
			want := tt.want
			if !asks {
				want = fmt.Sprint(tt.sel.Indices, " ", tt.sel.Smaller)
			}
			s := &asking{slicing(tt.sel, nil), func() bool { return asks }}
			sel, err := strategy.CallSlicer(t.Context(), s, tt.items, cupel.SliceBudget{MaxTokens: tt.target, TargetTokens: tt.target})
			if got := fmt.Sprint(sel.Indices, " ", sel.Smaller); err != nil || got != want || len(sel.Drops) != len(tt.sel.Drops) || !slices.Equal(before, tt.sel.Indices) {
				t.Errorf("%s: got %s, %v, want %s; asking: %t", tt.why, got, err, want, asks)
			}
		}
	}
	s := &asking{slicing(strategy.Selection{}, nil), func() bool { panic("cannot say") }}
	if _, err := strategy.CallSlicer(t.Context(), s, two, wide); !errors.Is(err, cupel.ErrStrategy) {
		t.Errorf("got %v, want the panic as an error", err)
	}
	for form, wrong := range map[int]bool{0: true, 1: false, 3: false, 4: true} {
		sel := strategy.Selection{Smaller: []strategy.SmallerForm{{Index: 0, Form: form}}}
		if _, err := strategy.CallSlicer(t.Context(), slicing(sel, nil), older, wide); errors.Is(err, cupel.ErrContract) != wrong {
			t.Errorf("form %d: %v", form, err)
		}
	}
}
