package pipeline_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupel/observe"
	"github.com/wollax/cupel-go/cupel/pipeline"
	"github.com/wollax/cupel-go/cupel/strategy"
)

type ctxKey string

// spy is a collector with the extension. It records the calls.
type spy struct {
	detail   observe.TraceDetail
	declines bool
	off      bool
	log      []string
	ends     []observe.StageEnd
	run      observe.RunEnd
	info     observe.RunInfo
}

func (s *spy) IsEnabled() bool { return !s.off }

func (s *spy) RecordStageEvent(e cupel.TraceEvent) {
	s.log = append(s.log, fmt.Sprintf("stage %s %d", e.Stage, e.ItemCount))
}

func (s *spy) RecordItemEvent(e cupel.TraceEvent) {
	s.log = append(s.log, fmt.Sprintf("item %s %s", e.Stage, e.Message))
}

func (s *spy) StartRun(ctx context.Context, info observe.RunInfo) (context.Context, observe.RunTrace) {
	s.info = info
	if s.declines {
		return context.WithValue(ctx, ctxKey("declined"), true), nil
	}
	return context.WithValue(ctx, ctxKey("run"), "run"), &spyRun{spy: s}
}

type spyRun struct {
	observe.NoTrace
	spy *spy
}

func (r *spyRun) Detail() observe.TraceDetail { return r.spy.detail }

func (r *spyRun) StartStage(ctx context.Context, s observe.StageStart) context.Context {
	r.spy.log = append(r.spy.log, fmt.Sprintf("start %s %d", s.Stage, s.CountIn))
	return context.WithValue(ctx, ctxKey("stage"), s.Stage)
}

func (r *spyRun) EndStage(ctx context.Context, e observe.StageEnd) {
	r.spy.log = append(r.spy.log, fmt.Sprintf("end %s %d-%d %v", ctx.Value(ctxKey("stage")), e.CountIn, e.CountOut, e.Err))
	r.spy.ends = append(r.spy.ends, e)
}

func (r *spyRun) EndRun(ctx context.Context, e observe.RunEnd) {
	r.spy.log = append(r.spy.log, fmt.Sprintf("end %v %d %v", ctx.Value(ctxKey("run")), e.Selected, e.Err))
	r.spy.run = e
}

func observedItems(t *testing.T) []*cupel.ContextItem {
	t.Helper()
	return []*cupel.ContextItem{
		item(t, "p", 1, cupel.WithPinned()), item(t, "a", 5, hint(0.9)), item(t, "a", 5, hint(0.1)), item(t, "big", 50, hint(0.5)), item(t, "n", -1),
	}
}

func TestObserverGetsEverything(t *testing.T) {
	s := &spy{detail: observe.TraceDetail{ItemEvents: true}}
	_, err := newPipeline(t).Run(t.Context(), observedItems(t), budgetOf(t, 20, 10), pipeline.WithTrace(s))
	if err != nil {
		t.Fatal(err)
	}
	want := `start Classify 5
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
start Slice 2
item Slice BudgetExceeded: 50 tokens requested, 4 available
stage Slice 1
end Slice 2-1 <nil>
start Place 2
item Place Pinned: score 1, 1 tokens
item Place Scored: score 0.9, 5 tokens
stage Place 2
end Place 2-2 <nil>
end run 2 <nil>`
	if got := strings.Join(s.log, "\n"); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	equal(t, "candidates", s.info.Candidates, 5)
	equal(t, "budget", s.info.Budget.TargetTokens(), 10)
	equal(t, "dry run", s.info.DryRun, false)
	equal(t, "selected tokens", s.run.SelectedTokens, 6)
	if s.run.Report != nil || s.ends[3].Excluded != nil || s.ends[4].Included != nil {
		t.Error("the observer was handed items or a report that it did not ask for")
	}
}

// TestDecisions: they say the same of each candidate as the report, but for groups, of
// which each member has its own score.
func TestDecisions(t *testing.T) {
	short := cupel.WithVariants(cupel.Variant{Content: "s", Tokens: 2, Worth: 0.5})
	items := append(observedItems(t),
		item(t, "old", 2, hint(0.8), cupel.WithVersionOf("v")), item(t, "new", 3, hint(0.7), cupel.WithVersionOf("v")),
		item(t, "long", 40, hint(0.1), cupel.WithGroup("p"), short), item(t, "call", 2, hint(0.3), cupel.WithGroup("g")), item(t, "result", 2, hint(0.85), cupel.WithGroup("g")),
		item(t, "pinned call", 1, cupel.WithPinned(), cupel.WithGroup("p")))
	s := &spy{detail: observe.TraceDetail{Decisions: true, Report: true}}
	p := newPipeline(t)
	_, err := p.Run(t.Context(), items, budgetOf(t, 40, 16), pipeline.WithTrace(s))
	if err != nil {
		t.Fatal(err)
	}
	want := make([]observe.Decision, len(items))
	for i, in := range s.run.Report.Included {
		want[in.Candidate] = observe.Decision{Score: in.Score, Place: int32(i + 1), Form: int32(in.Form)}
	}
	for _, out := range s.run.Report.Excluded {
		want[out.Candidate].Score = out.Score
	}
	want[8].Score = 0.3 // in a group
	equalSlices(t, "decisions", s.run.Decisions, want)
	equal(t, "form of the pinned one", want[7].Form, 1)
	if want[8].Place == 0 || want[9].Place == 0 {
		t.Error("the group is not in the window")
	}
	prepared, err := p.Prepare(t.Context(), items, pipeline.WithTrace(s))
	if err != nil || s.run.Decisions != nil {
		t.Errorf("a preparation decides nothing: %v, %v", s.run.Decisions, err)
	}
	if _, err := prepared.Run(t.Context(), budgetOf(t, 40, 16), pipeline.WithTrace(s)); err != nil {
		t.Fatal(err)
	}
	equalSlices(t, "decisions of a prepared run", s.run.Decisions, want)
	s.detail.Decisions = false
	if _, err := p.Run(t.Context(), items, budgetOf(t, 40, 16), pipeline.WithTrace(s)); err != nil || s.run.Decisions != nil {
		t.Errorf("what was not asked for: %v, %v", s.run.Decisions, err)
	}
	s.detail.Decisions = true
	if _, err := p.RunStream(t.Context(), stream(new(int), observedItems(t)...), budgetOf(t, 20, 10), pipeline.WithTrace(s)); err != nil || s.run.Decisions != nil {
		t.Errorf("a stream does not keep its candidates: %v, %v", s.run.Decisions, err)
	}
}

func TestObserverMayDecline(t *testing.T) {
	s := &spy{declines: true}
	var declined any
	p := newPipeline(t, withScorer(batchFunc(func(ctx context.Context, _ []*cupel.ContextItem, _ []float64) error {
		declined = ctx.Value(ctxKey("declined"))
		return nil
	})))
	if _, err := p.Run(t.Context(), observedItems(t), budgetOf(t, 20, 10), pipeline.WithTrace(s)); err != nil {
		t.Fatal(err)
	}
	equal(t, "calls", len(s.log), 0)
	equal(t, "value in the context of a run that is not observed", declined, any(true))
}

func TestTimesAreRealAndReadOnce(t *testing.T) {
	start := time.Date(2026, 1, 2, 3, 4, 5, 6, time.UTC)
	s := &spy{}
	p := newPipeline(t, func(c *pipeline.Config) { c.Clock = ticking(start, time.Nanosecond) })
	if _, err := p.Run(t.Context(), nil, budgetOf(t, 9, 9), pipeline.WithTrace(s)); err != nil {
		t.Fatal(err)
	}
	at := func(n int) time.Time { return start.Add(time.Duration(n)) }
	equal(t, "start of the run", s.info.Start, at(0))
	for i, e := range s.ends {
		equal(t, "start of "+string(e.Stage), e.Start, at(1+2*i))
		equal(t, "end of "+string(e.Stage), e.End, at(2+2*i))
	}
	equal(t, "start and end of the run", [2]time.Time{s.run.Start, s.run.End}, [2]time.Time{at(0), at(11)})
}

// plain is a collector without the extension.
type plain struct{ stages, items int }

func (p *plain) IsEnabled() bool                   { return true }
func (p *plain) RecordStageEvent(cupel.TraceEvent) { p.stages++ }
func (p *plain) RecordItemEvent(cupel.TraceEvent)  { p.items++ }

func TestCustomReasonsAndShortfalls(t *testing.T) {
	filtered := cupel.NewExclusionReason(cupel.ExcludeFiltered, cupel.ReasonData{FilterName: "max_age"})
	p := newPipeline(t, withSlicer(sliceFunc(func(context.Context, []cupel.ScoredItem, cupel.SliceBudget) (strategy.Selection, error) {
		return strategy.Selection{
			Indices:    []int{1},
			Drops:      []strategy.Drop{{Index: 5, Reason: filtered}, {Index: 0, Reason: filtered}, {Index: 3, Reason: cupel.ExclusionReason{Code: "Own"}}, {Index: 4, Reason: filtered}},
			Shortfalls: []cupel.CountRequirementShortfall{{Kind: "Memory", RequiredCount: 3, SatisfiedCount: 1}},
		}, nil
	})))
	s := &spy{detail: observe.TraceDetail{ItemEvents: true, Reasons: true}}
	_, report, err := p.RunReport(t.Context(), unitItems(t, "a 2 .9; b 3 .8; c 4 .7; d 5 .6; e 6 .5; f 7 .5"), budgetOf(t, 9, 9), pipeline.WithTrace(s))
	if err != nil {
		t.Fatal(err)
	}
	equal(t, "excluded", reasons(report.Excluded), "a@0.9 Filtered; c@0.7 4/6; d@0.6 Own; e@0.5 Filtered; f@0.5 Filtered")
	equal(t, "reasons of Slice", fmt.Sprint(s.ends[3].Reasons), "[{Filtered 3} {Own 1} {BudgetExceeded 1}]")
	const shortfall = "CountRequirementShortfall: Memory has 1 of 3 required items"
	equal(t, "shortfalls", report.CountRequirementShortfalls[0].String(), shortfall)
	equal(t, "shortfalls of the run", fmt.Sprint(s.run.Shortfalls), "["+shortfall+"]")
	if log := strings.Join(s.log, "\n"); !strings.Contains(log, "item Slice Filtered: max_age\nitem Slice Filtered: max_age\nitem Slice Own\nitem Slice Filtered: max_age\nitem Slice BudgetExceeded: 4 tokens requested, 6 available\nitem Slice "+shortfall) {
		t.Errorf("the log is %s", log)
	}
}

// TestItemEvents: an observer gets an event for each item, once, in the stage that
// decided.
func TestItemEvents(t *testing.T) {
	for _, tt := range []struct {
		why, items, how string
		target          int
		want            string
	}{
		{"one that came back was out before, and is in", "a 10 .9 k=f; c 5 .8 k=f; o 30 .6; b 60 .5 k=f", "greedy", 50,
			"Deduplicate Superseded: a newer version is among the candidates; Deduplicate Superseded: a newer version is among the candidates; " +
				"Slice BudgetExceeded: 60 tokens requested, 10 available; Place Scored: score 0.9, 10 tokens; Place Scored: score 0.6, 30 tokens"},
		{"Place drops what overflows, and then says what is in", "a 60 .9; b 30 .8 g=g; c 20 .2 g=g", "everything truncate", 70,
			"Place BudgetExceeded: 30 tokens requested, 10 available (group_tokens=50); Place BudgetExceeded: 20 tokens requested, 10 available (group_tokens=50); Place Scored: score 0.9, 60 tokens"},
	} {
		collector := observe.NewDiagnosticTraceCollector(observe.WithDetailLevel(observe.TraceDetailItem))
		if _, err := pipelineOf(t, tt.how).Run(t.Context(), unitItems(t, tt.items), budgetOf(t, 100, tt.target), pipeline.WithTrace(collector)); err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, e := range collector.Events() {
			if e.Message != "" {
				got = append(got, string(e.Stage)+" "+e.Message)
			}
		}
		if got := strings.Join(got, "; "); got != tt.want {
			t.Errorf("%s\n got %s\nwant %s", tt.why, got, tt.want)
		}
	}
}

func TestUnobservedRunsBuildNothing(t *testing.T) {
	if raceEnabled {
		t.Skip("pools drop objects at random under the race detector; the ordinary test run counts")
	}
	p := newPipeline(t)
	items := observedItems(t)
	budget := budgetOf(t, 20, 10)
	ctx := t.Context()
	allocs := func(opts ...pipeline.RunOption) float64 {
		return testing.AllocsPerRun(200, func() {
			if _, err := p.Run(ctx, items, budget, opts...); err != nil {
				t.Fatal(err)
			}
		})
	}
	bare := allocs()
	equal(t, "allocations with a null collector", allocs(pipeline.WithTrace(observe.NullTraceCollector{})), bare)
	equal(t, "allocations with a collector that is off", allocs(pipeline.WithTrace(&spy{off: true})), bare)
	// The window, and what the plain slicer and placer of this test allocate.
	if bare > 4 {
		t.Errorf("an unobserved run allocates %v times, want at most 4", bare)
	}
}

// TestPlainCollectors: one without the extension gets every event.
func TestPlainCollectors(t *testing.T) {
	var c plain
	if _, err := newPipeline(t).Run(t.Context(), observedItems(t), budgetOf(t, 20, 10), pipeline.WithTrace(&c)); err != nil {
		t.Fatal(err)
	}
	if _, err := newPipeline(t).RunStream(t.Context(), stream(new(int), observedItems(t)...), budgetOf(t, 20, 10), pipeline.WithTrace(&c)); err != nil {
		t.Fatal(err)
	}
	equal(t, "stages and items of both runs", c, plain{10, 10})
}
