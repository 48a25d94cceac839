package pipeline_test

import (
	"context"
	"errors"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"
	"weak"

	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupel/internal/compat"
	"github.com/wollax/cupel-go/cupel/observe"
	"github.com/wollax/cupel-go/cupel/pipeline"
	"github.com/wollax/cupel-go/cupel/strategy"
)

// TestStrategiesThatChangeTheirArguments: no contract allows it, and yet the
// window and the report stay right, because the engine keeps its own record.
func TestStrategiesThatChangeTheirArguments(t *testing.T) {
	pin := cupel.WithPinned()
	tests := []struct {
		name   string
		change func(*pipeline.Config)
		why    string
	}{
		{"batch scorer clears the list", withScorer(batchFunc(func(ctx context.Context, all []*cupel.ContextItem, scores []float64) error {
			err := byHint{}.Score(ctx, all, scores)
			clear(all)
			return err
		})), "the reasons of Slice need the tokens of items that the scorer has seen"},
		{"slicer clears the list", withSlicer(sliceFunc(func(ctx context.Context, items []cupel.ScoredItem, budget cupel.SliceBudget) (strategy.Selection, error) {
			sel, err := inOrder(ctx, items, budget)
			clear(items)
			return sel, err
		})), "what is merged is found by position"},
		{"placer clears the list", withPlacer(placeFunc(func(_ context.Context, items []cupel.ScoredItem, _ []int) error {
			clear(items)
			return nil
		})), "the inclusions are explained after the placer has run"},
	}
	items := []*cupel.ContextItem{item(t, "p", 1, pin), item(t, "a", 5, hint(0.9)), item(t, "b", 3, hint(0.5)), item(t, "c", 50, hint(0.1))}
	budget := budgetOf(t, 100, 12)
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			p := newPipeline(t, tt.change)
			s := &spy{}
			window, err := p.Run(t.Context(), items, budget, pipeline.WithTrace(s))
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

// A slicer that puts another item into its list may take a form that its own items do
// not have.
func TestSlicerTakesAFormThatIsNotThere(t *testing.T) {
	full := item(t, "full", 9, cupel.WithVariants(cupel.Variant{Content: "short", Tokens: 2, Worth: 0.5}))
	p := newPipeline(t, withSlicer(sliceFunc(func(_ context.Context, items []cupel.ScoredItem, _ cupel.SliceBudget) (strategy.Selection, error) {
		items[0].Item = full
		return strategy.Selection{Smaller: []strategy.SmallerForm{{Index: 0, Form: 1}}}, nil
	})))
	window, err := p.Run(t.Context(), []*cupel.ContextItem{item(t, "a", 5, hint(0.9))}, budgetOf(t, 9, 9))
	if window != nil || !errors.Is(err, cupel.ErrContract) || err.Error() != "cupel: slicer pipeline_test.sliceFunc changed the list that it was given, which breaks the contract of a slicer" {
		t.Errorf("got %v, %v", window, err)
	}
}

func TestPipelineThatNewDidNotBuild(t *testing.T) {
	for name, p := range map[string]*pipeline.Pipeline{"nil": nil, "zero": {}} {
		t.Run(name, func(t *testing.T) {
			items := []*cupel.ContextItem{item(t, "a", 1)}
			_, err := p.Run(t.Context(), items, budgetOf(t, 9, 9), pipeline.WithTrace(&plain{}))
			errorIs(t, err, cupel.ErrInvalidConfig)
			report, err := p.DryRun(t.Context(), items, budgetOf(t, 9, 9))
			errorIs(t, err, cupel.ErrInvalidConfig)
			if report == nil {
				t.Error("DryRun returned no report with its error")
			}
			result, err := p.RunStream(t.Context(), failing(nil), budgetOf(t, 1, 1))
			errorIs(t, err, cupel.ErrInvalidConfig)
			if c := p.Config(); result == nil || c.Scorer != nil || c.Slicer != nil || c.Placer != nil {
				t.Errorf("got the result %v, and the settings %+v", result, c)
			}
		})
	}
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

func (l *limiting) StartRun(ctx context.Context, _ observe.RunInfo) (context.Context, observe.RunTrace) {
	if l.stage == "" {
		ctx = ended(ctx)
	}
	return ctx, &limitingRun{stage: l.stage}
}

type limitingRun struct {
	observe.NoTrace
	stage cupel.PipelineStage
}

func (l *limitingRun) StartStage(ctx context.Context, s observe.StageStart) context.Context {
	if s.Stage == l.stage {
		return ended(ctx)
	}
	return nil // as good as ctx
}

func TestObserverEndsTheContext(t *testing.T) {
	for at, want := range map[cupel.PipelineStage]cupel.PipelineStage{
		"":                  cupel.StageClassify, // the whole run: the first stage notices
		cupel.StageClassify: cupel.StageClassify, cupel.StageScore: cupel.StageScore, cupel.StageDeduplicate: cupel.StageDeduplicate,
		cupel.StageSlice: cupel.StageSlice, cupel.StagePlace: cupel.StagePlace,
	} {
		_, err := newPipeline(t).Run(t.Context(), observedItems(t), budgetOf(t, 20, 10), pipeline.WithTrace(&limiting{stage: at}))
		canceled, ok := compat.AsType[*pipeline.CanceledError](err)
		if !ok || canceled.Stage != want || !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("%q: got %T %v, want a CanceledError of stage %s", at, err, err, want)
		}
	}
}

// TestRunsKeepNoItems: the memory that runs reuse must not keep the caller's
// items alive, whichever way a run ends.
func TestRunsKeepNoItems(t *testing.T) {
	tests := []struct {
		name   string
		change func(*pipeline.Config)
		opts   []cupel.ItemOption
		why    string
	}{
		{"window", withSlicer(inOrder), nil, "its lists go back to the pool"},
		{"groups", withSlicer(inOrder), []cupel.ItemOption{cupel.WithGroup("g"), cupel.WithVersionOf("k")}, "so do its stand-ins and links"},
		{"truncated", func(c *pipeline.Config) { c.Slicer, c.Overflow = everything, pipeline.OverflowTruncate }, nil, "a list that was cut keeps its tail"},
		{"failed", withPlacer(placing(7)), nil, "its lists do not go back"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			p := newPipeline(t, tt.change)
			var kept []weak.Pointer[cupel.ContextItem]
			for _, n := range []int{100, 3} { // the second run uses only the beginning of the first one's lists
				var items []*cupel.ContextItem
				for i := range n {
					it := item(t, strings.Repeat("x", i+1), i%9, append(slices.Clip(tt.opts), hint(float64(i)))...)
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
