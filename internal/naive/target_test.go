package naive_test

import (
	"cmp"
	"context"
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupel/observe"
	"github.com/wollax/cupel-go/cupel/pipeline"
	"github.com/wollax/cupel-go/cupel/scorer"
	"github.com/wollax/cupel-go/cupel/slicer"
	"github.com/wollax/cupel-go/cupel/strategy"
	"github.com/wollax/cupel-go/internal/naive"
)

// BenchmarkTarget measures every row of the table in docs/benchmarks.md: the
// engine, and in the same process its baseline. The names are row/side.

// measure runs one side of a row.
func measure(b *testing.B, name string, do func(ctx context.Context) error) {
	b.Helper()
	b.Run(name, func(b *testing.B) {
		ctx := b.Context()
		runtime.GC() // what the side before has left is not this one's to clean up
		b.ReportAllocs()
		for b.Loop() {
			if err := do(ctx); err != nil {
				b.Fatal(err)
			}
		}
	})
}

func measureSort(b *testing.B, n int) {
	b.Helper()
	unsorted, pairs := randomPairs(n), make([]pair, n)
	measure(b, "sort", func(context.Context) error {
		sortPairs(pairs, unsorted)
		return nil
	})
}

func measureScorer(b *testing.B, name string, s strategy.Scorer, items []*cupel.ContextItem) {
	b.Helper()
	scores := make([]float64, len(items))
	measure(b, name, func(ctx context.Context) error { return strategy.CallScorer(ctx, s, items, scores) })
}

func measureModel(b *testing.B, name string, s naive.Scorer, items []*cupel.ContextItem) {
	b.Helper()
	measure(b, name, func(context.Context) error {
		_, err := naive.Score(s, items, naive.FaultNone)
		return err
	})
}

// skipShort leaves the rest of a benchmark to runs without -short.
func skipShort(b *testing.B, why string) {
	b.Helper()
	if testing.Short() {
		b.Skip(why)
	}
}

func BenchmarkTarget(b *testing.B) {
	b.Run("run-100", func(b *testing.B) { benchRun(b, workload{n: 100}, threeScorers(), true) })
	b.Run("run-1000", benchReasons)
	b.Run("run-10000", func(b *testing.B) {
		w := workload{10_000, 3, 50}
		benchRun(b, w, fourScorers(), false)
		skipShort(b, "the model takes 10 s")
		items, budget := w.items(), w.budget()
		config := naive.Config{Scorer: benchScorer, Slicer: naive.Greedy{}, Placer: naive.UShaped{}}
		measure(b, "naive", func(context.Context) error {
			_, err := naive.Run(config, items, budget)
			return err
		})
	})
	b.Run("run-1000000", func(b *testing.B) {
		skipShort(b, "a million items take long to make")
		benchRun(b, workload{1_000_000, 3, 50}, fourScorers(), false)
	})
	b.Run("frequency-1000000", func(b *testing.B) {
		skipShort(b, "a million items take long to make")
		items := workload{1_000_000, 3, 50}.items()
		measureScorer(b, "engine", scorer.Frequency{}, items)
		measureSort(b, len(items))
	})
	b.Run("frequency-20000", func(b *testing.B) {
		items := workload{20_000, 20, 200}.items()
		measureScorer(b, "engine", scorer.Frequency{}, items)
		measureSort(b, len(items))
		// The model's work is that of all pairs of items: a tenth of the items
		// stand for a hundredth of it, since the whole takes ten minutes.
		measureModel(b, "naive-of-2000", naive.Frequency{}, items[:2_000])
	})
	for _, tags := range []struct {
		name  string
		items func() []*cupel.ContextItem
	}{
		{"frequency-many-tags", workload{100_000, 30, 5_000}.items},
		{"frequency-zipf", workload{20_000, 30, 5_000}.zipfItems},
	} {
		b.Run(tags.name, func(b *testing.B) {
			items := tags.items()
			measureScorer(b, "engine", scorer.Frequency{}, items)
			skipShort(b, "the lists take seconds")
			measure(b, "lists", func(context.Context) error {
				listedFrequency(items)
				return nil
			})
		})
	}
	b.Run("scaled-10000", func(b *testing.B) {
		items := workload{n: 10_000}.items()
		measureScorer(b, "engine", scorer.Must(scorer.NewScaled(scorer.Must(scorer.NewScaled(scorer.Recency{})))), items)
		measureScorer(b, "recency", scorer.Recency{}, items)
	})
	for _, bucket := range []int{100, 1} {
		for _, c := range knapsackCases {
			b.Run(fmt.Sprintf("knapsack-%d-%s", bucket, c.name), func(b *testing.B) {
				items := c.items()
				benchKnapsack(b, items, bucket, knapsackTarget)
				measure(b, "table", func(context.Context) error {
					bitTable(items, knapsackTarget, bucket)
					return nil
				})
			})
		}
	}
	// Bit tables of more than 256 MiB: what a cell of the table costs is known
	// from the rows above.
	for _, c := range knapsackCases[3:] {
		b.Run("knapsack-beyond-"+c.name, func(b *testing.B) { benchKnapsack(b, c.items(), 1, knapsackBeyond) })
	}
	b.Run("wrappers-10000", benchWrappers)
	b.Run("units-10000", benchUnits)
	b.Run("json", benchJSON)
	b.Run("goroutines", benchGoroutines)
}

// benchRun measures a whole run without observer and the sort, and with
// diagnostics what they cost.
func benchRun(b *testing.B, w workload, s strategy.Scorer, diagnostics bool) {
	b.Helper()
	items, budget, p := w.items(), w.budget(), greedyPipeline(s)
	run := func(ctx context.Context, opts ...pipeline.RunOption) error {
		_, err := p.Run(ctx, items, budget, opts...)
		return err
	}
	measure(b, "engine", func(ctx context.Context) error { return run(ctx) })
	measureSort(b, len(items))
	if !diagnostics {
		return
	}
	null := pipeline.WithTrace(observe.NullTraceCollector{})
	ctx := b.Context()
	ratios := []side{{"engine", func() { must(p.Run(ctx, items, budget)) }}}
	both := func(name string, do func(ctx context.Context) error) {
		measure(b, name, do)
		ratios = append(ratios, side{name, func() { must(0, do(ctx)) }})
	}
	both("null", func(ctx context.Context) error { return run(ctx, null) })
	both("dry-run", func(ctx context.Context) error {
		_, err := p.DryRun(ctx, items, budget)
		return err
	})
	for _, level := range []observe.TraceDetailLevel{observe.TraceDetailStage, observe.TraceDetailItem} {
		both(fmt.Sprintf("report-%v", level), func(ctx context.Context) error {
			collector := observe.NewDiagnosticTraceCollector(observe.WithDetailLevel(level))
			err := run(ctx, pipeline.WithTrace(collector))
			collector.BuildReport()
			return err
		})
	}
	measureRatios(b, ratios...)
}

// benchReasons measures what an observer costs that counts, as one that makes
// metrics does.
func benchReasons(b *testing.B) {
	w := workload{n: 1_000}
	items, budget, p := w.items(), w.budget(), greedyPipeline(threeScorers())
	ctx := b.Context()
	run := func(opts ...pipeline.RunOption) func() {
		return func() { must(p.Run(ctx, items, budget, opts...)) }
	}
	sides := []side{{"engine", run()}, {"reasons", run(pipeline.WithTrace(countingReasons{}))}}
	for _, s := range sides {
		measure(b, s.name, func(context.Context) error { s.do(); return nil })
	}
	measureRatios(b, sides...)
}

// countingReasons asks for the counts by reason of each stage.
type countingReasons struct {
	observe.NullTraceCollector
	observe.NoTrace
}

func (countingReasons) IsEnabled() bool { return true }

func (c countingReasons) StartRun(ctx context.Context, _ observe.RunInfo) (context.Context, observe.RunTrace) {
	return ctx, c
}

func (countingReasons) Detail() observe.TraceDetail { return observe.TraceDetail{Reasons: true} }

// measureRatios measures how many times the first side the others take. They
// take turns that are long enough for the garbage collector to run several
// times in each.
func measureRatios(b *testing.B, sides ...side) {
	b.Helper()
	b.Run("ratios-to-"+sides[0].name, func(b *testing.B) {
		total := 2 * time.Second
		if testing.Short() {
			total /= 100
		}
		for b.Loop() {
			times := fastest(total, 20*time.Millisecond, sides...)
			for i, s := range sides[1:] {
				b.ReportMetric(float64(times[i+1])/float64(times[0]), s.name)
			}
		}
	})
}

func benchKnapsack(b *testing.B, items []cupel.ScoredItem, bucket, target int) {
	b.Helper()
	budget := cupel.SliceBudget{MaxTokens: target, TargetTokens: target}
	s := slicer.Must(slicer.NewKnapsack(slicer.WithBucketSize(bucket)))
	measure(b, "engine", func(ctx context.Context) error {
		_, err := strategy.CallSlicer(ctx, s, items, budget)
		return err
	})
}

// benchJSON measures writing and reading a report of 30 MB.
func benchJSON(b *testing.B) {
	write, read := wireSides(36_000)
	for name, sides := range map[string][]side{"write": write, "read": read} {
		b.Run(name, func(b *testing.B) {
			for _, s := range sides {
				measure(b, s.name, func(context.Context) error {
					s.do()
					return nil
				})
			}
			measureRatios(b, sides...)
		})
	}
}

// benchWrappers measures wrappers and the slicers inside them on one list.
func benchWrappers(b *testing.B) {
	w := workload{n: 10_000}
	items := sorted(w.items(), func(r *rand.Rand, _ int) float64 { return r.Float64() })
	budget := cupel.SliceBudget{MaxTokens: 100 * w.n, TargetTokens: 88 * w.n}
	ctx := b.Context()
	around := make(map[string][]side) // by the slicer inside, which comes first
	for _, w := range wrapperSides {
		s := must(engineSlicer(w.slicer))
		measure(b, w.name, func(ctx context.Context) error {
			_, err := strategy.CallSlicer(ctx, s, items, budget)
			return err
		})
		inner := cmp.Or(w.inner, w.name)
		around[inner] = append(around[inner], side{w.name, func() { must(strategy.CallSlicer(ctx, s, items, budget)) }})
	}
	measureRatios(b, around["greedy"]...)
	measureRatios(b, around["knapsack"]...)
}

var wrapperSides = []struct {
	name, inner string
	slicer      naive.Slicer
}{
	{"greedy", "", naive.Greedy{}},
	{"quota-greedy", "greedy", naive.Quota{Entries: benchQuotas, Inner: naive.Greedy{}}},
	{"count-quota-greedy", "greedy", naive.CountQuota{Entries: wideCounts, Inner: naive.Greedy{}}},
	{"count-quota-greedy-dropping", "greedy", naive.CountQuota{Entries: benchCounts, Inner: naive.Greedy{}}},
	{"knapsack", "", naive.Knapsack{}},
	{"quota-knapsack", "knapsack", naive.Quota{Entries: benchQuotas, Inner: naive.Knapsack{}}},
	{"count-constrained-knapsack", "knapsack", naive.CountConstrainedKnapsack{Entries: wideCounts}},
	{"count-constrained-knapsack-dropping", "knapsack", naive.CountConstrainedKnapsack{Entries: benchCounts}},
}

// wideCounts has caps that drop a few items in a hundred; those of benchCounts
// drop a third of what was chosen, each with a reason.
var wideCounts = []naive.CountEntry{{Kind: "Memory", RequireCount: 100, CapCount: 1_000}, {Kind: "ticket", RequireCount: 1, CapCount: 900}}

// benchGoroutines measures what a second goroutine gains: a loop that touches
// no memory says what the machine has to give at this moment.
func benchGoroutines(b *testing.B) {
	w := workload{n: 100}
	items, budget, p := w.items(), w.budget(), greedyPipeline(threeScorers())
	ctx := b.Context()
	engine := func(times int) {
		for range times {
			if _, err := p.Run(ctx, items, budget); err != nil {
				panic(err)
			}
		}
	}
	for b.Loop() {
		cpu, run := speedUps(9, spin, engine)
		b.ReportMetric(cpu, "cpu-speedup")
		b.ReportMetric(run, "engine-speedup")
		b.ReportMetric(run/cpu, "engine/cpu")
	}
}

// speedUps returns the speed-up of two goroutines over one for two kinds of
// work: the median of several rounds that interleave all four measurements, so
// that a disturbance from outside meets all of them alike.
func speedUps(rounds int, works ...func(times int)) (first, second float64) {
	const least = 20 * time.Millisecond
	var all [2][]float64
	var times [2]int
	for i, work := range works {
		times[i] = 1
		for elapsed(1, times[i], work) < least {
			times[i] *= 2
		}
	}
	for range rounds {
		for i, work := range works {
			one := elapsed(1, times[i], work)
			two := elapsed(2, times[i], work)
			all[i] = append(all[i], 2*one.Seconds()/two.Seconds())
		}
	}
	return median(all[0]), median(all[1])
}

// elapsed is how long so many goroutines take that do the same work each.
func elapsed(goroutines, times int, work func(times int)) time.Duration {
	start := time.Now()
	var wg sync.WaitGroup
	for range goroutines {
		wg.Go(func() { work(times) })
	}
	wg.Wait()
	return time.Since(start)
}

func median(x []float64) float64 {
	slices.Sort(x)
	return x[len(x)/2]
}

var spun sync.Map // keeps the loop from being optimised away

// spin computes without touching memory.
func spin(times int) {
	x := uint64(times)
	for range times * 10_000 {
		x ^= x << 13
		x ^= x >> 7
		x ^= x << 17
	}
	spun.Store(x&1, true)
}
