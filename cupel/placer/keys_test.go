package placer

import (
	"math"
	"testing"
	"time"

	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupel/internal/order"
)

// TestKeysByTime holds which lists are sorted in linear time.
func TestKeysByTime(t *testing.T) {
	first := time.Date(2025, 6, 1, 12, 0, 0, 0, time.UTC)
	const none = time.Duration(-1)
	tests := []struct {
		why  string
		ages []time.Duration // after first
		ok   bool
	}{
		{"no items", nil, true},
		{"no times", []time.Duration{none, none}, true},
		{"one time", []time.Duration{5}, true},
		{"the oldest last, those without a time before and after", []time.Duration{none, 7, 3, 0, none}, true},
		{"the oldest first", []time.Duration{0, 3, 7}, true},
		{"almost 292 years", []time.Duration{math.MaxInt64 - 1, 0}, true},
		{"292 years", []time.Duration{0, math.MaxInt64}, false},
		{"292 years, then something near", []time.Duration{0, math.MaxInt64, 1}, false},
	}
	for _, tt := range tests {
		items := make([]cupel.ScoredItem, len(tt.ages))
		least := time.Duration(math.MaxInt64)
		for i, age := range tt.ages {
			var options []cupel.ItemOption
			if age != none {
				options = append(options, cupel.WithTimestamp(first.Add(age)))
				least = min(least, age)
			}
			item, err := cupel.NewContextItem("content", 1, options...)
			if err != nil {
				t.Fatal(err)
			}
			items[i].Item = item
		}
		pairs := make([]order.Pair, len(items))
		ok := keysByTime(items, pairs)
		if ok != tt.ok {
			t.Errorf("%s: %t, want %t", tt.why, ok, tt.ok)
		}
		for i, age := range tt.ages {
			want := order.Pair{Key: math.MaxUint64 - uint64(age-least), Index: i}
			if age == none {
				want.Key = 0
			}
			if ok && pairs[i] != want {
				t.Errorf("%s: pair %d is %v, want %v", tt.why, i, pairs[i], want)
			}
		}
	}
}
