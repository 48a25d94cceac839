package cupeltest

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupel/pipeline"
	"github.com/wollax/cupel-go/cupel/slicer"
	"github.com/wollax/cupel-go/cupel/strategy"
)

// A generation is a set of contents that differ from those of any other. The
// lists of one generation are equal whenever they are made.
type generation struct {
	suffix string // of its contents
	most   int    // maximum length of its lists, or 0
}

var lastGeneration atomic.Int64

func nextGeneration() generation {
	return generation{suffix: fmt.Sprintf(" (%05d)", lastGeneration.Add(1))}
}

// item returns an item with a content of this generation. All of them have the
// same length.
func (g generation) item(content string, tokens int, opts ...cupel.ItemOption) *cupel.ContextItem {
	return Item(content+g.suffix, tokens, opts...)
}

// sampleItems returns items of every kind, with and without each optional
// field.
func sampleItems(g generation) []*cupel.ContextItem {
	at := func(hour int) cupel.ItemOption {
		return cupel.WithTimestamp(time.Date(2025, 6, 2, hour, 0, 0, 0, time.UTC))
	}
	return []*cupel.ContextItem{
		g.item("a question", 12, at(9), cupel.WithPriority(5), cupel.WithFutureRelevanceHint(0.4)),
		g.item("a manual", 400, cupel.WithKind(cupel.KindDocument), cupel.WithSource(cupel.SourceRAG),
			cupel.WithTags("reference", "long"), cupel.WithMetadata(map[string]any{cupel.MetadataTrust: "0.9"})),
		g.item("what a tool said", 150, at(11), cupel.WithKind(cupel.KindToolOutput), cupel.WithPriority(5)),
		g.item("a memory", 30, cupel.WithKind(cupel.KindMemory), cupel.WithPriority(-3), cupel.WithFutureRelevanceHint(1)),
		g.item("a rule", 25, cupel.WithKind(cupel.KindSystemPrompt), cupel.WithMetadata(map[string]any{cupel.MetadataPriority: "high"})),
		g.item("a sketch", 60, at(9), cupel.WithKind("Sketch"), cupel.WithTags("chat", "reference")),
		g.item("a free note", 0, cupel.WithOriginalTokens(90)),
		g.item("an answer", 80, at(10), cupel.WithTags("chat")),
		g.item("an answer", 80, at(10)), // the content of another one
	}
}

// hostileItems returns valid items with extreme fields.
func hostileItems(g generation) []*cupel.ContextItem {
	return []*cupel.ContextItem{
		g.item("huge", math.MaxInt, cupel.WithPriority(math.MaxInt), cupel.WithFutureRelevanceHint(math.Inf(1))),
		g.item("half of it", math.MaxInt/2+1, cupel.WithPriority(math.MinInt), cupel.WithFutureRelevanceHint(math.NaN())),
		g.item("\x00\xff not text", 1, cupel.WithTags("", "", "\xff"), cupel.WithFutureRelevanceHint(math.Copysign(0, -1))),
		g.item("the year 1", 1, cupel.WithTimestamp(time.Time{}), cupel.WithFutureRelevanceHint(-math.MaxFloat64)),
		g.item("the year 9999", 1, cupel.WithTimestamp(time.Date(9999, 12, 31, 23, 59, 59, 999_999_999, time.UTC))),
		g.item(strings.Repeat("a long text, ", 10_000), 30_000),
		g.item("odd metadata", 1, cupel.WithMetadata(map[string]any{cupel.MetadataTrust: []int(nil), "": nil, cupel.MetadataPriority: math.NaN()})),
	}
}

// unitItems returns groups, with and without smaller forms, and other items.
func unitItems(g generation) []*cupel.ContextItem {
	outline := cupel.WithVariants(cupel.Variant{Content: "its stub", Tokens: 5, Worth: 0.2}, cupel.Variant{Content: "its outline", Tokens: 40, Worth: 0.6})
	return []*cupel.ContextItem{
		g.item("a call", 10, cupel.WithGroup("call")),
		g.item("a long result", 90, cupel.WithGroup("call"), cupel.WithKind(cupel.KindToolOutput), outline),
		g.item("a document", 120, cupel.WithKind(cupel.KindDocument), outline),
		g.item("a note", 15, cupel.WithPriority(1)),
		g.item("a question", 25, cupel.WithGroup("turn"), cupel.WithGroupVariants(cupel.Variant{Content: "what it was about", Tokens: 8, Worth: 0.3})),
		g.item("an answer", 35, cupel.WithGroup("turn")),
		g.item("a free call", 0, cupel.WithGroup("free")),
		g.item("its free result", 0, cupel.WithGroup("free")),
	}
}

// mixedItems are random items, with times that are seconds to days apart. In long
// lists they have few tokens.
func mixedItems(g generation, n int) []*cupel.ContextItem {
	known, ok := recipes.Load(n)
	if !ok {
		known, _ = recipes.LoadOrStore(n, mixedRecipes(n))
	}
	items := make([]*cupel.ContextItem, n)
	for i, r := range known.([]recipe) {
		items[i] = g.item(r.content, r.tokens, r.opts...)
	}
	return items
}

// A recipe is an item without its generation.
type recipe struct {
	content string
	tokens  int
	opts    []cupel.ItemOption
}

// recipes are the recipes of mixed items by length, which a kit needs dozens of times.
var recipes sync.Map

func mixedRecipes(n int) []recipe {
	random := rand.New(rand.NewPCG(1, uint64(n)))
	kinds := []cupel.ContextKind{cupel.KindMessage, cupel.KindDocument, cupel.KindToolOutput, cupel.KindMemory, "Sketch"}
	tags := []string{"a", "b", "c", "d"}
	list := make([]recipe, n)
	for i := range list {
		opts := []cupel.ItemOption{cupel.WithKind(kinds[random.IntN(len(kinds))]), cupel.WithTags(tags[:random.IntN(len(tags)+1)]...)}
		if random.IntN(3) > 0 {
			opts = append(opts, cupel.WithTimestamp(time.Unix(1, 0).Add(time.Duration(random.IntN(20))*[]time.Duration{time.Second, 20 * time.Minute, 9 * time.Hour}[i%3])))
		}
		if random.IntN(3) > 0 {
			opts = append(opts, cupel.WithPriority(random.IntN(5)), cupel.WithFutureRelevanceHint(float64(random.IntN(11))/10))
		}
		list[i] = recipe{fmt.Sprintf("mixed %d", i), random.IntN(max(30, 300-3*n)), opts}
	}
	return list
}

// sizes are the lengths of lists of mixed items: a few, a word of bits, more than a
// word, and more than buffers of fixed size.
var sizes = []int{3, 64, 65, 301, 2000}

const hostileFields = "items with hostile fields"

// hostileScores are sorted as the engine sorts them.
var hostileScores = []float64{math.Inf(1), 0.5, 0, math.Copysign(0, -1), -0.5, math.Inf(-1), math.NaN(), math.NaN()}

// lists returns the lists of a generation.
func (k *kit) lists(g generation) []input {
	random := rand.New(rand.NewPCG(2, 2))
	steps := func(int) float64 { return float64(random.IntN(11)) / 10 }
	falling := func(i int) float64 { return 1 - float64(i)/10 }
	inputs := []input{{name: "an empty list"}}
	add := func(name string, items []*cupel.ContextItem, score func(i int) float64) {
		if len(items) > 0 {
			inputs = append(inputs, input{name: name, list: scored(items, score)})
		}
	}
	sample := sampleItems(g)
	add(fmt.Sprintf("a list of %d sample items", len(sample)), sample, falling)
	add("those items in reverse", reversed(sample), falling)
	add("a list of one item", sample[:1], falling)
	for _, n := range sizes {
		if g.most > 0 && n > g.most {
			break
		}
		add(fmt.Sprintf("%d mixed items", n), mixedItems(g, n), steps)
	}
	add("a list that holds two items twice", []*cupel.ContextItem{sample[0], sample[1], sample[0], sample[4], sample[1]}, falling)
	add("the items of WithItems", k.items, falling)
	add("two items without tokens", []*cupel.ContextItem{g.item("free", 0), g.item("free too", 0)}, falling)
	if k.role == scorers {
		add(hostileFields, hostileItems(g), falling)
		return inputs
	}
	add("a list with hostile scores", slices.Repeat(sample, 2)[:len(hostileScores)], func(i int) float64 { return hostileScores[i] })
	add("huge items", Items(math.MaxInt, math.MaxInt/2+1, math.MaxInt/2+1, math.MaxInt/2+1, math.MaxInt/4+1, 7, 0), falling)
	inputs = append(inputs, input{name: "a list with groups and smaller forms", list: k.standIns(append(unitItems(g), k.items...))})
	return inputs
}

// inputs returns the lists of a generation, for slicers each with several budgets.
func (k *kit) inputs(g generation) (inputs []input) {
	for _, in := range k.lists(g) {
		if k.role == slicers {
			inputs = append(inputs, withBudgets(in)...)
		} else {
			inputs = append(inputs, in)
		}
	}
	return inputs
}

// withBudgets returns a list with budgets in which nothing, something and
// everything fits, and with one whose ceiling is above its target. A long list
// has fewer.
func withBudgets(in input) (inputs []input) {
	sum := tokensOf(in.list)
	budgets := []cupel.SliceBudget{
		budgetOf(1), budgetOf(sum/3 + 1), budgetOf(math.MaxInt), {MaxTokens: sum + 1, TargetTokens: sum/2 + 1},
	}
	switch {
	case len(in.list) > 1000:
		budgets = []cupel.SliceBudget{budgetOf(sum - sum/4)}
	case in.long():
		budgets = budgets[1:3]
	}
	for _, budget := range budgets {
		inputs = append(inputs, input{fmt.Sprintf("%s, with a target of %d and a ceiling of %d tokens", in.name, budget.TargetTokens, budget.MaxTokens), in.list, budget})
	}
	return inputs
}

// longInput is for measurements.
func (k *kit) longInput(n int) input {
	return input{list: scored(mixedItems(nextGeneration(), n), func(i int) float64 { return 1 - float64(i)/float64(n) }), budget: budgetOf(2000)}
}

// standIns returns the list that a slicer or a placer of a pipeline gets, with one
// entry for each group.
func (k *kit) standIns(items []*cupel.ContextItem) (list []cupel.ScoredItem) {
	remember := func(of role, items []cupel.ScoredItem) {
		if of == k.role {
			list = slices.Clone(items)
		}
	}
	p := must(pipeline.New(pipeline.Config{
		KeepDuplicates: true, Overflow: pipeline.OverflowProceed,
		Scorer: strategy.ScorerFunc(func(item *cupel.ContextItem, all []*cupel.ContextItem) float64 {
			return 1 - float64(slices.Index(all, item))/float64(len(all))
		}),
		Slicer: strategy.SlicerFunc(func(ctx context.Context, items []cupel.ScoredItem, budget cupel.SliceBudget) (strategy.Selection, error) {
			remember(slicers, items)
			return strategy.CallSlicer(ctx, slicer.Greedy{}, items, budget)
		}),
		Placer: strategy.PlacerFunc(func(_ context.Context, items []cupel.ScoredItem, _ []int) error {
			remember(placers, items)
			return nil
		}),
	}))
	_, _ = p.Run(context.Background(), items, Budget(math.MaxInt, 200))
	return list
}

func reversed[E any](list []E) []E {
	list = slices.Clone(list)
	slices.Reverse(list)
	return list
}

// scored assigns scores to items and sorts them as the engine does: highest
// first, NaN last, ties in order.
func scored(items []*cupel.ContextItem, score func(i int) float64) []cupel.ScoredItem {
	list := make([]cupel.ScoredItem, len(items))
	for i, item := range items {
		list[i] = cupel.ScoredItem{Item: item, Score: score(i)}
	}
	slices.SortStableFunc(list, func(a, b cupel.ScoredItem) int { return cmp.Compare(b.Score, a.Score) })
	return list
}

func sameScore(a, b float64) bool {
	return math.Float64bits(a) == math.Float64bits(b) || a != a && b != b
}

func sameScored(a, b cupel.ScoredItem) bool { return a.Item == b.Item && sameScore(a.Score, b.Score) }

func budgetOf(tokens int) cupel.SliceBudget {
	return cupel.SliceBudget{MaxTokens: tokens, TargetTokens: tokens}
}

// tokensOf sums tokens without wrapping.
func tokensOf(list []cupel.ScoredItem) (sum int) {
	for _, it := range list {
		sum += min(it.Item.Tokens(), math.MaxInt/4-sum)
	}
	return sum
}
