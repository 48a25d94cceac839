package scorer_test

import (
	"math"
	"testing"
	"time"

	"github.com/wollax/cupel-go/cupel/scorer"
)

func TestRecency(t *testing.T) {
	noon := time.Date(2025, 1, 1, 12, 0, 0, 0, time.UTC)
	s := scorer.Recency{}
	// This is 10,030,749,131,472,896 seconds after the earliest time.Time: 2^29
	// nanoseconds, modulo 2^64.
	runScoreCases(t, []scoreCase{
		{"one timestamp", s, items{item(), at(noon), item()}, []float64{0, 1, 0}, "a lone timestamped item is the most recent"},
		{"distinct", s, items{at(noon.Add(time.Hour)), at(noon), at(noon.Add(time.Minute)), at(noon.Add(2 * time.Hour))}, []float64{2.0 / 3, 0, 1.0 / 3, 1}, "rank / (N - 1), evenly spaced"},
		{"beyond Unix nanoseconds", s, items{at(date(2300)), at(date(1600)), at(date(2025)), at(date(1)), at(date(9999))}, []float64{0.75, 0.25, 0.5, 0, 1}, "Unix nanoseconds wrap in 1678 and 2262, instants do not (R10)"},
		{"zero time", s, items{at(time.Time{}), at(noon), item()}, []float64{0, 1, 0}, "the zero time.Time is an instant in the year 1, not a missing one"},
		{"nil item", s, items{nil, at(noon)}, []float64{0, 1}, "a nil item has no timestamp"},
	})
}

func TestPriority(t *testing.T) {
	s := scorer.Priority{}
	runScoreCases(t, []scoreCase{
		{"one priority", s, items{item(), priority(-5)}, []float64{0, 1}, "a single prioritized item scores 1"},
		{"zero and negative", s, items{priority(0), priority(-1), item()}, []float64{1, 0, 0}, "0 is a priority, and above a negative one"},
		{"extremes", s, items{priority(math.MaxInt), priority(0), priority(math.MinInt)}, []float64{1, 0.5, 0}, "the whole range of int is in order"},
		{"nil item", s, items{nil, priority(1)}, []float64{0, 1}, "a nil item has no priority"},
	})
}
