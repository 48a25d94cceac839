package analysis_test

import (
	"context"
	"errors"
	"slices"
	"testing"

	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupel/analysis"
	"github.com/wollax/cupel-go/cupel/internal/compat"
	"github.com/wollax/cupel-go/cupel/slicer"
)

// takesAll includes everything at any budget.
func takesAll(_ context.Context, items []cupel.ScoredItem, _ cupel.SliceBudget) (cupel.Selection, error) {
	var all cupel.Selection
	for i := range items {
		all.Indices = append(all.Indices, i)
	}
	return all, nil
}

func takesNothing(context.Context, []cupel.ScoredItem, cupel.SliceBudget) (cupel.Selection, error) {
	return cupel.Selection{}, nil
}

// TestSearchReportsFailures has the slicer fail at each of its calls in turn:
// the search ends with that error and never with "not found".
func TestSearchReportsFailures(t *testing.T) {
	wanted := item("wanted", 5)
	items := []*cupel.ContextItem{item("other", 9), wanted}
	searches := map[string]func(p *cupel.Pipeline) (int, bool, error){
		"halving": func(p *cupel.Pipeline) (int, bool, error) {
			return analysis.FindMinBudgetFor(t.Context(), p, items, wanted, 100)
		},
		"exhaustive": func(p *cupel.Pipeline) (int, bool, error) {
			return analysis.FindMinBudgetForExhaustive(t.Context(), p, items, wanted, 100)
		},
	}
	for name, search := range searches {
		failures := 0
		for at := 1; ; at++ {
			calls := 0
			p := pipeline(sliceFunc(func(ctx context.Context, items []cupel.ScoredItem, budget cupel.SliceBudget) (cupel.Selection, error) {
				if calls++; calls == at {
					return cupel.Selection{}, errBroken
				}
				if budget.TargetTokens < 14 {
					return cupel.Selection{}, nil
				}
				return takesAll(ctx, items, budget)
			}))
			tokens, found, err := search(p)
			if calls < at {
				if err != nil || !found || tokens != 14 {
					t.Errorf("%s without a failure: %d, %t, %v", name, tokens, found, err)
				}
				break
			}
			failures++
			if !errors.Is(err, errBroken) || found || tokens != 0 {
				t.Errorf("%s, failing at call %d: %d, %t, %v", name, at, tokens, found, err)
			}
		}
		if failures < 3 {
			t.Errorf("%s: %d calls are too few to test anything", name, failures)
		}
	}
}

func TestLeastMaxBudgets(t *testing.T) {
	items := []*cupel.ContextItem{item("a", 5)}
	one := analysis.BudgetRange{From: 5, To: 5}
	sweep, err := analysis.Sweep(t.Context(), pipeline(slicer.Greedy{}), items, one, analysis.WithMaxBudgets(1))
	if err != nil || len(sweep.Steps) != 1 {
		t.Errorf("one budget: %v, %v", sweep, err)
	}
	if got := sweep.Selection(5); !slices.Equal(got, items) {
		t.Errorf("at the first budget %v is included", got)
	}
	if got := sweep.Selection(6); got != nil {
		t.Errorf("beyond the last budget %v is included", got)
	}
	_, err = analysis.Sweep(t.Context(), pipeline(slicer.Greedy{}), items, one, analysis.WithMaxBudgets(0))
	if wrong, ok := compat.AsType[*analysis.ArgumentError](err); !ok || wrong.Argument != "maxBudgets" {
		t.Errorf("no budget: %v", err)
	}
}

// TestNoTokens finds the budget of an item that takes none.
func TestNoTokens(t *testing.T) {
	free := item("free", 0)
	items := []*cupel.ContextItem{item("other", 9), free}
	tokens, found, err := analysis.FindMinBudgetFor(t.Context(), pipeline(sliceFunc(takesAll), overflow(cupel.OverflowProceed)), items, free, 20)
	if tokens != 0 || !found || err != nil {
		t.Errorf("%d, %t, %v", tokens, found, err)
	}
}

// TestSweepEndsOfFailures has a step where budgets can be built from, although
// nothing is included there.
func TestSweepEndsOfFailures(t *testing.T) {
	sweep, err := analysis.Sweep(t.Context(), pipeline(slicer.Greedy{}), []*cupel.ContextItem{item("big", 90)}, analysis.BudgetRange{From: 2, To: 20},
		analysis.WithBaseBudget(budget(100, 90, cupel.WithOutputReserve(7))))
	if err != nil {
		t.Fatal(err)
	}
	if len(sweep.Steps) != 2 || !errors.Is(sweep.Steps[0].Err, cupel.ErrInvalidBudget) || sweep.Steps[1].Budget != 7 || sweep.Steps[1].Err != nil {
		t.Errorf("got %+v, want a failure from 2 and none from 7 on", sweep.Steps)
	}
}

// failsAt scores everything 0, and fails when it is asked for the n-th time.
type failsAt struct{ asked, at int }

func (f *failsAt) Score(*cupel.ContextItem, []*cupel.ContextItem) float64 { return 0 }

func (f *failsAt) ScoreAll(context.Context, []*cupel.ContextItem, []float64) error {
	if f.asked++; f.asked == f.at {
		return errBroken
	}
	return nil
}

// TestScorersThatFailLater fail each call for scores in turn.
func TestScorersThatFailLater(t *testing.T) {
	items := []*cupel.ContextItem{item("big", 90)}
	functions := map[string]func(p *cupel.Pipeline) error{
		"WhyNot": func(p *cupel.Pipeline) error {
			_, err := analysis.WhyNot(t.Context(), p, items, budget(20, 20), 0)
			return err
		},
		"GetMarginalItems": func(p *cupel.Pipeline) error {
			_, err := analysis.GetMarginalItems(t.Context(), p, items, budget(20, 20), 5)
			return err
		},
		"Sweep": func(p *cupel.Pipeline) error {
			_, err := analysis.Sweep(t.Context(), p, items, analysis.BudgetRange{From: 1, To: 9})
			return err
		},
		"FindMinBudgetFor": func(p *cupel.Pipeline) error {
			_, _, err := analysis.FindMinBudgetFor(t.Context(), p, items, items[0], 100)
			return err
		},
	}
	for name, f := range functions {
		for at := 1; ; at++ {
			s := &failsAt{at: at}
			err := f(pipeline(slicer.Greedy{}, func(c *cupel.Config) { c.Scorer = s }))
			if s.asked < at {
				if err != nil || at == 1 {
					t.Errorf("%s: asked %d times, %v", name, s.asked, err)
				}
				break
			}
			if !errors.Is(err, errBroken) {
				t.Errorf("%s, failing at call %d: %v", name, at, err)
			}
		}
	}
}

// TestReserveOffTarget has a slicer that takes too much: whether that is an
// overflow is judged by the target.
func TestReserveOffTarget(t *testing.T) {
	wanted := item("wanted", 5)
	items := []*cupel.ContextItem{wanted, item("other", 20)}
	p := pipeline(sliceFunc(takesAll))
	base := analysis.WithBaseBudget(budget(100, 90, cupel.WithOutputReserve(10)))
	tests := []struct {
		name string
		opts []analysis.ProbeOption
		want int
	}{
		{"target is the ceiling", []analysis.ProbeOption{base}, 25},
		{"target is the ceiling less the reserve", []analysis.ProbeOption{base, analysis.WithReserveOffTarget()}, 35},
	}
	for _, tt := range tests {
		tokens, found, err := analysis.FindMinBudgetFor(t.Context(), p, items, wanted, 100, tt.opts...)
		if tokens != tt.want || !found || err != nil {
			t.Errorf("%s, halving: %d, %t, %v, want %d", tt.name, tokens, found, err, tt.want)
		}
		tokens, found, err = analysis.FindMinBudgetForExhaustive(t.Context(), p, items, wanted, 100, tt.opts...)
		if tokens != tt.want || !found || err != nil {
			t.Errorf("%s, exhaustive: %d, %t, %v, want %d", tt.name, tokens, found, err, tt.want)
		}
	}
}

// TestWhyNotGivesUp looks at so many budgets of a slicer that is no SweepSlicer.
func TestWhyNotGivesUp(t *testing.T) {
	answer, err := analysis.WhyNot(t.Context(), pipeline(sliceFunc(takesNothing)), []*cupel.ContextItem{item("a", 5)}, budget(20, 20), 0, analysis.WithCeiling(12_000))
	if err != nil {
		t.Fatal(err)
	}
	if got := answer.Smallest; got.Found || got.Exact || got.SearchedTo != 5+10_000-1 {
		t.Errorf("got %+v, want 10,000 budgets from 5 on", got)
	}
}

func TestLedgerOfOtherItems(t *testing.T) {
	items := []*cupel.ContextItem{item("a", 5), item("b", 0), item("b", 0), item("big", 90)}
	report, err := pipeline(slicer.Greedy{}).DryRun(t.Context(), items, budget(20, 20))
	if err != nil {
		t.Fatal(err)
	}
	whole := analysis.NewLedger(report, items)
	if survivor, ok := whole.Survivor(2); survivor != 1 || !ok {
		t.Errorf("an item without tokens survives as %d, %t", survivor, ok)
	}
	out := whole.Entries[3]
	if got, want := out.Data(), out.Excluded.Reason.Data(); got != want || got == (cupel.ReasonData{}) {
		t.Errorf("data %+v, want %+v", got, want)
	}
	if got := whole.Entries[0].Data(); got != (cupel.ReasonData{}) {
		t.Errorf("what is included has data %+v", got)
	}
	// The report of a longer list must not make it panic.
	short := analysis.NewLedger(report, items[:2])
	if len(short.Entries) != 2 || short.Entries[0].Place == 0 || len(short.Out) != 0 {
		t.Errorf("got %+v", short)
	}
}
