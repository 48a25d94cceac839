package cupeltest

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/wollax/cupel-go/cupel"
)

// A generation is a set of contents that differ from those of any other. The
// lists of one generation are equal whenever they are made.
type generation struct {
	suffix string // of its contents
	short  bool   // only short lists are made
}

var lastGeneration atomic.Int64

func nextGeneration() generation {
	return generation{suffix: fmt.Sprintf(" (%05d)", lastGeneration.Add(1))}
}

func nextShort() generation {
	g := nextGeneration()
	g.short = true
	return g
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
		g.item("an answer", 80, at(10), cupel.WithTags("chat")),
		g.item("a manual", 400, cupel.WithKind(cupel.KindDocument), cupel.WithSource(cupel.SourceRAG),
			cupel.WithTags("reference", "long"), cupel.WithMetadata(map[string]any{cupel.MetadataTrust: "0.9"})),
		g.item("what a tool said", 150, at(11), cupel.WithKind(cupel.KindToolOutput), cupel.WithSource(cupel.SourceTool), cupel.WithPriority(5)),
		g.item("a memory", 30, cupel.WithKind(cupel.KindMemory), cupel.WithPriority(-3), cupel.WithFutureRelevanceHint(1)),
		g.item("a rule", 25, cupel.WithKind(cupel.KindSystemPrompt), cupel.WithMetadata(map[string]any{cupel.MetadataPriority: "high"})),
		g.item("a sketch", 60, at(9), cupel.WithKind("Sketch"), cupel.WithSource("Whiteboard"), cupel.WithTags("chat", "reference")),
		g.item("a free note", 0, cupel.WithOriginalTokens(90)),
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
		g.item("odd metadata", 1, cupel.WithMetadata(map[string]any{cupel.MetadataTrust: []int(nil), "": nil, cupel.MetadataPriority: math.NaN()})),
	}
}

// otherItems returns items with the contents of the sample and other fields.
func otherItems(g generation) []*cupel.ContextItem {
	var items []*cupel.ContextItem
	for i, sample := range sampleItems(g) {
		items = append(items, Item(sample.Content(), 5+(37*i)%90, cupel.WithKind([]cupel.ContextKind{cupel.KindDocument, cupel.KindMessage, "Sketch"}[i%3]),
			cupel.WithPriority(i%4), cupel.WithTimestamp(time.Unix(int64(1000-i), 0)), cupel.WithTags([]string{"a", "reference"}[i%2]), cupel.WithFutureRelevanceHint(float64(i)/10)))
	}
	return items
}

// A draft is an item of every generation. Making them takes longer than making
// items of them.
type draft struct {
	content string
	tokens  int
	options []cupel.ItemOption
}

// drafts are those of randomItems, by length of the list.
var drafts = struct {
	sync.Mutex
	of map[int][]draft
}{of: make(map[int][]draft)}

// randomItems returns n items with small differences, those of long lists with
// few tokens.
func randomItems(g generation, n int) []*cupel.ContextItem {
	drafts.Lock()
	list := drafts.of[n]
	if list == nil {
		list = randomDrafts(n)
		drafts.of[n] = list
	}
	drafts.Unlock()
	items := make([]*cupel.ContextItem, n)
	for i, d := range list {
		items[i] = g.item(d.content, d.tokens, d.options...)
	}
	return items
}

func randomDrafts(n int) []draft {
	random := rand.New(rand.NewPCG(1, uint64(n)))
	kinds := []cupel.ContextKind{cupel.KindMessage, cupel.KindDocument, cupel.KindToolOutput, cupel.KindMemory, "Sketch"}
	tags := []string{"a", "b", "c", "d"}
	most := 300
	if n > 100 {
		most = 30
	}
	list := make([]draft, n)
	for i := range list {
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
		list[i] = draft{fmt.Sprintf("random %d", i), random.IntN(most), options}
	}
	return list
}

// sizes are the lengths of lists of random items: beyond one, beyond a word of
// bits, a whole number of words, beyond buffers of fixed size, odd and even.
var sizes = []int{2, 3, 40, 65, 256, 301, 2000}

// repeat returns n items, the given ones again and again.
func repeat(items []*cupel.ContextItem, n int) []*cupel.ContextItem {
	list := make([]*cupel.ContextItem, n)
	for i := range list {
		list[i] = items[i%len(items)]
	}
	return list
}

// itemLists returns the lists of items, each item once except where the
// caller's are all there is.
func itemLists(g generation, options *kitOptions) []input[*cupel.ContextItem] {
	var inputs []input[*cupel.ContextItem]
	sizes := sizes
	if g.short {
		sizes = sizes[:4]
	}
	add := func(name string, list []*cupel.ContextItem) {
		inputs = append(inputs, input[*cupel.ContextItem]{name: name, list: list})
	}
	if options.only {
		add("the items of OnlyItems", options.items)
		add("those items in reverse", reversed(options.items))
		add("a list of one item", options.items[:1])
		for _, n := range sizes {
			if n != len(options.items) {
				add(fmt.Sprintf("%d of those items, some several times", n), repeat(options.items, n))
			}
		}
		return inputs
	}
	sample := sampleItems(g)
	add("a list of 9 sample items", sample)
	add("those items in reverse", reversed(sample))
	add("items with their contents and other fields", otherItems(g))
	add("9 random items", randomItems(g, 40)[:9])
	add("a list of one item", sample[:1])
	add("two items without tokens", []*cupel.ContextItem{g.item("free", 0), g.item("free too", 0)})
	for _, n := range sizes {
		add(fmt.Sprintf("%d random items", n), randomItems(g, n))
	}
	if len(options.items) > 0 {
		add("the items of WithItems", options.items)
	}
	return inputs
}

// itemInputs returns the lists for scorers.
func itemInputs(g generation, options *kitOptions) []input[*cupel.ContextItem] {
	inputs := itemLists(g, options)
	if options.only {
		return inputs
	}
	return append(inputs,
		input[*cupel.ContextItem]{name: "a list of one plain item", list: []*cupel.ContextItem{g.item("plain", 10)}},
		input[*cupel.ContextItem]{name: "items with hostile fields", list: hostileItems(g)})
}

func reversed[E any](list []E) []E {
	list = slices.Clone(list)
	slices.Reverse(list)
	return list
}

// repeatedItems holds two items twice each.
func repeatedItems(options *kitOptions) []*cupel.ContextItem {
	sample := sampleItems(nextGeneration())
	if options.only {
		sample = repeat(options.items, 5)
	}
	return []*cupel.ContextItem{sample[0], sample[1], sample[0], sample[4], sample[1]}
}

// scoredInputs returns the sorted lists for slicers and placers, without
// budgets, with scores in [0,1].
func scoredInputs(g generation, options *kitOptions) []input[cupel.ScoredItem] {
	random := rand.New(rand.NewPCG(2, 2))
	steps := func(int) float64 { return float64(random.IntN(11)) / 10 }
	falling := func(items []*cupel.ContextItem) func(int) float64 {
		return func(i int) float64 { return 1 - float64(i)/float64(len(items)) }
	}
	var inputs []input[cupel.ScoredItem]
	for i, in := range itemLists(g, options) {
		score := falling(in.list)
		if strings.HasSuffix(in.name, " random items") {
			score = steps
		}
		inputs = append(inputs, input[cupel.ScoredItem]{name: in.name, list: scored(in.list, score)})
		if i == 0 {
			inputs = append(inputs, input[cupel.ScoredItem]{name: in.name + ", with one score", list: scored(in.list, func(int) float64 { return 0.5 })})
		}
	}
	return inputs
}

// hostileScores are sorted as the engine sorts them.
func hostileScores(options *kitOptions) input[cupel.ScoredItem] {
	scores := []float64{math.Inf(1), math.MaxFloat64, 0.5, math.SmallestNonzeroFloat64, 0, math.Copysign(0, -1), -0.5, math.Inf(-1), math.NaN(), math.NaN()}
	items := randomItems(nextGeneration(), len(scores))
	if options.only {
		items = repeat(options.items, len(scores))
	}
	return input[cupel.ScoredItem]{name: "a list with hostile scores", list: scored(items, func(i int) float64 { return scores[i] })}
}

func repeatedScored(options *kitOptions) input[cupel.ScoredItem] {
	items := repeatedItems(options)
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
