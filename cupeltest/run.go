package cupeltest

import (
	"context"
	"fmt"
	"runtime"
	"slices"
	"strings"
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

// Deterministic runs the pipeline n times, at least twice, over the same
// candidates and checks that all reports are equal: the same candidates in the same
// order, with the same scores and reasons. Durations do not count. It reports the
// first difference, a failed run, or an n below 2, and lets the test continue. Runs
// are dry: the pipeline's overflow observer is not called.
//
// It is an addition to the vocabulary of the specification.
func Deterministic(t T, pipeline *pipeline.Pipeline, items []*cupel.ContextItem, budget cupel.ContextBudget, n int, opts ...ChainOption) {
	t.Helper()
	c := newChain(new(SelectionReportAssertionChain), opts)
	if n < 2 {
		t.Errorf("Deterministic failed: it takes at least 2 runs to compare, got n = %d.", n)
		return
	}
	first := ""
	for i := 1; i <= n; i++ {
		report, err := pipeline.DryRun(context.Background(), items, budget)
		if err != nil {
			t.Errorf("Deterministic failed: run %d of %d: %v", i, n, err)
			return
		}
		text := c.everything(report)
		if i == 1 {
			first = text
		}
		if text != first {
			t.Errorf("Deterministic failed: run %d of %d differs from the first (- run 1, + run %d):\n%s", i, n, i, diff(first, text))
			return
		}
	}
}

// everything returns all decisions of a run.
func (c *SelectionReportAssertionChain) everything(r *cupel.SelectionReport) string {
	lines := []string{c.decisions(r)}
	for _, entry := range r.Included {
		lines = append(lines, fmt.Sprintf("in: %s, candidate %d, score %s", c.quote(entry.Item.Content()), entry.Candidate, score(entry.Score)))
	}
	for _, entry := range r.Excluded {
		lines = append(lines, fmt.Sprintf("out: %s, candidate %d, score %s, %s",
			c.quote(entry.Item.Content()), entry.Candidate, score(entry.Score), describeReason(entry.Reason, c.quote)))
	}
	return strings.Join(lines, "\n")
}
