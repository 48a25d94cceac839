package cupeltest

import (
	"context"

	"github.com/wollax/cupel-go/cupel"
)

// DryRun returns the report of [cupel.Pipeline.DryRun] and stops the test if
// the run fails.
func DryRun(t T, pipeline *cupel.Pipeline, items []*cupel.ContextItem, budget cupel.ContextBudget) *cupel.SelectionReport {
	t.Helper()
	report, err := dryRun(pipeline, items, budget)
	if err != "" {
		t.Errorf("DryRun failed: %s", err)
		t.FailNow()
	}
	return report
}

// Deterministic runs the pipeline n times, at least twice, over the same
// candidates and checks that all reports are equal: the same items, by
// identity, in the same order, with the same scores and reasons. Durations do
// not count. It reports the first difference, a failed run, or an n below 2,
// and lets the test continue. Runs are dry: the pipeline's overflow observer is
// not called.
//
// It is an addition to the vocabulary of the specification.
func Deterministic(t T, pipeline *cupel.Pipeline, items []*cupel.ContextItem, budget cupel.ContextBudget, n int) {
	t.Helper()
	if n < 2 {
		t.Errorf("Deterministic failed: it takes at least 2 runs to compare, got n = %d.", n)
		return
	}
	first, err := dryRun(pipeline, items, budget)
	if err != "" {
		t.Errorf("Deterministic failed: run 1 of %d: %s", n, err)
		return
	}
	want := describe(first)
	for i := 2; i <= n; i++ {
		report, err := dryRun(pipeline, items, budget)
		if err != "" {
			t.Errorf("Deterministic failed: run 1 of %d succeeded, run %d failed: %s", n, i, err)
			return
		}
		if got := describe(report); got != want {
			t.Errorf("Deterministic failed: run %d of %d differs from the first (- run 1, + run %d):\n%s", i, n, i, diff(want, got))
			return
		}
		if where := otherItem(first, report); where != "" {
			t.Errorf("Deterministic failed: run %d of %d has a different item with the same content as run 1, %s.", i, n, where)
			return
		}
	}
}

// dryRun returns the error of the run as text, or "".
func dryRun(pipeline *cupel.Pipeline, items []*cupel.ContextItem, budget cupel.ContextBudget) (report *cupel.SelectionReport, failure string) {
	if pipeline == nil {
		return new(cupel.SelectionReport), "the pipeline is nil"
	}
	report, err := pipeline.DryRun(context.Background(), items, budget)
	if err != nil {
		return report, err.Error()
	}
	return report, ""
}

// otherItem finds the position at which two reports with equal text have
// different candidates. An item may occur several times.
func otherItem(a, b *cupel.SelectionReport) string {
	for i := range a.Included {
		if a.Included[i].Candidate() != b.Included[i].Candidate() {
			return "included: " + quote(a.Included[i].Item.Content())
		}
	}
	for i := range a.Excluded {
		if a.Excluded[i].Candidate() != b.Excluded[i].Candidate() {
			return "excluded: " + quote(a.Excluded[i].Item.Content())
		}
	}
	return ""
}
