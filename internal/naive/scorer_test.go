package naive_test

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupel/strategy"
	"github.com/wollax/cupel-go/internal/naive"
)

// agree holds the engine's scorer to the model, bit for bit. Of a
// long list it looks at each step-th item: the model is slow.
func agree(t *testing.T, what string, s naive.Scorer, items []*cupel.ContextItem, step int) {
	t.Helper()
	scorer, err := engineScorer(s)
	if err != nil {
		t.Fatal(err)
	}
	want, err := naive.Score(s, items)
	if err != nil {
		t.Fatal(err)
	}
	got := make([]float64, len(items))
	if err := strategy.CallScorer(t.Context(), scorer, items, got); err != nil {
		t.Fatal(err)
	}
	for i := 0; i < len(items); i += step {
		if !sameScore(got[i], want[i]) {
			t.Fatalf("%s, item %d of %d: got %v, the chapter %v", what, i, len(items), got[i], want[i])
		}
	}
}

// TestFrequencyAgrees covers the numbers of tags at which the way of counting
// changes.
func TestFrequencyAgrees(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 3))
	for _, shape := range []struct{ items, least, most, among int }{
		{60, 0, 3, 9}, {400, 1, 1, 50}, {700, 1, 3, 14}, {700, 0, 4, 30}, {300, 4, 4, 40},
		{400, 0, 12, 30}, {300, 5, 9, 2000}, {200, 20, 25, 90}, {500, 1, 6, 6},
	} {
		items := make([]*cupel.ContextItem, shape.items)
		for i := range items {
			if i > 0 && r.IntN(20) == 0 {
				items[i] = items[r.IntN(i)]
				continue
			}
			var tags []string
			for range shape.least + r.IntN(shape.most-shape.least+1) {
				tags = append(tags, fmt.Sprintf([]string{"tag-%d", "Tag-%d", "TAG-%d"}[r.IntN(3)], r.IntN(shape.among)))
				if r.IntN(20) == 0 {
					tags = append(tags, tagNames[r.IntN(len(tagNames))])
				}
			}
			items[i] = must(cupel.NewContextItem("x", 1, cupel.WithTags(tags...)))
		}
		agree(t, fmt.Sprintf("%+v", shape), naive.Frequency{}, items, 7)
	}
}

// TestLongRankingsAgree covers lists long enough for every way of sorting, of
// instants near each other and far apart.
func TestLongRankingsAgree(t *testing.T) {
	r := rand.New(rand.NewPCG(4, 4))
	for _, span := range []time.Duration{1, 10, time.Hour, 290 * 365 * 24 * time.Hour} {
		for _, far := range []bool{false, true} {
			items := make([]*cupel.ContextItem, 600)
			for i := range items {
				when := epoch.Add(-time.Duration(r.Int64N(int64(span))))
				if far && i%5 == 0 {
					when = when.AddDate(-[]int{500, 1900}[r.IntN(2)], 0, 0)
				}
				items[i] = must(cupel.NewContextItem("x", 1, cupel.WithTimestamp(when), cupel.WithPriority(int(r.Uint64())>>r.IntN(64))))
			}
			agree(t, fmt.Sprintf("recency, span %v, far %v", span, far), naive.Recency{}, items, 1)
			agree(t, fmt.Sprintf("priority, span %v, far %v", span, far), naive.Priority{}, items, 1)
		}
	}
}
