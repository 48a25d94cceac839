package strategy_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupel/strategy"
)

// wrapper is a scorer, slicer and placer that contains others.
type wrapper struct {
	scorers []strategy.Scorer
	slicers []strategy.Slicer
	invalid error
}

func (w *wrapper) Score(context.Context, []*cupel.ContextItem, []float64) error { return nil }

func (w *wrapper) Slice(context.Context, []cupel.ScoredItem, cupel.SliceBudget) (strategy.Selection, error) {
	return strategy.Selection{}, nil
}

func (w *wrapper) Place(context.Context, []cupel.ScoredItem, []int) error { return nil }

func (w *wrapper) Facts() strategy.Facts {
	return strategy.Facts{Of: w, Scorers: w.scorers, Slicers: w.slicers, Invalid: w.invalid}
}

// broken panics when it is asked.
type broken struct{ *wrapper }

func (broken) Facts() strategy.Facts { panic("do not look") }

// branching is a value that contains itself twice at each level.
type branching struct {
	strategy.Scorer
	depth int
}

func (b branching) Facts() strategy.Facts {
	f := strategy.Facts{Of: b}
	if b.depth > 0 {
		f.Scorers = []strategy.Scorer{branching{depth: b.depth - 1}, branching{depth: b.depth - 1}}
	}
	return f
}

// same is a value that wraps another one of its own at each call.
type same struct{}

func (same) Score(context.Context, []*cupel.ContextItem, []float64) error { return nil }

func (s same) Facts() strategy.Facts { return strategy.Facts{Of: s, Scorers: []strategy.Scorer{s}} }

// Types with strategies in fields. Those in exported embedded interfaces are inside.
type (
	exported   struct{ strategy.Scorer }
	named      struct{ Inner strategy.Scorer }
	unexported struct{ inner }
	inner      interface{ strategy.Scorer }
	pointed    struct{ *wrapper }
)

func (named) Score(context.Context, []*cupel.ContextItem, []float64) error { return nil }

func (pointed) Score(context.Context, []*cupel.ContextItem, []float64) error { return nil }

func TestValidation(t *testing.T) {
	loop := &wrapper{}
	loop.scorers = []strategy.Scorer{&wrapper{scorers: []strategy.Scorer{scoring(nil), loop}}}
	loop.slicers = []strategy.Slicer{&wrapper{slicers: []strategy.Slicer{slicing(strategy.Selection{}, nil), loop}}}
	shared := &wrapper{}
	diamond := &wrapper{scorers: []strategy.Scorer{shared, shared}, slicers: []strategy.Slicer{shared, shared}}
	bad := &wrapper{invalid: errOwn}
	nested := func(n int) strategy.Scorer {
		s := scoring(nil)
		for range n {
			s = &wrapper{scorers: []strategy.Scorer{s}}
		}
		return s
	}
	tests := []struct {
		why, want string // the text after "cupel: ", or "" when it is good
		s         any
	}{
		{"wrappers can close a loop", "Cycle detected: scorer appears in its own dependency graph (*strategy_test.wrapper)", loop},
		{"depth ends values that are in themselves", "scorers are nested more than 1000 deep (strategy_test.same)", same{}},
		{"a diamond is no cycle", "", diamond},
		{"nil would panic at the first run", "scorer must not be nil (*strategy_test.wrapper)", &wrapper{scorers: []strategy.Scorer{nil}}},
		{"and so would a nil pointer", "scorer must not be nil (*strategy_test.wrapper)", &wrapper{scorers: []strategy.Scorer{(*wrapper)(nil)}}},
		{"what is inside is checked", "scorer is not valid: the strategy's own error (*strategy_test.wrapper)", &wrapper{scorers: []strategy.Scorer{bad}}},
		{"an InvalidConfigError needs no words of ours", "is wrong (X)", &wrapper{invalid: invalid}},
		{"a nil pointer says nothing", "scorer is not valid: its error is a nil *cupel.InvalidConfigError (*strategy_test.wrapper)", &wrapper{invalid: (*cupel.InvalidConfigError)(nil)}},
		{"the limit is 1000", "", nested(1000)},
		{"one more is too deep", "scorers are nested more than 1000 deep (*strategy_test.wrapper)", nested(1001)},
		{"the culprit is inside the wrapper", "scorer panicked while it was validated: do not look (strategy_test.broken)", &wrapper{scorers: []strategy.Scorer{broken{}}}},
		{"2^15 are visited", "", branching{depth: 15}},
		{"2^17 are too many", "there are more than 100000 scorers: a type such as strategy_test.branching must return the same ones at each call, and be a pointer if it appears in several places (strategy_test.branching)", branching{depth: 16}},
		{"an embedded scorer hides its own words", "scorer is not valid: the strategy's own error (*strategy_test.wrapper)", exported{bad}},
		{"also after a pointer", "scorer is not valid: the strategy's own error (*strategy_test.wrapper)", &exported{bad}},
		{"a field with a name is not called by itself", "", named{bad}},
		{"nor can others be read", "", unexported{bad}},
		{"a type that inherits Facts wraps what they are of", "scorer is not valid: the strategy's own error (*strategy_test.wrapper)", pointed{bad}},
		{"nothing is embedded", "", exported{}},
	}
	for _, tt := range tests {
		if s, ok := tt.s.(strategy.Scorer); ok {
			check(t, tt.why, strategy.ValidateScorer(s), tt.want)
		}
	}
	check(t, "slicers", strategy.ValidateSlicer(loop), "Cycle detected: slicer appears in its own dependency graph (*strategy_test.wrapper)")
	check(t, "slicers in two places", strategy.ValidateSlicer(diamond), "")
	check(t, "slicers inside", strategy.ValidateSlicer(&wrapper{slicers: []strategy.Slicer{bad}}), "slicer is not valid: the strategy's own error (*strategy_test.wrapper)")
	check(t, "slicers embedded", strategy.ValidateSlicer(struct{ strategy.Slicer }{bad}), "slicer is not valid: the strategy's own error (*strategy_test.wrapper)")
	check(t, "slicers that inherit Facts", strategy.ValidateSlicer(pointed{bad}), "slicer is not valid: the strategy's own error (*strategy_test.wrapper)")
	check(t, "placers", strategy.ValidatePlacer(bad), "placer is not valid: the strategy's own error (*strategy_test.wrapper)")
	check(t, "a placer that panics", strategy.ValidatePlacer(broken{}), "placer panicked while it was validated: do not look (strategy_test.broken)")
	check(t, "no placer", strategy.ValidatePlacer(nil), "placer must not be nil (nil)")
}

func check(t *testing.T, why string, err error, want string) {
	t.Helper()
	if want == "" {
		if err != nil {
			t.Errorf("%s: got %v", why, err)
		}
	} else if err == nil || err.Error() != "cupel: "+want || !errors.Is(err, cupel.ErrInvalidConfig) {
		t.Errorf("%s: got %v, want %s", why, err, want)
	}
}

func TestAllSlicers(t *testing.T) {
	inside := &wrapper{slicers: []strategy.Slicer{slicing(strategy.Selection{}, nil), strategy.SlicerFunc(nil)}}
	outer := &wrapper{slicers: []strategy.Slicer{inside, inside, slicing(strategy.Selection{}, errOwn)}}
	var got []string
	for s := range strategy.AllSlicers(outer) {
		got = append(got, fmt.Sprintf("%T", s))
	}
	if text := strings.Join(got, " "); text != "*strategy_test.wrapper *strategy_test.wrapper strategy.SlicerFunc" {
		t.Errorf("got %s, want each once, outer ones first, up to the nil function", text)
	}
	count := 0
	for range strategy.AllSlicers(outer) {
		if count++; count == 2 {
			break
		}
	}
	if count != 2 {
		t.Errorf("%d slicers before a break, want 2", count)
	}
	defer func() {
		if v := recover(); v != "mine" {
			t.Errorf("the loop panics with %v", v)
		}
	}()
	for range strategy.AllSlicers(outer) {
		panic("mine")
	}
}
