package naive_test

import (
	"reflect"
	"slices"
	"testing"

	"github.com/wollax/cupel-go/cupel"
)

// TestAllocationsOfARun holds the counts that docs/benchmarks.md promises. They
// are exact on any machine, however busy.
func TestAllocationsOfARun(t *testing.T) {
	if raceEnabled {
		t.Skip("the race detector empties pools at random")
	}
	w := workload{n: 100}
	items, budget, pipeline := w.items(), w.budget(), greedyPipeline(threeScorers())
	ctx := t.Context()
	allocations := func(opts ...cupel.RunOption) float64 {
		return testing.AllocsPerRun(200, func() { must(pipeline.Run(ctx, items, budget, opts...)) })
	}
	report := func(level cupel.TraceDetailLevel) float64 {
		return testing.AllocsPerRun(200, func() {
			collector := cupel.NewDiagnosticTraceCollector(cupel.WithDetailLevel(level))
			must(pipeline.Run(ctx, items, budget, cupel.WithTrace(collector)))
			collector.BuildReport()
		})
	}
	untraced := allocations()
	tests := []struct {
		name      string
		got, most float64
		why       string
	}{
		{"untraced", untraced, 4, "the window, and what slicer and placer return"},
		{"null collector", allocations(cupel.WithTrace(cupel.NullTraceCollector{})), untraced, "no one observes the run"},
		{"counts by reason", allocations(cupel.WithTrace(countingReasons{})), untraced + 1, "the list of the one stage that leaves something out"},
		{"report, level Stage", report(cupel.TraceDetailStage), untraced + 14, "the collector, the lists of the report, and what another report is made of"},
		{"report, level Item", report(cupel.TraceDetailItem), untraced + 16, "besides, the messages of a stage are one string"},
	}
	for _, tt := range tests {
		if tt.got > tt.most {
			t.Errorf("%s: %v allocations, want at most %v: %s", tt.name, tt.got, tt.most, tt.why)
		}
	}
}

// TestReportsOutliveTheirRun: a report must share no memory with the pool that
// the next runs take theirs from.
func TestReportsOutliveTheirRun(t *testing.T) {
	pipeline := greedyPipeline(threeScorers())
	dryRun := func(n int) *cupel.SelectionReport {
		w := workload{n: n}
		return must(pipeline.DryRun(t.Context(), w.items(), w.budget()))
	}
	report := dryRun(200)
	if len(report.Excluded) == 0 {
		t.Fatal("nothing was left out")
	}
	included, excluded := slices.Clone(report.Included), slices.Clone(report.Excluded)
	for _, n := range []int{100, 200, 1000} {
		dryRun(n)
	}
	if !reflect.DeepEqual(report.Included, included) || !reflect.DeepEqual(report.Excluded, excluded) {
		t.Error("later runs changed the report")
	}
}
