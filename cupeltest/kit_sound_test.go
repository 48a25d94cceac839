package cupeltest_test

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupel/slicer"
	"github.com/wollax/cupel-go/cupel/strategy"
	"github.com/wollax/cupel-go/cupeltest"
)

var errBusy = errors.New("busy")

// hashed is a score that depends on the content alone.
func hashed(item *cupel.ContextItem, _ []*cupel.ContextItem) float64 {
	h := fnv.New32a()
	_, _ = h.Write([]byte(item.Content()))
	return float64(h.Sum32())
}

// pool is a scorer with goroutines that it starts once and ends with the test.
type pool struct {
	once sync.Once
	jobs chan func()
	end  <-chan struct{}
}

func (p *pool) Score(_ context.Context, all []*cupel.ContextItem, scores []float64) error {
	p.once.Do(func() {
		p.jobs = make(chan func())
		for range 4 {
			go func() {
				for {
					select {
					case job := <-p.jobs:
						job()
					case <-p.end:
						return
					}
				}
			}()
		}
	})
	var group sync.WaitGroup
	for i, item := range all {
		group.Add(1)
		p.jobs <- func() {
			defer group.Done()
			scores[i] = size(item, all)
		}
	}
	group.Wait()
	return nil
}

// plain hides that a strategy is a built-in one, which may be set to be of no use.
type plain struct{ strategy.Slicer }

func (p plain) Slice(ctx context.Context, items []cupel.ScoredItem, budget cupel.SliceBudget) (strategy.Selection, error) {
	return p.Slicer.Slice(ctx, items, budget)
}

func (p plain) Facts() strategy.Facts {
	f := strategy.FactsOf(p.Slicer)
	f.Of = p
	return f
}

// Strategies that are unusual, keep their contracts and are of use.
func TestSoundStrategiesPass(t *testing.T) {
	own := []*cupel.ContextItem{
		cupeltest.Item("a", 5, cupel.WithMetadata(map[string]any{"weight": 3})),
		cupeltest.Item("b", 50, cupel.WithMetadata(map[string]any{"weight": 1})),
	}
	weight := score(func(item *cupel.ContextItem, _ []*cupel.ContextItem) float64 {
		w, _ := item.MetadataValue("weight")
		n, _ := w.(int)
		return float64(n)
	})
	quota := slicer.Must(slicer.NewQuota(slicer.Greedy{}, slicer.Require(cupel.KindMessage, 30), slicer.Cap(cupel.KindDocument, 40)))
	for name, f := range map[string]fault{
		"a memo by content": {make: func() any { return memo(content, hashed) }},
		"2 kB for each item": {make: the(score(func(item *cupel.ContextItem, _ []*cupel.ContextItem) float64 {
			return hashed(item, nil) + float64(len(strings.Repeat(" ", 2000)))
		}))},
		"goroutines for good": {make: func() any { return &pool{end: t.Context().Done()} }},
		"the tags of a team":  {make: the(weight), opts: []cupeltest.KitOption{cupeltest.WithItems(own...)}},
		"looks at its context": {make: the(batch(func(ctx context.Context, all []*cupel.ContextItem, _ []float64) error {
			for i := range all {
				if err := ctx.Err(); err != nil {
					return fmt.Errorf("item %d: %w", i, err)
				}
			}
			return nil
		}))},
		"refuses items that it cannot use": {make: the(batch(func(_ context.Context, all []*cupel.ContextItem, scores []float64) error {
			for i, item := range all {
				if scores[i] = weight(item, nil); scores[i] == 0 {
					return errBusy
				}
			}
			return nil
		})), opts: []cupeltest.KitOption{cupeltest.MayFail(errBusy), cupeltest.WithItems(own...)}},
		"constant on purpose": {make: the(score(func(*cupel.ContextItem, []*cupel.ContextItem) float64 { return 1 })), opts: []cupeltest.KitOption{cupeltest.Except("constant")}},
		"knapsack":            {make: the(plain{slicer.Must(slicer.NewKnapsack(slicer.WithBucketSize(7)))})},
		"diverse":             {make: the(plain{slicer.Diverse{}})},
		"a quota":             {make: the(plain{quota})},
		"scarce in small budgets": {make: the(slice(func(items []cupel.ScoredItem, budget cupel.SliceBudget, _ *strategy.Selection) error {
			if budget.TargetTokens == 1 && len(items) > 0 {
				return &cupel.ScarcityError{Slicer: "HalfSlice", Kind: cupel.KindMemory, RequireCount: 1}
			}
			return nil
		}))},
		"drops sketches and the rest, in another order": {make: the(slice(func(items []cupel.ScoredItem, _ cupel.SliceBudget, sel *strategy.Selection) error {
			sel.Indices = slices.DeleteFunc(sel.Indices, func(i int) bool { return items[i].Item.Kind() == "Sketch" })
			for i := range items {
				if !slices.Contains(sel.Indices, i) {
					sel.Drops = append(sel.Drops, strategy.Drop{Index: i, Reason: because(cupel.ExcludeScoredTooLow)})
				}
			}
			slices.Reverse(sel.Indices)
			return nil
		}))},
		"worst first": {make: the(place(func(_ []cupel.ScoredItem, order []int) { slices.Reverse(order) }))},
		"by kind":     {make: the(sortedBy(stable, func(a, b cupel.ScoredItem) int { return cmp.Compare(a.Item.Kind(), b.Item.Kind()) }))},
	} {
		t.Run(name, func(t *testing.T) {
			require.Empty(t, f.messages(t))
		})
	}
}

// In a bubble of testing/synctest, time passes between runs.
func TestClock(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := watch(func(t cupeltest.T) {
			test(t, the(score(func(item *cupel.ContextItem, _ []*cupel.ContextItem) float64 {
				return float64(time.Since(at(item)).Truncate(24 * time.Hour))
			})))
		})
		require.Len(t, s.messages, 1)
		require.Contains(t, s.messages[0], "here and with a year later")
	})
}

// A parallel test keeps its time zone, and others are told nothing.
func TestEnvironmentOfParallelTests(t *testing.T) {
	t.Parallel()
	zone := time.Local
	cupeltest.TestPlacer(t, func() strategy.Placer {
		return place(func([]cupel.ScoredItem, []int) {
			if time.Local != zone {
				t.Error("another time zone")
			}
		})
	})
}

// Mistakes in a test are none of the strategy's.
func TestMistakesInTests(t *testing.T) {
	sound := func() strategy.Placer {
		return place(func([]cupel.ScoredItem, []int) {})
	}
	for want, run := range map[string]func(t cupeltest.T){
		`Except("spelling"): a placer has no rule of this name`: func(t cupeltest.T) { cupeltest.TestPlacer(t, sound, cupeltest.Except("spelling")) },
		`Except("target"): a placer has no rule of this name`:   func(t cupeltest.T) { cupeltest.TestPlacer(t, sound, cupeltest.Except("target")) },
		"WithItems was given a nil item":                        func(t cupeltest.T) { cupeltest.TestPlacer(t, sound, cupeltest.WithItems(nil)) },
		"there is no function that makes the placer: it is nil": func(t cupeltest.T) { cupeltest.TestPlacer(t, nil) },
	} {
		s := watch(run)
		require.Len(t, s.messages, 1)
		require.Contains(t, s.messages[0], want)
	}
}
