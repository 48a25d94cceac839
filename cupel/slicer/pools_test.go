package slicer_test

import (
	"testing"

	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupel/slicer"
)

func TestSweepOfWhatWasNotBuilt(t *testing.T) {
	items := []cupel.ScoredItem{msg(1, 1)}
	for _, s := range []cupel.SweepSlicer{&slicer.Quota{}, (*slicer.Quota)(nil), &slicer.CountQuota{}, (*slicer.CountQuota)(nil)} {
		if s.Sweep(items) != nil {
			t.Errorf("%T that was not built has a sweep", s)
		}
	}
}

// TestPoolsAreGivenBack counts the allocations other than the result.
func TestPoolsAreGivenBack(t *testing.T) {
	if raceEnabled {
		t.Skip("the race detector makes pools drop things at random")
	}
	var items []cupel.ScoredItem
	for i := range 100 {
		items = append(items, msg(10+i%7, float64(i)/100))
	}
	for _, tt := range []struct {
		name string
		do   func()
		most float64
		why  string
	}{
		{"sweep", func() { slicer.Greedy{}.Sweep(items) }, 3, "the sweep, its positions and its tree"},
		{"knapsack", func() {
			if _, err := (slicer.Knapsack{}).Slice(t.Context(), items, target(500)); err != nil {
				t.Error(err)
			}
		}, 6, "the solver's and the positions"},
		{"knapsack topped up", func() {
			if _, err := slicer.Must(slicer.NewKnapsack(slicer.WithTopUp())).Slice(t.Context(), items, target(50)); err != nil {
				t.Error(err)
			}
		}, 5, "the slicer, its option, the marks and the positions"},
	} {
		tt.do()
		if got := testing.AllocsPerRun(100, tt.do); got > tt.most {
			t.Errorf("%s: allocated %v times, want %v: %s", tt.name, got, tt.most, tt.why)
		}
	}
}
