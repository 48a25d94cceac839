package cupelotel_test

import (
	"context"
	"errors"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"go.opentelemetry.io/otel/codes"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"

	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupel/observe"
	"github.com/wollax/cupel-go/cupel/pipeline"
	"github.com/wollax/cupel-go/cupel/slicer"
	"github.com/wollax/cupel-go/cupel/strategy"
	"github.com/wollax/cupel-go/cupelotel"
)

// failures are runs that fail, one for each class.
var failures = []struct {
	name        string
	arrange     func(t *testing.T, f *failing)
	stage       string // the stage that fails
	errorType   string
	description string
	why         string
}{
	{
		"pinned too large",
		func(t *testing.T, f *failing) {
			t.Helper()
			f.items = append(f.items, newItem(t, "secret large", 5000, cupel.WithPinned()))
		},
		"classify", "*pipeline.PinnedExceedsBudgetError", "cupel: Pinned items require 5020 tokens, but only 1000 are available",
		"the pinned check fails Classify (R35)",
	},
	{
		"nil item",
		func(_ *testing.T, f *failing) { f.items[3] = nil },
		"classify", "*cupel.InvalidItemError", "cupel: invalid item at index 3",
		"a nil candidate",
	},
	{
		"overflow under Throw",
		func(_ *testing.T, f *failing) { f.config.Overflow = pipeline.OverflowThrow },
		"place", "*pipeline.OverflowError", "cupel: Selected items require 110 tokens, exceeding target budget of 100",
		"overflow fails Place (R35)",
	},
	{
		"scarcity",
		func(t *testing.T, f *failing) {
			t.Helper()
			quota, err := slicer.NewCountQuota(slicer.Greedy{}, []slicer.CountQuotaEntry{{Kind: "Journal", RequireCount: 3, CapCount: 9}}, slicer.WithScarcity(slicer.ScarcityThrow))
			if err != nil {
				t.Fatal(err)
			}
			f.config.Slicer = quota
		},
		"slice", "*cupel.ScarcityError", "cupel: too few candidates of a required kind: Journal has 1 of 3 required items",
		"scarcity fails Slice (R35)",
	},
	{
		"scorer panics",
		func(_ *testing.T, f *failing) {
			f.config.Scorer = scoreFunc(func(item *cupel.ContextItem) float64 { panic("cannot score " + item.Content()) })
		},
		"score", "*cupel.PanicError", "cupel: scorer cupelotel_test.scoreFunc panicked",
		"a panic may quote an item",
	},
	{
		"slicer panics",
		func(_ *testing.T, f *failing) {
			f.config.Slicer = sliceFunc(func(context.Context, []cupel.ScoredItem, cupel.SliceBudget) (strategy.Selection, error) {
				panic(errors.New("secret"))
			})
		},
		"slice", "*cupel.PanicError", "cupel: slicer cupelotel_test.sliceFunc panicked",
		"a panic with an error is a panic",
	},
	{
		"placer panics",
		func(_ *testing.T, f *failing) {
			f.config.Placer = placeFunc(func(context.Context, []cupel.ScoredItem) ([]int, error) { panic("secret") })
		},
		"place", "*cupel.PanicError", "cupel: placer cupelotel_test.placeFunc panicked",
		"the third role",
	},
	{
		"scorer fails",
		func(_ *testing.T, f *failing) {
			f.config.Scorer = batchFunc(func(_ context.Context, all []*cupel.ContextItem, _ []float64) error {
				return errors.New("model refused: " + all[0].Content())
			})
		},
		"score", "*cupel.StrategyError", "cupel: scorer cupelotel_test.batchFunc failed",
		"an error of a strategy may quote an item",
	},
	{
		"slicer breaks its contract",
		func(_ *testing.T, f *failing) {
			f.config.Slicer = sliceFunc(func(context.Context, []cupel.ScoredItem, cupel.SliceBudget) (strategy.Selection, error) {
				return strategy.Selection{Indices: []int{99}}, nil
			})
		},
		"slice", "*cupel.ContractError", "cupel: slicer cupelotel_test.sliceFunc broke its contract",
		"a position out of range",
	},
	{
		"canceled before the run",
		func(_ *testing.T, f *failing) { f.cancel(nil) },
		"classify", "context.Canceled", "cupel: stopped in stage Classify: context canceled",
		"the first stage notices",
	},
	{
		"canceled during the run, for a reason",
		func(_ *testing.T, f *failing) {
			f.config.Scorer = scoreFunc(func(*cupel.ContextItem) float64 { f.cancel(errors.New("secret reason")); return 0 })
		},
		"deduplicate", "context.Canceled", "cupel: stopped in stage Deduplicate: context canceled",
		"the next stage notices; the cause is the caller's text",
	},
	{
		"deadline",
		func(t *testing.T, f *failing) {
			t.Helper()
			ctx, cancel := context.WithDeadline(f.ctx, time.Unix(0, 0))
			t.Cleanup(cancel)
			f.ctx = ctx
		},
		"classify", "context.DeadlineExceeded", "cupel: stopped in stage Classify: context deadline exceeded",
		"a timeout is not a cancellation",
	},
	{
		"context with an error of its own",
		func(_ *testing.T, f *failing) { f.ctx = oddContext{f.ctx} },
		"classify", "*pipeline.CanceledError", "cupel: stopped in stage Classify",
		"its text is not the standard library's",
	},
	{
		"context whose error is never the same",
		func(_ *testing.T, f *failing) { f.ctx = moodyContext{f.ctx} },
		"classify", "*pipeline.CanceledError", "cupel: stopped in stage Classify",
		"the context's error is known by its type",
	},
	{
		"configuration error of a strategy",
		byHand(&cupel.InvalidConfigError{Component: "secret", Field: "secret", Value: "secret", Reason: "secret"}),
		"score", "*cupel.InvalidConfigError", "cupel: invalid configuration",
		"passed on unchanged, with text written by a strategy",
	},
	{
		"strategy error of a strategy",
		byHand(&cupel.StrategyError{Role: "slicer", Strategy: "*own.Inner[int]", Reason: "secret"}),
		"score", "*cupel.StrategyError", "cupel: slicer broke its contract",
		"made by hand: a word with a dot may be the item's, and no strategy of that type was called",
	},
	{
		"strategy error of a part",
		func(_ *testing.T, f *failing) {
			f.config.Scorer = batchFunc(func(ctx context.Context, all []*cupel.ContextItem, scores []float64) error {
				return strategy.CallScorer(ctx, &failingPart[int]{}, all, scores)
			})
		},
		"score", "*cupel.StrategyError", "cupel: scorer *cupelotel_test.failingPart[int] failed",
		"passed on unchanged; the reader needs role and type",
	},
	{
		"strategy error with the type of the caller",
		byHand(&cupel.StrategyError{Role: "scorer", Strategy: "cupelotel_test.batchFunc", Reason: "secret"}),
		"score", "*cupel.StrategyError", "cupel: scorer cupelotel_test.batchFunc broke its contract",
		"made by hand, but known",
	},
	{
		"strategy error with texts",
		byHand(&cupel.StrategyError{Role: "secret", Strategy: "a secret item. It quotes", Reason: "secret"}),
		"score", "*cupel.StrategyError", "cupel: strategy broke its contract",
		"made by hand, with a text where the role and the type belong",
	},
	{
		"strategy error with a word",
		byHand(&cupel.StrategyError{Role: "scorer", Strategy: "secret", Err: errors.New("secret")}),
		"score", "*cupel.StrategyError", "cupel: scorer failed",
		"a type has its package before it",
	},
	{
		"strategy error with a long text",
		byHand(&cupel.StrategyError{Role: "scorer", Strategy: strings.Repeat("secret.", 100)}),
		"score", "*cupel.StrategyError", "cupel: scorer broke its contract",
		"no type is that long",
	},
	{
		"strategy error in invalid UTF-8",
		byHand(&cupel.StrategyError{Role: "\xff", Strategy: "a.\xff"}),
		"score", "*cupel.StrategyError", "cupel: strategy broke its contract",
		"one such description makes the exporter of OTLP refuse the whole batch",
	},
	{
		"nil pointer for an error",
		byHand((*cupel.StrategyError)(nil)),
		"score", "*cupel.StrategyError", "cupel: scorer cupelotel_test.batchFunc broke its contract",
		"this mistake must not crash the run",
	},
}

// failureNamed returns the failure of that name.
func failureNamed(t *testing.T, name string) func(*testing.T, *failing) {
	t.Helper()
	for _, row := range failures {
		if row.name == name {
			return row.arrange
		}
	}
	t.Fatalf("no failure is called %q", name)
	return nil
}

// failing is a run to be made to fail. Unchanged, it succeeds.
type failing struct {
	ctx    context.Context
	cancel context.CancelCauseFunc
	config pipeline.Config
	items  []*cupel.ContextItem
}

// run sets up the failure and runs it with the collector.
func (f *failing) run(t *testing.T, arrange func(*testing.T, *failing), collector observe.TraceCollector) error {
	t.Helper()
	f.ctx, f.cancel = context.WithCancelCause(t.Context())
	t.Cleanup(func() { f.cancel(nil) })
	f.config, f.items = config(), candidates(t)
	f.config.Clock = ticking(step)
	arrange(t, f)
	_, err := newPipeline(t, f.config).Run(f.ctx, f.items, newBudget(t, 1000, 100), pipeline.WithTrace(collector))
	if err == nil {
		t.Fatal("the run did not fail")
	}
	return err
}

// failingPart is a scorer that fails.
type failingPart[T any] struct{}

func (*failingPart[T]) Score(context.Context, []*cupel.ContextItem, []float64) error {
	return errors.New("secret")
}

func byHand(err error) func(*testing.T, *failing) {
	return func(_ *testing.T, f *failing) {
		f.config.Scorer = batchFunc(func(context.Context, []*cupel.ContextItem, []float64) error { return err })
	}
}

// oddContext is done with an error of an unknown type.
type oddContext struct{ context.Context }

var errOdd = errors.New("secret")

func (oddContext) Err() error { return errOdd }

// moodyContext returns a different error each time.
type moodyContext struct{ context.Context }

func (moodyContext) Err() error { return errors.New("secret") }

func TestFailedRuns(t *testing.T) {
	order := []string{"classify", "score", "deduplicate", "slice", "place"}
	names := make(map[string]bool)
	for _, tt := range failures {
		if tt.why == "" || names[tt.name] {
			t.Errorf("%q: a row has a unique name and a reason", tt.name)
		}
		names[tt.name] = true
		t.Run(tt.name, func(t *testing.T) {
			provider, recorder := newRecorder(t)
			collector := cupelotel.NewTraceCollector(cupelotel.WithTracerProvider(provider), cupelotel.WithVerbosity(cupelotel.VerbosityFull))
			var f failing
			_ = f.run(t, tt.arrange, collector)

			check := func(name string, failed bool) {
				t.Helper()
				span := spanNamed(t, recorder, name)
				got := []string{span.Status().Code.String(), span.Status().Description, attr(span.Attributes(), "error.type")}
				want := []string{codes.Unset.String(), "", ""}
				if failed {
					want = []string{codes.Error.String(), tt.description, tt.errorType}
				}
				if strings.Join(got, "|") != strings.Join(want, "|") {
					t.Errorf("%s has the status and error.type %q, want %q: %s", name, got, want, tt.why)
				}
			}
			check("cupel.pipeline", true)
			spans := 1
			for _, stage := range order {
				check("cupel.stage."+stage, stage == tt.stage)
				spans++
				span := spanNamed(t, recorder, "cupel.stage."+stage)
				out := attr(span.Attributes(), "cupel.stage.item_count_out")
				if out == "" || (stage == tt.stage) != (out == "0") || attr(span.Attributes(), "cupel.exclusion.count") == "" {
					t.Errorf("%s is not complete:\n%s", stage, tree(recorder.Ended()))
				}
				if stage == tt.stage {
					break
				}
			}
			if len(recorder.Ended()) != spans {
				t.Errorf("%d spans, want %d: stages that were not reached have none", len(recorder.Ended()), spans)
			}
			if all := tree(recorder.Ended()); strings.Contains(all, "secret") {
				t.Errorf("content left the process:\n%s", all)
			}
		})
	}
}

func TestFailedRunsKeepTheirTimesAndExclusions(t *testing.T) {
	provider, recorder := newRecorder(t)
	collector := cupelotel.NewTraceCollector(cupelotel.WithPipelineClock(), cupelotel.WithTracerProvider(provider), cupelotel.WithVerbosity(cupelotel.VerbosityFull))
	var f failing
	_ = f.run(t, func(_ *testing.T, f *failing) {
		f.config.Placer = placeFunc(func(context.Context, []cupel.ScoredItem) ([]int, error) { panic("no") })
	}, collector)
	place, root := spanNamed(t, recorder, "cupel.stage.place"), spanNamed(t, recorder, "cupel.pipeline")
	if !place.EndTime().Equal(base.Add(10*step)) || !root.EndTime().Equal(base.Add(11*step)) {
		t.Errorf("place ended at %s, the run at %s; want readings 10 and 11 of the clock", place.EndTime(), root.EndTime())
	}
	// Truncation came before the placer; there is no window.
	if events := place.Events(); len(events) != 1 || events[0].Name != "cupel.exclusion" {
		t.Errorf("the place stage has the events %v, want the item that was truncated", events)
	}
}

// The pipeline catches only the panics of strategies. Others unwind the run
// without an error; the spans must still end.
func TestRunsThatNeverReturn(t *testing.T) {
	none := func(*pipeline.Config) {}
	event := func(leave func()) observe.TraceCollector {
		return observe.Funcs{StageEvent: func(e cupel.TraceEvent) {
			if e.Stage == cupel.StageScore {
				leave()
			}
		}}
	}
	boom := func() { panic("secret") }
	for _, tt := range []struct {
		name    string
		change  func(c *pipeline.Config)
		other   observe.TraceCollector
		stages  []string // that were started, in order; the last one is abandoned
		unwound any      // what the caller recovers; nil for Goexit
		why     string
	}{
		{"overflow observer panics", func(c *pipeline.Config) {
			c.Overflow, c.OnOverflow = pipeline.OverflowProceed, func(cupel.OverflowEvent) { boom() }
		}, nil, []string{"classify", "score", "deduplicate", "slice", "place"}, "secret", "it is called during place"},
		{"another collector panics", none, event(boom), []string{"classify", "score"}, "secret", "events are recorded before stages end"},
		{"another collector exits", none, event(runtime.Goexit), []string{"classify", "score"}, nil, "recover sees no Goexit"},
		{"slicer exits", func(c *pipeline.Config) {
			c.Slicer = sliceFunc(func(context.Context, []cupel.ScoredItem, cupel.SliceBudget) (strategy.Selection, error) {
				runtime.Goexit()
				return strategy.Selection{}, nil
			})
		}, nil, []string{"classify", "score", "deduplicate", "slice"}, nil, "t.FailNow in a strategy does that"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			provider, recorder := newRecorder(t) // as many spans must end as start
			meters, reader := newReader(t)
			collector := observe.Multi(
				cupelotel.NewTraceCollector(cupelotel.WithPipelineClock(), cupelotel.WithTracerProvider(provider), cupelotel.WithVerbosity(cupelotel.VerbosityFull)),
				cupelotel.NewMetricCollector(cupelotel.WithMeterProvider(meters)), tt.other)
			c := config()
			c.Clock = ticking(step)
			tt.change(&c)
			p := newPipeline(t, c)
			var unwound any
			var wait sync.WaitGroup
			wait.Go(func() {
				defer func() { unwound = recover() }()
				_, err := p.Run(t.Context(), candidates(t), newBudget(t, 1000, 100), pipeline.WithTrace(collector))
				t.Errorf("Run returned %v", err)
			})
			wait.Wait()
			if unwound != tt.unwound {
				t.Errorf("the caller recovered %v, want %v", unwound, tt.unwound)
			}

			if n := len(recorder.Ended()); n != 1+len(tt.stages) {
				t.Errorf("%d spans, want the root and %v: %s", n, tt.stages, tt.why)
			}
			abandoned := tt.stages[len(tt.stages)-1]
			description := "cupel: the run was abandoned in stage " + strings.ToUpper(abandoned[:1]) + abandoned[1:]
			for _, span := range recorder.Ended() {
				want := sdktrace.Status{Code: codes.Error, Description: description}
				errorType := "*observe.AbandonedError"
				if span.Name() != "cupel.pipeline" && span.Name() != "cupel.stage."+abandoned {
					want, errorType = sdktrace.Status{}, ""
				}
				if got := attr(span.Attributes(), "error.type"); span.Status() != want || got != errorType {
					t.Errorf("%s has the status %v and error.type %q, want %v and %q: %s", span.Name(), span.Status(), got, want, errorType, tt.why)
				}
				if span.EndTime().Before(span.StartTime()) || span.EndTime().After(base.Add(20*step)) {
					t.Errorf("%s ended at %s, which is no reading of the clock", span.Name(), span.EndTime())
				}
			}
			if all := tree(recorder.Ended()); strings.Contains(all, "secret") {
				t.Errorf("content left the process:\n%s", all)
			}
			for _, m := range collect(t, reader) {
				if p := points(m); m.Name == "cupel.pipeline.duration" && !strings.HasPrefix(p["cupel.run.mode=run error.type=*observe.AbandonedError"], "1 ") {
					t.Errorf("%s counted %v, want one abandoned run", m.Name, p)
				}
			}
		})
	}
}
