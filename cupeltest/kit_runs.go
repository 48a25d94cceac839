package cupeltest

import (
	"context"
	"errors"
	"slices"

	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupel/observe"
	"github.com/wollax/cupel-go/cupel/pipeline"
	"github.com/wollax/cupel-go/cupel/placer"
	"github.com/wollax/cupel-go/cupel/scorer"
	"github.com/wollax/cupel-go/cupel/slicer"
	"github.com/wollax/cupel-go/cupel/strategy"
)

// A kitRun is a run for a collector to follow.
type kitRun struct {
	name  string
	start func(ctx context.Context, c observe.TraceCollector) ([]*cupel.ContextItem, error)
	spy   *contextSpy // the run's strategies
}

// kitRuns are runs with something to tell in every stage, without anything,
// and such as fail in the first, a middle and the last stage.
func kitRuns() []kitRun {
	g := nextGeneration()
	items := append(sampleItems(g),
		Item("pinned", 20, cupel.WithPinned()),
		Item("negative", -5),
		Item("large", 5000))
	tooMuch := []*cupel.ContextItem{Item("pinned", 2000, cupel.WithPinned())}
	return []kitRun{
		newKitRun("a run with every kind of exclusion", items, pipeline.OverflowTruncate, nil),
		newKitRun("a run with groups, smaller forms and versions", append(unitItems(g),
			Item("an old version", 20, cupel.WithVersionOf("file")), Item("its new version", 400, cupel.WithVersionOf("file"))), pipeline.OverflowTruncate, nil),
		newKitRun("a run without candidates", nil, pipeline.OverflowThrow, nil),
		newKitRun("a run whose pinned items do not fit", tooMuch, pipeline.OverflowThrow, nil),
		newKitRun("a run whose slicer fails", items, pipeline.OverflowThrow, errors.New("on purpose")),
		newKitRun("a run that overflows", append(slices.Clone(items), Item("pinned too", 900, cupel.WithPinned())), pipeline.OverflowThrow, nil),
		newKitStream("a stream of several batches", randomItems(g, 65)),
		newKitRun("a run of 301 items", randomItems(g, 301), pipeline.OverflowTruncate, nil),
	}
}

// newKitStream is a run over items that arrive one by one.
func newKitStream(name string, items []*cupel.ContextItem) kitRun {
	run := newKitRun(name, items, pipeline.OverflowTruncate, nil)
	p := must(pipeline.New(pipeline.Config{Scorer: run.spy, Slicer: run.spy, Placer: run.spy}))
	run.start = func(ctx context.Context, c observe.TraceCollector) ([]*cupel.ContextItem, error) {
		result, err := p.RunStream(ctx, func(yield func(*cupel.ContextItem, error) bool) {
			for _, item := range items {
				if !yield(item, nil) {
					return
				}
			}
		}, Budget(10_000, 9000), pipeline.WithBatchSize(8), pipeline.WithTrace(c))
		if err != nil {
			return nil, err
		}
		return result.Window, nil
	}
	return run
}

func newKitRun(name string, items []*cupel.ContextItem, overflow pipeline.OverflowStrategy, failure error) kitRun {
	spy := &contextSpy{failure: failure}
	p := must(pipeline.New(pipeline.Config{Scorer: spy, Slicer: spy, Placer: spy, Overflow: overflow}))
	return kitRun{name: name, spy: spy, start: func(ctx context.Context, c observe.TraceCollector) ([]*cupel.ContextItem, error) {
		return p.Run(ctx, items, Budget(1000, 400), pipeline.WithTrace(c))
	}}
}

// contextSpy is plain strategies that remember the contexts that they are
// given.
type contextSpy struct {
	failure error // of the slicer
	seen    []context.Context
}

func (s *contextSpy) Score(ctx context.Context, items []*cupel.ContextItem, scores []float64) error {
	s.seen = append(s.seen, ctx)
	return scorer.Reflexive{}.Score(ctx, items, scores)
}

func (s *contextSpy) Slice(ctx context.Context, items []cupel.ScoredItem, budget cupel.SliceBudget) (strategy.Selection, error) {
	s.seen = append(s.seen, ctx)
	if s.failure != nil {
		return strategy.Selection{}, s.failure
	}
	return slicer.Greedy{}.Slice(ctx, items, budget)
}

func (s *contextSpy) Place(ctx context.Context, items []cupel.ScoredItem) ([]int, error) {
	s.seen = append(s.seen, ctx)
	return placer.UShaped{}.Place(ctx, items)
}
