package pipeline_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"testing"

	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupel/pipeline"
	"github.com/wollax/cupel-go/cupel/slicer"
	"github.com/wollax/cupel-go/cupel/strategy"
)

func TestChoiceKnowsWhereNothingChanges(t *testing.T) {
	items := []*cupel.ContextItem{item(t, "p", 5, cupel.WithPinned()), item(t, "a", 10, hint(0.9)), item(t, "b", 10, hint(0.8))}
	prepare := func(change func(*pipeline.Config)) *pipeline.Prepared {
		prepared, err := newPipeline(t, change).Prepare(t.Context(), items)
		if err != nil {
			t.Fatal(err)
		}
		return prepared
	}
	greedy := prepare(func(c *pipeline.Config) { c.Slicer = slicer.Greedy{} })
	truncated := prepare(func(c *pipeline.Config) {
		c.Overflow = pipeline.OverflowTruncate
		c.Slicer = sliceFunc(func(ctx context.Context, items []cupel.ScoredItem, budget cupel.SliceBudget) (strategy.Selection, error) {
			sel, err := everything(ctx, items, budget)
			sel.StaysUntil = math.MaxInt
			return sel, err
		})
	})
	for _, tt := range []struct {
		prepared *pipeline.Prepared
		tokens   int
		same     map[int]bool
		why      string
	}{
		{greedy, 3, map[int]bool{0: true, 3: true, 4: true, 5: false}, "5 tokens are pinned"},
		{greedy, 15, map[int]bool{14: false, 15: true, 24: true, 25: false, 4: false}, "10 tokens are in, and the next comes with 10 more"},
		{greedy, 20, map[int]bool{20: true, 24: true, 25: false, 16: false}, "of smaller budgets it knows nothing"},
		{truncated, 15, map[int]bool{25: false}, "the slicer does not know what an overflow leaves"},
		{greedy, 25, map[int]bool{24: false, 25: true, math.MaxInt: true, 4: false}, "all are in"},
		{prepare(func(c *pipeline.Config) { c.Slicer = inOrder }), 15, map[int]bool{15: true, 16: false}, "the slicer says nothing"},
	} {
		choice, err := tt.prepared.Choose(t.Context(), budgetOf(t, tt.tokens, tt.tokens))
		if (err != nil) != (tt.tokens < 5) {
			t.Fatalf("at %d: %+v, %v", tt.tokens, choice, err)
		}
		for tokens, want := range tt.same {
			if got := choice.HoldsAt(budgetOf(t, tokens, tokens)); got != want {
				t.Errorf("the choice at %d holds at %d: %t, want %t: %s", tt.tokens, tokens, got, want, tt.why)
			}
		}
	}
	choice, err := prepare(func(c *pipeline.Config) { c.Slicer = inOrder }).Choose(t.Context(), budgetOf(t, 15, 15))
	if err != nil || choice.HoldsAt(budgetOf(t, 16, 15)) {
		t.Errorf("%v; a slicer may look at the ceiling", err)
	}
	full, err := greedy.Choose(t.Context(), budgetOf(t, 5, 5))
	if err != nil || full.HoldsAt(budgetOf(t, 5, 5, cupel.WithOutputReserve(1))) {
		t.Errorf("%v; the pinned item does not fit beside a reserve", err)
	}
	canceled, cancel := context.WithCancel(t.Context())
	cancel()
	if stopped, err := greedy.Choose(canceled, budgetOf(t, 15, 15)); !errors.Is(err, context.Canceled) || stopped.HoldsAt(budgetOf(t, 5, 5)) || stopped.HoldsAt(budgetOf(t, 0, 0)) {
		t.Errorf("after the end of its context: %+v, %v", stopped, err)
	}
	if (&pipeline.Choice{}).HoldsAt(budgetOf(t, 9, 9)) {
		t.Error("a choice from nowhere holds nowhere")
	}
}

// TestChoicesOfUnits counts the forms of candidates as entries of reports do, and
// knows no other budgets where the pinned items fit.
func TestChoicesOfUnits(t *testing.T) {
	items := unitItems(t, "a 60 .5 g=g v=30:.5; b 60 .4 g=g gv=25:.9; c 10 .9; n 60 .5 k=f v=40:.5,20:.2; o 5 .3 k=h; m 90 .2 k=h")
	prepared, err := pipelineOf(t, "greedy").Prepare(t.Context(), items)
	if err != nil {
		t.Fatal(err)
	}
	for tokens, want := range map[int]string{300: "[2 0 1 3 5] [0 0 0 0 0] 280", 60: "[2 0 1 3 4] [0 2 1 2 0] 60", 55: "[2 0 1 3] [0 2 1 2] 55"} {
		budget := budgetOf(t, tokens, tokens)
		choice, err := prepared.Choose(t.Context(), budget)
		if got := fmt.Sprint(choice.Candidates, " ", choice.Forms, " ", choice.Tokens); err != nil || got != want || choice.HoldsAt(budget) {
			t.Errorf("%d tokens: got %s, %v, want %s", tokens, got, err, want)
		}
	}
	pinned, err := pipelineOf(t, "greedy").Prepare(t.Context(), unitItems(t, "p 40 0 g=p pin; q 40 0 g=p v=1:.5; a 5 .9"))
	if err != nil {
		t.Fatal(err)
	}
	unfit, err := pinned.Choose(t.Context(), budgetOf(t, 20, 20))
	if !errors.Is(err, pipeline.ErrPinnedExceedsBudget) || !unfit.HoldsAt(budgetOf(t, 40, 40)) || unfit.HoldsAt(budgetOf(t, 41, 41)) {
		t.Errorf("%+v, %v: the smallest form of the pinned group takes 41", unfit, err)
	}
	beside, err := pinned.Choose(t.Context(), budgetOf(t, 100, 100, cupel.WithOutputReserve(50)))
	if err != nil || fmt.Sprint(beside.Candidates, beside.Forms) != "[0 1 2] [0 1 0]" {
		t.Errorf("got %+v, %v: beside the reserve the pinned group fits in its smaller form", beside, err)
	}
}
