package pipeline_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupel/observe"
	"github.com/wollax/cupel-go/cupel/pipeline"
	"github.com/wollax/cupel-go/cupel/strategy"
)

// parts is a scorer that calls others, each on the whole list.
type parts struct{ scorers []strategy.Scorer }

func (p *parts) Score(ctx context.Context, all []*cupel.ContextItem, scores []float64) error {
	for _, s := range p.scorers {
		if err := strategy.CallScorer(ctx, s, all, scores); err != nil {
			return err
		}
	}
	return nil
}

// fails is a scorer with an error, or none.
type fails struct{ err error }

func (f *fails) Score(context.Context, []*cupel.ContextItem, []float64) error { return f.err }

// strategiesOf lists the measured strategies of all stages, those that others called
// with their depth.
func strategiesOf(ends []observe.StageEnd) string {
	var all []string
	for _, e := range ends {
		depths := make([]int, len(e.Strategies))
		for i, s := range e.Strategies {
			prefix := string(e.Stage) + ":"
			if s.Parent >= 0 {
				depths[i] = depths[s.Parent] + 1
				prefix = fmt.Sprint(depths[i])
			}
			all = append(all, fmt.Sprintf("%s %s %d", prefix, s.Strategy, s.Calls))
		}
	}
	return strings.Join(all, ", ")
}

func TestStrategyTimes(t *testing.T) {
	first, second := &fails{}, &fails{}
	broken := batchFunc(func(context.Context, []*cupel.ContextItem, []float64) error { panic("no") })
	twice := sliceFunc(func(ctx context.Context, items []cupel.ScoredItem, budget cupel.SliceBudget) (strategy.Selection, error) {
		if sel, err := strategy.CallSlicer(ctx, inOrder, items, budget); err != nil {
			return sel, err
		}
		return strategy.CallSlicer(ctx, strategy.SlicerFunc(inOrder), items, budget)
	})
	items, budget := numbered(t, "item ", 5, 1), budgetOf(t, 20, 10)
	run := func(p *pipeline.Pipeline, s *spy) error {
		_, err := p.Run(t.Context(), items, budget, pipeline.WithTrace(s))
		return err
	}
	tests := []struct {
		why    string
		scorer strategy.Scorer
		run    func(p *pipeline.Pipeline, s *spy) error
		want   string
		fails  bool
	}{
		{"parts of one type are two, in the order of the calls", &parts{[]strategy.Scorer{first, &parts{[]strategy.Scorer{second}}, second, byHint{}, byHint{}}}, run,
			"Score: *pipeline_test.parts 1, 1 *pipeline_test.fails 1, 1 *pipeline_test.parts 1, 2 *pipeline_test.fails 1, 1 *pipeline_test.fails 1, 1 pipeline_test.byHint 2, Slice: pipeline_test.sliceFunc 1, 1 pipeline_test.sliceFunc 1, 1 strategy.SlicerFunc 1, Place: pipeline_test.placeFunc 1", false},
		{"a stream calls the scorer for each batch, and no slicer", first, func(p *pipeline.Pipeline, s *spy) error {
			_, err := p.RunStream(t.Context(), stream(new(int), items...), budget, pipeline.WithTrace(s), pipeline.WithBatchSize(2))
			return err
		}, "Score: *pipeline_test.fails 3, Place: pipeline_test.placeFunc 1", false},
		{"a scorer that panics, with what called it", &parts{[]strategy.Scorer{broken}}, run, "Score: *pipeline_test.parts 1, 1 pipeline_test.batchFunc 1", true},
		{"a prepared run calls no scorer", first, func(p *pipeline.Pipeline, s *spy) error {
			prepared, err := p.Prepare(t.Context(), items)
			if err == nil {
				_, err = prepared.Run(t.Context(), budget, pipeline.WithTrace(s))
			}
			return err
		}, "Slice: pipeline_test.sliceFunc 1, 1 pipeline_test.sliceFunc 1, 1 strategy.SlicerFunc 1, Place: pipeline_test.placeFunc 1", false},
	}
	for _, tt := range tests {
		s := &spy{detail: observe.TraceDetail{Strategies: true}}
		if err := tt.run(newPipeline(t, withScorer(tt.scorer), withSlicer(twice)), s); (err != nil) != tt.fails {
			t.Fatal(err)
		}
		if got := strategiesOf(s.ends); got != tt.want {
			t.Errorf("%s\n got %s\nwant %s", tt.why, got, tt.want)
		}
		for _, e := range s.ends {
			for _, m := range e.Strategies {
				if m.Start.Before(e.Start) || m.End.After(e.End) || m.End.Before(m.Start) || m.Duration > m.End.Sub(m.Start) {
					t.Errorf("%s: %s of %s took %s from %s to %s, and the stage is from %s to %s", tt.why, m.Strategy, e.Stage, m.Duration, m.Start, m.End, e.Start, e.End)
				}
			}
		}
	}
}

// TestStrategyTimesEndWithTheStage calls a strategy from a goroutine that outlives
// the run.
func TestStrategyTimesEndWithTheStage(t *testing.T) {
	begun, ended, late := make(chan bool), make(chan bool), make(chan bool)
	leaking := batchFunc(func(ctx context.Context, all []*cupel.ContextItem, _ []float64) error {
		go func() {
			_ = strategy.CallScorer(ctx, batchFunc(func(context.Context, []*cupel.ContextItem, []float64) error {
				begun <- true
				<-ended
				return nil
			}), all, make([]float64, len(all)))
			_ = strategy.CallScorer(ctx, byHint{}, all, make([]float64, len(all)))
			late <- true
		}()
		<-begun
		return nil
	})
	s := &spy{detail: observe.TraceDetail{Strategies: true}}
	if _, err := newPipeline(t, func(c *pipeline.Config) { c.Scorer = leaking }).Run(t.Context(), observedItems(t), budgetOf(t, 20, 10), pipeline.WithTrace(s)); err != nil {
		t.Fatal(err)
	}
	before := fmt.Sprint(s.ends)
	ended <- true
	<-late
	equal(t, "what the observer was given, after the goroutine", fmt.Sprint(s.ends), before)
	equal(t, "time of the call that had not ended", s.ends[1].Strategies[1].Duration, 0)
}

func TestPrepareIsObserved(t *testing.T) {
	inner := &fails{}
	p := newPipeline(t, func(c *pipeline.Config) { c.Scorer = inner })
	first := &spy{detail: observe.TraceDetail{ItemEvents: true, Items: true, Report: true, Strategies: true}}
	prepared, err := p.Prepare(t.Context(), observedItems(t), pipeline.WithTrace(first))
	if err != nil {
		t.Fatal(err)
	}
	equal(t, "log", strings.Join(first.log, "\n"), `start Classify 5
item Classify NegativeTokens: -1 tokens
stage Classify 4
end Classify 5-4 <nil>
start Score 3
stage Score 3
end Score 3-3 <nil>
start Deduplicate 3
item Deduplicate Deduplicated: the same content is in as another item
stage Deduplicate 2
end Deduplicate 3-2 <nil>
end run 0 <nil>`)
	equal(t, "preparing, prepared, dry", fmt.Sprint(first.info.Preparing, first.info.Prepared, first.info.DryRun), "true false false")
	equal(t, "candidates", first.info.Candidates, 5)
	equal(t, "exclusions in the report", len(first.run.Report.Excluded), 2)
	equal(t, "strategies", strategiesOf(first.ends), "Score: *pipeline_test.fails 1")

	use := func(p *pipeline.Prepared) observe.RunInfo {
		t.Helper()
		s := &spy{}
		if _, err := p.Run(t.Context(), budgetOf(t, 20, 10), pipeline.WithTrace(s)); err != nil {
			t.Fatal(err)
		}
		return s.info
	}
	if info := use(prepared); info.Preparing || info.Preparation == nil || info.Preparation.Value(ctxKey("run")) != "run" {
		t.Errorf("a run of it gets %+v", info)
	}

	unobserved, err := p.Prepare(t.Context(), observedItems(t))
	if err != nil {
		t.Fatal(err)
	}
	if info := use(unobserved); info.Preparation != nil || !info.Prepared {
		t.Errorf("a run of what was prepared without an observer gets %+v", info)
	}

	failed := &spy{}
	_, err = newPipeline(t, func(c *pipeline.Config) { c.Scorer = &fails{errOwn} }).Prepare(t.Context(), observedItems(t), pipeline.WithTrace(failed))
	if err == nil || !errors.Is(failed.run.Err, err) || len(failed.ends) != 2 {
		t.Errorf("a scorer that fails: %v; the observer was told %v after %d stages", err, failed.run.Err, len(failed.ends))
	}
}
