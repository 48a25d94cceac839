package naive_test

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"os"
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

// side is something that takes time.
type side struct {
	name string
	do   func()
}

// fastest returns the least time that each side takes. The sides take turns,
// so that a disturbance from outside meets all of them, and the least of many
// turns is what is left when nothing disturbs. A turn is one call, if that
// takes longer.
func fastest(total, turn time.Duration, sides ...side) []time.Duration {
	times := make([]int, len(sides))
	least := make([]time.Duration, len(sides))
	run := func(i int) time.Duration {
		start := time.Now()
		for range times[i] {
			sides[i].do()
		}
		return time.Since(start)
	}
	for i := range sides {
		for times[i] = 1; ; times[i] *= 2 {
			if least[i] = run(i); least[i] >= turn {
				break
			}
		}
	}
	for start := time.Now(); time.Since(start) < total; {
		for i := range sides {
			least[i] = min(least[i], run(i))
		}
	}
	for i := range least {
		least[i] /= time.Duration(times[i])
	}
	return least
}

// guardRow says how many times the second side the first one may take.
type guardRow struct {
	name  string
	most  float64 // what docs/benchmarks.md promises, with room for a noisy machine
	why   string
	sides [2]side
}

// TestBenchGuard fails if an operation has become much slower relative to
// another in the same process. It uses no absolute times, and its limits are
// generous: it detects a lost algorithm, not a lost percent. Only make
// bench-guard runs it, since it measures time.
func TestBenchGuard(t *testing.T) {
	if os.Getenv("CUPEL_BENCH_GUARD") == "" {
		t.Skip("make bench-guard runs this: it measures time")
	}
	for _, row := range guardRows(t.Context()) {
		t.Run(row.name, func(t *testing.T) {
			least := [2]time.Duration{math.MaxInt64, math.MaxInt64}
			ratio := math.Inf(1)
			for round := 0; round < 40 && ratio > row.most; round++ { // a machine may be busy for a while
				for i, took := range fastest(100*time.Millisecond, 2*time.Millisecond, row.sides[:]...) {
					least[i] = min(least[i], took)
				}
				ratio = float64(least[0]) / float64(least[1])
			}
			t.Logf("%s %v, %s %v: %.3g times, at most %.3g", row.sides[0].name, least[0], row.sides[1].name, least[1], ratio, row.most)
			if ratio <= row.most {
				return
			}
			t.Errorf("%s takes %.3g times as long as %s, want at most %.3g: %s", row.sides[0].name, ratio, row.sides[1].name, row.most, row.why)
		})
	}
}

// runRows are whole runs, and how many sorts of as many random pairs a run of
// 100, 1,000 and 10,000 items may take: 1.3 times what it took. The lists of 10,000
// items do not fit the nearest caches, and the same program takes up to 1.6 times as
// long while others use the memory: they may take twice what they took.
var runRows = []struct {
	name   string
	scorer naive.Scorer
	slicer naive.Slicer
	most   [3]float64
}{
	{"reflexive", naive.Reflexive{}, naive.Greedy{}, [3]float64{4.1, 2.4, 1.7}},
	{"recency", naive.Recency{}, naive.Greedy{}, [3]float64{5.4, 3.2, 2.9}},
	{"three", three, naive.Greedy{}, [3]float64{6.1, 3.6, 3.1}},
	{"frequency", four, naive.Greedy{}, [3]float64{7.9, 4.6, 4.2}},
	{"knapsack", naive.Reflexive{}, naive.Knapsack{}, [3]float64{3.5, 2.0, 1.5}},
	{"quota", naive.Reflexive{}, quotas, [3]float64{5.4, 2.8, 2.5}},
	{"count-quota", naive.Reflexive{}, counts, [3]float64{4.9, 2.9, 2.4}},
}

func guardRows(ctx context.Context) []guardRow {
	check := func(err error) {
		if err != nil {
			panic(err)
		}
	}
	run := func(w workload, s naive.Scorer, opts ...pipeline.RunOption) side {
		items, budget, p := w.items(), w.budget(), enginePipeline(s, naive.Greedy{})
		return side{"the engine", func() {
			_, err := p.Run(ctx, items, budget, opts...)
			check(err)
		}}
	}
	report := func(w workload, level observe.TraceDetailLevel) side {
		items, budget, p := w.items(), w.budget(), enginePipeline(three, naive.Greedy{})
		return side{fmt.Sprintf("a report of level %v", level), func() {
			collector := observe.NewDiagnosticTraceCollector(observe.WithDetailLevel(level))
			_, err := p.Run(ctx, items, budget, pipeline.WithTrace(collector))
			check(err)
			collector.BuildReport()
		}}
	}
	sort := func(n int) side {
		unsorted, pairs := randomPairs(n), make([]pair, n)
		return side{"one sort", func() { sortPairs(pairs, unsorted) }}
	}
	score := func(name string, s strategy.Scorer, items []*cupel.ContextItem) side {
		scores := make([]float64, len(items))
		return side{name, func() { check(strategy.CallScorer(ctx, s, items, scores)) }}
	}
	few, some := workload{n: 100}, workload{10_000, 3, 50}
	scaled := scorer.Must(scorer.NewScaled(scorer.Must(scorer.NewScaled(scorer.Recency{}))))
	long := workload{500, 20, 200}.items()
	rows := []guardRow{
		{"null-collector", 1.2, "without an observer nothing is built", [2]side{run(few, three, pipeline.WithTrace(observe.NullTraceCollector{})), run(few, three)}},
		{"report-stage", 3.5, "a report costs what it holds", [2]side{report(few, observe.TraceDetailStage), run(few, three)}},
		{"report-item", 4, "and a line of text for each item", [2]side{report(few, observe.TraceDetailItem), run(few, three)}},
		{"counts by reason", 1.3, "counting builds nothing for an item", [2]side{run(workload{n: 1_000}, three, pipeline.WithTrace(countingReasons{})), run(workload{n: 1_000}, three)}},
		{"run-10000", 8, "a run is linear but for sorts", [2]side{run(some, four), sort(some.n)}},
		{"frequency-500", 0.1, "long tag lists are compared 64 at a time", [2]side{score("the engine", scorer.Frequency{}, long),
			{"the model", func() { must(naive.Score(naive.Frequency{}, long)) }}}},
		{"scaled", 3, "nested scaling is a pass each, not a pass squared", [2]side{score("twice scaled recency", scaled, some.items()), score("recency", scorer.Recency{}, some.items())}},
	}
	for _, r := range runRows {
		for i, n := range []int{100, 1_000, 10_000} {
			w, p := workload{n: n}, enginePipeline(r.scorer, r.slicer)
			items, budget := w.items(), w.budget()
			rows = append(rows, guardRow{fmt.Sprintf("run-%s-%d", r.name, n), r.most[i], "a run is a few sorts, of any number of items", [2]side{
				{"the engine", func() { must(p.Run(ctx, items, budget)) }}, sort(n)}})
		}
	}
	many := workload{n: 2_000}
	dry := must(enginePipeline(three, naive.Greedy{}).DryRun(ctx, many.items(), many.budget()))
	text := must(dry.MarshalJSON())
	var plain any
	check(json.Unmarshal(text, &plain))
	rows = append(rows,
		guardRow{"json-write", 1, "a report is written in one pass", [2]side{
			{"the engine", func() { must(dry.MarshalJSON()) }}, {"json.Marshal of maps", func() { must(json.Marshal(plain)) }}}},
		guardRow{"json-read", 1.5, "a report is read in one pass", [2]side{
			{"the engine", func() { check(new(cupel.SelectionReport).UnmarshalJSON(text)) }}, {"json.Unmarshal into maps", func() { check(json.Unmarshal(text, new(any))) }}}})
	for i, c := range knapsackCases {
		items, budget := c.items(), cupel.SliceBudget{MaxTokens: knapsackTarget, TargetTokens: knapsackTarget}
		most := 1.5 // a worst case is a table
		if i == 0 {
			most = 0.25
		}
		rows = append(rows, guardRow{"knapsack-" + c.name, most, "bounds decide most items before any table", [2]side{
			{"the engine", func() { must(strategy.CallSlicer(ctx, slicer.Knapsack{}, items, budget)) }},
			{"the table", func() { bitTable(items, knapsackTarget, slicer.DefaultBucketSize) }}}})
	}
	units, budget, p := withUnits(some.items()), some.budget(), enginePipeline(four, naive.Greedy{})
	rows = append(rows, guardRow{"units", 3, "units add linear time to a run",
		[2]side{{"units", func() { must(p.Run(ctx, units, budget)) }}, run(some, four)}})
	return rows
}

// BenchmarkRun measures the same runs.
func BenchmarkRun(b *testing.B) {
	for _, r := range runRows {
		for _, n := range []int{100, 1_000, 10_000} {
			w, p := workload{n: n}, enginePipeline(r.scorer, r.slicer)
			items, budget := w.items(), w.budget()
			b.Run(fmt.Sprintf("%s-%d", r.name, n), func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					must(p.Run(b.Context(), items, budget))
				}
			})
		}
	}
}
