package analysis_test

import (
	"cmp"
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupel/analysis"
	"github.com/wollax/cupel-go/cupel/internal/compat"
	"github.com/wollax/cupel-go/cupel/pipeline"
)

func isNonMonotonic(err error) bool {
	_, ok := compat.AsType[*analysis.NonMonotonicError](err)
	return ok
}

// check compares everything that this package says about a world with plain
// dry runs at every budget. It returns how often inclusion was not monotonic.
func (w world) check(t *testing.T) (lost int) {
	t.Helper()
	base := analysis.WithBaseBudget(w.base)
	fail := func(format string, args ...any) {
		t.Helper()
		text := fmt.Sprintf(format, args...) + fmt.Sprintf("\n%T %+v, base %+v, overflow %v\n", w.slicer, w.slicer, w.base, w.pipeline.Config().Overflow)
		for i, it := range w.items {
			text += fmt.Sprintf("%d: %p %+v\n", i, it, it)
		}
		t.Fatal(text)
	}
	plain, scarcity := w.plain(t)

	for _, target := range w.items {
		ceiling := worldBudgets - 1
		least, want := 0, false
		lowest := max(0, target.Tokens())
		if w.pipeline.Config().Overflow == pipeline.OverflowProceed {
			lowest = 0 // what is required is taken without a look at the budget
		}
		for tokens := lowest; target.Tokens() >= 0 && tokens <= ceiling && !want; tokens++ {
			if want = plain[tokens][target] > 0; want {
				least = tokens
			}
		}
		got, found, err := analysis.FindMinBudgetForExhaustive(t.Context(), w.pipeline, w.items, target, ceiling, base)
		if (err != nil || found != want || got != least) && (scarcity == nil || fmt.Sprint(err) != scarcity.Error()) {
			fail("the exact search for %p gave %d, %v, %v; want %d, %v", target, got, found, err, least, want)
		}

		monotonic := true
		for tokens := max(1, target.Tokens()+1); tokens < worldBudgets; tokens++ {
			monotonic = monotonic && (plain[tokens-1][target] == 0 || plain[tokens][target] > 0)
		}
		got, found, err = analysis.FindMinBudgetFor(t.Context(), w.pipeline, w.items, target, ceiling, base)
		switch {
		case isNonMonotonic(err):
		case err != nil:
			fail("the search for %p failed: %v", target, err)
		case monotonic && (found != want || got != least):
			fail("the search for %p gave %d, %v; want %d, %v where inclusion is monotonic", target, got, found, least, want)
		case found && plain[got][target] == 0:
			fail("the search for %p gave %d, which does not include it", target, got)
		}
		if !monotonic {
			lost++
		}
	}
	return lost
}

// plain returns what dry runs at all budgets include, and the first failure that is
// not the budget's.
func (w world) plain(t *testing.T) (included []map[*cupel.ContextItem]int, failure error) {
	t.Helper()
	included = make([]map[*cupel.ContextItem]int, worldBudgets)
	for tokens := range included {
		included[tokens] = make(map[*cupel.ContextItem]int)
		report, err := dryRunAt(t, w.pipeline, w.items, w.base, tokens, tokens)
		failure = cmp.Or(failure, err)
		for _, i := range report.Included {
			included[tokens][i.Item]++
		}
	}
	return included, failure
}

// dryRunAt returns the report of a run at a budget, and an empty one if the budget
// cannot be built, does not hold the pinned items or overflows.
func dryRunAt(t *testing.T, p *pipeline.Pipeline, items []*cupel.ContextItem, base cupel.ContextBudget, tokens, target int) (*cupel.SelectionReport, error) {
	t.Helper()
	b, err := base.Resize(tokens, target)
	if err != nil {
		return &cupel.SelectionReport{}, nil //nolint:nilerr // it includes nothing
	}
	report, err := p.DryRun(t.Context(), items, b)
	if errors.Is(err, pipeline.ErrPinnedExceedsBudget) || errors.Is(err, pipeline.ErrOverflow) {
		return &cupel.SelectionReport{}, nil
	}
	return report, err
}

// TestAgainstPlainRuns checks random worlds: all slicers, nested, with pinned,
// duplicate and repeated items, reserves, slots and margins.
func TestAgainstPlainRuns(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 41))
	rounds := 400
	if testing.Short() || raceEnabled {
		rounds = 40
	}
	lost := 0
	for range rounds {
		lost += newWorld(r).check(t)
	}
	if lost < rounds/10 {
		t.Errorf("the worlds have become too simple to say much: %d worlds, %d times a larger budget lost an item", rounds, lost)
	}
}
