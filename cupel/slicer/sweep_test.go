package slicer_test

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupel/slicer"
)

// checkSweep goes through targets and compares the list that the sweep tells
// of with what Slice says. It returns how often the list changed.
func checkSweep(t *testing.T, s cupel.SweepSlicer, items []cupel.ScoredItem, targets []int) (changes int) {
	t.Helper()
	sweep := s.Sweep(slices.Clone(items))
	if sweep == nil {
		t.Fatalf("%T does not sweep", s)
	}
	var list []int
	last, next, ok := 0, 0, true
	for step, at := range targets {
		sel, err := cupel.Slice(t.Context(), s, items, target(at))
		if err != nil {
			t.Fatal(err)
		}
		if step > 0 && at >= last && (!ok || at < next) && !slices.Equal(list, sel.Indices) {
			t.Fatalf("at target %d the next change was said to be at %d, %v, but at %d %v became %v", last, next, ok, at, list, sel.Indices)
		}
		keep, more := sweep.Advance(at)
		if keep < 0 || keep > len(list) {
			t.Fatalf("at target %d it kept %d of %d", at, keep, len(list))
		}
		list = append(list[:keep:keep], more...)
		if !slices.Equal(list, sel.Indices) {
			t.Fatalf("at target %d the list is %v, Slice says %v", at, list, sel.Indices)
		}
		if keep < len(list) {
			changes++
		}
		last = at
		if next, ok = sweep.Next(); ok && next <= at {
			t.Fatalf("at target %d the next change is said to be at %d", at, next)
		}
	}
	return changes
}

// TestSweepIsSlice compares random sweeps, through count slicers too, with
// a new slice at every target: all targets up to one that holds everything, then some back
// and forth.
func TestSweepIsSlice(t *testing.T) {
	rounds := 4000
	if testing.Short() || raceEnabled {
		rounds = 400
	}
	r := rand.New(rand.NewPCG(6, 40))
	swept, wrapped, changes := 0, 0, 0
	for range rounds {
		sc := newScenario(r)
		s, ok := sc.real.(cupel.SweepSlicer)
		if !ok || s.Sweep(slices.Clone(sc.items)) == nil {
			continue
		}
		swept++
		if _, ok := s.(slicer.Greedy); !ok {
			wrapped++
		}
		var targets []int
		for i := range 200 {
			targets = append(targets, i)
		}
		if sc.huge {
			targets = []int{0, 1, 2, 12345, math.MaxInt/32 + 1, math.MaxInt/8 + 1, math.MaxInt/8 + 12346, math.MaxInt/4 + 1, math.MaxInt / 2, math.MaxInt/2 + 1, math.MaxInt - 1, math.MaxInt}
		}
		for range 20 {
			targets = append(targets, targets[r.IntN(len(targets))])
		}
		changes += checkSweep(t, s, sc.items, targets)
	}
	t.Logf("%d sweeps, %d of them through wrappers, %d changes", swept, wrapped, changes)
	if swept < rounds/5 || wrapped < rounds/20 || changes < rounds {
		t.Error("the cases have become too poor to say much")
	}
}

// TestSweepOfALongList has a tree of several levels, and steps from one token to
// all there are.
func TestSweepOfALongList(t *testing.T) {
	r := rand.New(rand.NewPCG(8, 8))
	var items []cupel.ScoredItem
	for range 700 {
		items = append(items, it(oneOf[cupel.ContextKind](r, "a", "b", "c"), r.IntN(300), float64(r.IntN(1000))/1000))
	}
	counts := slicer.Must(slicer.NewCountQuota(slicer.Greedy{}, []slicer.CountQuotaEntry{entry("a", 20, 50), entry("b", 0, 30)}))
	quota := slicer.Must(slicer.NewQuota(slicer.Greedy{}, slicer.Cap("a", 20), slicer.Require("c", 30)))
	nested := slicer.Must(slicer.NewCountQuota(slicer.Must(slicer.NewQuota(counts, slicer.Cap("b", 40))), []slicer.CountQuotaEntry{entry("c", 1, 9)}))
	n := 300
	if testing.Short() || raceEnabled {
		n = 50
	}
	for _, stride := range []int{1, 7, 300, 5000, 200_000} {
		var targets []int
		for i := range n {
			targets = append(targets, i*stride)
		}
		checkSweep(t, slicer.Greedy{}, items, targets)
		checkSweep(t, counts, items, targets)
		checkSweep(t, quota, items, targets)
		checkSweep(t, nested, items, targets)
	}
}

// plain hides everything about a slicer but Slice.
type plain struct{ inner cupel.Slicer }

func (p plain) Slice(ctx context.Context, items []cupel.ScoredItem, budget cupel.SliceBudget) (cupel.Selection, error) {
	return p.inner.Slice(ctx, items, budget)
}

func TestSweepsThatCannotBe(t *testing.T) {
	knapsack := slicer.Must(slicer.NewKnapsack())
	quota := slicer.Must(slicer.NewQuota(knapsack, slicer.Cap("a", 50)))
	throws := slicer.Must(slicer.NewCountQuota(slicer.Greedy{}, []slicer.CountQuotaEntry{entry("a", 2, 2)}, slicer.WithScarcity(slicer.ScarcityThrow)))
	counts := slicer.Must(slicer.NewCountQuota(plain{slicer.Greedy{}}, nil))
	items := []cupel.ScoredItem{it("a", 5, 1)}
	tests := []struct {
		name   string
		slicer cupel.Slicer
		why    string
	}{
		{"not built", new(slicer.CountQuota), "a zero CountQuota has no inner slicer"},
		{"a quota that is not built", new(slicer.Quota), "a zero Quota has no inner slicer"},
		{"the inner slicer has no sweep", counts, "a custom slicer need not have one"},
		{"an inner sweep that cannot be", slicer.Must(slicer.NewCountQuota(counts, nil)), "the inner CountQuota is a SweepSlicer and says no itself"},
		{"a quota around a knapsack", quota, "what the knapsack finds for one target says nothing about the next"},
		{"a quota around a sweep that cannot be", slicer.Must(slicer.NewQuota(throws)), "the share of the kind decides whether it is an error, which Slice makes"},
		{"scarcity", slicer.Must(slicer.NewCountQuota(slicer.Greedy{}, []slicer.CountQuotaEntry{entry("b", 1, 1)}, slicer.WithScarcity(slicer.ScarcityThrow))), "every target above 0 is an error, which Slice makes"},
		{"knapsack", slicer.Must(slicer.NewCountConstrainedKnapsack(knapsack, nil)), "what the knapsack finds for one target says nothing about the next"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if s, ok := tt.slicer.(cupel.SweepSlicer); ok && s.Sweep(items) != nil {
				t.Errorf("there is a sweep: %s", tt.why)
			}
		})
	}
}
