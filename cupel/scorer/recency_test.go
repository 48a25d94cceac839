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
	runScoreCases(t, []scoreCase{
		{"beyond Unix nanoseconds", s, items{at(date(2300)), at(date(1600)), at(date(2025)), at(date(1)), at(date(9999))}, []float64{0.75, 0.25, 0.5, 0, 1}, "Unix nanoseconds wrap in 1678 and 2262, instants do not (R10)"},
		{"nil item", s, items{nil, at(noon)}, []float64{0, 1}, "a nil item has no timestamp"},
	})
}

func TestPriority(t *testing.T) {
	s := scorer.Priority{}
	runScoreCases(t, []scoreCase{
		{"extremes", s, items{priority(math.MaxInt), priority(0), priority(math.MinInt)}, []float64{1, 0.5, 0}, "the whole range of int is in order"},
		{"nil item", s, items{nil, priority(1)}, []float64{0, 1}, "a nil item has no priority"},
	})
}
