package cupel_test

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"
	"weak"

	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupel/internal/compat"
)

// TestStrategiesThatChangeTheirArguments: no contract allows it, and yet the
// window and the report stay right, because the engine keeps its own record.
func TestStrategiesThatChangeTheirArguments(t *testing.T) {
	pin := cupel.WithPinned()
	tests := []struct {
		name   string
		change func(*cupel.Config)
		why    string
	}{
		{"batch scorer clears the list", withScorer(batchFunc(func(_ context.Context, all []*cupel.ContextItem, scores []float64) error {
			for i, it := range all {
				scores[i] = byHint{}.Score(it, all)
			}
			clear(all)
			return nil
		})), "the reasons of Slice need the tokens of items that the scorer has seen"},
		{"scorer reverses the list", withScorer(batchFunc(func(_ context.Context, all []*cupel.ContextItem, scores []float64) error {
			for i, it := range all {
				scores[i] = byHint{}.Score(it, all)
			}
			slices.Reverse(all)
			return nil
		})), "sorting in place is the likeliest slip of a relative scorer"},
		{"slicer clears the list", withSlicer(sliceFunc(func(ctx context.Context, items []cupel.ScoredItem, budget cupel.SliceBudget) (cupel.Selection, error) {
			sel, err := inOrder(ctx, items, budget)
			clear(items)
			return sel, err
		})), "what is merged is found by position"},
		{"placer clears the list", withPlacer(placeFunc(func(ctx context.Context, items []cupel.ScoredItem) ([]int, error) {
			order, err := asMerged(ctx, items)
			clear(items)
			return order, err
		})), "the inclusions are explained after the placer has run"},
		{"placer reverses the list", withPlacer(placeFunc(func(ctx context.Context, items []cupel.ScoredItem) ([]int, error) {
			order, err := asMerged(ctx, items)
			slices.Reverse(items)
			return order, err
		})), "the report would tell of another order than the window has"},
	}
	items := []*cupel.ContextItem{item(t, "p", 1, pin), item(t, "a", 5, hint(0.9)), item(t, "b", 3, hint(0.5)), item(t, "c", 50, hint(0.1))}
	budget := budgetOf(t, 100, 12)
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			p := pipeline(t, tt.change)
			s := &spy{}
			window, err := p.Run(t.Context(), items, budget, cupel.WithTrace(s))
			if err != nil || contents(window) != "p a b" || s.run.SelectedTokens != 9 {
				t.Errorf("got %q of %d tokens, error %v; want p a b of 9: %s", contents(window), s.run.SelectedTokens, err, tt.why)
			}
			report, err := p.DryRun(t.Context(), items, budget)
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, i := range report.Included {
				got = append(got, i.Item.Content()+" "+i.String())
			}
			equalSlices(t, "included", got, []string{"p Pinned: score 1, 1 tokens", "a Scored: score 0.9, 5 tokens", "b Scored: score 0.5, 3 tokens"})
			equal(t, "excluded", excluded(report), "c: BudgetExceeded: 50 tokens requested, 3 available")
		})
	}
}

// panickyError is an error whose text cannot be had.
type panickyError struct{ inner error }

func (e panickyError) Error() string { return e.inner.Error() }

func TestHostileErrors(t *testing.T) {
	tests := []struct {
		name string
		err  error
		want string
		why  string
	}{
		{"nil pointer of our own", (*cupel.ScarcityError)(nil), "cupel: slicer cupel_test.sliceFunc failed with a nil *cupel.ScarcityError",
			"a variable of a pointer type that is returned as an error is never nil, and there is nothing in it to read"},
		{"nil strategy error", (*cupel.StrategyError)(nil), "cupel: slicer cupel_test.sliceFunc failed with a nil *cupel.StrategyError",
			"errors.Is would follow it into a panic"},
		{"text panics", panickyError{}, "cupel: slicer cupel_test.sliceFunc failed: %!v(PANIC=Error method: runtime error: invalid memory address or nil pointer dereference)",
			"reading our error must not panic because of theirs"},
		{"empty cancellation", &cupel.CanceledError{Stage: "X"}, "cupel: slicer cupel_test.sliceFunc failed: cupel: stopped in stage X: <nil>",
			"not every error comes from this package"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			p := pipeline(t, withSlicer(sliceFunc(func(context.Context, []cupel.ScoredItem, cupel.SliceBudget) (cupel.Selection, error) {
				return cupel.Selection{}, tt.err
			})))
			_, err := p.Run(t.Context(), []*cupel.ContextItem{item(t, "a", 1)}, budgetOf(t, 9, 9))
			errorIs(t, err, cupel.ErrStrategy)
			equal(t, tt.why, err.Error(), tt.want)
			equal(t, "matches a cancellation", errors.Is(err, context.Canceled), false)
		})
	}
}

type nilInvalid struct{ cupel.Placer }

func (nilInvalid) Validate() error { return (*cupel.InvalidConfigError)(nil) }

func TestValidateReturnsANilPointer(t *testing.T) {
	_, err := cupel.New(cupel.Config{Scorer: byHint{}, Slicer: inOrder, Placer: nilInvalid{asMerged}})
	errorIs(t, err, cupel.ErrInvalidConfig)
	equal(t, "text", err.Error(), "cupel: placer is not valid: its Validate returned a nil *cupel.InvalidConfigError (cupel_test.nilInvalid)")
}

func TestPipelineThatNewDidNotBuild(t *testing.T) {
	for name, p := range map[string]*cupel.Pipeline{"nil": nil, "zero": {}} {
		t.Run(name, func(t *testing.T) {
			items := []*cupel.ContextItem{item(t, "a", 1)}
			_, err := p.Run(t.Context(), items, budgetOf(t, 9, 9), cupel.WithTrace(&plain{}))
			errorIs(t, err, cupel.ErrInvalidConfig)
			report, err := p.DryRun(t.Context(), items, budgetOf(t, 9, 9))
			errorIs(t, err, cupel.ErrInvalidConfig)
			if report == nil {
				t.Error("DryRun returned no report with its error")
			}
		})
	}
}

// TestAnotherRunsCancellation: a strategy that runs a pipeline with a context
// of its own has failed when that one ends; the run around it was not stopped.
func TestAnotherRunsCancellation(t *testing.T) {
	inner := pipeline(t)
	items := []*cupel.ContextItem{item(t, "a", 1)}
	p := pipeline(t, withSlicer(sliceFunc(func(ctx context.Context, _ []cupel.ScoredItem, _ cupel.SliceBudget) (cupel.Selection, error) {
		ctx, cancel := context.WithCancel(ctx)
		cancel()
		_, err := inner.Run(ctx, items, budgetOf(t, 9, 9))
		return cupel.Selection{}, err
	})))
	_, err := p.Run(t.Context(), items, budgetOf(t, 9, 9))
	errorIs(t, err, cupel.ErrStrategy)
	equal(t, "text", err.Error(), "cupel: slicer cupel_test.sliceFunc failed: cupel: stopped in stage Classify: context canceled")
}

// limiting is an observer that gives one stage, or the whole run, a context
// that has ended.
type limiting struct {
	spy
	stage cupel.PipelineStage
}

func ended(ctx context.Context) context.Context {
	ctx, cancel := context.WithDeadline(ctx, time.Unix(0, 0))
	cancel()
	return ctx
}

func (l *limiting) StartRun(ctx context.Context, _ cupel.RunInfo) (context.Context, cupel.RunTrace) {
	if l.stage == "" {
		ctx = ended(ctx)
	}
	return ctx, &limitingRun{stage: l.stage}
}

type limitingRun struct {
	cupel.NoTrace
	stage cupel.PipelineStage
}

func (l *limitingRun) StartStage(ctx context.Context, s cupel.StageStart) context.Context {
	if s.Stage == l.stage {
		return ended(ctx)
	}
	return nil // as good as ctx
}

func TestObserverEndsTheContext(t *testing.T) {
	tests := []struct {
		name        string
		stage, want cupel.PipelineStage
		why         string
	}{
		{"whole run", "", cupel.StageClassify, "the first stage notices"},
		{"Classify", cupel.StageClassify, cupel.StageClassify, "the stage itself notices"},
		{"Score", cupel.StageScore, cupel.StageScore, "the stage itself notices"},
		{"Deduplicate", cupel.StageDeduplicate, cupel.StageDeduplicate, "the stage itself notices"},
		{"Slice", cupel.StageSlice, cupel.StageSlice, "the stage itself notices"},
		{"Place", cupel.StagePlace, cupel.StagePlace, "the stage itself notices"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := pipeline(t).Run(t.Context(), observedItems(t), budgetOf(t, 20, 10), cupel.WithTrace(&limiting{stage: tt.stage}))
			canceled, ok := compat.AsType[*cupel.CanceledError](err)
			if !ok || canceled.Stage != tt.want || !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("got %T %v, want a CanceledError of stage %s: %s", err, err, tt.want, tt.why)
			}
		})
	}
}

// decliner declines with a nil pointer instead of a plain nil.
type decliner struct{ spy }

func (*decliner) StartRun(context.Context, cupel.RunInfo) (context.Context, cupel.RunTrace) {
	return nil, (*spyRun)(nil)
}

func TestNilPointersAsCollectors(t *testing.T) {
	tests := []struct {
		name      string
		collector cupel.TraceCollector
		why       string
	}{
		{"collector", (*plain)(nil), "it would panic when it counts"},
		{"collector of ours", (*cupel.DiagnosticTraceCollector)(nil), "it listens to nothing"},
		{"state", &decliner{}, "a nil pointer in the interface declines like nil"},
		{"among others", cupel.MultiTraceCollector((*plain)(nil), &decliner{}, (*cupel.DiagnosticTraceCollector)(nil)), "each is left out"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			window, err := pipeline(t).Run(t.Context(), observedItems(t), budgetOf(t, 20, 10), cupel.WithTrace(tt.collector))
			if err != nil || contents(window) != "p a" {
				t.Errorf("got %q, error %v; want the run as it is without a collector: %s", contents(window), err, tt.why)
			}
			if _, err := pipeline(t).DryRun(t.Context(), observedItems(t), budgetOf(t, 20, 10), cupel.WithTrace(tt.collector)); err != nil {
				t.Error(err)
			}
		})
	}
	var none *cupel.DiagnosticTraceCollector
	none.RecordStageEvent(cupel.TraceEvent{})
	none.RecordItemEvent(cupel.TraceEvent{})
	_, state := none.StartRun(t.Context(), cupel.RunInfo{})
	equal(t, "what a nil collector knows", fmt.Sprint(len(none.Events()), state, none.BuildReport().TotalCandidates), fmt.Sprint(0, nil, 0))
}

func TestReportsShareNothing(t *testing.T) {
	vandalise := func(r *cupel.SelectionReport) {
		clear(r.Events)
		clear(r.Included)
		clear(r.Excluded)
		clear(r.CountRequirementShortfalls)
		clear(r.Overflow.OverflowingItems)
		r.Overflow.TokensOverBudget = 0
	}
	check := func(r *cupel.SelectionReport, why string) {
		t.Helper()
		got := fmt.Sprint(len(r.Events), r.Events[0].Stage, included(r), "|", excluded(r), "|", r.CountRequirementShortfalls[0].Kind,
			r.Overflow.TokensOverBudget, contents(r.Overflow.OverflowingItems))
		equal(t, why, got, fmt.Sprint(5, "Classify", "a b", "|", "n: NegativeTokens: -1 tokens", "|", "Memory", 5, "a b"))
	}
	p := pipeline(t, overflow(cupel.OverflowProceed), func(c *cupel.Config) {
		c.Slicer = sliceFunc(func(ctx context.Context, items []cupel.ScoredItem, b cupel.SliceBudget) (cupel.Selection, error) {
			sel, err := everything(ctx, items, b)
			sel.Shortfalls = []cupel.CountRequirementShortfall{{Kind: "Memory", RequiredCount: 1}}
			return sel, err
		})
		c.OnOverflow = func(e cupel.OverflowEvent) { clear(e.OverflowingItems) }
	})
	items := []*cupel.ContextItem{item(t, "n", -1), item(t, "a", 10, hint(0.9)), item(t, "b", 5, hint(0.5))}
	budget := budgetOf(t, 20, 10)

	c := cupel.NewDiagnosticTraceCollector()
	if _, err := p.Run(t.Context(), items, budget, cupel.WithTrace(c)); err != nil {
		t.Fatal(err)
	}
	check(c.BuildReport(), "the overflow observer changed its event")
	vandalise(c.BuildReport())
	check(c.BuildReport(), "somebody changed another report of the same run")

	first, second := &vandal{vandalise: vandalise}, &vandal{}
	report, err := p.DryRun(t.Context(), items, budget, cupel.WithTrace(cupel.MultiTraceCollector(first, second)))
	if err != nil {
		t.Fatal(err)
	}
	check(report, "an observer changed the report and the items that it was handed")
	second.report.Events = report.Events
	check(second.report, "another observer changed the report that it was handed")
	equal(t, "exclusions handed to the observer next to the vandal", len(second.items), 1+2)
	for _, it := range second.items {
		if it == nil {
			t.Error("an observer changed the items that another was handed")
		}
	}
}

// vandal is an observer that changes what it is handed.
type vandal struct {
	spy
	vandalise func(*cupel.SelectionReport)
	report    *cupel.SelectionReport
	items     []*cupel.ContextItem
}

func (v *vandal) StartRun(ctx context.Context, _ cupel.RunInfo) (context.Context, cupel.RunTrace) {
	return ctx, &vandalRun{vandal: v}
}

type vandalRun struct {
	cupel.NoTrace
	vandal *vandal
}

func (v *vandalRun) Detail() cupel.TraceDetail { return cupel.TraceDetail{Items: true, Report: true} }

func (v *vandalRun) EndStage(_ context.Context, e cupel.StageEnd) {
	if v.vandal.vandalise != nil {
		clear(e.Excluded)
		clear(e.Included)
	}
	for _, x := range e.Excluded {
		v.vandal.items = append(v.vandal.items, x.Item)
	}
	for _, i := range e.Included {
		v.vandal.items = append(v.vandal.items, i.Item)
	}
}

func (v *vandalRun) EndRun(_ context.Context, e cupel.RunEnd) {
	v.vandal.report = e.Report
	if v.vandal.vandalise != nil {
		v.vandal.vandalise(e.Report)
	}
}

// TestOptionsDoNotChangeWhatExists: an option is a function, and nothing that
// is finished may pass for its argument.
func TestOptionsDoNotChangeWhatExists(t *testing.T) {
	tests := []struct {
		name           string
		option, target any
		why            string
	}{
		{"item", cupel.WithPinned(), new(cupel.ContextItem), "an item never changes"},
		{"budget", cupel.WithOutputReserve(-1), new(cupel.ContextBudget), "no budget exists that was not checked"},
		{"collector", cupel.WithEventCallback(nil), new(cupel.DiagnosticTraceCollector), "a run may be using it"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			parameter := reflect.TypeOf(tt.option).In(0)
			equal(t, tt.why+", but an option can be called with a finished one", reflect.TypeOf(tt.target).AssignableTo(parameter), false)
		})
	}
}

// TestRunsKeepNoItems: the memory that runs reuse must not keep the caller's
// items alive, whichever way a run ends.
func TestRunsKeepNoItems(t *testing.T) {
	tests := []struct {
		name   string
		change func(*cupel.Config)
		why    string
	}{
		{"window", withSlicer(inOrder), "its lists go back to the pool"},
		{"truncated", func(c *cupel.Config) { c.Slicer, c.Overflow = everything, cupel.OverflowTruncate }, "a list that was cut keeps its tail"},
		{"failed", withPlacer(placing(7)), "its lists do not go back"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			p := pipeline(t, tt.change)
			var kept []weak.Pointer[cupel.ContextItem]
			for _, n := range []int{100, 3} { // the second run uses only the beginning of the first one's lists
				var items []*cupel.ContextItem
				for i := range n {
					it := item(t, strings.Repeat("x", i+1), i%9, hint(float64(i)))
					items = append(items, it)
					kept = append(kept, weak.Make(it))
				}
				_, _ = p.Run(t.Context(), items, budgetOf(t, 100, 30)) // failing is one of the cases
			}
			runtime.GC() // once: what is in a pool survives the first
			for _, w := range kept {
				if w.Value() != nil {
					t.Fatalf("an item of %d bytes is still there: %s", len(w.Value().Content()), tt.why)
				}
			}
		})
	}
}

func TestBudgetErrorsAreDeterministic(t *testing.T) {
	slots := map[cupel.ContextKind]int{"memory": -1, "MEMORY": -2, "note": 5}
	for range 50 { // enough for map order to show
		_, err := cupel.NewContextBudget(10, 10, cupel.WithReservedSlots(slots))
		equal(t, "text", err.Error(), `cupel: invalid budget: reservedSlots["Memory"] must be at least 0, got -2
cupel: invalid budget: reservedSlots["Memory"] must be at least 0, got -1
cupel: invalid budget: reservedSlots["Memory"] is given twice; kinds are case-insensitive`)
	}
}

func TestForgottenScoresAreZero(t *testing.T) {
	lazy := batchFunc(func(_ context.Context, _ []*cupel.ContextItem, scores []float64) error {
		scores[1] = 0.5
		return nil
	})
	scores := []float64{7, 7, 7} // as a wrapper's reused memory may be
	if err := cupel.ScoreAll(t.Context(), lazy, observedItems(t)[:3], scores); err != nil {
		t.Fatal(err)
	}
	equalSlices(t, "scores: what is left from another run must not decide", scores, []float64{0, 0.5, 0})
}

// TestTheCulpritOfAPanicWhileValidating: it is the strategy inside, not the
// wrapper around it.
func TestTheCulpritOfAPanicWhileValidating(t *testing.T) {
	_, err := cupel.New(cupel.Config{Scorer: &wrapper{scorers: []cupel.Scorer{broken{}}}, Slicer: inOrder, Placer: asMerged})
	errorIs(t, err, cupel.ErrInvalidConfig)
	equal(t, "text", err.Error(), "cupel: scorer panicked while it was validated: do not look (cupel_test.broken)")
}

func TestAPanicInTheLoopIsTheLoops(t *testing.T) {
	defer func() { equal(t, "the value that the loop panicked with", recover(), any("mine")) }()
	for range cupel.AllSlicers(inOrder) {
		panic("mine")
	}
}
