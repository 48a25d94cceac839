package slicer_test

import (
	"context"
	"errors"
	"slices"
	"testing"

	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupel/slicer"
	"github.com/wollax/cupel-go/cupel/strategy"
)

// inForms takes all items of even positions whole and the others in the form of
// their position.
func inForms(items []cupel.ScoredItem, _ cupel.SliceBudget) (strategy.Selection, error) {
	var sel strategy.Selection
	for i := range items {
		if i%2 == 0 {
			sel.Indices = append(sel.Indices, i)
		} else {
			sel.Smaller = append(sel.Smaller, strategy.SmallerForm{Index: i, Form: i/2 + 1})
		}
	}
	return sel, nil
}

// TestWrappersPassSmallerFormsOn has an inner slicer choose smaller forms: they
// come out at the positions of the list of the wrapper, and count against caps.
func TestWrappersPassSmallerFormsOn(t *testing.T) {
	with := func(kind cupel.ContextKind, score float64) cupel.ScoredItem {
		item, err := cupel.NewContextItem("document", 10, cupel.WithKind(kind), cupel.WithVariants(
			cupel.Variant{Content: "docu", Tokens: 5, Worth: 0.7}, cupel.Variant{Content: "doc", Tokens: 3, Worth: 0.5}, cupel.Variant{Content: "d", Tokens: 1, Worth: 0.2}))
		if err != nil {
			t.Fatal(err)
		}
		return cupel.ScoredItem{Score: score, Item: item}
	}
	items := []cupel.ScoredItem{with("Message", 0.95), with("Document", 0.9), with("Document", 0.8), with("Message", 0.85), with("Document", 0.7), with("Document", 0.6)}
	counted := func(require, limit int) strategy.Slicer {
		return slicer.Must(slicer.NewCountQuota(slicerFunc(inForms), []slicer.CountQuotaEntry{entry("Document", require, limit)}))
	}
	for _, tt := range []struct {
		why    string
		slicer strategy.Slicer
		want   string
	}{
		{"each kind has positions of its own", slicer.Must(slicer.NewQuota(slicerFunc(inForms))), "[0 1 4] 3 as 1 2 as 1 5 as 2"},
		{"after the required one positions move", counted(1, 9), "[1 0 3 5] 2 as 1 4 as 2"},
		{"an item counts in any form", counted(0, 3), "[0 2 4] 1 as 1 3 as 2 drop 5 Document 3/3"},
	} {
		if got, err := tt.slicer.Slice(t.Context(), items, target(100)); err != nil || told(got) != tt.want {
			t.Errorf("got %s, %v, want %s: %s", told(got), err, tt.want, tt.why)
		}
	}
}

// cannotExplain slices and has no explanation.
type cannotExplain struct{ slicerFunc }

var errNoIdea = errors.New("no idea")

func (c cannotExplain) Facts() strategy.Facts {
	return strategy.Facts{Of: c, Explain: func(context.Context, []cupel.ScoredItem, cupel.SliceBudget, strategy.Selection, int) (strategy.Obstacle, error) {
		return strategy.Obstacle{Rule: "none"}, errNoIdea
	}}
}

func takesNone([]cupel.ScoredItem, cupel.SliceBudget) (strategy.Selection, error) {
	return strategy.Selection{}, nil
}

func TestWrappersPassFailedExplanationsOn(t *testing.T) {
	items := []cupel.ScoredItem{msg(1, 0.9), msg(1, 0.8)}
	for name, s := range wrappersAround(cannotExplain{takesNone}) {
		got, err := strategy.Explain(t.Context(), s, items, target(9), 1)
		if !errors.Is(err, errNoIdea) || got.Rule != "" || got.Before != nil {
			t.Errorf("%s: %+v, %v", name, got, err)
		}
	}
}

// TestExplanationsTellDropsApart has an inner slicer drop items itself, in addition to
// those that a cap drops.
func TestExplanationsTellDropsApart(t *testing.T) {
	items := []cupel.ScoredItem{msg(1, 0.9), msg(1, 0.8), msg(1, 0.7)}
	dropsFirst := slicerFunc(func(items []cupel.ScoredItem, _ cupel.SliceBudget) (strategy.Selection, error) {
		return strategy.Selection{Indices: []int{1, 2}, Drops: []strategy.Drop{{Index: 0, Reason: cupel.ExclusionReason{Code: "Stale"}}}}, nil
	})
	s := slicer.Must(slicer.NewCountQuota(dropsFirst, []slicer.CountQuotaEntry{entry(cupel.KindMessage, 0, 1)}))
	for at, want := range map[int]string{0: "slicerFunc chose others, with 9 tokens.", 2: "CountQuotaSlice takes at most 1 item of the kind Message."} {
		got, err := strategy.Explain(t.Context(), s, items, target(9), at)
		if err != nil || got.Rule != want {
			t.Errorf("item %d: %q, %v, want %q", at, got.Rule, err, want)
		}
	}
	// Of several candidates of a kind the one in question is explained.
	got, err := strategy.Explain(t.Context(), quota(slicer.Greedy{}, ""), items, target(1), 1)
	const first = "QuotaSlice gives the kind Message 1 of 1 tokens. GreedySlice takes the highest score per token first. When its turn came, 0 of 1 tokens were left."
	if err != nil || got.Rule != first || !slices.Equal(got.Before, []int{0}) {
		t.Errorf("%q %v, %v", got.Rule, got.Before, err)
	}
}

// What the left-over pass gave to smaller forms was left when an item's turn came.
func TestExplanationsCountSmallerForms(t *testing.T) {
	log, err := cupel.NewContextItem("log", 10, cupel.WithVariants(cupel.Variant{Content: "l", Tokens: 1, Worth: 0.9}))
	if err != nil {
		t.Fatal(err)
	}
	items := []cupel.ScoredItem{{Item: log, Score: 1}, msg(9, 0.1)}
	got, err := strategy.Explain(t.Context(), slicer.Greedy{}, items, target(8), 1)
	const want = "GreedySlice takes the highest score per token first. Nothing comes before it, but there are only 8 tokens. Smaller forms of items took 1 of them."
	if err != nil || got.Rule != want {
		t.Errorf("%q, %v", got.Rule, err)
	}
}
