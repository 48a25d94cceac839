package slicer

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"strconv"

	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupel/internal/compat"
	"github.com/wollax/cupel-go/cupel/internal/exact"
	"github.com/wollax/cupel-go/cupel/internal/knapsack"
	"github.com/wollax/cupel-go/cupel/strategy"
)

const knapsackSlice = "KnapsackSlice"

// DefaultBucketSize is the bucket size of a [Knapsack] in tokens, unless
// [WithBucketSize] sets another.
const DefaultBucketSize = 100

// DefaultMemoryLimit is the memory limit of a [Knapsack] in bytes, unless
// [WithMemoryLimit] sets another: 256 MiB.
const DefaultMemoryLimit = 256 << 20

// Knapsack chooses the items whose scores have the largest sum within the
// target. Among equally good choices it takes the one that the specification's
// dynamic program takes, without its table of N x C cells.
//
// Sizes are in buckets, of 100 tokens by default. The sizes of items are rounded up
// and the target is rounded down, so that the choice always fits but may leave
// tokens unused: 70 % of the target with items of 30 tokens. [WithAutoBucket]
// avoids that. Scores are rounded down to steps of 1/10000. NaN counts
// as 0, and an item with a rounded score of 0 is never chosen. Items without
// tokens are always chosen. The choice is not monotonic in the budget.
//
// The zero Knapsack is ready to use; [NewKnapsack] makes others. Time and memory
// depend on how similar the items are: usually near linear in the number of items,
// at worst as much as the table takes. It implements the KnapsackSlice chapter
// of the specification.
type Knapsack struct {
	bucketSize  int   // 0: DefaultBucketSize
	autoBucket  bool  // chosen for each call instead
	memoryLimit int64 // 0: DefaultMemoryLimit
}

// KnapsackOption is an optional setting of a [Knapsack].
type KnapsackOption func(*knapsackDraft)

// knapsackDraft is an unfinished slicer. It is a separate type so that options
// cannot change a finished one.
type knapsackDraft Knapsack

// NewKnapsack returns a Knapsack with the given settings. It fails with a
// [cupel.InvalidConfigError] that names the setting.
func NewKnapsack(opts ...KnapsackOption) (*Knapsack, error) {
	draft := knapsackDraft{bucketSize: DefaultBucketSize, memoryLimit: DefaultMemoryLimit}
	for _, opt := range opts {
		if opt != nil {
			opt(&draft)
		}
	}
	return Knapsack(draft).checked(strategy.Problems{Component: knapsackSlice})
}

// checked returns the slicer, or what is wrong with its settings beside the problems
// that are known.
func (k Knapsack) checked(wrong strategy.Problems) (*Knapsack, error) {
	if k.bucketSize <= 0 {
		wrong.Add("bucketSize", strconv.Itoa(k.bucketSize), "bucketSize must be a positive integer (> 0)")
	}
	if k.memoryLimit <= 0 {
		wrong.Add("memoryLimit", strconv.FormatInt(k.memoryLimit, 10), "memoryLimit must be a positive number of bytes")
	}
	if err := wrong.Err(); err != nil {
		return nil, err
	}
	return &k, nil
}

// knapsackFields are the settings of a knapsack, here and in what has one.
var knapsackFields = []strategy.Field{
	{Name: "bucketSize", Type: strategy.Int, Range: strategy.AtLeastOne, Default: DefaultBucketSize, Doc: "The size of a bucket, in tokens."},
	{Name: "autoBucket", Type: strategy.Bool, Default: false, Excludes: "bucketSize", Doc: "Each run chooses the bucket size; bucketSize must be absent."},
	{Name: "memoryLimit", Type: strategy.Int, Range: strategy.AtLeastOne, Default: DefaultMemoryLimit, Doc: "The working memory of one call, in bytes."},
}

var knapsackDescriptor = strategy.Descriptor{
	Name: "knapsack", Component: knapsackSlice,
	Doc:    "Chooses the items whose scores have the largest sum within the target.",
	Fields: knapsackFields,
	Build:  func(a strategy.Args) (any, error) { return strategy.Built(knapsackOf(a)) },
	Settings: func(s any) (map[string]any, bool) {
		k, ok := valueOf[Knapsack](s)
		return k.settings(), ok
	},
}

// knapsackOf builds a knapsack from knapsackFields.
func knapsackOf(a strategy.Args) (*Knapsack, error) {
	wrong := strategy.Problems{Component: knapsackSlice}
	k := Knapsack{strategy.Get[int](a, "bucketSize"), strategy.Get[bool](a, "autoBucket"), int64(strategy.Get[int](a, "memoryLimit"))}
	if k.autoBucket && a.Has("bucketSize") {
		wrong.Add("autoBucket", "", "must not be set together with bucketSize; remove one of them")
	}
	return k.checked(wrong)
}

func (k Knapsack) settings() map[string]any {
	settings := map[string]any{"autoBucket": k.autoBucket, "memoryLimit": int(cmp.Or(k.memoryLimit, DefaultMemoryLimit))}
	if !k.autoBucket {
		settings["bucketSize"] = cmp.Or(k.bucketSize, DefaultBucketSize)
	}
	return settings
}

// WithBucketSize sets the number of tokens in which sizes are counted, at least
// 1. Smaller buckets fill the budget better, 1 exactly; larger ones are faster.
func WithBucketSize(tokens int) KnapsackOption {
	return func(k *knapsackDraft) { k.bucketSize, k.autoBucket = tokens, false }
}

// WithAutoBucket has each call choose the bucket size from its items and its
// target: 1 token, which is exact, up to targets of 65,536 tokens, and beyond
// that the target's 65,536th part, but no more than a 32nd of the mean size of
// the items that fit, so that rounding up costs them at most about 3 % of the
// budget.
//
// The default of 100 tokens suits items of many hundreds of tokens. With short ones
// it leaves much of the budget unused, since each is counted as 100: items of about
// 30 tokens fill 30 % of a budget for 200 items, items of 150 tokens 82 %, and
// items of 1,000 tokens 93 %. They have 25, 79 and 94 % of the score of the best
// choice. With WithAutoBucket all of them fill more than 99 % and have more than
// 99 % of the score (go test -bench KnapsackUse). Choosing takes linear time; a
// smaller bucket can take the solver several times as long.
func WithAutoBucket() KnapsackOption {
	return func(k *knapsackDraft) { k.bucketSize, k.autoBucket = DefaultBucketSize, true }
}

// WithMemoryLimit sets the number of bytes, at least 1, that one call may use for
// partial solutions. A call may take longer to stay within the limit, and fails with a
// [MemoryLimitError] if it cannot. The lists of items take about 100 bytes per item in
// addition.
func WithMemoryLimit(bytes int64) KnapsackOption {
	return func(k *knapsackDraft) { k.memoryLimit = bytes }
}

// ErrMemoryLimit is matched by [MemoryLimitError].
var ErrMemoryLimit = errors.New("cupel: the memory limit is too low")

// MemoryLimitError reports that a [Knapsack], or a [MultipleChoice] that is exact,
// cannot find its answer within its memory limit. For a Knapsack, raise the limit or the
// bucket size; for a MultipleChoice, lower the target or leave out [WithExact].
type MemoryLimitError struct {
	Limit int64 // the limit, in bytes
	Need  int64 // the least number of bytes that would do
	Exact bool  // it is an exact MultipleChoice, whose limit is fixed
}

func (e *MemoryLimitError) Error() string {
	if e.Exact {
		return fmt.Sprintf("cupel: MultipleChoiceSlice needs more than %d bytes of memory to be exact, above the limit of %d: lower the target or leave out exact", e.Need, e.Limit)
	}
	return fmt.Sprintf("cupel: KnapsackSlice needs more than %d bytes of memory, above the limit of %d: raise memoryLimit or bucketSize", e.Need, e.Limit)
}

// Is reports whether target is [ErrMemoryLimit].
func (e *MemoryLimitError) Is(target error) bool { return target == ErrMemoryLimit }

// Facts implements [strategy.Describer].
func (k Knapsack) Facts() strategy.Facts {
	return strategy.Facts{Of: k, LeftOver: true, Explain: k.explain}
}

// explain says that other items together are worth more, or that the item is worth
// nothing.
func (k Knapsack) explain(_ context.Context, items []cupel.ScoredItem, budget cupel.SliceBudget, chosen strategy.Selection, at int) (strategy.Obstacle, error) {
	if scaledValue(items[at].Score) == 0 {
		return strategy.Obstacle{Rule: "KnapsackSlice takes nothing with a score below 0.0001.", Before: chosen.Indices}, nil
	}
	rule := fmt.Sprintf("KnapsackSlice takes the items whose scores have the highest sum, within %d tokens", budget.TargetTokens)
	if bucket := k.bucket(items, budget.TargetTokens); bucket > 1 {
		rule += fmt.Sprintf(", the tokens of each rounded up to buckets of %d", bucket)
	}
	return strategy.Obstacle{Rule: rule + ".", Before: chosen.Indices}, nil
}

// Slice implements [strategy.Slicer]. The positions of items without tokens come first,
// then the others from the last to the first. It fails with a [MemoryLimitError], and
// with ctx.Err() when ctx is done before it finishes.
func (k Knapsack) Slice(ctx context.Context, items []cupel.ScoredItem, budget cupel.SliceBudget) (strategy.Selection, error) {
	if budget.TargetTokens <= 0 {
		return strategy.Selection{}, nil
	}
	if ctx == nil {
		ctx = context.Background()
	}
	bucket := k.bucket(items, budget.TargetTokens)
	var sel strategy.Selection
	candidates := 0
	for i, it := range items {
		switch tokens := it.Item.Tokens(); {
		case tokens == 0:
			sel.Indices = append(sel.Indices, i)
		case tokens > 0:
			candidates++
		}
	}
	limit := cmp.Or(k.memoryLimit, DefaultMemoryLimit)
	chosen, err := knapsack.Solve(ctx, knapsack.Problem{
		Len: len(items), Capacity: int64(budget.TargetTokens) / bucket, MemoryLimit: limit,
		Item: func(i int) (weight, value int64) {
			tokens := int64(items[i].Item.Tokens())
			if tokens <= 0 {
				return 0, 0
			}
			return (tokens-1)/bucket + 1, scaledValue(items[i].Score) // rounds up, and never wraps
		},
	})
	if err != nil {
		if short, ok := compat.AsType[*knapsack.LimitError](err); ok {
			err = &MemoryLimitError{Limit: limit, Need: short.Need}
		}
		return strategy.Selection{}, err
	}
	sel.Indices = append(sel.Indices, chosen...)
	if !k.autoBucket && len(chosen) == candidates { // everything fits
		sel.StaysUntil = math.MaxInt
	}
	return sel, nil
}

// mostBuckets is how many buckets a budget is cut into at most when the items
// are large enough to allow it.
const mostBuckets = 1 << 16

// bucket returns the bucket size of one call.
func (k Knapsack) bucket(items []cupel.ScoredItem, target int) int64 {
	if !k.autoBucket {
		return int64(cmp.Or(k.bucketSize, DefaultBucketSize))
	}
	var sum exact.Sum
	fitting := 0
	for i := range items {
		if tokens := items[i].Item.Tokens(); tokens > 0 && tokens <= target {
			sum.Add(tokens)
			fitting++
		}
	}
	if fitting == 0 {
		return 1
	}
	const shareOfMean = 32
	return int64(max(1, min(target/mostBuckets, sum.Int()/fitting/shareOfMean)))
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
