package cupelotel_test

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
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
			require.NoError(t, err)
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
		"score", "*cupel.PanicError", "cupel: scorer panicked",
		"a panic may quote an item",
	},
	{
		"placer panics",
		func(_ *testing.T, f *failing) {
			f.config.Placer = placeFunc(func(context.Context, []cupel.ScoredItem, []int) error { panic("secret") })
		},
		"place", "*cupel.PanicError", "cupel: placer panicked",
		"another role",
	},
	{
		"scorer fails",
		func(_ *testing.T, f *failing) {
			f.config.Scorer = batchFunc(func(_ context.Context, all []*cupel.ContextItem, _ []float64) error {
				return errors.New("model refused: " + all[0].Content())
			})
		},
		"score", "*cupel.StrategyError", "cupel: scorer failed",
		"an error of a strategy may quote an item",
	},
	{
		"slicer breaks its contract",
		func(_ *testing.T, f *failing) {
			f.config.Slicer = sliceFunc(func(context.Context, []cupel.ScoredItem, cupel.SliceBudget) (strategy.Selection, error) {
				return strategy.Selection{Indices: []int{99}}, nil
			})
		},
		"slice", "*cupel.ContractError", "cupel: slicer broke its contract",
		"a position out of range",
	},
	{
		"canceled during the run, for a reason",
		func(_ *testing.T, f *failing) {
			f.config.Scorer = scoreFunc(func(*cupel.ContextItem) float64 { f.cancel(errors.New("secret reason")); return 0 })
		},
		"deduplicate", "context.Canceled", "cupel: stopped in stage Deduplicate",
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
		"classify", "context.DeadlineExceeded", "cupel: stopped in stage Classify",
		"a timeout is not a cancellation",
	},
	{
		"context with an error of its own",
		func(_ *testing.T, f *failing) { f.ctx = oddContext{f.ctx} },
		"classify", "*pipeline.CanceledError", "cupel: stopped in stage Classify",
		"its text is not the standard library's",
	},
	{
		"configuration error of a strategy",
		byHand(&cupel.InvalidConfigError{Component: "secret", Field: "secret", Value: "secret", Reason: "secret"}),
		"score", "*cupel.InvalidConfigError", "cupel: the run failed",
		"passed on unchanged, with text written by a strategy",
	},
	{
		"strategy error with texts",
		byHand(&cupel.StrategyError{Role: "secret", Strategy: "a secret item. It quotes", Reason: "secret"}),
		"score", "*cupel.StrategyError", "cupel: strategy failed",
		"made by hand, with a text where the role and the type belong",
	},
	{
		"nil pointer for an error",
		byHand((*cupel.StrategyError)(nil)),
		"score", "*cupel.StrategyError", "cupel: scorer failed",
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
func (f *failing) run(t *testing.T, arrange func(*testing.T, *failing), collector observe.TraceCollector) {
	t.Helper()
	f.ctx, f.cancel = context.WithCancelCause(t.Context())
	t.Cleanup(func() { f.cancel(nil) })
	f.config, f.items = config(), candidates(t)
	arrange(t, f)
	_, err := newPipeline(t, f.config).Run(f.ctx, f.items, newBudget(t, 1000, 100), pipeline.WithTrace(collector))
	require.Error(t, err)
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

func TestFailedRuns(t *testing.T) {
	order := []string{"classify", "score", "deduplicate", "slice", "place"}
	for _, tt := range failures {
		t.Run(tt.name, func(t *testing.T) {
			collector, recorder := traced(t, cupelotel.VerbosityFull)
			var f failing
			f.run(t, tt.arrange, collector)

			check := func(span sdktrace.ReadOnlySpan, failed bool) {
				t.Helper()
				status, errorType := sdktrace.Status{}, ""
				if failed {
					status, errorType = sdktrace.Status{Code: codes.Error, Description: tt.description}, tt.errorType
				}
				assert.Equal(t, status, span.Status(), "%s: %s", span.Name(), tt.why)
				assert.Equal(t, errorType, attr(span.Attributes(), "error.type"), "%s: %s", span.Name(), tt.why)
			}
			check(spanNamed(t, recorder, "cupel.pipeline"), true)
			reached := slices.Index(order, tt.stage) + 1
			assert.Len(t, recorder.Ended(), 1+reached, "stages that were not reached have no span")
			for _, stage := range order[:reached] {
				span := spanNamed(t, recorder, "cupel.stage."+stage)
				check(span, stage == tt.stage)
				assert.Equal(t, stage == tt.stage, attr(span.Attributes(), "cupel.stage.item_count_out") == "0")
				assert.NotEmpty(t, attr(span.Attributes(), "cupel.exclusion.count"))
			}
			assert.NotContains(t, tree(recorder.Ended()), "secret")
		})
	}
}

// Truncation comes before the placer; there is no window.
func TestFailedRunsKeepTheirExclusions(t *testing.T) {
	collector, recorder := traced(t, cupelotel.VerbosityFull)
	var f failing
	f.run(t, failureNamed(t, "placer panics"), collector)
	events := spanNamed(t, recorder, "cupel.stage.place").Events()
	require.Len(t, events, 1)
	assert.Equal(t, "cupel.exclusion", events[0].Name)
}

// The pipeline catches only the panics of strategies. Others unwind the run without an
// error; the spans must still end.
func TestRunsThatNeverReturn(t *testing.T) {
	spans, recorder := traced(t, cupelotel.VerbosityFull) // as many spans must end as start
	metrics, reader := measured(t)
	c := config()
	c.Overflow, c.OnOverflow = pipeline.OverflowProceed, func(cupel.OverflowEvent) { panic("secret") } // called during place
	assert.PanicsWithValue(t, "secret", func() { run(t, c, observe.Multi(spans, metrics)) })

	assert.Len(t, recorder.Ended(), 6)
	for _, span := range recorder.Ended() {
		status, errorType := sdktrace.Status{}, ""
		if span.Name() == "cupel.pipeline" || span.Name() == "cupel.stage.place" {
			status, errorType = sdktrace.Status{Code: codes.Error, Description: "cupel: the run was abandoned in stage Place"}, "*observe.AbandonedError"
		}
		assert.Equal(t, status, span.Status(), span.Name())
		assert.Equal(t, errorType, attr(span.Attributes(), "error.type"), span.Name())
	}
	assert.NotContains(t, tree(recorder.Ended()), "secret")
	for _, m := range collect(t, reader) {
		if m.Name == "cupel.pipeline.duration" {
			assert.Regexp(t, "^1 ", points(m)["cupel.run.mode=run error.type=*observe.AbandonedError"])
		}
	}
}
