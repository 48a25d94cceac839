package cupel_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/wollax/cupel-go/cupel"
)

// parts is a scorer that calls others, each on the whole list, in goroutines of their
// own if it is parallel.
type parts struct {
	scorers  []cupel.Scorer
	parallel bool
}

func (*parts) Score(*cupel.ContextItem, []*cupel.ContextItem) float64 { return 0 }

func (p *parts) ScoreAll(ctx context.Context, all []*cupel.ContextItem, scores []float64) error {
	if !p.parallel {
		for _, s := range p.scorers {
			if err := cupel.ScoreAll(ctx, s, all, scores); err != nil {
				return err
			}
		}
		return nil
	}
	var wait sync.WaitGroup
	for _, s := range p.scorers {
		wait.Add(1)
		go func() {
			defer wait.Done()
			_ = cupel.ScoreAll(ctx, s, all, make([]float64, len(all)))
		}()
	}
	wait.Wait()
	return nil
}

// slow is a scorer that takes time, fails or panics.
type slow struct {
	takes time.Duration
	err   error
	panic any
}

func (*slow) Score(*cupel.ContextItem, []*cupel.ContextItem) float64 { return 0 }

func (s *slow) ScoreAll(context.Context, []*cupel.ContextItem, []float64) error {
	time.Sleep(s.takes)
	if s.panic != nil {
		panic(s.panic)
	}
	return s.err
}

// outer is a slicer that calls another several times.
type outer struct{ calls int }

func (o outer) Slice(ctx context.Context, items []cupel.ScoredItem, budget cupel.SliceBudget) (sel cupel.Selection, err error) {
	for range o.calls {
		if sel, err = cupel.Slice(ctx, inOrder, items, budget); err != nil {
			return sel, err
		}
	}
	return sel, nil
}

// strategiesOf writes the measured strategies of all stages, children indented.
func strategiesOf(ends []cupel.StageEnd) string {
	var b strings.Builder
	for _, e := range ends {
		depths := make([]int, len(e.Strategies))
		for i, s := range e.Strategies {
			if s.Parent >= 0 {
				depths[i] = depths[s.Parent] + 1
			}
			fmt.Fprintf(&b, "%s:%s %s %d\n", e.Stage, strings.Repeat("  ", depths[i]), s.Strategy, s.Calls)
		}
	}
	return b.String()
}

func TestStrategyTimes(t *testing.T) {
	first, second := &slow{takes: 2 * time.Millisecond}, &slow{takes: time.Millisecond}
	failing, panicking := &slow{takes: time.Millisecond, err: errors.New("no")}, &slow{takes: time.Millisecond, panic: "no"}
	items := numbered(t, "item ", 5, 1)
	run := func(p *cupel.Pipeline, s *spy) error {
		_, err := p.Run(t.Context(), items, budgetOf(t, 20, 10), cupel.WithTrace(s))
		return err
	}
	tests := []struct {
		name   string
		scorer cupel.Scorer
		slicer cupel.Slicer
		run    func(p *cupel.Pipeline, s *spy) error
		want   string
		fails  bool
	}{
		{"parts of the same type are two, and the order is that of the calls", &parts{scorers: []cupel.Scorer{first, &parts{scorers: []cupel.Scorer{second}}, second, byHint{}}}, inOrder, run, `
Score: *cupel_test.parts 1
Score:   *cupel_test.slow 1
Score:   *cupel_test.parts 1
Score:     *cupel_test.slow 1
Score:   *cupel_test.slow 1
Score:   cupel_test.byHint 1
Slice: cupel_test.sliceFunc 1
Place: cupel_test.placeFunc 1
`, false},
		{"functions are told apart by their code, and equal values are one", &parts{scorers: []cupel.Scorer{
			cupel.ScorerFunc(func(*cupel.ContextItem, []*cupel.ContextItem) float64 { return 1 }),
			cupel.ScorerFunc(func(*cupel.ContextItem, []*cupel.ContextItem) float64 { return 2 }), byHint{}, byHint{},
		}}, inOrder, run, `
Score: *cupel_test.parts 1
Score:   cupel.ScorerFunc 1
Score:   cupel.ScorerFunc 1
Score:   cupel_test.byHint 2
Slice: cupel_test.sliceFunc 1
Place: cupel_test.placeFunc 1
`, false},
		{"one part called several times is one", byHint{}, outer{3}, run, `
Score: cupel_test.byHint 1
Slice: cupel_test.outer 1
Slice:   cupel_test.sliceFunc 3
Place: cupel_test.placeFunc 1
`, false},
		{"a stream calls the scorer for each batch, and no slicer", &parts{scorers: []cupel.Scorer{first, second}}, inOrder, func(p *cupel.Pipeline, s *spy) error {
			_, err := p.RunStream(t.Context(), stream(new(int), items...), budgetOf(t, 20, 10), cupel.WithTrace(s), cupel.WithBatchSize(2))
			return err
		}, `
Score: *cupel_test.parts 3
Score:   *cupel_test.slow 3
Score:   *cupel_test.slow 3
Place: cupel_test.placeFunc 1
`, false},
		{"a scorer that fails, with what called it", &parts{scorers: []cupel.Scorer{failing}}, inOrder, run, `
Score: *cupel_test.parts 1
Score:   *cupel_test.slow 1
`, true},
		{"one that panics", &parts{scorers: []cupel.Scorer{panicking}}, inOrder, run, `
Score: *cupel_test.parts 1
Score:   *cupel_test.slow 1
`, true},
		{"a prepared run calls no scorer", &parts{scorers: []cupel.Scorer{first}}, inOrder, func(p *cupel.Pipeline, s *spy) error {
			prepared, err := p.Prepare(t.Context(), items)
			if err == nil {
				_, err = prepared.Run(t.Context(), budgetOf(t, 20, 10), cupel.WithTrace(s))
			}
			return err
		}, `
Slice: cupel_test.sliceFunc 1
Place: cupel_test.placeFunc 1
`, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			frozen := func(c *cupel.Config) {
				c.Scorer, c.Slicer, c.Clock = tt.scorer, tt.slicer, func() time.Time { return time.Time{} }
			}
			s := &spy{detail: cupel.TraceDetail{Strategies: true, RealTime: true}}
			if err := tt.run(pipeline(t, frozen), s); (err != nil) != tt.fails {
				t.Fatal(err)
			}
			if got := strategiesOf(s.ends); got != tt.want[1:] {
				t.Errorf("got\n%s\nwant%s", got, tt.want)
			}
			for _, e := range s.ends {
				inside := make([]time.Duration, len(e.Strategies))
				for i, m := range slices.Backward(e.Strategies) {
					if m.Start.Before(e.Start) || m.End.After(e.End) || m.End.Before(m.Start) {
						t.Errorf("%s of %s lasts from %s to %s, and the stage from %s to %s", m.Strategy, e.Stage, m.Start, m.End, e.Start, e.End)
					}
					if m.Duration < inside[i] || m.Duration > m.End.Sub(m.Start) {
						t.Errorf("%s took %s of %s, and what it called %s", m.Strategy, m.Duration, m.End.Sub(m.Start), inside[i])
					}
					if strings.HasSuffix(m.Strategy, "slow") && m.Duration < time.Duration(m.Calls)*time.Millisecond {
						t.Errorf("%d calls of %s took %s, want at least 1 ms each", m.Calls, m.Strategy, m.Duration)
					}
					if m.Parent >= 0 {
						inside[m.Parent] += m.Duration
					}
				}
			}
		})
	}
}

func TestStrategyTimesOfParallelParts(t *testing.T) {
	p := &parts{parallel: true}
	for range 100 {
		p.scorers = append(p.scorers, &slow{})
	}
	s := &spy{detail: cupel.TraceDetail{Strategies: true}}
	if _, err := pipeline(t, func(c *cupel.Config) { c.Scorer = p }).Run(t.Context(), observedItems(t), budgetOf(t, 20, 10), cupel.WithTrace(s)); err != nil {
		t.Fatal(err)
	}
	equal(t, "strategies of the stage, which are at most 64", len(s.ends[1].Strategies), 64)
	for i, m := range s.ends[1].Strategies {
		if m.Parent != min(i, 1)-1 || m.Calls != 1 {
			t.Errorf("strategy %d has parent %d and %d calls", i, m.Parent, m.Calls)
		}
	}
}

// TestStrategyTimesEndWithTheStage calls a strategy from a goroutine that outlives
// the run.
func TestStrategyTimesEndWithTheStage(t *testing.T) {
	begun, ended, late := make(chan bool), make(chan bool), make(chan bool)
	leaking := batchFunc(func(ctx context.Context, all []*cupel.ContextItem, _ []float64) error {
		go func() {
			_ = cupel.ScoreAll(ctx, batchFunc(func(context.Context, []*cupel.ContextItem, []float64) error {
				begun <- true
				<-ended
				return nil
			}), all, make([]float64, len(all)))
			_ = cupel.ScoreAll(ctx, byHint{}, all, make([]float64, len(all)))
			late <- true
		}()
		<-begun
		return nil
	})
	s := &spy{detail: cupel.TraceDetail{Strategies: true}}
	if _, err := pipeline(t, func(c *cupel.Config) { c.Scorer = leaking }).Run(t.Context(), observedItems(t), budgetOf(t, 20, 10), cupel.WithTrace(s)); err != nil {
		t.Fatal(err)
	}
	before := fmt.Sprint(s.ends)
	ended <- true
	<-late
	equal(t, "what the observer was given, after the goroutine", fmt.Sprint(s.ends), before)
	equal(t, "time of the call that had not ended", s.ends[1].Strategies[1].Duration, 0)
}

// TestObserversGetWhatTheyAskFor runs with several observers at once, behind a clock
// that stands still.
func TestObserversGetWhatTheyAskFor(t *testing.T) {
	frozen := time.Unix(1000, 0)
	p := pipeline(t, func(c *cupel.Config) { c.Clock = func() time.Time { return frozen } })
	moved := &spy{detail: cupel.TraceDetail{RealTime: true}}
	still := &spy{detail: cupel.TraceDetail{Strategies: true}}
	alone := &spy{detail: cupel.TraceDetail{RealTime: true}}
	began := time.Now()
	for _, collector := range []cupel.TraceCollector{cupel.MultiTraceCollector(still, cupel.MultiTraceCollector(moved)), alone} {
		if _, err := p.Run(t.Context(), observedItems(t), budgetOf(t, 20, 10), cupel.WithTrace(collector)); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := p.RunStream(t.Context(), stream(new(int), observedItems(t)...), budgetOf(t, 20, 10), cupel.WithTrace(cupel.MultiTraceCollector(moved, still))); err != nil {
		t.Fatal(err)
	}
	for _, e := range still.ends {
		if !e.Start.Equal(frozen) || !e.End.Equal(frozen) || e.Duration != 0 {
			t.Errorf("%s from %s to %s, %s", e.Stage, e.Start, e.End, e.Duration)
		}
	}
	equal(t, "end of the run by the pipeline's clock", still.run.End, frozen)
	for _, s := range []*spy{moved, alone} {
		for _, e := range s.ends {
			if e.Start.Before(began) || e.End.Before(e.Start) || e.End.Sub(e.Start) < e.Duration || e.Duration <= 0 || e.Strategies != nil {
				t.Errorf("%s from %s to %s, %s, strategies %v", e.Stage, e.Start, e.End, e.Duration, e.Strategies)
			}
		}
		if s.run.Start.Before(began) || !s.run.End.After(s.run.Start) {
			t.Errorf("the run lasts from %s to %s", s.run.Start, s.run.End)
		}
	}
}

func TestPrepareIsObserved(t *testing.T) {
	inner := &slow{}
	p := pipeline(t, func(c *cupel.Config) { c.Scorer = inner })
	first := &spy{detail: cupel.TraceDetail{ItemEvents: true, Items: true, Report: true, Strategies: true}}
	prepared, err := p.Prepare(t.Context(), observedItems(t), cupel.WithTrace(first))
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
	equal(t, "strategies", strategiesOf(first.ends), "Score: *cupel_test.slow 1\n")

	use := func(p *cupel.Prepared) cupel.RunInfo {
		t.Helper()
		s := &spy{}
		if _, err := p.Run(t.Context(), budgetOf(t, 20, 10), cupel.WithTrace(s)); err != nil {
			t.Fatal(err)
		}
		return s.info
	}
	if info := use(prepared); info.Preparing || info.Preparation == nil || info.Preparation.Value(ctxKey("run")) != "run" {
		t.Errorf("a run of it gets %+v", info)
	}

	second := &spy{}
	again, err := prepared.For(t.Context(), pipeline(t, func(c *cupel.Config) { c.Scorer, c.KeepDuplicates = inner, true }), cupel.WithTrace(second))
	if err != nil {
		t.Fatal(err)
	}
	equal(t, "stages of For, which does not score again", strings.Join(second.log, "\n"), "start Deduplicate 3\nstage Deduplicate 3\nend Deduplicate 3-3 <nil>\nend run 0 <nil>")
	if second.info.Preparation == nil || !second.info.Preparing {
		t.Errorf("For gets %+v", second.info)
	}
	if info := use(again); info.Preparation == nil {
		t.Error("a run of what For made does not find its preparation")
	}

	unobserved, err := p.Prepare(t.Context(), observedItems(t))
	if err != nil {
		t.Fatal(err)
	}
	if info := use(unobserved); info.Preparation != nil || !info.Prepared {
		t.Errorf("a run of what was prepared without an observer gets %+v", info)
	}

	failed := &spy{}
	_, err = pipeline(t, func(c *cupel.Config) { c.Scorer = &slow{err: errors.New("no")} }).Prepare(t.Context(), observedItems(t), cupel.WithTrace(failed))
	if err == nil || !errors.Is(failed.run.Err, err) || len(failed.ends) != 2 {
		t.Errorf("a scorer that fails: %v; the observer was told %v after %d stages", err, failed.run.Err, len(failed.ends))
	}
}
