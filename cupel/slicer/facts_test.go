package slicer_test

import (
	"context"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupel/slicer"
	"github.com/wollax/cupel-go/cupel/strategy"
)

// described is a slicer with facts. A struct that embeds it inherits both, as one
// that embeds a slicer of this package does.
type described interface {
	strategy.Slicer
	strategy.Describer
}

// overriding has a Slice of its own.
type overriding struct{ described }

func (overriding) Slice(context.Context, []cupel.ScoredItem, cupel.SliceBudget) (strategy.Selection, error) {
	return strategy.Selection{}, nil
}

// allSlicers returns a slicer of each type of the package, by its name.
func allSlicers(t *testing.T) map[string]described {
	t.Helper()
	all := make(map[string]described)
	for _, d := range slicer.Descriptors() {
		given := map[string]any{"entries": []map[string]any{{"kind": "Message"}}}
		for _, f := range d.Fields {
			if f.Name == "inner" {
				given["inner"] = slicer.Greedy{}
			}
		}
		s, err := d.Build(args(d.Fields, given))
		if err != nil {
			t.Fatalf("%s: %v", d.Name, err)
		}
		all[d.Name] = s.(described)
	}
	return all
}

// TestEmbeddingInheritsNoFacts: what a slicer says about itself does not hold for a
// type that embeds it and decides otherwise.
func TestEmbeddingInheritsNoFacts(t *testing.T) {
	smaller, err := cupel.NewContextItem("content", 9, cupel.WithVariants(cupel.Variant{Content: "-", Tokens: 1, Worth: 0.5}))
	if err != nil {
		t.Fatal(err)
	}
	items := []cupel.ScoredItem{{Item: smaller, Score: 1}, msg(1, 0.5)}
	for name, s := range allSlicers(t) {
		own, outer := strategy.FactsOf(s), strategy.FactsOf(overriding{s})
		if of := own.Of; of != any(s) && reflect.TypeOf(s).Elem() != reflect.TypeOf(of) || own.Invalid != nil {
			t.Errorf("%s: the facts are of %T, %v", name, own.Of, own.Invalid)
		}
		if outer.Explain != nil || outer.ForKind != nil || outer.LeftOver || outer.NonMonotonic || outer.Invalid != nil {
			t.Errorf("%s: the outer type has facts of the inner one: %+v", name, outer)
		}
		for _, around := range []strategy.Slicer{overriding{s}, &overriding{s}, struct{ strategy.Slicer }{s}, struct{ described }{s}} {
			if all := slices.Collect(strategy.AllSlicers(around)); len(all) < 2 || all[1] != strategy.Slicer(s) && all[1] != own.Of {
				t.Errorf("%s: %T hides it: %v", name, around, all)
			}
			_, err := slicer.NewCountQuota(around, nil)
			if refused := err != nil; refused != strings.Contains(strings.ToLower(name), "knapsack") {
				t.Errorf("%s: a CountQuota around %T: %v", name, around, err)
			}
		}
		quota := slicer.Must(slicer.NewQuota(overriding{s}))
		for _, around := range []strategy.Slicer{overriding{s}, quota} {
			if sel, err := strategy.CallSlicer(t.Context(), around, items, target(8)); err != nil || len(sel.Indices)+len(sel.Smaller) > 0 {
				t.Errorf("%s: in %T %+v, %v was selected, and the Slice around it selects nothing", name, around, sel, err)
			}
		}
		o, err := strategy.Explain(t.Context(), overriding{s}, items, target(8), 1)
		if err != nil || o.Rule != "overriding chose others, with 8 tokens." {
			t.Errorf("%s: %+v, %v", name, o, err)
		}
	}
}

func TestFacts(t *testing.T) {
	leftOver := "greedy scoreGreedy knapsack multipleChoice diverse"
	nonMonotonic := "quota multipleChoice"
	for name, s := range allSlicers(t) {
		f := s.Facts()
		if f.LeftOver != strings.Contains(leftOver, name) || f.NonMonotonic != slices.Contains(strings.Fields(nonMonotonic), name) {
			t.Errorf("%s: wants the left-over pass: %t, is not monotonic: %t", name, f.LeftOver, f.NonMonotonic)
		}
	}
}

// TestStaysUntil compares selections, and what explanations say about larger targets,
// with selections at these.
func TestStaysUntil(t *testing.T) {
	r := rand.New(rand.NewPCG(8, 1))
	held, out := 0, 0
	for range 3000 {
		sc := newScenario(r)
		from := max(0, sc.budget.TargetTokens-60)
		at := 0
		if len(sc.items) > 0 {
			at = r.IntN(len(sc.items))
		}
		last, lastErr := strategy.CallSlicer(t.Context(), sc.real, sc.items, target(from))
		var o strategy.Obstacle
		if at < len(sc.items) && lastErr == nil && !slices.Contains(last.Indices, at) {
			o, _ = strategy.Explain(t.Context(), sc.real, sc.items, target(from), at)
		}
		said := from
		for now := from; now < from+60 && now > 0; now++ {
			sel, err := strategy.CallSlicer(t.Context(), sc.real, sc.items, target(now))
			if err != nil || lastErr != nil {
				break
			}
			if now <= last.StaysUntil {
				held++
				if !slices.Equal(sel.Indices, last.Indices) {
					t.Fatalf("%s: %v up to %d was said at %d, and %v at %d", sc, last.Indices, last.StaysUntil, said, sel.Indices, now)
				}
			} else {
				last, said = sel, now
			}
			if now <= o.OutUntil {
				out++
				if slices.Contains(sel.Indices, at) {
					t.Fatalf("%s: item %d is out until %d, it was said at %d, and in at %d", sc, at, o.OutUntil, from, now)
				}
			}
		}
	}
	if held < 10_000 || out < 1000 {
		t.Errorf("only %d selections were said to stay, and %d items to stay out", held, out)
	}
}

// TestStaysUntilIsExact has the targets at which the selection changes.
func TestStaysUntilIsExact(t *testing.T) {
	counts := counted(slicer.Greedy{}, "Message 1 9")
	silent := strategy.SlicerFunc(func(context.Context, []cupel.ScoredItem, cupel.SliceBudget) (strategy.Selection, error) {
		return strategy.Selection{}, nil
	})
	auto := slicer.Must(slicer.NewKnapsack(slicer.WithAutoBucket()))
	const items, ties = "Message 10 10, Message 5 4, Message 10 1", "Message 10 10, Message 5 4, Message 5 1"
	for _, tt := range []struct {
		why    string
		slicer strategy.Slicer
		items  string
		target int
		stays  int
		out    int // of the last item
	}{
		{"the second item needs 5 more", slicer.Greedy{}, items, 10, 14, 24},
		{"the last item needs 10 more, and nothing changes before", slicer.Greedy{}, items, 15, 24, 24},
		{"one token is a target, from which one change follows another", slicer.Greedy{}, items, 1, 4, 24},
		{"all are in", slicer.Greedy{}, items, 25, math.MaxInt, 0},
		{"only the first has come in", slicer.ScoreGreedy{}, items, 12, 14, 24},
		{"what is required comes on top", counts, items, 12, 14, 24},
		{"buckets of 1: the slicer does not know", knapsackOfOne, items, 10, 0, 0},
		{"but if all are in", knapsackOfOne, items, 25, math.MaxInt, 0},
		{"nor what is required and the slicer inside", counted(silent, "Message 1 9"), items, 12, 0, 0},
		{"the target of a share is another", quota(slicer.Greedy{}, "Message 0 90"), items, 12, 0, 0},
		{"nothing without a target", slicer.Greedy{}, items, 0, 0, 0},
		{"both need 5 more, and then the second comes first", slicer.Greedy{}, ties, 10, 14, 19},
		{"another target may have another bucket", auto, items, 25, 0, 0},
	} {
		list := listOf(tt.items)
		sel, err := strategy.CallSlicer(t.Context(), tt.slicer, list, target(tt.target))
		o, explainErr := strategy.Explain(t.Context(), tt.slicer, list, target(tt.target), 2)
		if err != nil || explainErr != nil || sel.StaysUntil != tt.stays || o.OutUntil != tt.out {
			t.Errorf("%T at %d: stays until %d, the last is out until %d, want %d and %d: %s", tt.slicer, tt.target, sel.StaysUntil, o.OutUntil, tt.stays, tt.out, tt.why)
		}
	}
}

var knapsackOfOne = slicer.Must(slicer.NewKnapsack(slicer.WithBucketSize(1)))
