package slicer

import (
	"math"
	"testing"

	"github.com/wollax/cupel-go/cupel"
)

func TestAutoBucketSize(t *testing.T) {
	of := func(tokens ...int) []cupel.ScoredItem {
		items := make([]cupel.ScoredItem, len(tokens))
		for i, n := range tokens {
			item, err := cupel.NewContextItem("content", n)
			if err != nil {
				t.Fatal(err)
			}
			items[i].Item = item
		}
		return items
	}
	const large = 1 << 26 // 1024 tokens in each of 65,536 buckets
	for _, tt := range []struct {
		why    string
		items  []cupel.ScoredItem
		target int
		want   int64
	}{
		{"a thirty-second of the mean", of(3200, 6400), large, 150},
		{"one item", of(6400), large, 200},
		{"what does not fit does not count", of(3200, large+1, 6400), large, 150},
		{"what just fits counts", of(large, 32, 32), large, 1024},
		{"nor does what takes nothing", of(3200, 0, 0, 6400, -3200), large, 150},
		{"a token counts", of(1, 6399), large, 100},
		{"65,536 buckets at most", of(320_000), large, 1024},
		{"a bucket has one token at least", of(31, 31), large, 1},
		{"also where nothing fits", of(90, 0), 80, 1},
		{"sums do not wrap", of(math.MaxInt, math.MaxInt), math.MaxInt, math.MaxInt / mostBuckets},
	} {
		k := Knapsack{autoBucket: true, bucketSize: 7}
		if tt.target == math.MaxInt {
			tt.want = min(tt.want, int64(math.MaxInt/2/32))
		}
		if got := k.bucket(tt.items, tt.target); got != tt.want {
			t.Errorf("of %d tokens: got %d, want %d: %s", tt.target, got, tt.want, tt.why)
		}
	}
}
