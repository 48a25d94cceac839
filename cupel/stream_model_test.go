package cupel_test

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"runtime"
	"slices"
	"testing"

	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupel/scorer"
	"github.com/wollax/cupel-go/cupel/slicer"
)

// hostileItems makes items with everything that the stages look at: duplicates,
// pinned ones, negative and zero sizes, and scores that are no numbers.
func hostileItems(t testing.TB, r *rand.Rand, n int) []*cupel.ContextItem {
	t.Helper()
	scores := []float64{0, 0.25, 0.5, 0.75, 1, -1, math.NaN(), math.Inf(1), math.Inf(-1), math.Copysign(0, -1)}
	items := make([]*cupel.ContextItem, n)
	for i := range items {
		score := r.Float64()
		if r.IntN(3) == 0 {
			score = scores[r.IntN(len(scores))]
		}
		opts := []cupel.ItemOption{hint(score), cupel.WithPriority(r.IntN(5))}
		if r.IntN(10) == 0 {
			opts = append(opts, cupel.WithPinned())
		}
		tokens := r.IntN(12)
		if r.IntN(12) == 0 {
			tokens = -tokens
		}
		items[i] = item(t, fmt.Sprint("c", r.IntN(2*n)), tokens, opts...)
	}
	return items
}

// When one batch holds everything, a streaming run is a run with GreedySlice:
// window, included and excluded items with their reasons, totals.
func TestRunStreamInOneBatchIsRun(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for _, scores := range []cupel.Scorer{byHint{}, scorer.Priority{}} {
		p := pipeline(t, func(c *cupel.Config) {
			c.Scorer, c.Slicer, c.Overflow = scores, slicer.Greedy{}, cupel.OverflowTruncate
		})
		compared := 0
		for range 500 {
			items := hostileItems(t, r, 1+r.IntN(20))
			target := 1 + r.IntN(120)
			budget := budgetOf(t, 1000, target, cupel.WithEstimationSafetyMargin(float64(r.IntN(30))),
				cupel.WithReservedSlots(map[cupel.ContextKind]int{"Tool": r.IntN(10)}))
			want, err := p.DryRun(t.Context(), items, budget)
			if err != nil {
				t.Fatal(err)
			}
			pulled := 0
			collector := cupel.NewDiagnosticTraceCollector()
			result, err := p.RunStream(t.Context(), stream(&pulled, items...), budget, cupel.WithTrace(collector), cupel.WithBatchSize(len(items)+1))
			if err != nil {
				t.Fatal(err)
			}
			if !result.SourceEnded {
				continue // pinned items have filled the budget
			}
			compared++
			got := collector.BuildReport()
			got.Events, want.Events = nil, nil
			if !sameReport(got, want) {
				t.Fatalf("target %d of %d items\ngot in  %s\nwant in %s\ngot out  %s\nwant out %s", target, len(items), included(got), included(want), excluded(got), excluded(want))
			}
			equal(t, "window", contents(result.Window), included(want))
			equal(t, "candidates", result.TotalCandidates, want.TotalCandidates)
			equal(t, "tokens", result.TotalTokensConsidered, want.TotalTokensConsidered)
		}
		if compared < 300 {
			t.Errorf("only %d of 500 runs saw all items", compared)
		}
	}
}

// sameReport is DeepEqual that takes two NaN for equal.
func sameReport(a, b *cupel.SelectionReport) bool {
	bits := func(r *cupel.SelectionReport) (scores []uint64) {
		for _, i := range r.Included {
			scores = append(scores, math.Float64bits(i.Score))
		}
		for _, e := range r.Excluded {
			scores = append(scores, math.Float64bits(e.Score))
		}
		return scores
	}
	strip := func(r *cupel.SelectionReport) *cupel.SelectionReport {
		c := *r
		c.Included, c.Excluded = slices.Clone(r.Included), slices.Clone(r.Excluded)
		for i := range c.Included {
			c.Included[i].Score = 0
		}
		for i := range c.Excluded {
			c.Excluded[i].Score = 0
		}
		return &c
	}
	return slices.Equal(bits(a), bits(b)) && reflect.DeepEqual(strip(a), strip(b))
}

// With scores that do not depend on the others, no duplicates, and room for
// all, batches do not matter.
func TestRunStreamAgreesWithRunWhenAllFits(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	p := pipeline(t, func(c *cupel.Config) { c.Slicer, c.KeepDuplicates = slicer.Greedy{}, true })
	for range 200 {
		items := hostileItems(t, r, 1+r.IntN(60))
		budget := budgetOf(t, 10_000, 9_000)
		want, err := p.Run(t.Context(), items, budget)
		if err != nil {
			t.Fatal(err)
		}
		pulled := 0
		got, err := p.RunStream(t.Context(), stream(&pulled, items...), budget, cupel.WithBatchSize(1+r.IntN(20)))
		if err != nil {
			t.Fatal(err)
		}
		equalSlices(t, "window", got.Window, want)
	}
}

// modelStream is the pseudocode of RunStream, word by word, for scores by hint,
// the order of the merge, and Truncate.
func modelStream(items []*cupel.ContextItem, target, size int) (window []*cupel.ContextItem, pulled int) {
	type scored struct {
		item  *cupel.ContextItem
		score float64
	}
	byScore := func(a, b float64) int { // highest first, NaN last
		switch {
		case a > b, !math.IsNaN(a) && math.IsNaN(b):
			return -1
		case b > a, !math.IsNaN(b) && math.IsNaN(a):
			return 1
		}
		return 0
	}
	var pinned []*cupel.ContextItem
	var kept, batch []scored
	pinnedTokens, spent := 0, 0
	left := func() int { return max(0, target-pinnedTokens) - spent }
	process := func() {
		var unique []scored
		for _, b := range batch {
			if slices.ContainsFunc(kept, func(k scored) bool { return k.item.Content() == b.item.Content() }) {
				continue
			}
			i := slices.IndexFunc(unique, func(u scored) bool { return u.item.Content() == b.item.Content() })
			switch {
			case i < 0:
				unique = append(unique, b)
			case b.score > unique[i].score:
				unique = append(slices.Delete(unique, i, i+1), b)
			}
		}
		slices.SortStableFunc(unique, func(a, b scored) int { return byScore(a.score, b.score) })
		slices.SortStableFunc(unique, func(a, b scored) int {
			density := func(s scored) float64 {
				if s.item.Tokens() == 0 {
					return math.MaxFloat64
				}
				return s.score / float64(s.item.Tokens())
			}
			return byScore(density(a), density(b))
		})
		if left() > 0 {
			for _, u := range unique {
				if u.item.Tokens() <= left() {
					kept = append(kept, u)
					spent += u.item.Tokens()
				}
			}
		}
		batch = nil
	}
	for left() > 0 && pulled < len(items) {
		it := items[pulled]
		pulled++
		score, _ := it.FutureRelevanceHint()
		switch {
		case it.Tokens() < 0:
		case it.Pinned():
			pinned = append(pinned, it)
			pinnedTokens += it.Tokens()
		default:
			batch = append(batch, scored{it, score})
			if len(batch) == size {
				process()
			}
		}
	}
	process()

	arrival := func(s scored) int { return slices.Index(items, s.item) }
	slices.SortFunc(kept, func(a, b scored) int {
		return cmp.Or(byScore(a.score, b.score), cmp.Compare(arrival(a), arrival(b)))
	})
	window, total := slices.Clone(pinned), pinnedTokens
	all := total + spent
	for _, k := range kept {
		if all <= target || total+k.item.Tokens() <= target {
			window = append(window, k.item)
			total += k.item.Tokens()
		}
	}
	return window, pulled
}

func TestRunStreamFollowsItsModel(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	p := pipeline(t, func(c *cupel.Config) { c.Overflow = cupel.OverflowTruncate })
	stopped := 0
	for range 2000 {
		items := hostileItems(t, r, r.IntN(60))
		target, size := r.IntN(150), 1+r.IntN(12)
		window, want := modelStream(items, target, size)
		pulled := 0
		got, err := p.RunStream(t.Context(), stream(&pulled, items...), budgetOf(t, 1000, target), cupel.WithBatchSize(size))
		if err != nil {
			t.Fatal(err)
		}
		if pulled != want || !slices.Equal(got.Window, window) {
			t.Fatalf("target %d, batches of %d: %d pulled, want %d; window %s, want %s", target, size, pulled, want, contents(got.Window), contents(window))
		}
		if pulled < len(items) {
			stopped++
		}
	}
	if stopped < 200 {
		t.Errorf("only %d runs stopped early", stopped)
	}
}

func FuzzRunStream(f *testing.F) {
	f.Add([]byte{}, uint8(3), uint8(0), uint8(0))
	f.Add([]byte("\x01\x02\x03 some items \xff\x80"), uint8(20), uint8(2), uint8(1))
	f.Add([]byte("aaaaaaaaaaaaaaaaaaaaaaaaaaaaa\x00\x00zz"), uint8(90), uint8(1), uint8(2))
	f.Fuzz(func(t *testing.T, data []byte, target, size, overflow uint8) {
		var items []*cupel.ContextItem
		for i := 0; i+1 < len(data) && len(items) < 300; i += 2 {
			opts := []cupel.ItemOption{hint(float64(int8(data[i+1])) / 16)}
			if data[i]%16 == 3 {
				opts = append(opts, cupel.WithPinned())
			}
			items = append(items, item(t, fmt.Sprint(data[i]), int(int8(data[i]))/4, opts...))
		}
		p := pipeline(t, func(c *cupel.Config) { c.Overflow = cupel.OverflowStrategy(overflow % 3) })
		budget := budgetOf(t, 255, int(target))
		collector := cupel.NewDiagnosticTraceCollector(cupel.WithDetailLevel(cupel.TraceDetailItem))
		pulled := 0
		run := func() (*cupel.StreamResult, error) {
			pulled = 0
			return p.RunStream(t.Context(), stream(&pulled, items...), budget, cupel.WithBatchSize(1+int(size)), cupel.WithTrace(collector))
		}
		result, err := run()
		if result.TotalCandidates > pulled || pulled > result.TotalCandidates+1 {
			t.Fatalf("%d pulled, %d candidates", pulled, result.TotalCandidates)
		}
		report := collector.BuildReport()
		out := make(map[cupel.ExclusionCode]int)
		for _, e := range report.Excluded {
			out[e.Reason.Code]++
		}
		if counts(out) != counts(result.Excluded) || report.TotalCandidates != result.TotalCandidates || report.TotalTokensConsidered != result.TotalTokensConsidered {
			t.Fatalf("report of %s, %d candidates; result %s, %d", counts(out), report.TotalCandidates, counts(result.Excluded), result.TotalCandidates)
		}
		if err != nil {
			return
		}
		if len(report.Included)+len(report.Excluded) != pulled || !slices.EqualFunc(report.Included, result.Included, func(a, b cupel.IncludedItem) bool { return a.Item == b.Item && a.Reason == b.Reason }) {
			t.Fatalf("%d in and %d out of %d", len(report.Included), len(report.Excluded), pulled)
		}
		tokens, pinned := 0, 0
		for _, it := range result.Window {
			if !slices.Contains(items[:pulled], it) || it.Tokens() < 0 {
				t.Fatalf("%s is in the window", it.Content())
			}
			tokens += it.Tokens()
			if it.Pinned() {
				pinned += it.Tokens()
			}
		}
		if tokens > max(int(target), pinned) && cupel.OverflowStrategy(overflow%3) != cupel.OverflowProceed {
			t.Fatalf("%d tokens in a target of %d", tokens, target)
		}
		again, _ := run()
		if contents(again.Window) != contents(result.Window) {
			t.Fatal("a second run selects something else")
		}
	})
}

// Ten million items go through in the memory of a few: nothing of a run grows
// with the source. Items are made each time, so that the test shows what the run retains.
func TestRunStreamMemory(t *testing.T) {
	n := 10_000_000
	if testing.Short() || raceEnabled {
		n = 300_000
	}
	for _, tt := range []struct {
		name string
		n    int
		opts []cupel.StreamOption
	}{
		{"unobserved", n, nil},
		{"stages and item events", n / 10, []cupel.StreamOption{cupel.WithTrace(cupel.TraceFuncs{StageEvent: func(cupel.TraceEvent) {}, ItemEvent: func(cupel.TraceEvent) {}})}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			live := func() uint64 {
				runtime.GC()
				var m runtime.MemStats
				runtime.ReadMemStats(&m)
				return m.HeapAlloc
			}
			before, most := live(), uint64(0)
			goroutines := runtime.NumGoroutine()
			source := func(yield func(*cupel.ContextItem, error) bool) {
				content := make([]byte, 0, 16)
				for i := range tt.n {
					content = fmt.Appendf(content[:0], "%d", i)
					tokens := 1000 // more than there is room for, but for a hundred
					if i%(tt.n/100) == 0 {
						tokens = 1
					}
					it, err := cupel.NewContextItem(string(content), tokens)
					if !yield(it, err) {
						return
					}
					if i%(tt.n/10) == tt.n/20 {
						most = max(most, live())
						equal(t, "goroutines", runtime.NumGoroutine(), goroutines)
					}
				}
			}
			result, err := pipeline(t).RunStream(t.Context(), source, budgetOf(t, 1000, 500), tt.opts...)
			if err != nil {
				t.Fatal(err)
			}
			if !result.SourceEnded || result.TotalCandidates != tt.n || len(result.Window) != 100 {
				t.Errorf("%d candidates, source ended: %t, %d items in the window", result.TotalCandidates, result.SourceEnded, len(result.Window))
			}
			const limit = 256 << 10 // 100 kept items and their contents are a tenth
			if most > before+limit {
				t.Errorf("%d bytes more than before the run, limit %d", most-before, limit)
			}
			t.Logf("%d items, at most %d bytes more than before", result.TotalCandidates, int64(most)-int64(before))
		})
	}
}

// What a run allocates does not depend on how many items come by.
func TestRunStreamAllocations(t *testing.T) {
	if raceEnabled {
		t.Skip("the race detector changes what is allocated")
	}
	p := pipeline(t)
	budget := budgetOf(t, 100, 1)
	ctx := context.Background() //nolint:usetesting // canceling t.Context allocates
	allocs := func(n int) float64 {
		items := numbered(t, "a", n, 2, hint(0.5))
		return testing.AllocsPerRun(20, func() {
			pulled := 0
			if _, err := p.RunStream(ctx, stream(&pulled, items...), budget); err != nil || pulled != n {
				t.Fatal(pulled, err)
			}
		})
	}
	few, many := allocs(64), allocs(6400)
	if many > few {
		t.Errorf("%.0f allocations for 6400 items, %.0f for 64", many, few)
	}
	t.Logf("%.0f allocations", few)
}

func BenchmarkRunStream(b *testing.B) {
	p := pipeline(b)
	items := numbered(b, "a", 10_000, 2, hint(0.5))
	budget := budgetOf(b, 100, 1)
	b.ReportAllocs()
	for b.Loop() {
		pulled := 0
		if _, err := p.RunStream(b.Context(), stream(&pulled, items...), budget); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(len(items)), "ns/item")
}
