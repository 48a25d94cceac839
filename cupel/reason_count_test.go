package cupel_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/wollax/cupel-go/cupel"
)

// countReasons does with the list of items what StageEnd.Reasons saves.
func countReasons(excluded []cupel.ExcludedItem) []cupel.ReasonCount {
	var list []cupel.ReasonCount
	for _, e := range excluded {
		at := slices.IndexFunc(list, func(c cupel.ReasonCount) bool { return c.Code == e.Reason.Code })
		if at < 0 {
			at = len(list)
			list = append(list, cupel.ReasonCount{Code: e.Reason.Code})
		}
		list[at].Items++
	}
	return list
}

// Observers that ask for reasons alone are handed the counts of the items that
// others are handed, in every stage of every kind of run.
func TestReasonsCountTheExcludedItems(t *testing.T) {
	r := rand.New(rand.NewPCG(11, 1))
	rounds := 300
	if testing.Short() || raceEnabled {
		rounds = 60
	}
	counted := make(map[cupel.ExclusionCode]int)
	for round := range rounds {
		p := randomPipeline(t, r)
		items, budget := randomItems(t, r, r.IntN(40)), randomBudget(t, r)
		batch := cupel.WithBatchSize(1 + r.IntN(10))
		prepared, err := p.Prepare(t.Context(), items)
		if err != nil {
			t.Fatal(err)
		}
		for kind, run := range map[string]func(cupel.RunOption) error{
			"run":      func(o cupel.RunOption) error { _, err := p.Run(t.Context(), items, budget, o); return err },
			"prepared": func(o cupel.RunOption) error { _, err := prepared.Run(t.Context(), budget, o); return err },
			"stream": func(o cupel.RunOption) error {
				_, err := p.RunStream(t.Context(), stream(new(int), items...), budget, o, batch)
				return err
			},
		} {
			both := &spy{detail: cupel.TraceDetail{Items: true, Reasons: true}}
			itemsOnly := &spy{detail: cupel.TraceDetail{Items: true}}
			alone := &spy{detail: cupel.TraceDetail{Reasons: true}}
			first := run(cupel.WithTrace(cupel.MultiTraceCollector(both, itemsOnly)))
			if second := run(cupel.WithTrace(alone)); !sameError(first, second) {
				t.Fatalf("round %d, %s: error %v with items, %v with reasons alone", round, kind, first, second)
			}
			for i, e := range both.ends {
				label := fmt.Sprintf("round %d, %s, stage %s", round, kind, e.Stage)
				want := countReasons(e.Excluded)
				equalSlices(t, label, e.Reasons, want)
				equalSlices(t, label+", without items", alone.ends[i].Reasons, want)
				if itemsOnly.ends[i].Reasons != nil || alone.ends[i].Excluded != nil {
					t.Fatalf("%s: an observer was handed what it did not ask for", label)
				}
				for _, c := range want {
					counted[c.Code] += c.Items
				}
			}
		}
	}
	for _, code := range []cupel.ExclusionCode{cupel.ExcludeNegativeTokens, cupel.ExcludeDeduplicated, cupel.ExcludeBudgetExceeded, cupel.ExcludePinnedOverride, cupel.ExcludeCountCapExceeded} {
		if counted[code] == 0 {
			t.Errorf("no item was left out as %s", code)
		}
	}
}

// A slicer may make up a code for each item. Counting them stays linear, and
// the next run counts from the beginning.
func TestReasonsOfManyCodes(t *testing.T) {
	dropAll := sliceFunc(func(_ context.Context, items []cupel.ScoredItem, _ cupel.SliceBudget) (cupel.Selection, error) {
		var s cupel.Selection
		for i := range items {
			s.Drops = append(s.Drops, cupel.Drop{Index: i, Reason: cupel.NewExclusionReason(cupel.ExclusionCode(fmt.Sprint("Custom", i)), cupel.ReasonData{})})
		}
		return s, nil
	})
	const slice = 3
	for _, n := range []int{5, 1000, 2, 50, 7} { // pooled memory passes from one to the next
		s := &spy{detail: cupel.TraceDetail{Reasons: true}}
		if _, err := pipeline(t, withSlicer(dropAll)).Run(t.Context(), numbered(t, "x", n, 1), budgetOf(t, 9, 9), cupel.WithTrace(s)); err != nil {
			t.Fatal(err)
		}
		got := s.ends[slice].Reasons
		if len(got) != n || got[n-1] != (cupel.ReasonCount{Code: cupel.ExclusionCode(fmt.Sprint("Custom", n-1)), Items: 1}) {
			t.Errorf("%d codes: got %d, the last of them %+v", n, len(got), got[len(got)-1])
		}
		equal(t, "reasons of the next stage", len(s.ends[slice+1].Reasons), 0)
	}
}

// The observer may keep and change the list.
func TestReasonsAreTheObserversOwn(t *testing.T) {
	s := &spy{detail: cupel.TraceDetail{Reasons: true}}
	run := func() {
		if _, err := pipeline(t).Run(t.Context(), observedItems(t), budgetOf(t, 20, 10), cupel.WithTrace(s)); err != nil {
			t.Fatal(err)
		}
	}
	run()
	kept := s.ends[0].Reasons
	kept[0].Items = 99
	s.ends = nil
	run()
	equal(t, "kept", kept[0].Items, 99)
	equal(t, "of the next run", s.ends[0].Reasons[0], cupel.ReasonCount{Code: cupel.ExcludeNegativeTokens, Items: 1})
}
