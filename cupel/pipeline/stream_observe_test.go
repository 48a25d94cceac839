package pipeline_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupel/observe"
	"github.com/wollax/cupel-go/cupel/pipeline"
	"github.com/wollax/cupel-go/cupel/strategy"
)

// contexts makes every strategy insist on the context of its stage.
func contexts(t *testing.T, c *pipeline.Config) {
	t.Helper()
	insist := func(ctx context.Context, stage cupel.PipelineStage) {
		if got := ctx.Value(ctxKey("stage")); got != stage {
			t.Errorf("the strategy of %s has the context of %v", stage, got)
		}
	}
	scores, placed := c.Scorer, c.Placer
	c.Scorer = batchFunc(func(ctx context.Context, all []*cupel.ContextItem, to []float64) error {
		insist(ctx, cupel.StageScore)
		return strategy.CallScorer(ctx, scores, all, to)
	})
	c.Placer = placeFunc(func(ctx context.Context, items []cupel.ScoredItem, order []int) error {
		insist(ctx, cupel.StagePlace)
		return strategy.CallPlacer(ctx, placed, items, order)
	})
}

// Two batches of two: the clock ticks a second at each reading, which is at the
// start of the run and at the edges of each stage of each batch.
func TestRunStreamObserved(t *testing.T) {
	start := time.Date(2025, 1, 1, 0, 0, 0, 0, time.UTC)
	s := &spy{detail: observe.TraceDetail{Items: true, ItemEvents: true, Report: true}}
	p := newPipeline(t, func(c *pipeline.Config) {
		c.Clock = ticking(start, time.Second)
		contexts(t, c)
	})
	pulled := 0
	_, err := p.RunStream(t.Context(), stream(&pulled,
		item(t, "a", 4, hint(0.5)), item(t, "n", -2), item(t, "b", 7, hint(0.25)),
		item(t, "a", 1, hint(1)), item(t, "c", 5, hint(0.75)),
	), budgetOf(t, 10, 10), pipeline.WithTrace(s), pipeline.WithBatchSize(2))
	if err != nil {
		t.Fatal(err)
	}
	equal(t, "log", strings.Join(s.log, "\n"), `start Classify 0
item Classify NegativeTokens: -2 tokens
start Score 0
start Deduplicate 0
start Slice 0
item Slice BudgetExceeded: 7 tokens requested, 6 available
item Deduplicate Deduplicated: the same content is in as another item
stage Classify 4
end Classify 5-4 <nil>
stage Score 4
end Score 4-4 <nil>
stage Deduplicate 3
end Deduplicate 4-3 <nil>
stage Slice 2
end Slice 3-2 <nil>
start Place 2
item Place Scored: score 0.75, 5 tokens
item Place Scored: score 0.5, 4 tokens
stage Place 2
end Place 2-2 <nil>
end run 2 <nil>`)
	if !s.info.Streaming || s.info.DryRun || s.info.Candidates != 0 {
		t.Errorf("run info %+v", s.info)
	}
	var got []string
	for _, e := range s.ends {
		text := fmt.Sprint(e.Stage, " ", e.Start.Sub(start), " to ", e.End.Sub(start), ", ", e.Duration, " in it, out:")
		for _, out := range e.Excluded {
			text += " " + out.Item.Content()
		}
		got = append(got, text)
	}
	// The first batch is pulled from 1s to 2s, scored from 3s, and sliced until 8s. The
	// second is pulled from 9s to 10s, and sliced until 16s. Classify finds the end of the
	// source from 17s to 18s.
	equal(t, "times", strings.Join(got, "\n"), `Classify 1s to 18s, 3s in it, out: n
Score 3s to 12s, 2s in it, out:
Deduplicate 5s to 14s, 2s in it, out: a
Slice 7s to 16s, 2s in it, out: b
Place 19s to 20s, 1s in it, out:`)
	equal(t, "end of the run", s.run.End.Sub(start), 21*time.Second)
	if in := s.ends[4].Included; len(in) != 2 || in[0].Item.Content() != "c" {
		t.Errorf("included %v", in)
	}
	report := s.run.Report
	equal(t, "report, in", included(report), "c a")
	equal(t, "report, out", excluded(report), "a: Deduplicated: the same content is in as another item; "+
		"b: BudgetExceeded: 7 tokens requested, 6 available; n: NegativeTokens: -2 tokens")
	equal(t, "report, candidates", report.TotalCandidates, 5)
	equal(t, "report, tokens", report.TotalTokensConsidered, 15)
}

// In every case, each stage has at most one event, each stage that has
// started ends once, and only the one that failed has the error.
func TestRunStreamObservedFailures(t *testing.T) {
	unread := errors.New("unread")
	batches := 0
	six := numbered(t, "a", 6, 1, hint(0.5))
	tests := []struct {
		name   string
		change func(*pipeline.Config)
		fail   error // of the source, after six items
		events int
		failed cupel.PipelineStage
		ends   int
		why    string
	}{
		{"nothing fails", nil, nil, 5, "", 5, "one event a stage"},
		{"source", nil, unread, 0, cupel.StageClassify, 4, "no stage has come to its end; those that have started end without the error"},
		{"scorer, second batch", func(c *pipeline.Config) {
			batches = 0
			c.Scorer = batchFunc(func(context.Context, []*cupel.ContextItem, []float64) error {
				if batches++; batches == 2 {
					return unread
				}
				return nil
			})
		}, nil, 0, cupel.StageScore, 4, "later stages have started with the first batch"},
		{"placer", func(c *pipeline.Config) {
			c.Placer = placeFunc(func(context.Context, []cupel.ScoredItem, []int) error { return unread })
		}, nil, 4, cupel.StagePlace, 5, "the stages before it are complete"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := &spy{detail: observe.TraceDetail{Report: true}}
			change := tt.change
			if change == nil {
				change = func(*pipeline.Config) {}
			}
			source := func(yield func(*cupel.ContextItem, error) bool) {
				for _, it := range six {
					if !yield(it, nil) {
						return
					}
				}
				if tt.fail != nil {
					yield(nil, tt.fail)
				}
			}
			_, err := newPipeline(t, change).RunStream(t.Context(), source, budgetOf(t, 10, 10), pipeline.WithTrace(s), pipeline.WithBatchSize(2))
			if (err != nil) != (tt.failed != "") || s.run.Err != err || s.run.Report == nil {
				t.Fatalf("error %v, end of run %+v", err, s.run)
			}
			count := func(prefix string) int {
				n := 0
				for _, line := range s.log {
					if strings.HasPrefix(line, prefix) {
						n++
					}
				}
				return n
			}
			equal(t, "events", count("stage "), tt.events)
			equal(t, "starts", count("start "), tt.ends)
			equal(t, "ends", count("end "), tt.ends+1)
			for _, e := range s.ends {
				if (e.Err != nil) != (e.Stage == tt.failed) || e.Err != nil && (e.Err != err || e.CountOut != 0) {
					t.Errorf("%s ended with %+v", e.Stage, e)
				}
			}
			if t.Failed() {
				t.Logf("why: %s\n%s", tt.why, strings.Join(s.log, "\n"))
			}
		})
	}
}

// TestRunStreamOfNothing: each stage runs, and a panic of an observer is not the
// source's.
func TestRunStreamOfNothing(t *testing.T) {
	s := &spy{}
	if _, err := newPipeline(t).RunStream(t.Context(), stream(new(int)), budgetOf(t, 9, 9), pipeline.WithTrace(s)); err != nil {
		t.Fatal(err)
	}
	equal(t, "stages", len(s.ends), 5)
	how := leave(func() {
		_, _ = newPipeline(t).RunStream(t.Context(), stream(new(int), item(t, "n", -1)), budgetOf(t, 9, 9), pipeline.WithTrace(bomb{"item event"}))
	})
	equal(t, "unwound by", how, any("bomb at item event"))
}
