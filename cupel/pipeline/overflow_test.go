package pipeline_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/wollax/cupel-go/cupel"
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
	for i, run := range []func() error{
		func() error { _, err := p.Run(t.Context(), items, budget); return err },
		func() error { _, _, err := p.RunReport(t.Context(), items, budget); return err },
	} {
		if err := run(); err != nil {
			t.Fatal(err)
		}
		equal(t, "events", len(events), i+1)
		equal(t, "tokens over budget", events[i].TokensOverBudget, 15)
		equal(t, "overflowing items", contents(events[i].OverflowingItems), "p a b c")
		equal(t, "budget", events[i].Budget.TargetTokens(), 100)
	}
	events = nil
	if _, err := p.Run(t.Context(), items, budgetOf(t, 200, 115)); err != nil || len(events) != 0 {
		t.Errorf("%d events, %v, where everything fits", len(events), err)
	}
}

// TestEveryPassOfAUsedPipelineIsNew runs long and short lists with groups in
// turn: nothing of one run may show in the next.
func TestEveryPassOfAUsedPipelineIsNew(t *testing.T) {
	p := pipelineOf(t, "greedy")
	var long strings.Builder
	for i := range 60 {
		fmt.Fprintf(&long, "i%d 3 .%d g=g%d;", i, 10+i, i/2)
	}
	texts := []string{long.String(), "a 10 .9 g=g; b 10 .8 g=g; c 30 .7", "x 10 .3 g=h v=5:.5; y 10 .8 g=h; z 10 .9 k=v; w 20 .8 k=v", "a 10 .5 pin g=g; b 10 .8 g=g; a 10 .9"}
	want := make([]string, len(texts))
	for round := range 4 {
		for i, text := range texts {
			window, report, err := p.RunReport(t.Context(), unitItems(t, text), budgetOf(t, 40, 40))
			if err != nil {
				t.Fatal(err)
			}
			got := contents(window) + " | " + included(report) + " | " + excluded(report)
			if round == 0 {
				want[i] = got
			}
			equal(t, fmt.Sprintf("round %d of list %d", round, i), got, want[i])
		}
	}
}
