package cupel_test

import (
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"github.com/wollax/cupel-go/cupel"
)

// TestRunReport: the window is that of Run, the report that of DryRun, and both
// are of one run.
func TestRunReport(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	failed := 0
	for range 300 {
		p := randomPipeline(t, r)
		items := randomItems(t, r, r.IntN(30))
		budget := budgetOf(t, 300, r.IntN(300))
		wantWindow, wantErr := p.Run(t.Context(), items, budget)
		wantReport, _ := p.DryRun(t.Context(), items, budget)
		check := func(what string, window []*cupel.ContextItem, report *cupel.SelectionReport, err error) {
			t.Helper()
			if !reflect.DeepEqual(err, wantErr) {
				t.Fatalf("%s: got error %v, want %v", what, err, wantErr)
			}
			if !slices.Equal(window, wantWindow) || !reflect.DeepEqual(report, wantReport) {
				t.Fatalf("%s: got %v and %+v, want %v and %+v", what, window, report, wantWindow, wantReport)
			}
			if !slices.Equal(report.Window(), wantWindow) {
				t.Fatalf("%s: the report's window is %v, want %v", what, report.Window(), wantWindow)
			}
		}
		window, report, err := p.RunReport(t.Context(), items, budget)
		check("pipeline", window, report, err)
		prepared, err := p.Prepare(t.Context(), items)
		if err != nil {
			t.Fatal(err)
		}
		window, report, err = prepared.RunReport(t.Context(), budget)
		check("prepared", window, report, err)
		if wantErr != nil {
			failed++
		}
	}
	if failed == 0 || failed > 250 {
		t.Errorf("%d of 300 runs failed, want some", failed)
	}
}

// TestRunReportIsARealRun: it is not a dry run, and tells a collector as Run
// does.
func TestRunReportIsARealRun(t *testing.T) {
	overflows := 0
	p := pipeline(t, func(c *cupel.Config) {
		c.Slicer, c.Overflow = everything, cupel.OverflowProceed
		c.OnOverflow = func(cupel.OverflowEvent) { overflows++ }
	})
	items := []*cupel.ContextItem{item(t, "a", 9)}
	prepared, err := p.Prepare(t.Context(), items)
	if err != nil {
		t.Fatal(err)
	}
	stages := 0
	trace := cupel.WithTrace(cupel.TraceFuncs{StageEvent: func(cupel.TraceEvent) { stages++ }})
	if _, _, err := p.RunReport(t.Context(), items, budgetOf(t, 9, 5), trace); err != nil {
		t.Fatal(err)
	}
	if _, _, err := prepared.RunReport(t.Context(), budgetOf(t, 9, 5), trace); err != nil {
		t.Fatal(err)
	}
	equal(t, "overflows", overflows, 2)
	equal(t, "stages", stages, 10)
}

func TestWindowOfNoReport(t *testing.T) {
	var none *cupel.SelectionReport
	if none.Window() != nil || new(cupel.SelectionReport).Window() != nil {
		t.Error("a report of nothing has a window")
	}
	var empty *cupel.Pipeline
	if window, report, err := empty.RunReport(t.Context(), nil, cupel.ContextBudget{}); window != nil || report == nil || err == nil {
		t.Errorf("got %v, %v, %v, want an empty report and an error", window, report, err)
	}
}
