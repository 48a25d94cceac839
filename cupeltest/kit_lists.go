package cupeltest

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/wollax/cupel-go/cupel"
)

// sampleItems returns items of every kind, with and without each optional
// field.
func sampleItems() []*cupel.ContextItem {
	at := func(hour int) cupel.ItemOption {
		return cupel.WithTimestamp(time.Date(2025, 6, 2, hour, 0, 0, 0, time.UTC))
	}
	return []*cupel.ContextItem{
		Item("a question", 12, at(9), cupel.WithPriority(5), cupel.WithFutureRelevanceHint(0.4)),
		Item("an answer", 80, at(10), cupel.WithTags("chat")),
		Item("a manual", 400, cupel.WithKind(cupel.KindDocument), cupel.WithSource(cupel.SourceRag),
			cupel.WithTags("reference", "long"), cupel.WithMetadata(map[string]any{cupel.MetadataTrust: "0.9"})),
		Item("what a tool said", 150, at(11), cupel.WithKind(cupel.KindToolOutput), cupel.WithSource(cupel.SourceTool), cupel.WithPriority(5)),
		Item("a memory", 30, cupel.WithKind(cupel.KindMemory), cupel.WithPriority(-3), cupel.WithFutureRelevanceHint(1)),
		Item("a rule", 25, cupel.WithKind(cupel.KindSystemPrompt), cupel.WithMetadata(map[string]any{cupel.MetadataPriority: "high"})),
		Item("a sketch", 60, at(9), cupel.WithKind("Sketch"), cupel.WithSource("Whiteboard"), cupel.WithTags("chat", "reference")),
		Item("a free note", 0, cupel.WithOriginalTokens(90)),
		Item("an answer", 80, at(10)), // the content of another one
	}
}

// hostileItems returns valid items with extreme fields.
func hostileItems() []*cupel.ContextItem {
	return []*cupel.ContextItem{
		Item("huge", math.MaxInt, cupel.WithPriority(math.MaxInt), cupel.WithFutureRelevanceHint(math.Inf(1))),
		Item("half of it", math.MaxInt/2+1, cupel.WithPriority(math.MinInt), cupel.WithFutureRelevanceHint(math.NaN())),
		Item("\x00\xff not text", 1, cupel.WithTags("", "", "\xff"), cupel.WithFutureRelevanceHint(math.Copysign(0, -1))),
		Item("the year 1", 1, cupel.WithTimestamp(time.Time{}), cupel.WithFutureRelevanceHint(-math.MaxFloat64)),
		Item("the year 9999", 1, cupel.WithTimestamp(time.Date(9999, 12, 31, 23, 59, 59, 999_999_999, time.UTC))),
		Item("odd metadata", 1, cupel.WithMetadata(map[string]any{cupel.MetadataTrust: []int(nil), "": nil, cupel.MetadataPriority: math.NaN()})),
	}
}

// randomItems returns n items with small differences, the same at each call.
func randomItems(n int) []*cupel.ContextItem {
	random := rand.New(rand.NewPCG(1, uint64(n)))
	kinds := []cupel.ContextKind{cupel.KindMessage, cupel.KindDocument, cupel.KindToolOutput, cupel.KindMemory, "Sketch"}
	tags := []string{"a", "b", "c", "d"}
	var items []*cupel.ContextItem
	for i := range n {
		options := []cupel.ItemOption{cupel.WithKind(kinds[random.IntN(len(kinds))]), cupel.WithTags(tags[:random.IntN(len(tags)+1)]...)}
		if random.IntN(3) > 0 {
			options = append(options, cupel.WithTimestamp(time.Unix(int64(random.IntN(20)), 0)))
		}
		if random.IntN(3) > 0 {
			options = append(options, cupel.WithPriority(random.IntN(5)))
		}
		if random.IntN(3) > 0 {
			options = append(options, cupel.WithFutureRelevanceHint(float64(random.IntN(11))/10))
		}
		items = append(items, Item(fmt.Sprintf("random %d", i), random.IntN(300), options...))
	}
	return items
}

// itemInputs returns the lists for scorers, with each item once.
func itemInputs(own []*cupel.ContextItem) []input[*cupel.ContextItem] {
	sample, random := sampleItems(), randomItems(40)
	inputs := []input[*cupel.ContextItem]{
		{name: "a list of 9 sample items", list: sample},
		{name: "those items in reverse", list: reversed(sample)},
		{name: "9 random items", list: random[:9]},
		{name: "40 random items", list: random},
		{name: "a list of one item", list: sample[:1]},
		{name: "a list of one plain item", list: Items(10)},
		{name: "items with hostile fields", list: hostileItems()},
	}
	if len(own) > 0 {
		inputs = append(inputs, input[*cupel.ContextItem]{name: "the items of WithItems", list: own})
	}
	return inputs
}

func reversed[E any](list []E) []E {
	list = slices.Clone(list)
	slices.Reverse(list)
	return list
}

// repeatedItems holds two items twice each.
func repeatedItems() []*cupel.ContextItem {
	sample := sampleItems()
	return []*cupel.ContextItem{sample[0], sample[1], sample[0], sample[4], sample[1]}
}

// scoredInputs returns the sorted lists for slicers and placers, without
// budgets: each item once, with scores in [0,1].
func scoredInputs(own []*cupel.ContextItem) []input[cupel.ScoredItem] {
	random := rand.New(rand.NewPCG(2, 2))
	steps := func(int) float64 { return float64(random.IntN(11)) / 10 }
	falling := func(items []*cupel.ContextItem) func(int) float64 {
		return func(i int) float64 { return 1 - float64(i)/float64(len(items)) }
	}
	sample, many := sampleItems(), randomItems(40)
	inputs := []input[cupel.ScoredItem]{
		{name: "a list of 9 sample items", list: scored(sample, falling(sample))},
		{name: "those items in reverse", list: scored(reversed(sample), falling(sample))},
		{name: "those items with one score", list: scored(sample, func(int) float64 { return 0.5 })},
		{name: "9 random items", list: scored(many[:9], steps)},
		{name: "40 random items", list: scored(many, steps)},
		{name: "a list of one item", list: scored(sample[:1], falling(sample))},
	}
	if len(own) > 0 {
		inputs = append(inputs, input[cupel.ScoredItem]{name: "the items of WithItems", list: scored(own, falling(own))})
	}
	return inputs
}

// hostileScores are sorted as the engine sorts them.
func hostileScores() input[cupel.ScoredItem] {
	scores := []float64{math.Inf(1), math.MaxFloat64, 0.5, math.SmallestNonzeroFloat64, 0, math.Copysign(0, -1), -0.5, math.Inf(-1), math.NaN(), math.NaN()}
	return input[cupel.ScoredItem]{name: "a list with hostile scores", list: scored(randomItems(len(scores)), func(i int) float64 { return scores[i] })}
}

func repeatedScored() input[cupel.ScoredItem] {
	items := repeatedItems()
	return input[cupel.ScoredItem]{name: "a list that holds two items twice", list: scored(items, func(i int) float64 { return 1 - float64(i)/10 })}
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

// junkScored overwrites the contents of a list.
func junkScored() cupel.ScoredItem { return cupel.ScoredItem{Item: Item("junk", 1), Score: -1} }
