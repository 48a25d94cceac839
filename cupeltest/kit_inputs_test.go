package cupeltest_test

import (
	"context"
	"fmt"
	"hash"
	"hash/fnv"
	"testing"
	"testing/synctest"

	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupel/pipeline"
	"github.com/wollax/cupel-go/cupel/placer"
	"github.com/wollax/cupel-go/cupel/slicer"
	"github.com/wollax/cupel-go/cupel/strategy"
	"github.com/wollax/cupel-go/cupeltest"
)

// What strategies are tried with is as good as the kits are: a change of it must
// be seen. CUPELTEST_UPDATE=1 writes the files.
func TestInputsOfTheKits(t *testing.T) {
	samePage(t, "testdata/inputs.txt", cupeltest.Inputs())
	quota := slicer.Must(slicer.NewQuota(slicer.Greedy{}, slicer.Require("Sketch", 30)))
	samePage(t, "testdata/cases.txt", cupeltest.PropertyCases(newPipeline(t, pipeline.Config{Slicer: quota}), 12))
}

// tally counts calls, and adds up what they are given.
type tally struct {
	lock  locked
	calls int
	sum   uint64
}

func (c *tally) add(ctx context.Context, items []cupel.ScoredItem, budget cupel.SliceBudget) {
	h := fnv.New64a()
	for _, it := range items {
		at, _ := it.Item.Timestamp()
		_, _ = fmt.Fprintln(h, it.Item.Tokens(), it.Item.Kind(), at.UnixNano(), it.Score)
	}
	c.count(h, budget, ctx.Err())
}

func (c *tally) count(h hash.Hash64, what ...any) {
	_, _ = fmt.Fprintln(h, what...)
	c.lock.do(func() {
		c.calls++
		c.sum += h.Sum64() // in any order
	})
}

func (c *tally) Count() (text string) {
	c.lock.do(func() {
		text = fmt.Sprintf("%d calls (%04x)", c.calls, c.sum%(1<<16))
		c.calls, c.sum = 0, 0
	})
	return text
}

type countingScorer struct{ *tally }

func (c countingScorer) Score(ctx context.Context, all []*cupel.ContextItem, scores []float64) error {
	items := make([]cupel.ScoredItem, len(all))
	for i, item := range all {
		items[i].Item = item
	}
	c.add(ctx, items, cupel.SliceBudget{})
	for i, item := range all {
		if ctx.Err() != nil {
			c.count(fnv.New64a(), "stopped", i)
			return ctx.Err()
		}
		scores[i] = size(item, all)
	}
	return nil
}

// countingSlicer has all optional methods.
type countingSlicer struct{ *tally }

func (c countingSlicer) Slice(ctx context.Context, items []cupel.ScoredItem, budget cupel.SliceBudget) (strategy.Selection, error) {
	c.add(ctx, items, budget)
	return slicer.Greedy{}.Slice(ctx, items, budget)
}

func (c countingSlicer) Facts() strategy.Facts {
	return strategy.Facts{
		Of: c,
		ForKind: func(kind cupel.ContextKind) strategy.Slicer {
			c.add(context.Background(), nil, cupel.SliceBudget{TargetTokens: len(kind)})
			return c
		},
		Explain: func(ctx context.Context, items []cupel.ScoredItem, budget cupel.SliceBudget, sel strategy.Selection, at int) (strategy.Obstacle, error) {
			budget.MaxTokens = at
			c.add(ctx, items, budget)
			return strategy.Obstacle{Rule: "the density"}, nil
		},
	}
}

type countingPlacer struct{ *tally }

func (c countingPlacer) Place(ctx context.Context, items []cupel.ScoredItem) ([]int, error) {
	c.add(ctx, items, cupel.SliceBudget{})
	return placer.UShaped{}.Place(ctx, items)
}

// countingCollector keeps what it is told when it is enabled.
type countingCollector struct {
	*tally
	enabled bool
	kept    *listCollector
}

func (c countingCollector) IsEnabled() bool {
	c.count(fnv.New64a(), "asked")
	return c.enabled
}

func (c countingCollector) RecordStageEvent(e cupel.TraceEvent) { c.keep("stage", e) }

func (c countingCollector) RecordItemEvent(e cupel.TraceEvent) { c.keep("item", e) }

func (c countingCollector) keep(of string, e cupel.TraceEvent) {
	c.count(fnv.New64a(), of, e)
	if c.enabled {
		c.kept.add(e)
	}
}

func (c countingCollector) Events() []cupel.TraceEvent { return c.kept.Events() }

// The rules call a strategy as often as they did, with what they did.
func TestCallsOfTheKits(t *testing.T) {
	skipUnderRace(t)
	var text string
	for _, tt := range []struct {
		role string
		of   cupeltest.Counter
	}{
		{"scorer", countingScorer{new(tally)}},
		{"slicer", countingSlicer{new(tally)}},
		{"placer", countingPlacer{new(tally)}},
	} {
		text += cupeltest.Calls(tt.role, tt.of)
	}
	synctest.Test(t, func(*testing.T) { // whose clock gives the stages of a run the same durations each time
		text += cupeltest.Calls("collector", countingCollector{new(tally), true, new(listCollector)})
		text += cupeltest.Calls("collector that is not enabled", countingCollector{new(tally), false, new(listCollector)})
	})
	samePage(t, "testdata/calls.txt", text)
}
