package naive_test

import (
	"reflect"
	"slices"
	"testing"

	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupel/observe"
	"github.com/wollax/cupel-go/cupel/pipeline"
	"github.com/wollax/cupel-go/internal/naive"
)

// TestAllocationsOfARun holds the counts that docs/benchmarks.md promises. They
// are exact on any machine, however busy.
func TestAllocationsOfARun(t *testing.T) {
	if raceEnabled {
		t.Skip("the race detector empties pools at random")
	}
	w := workload{n: 100}
	items, budget, p := w.items(), w.budget(), enginePipeline(three, naive.Greedy{})
	ctx := t.Context()
	allocations := func(opts ...pipeline.RunOption) float64 {
		return testing.AllocsPerRun(200, func() { must(p.Run(ctx, items, budget, opts...)) })
	}
	report := func(level observe.TraceDetailLevel) float64 {
		return testing.AllocsPerRun(200, func() {
			collector := observe.NewDiagnosticTraceCollector(observe.WithDetailLevel(level))
			must(p.Run(ctx, items, budget, pipeline.WithTrace(collector)))
			collector.BuildReport()
		})
	}
	untraced := allocations()
	tests := []struct {
		name      string
		got, most float64
		why       string
	}{
		{"untraced", untraced, 3, "the window, and what the slicer returns"},
		{"null collector", allocations(pipeline.WithTrace(observe.NullTraceCollector{})), untraced, "no one observes the run"},
		{"counts by reason", allocations(pipeline.WithTrace(countingReasons{})), untraced + 1, "the list of the one stage that leaves something out"},
		{"report, level Stage", report(observe.TraceDetailStage), untraced + 14, "the collector and its events, the lists of the run, and those of the report"},
		{"report, level Item", report(observe.TraceDetailItem), untraced + 16, "besides, the messages of a stage share memory"},
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
	p := enginePipeline(three, naive.Greedy{})
	dryRun := func(n int) *cupel.SelectionReport {
		w := workload{n: n}
		return must(p.DryRun(t.Context(), w.items(), w.budget()))
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
