package cupel_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupel/internal/compat"
	"github.com/wollax/cupel-go/cupel/scorer"
)

func selecting(indices ...int) cupel.Slicer {
	return sliceFunc(func(context.Context, []cupel.ScoredItem, cupel.SliceBudget) (cupel.Selection, error) {
		return cupel.Selection{Indices: indices}, nil
	})
}

func dropping(drops ...cupel.Drop) cupel.Slicer {
	return sliceFunc(func(context.Context, []cupel.ScoredItem, cupel.SliceBudget) (cupel.Selection, error) {
		return cupel.Selection{Indices: []int{0}, Drops: drops}, nil
	})
}

func placing(order ...int) cupel.Placer {
	return placeFunc(func(context.Context, []cupel.ScoredItem) ([]int, error) { return order, nil })
}

var errOwn = errors.New("the strategy's own error")

func TestMisbehavingStrategies(t *testing.T) {
	filtered := cupel.ExclusionReason{Code: cupel.ExcludeFiltered}
	tests := []struct {
		name   string
		change func(*cupel.Config)
		want   string // part of the message
		stage  cupel.PipelineStage
		why    string
	}{
		{"scorer panics", withScorer(scoreFunc(func(*cupel.ContextItem, []*cupel.ContextItem) float64 { panic("boom") })),
			"scorer cupel_test.scoreFunc panicked: panic: boom", cupel.StageScore, "a panic must not take the service down"},
		{"scorer panics with an error", withScorer(scoreFunc(func(*cupel.ContextItem, []*cupel.ContextItem) float64 { panic(errOwn) })),
			"panicked: panic: the strategy's own error", cupel.StageScore, "the error inside stays reachable"},
		{"batch form fails", withScorer(batchFunc(func(context.Context, []*cupel.ContextItem, []float64) error { return errOwn })),
			"scorer cupel_test.batchFunc failed: the strategy's own error", cupel.StageScore, "the strategy is named"},
		{"slicer fails", withSlicer(sliceFunc(func(context.Context, []cupel.ScoredItem, cupel.SliceBudget) (cupel.Selection, error) {
			return cupel.Selection{Indices: []int{0}}, errOwn
		})), "slicer cupel_test.sliceFunc failed: the strategy's own error", cupel.StageSlice, "a selection with an error does not count"},
		{"slicer panics", withSlicer(sliceFunc(func(_ context.Context, items []cupel.ScoredItem, _ cupel.SliceBudget) (cupel.Selection, error) {
			_ = items[99]
			return cupel.Selection{}, nil
		})), "slicer cupel_test.sliceFunc panicked", cupel.StageSlice, "runtime panics count as well"},
		{"slicer returns a foreign position", withSlicer(selecting(3)), "returned position 3 out of range of 3 items", cupel.StageSlice, "R24"},
		{"slicer returns a negative position", withSlicer(selecting(-1)), "returned position -1 out of range of 3 items", cupel.StageSlice, "R24"},
		{"slicer returns a position twice", withSlicer(selecting(1, 0, 1)), "returned position 1 twice of 3 items", cupel.StageSlice, "R24"},
		{"slicer drops what it selected", withSlicer(dropping(cupel.Drop{Index: 0, Reason: filtered})), "returned position 0 twice", cupel.StageSlice, "an item is in or out"},
		{"slicer drops a foreign position", withSlicer(dropping(cupel.Drop{Index: 9, Reason: filtered})), "returned position 9 out of range", cupel.StageSlice, "R24"},
		{"slicer drops without a reason", withSlicer(dropping(cupel.Drop{Index: 1})), "position 1 as dropped without a reason", cupel.StageSlice, "every exclusion has a reason"},
		{"placer forgets items", withPlacer(placing(0)), "placer cupel_test.placeFunc returned 1 positions for 3 items", cupel.StagePlace, "R24"},
		{"placer repeats an item", withPlacer(placing(0, 1, 1)), "returned position 1 twice", cupel.StagePlace, "R24"},
		{"placer invents an item", withPlacer(placing(0, 1, 3)), "returned position 3 out of range", cupel.StagePlace, "R24"},
		{"placer panics", withPlacer(placeFunc(func(context.Context, []cupel.ScoredItem) ([]int, error) { panic("boom") })),
			"placer cupel_test.placeFunc panicked: panic: boom", cupel.StagePlace, "a panic must not take the service down"},
		{"placer fails", withPlacer(placeFunc(func(context.Context, []cupel.ScoredItem) ([]int, error) { return nil, errOwn })),
			"placer cupel_test.placeFunc failed: the strategy's own error", cupel.StagePlace, "the strategy is named"},
	}
	items := []*cupel.ContextItem{item(t, "a", 1), item(t, "b", 1), item(t, "c", 1)}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			p := pipeline(t, tt.change)
			report, err := p.DryRun(t.Context(), items, budgetOf(t, 9, 9))
			var strategy *cupel.StrategyError
			if !errors.As(err, &strategy) || !errors.Is(err, cupel.ErrStrategy) {
				t.Fatalf("got %v, want a StrategyError: %s", err, tt.why)
			}
			if !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %q, want it to contain %q: %s", err, tt.want, tt.why)
			}
			if strings.Contains(tt.want, errOwn.Error()) {
				errorIs(t, err, errOwn)
			}
			broke := strategy.Err == nil
			if _, ok := compat.AsType[*cupel.ContractError](err); ok != broke || errors.Is(err, cupel.ErrContract) != broke ||
				strings.Contains(err.Error(), "breaks the contract of a "+strategy.Role) != broke {
				t.Errorf("got %#v: a strategy that returned no error, and nothing else, broke its contract", err)
			}
			var panicked *cupel.PanicError
			if errors.As(err, &panicked) != strings.Contains(tt.want, "panicked") {
				t.Errorf("got %#v: a panic, and nothing else, is a PanicError", err)
			}
			if panicked != nil && len(panicked.Stack) == 0 {
				t.Error("a PanicError without a stack")
			}
			if last := report.Events[len(report.Events)-1].Stage; last == tt.stage {
				t.Errorf("stage %s has an event though it failed (R35)", last)
			}
			// The memory of a run that failed is not reused: the next run is as good as any.
			if got, err := pipeline(t).Run(t.Context(), items, budgetOf(t, 9, 9)); err != nil || contents(got) != "a b c" {
				t.Errorf("next run: got %q, error %v", contents(got), err)
			}
		})
	}
}

// wrapper is a custom scorer and slicer that wraps others.
type wrapper struct {
	scorers []cupel.Scorer
	slicers []cupel.Slicer
	invalid error
}

func (w *wrapper) Score(*cupel.ContextItem, []*cupel.ContextItem) float64 { return 0 }
func (w *wrapper) Scorers() []cupel.Scorer                                { return w.scorers }
func (w *wrapper) Slicers() []cupel.Slicer                                { return w.slicers }
func (w *wrapper) Validate() error                                        { return w.invalid }
func (w *wrapper) Slice(context.Context, []cupel.ScoredItem, cupel.SliceBudget) (cupel.Selection, error) {
	return cupel.Selection{}, nil
}

// endless wraps a new copy of itself each time somebody looks.
type endless struct{ list []int }

func (e endless) Score(*cupel.ContextItem, []*cupel.ContextItem) float64 { return 0 }
func (e endless) Scorers() []cupel.Scorer                                { return []cupel.Scorer{endless{make([]int, 1)}} }

// broken panics when it is looked into.
type broken struct{ byHint }

func (broken) Scorers() []cupel.Scorer { panic("do not look") }

type invalidPlacer struct{ cupel.Placer }

func (invalidPlacer) Validate() error { return errOwn }

type panickingPlacer struct{ cupel.Placer }

func (panickingPlacer) Validate() error { panic("do not ask") }

func TestValidation(t *testing.T) {
	loop := &wrapper{}
	loop.scorers = []cupel.Scorer{&wrapper{scorers: []cupel.Scorer{byHint{}, loop}}}
	loop.slicers = []cupel.Slicer{&wrapper{slicers: []cupel.Slicer{inOrder, loop}}}
	shared := &wrapper{scorers: []cupel.Scorer{byHint{}}, slicers: []cupel.Slicer{inOrder}}
	diamond := &wrapper{scorers: []cupel.Scorer{shared, shared}, slicers: []cupel.Slicer{shared, shared}}
	own := &cupel.InvalidConfigError{Component: "X", Reason: "is wrong"}
	var deep cupel.Scorer = byHint{}
	for range 1001 {
		deep = &wrapper{scorers: []cupel.Scorer{deep}}
	}

	tests := []struct {
		name   string
		change func(*cupel.Config)
		want   string // the error, or "" when the configuration is good
		why    string
	}{
		{"scorer in itself", withScorer(loop), "cupel: Cycle detected: scorer appears in its own dependency graph (*cupel_test.wrapper)", "custom wrappers can close a loop"},
		{"slicer in itself", withSlicer(loop), "cupel: Cycle detected: slicer appears in its own dependency graph (*cupel_test.wrapper)", "custom wrappers can close a loop"},
		{"scorer used twice", withScorer(diamond), "", "a diamond is no cycle"},
		{"slicer used twice", withSlicer(diamond), "", "a diamond is no cycle"},
		{"nil child", withScorer(&wrapper{scorers: []cupel.Scorer{nil}}), "cupel: scorer must not be nil (*cupel_test.wrapper)", "it would panic at the first run"},
		{"nil pointer as child", withSlicer(&wrapper{slicers: []cupel.Slicer{(*wrapper)(nil)}}), "cupel: slicer must not be nil (*cupel_test.wrapper)", "it would panic at the first run"},
		{"child not valid", withScorer(&wrapper{scorers: []cupel.Scorer{&wrapper{invalid: errOwn}}}), "cupel: scorer is not valid: the strategy's own error (*cupel_test.wrapper)", "validation looks through wrappers"},
		{"child not valid in our words", withSlicer(&wrapper{slicers: []cupel.Slicer{&wrapper{invalid: own}}}), own.Error(), "an InvalidConfigError needs no wrapping"},
		{"endless wrapper", withScorer(endless{make([]int, 1)}), "cupel: scorers are nested more than 1000 deep (cupel_test.endless)", "no identity to compare, so depth ends it"},
		{"too deep", withScorer(deep), "cupel: scorers are nested more than 1000 deep (*cupel_test.wrapper)", "the limit is one past this"},
		{"panics when looked into", withScorer(broken{}), "cupel: scorer panicked while it was validated: do not look (cupel_test.broken)", "not even construction panics"},
		{"placer not valid", withPlacer(invalidPlacer{asMerged}), "cupel: placer is not valid: the strategy's own error (cupel_test.invalidPlacer)", "placers are asked as well"},
		{"placer panics when asked", withPlacer(panickingPlacer{asMerged}), "cupel: placer panicked while it was validated: do not ask (cupel_test.panickingPlacer)", "not even construction panics"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			config := cupel.Config{Scorer: byHint{}, Slicer: inOrder, Placer: asMerged}
			tt.change(&config)
			_, err := cupel.New(config)
			switch {
			case tt.want == "" && err != nil:
				t.Errorf("got %v, want no error: %s", err, tt.why)
			case tt.want != "" && (err == nil || err.Error() != tt.want || !errors.Is(err, cupel.ErrInvalidConfig)):
				t.Errorf("got %v, want %s: %s", err, tt.want, tt.why)
			}
		})
	}
}

func TestAllSlicers(t *testing.T) {
	inner := &wrapper{slicers: []cupel.Slicer{inOrder, everything}}
	outer := &wrapper{slicers: []cupel.Slicer{inner, inner}}
	var got []string
	for s := range cupel.AllSlicers(outer) {
		got = append(got, fmt.Sprintf("%T", s))
	}
	equal(t, "slicers, outer ones first", strings.Join(got, " "), "*cupel_test.wrapper *cupel_test.wrapper cupel_test.sliceFunc cupel_test.sliceFunc")
	count := 0
	for range cupel.AllSlicers(outer) {
		if count++; count == 2 {
			break
		}
	}
	equal(t, "slicers before a break", count, 2)
}

func TestHelpersRefuseNilAndWrongLengths(t *testing.T) {
	ctx := t.Context()
	errorIs(t, cupel.ScoreAll(ctx, nil, nil, nil), cupel.ErrStrategy)
	errorIs(t, cupel.ScoreAll(ctx, scoreFunc(nil), nil, nil), cupel.ErrStrategy)
	errorIs(t, cupel.ScoreAll(ctx, byHint{}, make([]*cupel.ContextItem, 2), make([]float64, 1)), cupel.ErrStrategy)
	_, err := cupel.Slice(ctx, nil, nil, cupel.SliceBudget{})
	errorIs(t, err, cupel.ErrStrategy)
	_, err = cupel.Place(ctx, nil, nil)
	errorIs(t, err, cupel.ErrStrategy)
}

func TestHelpersTakeNoContext(t *testing.T) {
	var none context.Context
	all := []*cupel.ContextItem{item(t, "a", 1)}
	scored := []cupel.ScoredItem{{Item: all[0]}}
	asking := batchFunc(func(ctx context.Context, _ []*cupel.ContextItem, _ []float64) error { return ctx.Err() })
	for _, s := range []cupel.Scorer{byHint{}, asking} {
		if err := cupel.ScoreAll(none, s, all, make([]float64, 1)); err != nil {
			t.Errorf("ScoreAll of %T: %v", s, err)
		}
	}
	if _, err := cupel.Slice(none, sliceFunc(func(ctx context.Context, _ []cupel.ScoredItem, _ cupel.SliceBudget) (cupel.Selection, error) {
		return cupel.Selection{}, ctx.Err()
	}), scored, cupel.SliceBudget{}); err != nil {
		t.Errorf("Slice: %v", err)
	}
	if _, err := cupel.Place(none, placeFunc(func(ctx context.Context, _ []cupel.ScoredItem) ([]int, error) {
		return []int{0}, ctx.Err()
	}), scored); err != nil {
		t.Errorf("Place: %v", err)
	}
	// An error is dressed without a context too.
	_, err := cupel.Slice(none, sliceFunc(func(context.Context, []cupel.ScoredItem, cupel.SliceBudget) (cupel.Selection, error) {
		return cupel.Selection{}, errOwn
	}), scored, cupel.SliceBudget{})
	errorIs(t, err, cupel.ErrStrategy)
}

// ownContext is done, and says so with an error of its own.
type ownContext struct {
	context.Context
	err func() error
}

func (c ownContext) Err() error { return c.err() }

type ownError struct{ words []string }

func (ownError) Error() string { return "not any more" }

type ownErrorPointer struct{ n int }

func (*ownErrorPointer) Error() string { return "not any more" }

// TestContextsWithErrorsOfTheirOwn has contexts whose errors cannot be compared,
// or are never the same.
func TestContextsWithErrorsOfTheirOwn(t *testing.T) {
	for name, fails := range map[string]func() error{
		"always the same": func() error { return errOwn },
		"not comparable":  func() error { return ownError{[]string{"a"}} },
		"another one":     func() error { return &ownErrorPointer{1} },
	} {
		for when, left := range map[string]int{"before the run": 0, "in the batch form": 2} {
			t.Run(name+", "+when, func(t *testing.T) {
				ctx := ownContext{t.Context(), func() error {
					if left--; left >= 0 {
						return nil
					}
					return fails()
				}}
				p := pipeline(t, withScorer(batchFunc(func(ctx context.Context, _ []*cupel.ContextItem, _ []float64) error {
					left = 0
					return ctx.Err()
				})))
				_, err := p.Run(ctx, []*cupel.ContextItem{item(t, "a", 1)}, budgetOf(t, 9, 9))
				canceled, ok := compat.AsType[*cupel.CanceledError](err)
				if !ok || canceled.Err.Error() != fails().Error() {
					t.Errorf("got %#v, want a CanceledError with the context's own error", err)
				}
			})
		}
	}
	// Another error of a strategy stays its own.
	ctx := ownContext{t.Context(), func() error { return &ownErrorPointer{1} }}
	errorIs(t, cupel.ScoreAll(ctx, batchFunc(func(context.Context, []*cupel.ContextItem, []float64) error { return errOwn }), nil, nil), cupel.ErrStrategy)
}

func TestEmptyCursor(t *testing.T) {
	for name, c := range map[string]*cupel.Cursor{"nil": nil, "zero": {}} {
		if _, err := c.Move(t.Context(), budgetOf(t, 9, 9)); !errors.Is(err, cupel.ErrInvalidConfig) {
			t.Errorf("%s: got %v, want an InvalidConfigError", name, err)
		}
		if c.Unchanged(budgetOf(t, 9, 9)) {
			t.Errorf("%s: nothing is certain about it", name)
		}
	}
}

func TestEffectiveOfNegativeTokens(t *testing.T) {
	equal(t, "what is left of 10 tokens", budgetOf(t, 10, 10).Effective(-5), cupel.SliceBudget{MaxTokens: 10, TargetTokens: 10})
}

func TestCancellation(t *testing.T) {
	cause := errors.New("the user went away")
	items := []*cupel.ContextItem{item(t, "a", 1), item(t, "b", 1)}
	tests := []struct {
		name  string
		stage cupel.PipelineStage
		with  func(cancel func()) func(*cupel.Config)
		why   string
	}{
		{"before the run", cupel.StageClassify, func(cancel func()) func(*cupel.Config) {
			cancel()
			return func(*cupel.Config) {}
		}, "the first stage notices"},
		{"by the scorer, one by one", cupel.StageDeduplicate, func(cancel func()) func(*cupel.Config) {
			return withScorer(scoreFunc(func(*cupel.ContextItem, []*cupel.ContextItem) float64 { cancel(); return 0 }))
		}, "two items are fewer than the single form looks up after, so the next stage notices"},
		{"by the scorer, in its batch form", cupel.StageScore, func(cancel func()) func(*cupel.Config) {
			return withScorer(batchFunc(func(ctx context.Context, _ []*cupel.ContextItem, _ []float64) error { cancel(); return ctx.Err() }))
		}, "the scorer notices itself"},
		{"by the slicer, which returns the cause", cupel.StageSlice, func(cancel func()) func(*cupel.Config) {
			return withSlicer(sliceFunc(func(ctx context.Context, _ []cupel.ScoredItem, _ cupel.SliceBudget) (cupel.Selection, error) {
				cancel()
				return cupel.Selection{}, context.Cause(ctx)
			}))
		}, "a cause is as good as the context's error"},
		{"by the placer", cupel.StagePlace, func(cancel func()) func(*cupel.Config) {
			return withPlacer(placeFunc(func(ctx context.Context, _ []cupel.ScoredItem) ([]int, error) {
				cancel()
				return nil, fmt.Errorf("wrapped: %w", ctx.Err())
			}))
		}, "wrapped context errors count"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			ctx, cancel := context.WithCancelCause(t.Context())
			defer cancel(nil)
			p := pipeline(t, tt.with(func() { cancel(cause) }))
			_, err := p.Run(ctx, items, budgetOf(t, 9, 9))
			errorIs(t, err, context.Canceled)
			errorIs(t, err, cause)
			var canceled *cupel.CanceledError
			if !errors.As(err, &canceled) || canceled.Stage != tt.stage {
				t.Errorf("got %v, want a CanceledError of stage %s: %s", err, tt.stage, tt.why)
			}
		})
	}
}

func TestSingleFormStopsWhenCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	calls := 0
	s := scoreFunc(func(*cupel.ContextItem, []*cupel.ContextItem) float64 { calls++; cancel(); return 0 })
	errorIs(t, cupel.ScoreAll(ctx, s, make([]*cupel.ContextItem, 1000), make([]float64, 1000)), context.Canceled)
	equal(t, "calls", calls, 64)
}

// TestSeveralWrongSettings has a strategy with two mistakes in its settings: it is
// not one that failed.
func TestSeveralWrongSettings(t *testing.T) {
	err := cupel.ScoreAll(t.Context(), &scorer.Decay{}, []*cupel.ContextItem{item(t, "a", 1)}, make([]float64, 1))
	if !errors.Is(err, cupel.ErrInvalidConfig) || errors.Is(err, cupel.ErrStrategy) {
		t.Errorf("got %v, want what is wrong with the settings alone", err)
	}
	own := errors.Join(&cupel.InvalidConfigError{Reason: "wrong"}, errOwn)
	err = cupel.ScoreAll(t.Context(), cupel.BatchScorerFunc(func(context.Context, []*cupel.ContextItem, []float64) error { return own }), nil, nil)
	if !errors.Is(err, cupel.ErrStrategy) || !errors.Is(err, errOwn) {
		t.Errorf("got %v, want an error that names the scorer", err)
	}
}
