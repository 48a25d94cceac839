package slicer_test

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupel/internal/compat"
	"github.com/wollax/cupel-go/cupel/slicer"
)

func TestKnapsack(t *testing.T) {
	twice := msg(100, 0.5)
	cases := []sliceCase{
		{name: "empty list", budget: target(1000),
			why: "edge case: nothing to choose from"},
		{name: "target zero", items: []cupel.ScoredItem{msg(0, 1), msg(1, 1)}, budget: cupel.SliceBudget{MaxTokens: 50},
			why: "edge case: target 0 chooses nothing, items without tokens included (R7)"},
		{name: "target negative", items: []cupel.ScoredItem{msg(0, 1)}, budget: cupel.SliceBudget{TargetTokens: -1},
			why: "edge case: <= 0, in a direct call"},
		{name: "all without tokens", items: []cupel.ScoredItem{msg(0, 0), msg(0, 0.9)}, budget: target(1), want: []int{0, 1},
			why: "edge case: all selected, a score of 0 included: they are not in the program"},
		{name: "no buckets", items: []cupel.ScoredItem{msg(1, 0.9), msg(0, 0.1)}, budget: target(99), want: []int{1},
			why: "edge case and R7: floor(99/100) is 0, only the item without tokens"},
		{name: "all exceed", items: []cupel.ScoredItem{msg(301, 0.9), msg(0, 0.5), msg(301, 0.8)}, budget: target(300), want: []int{1},
			why: "edge case: 4 buckets into 3"},
		{name: "single fits", items: []cupel.ScoredItem{msg(300, 0.9), msg(0, 0.5)}, budget: target(300), want: []int{1, 0},
			why: "edge case and conformance note: items without tokens first"},
		{name: "better than greedy", items: []cupel.ScoredItem{msg(600, 0.9), msg(500, 0.6), msg(500, 0.6)}, budget: target(1000), want: []int{2, 1},
			why: "0.6 + 0.6 is better than the densest item 0.9, after which nothing fits"},
		{name: "sizes round up", items: []cupel.ScoredItem{msg(101, 0.5), msg(99, 0.4)}, budget: target(200), want: []int{0},
			why: "101 tokens are 2 buckets: both together would be 200 tokens, but 3 buckets"},
		{name: "capacity rounds down", items: []cupel.ScoredItem{msg(101, 0.9), msg(100, 0.1)}, budget: target(199), want: []int{1},
			why: "199 tokens are 1 bucket, and 101 tokens are 2"},
		{name: "reconstruction order", items: []cupel.ScoredItem{msg(100, 0.3), msg(0, 0.9), msg(100, 0.2), msg(100, 0.1)}, budget: target(300), want: []int{1, 3, 2, 0},
			why: "conformance note: backwards from the last candidate"},
		{name: "tie by position", items: []cupel.ScoredItem{msg(100, 0.5), msg(100, 0.5), msg(100, 0.5)}, budget: target(200), want: []int{1, 0},
			why: "R16: with strict > a later item does not displace an equal one"},
		{name: "tie of sets", items: []cupel.ScoredItem{msg(200, 0.6), msg(100, 0.3), msg(100, 0.3)}, budget: target(200), want: []int{0},
			why: "R16: 0.3 + 0.3 equals 0.6 and does not displace it"},
		{name: "worth nothing", items: []cupel.ScoredItem{msg(100, 0.5), msg(100, 0), msg(100, 0.00009)}, budget: target(1000), want: []int{0},
			why: "R16: a value of 0 is never taken, even when everything fits; 0.00009 counts as 0"},
		{name: "worth the least", items: []cupel.ScoredItem{msg(100, 0.0001)}, budget: target(1000), want: []int{0},
			why: "floor(0.0001 * 10000) is 1"},
		{name: "worth rounds down", items: []cupel.ScoredItem{msg(100, 0.50009), msg(100, 0.5)}, budget: target(100), want: []int{0},
			why: "both count 5000 and tie, so the first stays"},
		{name: "difference below the scale", items: []cupel.ScoredItem{msg(100, 0.5), msg(100, 0.50009)}, budget: target(100), want: []int{0},
			why: "the better second item counts 5000 as well: 4 digits of precision, as documented"},
		{name: "NaN and negative scores", items: []cupel.ScoredItem{msg(100, nan), msg(100, -0.5), msg(100, negInf), msg(100, 0.1)}, budget: target(1000), want: []int{3},
			why: "R8: NaN counts as 0, and negative values are raised to 0"},
		{name: "infinite scores", items: []cupel.ScoredItem{msg(100, 1e300), msg(100, inf), msg(100, 1)}, budget: target(200), want: []int{1, 0},
			why: "R8: both are clamped to 2^40"},
		{name: "clamped scores tie", items: []cupel.ScoredItem{msg(100, 2e8), msg(100, inf)}, budget: target(100), want: []int{0},
			why: "R8: 2e12 and +Inf are both clamped to 2^40, so they tie"},
		{name: "just below the clamp", items: []cupel.ScoredItem{msg(100, 109951162.7775), msg(100, inf)}, budget: target(100), want: []int{1},
			why: "R8: the first counts 2^40 - 1 and the clamped one 2^40"},
		{name: "negative tokens", items: []cupel.ScoredItem{msg(-500, 0.9), msg(200, 0.8)}, budget: target(100), want: nil,
			why: "conformance note: excluded from the candidates; they make no room either"},
		{name: "one pointer twice", items: []cupel.ScoredItem{twice, twice}, budget: target(200), want: []int{1, 0},
			why: "R1: two positions are two candidates"},
		{name: "one pointer twice, room for one", items: []cupel.ScoredItem{twice, twice}, budget: target(199), want: []int{0},
			why: "R1: selecting one position does not select the other"},
		{name: "largest counts", items: []cupel.ScoredItem{msg(math.MaxInt, 0.9), msg(math.MaxInt-1, 0.8), msg(math.MaxInt, 0.7)}, budget: target(math.MaxInt), want: nil,
			why: "2^63-1 tokens round up to one bucket more than the target rounded down"},
		{name: "no item", items: []cupel.ScoredItem{{Score: 0.5}}, budget: target(1), want: []int{0},
			why: "a position without an item has no tokens; it must not panic"},
	}
	for _, k := range []cupel.Slicer{slicer.Knapsack{}, new(slicer.Knapsack), slicer.Must(slicer.NewKnapsack()),
		slicer.Must(slicer.NewKnapsack(slicer.WithBucketSize(slicer.DefaultBucketSize), nil, slicer.WithMemoryLimit(slicer.DefaultMemoryLimit)))} {
		runCases(t, k, cases)
	}
}

func TestKnapsackBucketSize(t *testing.T) {
	runCases(t, slicer.Must(slicer.NewKnapsack(slicer.WithBucketSize(1))), []sliceCase{
		{name: "exact", items: []cupel.ScoredItem{msg(101, 0.5), msg(99, 0.4)}, budget: target(200), want: []int{1, 0},
			why: "a bucket of one token rounds nothing"},
		{name: "largest counts", items: []cupel.ScoredItem{msg(math.MaxInt, 0.8), msg(math.MaxInt-1, 0.9), msg(1, 0.1)}, budget: target(math.MaxInt), want: []int{2, 1},
			why: "weights near 2^63 are compared without wrapping"},
	})
	runCases(t, slicer.Must(slicer.NewKnapsack(slicer.WithBucketSize(math.MaxInt))), []sliceCase{
		{name: "largest bucket", items: []cupel.ScoredItem{msg(1, 0.8), msg(math.MaxInt, 0.9)}, budget: target(math.MaxInt), want: []int{1},
			why: "both are one bucket, the target is one; rounding up does not wrap"},
		{name: "largest bucket, smaller target", items: []cupel.ScoredItem{msg(1, 0.8)}, budget: target(math.MaxInt - 1), want: nil,
			why: "the target is less than a bucket"},
	})
}

func TestNewKnapsackRefuses(t *testing.T) {
	build := func(opts ...slicer.KnapsackOption) func() (cupel.Slicer, error) {
		return func() (cupel.Slicer, error) { return erased(slicer.NewKnapsack(opts...)) }
	}
	const bucket = "bucketSize must be a positive integer (> 0)"
	const memory = "memoryLimit must be a positive number of bytes"
	runConfigCases(t, "KnapsackSlice", []configCase{
		{"bucket size 0", build(slicer.WithBucketSize(0)), "bucketSize", bucket, "bucketSize MUST be positive; 0 does not mean the default"},
		{"bucket size negative", build(slicer.WithBucketSize(-100)), "bucketSize", bucket, "bucketSize MUST be positive"},
		{"memory limit 0", build(slicer.WithMemoryLimit(0)), "memoryLimit", memory, "nothing can be remembered in 0 bytes"},
		{"memory limit negative", build(slicer.WithMemoryLimit(-1)), "memoryLimit", memory, "a size is not negative"},
	})
}

// hardItems is an instance that bounds cannot decide: all densities are equal.
func hardItems(n int) []cupel.ScoredItem {
	r := rand.New(rand.NewPCG(11, 12))
	var items []cupel.ScoredItem
	for range n {
		tokens := 1000 + r.IntN(9000)
		items = append(items, msg(tokens, float64(tokens)/10_000))
	}
	return items
}

func TestKnapsackMemoryLimit(t *testing.T) {
	k := slicer.Must(slicer.NewKnapsack(slicer.WithBucketSize(1), slicer.WithMemoryLimit(1)))
	_, err := cupel.Slice(t.Context(), k, hardItems(200), target(100_001))
	limit, ok := compat.AsType[*slicer.MemoryLimitError](err)
	if !ok {
		t.Fatalf("got error %v, want a MemoryLimitError (R17)", err)
	}
	if limit.Limit != 1 || limit.Need < 1 {
		t.Errorf("got limit %d and need %d; the limit was 1", limit.Limit, limit.Need)
	}
	want := "cupel: KnapsackSlice needs more than 7 bytes of memory, the limit is 1: raise memoryLimit or bucketSize"
	if got := (&slicer.MemoryLimitError{Limit: 1, Need: 7}).Error(); got != want {
		t.Errorf("the error reads %q, want %q", got, want)
	}
}

func TestKnapsackStopsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := cupel.Slice(ctx, slicer.Knapsack{}, hardItems(200), target(100_000))
	if !errors.Is(err, context.Canceled) {
		t.Errorf("got error %v, want context.Canceled", err)
	}
}

// TestMemoryLimitHasASentinel looks at the error as a caller of a pipeline does.
func TestMemoryLimitHasASentinel(t *testing.T) {
	k := slicer.Must(slicer.NewKnapsack(slicer.WithBucketSize(1), slicer.WithMemoryLimit(1)))
	r := rand.New(rand.NewPCG(1, 2))
	var items []cupel.ScoredItem
	for range 200 {
		items = append(items, msg(100+r.IntN(900), r.Float64()))
	}
	_, err := cupel.Slice(t.Context(), k, items, target(20_000))
	if !errors.Is(err, slicer.ErrMemoryLimit) || !errors.Is(err, cupel.ErrStrategy) || errors.Is(err, cupel.ErrContract) {
		t.Errorf("got %v, want a strategy that failed for want of memory, and broke no contract", err)
	}
	if limit, ok := compat.AsType[*slicer.MemoryLimitError](err); !ok || limit.Limit != 1 || errors.Is(limit, cupel.ErrStrategy) {
		t.Errorf("got %#v, want a MemoryLimitError of its own", limit)
	}
}
