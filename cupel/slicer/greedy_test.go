package slicer_test

import (
	"math"
	"testing"

	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupel/slicer"
)

func TestGreedy(t *testing.T) {
	twice := msg(10, 0.5)
	runCases(t, slicer.Greedy{}, []sliceCase{
		{name: "empty list", budget: target(100),
			why: "edge case: nothing to choose from"},
		{name: "target zero", items: []cupel.ScoredItem{msg(0, 1), msg(1, 1)}, budget: cupel.SliceBudget{MaxTokens: 50},
			why: "edge case: target 0 chooses nothing, items without tokens included (R7)"},
		{name: "target negative", items: []cupel.ScoredItem{msg(0, 1)}, budget: cupel.SliceBudget{TargetTokens: -1},
			why: "edge case: <= 0, in a direct call"},
		{name: "all without tokens", items: []cupel.ScoredItem{msg(0, 0.1), msg(0, 0.9), msg(0, nan)}, budget: target(1), want: []int{0, 1, 2},
			why: "edge case: all selected; the score does not order them, the position does"},
		{name: "single fits exactly", items: []cupel.ScoredItem{msg(7, 0.1)}, budget: target(7), want: []int{0},
			why: "edge case: tokens <= remaining"},
		{name: "single exceeds", items: []cupel.ScoredItem{msg(8, 0.9)}, budget: target(7),
			want: []int{}, why: "edge case: one token too many"},
		{name: "all exceed", items: []cupel.ScoredItem{msg(8, 0.9), msg(0, 0), msg(9, 0.8)}, budget: target(7), want: []int{1},
			why: "edge case: only the item without tokens is selected"},
		{name: "all fit", items: []cupel.ScoredItem{msg(5, 0.1), msg(5, 0.3), msg(5, 0.2)}, budget: target(15), want: []int{1, 2, 0},
			why: "edge case: all selected, in the order of density"},
		{name: "density not score", items: []cupel.ScoredItem{msg(100, 0.9), msg(10, 0.2)}, budget: target(100), want: []int{1},
			why: "0.2/10 is denser than 0.9/100, and then 100 do not fit into 90"},
		{name: "equal density", items: []cupel.ScoredItem{msg(2, 1), msg(4, 1), msg(4, 1), msg(2, 1)}, budget: target(4), want: []int{0, 3},
			why: "conformance note: items of density 0.5 at positions 0 and 3 come in that order"},
		{name: "tie by position", items: []cupel.ScoredItem{msg(10, 0.5), msg(10, 0.5)}, budget: target(10), want: []int{0},
			why: "deterministic tie-break contract: the lower position is preferred"},
		{name: "skipped not deferred", items: []cupel.ScoredItem{msg(6, 0.6), msg(6, 0.5), msg(4, 0.1)}, budget: target(10), want: []int{0, 2},
			why: "conformance note: the second item does not fit and is skipped, the third is still looked at"},
		{name: "no backtracking", items: []cupel.ScoredItem{msg(3, 0.9), msg(10, 2)}, budget: target(10), want: []int{0},
			why: "the denser item is kept although the other one alone has the better total"},
		{name: "not monotonic, smaller", items: []cupel.ScoredItem{msg(11, 0.99), msg(5, 0.1)}, budget: target(10), want: []int{1},
			why: "R41: the first does not fit, so the second is taken"},
		{name: "not monotonic, larger", items: []cupel.ScoredItem{msg(11, 0.99), msg(5, 0.1)}, budget: target(11), want: []int{0},
			why: "R41: one token more and the first takes the second's place"},
		{name: "NaN last", items: []cupel.ScoredItem{msg(1, nan), msg(1, negInf), msg(1, 0.5)}, budget: target(2), want: []int{2, 1},
			why: "R8: NaN is below every number, -Inf included"},
		{name: "infinite first", items: []cupel.ScoredItem{msg(0, 0), msg(5, 1), msg(5, inf)}, budget: target(5), want: []int{2, 0},
			why: "R8: +Inf/5 is +Inf, above the largest finite density of the item without tokens"},
		{name: "largest density ties with no tokens", items: []cupel.ScoredItem{msg(1, math.MaxFloat64), msg(0, 0)}, budget: target(1), want: []int{0, 1},
			why: "the pseudocode's MAX_FLOAT is a density like any other: equal, so by position"},
		{name: "signed zero", items: []cupel.ScoredItem{msg(3, math.Copysign(0, -1)), msg(3, 0)}, budget: target(3), want: []int{0},
			why: "R8: -0 and 0 are equal and tie by position"},
		{name: "negative tokens", items: []cupel.ScoredItem{msg(-50, -1), msg(10, 0.5), msg(-50, nan)}, budget: target(9),
			want: []int{}, why: "a negative count is not chosen and makes no room for others"},
		{name: "one pointer twice", items: []cupel.ScoredItem{twice, twice}, budget: target(20), want: []int{0, 1},
			why: "R1: two positions are two candidates"},
		{name: "one pointer twice, room for one", items: []cupel.ScoredItem{twice, twice}, budget: target(19), want: []int{0},
			why: "R1: selecting one position does not select the other"},
		{name: "largest counts", items: []cupel.ScoredItem{msg(math.MaxInt, 0.9), msg(math.MaxInt, 0.8)}, budget: target(math.MaxInt), want: []int{0},
			why: "counts near 2^63 do not wrap"},
		{name: "least count", items: []cupel.ScoredItem{msg(math.MinInt, 0.9), msg(1, 0.8)}, budget: target(1), want: []int{1},
			why: "the least integer does not wrap either"},
		{name: "no item", items: []cupel.ScoredItem{{Score: 0.5}}, budget: target(1), want: []int{0},
			why: "a position without an item has no tokens; it must not panic"},
	})
}
