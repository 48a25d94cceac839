package pipeline_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupel/observe"
	"github.com/wollax/cupel-go/cupel/pipeline"
)

func TestTexts(t *testing.T) {
	stopped := func(cause error) string {
		return (&pipeline.CanceledError{Stage: cupel.StageScore, Err: context.Canceled, Cause: cause}).Error()
	}
	equal(t, "no cause", stopped(nil), "cupel: stopped in stage Score: context canceled")
	equal(t, "the cause says no more", stopped(context.Canceled), "cupel: stopped in stage Score: context canceled")
	equal(t, "the cause says more", stopped(errOwn), "cupel: stopped in stage Score: context canceled: the strategy's own error")
	equal(t, "strategies", fmt.Sprint(pipeline.OverflowThrow, pipeline.OverflowTruncate, pipeline.OverflowProceed, pipeline.OverflowStrategy(9)), "Throw Truncate Proceed OverflowStrategy(9)")
}

// TestOverflowObserver: events list members in the forms of the window.
func TestOverflowObserver(t *testing.T) {
	var events []cupel.OverflowEvent
	p := newPipeline(t, withSlicer(everything), overflow(pipeline.OverflowProceed), func(c *pipeline.Config) {
		c.OnOverflow = func(e cupel.OverflowEvent) { events = append(events, e) }
	})
	items := unitItems(t, "a 60 .9 g=g; b 10 .8 g=g; c 40 .7; p 5 .5 pin")
	budget := budgetOf(t, 200, 100)
	report, err := p.DryRun(t.Context(), items, budget)
	if err != nil || len(events) != 0 || report.Overflow == nil {
		t.Fatalf("a dry run observed %d events and reports %v, %v", len(events), report, err)
	}
	equal(t, "tokens over budget in the report", report.Overflow.TokensOverBudget, 15)
	equal(t, "overflowing items in the report", contents(report.Overflow.OverflowingItems), "p a b c")
	prepared, err := p.Prepare(t.Context(), items)
	if err != nil {
		t.Fatal(err)
	}
	s := &spy{}
	trace := pipeline.WithTrace(observe.Multi(s, &plain{}))
	for i, run := range []func() error{
		func() error { _, err := p.Run(t.Context(), items, budget, trace); return err },
		func() error { _, _, err := p.RunReport(t.Context(), items, budget, trace); return err },
		func() error { _, _, err := prepared.RunReport(t.Context(), budget, trace); return err },
	} {
		if err := run(); err != nil {
			t.Fatal(err)
		}
		equal(t, "events", len(events), i+1)
		equal(t, "tokens over budget", events[i].TokensOverBudget, 15)
		equal(t, "overflowing items", contents(events[i].OverflowingItems), "p a b c")
		equal(t, "budget", events[i].Budget.TargetTokens(), 100)
		equal(t, "stages and overflow that observers know", [2]int{len(s.ends), s.run.Overflow}, [2]int{5 * (i + 1), 15})
	}
	events = nil
	if _, err := p.Run(t.Context(), items, budgetOf(t, 200, 115), trace); err != nil || len(events) != 0 || s.run.Overflow != 0 {
		t.Errorf("%d events, %v, %d tokens over, where everything fits", len(events), err, s.run.Overflow)
	}
}
