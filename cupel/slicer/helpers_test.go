package slicer_test

import (
	"context"
	"math"
	"slices"
	"testing"

	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupel/internal/compat"
)

var (
	nan    = math.NaN()
	inf    = math.Inf(1)
	negInf = math.Inf(-1)
)

// it is a scored item whose content does not matter.
func it(kind cupel.ContextKind, tokens int, score float64) cupel.ScoredItem {
	item, err := cupel.NewContextItem("content", tokens, cupel.WithKind(kind))
	if err != nil {
		panic(err)
	}
	return cupel.ScoredItem{Item: item, Score: score}
}

// msg is a scored message.
func msg(tokens int, score float64) cupel.ScoredItem { return it(cupel.KindMessage, tokens, score) }

// target is a budget whose ceiling is its target.
func target(tokens int) cupel.SliceBudget {
	return cupel.SliceBudget{MaxTokens: max(0, tokens), TargetTokens: tokens}
}

// sliceCase is one call of a slicer and what the specification says about it.
type sliceCase struct {
	name       string
	items      []cupel.ScoredItem
	budget     cupel.SliceBudget
	want       []int // in the chapter's order
	drops      []cupel.Drop
	shortfalls []cupel.CountRequirementShortfall
	why        string
}

// check calls s through the function that pipelines use, and compares.
func (c sliceCase) check(t *testing.T, s cupel.Slicer) {
	t.Helper()
	if c.why == "" {
		t.Fatal("the row does not say why")
	}
	before := slices.Clone(c.items)
	got, err := cupel.Slice(t.Context(), s, c.items, c.budget)
	if err != nil {
		t.Fatalf("unexpected error %v: %s", err, c.why)
	}
	if !slices.Equal(got.Indices, c.want) {
		t.Errorf("selected %v, want %v: %s", got.Indices, c.want, c.why)
	}
	if !slices.EqualFunc(got.Drops, c.drops, sameDrop) {
		t.Errorf("dropped %v, want %v: %s", got.Drops, c.drops, c.why)
	}
	if !slices.Equal(got.Shortfalls, c.shortfalls) {
		t.Errorf("shortfalls %v, want %v: %s", got.Shortfalls, c.shortfalls, c.why)
	}
	for i := range before {
		if before[i].Item != c.items[i].Item || math.Float64bits(before[i].Score) != math.Float64bits(c.items[i].Score) {
			t.Errorf("item %d was changed", i)
		}
	}
}

func sameDrop(a, b cupel.Drop) bool {
	return a.Index == b.Index && a.Reason.Equal(b.Reason)
}

// runCases checks rows that share one slicer.
func runCases(t *testing.T, s cupel.Slicer, cases []sliceCase) {
	t.Helper()
	names := make(map[string]bool)
	for _, c := range cases {
		if names[c.name] {
			t.Errorf("two rows are called %q", c.name)
		}
		names[c.name] = true
		t.Run(c.name, func(t *testing.T) { c.check(t, s) })
	}
}

// configCase is a construction that must fail.
type configCase struct {
	name   string
	build  func() (cupel.Slicer, error)
	field  string // of the InvalidConfigError
	reason string // of the InvalidConfigError
	why    string
}

// runConfigCases checks rows of constructions, all of the given component.
func runConfigCases(t *testing.T, component string, cases []configCase) {
	t.Helper()
	names := make(map[string]bool)
	for _, c := range cases {
		if names[c.name] || c.why == "" {
			t.Errorf("row %q is there twice or does not say why", c.name)
		}
		names[c.name] = true
		t.Run(c.name, func(t *testing.T) {
			_, err := c.build()
			bad, ok := compat.AsType[*cupel.InvalidConfigError](err)
			if !ok {
				t.Fatalf("got error %v, want an InvalidConfigError: %s", err, c.why)
			}
			if bad.Component != component || bad.Field != c.field || bad.Reason != c.reason {
				t.Errorf("got component %q, field %q, reason %q\nwant component %q, field %q, reason %q: %s",
					bad.Component, bad.Field, bad.Reason, component, c.field, c.reason, c.why)
			}
		})
	}
}

// erased turns the results of a constructor into those of configCase.build.
func erased[S cupel.Slicer](s S, err error) (cupel.Slicer, error) { return s, err }

// slicerFunc is a slicer of someone else's.
type slicerFunc func(items []cupel.ScoredItem, budget cupel.SliceBudget) (cupel.Selection, error)

func (f slicerFunc) Slice(_ context.Context, items []cupel.ScoredItem, budget cupel.SliceBudget) (cupel.Selection, error) {
	return f(items, budget)
}

// takeAll selects everything, from the last position to the first, for
// any budget.
func takeAll(items []cupel.ScoredItem, _ cupel.SliceBudget) (cupel.Selection, error) {
	var sel cupel.Selection
	for i := range items {
		sel.Indices = append(sel.Indices, len(items)-1-i)
	}
	return sel, nil
}

// call is what an inner slicer was given.
type call struct {
	scores []float64
	budget cupel.SliceBudget
}

// recorder selects everything and notes what it is given.
type recorder struct{ calls []call }

func (r *recorder) Slice(_ context.Context, items []cupel.ScoredItem, budget cupel.SliceBudget) (cupel.Selection, error) {
	c := call{budget: budget}
	for _, it := range items {
		c.scores = append(c.scores, it.Score)
	}
	r.calls = append(r.calls, c)
	return takeAll(items, budget)
}

func equalCalls(a, b []call) bool {
	return slices.EqualFunc(a, b, func(x, y call) bool {
		return x.budget == y.budget && slices.Equal(x.scores, y.scores)
	})
}

// mustPanic returns what f panics with.
func mustPanic(t *testing.T, f func()) (v any) {
	t.Helper()
	defer func() {
		if v = recover(); v == nil {
			t.Error("no panic")
		}
	}()
	f()
	return nil
}
