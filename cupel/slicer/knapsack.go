package slicer

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"sync"

	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupel/internal/knapsack"
)

const knapsackSlice = "KnapsackSlice"

// DefaultBucketSize is the bucket size of a [Knapsack] in tokens, unless
// [WithBucketSize] sets another.
const DefaultBucketSize = 100

// DefaultMemoryLimit is the memory limit of a [Knapsack] in bytes, unless
// [WithMemoryLimit] sets another: 256 MiB.
const DefaultMemoryLimit = knapsack.DefaultMemoryLimit

// Knapsack chooses the items whose scores have the largest sum within the
// target. Among equally good choices it takes the one that the specification's
// dynamic program takes (R16), without its table of N x C cells.
//
// Sizes are counted in buckets of 100 tokens by default: those of items are
// rounded up and the target down, so that the choice always fits and may leave
// a little unused. Scores count in steps of 1/10000, rounded down; a score below
// 1/10000 or NaN counts as 0, and an item worth 0 is never chosen. Items
// without tokens are always chosen. Its choice is not monotonic in the budget
// (R41).
//
// The zero Knapsack is ready; [NewKnapsack] makes others. Time and memory
// depend on how hard the items are to tell apart: usually near linear in the
// number of items, at worst the table's. It implements the KnapsackSlice chapter
// of the specification.
type Knapsack struct {
	bucketSize  int   // 0: DefaultBucketSize
	memoryLimit int64 // 0: DefaultMemoryLimit
}

// KnapsackOption is an optional setting of a [Knapsack].
type KnapsackOption func(*knapsackDraft) error

// knapsackDraft is a slicer that is not finished yet. It is a type of its own
// so that nobody can apply an option to a finished one.
type knapsackDraft Knapsack

// NewKnapsack returns a Knapsack with the given settings. It fails with a
// [cupel.InvalidConfigError] that names the setting.
func NewKnapsack(opts ...KnapsackOption) (*Knapsack, error) {
	k := new(Knapsack)
	for _, opt := range opts {
		if opt == nil {
			continue
		}
		if err := opt((*knapsackDraft)(k)); err != nil {
			return nil, err
		}
	}
	return k, nil
}

// WithBucketSize sets the number of tokens in which sizes are counted, at least
// 1. Smaller buckets fill the budget better, 1 exactly; larger ones are faster.
func WithBucketSize(tokens int) KnapsackOption {
	return func(k *knapsackDraft) error {
		if tokens <= 0 {
			return &cupel.InvalidConfigError{Component: knapsackSlice, Field: "bucketSize", Value: strconv.Itoa(tokens),
				Reason: "bucketSize must be a positive integer (> 0)"}
		}
		k.bucketSize = tokens
		return nil
	}
}

// WithMemoryLimit sets how many bytes one call may use for what it remembers of
// partial solutions, at least 1. A call that cannot find its answer within the
// limit fails with a [MemoryLimitError] (R17); it may take longer to stay within
// it. The lists of the items themselves, about 100 bytes an item, come on top.
func WithMemoryLimit(bytes int64) KnapsackOption {
	return func(k *knapsackDraft) error {
		if bytes <= 0 {
			return &cupel.InvalidConfigError{Component: knapsackSlice, Field: "memoryLimit", Value: strconv.FormatInt(bytes, 10),
				Reason: "memoryLimit must be a positive number of bytes"}
		}
		k.memoryLimit = bytes
		return nil
	}
}

// MemoryLimitError reports that a [Knapsack] cannot find its answer within its
// memory limit. Raise the limit, or the bucket size.
type MemoryLimitError struct {
	Limit int64 // the limit, in bytes
	Need  int64 // bytes that would have been needed at least
}

func (e *MemoryLimitError) Error() string {
	return fmt.Sprintf("cupel: KnapsackSlice needs more than %d bytes of memory, the limit is %d: raise memoryLimit or bucketSize", e.Need, e.Limit)
}

// tables is the problem as the solver wants it: one row a candidate.
type tables struct {
	weights, values []int64
	positions       []int // in the caller's list
}

var knapsackTables = sync.Pool{New: func() any { return new(tables) }}

// Slice implements [cupel.Slicer]. The positions of items without tokens come
// first, then the others from the last to the first. It fails with a
// [MemoryLimitError], and with ctx.Err() when ctx is done before it is.
func (k Knapsack) Slice(ctx context.Context, items []cupel.ScoredItem, budget cupel.SliceBudget) (cupel.Selection, error) {
	if len(items) == 0 || budget.TargetTokens <= 0 {
		return cupel.Selection{}, nil
	}
	bucket := int64(k.bucketSize)
	if bucket == 0 {
		bucket = DefaultBucketSize
	}
	t := knapsackTables.Get().(*tables)
	defer knapsackTables.Put(t)
	t.weights, t.values, t.positions = t.weights[:0], t.values[:0], t.positions[:0]
	var indices []int // items without tokens
	for i := range items {
		switch tokens := items[i].Item.Tokens(); {
		case tokens == 0:
			indices = append(indices, i)
		case tokens > 0:
			t.weights = append(t.weights, (int64(tokens)-1)/bucket+1) // rounds up, and never wraps
			t.values = append(t.values, scaledValue(items[i].Score))
			t.positions = append(t.positions, i)
		}
	}
	problem := knapsack.Problem{Weights: t.weights, Values: t.values, Capacity: int64(budget.TargetTokens) / bucket}
	if len(t.weights) == 0 || problem.Capacity == 0 {
		return cupel.Selection{Indices: indices}, nil
	}
	if ctx == nil {
		ctx = context.Background()
	}
	chosen, err := knapsack.Solve(ctx, problem, knapsack.Options{MemoryLimit: k.memoryLimit})
	if err != nil {
		if limit, ok := errors.AsType[*knapsack.LimitError](err); ok {
			err = &MemoryLimitError{Limit: limit.Limit, Need: limit.Need}
		}
		return cupel.Selection{}, err
	}
	indices = slices.Grow(indices, len(chosen))
	for _, i := range chosen {
		indices = append(indices, t.positions[i])
	}
	return cupel.Selection{Indices: indices}, nil
}

// scaledValue returns floor(score * 10000), clamped to [0, 2^40]; NaN is 0 (R8).
func scaledValue(score float64) int64 {
	v := math.Floor(score * 10000)
	switch {
	case v >= knapsack.MaxValue:
		return knapsack.MaxValue
	case v > 0:
		return int64(v)
	}
	return 0
}
