package cupelinspect_test

import (
	"context"
	"fmt"
	"math"
	"testing"

	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupel/pipeline"
	"github.com/wollax/cupel-go/cupel/placer"
	"github.com/wollax/cupel-go/cupel/slicer"
	"github.com/wollax/cupel-go/cupel/strategy"
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
		{"uneven", 1, 10, 4, 1, []int{1, 4, 7, 10}, "three steps of 3"},
		{"rounded", 0, 10, 4, 10, []int{0, 3, 6, 10}, "steps of 10/3, rounded down"},
		{"nearest", 0, 100, 5, 60, []int{0, 25, 60, 75, 100}, "60 is nearest to 50"},
		{"tie", 0, 100, 3, 25, []int{25, 50, 100}, "as near to 0 as to 50: the lower one"},
		{"below", 50, 100, 3, 49, []int{50, 75, 100}, "the range does not have it"},
		{"above", 50, 100, 3, 101, []int{50, 75, 100}, "the range does not have it"},
		{"none", 0, 100, 0, 50, nil, "no slider is wanted"},
		{"one", 0, 100, 1, 50, []int{50}, "the budget itself"},
		{"one elsewhere", 60, 100, 1, 50, []int{100}, "the range ends there"},
		{"narrow", 10, 12, 7, 11, []int{10, 11, 12}, "a budget is tried once"},
		{"point", 7, 7, 3, 9, []int{7}, "a budget is tried once"},
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
		{"lost", 10, 10, newBudget(t, 50, 50, cupel.WithEstimationSafetyMargin(100)), 1, 100, 100, 50, 0, "nothing is ever enough; twice the budget is"},
		{"tiny", 2, 1, newBudget(t, 1, 1), 0, 2, 3, 1, 3, "there are but three budgets"},
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
			if len(budgets) != tt.stops || budgets[0] != tt.from || budgets[len(budgets)-1] != tt.to {
				t.Fatalf("%s: %d stops from %d to %d; want %d from %d to %d", tt.why, len(budgets), budgets[0], budgets[len(budgets)-1], tt.stops, tt.from, tt.to)
			}
			has := map[int]bool{}
			for _, b := range budgets {
				has[b] = true
			}
			if !has[tt.has] || has[tt.hasNot] {
				t.Errorf("%s: the budgets are %v; want %d and not %d", tt.why, budgets, tt.has, tt.hasNot)
			}
		})
	}
	_, got := shown(t, inspect(t, newPipeline(t, nil), nil, newBudget(t, 10, 10)))
	if got.Sweep != nil {
		t.Errorf("without candidates the sweep is %v", got.Sweep)
	}
}

// TestSweep checks each stop against a run of its own.
func TestSweep(t *testing.T) {
	quota, err := slicer.NewQuota(slicer.Greedy{}, slicer.Cap(cupel.KindMemory, 30))
	if err != nil {
		t.Fatal(err)
	}
	var items []*cupel.ContextItem
	for i := range 60 {
		opts := []cupel.ItemOption{cupel.WithFutureRelevanceHint(float64(i*37%61) / 61)}
		switch i % 6 {
		case 1:
			opts = append(opts, cupel.WithKind(cupel.KindMemory))
		case 5:
			opts = append(opts, cupel.WithKind(cupel.KindDocument))
		}
		if i == 7 {
			opts = append(opts, cupel.WithPinned())
		}
		items = append(items, newItem(t, fmt.Sprint("item ", i%50), i*29%40, opts...))
	}
	items = append(items, items[3], newItem(t, "negative", -4))
	tests := []struct {
		name   string
		slicer strategy.Slicer
		keep   bool
		over   pipeline.OverflowStrategy
		why    string
	}{
		{"greedy", slicer.Greedy{}, false, pipeline.OverflowThrow, "the usual case"},
		{"quota", quota, true, pipeline.OverflowThrow, "shares grow with the target, copies are kept"},
		{"knapsack", &slicer.Knapsack{}, false, pipeline.OverflowThrow, "buckets leave some unused"},
		{"overflow", everythingSlicer{}, false, pipeline.OverflowThrow, "most budgets fail"},
		{"truncate", everythingSlicer{}, true, pipeline.OverflowTruncate, "Place leaves items out as well"},
		{"proceed", everythingSlicer{}, false, pipeline.OverflowProceed, "all are in at each budget"},
		{"broken", broken{}, false, pipeline.OverflowThrow, "each budget fails"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			p := newPipeline(t, func(c *pipeline.Config) {
				c.Slicer, c.KeepDuplicates, c.Overflow, c.Placer = tt.slicer, tt.keep, tt.over, placer.UShaped{}
			})
			base := newBudget(t, 500, 400, cupel.WithOutputReserve(40), cupel.WithEstimationSafetyMargin(5),
				cupel.WithReservedSlots(map[cupel.ContextKind]int{cupel.KindMemory: 20}))
			page, got := shown(t, inspect(t, p, items, base, cupelinspect.WithSweep(30, 1530, 31)))
			if len(got.Sweep.Stops) != 31 {
				t.Fatalf("%d stops; want 31", len(got.Sweep.Stops))
			}
			seen := map[int]bool{}
			for _, stop := range got.Sweep.Stops {
				// The target keeps its share of four fifths; reserve, slots and margin stay.
				b, err := cupel.NewContextBudget(stop.Budget, stop.Budget*4/5, cupel.WithOutputReserve(40), cupel.WithEstimationSafetyMargin(5),
					cupel.WithReservedSlots(map[cupel.ContextKind]int{cupel.KindMemory: 20}))
				var window []*cupel.ContextItem
				effective := 0
				if err == nil {
					effective = b.Effective(items[7].Tokens()).TargetTokens // the pinned one
					window, err = p.Run(t.Context(), items, b)
				}
				equal(t, fmt.Sprint("target and effective budget at ", stop.Budget), []int{stop.Target, stop.Effective}, []int{stop.Budget * 4 / 5, effective})
				message := ""
				if err != nil {
					message = err.Error()
				}
				equal(t, fmt.Sprint("the error at ", stop.Budget), stop.Error, message)
				contents := []string{}
				for _, item := range window {
					contents = append(contents, item.Content())
				}
				shown := []string{}
				for _, at := range stop.Window {
					shown = append(shown, page.Items[got.Candidates[at]].Content)
				}
				equal(t, fmt.Sprint("the window at ", stop.Budget), shown, contents)
				seen[len(window)] = true
			}
			at500 := got.Sweep.Stops[0]
			for _, stop := range got.Sweep.Stops {
				if stop.Budget == 500 {
					at500 = stop
				}
			}
			equal(t, "the window of the run itself", at500.Window, got.Window)
			if tt.name == "greedy" && len(seen) < 10 {
				t.Errorf("the sweep has %d sizes of windows alone", len(seen))
			}
		})
	}
}

// TestSweepAsksOnce checks that a sweep scores once, not at each stop.
func TestSweepAsksOnce(t *testing.T) {
	asked := 0
	p := newPipeline(t, func(c *pipeline.Config) { c.Scorer = countingScorer{&asked} })
	items := []*cupel.ContextItem{hinted(t, "a", 1, 1), hinted(t, "b", 1, 1)}
	inspect(t, p, items, newBudget(t, 2, 2), cupelinspect.WithSweep(0, 1000, 1000))
	if asked != 2 {
		t.Errorf("the scorer was asked %d times; want 2: for the run and for the sweep", asked)
	}
	asked = 0
	inspect(t, p, items, newBudget(t, 2, 2), cupelinspect.WithSweep(0, 0, 0))
	if asked != 1 {
		t.Errorf("without a sweep the scorer was asked %d times; want 1", asked)
	}
}

type countingScorer struct{ asked *int }

func (c countingScorer) Score(_ context.Context, _ []*cupel.ContextItem, scores []float64) error {
	*c.asked++
	for i := range scores {
		scores[i] = 1
	}
	return nil
}
