package cupeltest_test

import (
	"context"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupel/pipeline"
	"github.com/wollax/cupel-go/cupel/placer"
	"github.com/wollax/cupel-go/cupel/scorer"
	"github.com/wollax/cupel-go/cupel/slicer"
	"github.com/wollax/cupel-go/cupel/strategy"
	"github.com/wollax/cupel-go/cupeltest"
)

type scoreFunc func(item *cupel.ContextItem, all []*cupel.ContextItem) float64

func (f scoreFunc) Score(ctx context.Context, items []*cupel.ContextItem, scores []float64) error {
	return strategy.ScorerFunc(f).Score(ctx, items, scores)
}

type sliceFunc func(items []cupel.ScoredItem, budget cupel.SliceBudget) (strategy.Selection, error)

func (f sliceFunc) Slice(_ context.Context, items []cupel.ScoredItem, budget cupel.SliceBudget) (strategy.Selection, error) {
	return f(items, budget)
}

type placeFunc func(items []cupel.ScoredItem) ([]int, error)

func (f placeFunc) Place(_ context.Context, items []cupel.ScoredItem) ([]int, error) { return f(items) }

func newPipeline(t *testing.T, config pipeline.Config) *pipeline.Pipeline {
	t.Helper()
	if config.Scorer == nil {
		config.Scorer = scorer.Reflexive{}
	}
	if config.Slicer == nil {
		config.Slicer = slicer.Greedy{}
	}
	if config.Placer == nil {
		config.Placer = placer.UShaped{}
	}
	pipeline, err := pipeline.New(config)
	require.NoError(t, err)
	return pipeline
}

func deterministic(pipeline *pipeline.Pipeline, items []*cupel.ContextItem, n int, opts ...cupeltest.ChainOption) string {
	s := watch(func(t cupeltest.T) {
		cupeltest.Deterministic(t, pipeline, items, cupeltest.Budget(100, 50), n, opts...)
	})
	if s.stopped {
		return "stopped"
	}
	return strings.Join(s.messages, "\n")
}

func TestDeterministic(t *testing.T) {
	runs := 0
	counted := newPipeline(t, pipeline.Config{
		Overflow:   pipeline.OverflowProceed,
		OnOverflow: func(cupel.OverflowEvent) { t.Error("the overflow observer was called") },
		Scorer:     scoreFunc(func(*cupel.ContextItem, []*cupel.ContextItem) float64 { runs++; return 0.5 }),
	})
	items := append(cupeltest.Items(1), cupeltest.Item("pinned", 60, cupel.WithPinned()))
	require.Empty(t, deterministic(counted, items, 5))
	require.Equal(t, 5, runs)
	require.Equal(t, "Deterministic failed: it takes at least 2 runs to compare, got n = 1.", deterministic(counted, items, 1))
	require.Equal(t, "Deterministic failed: run 1 of 2: cupel: the pipeline is empty: build it with New (Pipeline)", deterministic(nil, items, 2))
}

func TestDeterministicFindsDifferences(t *testing.T) {
	runs := 0
	drifting := newPipeline(t, pipeline.Config{Scorer: scoreFunc(func(item *cupel.ContextItem, _ []*cupel.ContextItem) float64 {
		if item.Tokens() == 10 {
			runs++
		}
		if runs == 3 && item.Tokens() == 20 {
			return 0.25
		}
		return 0.5
	})})
	items := cupeltest.Items(10, 20)
	require.Equal(t, `Deterministic failed: run 3 of 4 differs from the first (- run 1, + run 3):
- in: "item 2", candidate 1, score 0.5
+ in: "item 2", candidate 1, score 0.25`, deterministic(drifting, items, 4))
	runs = 0
	require.Contains(t, deterministic(drifting, items, 4, cupeltest.WithHiddenContents()), "\n+ in: <6 bytes>, candidate 1, score 0.25")

	turning := newPipeline(t, pipeline.Config{KeepDuplicates: true, Slicer: sliceFunc(func([]cupel.ScoredItem, cupel.SliceBudget) (strategy.Selection, error) {
		runs++
		return strategy.Selection{Indices: []int{runs % 2}}, nil
	})})
	twin := cupeltest.Item("twin", 40)
	require.Contains(t, deterministic(turning, []*cupel.ContextItem{twin, twin}, 2), "\n+ in: \"twin\", candidate ")

	reasoning := newPipeline(t, pipeline.Config{Slicer: sliceFunc(func([]cupel.ScoredItem, cupel.SliceBudget) (strategy.Selection, error) {
		runs++
		return strategy.Selection{Drops: []strategy.Drop{{Index: 0, Reason: cupel.NewExclusionReason("TooSimilar", cupel.ReasonData{Score: float64(runs)})}}}, nil
	})})
	runs = 0
	require.Contains(t, deterministic(reasoning, items, 2), "score 0, TooSimilar: score=2")

	failing := 0
	broken := newPipeline(t, pipeline.Config{Scorer: scoreFunc(func(*cupel.ContextItem, []*cupel.ContextItem) float64 {
		if failing++; failing > 2 {
			panic("enough")
		}
		return 1
	})})
	require.Contains(t, deterministic(broken, items, 3), "Deterministic failed: run 2 of 3: cupel: scorer cupeltest_test.scoreFunc panicked")
}

// A run gives the report and the window in one call.
func TestRun(t *testing.T) {
	pipeline := newPipeline(t, pipeline.Config{})
	r, window := cupeltest.Run(t, pipeline, deskItems(), cupeltest.Budget(90, 90))
	require.Len(t, window, 4)
	for i, entry := range r.Included {
		require.Same(t, entry.Item, window[i])
	}
	pinned := []*cupel.ContextItem{cupeltest.Item("pinned", 101, cupel.WithPinned())}
	for _, s := range []interface {
		cupeltest.T
		reported() []string
	}{new(spy), new(keepsOn)} {
		apart(func() { require.NotNil(t, dryRun(s, pipeline, pinned, cupeltest.Budget(100, 50))) })
		require.Equal(t, []string{"Run failed: cupel: Pinned items require 101 tokens, but only 100 are available"}, s.reported())
	}
}
