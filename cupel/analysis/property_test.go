package analysis_test

import (
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"testing"

	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupel/analysis"
)

// check compares everything that this package says about a world with plain
// dry runs at every budget. It returns how often inclusion was not monotonic.
func (w world) check(t *testing.T) (lost int) {
	t.Helper()
	base := analysis.WithBaseBudget(w.base)
	describe := func() string {
		text := fmt.Sprintf("%T %+v, base %+v, overflow %v\n", w.slicer, w.slicer, w.base, w.pipeline.Config().Overflow)
		for i, it := range w.items {
			text += fmt.Sprintf("%d: %p %+v\n", i, it, it)
		}
		return text
	}

	plain := make([]map[*cupel.ContextItem]int, worldBudgets)
	var scarcity error
	for tokens := range plain {
		items, err := w.included(t.Context(), tokens)
		if err != nil && scarcity == nil {
			scarcity = err
		}
		plain[tokens] = count(items)
	}

	sweep, err := analysis.Sweep(t.Context(), w.pipeline, w.items, analysis.BudgetRange{To: worldBudgets - 1}, base)
	if scarcity != nil {
		if !errors.Is(scarcity, cupel.ErrScarcity) || err == nil || err.Error() != scarcity.Error() {
			t.Fatalf("the sweep failed with %v, the dry run with %v\n%s", err, scarcity, describe())
		}
	} else {
		if err != nil {
			t.Fatalf("the sweep failed: %v\n%s", err, describe())
		}
		w.checkSteps(t, sweep, plain, describe)
	}

	for _, target := range w.items {
		ceiling := worldBudgets - 1
		least := 0
		var want bool
		lowest := max(0, target.Tokens())
		if w.pipeline.Config().Overflow == cupel.OverflowProceed {
			lowest = 0 // what is required is taken without a look at the budget
		}
		for tokens := lowest; target.Tokens() >= 0 && tokens <= ceiling && !want; tokens++ {
			if want = plain[tokens][target] > 0; want {
				least = tokens
			}
		}
		got, found, err := analysis.FindMinBudgetForExhaustive(t.Context(), w.pipeline, w.items, target, ceiling, base)
		switch {
		case err != nil && scarcity != nil && err.Error() == scarcity.Error():
		case err != nil || found != want || got != least:
			t.Fatalf("the exhaustive search for %p gave %d, %v, %v; want %d, %v\n%s", target, got, found, err, least, want, describe())
		}

		monotonic := true
		for tokens := max(1, target.Tokens()+1); tokens < worldBudgets; tokens++ {
			monotonic = monotonic && (plain[tokens-1][target] == 0 || plain[tokens][target] > 0)
		}
		got, found, err = analysis.FindMinBudgetFor(t.Context(), w.pipeline, w.items, target, ceiling, base)
		switch {
		case errors.Is(err, analysis.ErrNonMonotonic):
		case err != nil:
			t.Fatalf("the search for %p failed: %v\n%s", target, err, describe())
		case monotonic && (found != want || got != least):
			t.Fatalf("the search for %p gave %d, %v; want %d, %v where inclusion is monotonic\n%s", target, got, found, least, want, describe())
		case found && plain[got][target] == 0:
			t.Fatalf("the search for %p gave %d, which does not include it\n%s", target, got, describe())
		}
		if !monotonic {
			lost++
		}
	}
	return lost
}

// checkSteps replays a sweep and compares it with the plain runs.
func (w world) checkSteps(t *testing.T, sweep *analysis.BudgetSweep, plain []map[*cupel.ContextItem]int, describe func() string) {
	t.Helper()
	in := make(map[int]bool)
	next := 0
	for tokens := range worldBudgets {
		if next < len(sweep.Steps) && sweep.Steps[next].Budget == tokens {
			step := sweep.Steps[next]
			next++
			for _, i := range step.Went {
				if !in[i] {
					t.Fatalf("at %d tokens item %d went and was not in\n%s", tokens, i, describe())
				}
				delete(in, i)
			}
			for _, i := range step.Came {
				if in[i] {
					t.Fatalf("at %d tokens item %d came and was in\n%s", tokens, i, describe())
				}
				in[i] = true
			}
			used := 0
			for i := range in {
				used += w.items[i].Tokens()
			}
			if step.Included != len(in) || step.Tokens != used || step.Err != nil && len(in) > 0 {
				t.Fatalf("at %d tokens the step says %+v, but %d items with %d tokens are in\n%s", tokens, step, len(in), used, describe())
			}
		}
		got := make(map[*cupel.ContextItem]int)
		for i := range in {
			got[w.items[i]]++
		}
		if !maps.Equal(got, plain[tokens]) || !maps.Equal(count(sweep.Selection(tokens)), plain[tokens]) {
			t.Fatalf("at %d tokens the sweep has %v, a dry run %v\n%s", tokens, in, plain[tokens], describe())
		}
	}
	if next != len(sweep.Steps) {
		t.Fatalf("the sweep has steps out of order: %+v\n%s", sweep.Steps, describe())
	}
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
	t.Logf("%d worlds; %d times a larger budget lost an item", rounds, lost)
	if lost < rounds/10 {
		t.Error("the worlds have become too simple to say much")
	}
}

// TestMarginalItemsAgainstPlainRuns compares with the difference of two dry
// runs.
func TestMarginalItemsAgainstPlainRuns(t *testing.T) {
	r := rand.New(rand.NewPCG(8, 39))
	marginal := 0
	for range 400 {
		w := newWorld(r)
		tokens, slack := r.IntN(100), r.IntN(60)
		b, err := w.base.Resize(tokens, tokens)
		if err != nil {
			continue
		}
		got, err := analysis.GetMarginalItems(t.Context(), w.pipeline, w.items, b, slack)
		if errors.Is(err, analysis.ErrNonMonotonic) {
			continue
		}
		less := max(0, tokens-slack)
		reduced := budget(less, less, cupel.WithOutputReserve(min(less, b.OutputReserve())),
			cupel.WithReservedSlots(b.ReservedSlots()), cupel.WithEstimationSafetyMargin(b.EstimationSafetyMarginPercent()))
		full, fullErr := w.pipeline.DryRun(t.Context(), w.items, b)
		small, smallErr := w.pipeline.DryRun(t.Context(), w.items, reduced)
		if fullErr == nil {
			fullErr = smallErr
		}
		if fullErr != nil {
			if err == nil || err.Error() != fullErr.Error() {
				t.Fatalf("got error %v, want %v", err, fullErr)
			}
			continue
		}
		var want []*cupel.ContextItem
	next:
		for _, i := range full.Included {
			for _, j := range small.Included {
				if i.Item == j.Item {
					continue next
				}
			}
			want = append(want, i.Item)
		}
		if err != nil || contents(got) != contents(want) || !maps.Equal(count(got), count(want)) {
			t.Fatalf("got %q, %v; want %q", contents(got), err, contents(want))
		}
		marginal += len(want)
	}
	if marginal < 50 {
		t.Error("the worlds have become too simple to say much")
	}
}

// FuzzAnalysis lets a fuzzer make the choices of the worlds.
func FuzzAnalysis(f *testing.F) {
	f.Add([]byte{})
	r := rand.New(rand.NewPCG(4, 2))
	for range 8 {
		data := make([]byte, 60)
		for i := range data {
			data[i] = byte(r.IntN(256))
		}
		f.Add(data)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		newWorld(&byteSource{data}).check(t)
	})
}
