package cupel_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/wollax/cupel-go/cupel"
)

type ctxKey string

// spy is a collector with the extension. It records the calls.
type spy struct {
	detail   cupel.TraceDetail
	declines bool
	off      bool
	log      []string
	ends     []cupel.StageEnd
	run      cupel.RunEnd
	info     cupel.RunInfo
}

func (s *spy) IsEnabled() bool { return !s.off }

func (s *spy) RecordStageEvent(e cupel.TraceEvent) {
	s.log = append(s.log, fmt.Sprintf("stage %s %d", e.Stage, e.ItemCount))
}

func (s *spy) RecordItemEvent(e cupel.TraceEvent) {
	s.log = append(s.log, fmt.Sprintf("item %s %s", e.Stage, e.Message))
}

func (s *spy) StartRun(ctx context.Context, info cupel.RunInfo) (context.Context, cupel.RunTrace) {
	s.info = info
	if s.declines {
		return context.WithValue(ctx, ctxKey("declined"), true), nil
	}
	return context.WithValue(ctx, ctxKey("run"), "run"), &spyRun{spy: s}
}

type spyRun struct {
	cupel.NoTrace
	spy *spy
}

func (r *spyRun) Detail() cupel.TraceDetail { return r.spy.detail }

func (r *spyRun) StartStage(ctx context.Context, s cupel.StageStart) context.Context {
	r.spy.log = append(r.spy.log, fmt.Sprintf("start %s %d", s.Stage, s.CountIn))
	return context.WithValue(ctx, ctxKey("stage"), s.Stage)
}

func (r *spyRun) EndStage(ctx context.Context, e cupel.StageEnd) {
	r.spy.log = append(r.spy.log, fmt.Sprintf("end %s %d-%d %v", ctx.Value(ctxKey("stage")), e.CountIn, e.CountOut, e.Err))
	r.spy.ends = append(r.spy.ends, e)
}

func (r *spyRun) EndRun(ctx context.Context, e cupel.RunEnd) {
	r.spy.log = append(r.spy.log, fmt.Sprintf("end %v %d %v", ctx.Value(ctxKey("run")), e.Selected, e.Err))
	r.spy.run = e
}

func observedItems(t *testing.T) []*cupel.ContextItem {
	t.Helper()
	return []*cupel.ContextItem{
		item(t, "p", 1, cupel.WithPinned()), item(t, "a", 5, hint(0.9)), item(t, "a", 5, hint(0.1)), item(t, "big", 50, hint(0.5)), item(t, "n", -1),
	}
}

func TestObserverIsToldEverything(t *testing.T) {
	s := &spy{detail: cupel.TraceDetail{ItemEvents: true}}
	_, err := pipeline(t).Run(t.Context(), observedItems(t), budgetOf(t, 20, 10), cupel.WithTrace(s))
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

func TestObserverGetsItemsOfItsStages(t *testing.T) {
	s := &spy{detail: cupel.TraceDetail{Items: true, Report: true}}
	if _, err := pipeline(t).Run(t.Context(), observedItems(t), budgetOf(t, 20, 10), cupel.WithTrace(s)); err != nil {
		t.Fatal(err)
	}
	want := map[cupel.PipelineStage]cupel.ExclusionCode{
		cupel.StageClassify: cupel.ExcludeNegativeTokens, cupel.StageDeduplicate: cupel.ExcludeDeduplicated, cupel.StageSlice: cupel.ExcludeBudgetExceeded,
	}
	for _, e := range s.ends {
		var got cupel.ExclusionCode
		if len(e.Excluded) == 1 {
			got = e.Excluded[0].Reason.Code
		}
		equal(t, string(e.Stage), got, want[e.Stage])
		equal(t, fmt.Sprintf("included at %s", e.Stage), len(e.Included), map[bool]int{true: 2}[e.Stage == cupel.StagePlace])
	}
	equal(t, "candidates in the report", s.run.Report.TotalCandidates, 5)
	for _, line := range s.log {
		if strings.HasPrefix(line, "item ") {
			t.Errorf("got %q though item events were not asked for", line)
		}
	}
}

func TestStrategiesGetTheContextOfTheirStage(t *testing.T) {
	seen := map[string]any{}
	look := func(ctx context.Context, who string) { seen[who] = ctx.Value(ctxKey("stage")) }
	p := pipeline(t, func(c *cupel.Config) {
		c.Scorer = batchFunc(func(ctx context.Context, _ []*cupel.ContextItem, _ []float64) error { look(ctx, "scorer"); return nil })
		c.Slicer = sliceFunc(func(ctx context.Context, items []cupel.ScoredItem, b cupel.SliceBudget) (cupel.Selection, error) {
			look(ctx, "slicer")
			return inOrder(ctx, items, b)
		})
		c.Placer = placeFunc(func(ctx context.Context, items []cupel.ScoredItem) ([]int, error) {
			look(ctx, "placer")
			return asMerged(ctx, items)
		})
	})
	if _, err := p.Run(t.Context(), observedItems(t), budgetOf(t, 20, 10), cupel.WithTrace(&spy{})); err != nil {
		t.Fatal(err)
	}
	for who, stage := range map[string]any{"scorer": cupel.StageScore, "slicer": cupel.StageSlice, "placer": cupel.StagePlace} {
		equal(t, who, seen[who], stage)
	}
}

func TestFailedRunsAreReported(t *testing.T) {
	pinned := item(t, "p", 99, cupel.WithPinned())
	tests := []struct {
		name   string
		items  []*cupel.ContextItem
		change []func(*cupel.Config)
		stage  cupel.PipelineStage
		events int // stages that were completed
		want   string
		why    string
	}{
		{"pinned too large", append(observedItems(t), pinned), nil, cupel.StageClassify, 0, "n: NegativeTokens: -1 tokens",
			"what Classify found before it failed stays"},
		{"overflow", observedItems(t), []func(*cupel.Config){withSlicer(everything)}, cupel.StagePlace, 4,
			"a: Deduplicated: the same content is in as another item; n: NegativeTokens: -1 tokens", "Place fails under Throw"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := &spy{detail: cupel.TraceDetail{Report: true, ItemEvents: true}}
			report, err := pipeline(t, tt.change...).DryRun(t.Context(), tt.items, budgetOf(t, 20, 10), cupel.WithTrace(s))
			if err == nil {
				t.Fatal("want an error")
			}
			last := s.ends[len(s.ends)-1]
			if last.Stage != tt.stage || !errors.Is(last.Err, err) || last.CountOut != 0 {
				t.Errorf("last stage: got %+v, want %s with the run's error: %s", last, tt.stage, tt.why)
			}
			if !errors.Is(s.run.Err, err) || s.run.Selected != 0 {
				t.Errorf("end of run: got %+v, want the error and nothing selected", s.run)
			}
			equal(t, "events", len(report.Events), tt.events)
			equal(t, "excluded", excluded(report), tt.want)
			equal(t, "included", len(report.Included), 0)
			equal(t, "candidates", report.TotalCandidates, len(tt.items))
			equal(t, "dry run", s.info.DryRun, true)
		})
	}
}

func TestObserversKnowWhichPipeline(t *testing.T) {
	c := pipeline(t).Config()
	c.Name = "named"
	p, err := cupel.New(c)
	if err != nil {
		t.Fatal(err)
	}
	prepared, err := p.Prepare(t.Context(), observedItems(t))
	if err != nil {
		t.Fatal(err)
	}
	s := &spy{}
	if _, err := prepared.DryRun(t.Context(), budgetOf(t, 20, 10), cupel.WithTrace(s)); err != nil {
		t.Fatal(err)
	}
	if !s.info.Prepared || !s.info.DryRun || s.info.Pipeline != "named" {
		t.Errorf("a dry run of a Prepared: %+v", s.info)
	}
	if _, err := p.Run(t.Context(), observedItems(t), budgetOf(t, 20, 10), cupel.WithTrace(s)); err != nil {
		t.Fatal(err)
	}
	if s.info.Prepared || s.info.Pipeline != "named" {
		t.Errorf("a run: %+v", s.info)
	}
}

func TestObserverMayDecline(t *testing.T) {
	s := &spy{declines: true}
	var declined any
	p := pipeline(t, withScorer(batchFunc(func(ctx context.Context, _ []*cupel.ContextItem, _ []float64) error {
		declined = ctx.Value(ctxKey("declined"))
		return nil
	})))
	if _, err := p.Run(t.Context(), observedItems(t), budgetOf(t, 20, 10), cupel.WithTrace(s)); err != nil {
		t.Fatal(err)
	}
	equal(t, "calls", len(s.log), 0)
	equal(t, "value in the context of a run that is not observed", declined, any(true))
}

func TestTimesAreRealAndReadOnce(t *testing.T) {
	start := time.Date(2026, 1, 2, 3, 4, 5, 6, time.UTC)
	s := &spy{}
	p := pipeline(t, func(c *cupel.Config) { c.Clock = ticking(start, time.Nanosecond) })
	if _, err := p.Run(t.Context(), nil, budgetOf(t, 9, 9), cupel.WithTrace(s)); err != nil {
		t.Fatal(err)
	}
	at := func(n int) time.Time { return start.Add(time.Duration(n)) }
	equal(t, "start of the run", s.info.Start, at(0))
	for i, e := range s.ends {
		equal(t, "start of "+string(e.Stage), e.Start, at(1+2*i))
		equal(t, "end of "+string(e.Stage), e.End, at(2+2*i))
	}
	equal(t, "end of the run", s.run.End, at(11))
}

func TestDiagnosticCollector(t *testing.T) {
	tests := []struct {
		level  cupel.TraceDetailLevel
		events int
		why    string
	}{
		{cupel.TraceDetailStage, 5, "one a stage, item events are discarded"},
		{cupel.TraceDetailItem, 10, "and one for each of five candidates"},
	}
	for _, tt := range tests {
		t.Run(tt.level.String(), func(t *testing.T) {
			var called []cupel.TraceEvent
			c := cupel.NewDiagnosticTraceCollector(cupel.WithDetailLevel(tt.level), nil, cupel.WithEventCallback(func(e cupel.TraceEvent) { called = append(called, e) }))
			for range 2 { // a second run forgets the first
				called = nil
				if _, err := pipeline(t).Run(t.Context(), observedItems(t), budgetOf(t, 20, 10), cupel.WithTrace(c)); err != nil {
					t.Fatal(err)
				}
			}
			report := c.BuildReport()
			if len(report.Events) != tt.events {
				t.Errorf("got %d events, want %d: %s", len(report.Events), tt.events, tt.why)
			}
			equalSlices(t, "events told to the callback", called, report.Events)
			equalSlices(t, "events", c.Events(), report.Events)
			equal(t, "candidates", report.TotalCandidates, 5)
			report.Events[0].ItemCount = 99
			equal(t, "events after the copy was changed", c.Events()[0].ItemCount == 99, false)
		})
	}
}

func TestDiagnosticCollectorByHand(t *testing.T) {
	c := cupel.NewDiagnosticTraceCollector()
	c.RecordItemEvent(cupel.TraceEvent{Stage: cupel.StageSlice})
	c.RecordStageEvent(cupel.TraceEvent{Stage: "Warmup"})
	report := c.BuildReport()
	equal(t, "events", len(report.Events), 1)
	equal(t, "stage", report.Events[0].Stage, "Warmup")
	var none *cupel.DiagnosticTraceCollector
	equal(t, "nil collector is enabled", none.IsEnabled(), false)
	if _, err := pipeline(t).Run(t.Context(), nil, budgetOf(t, 9, 9), cupel.WithTrace(none)); err != nil {
		t.Error(err)
	}
}

func TestTraceFuncs(t *testing.T) {
	var stages, items int
	run := func(f cupel.TraceFuncs) {
		t.Helper()
		if _, err := pipeline(t).Run(t.Context(), observedItems(t), budgetOf(t, 20, 10), cupel.WithTrace(f)); err != nil {
			t.Fatal(err)
		}
	}
	run(cupel.TraceFuncs{StageEvent: func(cupel.TraceEvent) { stages++ }})
	run(cupel.TraceFuncs{ItemEvent: func(cupel.TraceEvent) { items++ }})
	run(cupel.TraceFuncs{})
	equal(t, "stage events", stages, 5)
	equal(t, "item events", items, 5)
}

// plain is a collector without the extension.
type plain struct{ stages, items int }

func (p *plain) IsEnabled() bool                   { return true }
func (p *plain) RecordStageEvent(cupel.TraceEvent) { p.stages++ }
func (p *plain) RecordItemEvent(cupel.TraceEvent)  { p.items++ }

func TestMultiTraceCollector(t *testing.T) {
	first, second := &spy{detail: cupel.TraceDetail{Items: true}}, &spy{}
	declined, off, simple := &spy{declines: true}, &spy{off: true}, &plain{}
	diagnostic := cupel.NewDiagnosticTraceCollector(cupel.WithDetailLevel(cupel.TraceDetailItem))
	inner := cupel.MultiTraceCollector(declined, diagnostic)
	all := cupel.MultiTraceCollector(nil, first, second, off, simple, cupel.NullTraceCollector{}, inner)

	if _, err := pipeline(t).Run(t.Context(), observedItems(t), budgetOf(t, 20, 10), cupel.WithTrace(all)); err != nil {
		t.Fatal(err)
	}
	equal(t, "log of the one that declined", len(declined.log), 0)
	equal(t, "log of the one that is off", len(off.log), 0)
	equal(t, "stage events of the plain one", simple.stages, 5)
	equal(t, "item events of the plain one", simple.items, 5)
	equal(t, "events of the diagnostic one, two levels down", len(diagnostic.BuildReport().Events), 10)
	equal(t, "candidates in its report", diagnostic.BuildReport().TotalCandidates, 5)
	equal(t, "both observers heard the same", strings.Join(first.log, "\n"), strings.Join(second.log, "\n"))
	equal(t, "items for the one that asked", len(first.ends[4].Included), 2)
	equal(t, "items for the one that did not", len(second.ends[4].Included), 0)
	if first.run.Report != nil {
		t.Error("a report for an observer that did not ask")
	}

	silent := cupel.MultiTraceCollector(declined, off, nil)
	if _, err := pipeline(t).Run(t.Context(), observedItems(t), budgetOf(t, 20, 10), cupel.WithTrace(silent)); err != nil {
		t.Fatal(err)
	}
	equal(t, "log of the one that declined", len(declined.log), 0)
	equal(t, "enabled without children", cupel.MultiTraceCollector().IsEnabled(), false)
}

func TestEventsByHandThroughMulti(t *testing.T) {
	a, b := &plain{}, &plain{}
	m := cupel.MultiTraceCollector(a, b)
	m.RecordStageEvent(cupel.TraceEvent{})
	m.RecordItemEvent(cupel.TraceEvent{})
	equal(t, "events", a.stages+a.items+b.stages+b.items, 4)
}

func TestCustomReasonsAndShortfallsReachTheReport(t *testing.T) {
	p := pipeline(t, withSlicer(sliceFunc(func(_ context.Context, items []cupel.ScoredItem, _ cupel.SliceBudget) (cupel.Selection, error) {
		return cupel.Selection{
			Indices:    []int{1},
			Drops:      []cupel.Drop{{Index: 0, Reason: cupel.NewExclusionReason(cupel.ExcludeFiltered, cupel.ReasonData{FilterName: "max_age"})}},
			Shortfalls: []cupel.CountRequirementShortfall{{Kind: "Memory", RequiredCount: 3, SatisfiedCount: 1}},
		}, nil
	})))
	c := cupel.NewDiagnosticTraceCollector(cupel.WithDetailLevel(cupel.TraceDetailItem))
	items := []*cupel.ContextItem{item(t, "a", 2, hint(0.9)), item(t, "b", 3, hint(0.8)), item(t, "c", 4, hint(0.7))}
	if _, err := p.Run(t.Context(), items, budgetOf(t, 9, 9), cupel.WithTrace(c)); err != nil {
		t.Fatal(err)
	}
	report := c.BuildReport()
	equal(t, "excluded", excluded(report), "a: Filtered: max_age; c: BudgetExceeded: 4 tokens requested, 6 available")
	equal(t, "shortfalls", report.CountRequirementShortfalls[0].String(), "CountRequirementShortfall: Memory has 1 of 3 required items")
	var messages []string
	for _, e := range report.Events {
		if e.Stage == cupel.StageSlice && e.Message != "" {
			messages = append(messages, e.Message)
		}
	}
	equal(t, "item events of Slice", strings.Join(messages, "; "), "Filtered: max_age; BudgetExceeded: 4 tokens requested, 6 available; "+
		"CountRequirementShortfall: Memory has 1 of 3 required items")
}

func TestUnobservedRunsBuildNothing(t *testing.T) {
	if raceEnabled {
		t.Skip("pools drop objects at random under the race detector; the ordinary test run counts")
	}
	p := pipeline(t)
	items := observedItems(t)
	budget := budgetOf(t, 20, 10)
	ctx := t.Context()
	allocs := func(opts ...cupel.RunOption) float64 {
		return testing.AllocsPerRun(200, func() {
			if _, err := p.Run(ctx, items, budget, opts...); err != nil {
				t.Fatal(err)
			}
		})
	}
	bare := allocs()
	equal(t, "allocations with a null collector", allocs(cupel.WithTrace(cupel.NullTraceCollector{})), bare)
	equal(t, "allocations with a collector that is off", allocs(cupel.WithTrace(&spy{off: true})), bare)
	// The window, and what the plain slicer and placer of this test allocate.
	if bare > 4 {
		t.Errorf("an unobserved run allocates %v times, want at most 4", bare)
	}
}

func TestObserversKnowTheOverflow(t *testing.T) {
	c := pipeline(t).Config()
	c.Overflow, c.Slicer = cupel.OverflowProceed, cupel.SlicerFunc(func(_ context.Context, items []cupel.ScoredItem, _ cupel.SliceBudget) (cupel.Selection, error) {
		all := make([]int, len(items))
		for i := range all {
			all[i] = i
		}
		return cupel.Selection{Indices: all}, nil
	})
	p, err := cupel.New(c)
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		name string
		item *cupel.ContextItem
		want int
	}{
		{"over", item(t, "a", 25), 5},
		{"a unit over", item(t, "b", 27, cupel.WithGroup("g")), 7},
		{"within", item(t, "c", 20), 0},
	} {
		s, other := &spy{}, &spy{}
		if _, err := p.Run(t.Context(), []*cupel.ContextItem{tt.item}, budgetOf(t, 100, 20), cupel.WithTrace(cupel.MultiTraceCollector(s, other))); err != nil {
			t.Fatal(err)
		}
		if s.run.Overflow != tt.want || other.run.Overflow != tt.want {
			t.Errorf("%s: %d tokens over the target, want %d", tt.name, s.run.Overflow, tt.want)
		}
	}
}
