package policy_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupel/policy"
	"github.com/wollax/cupel-go/cupel/strategy"
)

// problemsOf returns the problems of an error as lines, "" for none.
func problemsOf(t *testing.T, err error) string {
	t.Helper()
	if err == nil {
		return ""
	}
	var invalid *policy.ValidationError
	if !errors.As(err, &invalid) {
		t.Fatalf("the error is a %T, no ValidationError: %v", err, err)
	}
	if !errors.Is(err, cupel.ErrInvalidConfig) {
		t.Errorf("%v does not match ErrInvalidConfig", err)
	}
	var lines []string
	for _, p := range invalid.Problems {
		lines = append(lines, p.String())
	}
	return strings.Join(lines, "\n")
}

// lines removes the indentation of a raw string.
func lines(s string) string {
	var out []string
	for line := range strings.Lines(s) {
		if line = strings.TrimSpace(line); line != "" {
			out = append(out, line)
		}
	}
	return strings.Join(out, "\n")
}

// noon is the fixed time of these tests.
var noon = time.Date(2025, 1, 31, 12, 0, 0, 0, time.UTC)

func atNoon() time.Time { return noon }

// Custom strategies, and their descriptors.

// longest scores an item by its length, up to Max.
type longest struct{ Max int }

func (l longest) Score(_ context.Context, items []*cupel.ContextItem, scores []float64) error {
	for i, item := range items {
		scores[i] = float64(min(len(item.Content()), l.Max)) / float64(l.Max)
	}
	return nil
}

// longestType has its setting in an object.
func longestType() strategy.Descriptor {
	return strategy.Descriptor{
		Name: "longest", Doc: "Scores an item by its length.",
		Fields: []strategy.Field{{Name: "settings", Type: strategy.Object, Fields: []strategy.Field{
			{Name: "max", Type: strategy.Int, Required: true, Range: strategy.AtLeastOne, Doc: "The length that scores 1, in bytes."},
		}, Doc: "The settings."}},
		Build: func(args strategy.Args) (any, error) {
			return longest{strategy.Get[int](strategy.Get[strategy.Args](args, "settings"), "max")}, nil
		},
	}
}

// halved halves the scores of another scorer.
type halved struct{ inner strategy.Scorer }

func (h halved) Score(ctx context.Context, items []*cupel.ContextItem, scores []float64) error {
	err := strategy.CallScorer(ctx, h.inner, items, scores)
	for i := range scores {
		scores[i] /= 2
	}
	return err
}

func (h halved) Facts() strategy.Facts {
	return strategy.Facts{Of: h, Scorers: []strategy.Scorer{h.inner}}
}

// children is the field of strategies that wrap others.
var children = []strategy.Field{{Name: "children", Type: strategy.Children, Doc: "The wrapped strategies."}}

// onlyChild returns the one child that args must have.
func onlyChild[S any](args strategy.Args) (S, error) {
	list := strategy.Get[[]any](args, "children")
	if len(list) != 1 {
		var none S
		return none, fmt.Errorf("needs one child, got %d", len(list))
	}
	child, _ := list[0].(S)
	return child, nil
}

func halvedType() strategy.Descriptor {
	return strategy.Descriptor{Name: "halved", Doc: "Halves scores.", Fields: children, Build: func(args strategy.Args) (any, error) {
		child, err := onlyChild[strategy.Scorer](args)
		return halved{child}, err
	}}
}

// firstOf selects with the first of several slicers that selects something.
type firstOf struct{ inner []strategy.Slicer }

func (f firstOf) Facts() strategy.Facts { return strategy.Facts{Of: f, Slicers: f.inner} }

func (f firstOf) Slice(ctx context.Context, items []cupel.ScoredItem, budget cupel.SliceBudget) (strategy.Selection, error) {
	for _, s := range f.inner {
		if sel, err := strategy.CallSlicer(ctx, s, items, budget); err != nil || len(sel.Indices) > 0 {
			return sel, err
		}
	}
	return strategy.Selection{}, nil
}

func firstOfType() strategy.Descriptor {
	return strategy.Descriptor{Name: "firstOf", Doc: "Selects with the first slicer that selects something.", Fields: children, Build: func(args strategy.Args) (any, error) {
		var f firstOf
		for _, child := range strategy.Get[[]any](args, "children") {
			s, _ := child.(strategy.Slicer)
			f.inner = append(f.inner, s)
		}
		return f, nil
	}}
}

// backwards reverses the order of another placer.
type backwards struct{ inner strategy.Placer }

func (b backwards) Place(ctx context.Context, items []cupel.ScoredItem, order []int) error {
	err := strategy.CallPlacer(ctx, b.inner, items, order)
	slices.Reverse(order)
	return err
}

func backwardsType() strategy.Descriptor {
	return strategy.Descriptor{Name: "backwards", Doc: "Reverses an order.", Fields: children, Build: func(args strategy.Args) (any, error) {
		child, err := onlyChild[strategy.Placer](args)
		return backwards{child}, err
	}}
}

// customRegistry knows the strategies above.
func customRegistry(t testing.TB) *policy.Registry {
	t.Helper()
	r := policy.NewRegistry()
	if err := errors.Join(
		r.RegisterScorer(longestType()),
		r.RegisterScorer(halvedType()),
		r.RegisterSlicer(firstOfType()),
		r.RegisterPlacer(backwardsType()),
	); err != nil {
		t.Fatal(err)
	}
	return r
}

type settings = policy.Settings

// of returns a strategy of a type with its settings.
func of(name string, s ...settings) policy.Strategy {
	if len(s) == 0 {
		return policy.Strategy{Type: name}
	}
	return policy.Strategy{Type: name, Settings: s[0]}
}
