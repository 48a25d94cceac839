package slicer_test

import (
	"testing"

	"github.com/wollax/cupel-go/cupel/slicer"
)

func TestCountConstrainedKnapsack(t *testing.T) {
	for _, tt := range []struct {
		bucket  int
		entries string
		row
	}{
		{100, "tool 2 4", row{"tool 100 0.9, tool 100 0.7, msg 100 0.5", "1000", "[0 1 2]", "outline 1, baseline"}},
		{100, "tool 1 2", row{"tool 100 0.9, tool 100 0.8, tool 100 0.7, tool 100 0.6", "600", "[0 1] drop 2 tool 2/2 drop 3 tool 2/2", "outline 2, cap exclusion"}},
		{100, "tool 3 5", row{"tool 100 0.9", "500", "[0] short tool 1/3", "outline 3, scarcity degrade"}},
		{100, "tool 1 4, memory 1 4", row{"tool 100 0.9, memory 100 0.8, tool 100 0.5", "1000", "[0 1 2]", "outline 4, two kinds"}},
		{1, "tool 2 2", row{"tool 100 0.9, msg 50 0.8, tool 100 0.7, msg 150 0.6, msg 200 0.4", "1000", "[0 2 1 3 4]", "outline 5, require and cap"}},
		{100, "", row{"", "100", "[]", "nothing to choose from"}},
		{100, "a 1 1", row{"b 0 0.5", "0/10", "[]", "R19: returns before phase 1, no shortfall"}},
		{100, "", row{"a 600 0.9, a 500 0.6, b 500 0.6, c 0 0", "1000", "[1 2 3]", "a plain knapsack, but in order of score (R20)"}},
		{100, "a 0 1", row{"a 100 0.9, a 100 0.8, b 100 0.7", "1000", "[0 2] drop 1 a 1/1", "D180: the worse one does not stay"}},
		{100, "a 0 1", row{"b 100 0.2, a 100 0.3, a 100 0.8", "1000", "[2 0] drop 1 a 1/1", "D180: by score, not by position"}},
		{100, "a 0 1", row{"a 100 0.5, a 0 0.5, a 100 0.5", "1000", "[0] drop 1 a 1/1 drop 2 a 1/1", "R20: equal scores by position"}},
		{100, "a 2 2", row{"a 600 0.9, a 600 0.8, b 0 0.7", "1000", "[0 1]", "the knapsack gets a target of 0 (R7)"}},
		{100, "a 0 1", row{"a 500 0.9, a 500 0.8, b 500 0.7", "1000", "[0] drop 1 a 1/1", "what the cap drops has used capacity"}},
		{100, "a 1 2", row{"b 100 0.5, a 100 0, a 100 0", "1000", "[1 0]", "R16: what is worth nothing is committed, not chosen"}},
	} {
		k := slicer.Must(slicer.NewKnapsack(slicer.WithBucketSize(tt.bucket)))
		runRows(t, slicer.Must(slicer.NewCountConstrainedKnapsack(k, countsOf(tt.entries))), []row{tt.row})
	}
}
