package naive

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// TestTopDownIsTheTable: the recurrence followed from the top, which the model
// uses where no table would fit, keeps the same items as the chapter's table.
func TestTopDownIsTheTable(t *testing.T) {
	for seed := range uint64(3000) {
		r := rand.New(rand.NewPCG(seed, 1))
		n := 1 + r.IntN(9)
		values, weights := make([]int64, n), make([]int, n)
		for i := range n {
			values[i], weights[i] = r.Int64N(5), 1+r.IntN(6) // rich in ties
		}
		capacity := 1 + r.IntN(20)
		table := solveTable(values, weights, capacity)
		if got := solveTopDown(values, weights, capacity); !slices.Equal(got, table) {
			t.Fatalf("seed %d: values %v, weights %v, capacity %d: kept %v, the table keeps %v", seed, values, weights, capacity, got, table)
		}
	}
}

// TestTableThatDoesNotFit: the model says so instead of allocating it.
func TestTableThatDoesNotFit(t *testing.T) {
	values, weights := make([]int64, maxTopDown+1), make([]int, maxTopDown+1)
	if _, err := solve(values, weights, math.MaxInt); err == nil {
		t.Error("no error for a table with a column for each int")
	}
}
