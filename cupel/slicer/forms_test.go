package slicer_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupel/slicer"
)

// inForms takes all items of even positions whole and the others in the form of
// their position.
func inForms(items []cupel.ScoredItem, _ cupel.SliceBudget) (cupel.Selection, error) {
	var sel cupel.Selection
	for i := range items {
		if i%2 == 0 {
			sel.Indices = append(sel.Indices, i)
		} else {
			sel.Smaller = append(sel.Smaller, cupel.SmallerForm{Index: i, Form: i/2 + 1})
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
	counted := func(require, limit int) cupel.Slicer {
		return slicer.Must(slicer.NewCountQuota(slicerFunc(inForms), []slicer.CountQuotaEntry{entry("Document", require, limit)}))
	}
	for _, tt := range []struct {
		name, why string
		slicer    cupel.Slicer
		indices   []int
		smaller   []cupel.SmallerForm
		dropped   []int
	}{
		{"quota", "each kind has positions of its own", slicer.Must(slicer.NewQuota(slicerFunc(inForms))), []int{0, 1, 4},
			[]cupel.SmallerForm{{Index: 3, Form: 1}, {Index: 2, Form: 1}, {Index: 5, Form: 2}}, nil},
		{"count quota", "no cap is reached", counted(0, 9), []int{0, 2, 4}, []cupel.SmallerForm{{Index: 1, Form: 1}, {Index: 3, Form: 2}, {Index: 5, Form: 3}}, nil},
		{"count quota that requires", "behind the required one positions move", counted(1, 9), []int{1, 0, 3, 5}, []cupel.SmallerForm{{Index: 2, Form: 1}, {Index: 4, Form: 2}}, nil},
		{"cap", "an item counts in any form", counted(0, 3), []int{0, 2, 4}, []cupel.SmallerForm{{Index: 1, Form: 1}, {Index: 3, Form: 2}}, []int{5}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, err := tt.slicer.Slice(t.Context(), items, target(100))
			if err != nil {
				t.Fatal(err)
			}
			var dropped []int
			for _, d := range got.Drops {
				dropped = append(dropped, d.Index)
			}
			if !slices.Equal(got.Indices, tt.indices) || !slices.Equal(got.Smaller, tt.smaller) || !slices.Equal(dropped, tt.dropped) {
				t.Errorf("selected %v and %v, dropped %v, want %v, %v, %v: %s", got.Indices, got.Smaller, dropped, tt.indices, tt.smaller, tt.dropped, tt.why)
			}
		})
	}
	for _, s := range []cupel.Slicer{slicer.Greedy{}, slicer.ScoreGreedy{}} {
		if l, ok := s.(cupel.LeftOverSlicer); !ok || !l.LeftOver() {
			t.Errorf("%T leaves what is left over unused", s)
		}
	}
}

// cannotExplain slices and has no explanation.
type cannotExplain struct{ slicerFunc }

var errNoIdea = errors.New("no idea")

func (cannotExplain) ExplainSlice(context.Context, []cupel.ScoredItem, cupel.SliceBudget, cupel.Selection, int) (cupel.Obstacle, error) {
	return cupel.Obstacle{Rule: "none"}, errNoIdea
}

func takesNone([]cupel.ScoredItem, cupel.SliceBudget) (cupel.Selection, error) {
	return cupel.Selection{}, nil
}

func TestWrappersPassFailedExplanationsOn(t *testing.T) {
	items := []cupel.ScoredItem{msg(1, 0.9), msg(1, 0.8)}
	for name, s := range wrappersAround(cannotExplain{takesNone}) {
		if _, ok := s.(cupel.SliceExplainer); !ok || strings.Contains(name, "napsack") {
			continue
		}
		got, err := cupel.ExplainSlice(t.Context(), s, items, target(9), 1)
		if !errors.Is(err, errNoIdea) || got.Rule != "" || got.Before != nil {
			t.Errorf("%s: %+v, %v", name, got, err)
		}
	}
}

// TestExplanationsTellDropsApart has an inner slicer drop items itself, in addition to
// those that a cap drops.
func TestExplanationsTellDropsApart(t *testing.T) {
	items := []cupel.ScoredItem{msg(1, 0.9), msg(1, 0.8), msg(1, 0.7)}
	dropsFirst := slicerFunc(func(items []cupel.ScoredItem, _ cupel.SliceBudget) (cupel.Selection, error) {
		return cupel.Selection{Indices: []int{1, 2}, Drops: []cupel.Drop{{Index: 0, Reason: cupel.ExclusionReason{Code: "Stale"}}}}, nil
	})
	s := slicer.Must(slicer.NewCountQuota(dropsFirst, []slicer.CountQuotaEntry{entry(cupel.KindMessage, 0, 1)}))
	for at, want := range map[int]string{0: "slicerFunc chose others, with 9 tokens.", 2: "CountQuotaSlice takes at most 1 item of the kind Message."} {
		got, err := cupel.ExplainSlice(t.Context(), s, items, target(9), at)
		if err != nil || got.Rule != want {
			t.Errorf("item %d: %q, %v, want %q", at, got.Rule, err, want)
		}
	}
	// Of several candidates of a kind the one in question is explained, and one
	// token is a target.
	q := slicer.Must(slicer.NewQuota(slicer.Greedy{}))
	for at, want := range map[int]string{
		1: "QuotaSlice gives the kind Message 1 of 1 tokens. GreedySlice takes the highest score per token first. When its turn came, 0 of 1 tokens were left.",
	} {
		got, err := cupel.ExplainSlice(t.Context(), q, items, target(1), at)
		if err != nil || got.Rule != want || !slices.Equal(got.Before, []int{0}) {
			t.Errorf("item %d: %q %v, %v, want %q", at, got.Rule, got.Before, err, want)
		}
	}
}

// leadsAround has the ForKind of the count quota that it embeds.
type leadsAround struct{ *slicer.CountQuota }

func (leadsAround) Slice(context.Context, []cupel.ScoredItem, cupel.SliceBudget) (cupel.Selection, error) {
	return cupel.Selection{}, nil
}

func TestNewQuotaRefusesToBeLedAround(t *testing.T) {
	_, err := slicer.NewQuota(leadsAround{slicer.Must(slicer.NewCountQuota(slicer.Greedy{}, nil))})
	if !errors.Is(err, cupel.ErrInvalidConfig) || !strings.Contains(err.Error(), "declare ForKind") {
		t.Errorf("got %v", err)
	}
}

// Requires of 100 and a billionth are all of the target; their sum says nothing
// when one of them is wrong.
func TestSumOfRequires(t *testing.T) {
	const most = 100 + 1e-9
	if _, err := slicer.NewQuota(slicer.Greedy{}, slicer.Require("a", 50), slicer.Require("b", most-50)); err != nil {
		t.Error(err)
	}
	_, err := slicer.NewQuota(slicer.Greedy{}, slicer.Require("a", 90), slicer.Require("b", 101))
	if err == nil || strings.Contains(err.Error(), "sum") {
		t.Errorf("got %v, want what is wrong with b alone", err)
	}
}

// TestQuotaSweepKeepsWhatStays wants a sweep to tell only of what changes.
func TestQuotaSweepKeepsWhatStays(t *testing.T) {
	items := []cupel.ScoredItem{it("a", 5, 0.9), it("b", 5, 0.8), it("a", 5, 0.7)}
	q := slicer.Must(slicer.NewQuota(slicer.Greedy{}, slicer.Between("a", 50, 50)))
	sweep := q.Sweep(items)
	for _, tt := range []struct {
		target, keep int
		more         []int
		why          string
	}{
		{10, 0, []int{0, 1}, "5 tokens each"},
		{10, 2, nil, "the same target"},
		{12, 2, nil, "6 tokens each"},
		{20, 1, []int{2, 1}, "10 tokens for a"},
		{19, 1, []int{1}, "9 tokens for a"},
		{0, 0, nil, "nothing"},
	} {
		keep, more := sweep.Advance(tt.target)
		if keep != tt.keep || !slices.Equal(more, tt.more) {
			t.Errorf("at %d: keeps %d and adds %v, want %d and %v: %s", tt.target, keep, more, tt.keep, tt.more, tt.why)
		}
	}
}

func TestKnapsackWithoutContext(t *testing.T) {
	var none context.Context
	got, err := slicer.Must(slicer.NewKnapsack(slicer.WithBucketSize(1))).Slice(none, []cupel.ScoredItem{msg(5, 0.5)}, target(9))
	if err != nil || !slices.Equal(got.Indices, []int{0}) {
		t.Errorf("got %v, %v", got, err)
	}
}
