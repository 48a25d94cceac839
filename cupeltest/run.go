package cupeltest

import (
	"context"
	"runtime"
	"slices"
	"sync"
	"weak"

	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupel/pipeline"
)

// Run runs the pipeline, as [pipeline.Pipeline.RunReport] does, and returns the
// report and the window: the items to send, in order. It stops the test if the run
// fails. Chains over the report know the pipeline: their failures add the smallest
// budget that includes an item.
func Run(t T, pipeline *pipeline.Pipeline, items []*cupel.ContextItem, budget cupel.ContextBudget) (report *cupel.SelectionReport, window []*cupel.ContextItem) {
	t.Helper()
	window, report, err := pipeline.RunReport(context.Background(), items, budget)
	if err != nil {
		t.Errorf("Run failed: %v", err)
		t.FailNow()
		return new(cupel.SelectionReport), nil
	}
	remember(report, run{pipeline, slices.Clone(items), budget})
	return report, window
}

// A run is the run that made a report.
type run struct {
	pipeline *pipeline.Pipeline
	items    []*cupel.ContextItem
	budget   cupel.ContextBudget
}

// runs has the run of each report that is still in use, so that a plain
// *cupel.SelectionReport is enough for [Should].
var runs sync.Map // weak.Pointer[cupel.SelectionReport] to *run

func remember(report *cupel.SelectionReport, r run) {
	key := weak.Make(report)
	runs.Store(key, &r)
	runtime.AddCleanup(report, func(key weak.Pointer[cupel.SelectionReport]) { runs.Delete(key) }, key)
}

func runOf(report *cupel.SelectionReport) *run {
	known, _ := runs.Load(weak.Make(report))
	r, _ := known.(*run)
	return r
}
