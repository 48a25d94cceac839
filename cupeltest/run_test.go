package cupeltest_test

import (
	"context"
	"strings"
	"testing"

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
	if err != nil {
		t.Fatal(err)
	}
	return pipeline
}

func deterministic(pipeline *pipeline.Pipeline, items []*cupel.ContextItem, n int) string {
	s := watch(func(t cupeltest.T) {
		cupeltest.Deterministic(t, pipeline, items, cupeltest.Budget(100, 50), n)
	})
	if s.stopped {
		return "stopped"
	}
	return strings.Join(s.messages, "\n")
}

func TestDeterministic(t *testing.T) {
	items := cupeltest.Items(10, 20, 30)
	runs := 0
	counted := newPipeline(t, pipeline.Config{Scorer: scoreFunc(func(item *cupel.ContextItem, _ []*cupel.ContextItem) float64 {
		if item == items[0] {
			runs++
		}
		return 0.5
	})})
	if got := deterministic(counted, items, 5); got != "" || runs != 5 {
		t.Errorf("%d runs of 5: %s", runs, got)
	}

	alarm := newPipeline(t, pipeline.Config{
		Overflow:   pipeline.OverflowProceed,
		OnOverflow: func(cupel.OverflowEvent) { t.Error("the overflow observer was called") },
	})
	pinned := append(cupeltest.Items(1), cupeltest.Item("pinned", 60, cupel.WithPinned()))
	if got := deterministic(alarm, pinned, 3); got != "" {
		t.Error(got)
	}
}

func TestDeterministicFindsDifferences(t *testing.T) {
	items := cupeltest.Items(10, 20, 30)
	runs := 0
	drifting := newPipeline(t, pipeline.Config{Scorer: scoreFunc(func(item *cupel.ContextItem, _ []*cupel.ContextItem) float64 {
		if item == items[0] {
			runs++
		}
		if runs == 3 && item == items[1] {
			return 0.75
		}
		return 0.5
	})})
	want := `Deterministic failed: run 3 of 4 differs from the first (- run 1, + run 3):
-   "item 1" (Message, Chat, 10 tokens): Scored | place 1, score 0.5
-   "item 2" (Message, Chat, 20 tokens): Scored | place 2, score 0.5
+   "item 2" (Message, Chat, 20 tokens): Scored | place 1, score 0.75
+   "item 1" (Message, Chat, 10 tokens): Scored | place 2, score 0.5`
	got := deterministic(drifting, items, 4)
	if got != want {
		t.Errorf("another score is reported as\n%s\nwant\n%s", got, want)
	}

	twins := []*cupel.ContextItem{cupeltest.Item("twin", 40), cupeltest.Item("twin", 40)}
	turn := 0
	turning := newPipeline(t, pipeline.Config{KeepDuplicates: true, Slicer: sliceFunc(func([]cupel.ScoredItem, cupel.SliceBudget) (strategy.Selection, error) {
		turn++
		return strategy.Selection{Indices: []int{turn % 2}}, nil
	})})
	if got := deterministic(turning, twins, 2); got != `Deterministic failed: run 2 of 2 has a different item with the same content as run 1, included: "twin".` {
		t.Errorf("another item is reported as %q", got)
	}
	runs = 0
	hidden := watch(func(t cupeltest.T) {
		cupeltest.Deterministic(t, drifting, items, cupeltest.Budget(100, 50), 4, cupeltest.WithHiddenContents())
		cupeltest.Deterministic(t, turning, twins, cupeltest.Budget(100, 50), 2, cupeltest.WithHiddenContents())
	})
	if got := strings.Join(hidden.messages, "\n"); strings.Contains(got, `"item`) || strings.Contains(got, "twin") ||
		!strings.Contains(got, ") (Message, Chat, 20 tokens): Scored | place 1, score 0.75\n") || !strings.Contains(got, "included: <4 bytes>.") {
		t.Errorf("with hidden contents, differences are reported as\n%s", got)
	}
	again := []*cupel.ContextItem{twins[0], twins[0]}
	if got := deterministic(turning, again, 2); got != `Deterministic failed: run 2 of 2 has a different item with the same content as run 1, included: "twin".` {
		t.Errorf("another candidate with the same item is reported as %q", got)
	}

	runs = 0
	none := sliceFunc(func([]cupel.ScoredItem, cupel.SliceBudget) (strategy.Selection, error) {
		return strategy.Selection{}, nil
	})
	changing := newPipeline(t, pipeline.Config{KeepDuplicates: true, Slicer: none, Scorer: scoreFunc(func(item *cupel.ContextItem, _ []*cupel.ContextItem) float64 {
		if item == twins[0] {
			runs++
		}
		if item == twins[runs%2] {
			return 0.75
		}
		return 0.25
	})})
	if got := deterministic(changing, twins, 2); !strings.Contains(got, `-   "twin" (Message, Chat, 40 tokens): BudgetExceeded | score 0.25`) || !strings.Contains(got, `+   "twin" (Message, Chat, 40 tokens): BudgetExceeded | score 0.25`) {
		t.Errorf("another excluded item is reported as %q", got)
	}

	runs = 0
	reasoning := newPipeline(t, pipeline.Config{Slicer: sliceFunc(func([]cupel.ScoredItem, cupel.SliceBudget) (strategy.Selection, error) {
		runs++
		return strategy.Selection{Drops: []strategy.Drop{{Index: 0, Reason: cupel.NewExclusionReason("TooSimilar", cupel.ReasonData{Score: float64(runs)})}}}, nil
	})})
	if got := deterministic(reasoning, items, 2); !strings.Contains(got, "TooSimilar | score 0, score=1\n") || !strings.Contains(got, "TooSimilar | score 0, score=2") {
		t.Errorf("other data of a custom reason are reported as %q", got)
	}

	failing := 0
	broken := newPipeline(t, pipeline.Config{Scorer: scoreFunc(func(*cupel.ContextItem, []*cupel.ContextItem) float64 {
		if failing++; failing > 3 {
			panic("enough")
		}
		return 1
	})})
	if got := deterministic(broken, items, 3); !strings.HasPrefix(got, "Deterministic failed: run 1 of 3 succeeded, run 2 failed: cupel: scorer cupeltest_test.scoreFunc panicked") {
		t.Errorf("a later failure is reported as %q", got)
	}
	if got := deterministic(broken, items, 3); !strings.HasPrefix(got, "Deterministic failed: run 1 of 3: cupel: scorer") {
		t.Errorf("a failure is reported as %q", got)
	}
	if got := deterministic(nil, items, 2); got != "Deterministic failed: run 1 of 2: cupel: the pipeline is empty: build it with New (Pipeline)" {
		t.Errorf("no pipeline is reported as %q", got)
	}
	for _, n := range []int{1, 0, -1} {
		if got := deterministic(drifting, items, n); !strings.HasPrefix(got, "Deterministic failed: it takes at least 2 runs to compare, got n = ") {
			t.Errorf("n = %d is reported as %q", n, got)
		}
	}
}

func TestDryRun(t *testing.T) {
	items := cupeltest.Items(10, 20, 300)
	pipeline := newPipeline(t, pipeline.Config{})
	var got *report
	s := watch(func(t cupeltest.T) {
		got = cupeltest.DryRun(t, pipeline, items, cupeltest.Budget(100, 50))
	})
	if s.stopped || len(s.messages) > 0 || len(got.Included) != 2 || len(got.Excluded) != 1 {
		t.Errorf("DryRun reports %q and returns %+v", s.messages, got)
	}
	pinned := []*cupel.ContextItem{cupeltest.Item("pinned", 101, cupel.WithPinned())}
	s = watch(func(t cupeltest.T) {
		cupeltest.DryRun(t, pipeline, pinned, cupeltest.Budget(100, 50))
	})
	equalMessages(t, "DryRun", s.messages, []string{"DryRun failed: cupel: Pinned items require 101 tokens, but only 100 are available"}, "there is no report")
	if !s.stopped {
		t.Error("DryRun went on without a report")
	}
	for name, run := range map[string]func(t cupeltest.T) *report{
		"DryRun": func(t cupeltest.T) *report { return cupeltest.DryRun(t, pipeline, pinned, cupeltest.Budget(100, 50)) },
		"Run": func(t cupeltest.T) *report {
			r, _ := cupeltest.Run(t, pipeline, pinned, cupeltest.Budget(100, 50))
			return r
		},
	} {
		goesOn := new(keepsOn)
		if r := run(goesOn); r == nil || len(goesOn.messages) != 1 || !goesOn.stopped {
			t.Errorf("%s with a FailNow that returns: %v, %q", name, r, goesOn.messages)
		}
	}
	s = watch(func(t cupeltest.T) { cupeltest.DryRun(t, nil, items, cupeltest.Budget(100, 50)) })
	equalMessages(t, "DryRun", s.messages, []string{"DryRun failed: cupel: the pipeline is empty: build it with New (Pipeline)"}, "there is no pipeline")
}
