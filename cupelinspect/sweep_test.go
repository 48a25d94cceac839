package cupelinspect_test

import (
	"context"
	"fmt"
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupel/pipeline"
	"github.com/wollax/cupel-go/cupelinspect"
)

// budgetsOf returns the budgets of a sweep.
func budgetsOf(s selection) []int {
	if s.Sweep == nil {
		return nil
	}
	budgets := []int{}
	for _, stop := range s.Sweep.Stops {
		budgets = append(budgets, stop.Budget)
	}
	return budgets
}

func TestSweepBudgets(t *testing.T) {
	tests := []struct {
		name            string
		from, to, stops int
		max             int
		want            []int
		why             string
	}{
		{"even", 0, 100, 5, 50, []int{0, 25, 50, 75, 100}, "both ends are stops"},
		{"rounded", 0, 10, 4, 10, []int{0, 3, 6, 10}, "steps of 10/3, rounded down"},
		{"nearest", 0, 100, 5, 60, []int{0, 25, 60, 75, 100}, "60 is nearest to 50"},
		{"tie", 0, 100, 3, 25, []int{25, 50, 100}, "as near to 0 as to 50: the lower one"},
		{"below", 50, 100, 3, 49, []int{50, 75, 100}, "the range does not have it"},
		{"above", 50, 100, 3, 101, []int{50, 75, 100}, "the range does not have it"},
		{"none", 0, 100, 0, 50, nil, "no slider is wanted"},
		{"one", 50, 100, 1, 50, []int{50}, "the budget itself"},
		{"one above", 0, 100, 1, 101, []int{100}, "the range ends there"},
		{"one elsewhere", 60, 100, 1, 50, []int{100}, "the range ends there"},
		{"narrow", 10, 12, 7, 11, []int{10, 11, 12}, "a budget is tried once"},
		{"vast", 0, math.MaxInt, 3, 9, []int{9, math.MaxInt / 2, math.MaxInt}, "nothing wraps"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, got := shown(t, inspect(t, newPipeline(t, nil), []*cupel.ContextItem{hinted(t, "a", 1, 1)}, newBudget(t, tt.max, tt.max),
				cupelinspect.WithSweep(tt.from, tt.to, tt.stops)))
			equal(t, tt.why, budgetsOf(got), tt.want)
		})
	}
}

func TestDefaultSweep(t *testing.T) {
	tests := []struct {
		name        string
		n, tokens   int
		budget      cupel.ContextBudget
		from, to    int
		stops       int
		has, hasNot int
		why         string
	}{
		{"twice", 100, 10, newBudget(t, 200, 200), 4, 400, 100, 200, 0, "all 1,000 tokens are more than twice the budget"},
		{"everything", 100, 3, newBudget(t, 200, 200), 3, 300, 100, 200, 301, "more than 300 tokens change nothing"},
		{"enough", 10, 10, newBudget(t, 200, 200), 2, 200, 100, 200, 201, "the budget is there even where less is enough"},
		{"share", 100, 3, newBudget(t, 200, 150), 4, 400, 100, 200, 0, "300 tokens need a target of 300, and that 400"},
		{"reserve", 100, 3, newBudget(t, 200, 200, cupel.WithOutputReserve(100)), 103, 400, 100, 200, 100, "below the reserve there is no budget; everything takes 300 + 100"},
		{"margin", 100, 3, newBudget(t, 250, 250, cupel.WithEstimationSafetyMargin(25)), 4, 400, 100, 250, 401, "with a margin of 25 %, 300 tokens need 400"},
		{"slots", 100, 3, newBudget(t, 250, 250, cupel.WithReservedSlots(map[cupel.ContextKind]int{"a": 40, "b": 10})), 3, 350, 100, 250, 351, "reserved slots come on top"},
		{"zero", 10, 10, newBudget(t, 0, 0), 1, 100, 100, 50, 0, "without a budget, all that there is"},
		{"nothing", 10, 0, newBudget(t, 0, 0, cupel.WithEstimationSafetyMargin(100)), 0, 0, 1, 0, 10, "items without tokens need none"},
		{"lost", 10, 3, newBudget(t, 50, 50, cupel.WithEstimationSafetyMargin(100)), 1, 100, 100, 50, 0, "nothing is ever enough; twice the budget is"},
		{"tiny", 2, 2, newBudget(t, 1, 1), 0, 2, 3, 1, 3, "there are but three budgets"},
		{"one token", 1, 1, newBudget(t, 1, 1, cupel.WithEstimationSafetyMargin(50)), 0, 2, 3, 1, 3, "with a margin of 50 % it needs two"},
		{"vast candidates", 2, math.MaxInt, newBudget(t, 10, 10), 0, 20, 21, 10, 21, "their sum does not wrap"},
		{"vast", 2, math.MaxInt, newBudget(t, math.MaxInt, math.MaxInt), math.MaxInt / 100, math.MaxInt, 100, math.MaxInt, 0, "nothing wraps"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			items := make([]*cupel.ContextItem, tt.n)
			for i := range items {
				items[i] = hinted(t, fmt.Sprint(i), tt.tokens, 1)
			}
			_, got := shown(t, inspect(t, newPipeline(t, nil), items, tt.budget))
			budgets := budgetsOf(got)
			require.Equal(t, []int{tt.stops, tt.from, tt.to}, []int{len(budgets), budgets[0], budgets[len(budgets)-1]}, tt.why)
			assert.Contains(t, budgets, tt.has, tt.why)
			assert.NotContains(t, budgets, tt.hasNot, tt.why)
		})
	}
	_, got := shown(t, inspect(t, newPipeline(t, nil), nil, newBudget(t, 10, 10), cupelinspect.WithSweep(0, 9, 3)))
	assert.Nil(t, got.Sweep, "without candidates")
}

// TestSweepKeepsTheShares checks what a stop's budget is made of: the target keeps its
// share of four fifths; reserve, slots and margin stay. TestRandom compares windows.
func TestSweepKeepsTheShares(t *testing.T) {
	items := []*cupel.ContextItem{newItem(t, "pinned", 7, cupel.WithPinned()), hinted(t, "a", 20, 0.5), hinted(t, "b", 300, 0.4), hinted(t, "c", 900, 0.9)}
	opts := []cupel.BudgetOption{cupel.WithOutputReserve(40), cupel.WithEstimationSafetyMargin(5), cupel.WithReservedSlots(map[cupel.ContextKind]int{cupel.KindMemory: 20})}
	_, got := shown(t, inspect(t, newPipeline(t, nil), items, newBudget(t, 500, 400, opts...), cupelinspect.WithSweep(30, 1530, 31)))
	equal(t, "stops", len(got.Sweep.Stops), 31)
	sizes := map[int]bool{}
	for _, stop := range got.Sweep.Stops {
		effective := 0
		if b, err := cupel.NewContextBudget(stop.Budget, stop.Budget*4/5, opts...); err == nil {
			effective = b.Effective(7).TargetTokens
		}
		equal(t, fmt.Sprint("target and effective budget at ", stop.Budget), []int{stop.Target, stop.Effective}, []int{stop.Budget * 4 / 5, effective})
		equal(t, fmt.Sprint("whether it fails at ", stop.Budget), []bool{stop.Error != "", stop.Pinned == nil}, []bool{effective == 0, effective == 0})
		sizes[len(stop.Window)] = true
		if stop.Budget == 500 {
			equal(t, "the window of the run itself", stop.Window, got.Window)
		}
	}
	equal(t, "sizes of windows", len(sizes), 4)
	_, got = shown(t, inspect(t, newPipeline(t, nil), items, newBudget(t, 0, 0), cupelinspect.WithSweep(0, 9, 2)))
	equal(t, "a budget without tokens has no share", got.Sweep.Stops[1].Target, 9)
}

// TestSweepAsksOnce checks that a sweep scores once, not at each stop.
func TestSweepAsksOnce(t *testing.T) {
	asked := 0
	p := newPipeline(t, func(c *pipeline.Config) { c.Scorer = countingScorer{&asked} })
	items := []*cupel.ContextItem{hinted(t, "a", 1, 1), hinted(t, "b", 1, 1)}
	inspect(t, p, items, newBudget(t, 2, 2), cupelinspect.WithSweep(0, 1000, 1000))
	assert.Equal(t, 2, asked, "for the run and for the sweep")
	asked = 0
	inspect(t, p, items, newBudget(t, 2, 2), cupelinspect.WithSweep(0, 0, 0))
	assert.Equal(t, 1, asked, "without a sweep")
}

type countingScorer struct{ asked *int }

func (c countingScorer) Score(_ context.Context, _ []*cupel.ContextItem, scores []float64) error {
	*c.asked++
	for i := range scores {
		scores[i] = 1
	}
	return nil
}

// TestRivals checks that the page says which candidates would make room for one that is
// out, as a run with that one pinned does.
func TestRivals(t *testing.T) {
	items := []*cupel.ContextItem{hinted(t, "a", 50, 0.9), hinted(t, "b", 40, 0.5), hinted(t, "c", 45, 0.2), hinted(t, "d", 500, 0.1), hinted(t, "e", 5, 0.05), hinted(t, "a", 50, 0.1)}
	_, got := shown(t, inspect(t, newPipeline(t, nil), items, newBudget(t, 100, 100)))
	equal(t, "rivals", got.Rivals, map[int][]int{2: {1}, 3: {-1}})

	items = nil
	for i := range 81 { // 61 that take all, by two with a score, and 20 that are in
		tokens, hint := 20, float64(60-(i+1)/2)/100
		if i > 60 {
			tokens, hint = 1, 0.9
		}
		items = append(items, hinted(t, fmt.Sprint(i), tokens, hint))
	}
	_, got = shown(t, inspect(t, newPipeline(t, nil), items, newBudget(t, 20, 20), cupelinspect.WithSweep(0, 0, 0)))
	equal(t, "how many are asked about, and lose to the first", []int{len(got.Rivals), len(got.Rivals[0])}, []int{60, 12})
	equal(t, "which of the last two, that have one score", []int{len(got.Rivals[59]), len(got.Rivals[60])}, []int{0, 12})
}
