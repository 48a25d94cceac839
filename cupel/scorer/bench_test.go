package scorer_test

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupel/scorer"
)

// benchItems returns n items with every field, and tags of tagsEach out of
// tagsAmong.
func benchItems(n, tagsEach, tagsAmong int) items {
	r := newRand(99)
	kinds := []cupel.ContextKind{cupel.KindMessage, cupel.KindDocument, cupel.KindToolOutput, cupel.KindMemory, "Ticket"}
	all := make(items, n)
	for i := range all {
		var tags []string
		for _, tag := range r.Perm(tagsAmong)[:tagsEach] {
			tags = append(tags, fmt.Sprint("tag-", tag))
		}
		all[i] = item(
			cupel.WithKind(pick(r, kinds...)),
			cupel.WithPriority(r.IntN(10)),
			cupel.WithTimestamp(reference.Add(-time.Duration(r.Int64N(int64(90*24*time.Hour))))),
			cupel.WithFutureRelevanceHint(r.Float64()),
			cupel.WithTags(tags...),
			cupel.WithMetadata(map[string]any{cupel.MetadataTrust: "0.85", cupel.MetadataPriority: "high"}))
	}
	return all
}

func BenchmarkScoreAll(b *testing.B) {
	for _, n := range []int{100, 10_000} {
		all := benchItems(n, 3, 50)
		for name, s := range sorted(everyScorer()) {
			b.Run(fmt.Sprintf("%s/items=%d", name, n), func(b *testing.B) { benchScoreAll(b, s, all) })
		}
		b.Run(fmt.Sprintf("yardstick, one sort/items=%d", n), func(b *testing.B) { benchSort(b, n) })
	}
}

// BenchmarkFrequency covers the numbers of tags at which the way of counting
// changes.
func BenchmarkFrequency(b *testing.B) {
	for _, shape := range []struct{ items, tags, among int }{
		{1_000, 3, 50}, {10_000, 4, 2_000}, {10_000, 8, 2_000}, {20_000, 20, 200}, {100_000, 3, 50},
	} {
		all := benchItems(shape.items, shape.tags, shape.among)
		name := fmt.Sprintf("items=%d/tags=%d of %d", shape.items, shape.tags, shape.among)
		b.Run(name, func(b *testing.B) { benchScoreAll(b, scorer.Frequency{}, all) })
		b.Run("yardstick, one sort/"+name, func(b *testing.B) { benchSort(b, shape.items) })
	}
}

// BenchmarkScore measures the single form, which looks at the whole list for
// one item where the scorer is relative.
func BenchmarkScore(b *testing.B) {
	all := benchItems(100, 3, 50)
	for name, s := range sorted(everyScorer()) {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				s.Score(all[50], all)
			}
		})
	}
}

func benchScoreAll(b *testing.B, s cupel.BatchScorer, all items) {
	b.Helper()
	b.ReportAllocs()
	scores := make([]float64, len(all))
	for b.Loop() {
		if err := s.ScoreAll(b.Context(), all, scores); err != nil {
			b.Fatal(err)
		}
	}
}

// benchSort is what scores are measured against: one pattern-defeating sort of
// as many pairs.
func benchSort(b *testing.B, n int) {
	b.Helper()
	type pair struct {
		score float64
		index int32
	}
	r := rand.New(rand.NewPCG(1, 1))
	unsorted, pairs := make([]pair, n), make([]pair, n)
	for i := range unsorted {
		unsorted[i] = pair{r.Float64(), int32(i)}
	}
	b.ReportAllocs()
	for b.Loop() {
		copy(pairs, unsorted)
		slices.SortFunc(pairs, func(x, y pair) int { return cmp.Compare(x.score, y.score) })
	}
}

func sorted(scorers map[string]cupel.BatchScorer) func(yield func(string, cupel.BatchScorer) bool) {
	return func(yield func(string, cupel.BatchScorer) bool) {
		names := make([]string, 0, len(scorers))
		for name := range scorers {
			names = append(names, name)
		}
		slices.Sort(names)
		for _, name := range names {
			if !yield(name, scorers[name]) {
				return
			}
		}
	}
}
