package scorer_test

import (
	"math"
	"testing"
	"time"

	"github.com/wollax/cupel-go/cupel/scorer"
)

func TestRecency(t *testing.T) {
	noon := time.Date(2025, 1, 1, 12, 0, 0, 0, time.UTC)
	tokyo := time.FixedZone("UTC+9", 9*3600)
	s := scorer.Recency{}
	twice := at(noon)
	// This is 10,030,749,131,472,896 seconds after the earliest time.Time: 2^29
	// nanoseconds, modulo 2^64.
	awkward := time.Unix(-9_213_341_349_858_899_712, 0)
	runScoreCases(t, []scoreCase{
		{name: "no items", scorer: s, why: "an empty list has no scores"},
		{name: "no timestamps", scorer: s, items: items{item(), item()}, want: []float64{0, 0},
			why: "an item without a timestamp scores 0"},
		{name: "one timestamp", scorer: s, items: items{item(), at(noon), item()}, want: []float64{0, 1, 0},
			why: "a lone timestamped item is the most recent"},
		{name: "all the same", scorer: s, items: items{at(noon), at(noon), at(noon)}, want: []float64{0, 0, 0},
			why: "no item is strictly older than another"},
		{name: "distinct", scorer: s, items: items{at(noon.Add(time.Hour)), at(noon), at(noon.Add(time.Minute)), at(noon.Add(2 * time.Hour))},
			want: []float64{2.0 / 3, 0, 1.0 / 3, 1}, why: "rank / (N - 1), evenly spaced"},
		{name: "ties", scorer: s, items: items{at(noon), at(noon.Add(1)), at(noon.Add(1)), at(noon.Add(2))},
			want: []float64{0, 1.0 / 3, 1.0 / 3, 1}, why: "equal timestamps have the same number of strictly older items"},
		{name: "denominator", scorer: s, items: items{item(), at(noon), item(), at(noon.Add(1)), item(), at(noon.Add(2))},
			want: []float64{0, 0, 0, 0.5, 0, 1}, why: "only items with a timestamp take part, here three of six"},
		{name: "nanoseconds", scorer: s, items: items{at(noon.Add(2)), at(noon.Add(1)), at(noon)},
			want: []float64{1, 0.5, 0}, why: "instants differ down to the nanosecond"},
		{name: "zones", scorer: s, items: items{at(noon), at(noon.Add(-time.Hour).In(tokyo))},
			want: []float64{1, 0}, why: "the instant counts: 20:00+09:00 is before 12:00Z"},
		{name: "same instant in two zones", scorer: s, items: items{at(noon), at(noon.In(tokyo))},
			want: []float64{0, 0}, why: "one instant written in two ways is a tie"},
		{name: "beyond Unix nanoseconds", scorer: s,
			items: items{at(date(2300)), at(date(1600)), at(date(2025)), at(date(1)), at(date(9999))},
			want:  []float64{0.75, 0.25, 0.5, 0, 1}, why: "Unix nanoseconds wrap in 1678 and 2262, instants do not (R10)"},
		{name: "far apart and close", scorer: s,
			items: items{at(date(9999).Add(1)), at(date(1).Add(2)), at(date(9999)), at(date(1).Add(1)), at(date(1).Add(2))},
			want:  []float64{1, 0.25, 0.75, 0, 0.25}, why: "nanoseconds count within the centuries too"},
		{name: "a span of 600 years", scorer: s, items: items{at(date(2300)), at(date(1700)), at(date(2000))},
			want: []float64{1, 0, 0.5}, why: "more than the 584 years that 64 bits of nanoseconds hold"},
		{name: "a span of 580 years", scorer: s, items: items{at(date(2280)), at(date(1700)), at(date(2000))},
			want: []float64{1, 0, 0.5}, why: "less than the 584 years that 64 bits of nanoseconds hold"},
		{name: "600 years on either side of the year 1", scorer: s, items: items{at(date(601)), at(date(-599)), at(date(1))},
			want: []float64{1, 0, 0.5}, why: "what counts is how far apart they are"},
		{name: "far apart from an awkward base", scorer: s, items: items{at(awkward), at(awkward.Add(1)), at(date(2025))},
			want: []float64{0, 0.5, 1}, why: "the base of keys in nanoseconds is none of those that seconds are ranked for"},
		{name: "extremes of time.Time", scorer: s,
			items: items{at(time.Unix(1<<61, 0)), at(time.Unix(-1<<61, 999_999_999)), at(time.Unix(-1<<61, 0)), at(time.Time{})},
			want:  []float64{1, 1.0 / 3, 0, 2.0 / 3}, why: "billions of years apart"},
		{name: "zero time", scorer: s, items: items{at(time.Time{}), at(noon), item()}, want: []float64{0, 1, 0},
			why: "the zero time.Time is an instant in the year 1, not a missing one"},
		{name: "same pointer twice", scorer: s, items: items{twice, at(noon.Add(1)), twice}, want: []float64{0, 1, 0},
			why: "each position is counted: two are older than the latest (R1)"},
		{name: "nil item", scorer: s, items: items{nil, at(noon)}, want: []float64{0, 1},
			why: "a nil item has no timestamp"},
	})
}

func TestRecencyOfAnAbsentItem(t *testing.T) {
	all := items{at(date(2000)), at(date(2010))}
	for _, tt := range []struct {
		name string
		item time.Time
		all  items
		want float64
		why  string
	}{
		{"between", date(2005), all, 1, "one of two is older: 1 / (2 - 1)"},
		{"latest", date(2020), all, 2, "two of two are older: 2 / (2 - 1), as the pseudocode reads"},
		{"earliest", date(1990), all, 0, "none is older"},
		{"empty list", date(1990), nil, 1, "no timestamped item at all is at most one"},
	} {
		if got := (scorer.Recency{}).Score(at(tt.item), tt.all); got != tt.want {
			t.Errorf("%s: got %v, want %v: %s", tt.name, got, tt.want, tt.why)
		}
	}
}

func TestPriority(t *testing.T) {
	s := scorer.Priority{}
	twice := priority(3)
	runScoreCases(t, []scoreCase{
		{name: "no items", scorer: s, why: "an empty list has no scores"},
		{name: "no priorities", scorer: s, items: items{item(), item()}, want: []float64{0, 0},
			why: "an item without a priority scores 0"},
		{name: "one priority", scorer: s, items: items{item(), priority(-5)}, want: []float64{0, 1},
			why: "a single prioritized item scores 1"},
		{name: "all the same", scorer: s, items: items{priority(7), priority(7)}, want: []float64{0, 0},
			why: "no item has a strictly lower priority"},
		{name: "higher is better", scorer: s, items: items{priority(10), priority(5)}, want: []float64{1, 0},
			why: "priority 10 scores higher than priority 5"},
		{name: "distinct", scorer: s, items: items{priority(1), priority(1000), priority(2), priority(30)},
			want: []float64{0, 1, 1.0 / 3, 2.0 / 3}, why: "ranks, not values"},
		{name: "ties", scorer: s, items: items{priority(1), priority(2), priority(2), priority(3)},
			want: []float64{0, 1.0 / 3, 1.0 / 3, 1}, why: "equal priorities have as many lower ones"},
		{name: "zero and negative", scorer: s, items: items{priority(0), priority(-1), item()}, want: []float64{1, 0, 0},
			why: "0 is a priority, and above a negative one"},
		{name: "extremes", scorer: s, items: items{priority(math.MaxInt), priority(0), priority(math.MinInt)},
			want: []float64{1, 0.5, 0}, why: "the whole range of int is in order"},
		{name: "denominator", scorer: s, items: items{item(), priority(1), item(), priority(2), priority(3)},
			want: []float64{0, 0, 0, 0.5, 1}, why: "only items with a priority take part"},
		{name: "same pointer twice", scorer: s, items: items{twice, priority(4), twice}, want: []float64{0, 1, 0},
			why: "each position is counted (R1)"},
		{name: "nil item", scorer: s, items: items{nil, priority(1)}, want: []float64{0, 1},
			why: "a nil item has no priority"},
	})
}

func TestPriorityOfAnAbsentItem(t *testing.T) {
	all := items{priority(1), priority(2), priority(3)}
	if got := (scorer.Priority{}).Score(priority(9), all); got != 1.5 {
		t.Errorf("got %v, want 3 / (3 - 1) as the pseudocode reads", got)
	}
	if got := (scorer.Priority{}).Score(priority(9), nil); got != 1 {
		t.Errorf("got %v, want 1: no prioritized item at all is at most one", got)
	}
}
