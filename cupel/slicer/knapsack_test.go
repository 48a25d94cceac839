package slicer_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupel/internal/compat"
	"github.com/wollax/cupel-go/cupel/slicer"
	"github.com/wollax/cupel-go/cupel/strategy"
)

func TestKnapsack(t *testing.T) {
	rows := []row{
		{"", "1000", "[]", "nothing to choose from"},
		{"m 0 1, m 1 1", "0/50", "[]", "target 0 chooses nothing, not even what has no tokens (R7)"},
		{"m 0 1", "-1", "[]", "a target below 0, in a direct call"},
		{"m 0 0, m 0 0.9", "1", "[0 1]", "without tokens all are selected, a score of 0 included"},
		{"m 1 0.9, m 0 0.1", "99", "[1]", "R7: floor(99/100) is 0"},
		{"m 301 0.9, m 0 0.5, m 301 0.8", "300", "[1]", "4 buckets into 3"},
		{"m 300 0.9, m 0 0.5", "300", "[1 0]", "items without tokens first"},
		{"m 600 0.9, m 500 0.6, m 500 0.6", "1000", "[2 1]", "0.6 + 0.6 is better than the densest item"},
		{"m 101 0.5, m 99 0.4", "200", "[0]", "101 tokens are 2 buckets"},
		{"m 101 0.9, m 100 0.1", "199", "[1]", "199 tokens are 1 bucket"},
		{"m 100 0.3, m 0 0.9, m 100 0.2, m 100 0.1", "300", "[1 3 2 0]", "backwards from the last candidate"},
		{"m 100 0.5, m 100 0.5, m 100 0.5", "200", "[1 0]", "R16: a later item does not displace an equal one"},
		{"m 200 0.6, m 100 0.3, m 100 0.3", "200", "[0]", "R16: 0.3 + 0.3 does not displace 0.6"},
		{"m 100 0.5, m 100 0, m 100 0.00009", "1000", "[0]", "R16: a value of 0 is never taken"},
		{"m 100 0.0001", "1000", "[0]", "floor(0.0001 * 10000) is 1"},
		{"m 100 0.5, m 100 0.50009", "100", "[0]", "both count 5000"},
		{"m 100 nan, m 100 -0.5, m 100 -inf, m 100 0.1", "1000", "[3]", "R8: NaN counts as 0, as do negative values"},
		{"m 100 2e8, m 100 inf, m 100 1", "100", "[0]", "R8: both are clamped to 2^40, so they tie"},
		{"m 100 109951162.7775, m 100 inf", "100", "[1]", "R8: the first counts 2^40 - 1"},
		{"m -500 0.9, m 200 0.8", "100", "[]", "negative tokens are no candidates and make no room"},
		{"m 100 0.5, again", "200", "[1 0]", "R1: two positions are two candidates"},
		{"m max 0.9, m max-1 0.8, m max 0.7", "max", "[]", "2^63-1 tokens are a bucket more than the target"},
		{"- 0 0.5", "1", "[0]", "a position without an item has no tokens"},
	}
	for _, k := range []strategy.Slicer{slicer.Knapsack{}, slicer.Must(slicer.NewKnapsack(nil))} {
		runRows(t, k, rows)
	}
	runRows(t, slicer.Must(slicer.NewKnapsack(slicer.WithBucketSize(1))), []row{
		{"m 101 0.5, m 99 0.4", "200", "[1 0]", "a bucket of one token rounds nothing"},
		{"m max 0.8, m max-1 0.9, m 1 0.1", "max", "[2 1]", "weights near 2^63 are compared without wrapping"},
	})
	runRows(t, slicer.Must(slicer.NewKnapsack(slicer.WithBucketSize(number("max")))), []row{
		{"m 1 0.8, m max 0.9", "max", "[1]", "both are one bucket, and so is the target"},
		{"m 1 0.8", "max-1", "[]", "the target is less than a bucket"},
	})
	var none context.Context
	if sel, err := knapsackOfOne.Slice(none, listOf("m 5 0.5"), target(9)); err != nil || told(sel) != "[0]" {
		t.Errorf("without a context: %+v, %v", sel, err)
	}
}

func TestNewKnapsackRefuses(t *testing.T) {
	of := func(opt slicer.KnapsackOption) error { return failed(slicer.NewKnapsack(opt)) }
	runRefusals(t, "KnapsackSlice", []refusal{
		{of(slicer.WithBucketSize(0)), "bucketSize must be a positive integer (> 0)", "bucketSize = 0"},
		{of(slicer.WithMemoryLimit(0)), "memoryLimit must be a positive number of bytes", "memoryLimit = 0"},
		{of(slicer.WithMemoryLimit(-10)), "memoryLimit must be a positive number of bytes", "memoryLimit = -10"},
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
	_, err := strategy.CallSlicer(t.Context(), k, hardItems(200), target(100_001))
	if !errors.Is(err, slicer.ErrMemoryLimit) || !errors.Is(err, cupel.ErrStrategy) || errors.Is(err, cupel.ErrContract) {
		t.Errorf("got %v, want a strategy that failed for want of memory, and broke no contract", err)
	}
	limit, ok := compat.AsType[*slicer.MemoryLimitError](err)
	if !ok || limit.Limit != 1 || limit.Need < 1 || errors.Is(limit, cupel.ErrStrategy) {
		t.Errorf("got %#v, want a MemoryLimitError of its own (R17)", limit)
	}
	want := "cupel: KnapsackSlice needs more than 7 bytes of memory, above the limit of 1: raise memoryLimit or bucketSize"
	if got := (&slicer.MemoryLimitError{Limit: 1, Need: 7}).Error(); got != want {
		t.Errorf("the error reads %q, want %q", got, want)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := strategy.CallSlicer(ctx, slicer.Knapsack{}, hardItems(200), target(100_000)); !errors.Is(err, context.Canceled) {
		t.Errorf("got error %v, want context.Canceled", err)
	}
}

// TestKnapsackOptions looks at what auto buckets add.
func TestKnapsackOptions(t *testing.T) {
	short := make([]cupel.ScoredItem, 40)
	for i := range short {
		short[i] = msg(30, 1-float64(i)/100)
	}
	auto, hundred := slicer.WithAutoBucket(), slicer.WithBucketSize(100)
	for _, tt := range []struct {
		opts   []slicer.KnapsackOption
		target int
		n      int
		why    string
	}{
		{nil, 1000, 10, "each item of 30 tokens takes a bucket of 100"},
		{[]slicer.KnapsackOption{auto}, 1000, 33, "buckets of one token: 33 times 30 is 990"},
		{[]slicer.KnapsackOption{auto, hundred}, 1000, 10, "a later option replaces an earlier one"},
		{[]slicer.KnapsackOption{hundred, auto}, 1000, 33, "a later option replaces an earlier one"},
	} {
		sel, err := slicer.Must(slicer.NewKnapsack(tt.opts...)).Slice(t.Context(), short, target(tt.target))
		slices.Sort(sel.Indices)
		if err != nil || len(sel.Indices) != tt.n || sel.Indices[tt.n-1] != tt.n-1 {
			t.Errorf("selected %v, %v, want the first %d: %s", sel.Indices, err, tt.n, tt.why)
		}
	}
	runRows(t, slicer.Must(slicer.NewKnapsack(auto)), []row{
		{"m 50 1, m 0 0", "40", "[1]", "there is no mean size to go by"},
		{"m 2^62 1, m 2^62 0.5", "max", "[0]", "sums of sizes do not wrap, and buckets stay few"},
	})
}

// TestKnapsackOptionsFit checks random lists: nothing passes the target, and
// an auto bucket of one token is the exact optimum.
func TestKnapsackOptionsFit(t *testing.T) {
	r := rand.New(rand.NewPCG(8, 2))
	auto := slicer.Must(slicer.NewKnapsack(slicer.WithAutoBucket()))
	plain := slicer.Must(slicer.NewKnapsack(slicer.WithBucketSize(7)))
	for range 1000 {
		items := make([]cupel.ScoredItem, r.IntN(20))
		for i := range items {
			items[i] = msg(r.IntN(40), r.Float64())
		}
		budget := target(r.IntN(200))
		slice := func(s strategy.Slicer) []int {
			selection, err := strategy.CallSlicer(t.Context(), s, items, budget)
			if err != nil {
				t.Fatal(err)
			}
			return selection.Indices
		}
		if a, e := slice(auto), slice(knapsackOfOne); !slices.Equal(a, e) {
			t.Fatalf("auto chose %v, bucket size 1 %v", a, e)
		}
		left := budget.TargetTokens
		for _, i := range slice(plain) {
			left -= items[i].Item.Tokens()
		}
		if left < 0 {
			t.Fatalf("%d tokens over the target", -left)
		}
	}
}
