package slicer_test

import (
	"testing"

	"github.com/wollax/cupel-go/cupel/slicer"
)

// anyOrder are rows for both slicers that take what fits.
var anyOrder = []row{
	{"", "100", "[]", "nothing to choose from"},
	{"m 0 1, m 1 1", "0/50", "[]", "target 0 chooses nothing, not even what has no tokens (R7)"},
	{"m 0 1", "-1", "[]", "a target below 0, in a direct call"},
	{"m 7 0.1", "7", "[0]", "tokens <= remaining"},
	{"m 8 0.9", "7", "[]", "one token too many"},
	{"m 6 0.6, m 6 0.5, m 4 0.1", "10", "[0 2]", "what does not fit is skipped, and the next is looked at"},
	{"m 10 0.5, m 10 0.5", "10", "[0]", "of equal ones the first is taken"},
	{"m 11 0.99, m 5 0.1", "10", "[1]", "R41: the first does not fit, so the second is taken"},
	{"m 11 0.99, m 5 0.1", "11", "[0]", "R41: one token more, and the first takes its place"},
	{"m 1 nan, m 1 -inf, m 1 0.5", "2", "[2 1]", "R8: NaN is below every number"},
	{"m 3 -0, m 3 0", "3", "[0]", "R8: -0 and 0 are equal"},
	{"m -50 1, m 10 0.5, m -50 nan", "9", "[]", "negative tokens are not chosen and make no room"},
	{"m 10 0.5, again", "20", "[0 1]", "R1: two positions are two candidates"},
	{"m 10 0.5, again", "19", "[0]", "R1: one position does not select the other"},
	{"m max 0.9, m max 0.8", "max", "[0]", "tokens near 2^63 do not wrap"},
	{"m min 0.9, m 1 0.8", "1", "[1]", "the least integer does not wrap either"},
	{"- 0 0.5", "1", "[0]", "a position without an item has no tokens"},
}

func TestGreedy(t *testing.T) {
	runRows(t, slicer.Greedy{}, anyOrder)
	runRows(t, slicer.Greedy{}, []row{
		{"m 0 0.1, m 0 0.9, m 0 nan", "1", "[0 1 2]", "without tokens the position orders, not the score"},
		{"m 100 0.9, m 10 0.2", "100", "[1]", "0.2/10 is denser than 0.9/100"},
		{"m 1 1, m 1 1", "1", "[0]", "the order of the row before does not hold for equal densities"},
		{"m 2 1, m 4 1, m 4 1, m 2 1", "4", "[0 3]", "equal densities come in the order of the list"},
		{"m 0 0, m 5 1, m 5 inf", "5", "[2 0]", "+Inf/5 is above the density of what has no tokens"},
		{"m 1 1.7976931348623157e308, m 0 0", "1", "[0 1]", "MAX_FLOAT is a density like any other"},
	})
}

func TestScoreGreedy(t *testing.T) {
	runRows(t, slicer.ScoreGreedy{}, anyOrder)
	runRows(t, slicer.ScoreGreedy{}, []row{
		{"m 10 0.2, m 100 0.9", "100", "[1]", "0.9 is the higher score"},
		{"m 0 0.1, m 5 0.9, m 0 nan", "5", "[1 0 2]", "without tokens it comes in the order of its score"},
	})
}
