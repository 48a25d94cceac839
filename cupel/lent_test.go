package cupel_test

import (
	"context"
	"fmt"
	"math"
	"runtime"
	"strings"
	"testing"

	"github.com/wollax/cupel-go/cupel"
)

func TestLentLists(t *testing.T) {
	seen := func(ends []cupel.StageEnd) string {
		var all []string
		for _, e := range ends {
			all = append(all, fmt.Sprintf("%s %d+%d", e.Stage, len(e.Excluded), len(e.Included)))
		}
		return strings.Join(all, ", ")
	}
	exclusions, lent, owner := &spy{detail: cupel.TraceDetail{Exclusions: true}}, &spy{detail: cupel.TraceDetail{Items: true, Lent: true}}, &spy{detail: cupel.TraceDetail{Items: true}}
	p := pipeline(t)
	run := func(collector cupel.TraceCollector) {
		t.Helper()
		if _, err := p.Run(t.Context(), observedItems(t), budgetOf(t, 20, 10), cupel.WithTrace(collector)); err != nil {
			t.Fatal(err)
		}
	}
	run(cupel.MultiTraceCollector(exclusions, lent, owner))
	alone := &spy{detail: cupel.TraceDetail{Exclusions: true, Lent: true}}
	run(alone)
	const none = "Classify 1+0, Score 0+0, Deduplicate 1+0, Slice 1+0, Place 0+0"
	equal(t, "exclusions only", seen(exclusions.ends), none)
	equal(t, "exclusions only, alone", seen(alone.ends), none)
	for _, s := range []*spy{lent, owner} {
		e := s.ends[len(s.ends)-1]
		equal(t, "included", len(e.Included), 2)
	}
	kept := fmt.Sprint(owner.ends[0].Excluded[0], owner.ends[4].Included)
	for range 3 { // runs that reuse the memory of the first
		run(&spy{detail: cupel.TraceDetail{Items: true, Lent: true}})
	}
	equal(t, "what an owner keeps", fmt.Sprint(owner.ends[0].Excluded[0], owner.ends[4].Included), kept)
}

// TestLentListsAreNotBuiltAnew counts what an observer of all items costs.
func TestLentListsAreNotBuiltAnew(t *testing.T) {
	if raceEnabled {
		t.Skip("the race detector drops pooled memory at random")
	}
	items := numbered(t, "item ", 1000, 10)
	budget := budgetOf(t, 10000, 5000)
	p := pipeline(t)
	bytes := func(detail cupel.TraceDetail) uint64 {
		var before, after runtime.MemStats
		least := uint64(math.MaxUint64)
		for range 10 { // the pool may have been emptied
			runtime.ReadMemStats(&before)
			if _, err := p.Run(t.Context(), items, budget, cupel.WithTrace(forgetful{detail})); err != nil {
				t.Fatal(err)
			}
			runtime.ReadMemStats(&after)
			least = min(least, after.TotalAlloc-before.TotalAlloc)
		}
		return least
	}
	none, lent, owned := bytes(cupel.TraceDetail{}), bytes(cupel.TraceDetail{Items: true, Lent: true}), bytes(cupel.TraceDetail{Items: true})
	if lent > none+2048 || owned < lent+50_000 {
		t.Errorf("a run of 1,000 items allocates %d bytes for an observer of no items, %d for one that is lent all and %d for one that owns them", none, lent, owned)
	}
}

// forgetful is an observer that keeps nothing.
type forgetful struct{ detail cupel.TraceDetail }

func (forgetful) IsEnabled() bool                   { return true }
func (forgetful) RecordStageEvent(cupel.TraceEvent) {}
func (forgetful) RecordItemEvent(cupel.TraceEvent)  {}
func (f forgetful) StartRun(ctx context.Context, _ cupel.RunInfo) (context.Context, cupel.RunTrace) {
	return ctx, forgetfulRun{detail: f.detail}
}

type forgetfulRun struct {
	cupel.NoTrace
	detail cupel.TraceDetail
}

func (f forgetfulRun) Detail() cupel.TraceDetail { return f.detail }
