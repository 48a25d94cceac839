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

// logbook records the calls to the observer of a run.
type logbook struct {
	observe.NoTrace
	detail observe.TraceDetail
	start  time.Time
	lines  []string
	ends   map[cupel.PipelineStage]observe.StageEnd
	info   observe.RunInfo
	end    observe.RunEnd
	onItem func() // what an item event does after it is recorded
}

type stageKey struct{}

func (l *logbook) IsEnabled() bool { return true }

func (l *logbook) say(format string, args ...any) {
	l.lines = append(l.lines, fmt.Sprintf(format, args...))
}

func (l *logbook) RecordStageEvent(e cupel.TraceEvent) {
	l.say("event %s: %d items, %g ms", e.Stage, e.ItemCount, e.DurationMS)
}

func (l *logbook) RecordItemEvent(e cupel.TraceEvent) {
	l.say("item %s: %s", e.Stage, e.Message)
	if l.onItem != nil {
		l.onItem()
	}
}

func (l *logbook) StartRun(ctx context.Context, info observe.RunInfo) (context.Context, observe.RunTrace) {
	l.info, l.ends = info, make(map[cupel.PipelineStage]observe.StageEnd)
	return ctx, l
}

func (l *logbook) Detail() observe.TraceDetail { return l.detail }

func (l *logbook) StartStage(ctx context.Context, s observe.StageStart) context.Context {
	l.say("start %s at %s", s.Stage, s.Start.Sub(l.start))
	return context.WithValue(ctx, stageKey{}, s.Stage)
}

func (l *logbook) EndStage(ctx context.Context, e observe.StageEnd) {
	l.say("end %s at %s, %s in it, %d in, %d out, error %v", e.Stage, e.End.Sub(l.start), e.Duration, e.CountIn, e.CountOut, e.Err)
	if ctx.Value(stageKey{}) != e.Stage {
		l.say("the context is not that of %s", e.Stage)
	}
	l.ends[e.Stage] = e
}

func (l *logbook) EndRun(_ context.Context, e observe.RunEnd) {
	l.say("end of run at %s, %d selected, %d tokens, error %v", e.End.Sub(l.start), e.Selected, e.SelectedTokens, e.Err)
	l.end = e
}

// contexts makes every strategy insist on the context of its stage.
func contexts(t *testing.T, c *pipeline.Config) {
	t.Helper()
	insist := func(ctx context.Context, stage cupel.PipelineStage) {
		if got := ctx.Value(stageKey{}); got != stage {
			t.Errorf("the strategy of %s has the context of %v", stage, got)
		}
	}
	scores, placed := c.Scorer, c.Placer
	c.Scorer = batchFunc(func(ctx context.Context, all []*cupel.ContextItem, to []float64) error {
		insist(ctx, cupel.StageScore)
		return strategy.CallScorer(ctx, scores, all, to)
	})
	c.Placer = placeFunc(func(ctx context.Context, items []cupel.ScoredItem) ([]int, error) {
		insist(ctx, cupel.StagePlace)
		return strategy.CallPlacer(ctx, placed, items)
	})
}

// Two batches of two: the clock ticks a second at each reading, which is at the
// start of the run and at the edges of each stage of each batch.
func TestRunStreamObserved(t *testing.T) {
	start := time.Date(2025, 1, 1, 0, 0, 0, 0, time.UTC)
	log := &logbook{start: start, detail: observe.TraceDetail{Items: true, ItemEvents: true, Report: true}}
	p := newPipeline(t, func(c *pipeline.Config) {
		c.Clock = ticking(start, time.Second)
		contexts(t, c)
	})
	pulled := 0
	_, err := p.RunStream(t.Context(), stream(&pulled,
		item(t, "a", 4, hint(0.5)), item(t, "n", -2), item(t, "b", 7, hint(0.25)),
		item(t, "a", 1, hint(1)), item(t, "c", 5, hint(0.75)),
	), budgetOf(t, 10, 10), pipeline.WithTrace(log), pipeline.WithBatchSize(2))
	if err != nil {
		t.Fatal(err)
	}
	want := []string{
		"start Classify at 1s", // pulls a, n and b
		"item Classify: NegativeTokens: -2 tokens",
		"start Score at 3s",
		"start Deduplicate at 5s",
		"start Slice at 7s",
		"item Slice: BudgetExceeded: 7 tokens requested, 6 available", // b; ends at 8s
		// Second batch: Classify from 9s to 10s, Score to 12s, Deduplicate to 14s.
		"item Deduplicate: Deduplicated: the same content is in as another item",
		// Slice from 15s to 16s, and Classify finds the end of the source from 17s to 18s.
		"event Classify: 4 items, 3000 ms", "end Classify at 18s, 3s in it, 5 in, 4 out, error <nil>",
		"event Score: 4 items, 2000 ms", "end Score at 12s, 2s in it, 4 in, 4 out, error <nil>",
		"event Deduplicate: 3 items, 2000 ms", "end Deduplicate at 14s, 2s in it, 4 in, 3 out, error <nil>",
		"event Slice: 2 items, 2000 ms", "end Slice at 16s, 2s in it, 3 in, 2 out, error <nil>",
		"start Place at 19s",
		"item Place: Scored: score 0.75, 5 tokens", "item Place: Scored: score 0.5, 4 tokens",
		"event Place: 2 items, 1000 ms", "end Place at 20s, 1s in it, 2 in, 2 out, error <nil>",
		"end of run at 21s, 2 selected, 9 tokens, error <nil>",
	}
	equal(t, "log", strings.Join(log.lines, "\n"), strings.Join(want, "\n"))
	if !log.info.Streaming || log.info.DryRun || log.info.Candidates != 0 {
		t.Errorf("run info %+v", log.info)
	}

	for stage, want := range map[cupel.PipelineStage]string{cupel.StageClassify: "n", cupel.StageScore: "", cupel.StageDeduplicate: "a", cupel.StageSlice: "b", cupel.StagePlace: ""} {
		var got []*cupel.ContextItem
		for _, e := range log.ends[stage].Excluded {
			got = append(got, e.Item)
		}
		equal(t, "left out by "+string(stage), contents(got), want)
	}
	if in := log.ends[cupel.StagePlace].Included; len(in) != 2 || in[0].Item.Content() != "c" {
		t.Errorf("included %v", in)
	}
	report := log.end.Report
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
		{"scorer, first batch", func(c *pipeline.Config) {
			c.Scorer = batchFunc(func(context.Context, []*cupel.ContextItem, []float64) error { return unread })
		}, nil, 0, cupel.StageScore, 2, "later stages get nothing (R35)"},
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
			c.Placer = placeFunc(func(context.Context, []cupel.ScoredItem) ([]int, error) { return nil, unread })
		}, nil, 4, cupel.StagePlace, 5, "the stages before it are complete"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			log := &logbook{detail: observe.TraceDetail{Report: true}}
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
			_, err := newPipeline(t, change).RunStream(t.Context(), source, budgetOf(t, 10, 10), pipeline.WithTrace(log), pipeline.WithBatchSize(2))
			if (err != nil) != (tt.failed != "") || log.end.Err != err || log.end.Report == nil {
				t.Fatalf("error %v, end of run %+v", err, log.end)
			}
			count := func(prefix string) int {
				n := 0
				for _, line := range log.lines {
					if strings.HasPrefix(line, prefix) {
						n++
					}
				}
				return n
			}
			equal(t, "events", count("event "), tt.events)
			equal(t, "starts", count("start "), tt.ends)
			equal(t, "ends", count("end "), tt.ends+1)
			for stage, e := range log.ends {
				if (e.Err != nil) != (stage == tt.failed) || e.Err != nil && (e.Err != err || e.CountOut != 0) {
					t.Errorf("%s ended with %+v", stage, e)
				}
			}
			if t.Failed() {
				t.Logf("why: %s\n%s", tt.why, strings.Join(log.lines, "\n"))
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
