package naive_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupel/pipeline"
	"github.com/wollax/cupel-go/cupel/placer"
	"github.com/wollax/cupel-go/cupel/slicer"
	"github.com/wollax/cupel-go/cupel/strategy"
)

// unitMixtures are what an agent's context may consist of: the options that
// each item of a workload has in addition. Each mixture is measured against the
// same items without these options.
var unitMixtures = []struct {
	name    string
	options func(r *rand.Rand, i int, it *cupel.ContextItem) []cupel.ItemOption
}{
	{"pairs", callAndResult},
	{"variants", func(r *rand.Rand, _ int, it *cupel.ContextItem) []cupel.ItemOption { return outlines(r, it) }},
	{"versions", func(r *rand.Rand, i int, it *cupel.ContextItem) []cupel.ItemOption {
		return append(outlines(r, it), fileVersion(r, i)...)
	}},
	{"mixed", mixedUnits},
}

// mixedUnits makes pairs of four items in ten, and gives two outlines, two
// outlines and version keys, and two nothing.
func mixedUnits(r *rand.Rand, i int, it *cupel.ContextItem) []cupel.ItemOption {
	switch i / 2 % 5 {
	case 0, 1:
		return callAndResult(r, i, it)
	case 2:
		return outlines(r, it)
	case 3:
		return append(outlines(r, it), fileVersion(r, i)...)
	}
	return nil
}

// callAndResult puts two neighbours into a group. The second has two or three
// smaller forms.
func callAndResult(r *rand.Rand, i int, it *cupel.ContextItem) []cupel.ItemOption {
	opts := []cupel.ItemOption{cupel.WithGroup(fmt.Sprint("call_", i/2))}
	if i%2 == 1 {
		opts = append(opts, outlines(r, it)...)
	}
	return opts
}

// outlines are two or three smaller forms.
func outlines(r *rand.Rand, it *cupel.ContextItem) []cupel.ItemOption {
	list := []cupel.Variant{
		{Content: "an outline of " + it.Content()[:8], Tokens: it.Tokens() / 3, Worth: .5 + .2*r.Float64()},
		{Content: "a stub of " + it.Content()[:8], Tokens: it.Tokens() / 10, Worth: .1 + .2*r.Float64()},
	}
	if r.IntN(2) == 0 {
		list = append(list, cupel.Variant{Content: "a line of " + it.Content()[:8], Tokens: it.Tokens() / 15, Worth: .05})
	}
	return []cupel.ItemOption{cupel.WithVariants(list...)}
}

// fileVersion makes every other item a version of one of many files.
func fileVersion(r *rand.Rand, i int) []cupel.ItemOption {
	if i%2 == 1 {
		return nil
	}
	return []cupel.ItemOption{cupel.WithVersionOf(fmt.Sprint("file_", r.IntN(i+1)/8))}
}

// withUnits returns copies of the items with the options of a mixture.
func withUnits(items []*cupel.ContextItem, options func(r *rand.Rand, i int, it *cupel.ContextItem) []cupel.ItemOption) []*cupel.ContextItem {
	r := rand.New(rand.NewPCG(uint64(len(items)), 7))
	units := make([]*cupel.ContextItem, len(items))
	for i, it := range items {
		units[i] = must(it.With(options(r, i, it)...))
	}
	return units
}

// unitSlicers are those that promise a bound for units.
var unitSlicers = []struct {
	name   string
	slicer strategy.Slicer
}{
	{"greedy", slicer.Greedy{}}, {"scoregreedy", slicer.ScoreGreedy{}}, {"knapsack", slicer.Must(slicer.NewKnapsack())},
}

// unitSides are the runs of a workload with and without the options of a mixture.
func unitSides(ctx context.Context, w workload, s strategy.Slicer, options func(r *rand.Rand, i int, it *cupel.ContextItem) []cupel.ItemOption) [2]side {
	plain, budget := w.items(), w.budget()
	p := must(pipeline.New(pipeline.Config{Scorer: fourScorers(), Slicer: s, Placer: placer.UShaped{}, Overflow: pipeline.OverflowTruncate}))
	run := func(name string, items []*cupel.ContextItem) side {
		return side{name, func() { must(p.Run(ctx, items, budget)) }}
	}
	return [2]side{run("units", withUnits(plain, options)), run("plain", plain)}
}

// benchUnits measures runs of candidates with units against runs of the same
// candidates without, in processor time, garbage collection included.
func benchUnits(b *testing.B) {
	w := workload{10_000, 3, 50}
	for _, m := range unitMixtures {
		for _, s := range unitSlicers {
			b.Run(m.name+"-"+s.name, func(b *testing.B) {
				sides := unitSides(b.Context(), w, s.slicer, m.options)
				for _, side := range sides {
					measure(b, side.name, func(context.Context) error { side.do(); return nil })
				}
				b.Run("ratios-to-plain", func(b *testing.B) {
					pairs, calls := 25, 8
					if testing.Short() {
						pairs, calls = 1, 1
					}
					for b.Loop() {
						b.ReportMetric(cpuRatio(pairs, calls, sides), "units")
					}
				})
			})
		}
	}
}

// cpuRatio returns how many times the processor time of the second side the
// first one takes: the median of pairs that take turns of so many calls.
func cpuRatio(pairs, calls int, sides [2]side) float64 {
	turn := func(s side) float64 {
		start := cpuTime()
		for range calls {
			s.do()
		}
		return float64(cpuTime() - start)
	}
	turn(sides[0]) // both have pooled memory from here on
	turn(sides[1])
	ratios := make([]float64, pairs)
	for i := range ratios {
		ratios[i] = turn(sides[0]) / turn(sides[1])
	}
	return median(ratios)
}
