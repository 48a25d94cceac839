package pipeline_test

import (
	"testing"

	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupel/observe"
	"github.com/wollax/cupel-go/cupel/pipeline"
)

// TestRunReportIsARealRun: it is not a dry run, and tells a collector as Run
// does.
func TestRunReportIsARealRun(t *testing.T) {
	overflows := 0
	p := newPipeline(t, func(c *pipeline.Config) {
		c.Slicer, c.Overflow = everything, pipeline.OverflowProceed
		c.OnOverflow = func(cupel.OverflowEvent) { overflows++ }
	})
	items := []*cupel.ContextItem{item(t, "a", 9)}
	prepared, err := p.Prepare(t.Context(), items)
	if err != nil {
		t.Fatal(err)
	}
	stages := 0
	trace := pipeline.WithTrace(observe.Funcs{StageEvent: func(cupel.TraceEvent) { stages++ }})
	if _, _, err := p.RunReport(t.Context(), items, budgetOf(t, 9, 5), trace); err != nil {
		t.Fatal(err)
	}
	if _, _, err := prepared.RunReport(t.Context(), budgetOf(t, 9, 5), trace); err != nil {
		t.Fatal(err)
	}
	equal(t, "overflows", overflows, 2)
	equal(t, "stages", stages, 10)
}
