package naive_test

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupel/pipeline"
	"github.com/wollax/cupel-go/cupel/strategy"
	"github.com/wollax/cupel-go/internal/naive"
)

// source turns bytes into choices: one byte a choice, 0 when they run out. Any
// bytes make a case, and fewer or smaller bytes make a simpler one, which is
// all that the shrinker and the fuzzer need.
type source struct {
	data []byte
	used int
}

// below returns a number from 0 to n-1; n is at most 256.
func (s *source) below(n int) int {
	if s.used >= len(s.data) {
		return 0
	}
	b := s.data[s.used]
	s.used++
	return int(b) % n
}

// rarely is true for one choice in n.
func (s *source) rarely(n int) bool { return s.below(n) == n-1 }

// pick returns one of the options, the first when the bytes have run out.
func pick[T any](s *source, options ...T) T { return options[s.below(len(options))] }

// testCase is one run of a pipeline.
type testCase struct {
	config naive.Config
	items  []*cupel.ContextItem
	budget cupel.ContextBudget

	// For a strategy on its own: a list in any order, and what it may spend.
	scored      []cupel.ScoredItem
	sliceBudget cupel.SliceBudget
}

// generator makes a case. In a huge case token counts come near 2^63; in a
// flawed one some settings of the strategies are not valid; a large one has
// hundreds of items.
type generator struct {
	*source
	huge, flawed, large bool
	units               bool // items have groups, variants and version keys
}

// flaw is true for one setting in three of a flawed case.
func (g *generator) flaw() bool { return g.flawed && g.rarely(3) }

// caseBytes is enough for nearly every case.
const caseBytes = 1024

func generate(data []byte) testCase { return generateSized(data, false) }

// generateUnits makes a case of the chapter on units.
func generateUnits(data []byte) testCase {
	g := generator{source: &source{data: data}, units: true}
	g.huge = g.rarely(24)
	g.flawed = g.rarely(24)
	return g.testCase()
}

// generateSized makes a case of hundreds of items when large is set: enough to
// reach the engine's algorithms for long lists.
func generateSized(data []byte, large bool) testCase {
	g := generator{source: &source{data: data}, large: large}
	g.huge = g.rarely(8) && !large // the model's dynamic program would not fit
	g.flawed = g.rarely(8)
	return g.testCase()
}

func (g *generator) testCase() testCase {
	large := g.large
	c := testCase{config: naive.Config{
		Placer:         pick[naive.Placer](g.source, naive.Chronological{}, naive.UShaped{}),
		KeepDuplicates: g.rarely(3),
		Overflow:       pick(g.source, pipeline.OverflowTruncate, pipeline.OverflowProceed, pipeline.OverflowThrow),
	}}
	if g.units {
		if g.below(2) == 0 { // hints and no more
			c.config.Scorer = rawHint
		}
	}
	if c.config.Scorer == nil {
		c.config.Scorer = g.scorer(3)
	}
	if large {
		c.config.Scorer = g.scorer(1) // the model takes n^3 for one level of scaling
	}
	c.config.Slicer = g.slicer(3, false)
	c.budget = g.budget()
	n := g.below(11)
	if !g.huge && g.rarely(16) {
		n += 30
	}
	if g.units && !g.huge && g.rarely(4) {
		n += 8
	}
	if large {
		n = 60 + g.below(200)
	}
	for range n {
		if len(c.items) > 0 && g.rarely(9) {
			c.items = append(c.items, c.items[g.below(len(c.items))]) // the same pointer again
			continue
		}
		c.items = append(c.items, g.item(len(c.items)))
	}
	if g.units && g.rarely(6) {
		c.items = append(c.items, g.copyOfGroup(c.items)...)
	}
	if g.units && g.rarely(4) {
		g.addAlikeTexts(&c)
	}
	for _, it := range c.items {
		if it.Tokens() >= 0 { // the pipeline never hands on negative ones
			c.scored = append(c.scored, cupel.ScoredItem{Item: it, Score: g.score()})
		}
	}
	c.sliceBudget = cupel.SliceBudget{MaxTokens: c.budget.MaxTokens(), TargetTokens: c.budget.TargetTokens()}
	return c
}

func (g *generator) score() float64 {
	if g.rarely(12) {
		return pick(g.source, math.NaN(), math.Inf(1), math.Inf(-1), math.Copysign(0, -1), 1e300, -0.3, 5e-324)
	}
	if g.rarely(6) {
		return float64(g.below(200)) * 0.00037 // more decimals than KnapsackSlice counts with
	}
	return float64(g.below(17)) / 16
}

// Names that differ in nothing, in ASCII case, or in what only Unicode folds:
// the Kelvin sign and the long s.
var (
	kindNames = []cupel.ContextKind{
		"Message", "Document", "ToolOutput", "Memory", "SystemPrompt", "ticket", "TICKET", "tic\u212Aet", "\u017Fystemprompt", "r\u00E9sum\u00E9", "R\u00C9SUM\u00C9",
	}
	tagNames = []string{"a", "A", "b", "k", "K", "\u212A", "s", "\u017F", "\u00E9", "\u00C9", ""}
)

// epoch is when the generated world is: hours around it are ages.
var epoch = time.Date(2025, 1, 1, 12, 0, 0, 0, time.UTC)

func (g *generator) tokens() int {
	if g.huge && g.rarely(3) {
		return pick(g.source, math.MaxInt/2+1, math.MaxInt/4+1, math.MaxInt, math.MaxInt-1, math.MaxInt/2-6, math.MinInt, -(math.MaxInt/2 + 1))
	}
	switch g.below(8) {
	case 0, 1, 2:
		return pick(g.source, 10, 1, 5, 50, 99, 100, 101, 150, 200, 350)
	case 3:
		return 0
	case 4:
		if g.units && !g.rarely(6) { // a negative member puts its whole group out
			return pick(g.source, 20, 30, 40, 60, 120)
		}
		return pick(g.source, 20, 30, 40, -1, -2, -100)
	default:
		return g.below(90)
	}
}

func (g *generator) time() time.Time {
	switch g.below(8) {
	case 0, 1, 2, 3:
		return epoch.Add(-time.Duration(g.below(5)) * time.Hour)
	case 4:
		return epoch.Add(-time.Duration(g.below(3)))
	case 5:
		return epoch.Add(time.Duration(g.below(100)-80) * time.Hour).In(time.FixedZone("", 3600*(g.below(5)-2)))
	default:
		return pick(g.source,
			time.Date(1, 1, 1, 0, 0, 0, 0, time.UTC),
			time.Date(1, 1, 1, 0, 0, 0, 1, time.UTC),
			time.Date(2300, 6, 1, 0, 0, 0, 0, time.UTC),
			time.Date(1677, 1, 1, 0, 0, 0, 0, time.UTC),
			time.Date(2263, 1, 1, 0, 0, 0, 0, time.UTC),
			time.Date(1733, 1, 1, 0, 0, 0, 0, time.UTC))
	}
}

func (g *generator) item(position int) *cupel.ContextItem {
	var opts []cupel.ItemOption
	content := fmt.Sprintf("item %d", position)
	if g.rarely(3) {
		content = pick(g.source, "a", "A", "a ", "b", "\u00E9", "e\u0301")
	}
	tokens := g.tokens()
	if g.below(3) > 0 {
		opts = append(opts, cupel.WithKind(g.kind()))
	}
	if g.below(4) > 0 {
		opts = append(opts, cupel.WithTimestamp(g.time()))
	}
	if g.below(3) > 0 {
		opts = append(opts, cupel.WithPriority(pick(g.source, 1, 0, 2, 3, -1, 10, math.MinInt, math.MaxInt)))
	}
	if g.below(4) > 0 {
		hint := g.score()
		if g.rarely(4) {
			hint = pick(g.source, -0.3, 1.7, 1e-5, math.NaN(), math.Inf(1), math.Inf(-1), math.Copysign(0, -1))
		}
		opts = append(opts, cupel.WithFutureRelevanceHint(hint))
	}
	if g.below(3) > 0 {
		var tags []string
		for range g.below(4) {
			tags = append(tags, tagNames[g.below(len(tagNames))])
		}
		if g.large && g.rarely(4) {
			for range g.below(30) {
				tags = append(tags, fmt.Sprintf("t%d", g.below(200)))
			}
		}
		opts = append(opts, cupel.WithTags(tags...))
	}
	if g.rarely(2) {
		metadata := map[string]any{}
		if g.rarely(2) {
			metadata[cupel.MetadataTrust] = g.metadataValue()
		}
		if g.rarely(2) {
			metadata["tier"] = g.metadataValue()
		}
		opts = append(opts, cupel.WithMetadata(metadata))
	}
	if g.rarely(7) && (!g.units || g.rarely(2)) {
		opts = append(opts, cupel.WithPinned())
	}
	if g.units {
		opts = append(opts, g.unitOptions(content, tokens)...)
	}
	return must(cupel.NewContextItem(content, tokens, opts...))
}

func (g *generator) metadataValue() any {
	return pick[any](g.source, "0.5", "gold", 0.75, "GOLD", 1, "1", int8(-3), uint64(math.MaxUint64), float32(0.1), json.Number("0.25"), json.Number("x"),
		"NaN", "Infinity", "-inf", "1e400", " 0.5", "0x1p-1", "1_0", "", "+.5", "5.", "-0.1", "1.5", true, false, nil, []int{1}, math.NaN(), math.Inf(1), 1e21)
}

func (g *generator) recase(kind cupel.ContextKind) cupel.ContextKind {
	if g.rarely(3) {
		return cupel.ContextKind(strings.Map(func(r rune) rune {
			if r >= 'a' && r <= 'z' && g.rarely(2) {
				return r - 'a' + 'A'
			}
			return r
		}, string(kind)))
	}
	return kind
}

func (g *generator) kind() cupel.ContextKind {
	names := kindNames
	if g.rarely(2) {
		names = names[:2]
	}
	return g.recase(names[g.below(len(names))])
}

// kinds returns kinds that differ under ASCII folding.
func (g *generator) kinds(most int) []cupel.ContextKind {
	var kinds []cupel.ContextKind
	for range g.below(most + 1) {
		kind := g.kind()
		if g.flaw() {
			kind = pick[cupel.ContextKind](g.source, "", " \t", "Message", "message")
			kinds = append(kinds, kind)
			continue
		}
		if !slices.ContainsFunc(kinds, kind.Equal) {
			kinds = append(kinds, kind)
		}
	}
	return kinds
}

func (g *generator) scorer(depth int) naive.Scorer {
	choices := 12
	if depth == 0 {
		choices = 10
	}
	switch g.below(choices) {
	case 0:
		return rawHint
	case 1:
		return naive.Recency{}
	case 2:
		return naive.Priority{}
	case 3:
		if g.rarely(2) {
			return naive.Kind{}
		}
		weights := []naive.KindWeight{}
		for _, kind := range g.kinds(4) {
			weights = append(weights, naive.KindWeight{Kind: kind, Weight: g.weight(0.5, 0, 1, 1.5, 0.1, 1e308)})
		}
		return naive.Kind{Weights: weights}
	case 4:
		return g.tagScorer()
	case 5:
		return naive.Frequency{}
	case 6:
		return naive.Reflexive{}
	case 7:
		return naive.MetadataTrust{DefaultScore: g.weight(0.5, 0, 1, 0.3)}
	case 8:
		return naive.MetadataKey{Key: "tier", Value: pick(g.source, "gold", "1", "true", "0.25", "1e+21", "18446744073709551615", "0.1", "NaN"), Boost: g.weight(1.5, 0.5, 1e300, 5e-324)}
	case 9:
		now := pick(g.source, epoch, epoch, epoch, time.Date(2300, 6, 1, 0, 0, 0, 0, time.UTC), time.Date(1, 1, 1, 0, 0, 0, 0, time.UTC))
		clock := &now
		if g.flaw() {
			clock = nil
		}
		return naive.Decay{
			Now:                clock,
			Curve:              g.curve(),
			NullTimestampScore: g.weight(0.5, 0, 1, 0.2),
		}
	case 10:
		var parts []naive.Weighted
		if g.flaw() {
			part := naive.Weighted{Scorer: g.scorer(depth - 1), Weight: 1e308}
			return pick(g.source, naive.Composite{}, naive.Composite{Parts: []naive.Weighted{part, part}})
		}
		for range 1 + g.below(3) {
			parts = append(parts, naive.Weighted{Scorer: g.scorer(depth - 1), Weight: g.weight(1, 2, 0.5, 0.3, 0.6, 0.1, 1e-300, 1e307)})
		}
		return naive.Composite{Parts: parts}
	default:
		return naive.Scaled{Inner: g.scorer(depth - 1)}
	}
}

// weight returns one of the valid values, or a flaw.
func (g *generator) weight(valid ...float64) float64 {
	if g.flaw() {
		return pick(g.source, 0, -1, math.NaN(), math.Inf(1), math.Inf(-1), 2, 1e308)
	}
	return pick(g.source, valid...)
}

// duration returns one of the valid values, or a flaw.
func (g *generator) duration(valid ...time.Duration) time.Duration {
	if g.flaw() {
		return pick(g.source, 0, -time.Hour, time.Minute)
	}
	return pick(g.source, valid...)
}

// rawHint passes hints on as they are: it is how NaN, infinities and -0.0 get
// into scores.
var rawHint = naive.Custom{Score: func(item *cupel.ContextItem) float64 {
	hint, _ := item.FutureRelevanceHint()
	return hint
}}

func (g *generator) tagScorer() naive.Scorer {
	s := naive.Tag{FoldCase: g.rarely(3)}
	if g.flaw() {
		return naive.Tag{Weights: []naive.TagWeight{{Tag: "a", Weight: 1e308}, {Tag: "b", Weight: 1e308}}}
	}
	for range g.below(5) {
		tag := tagNames[g.below(len(tagNames))]
		if slices.ContainsFunc(s.Weights, func(w naive.TagWeight) bool {
			return cupel.ContextKind(w.Tag).Equal(cupel.ContextKind(tag)) && (s.FoldCase || w.Tag == tag)
		}) && !g.flaw() {
			continue
		}
		weight := g.weight(1, 0, 0.5, 2, 0.25)
		if !s.FoldCase && g.rarely(3) {
			weight = pick(g.source, 0.1, 0.3, 0.7) // whose sum depends on the order, which R13 fixes for exact tags
		}
		s.Weights = append(s.Weights, naive.TagWeight{Tag: tag, Weight: weight})
	}
	return s
}

func (g *generator) curve() naive.Curve {
	switch g.below(3) {
	case 0:
		return naive.Exponential{HalfLife: g.duration(time.Hour, 24*time.Hour, time.Nanosecond, time.Duration(math.MaxInt64))}
	case 1:
		return naive.Window{MaxAge: g.duration(2*time.Hour, time.Hour, 1, 2, time.Duration(math.MaxInt64))}
	}
	var windows []naive.StepWindow
	var maxAge time.Duration
	if g.flaw() {
		return naive.Step{}
	}
	for range 1 + g.below(3) {
		maxAge += g.duration(time.Hour, 3*time.Hour, 1, math.MaxInt64/4)
		windows = append(windows, naive.StepWindow{MaxAge: maxAge, Score: g.weight(0.9, 0.5, 0.1, 0, 1)})
	}
	if g.flaw() {
		slices.Reverse(windows)
	}
	return naive.Step{Windows: windows}
}

func (g *generator) slicer(depth int, insideCountQuota bool) naive.Slicer {
	if depth > 0 {
		switch g.below(6) {
		case 4:
			entries := make([]naive.QuotaEntry, 0, 3)
			left := 100.0
			for _, kind := range g.kinds(3) {
				e := naive.QuotaEntry{Kind: kind, Require: g.weight(0, 20, 33, 50, 33.3, 100), Cap: g.weight(100)}
				if e.Require > left && !g.flaw() {
					e.Require = 0
				}
				left -= e.Require
				if g.flaw() {
					e.Cap = pick(g.source, 0.0, 10, 101, -1)
				} else if g.rarely(2) {
					e.Cap = max(e.Require, pick(g.source, 60, 0, 33, 10, 99.9))
				}
				entries = append(entries, e)
			}
			return naive.Quota{Entries: entries, Inner: g.slicer(depth-1, insideCountQuota)}
		case 5:
			return naive.CountQuota{Entries: g.countEntries(), Throw: g.rarely(6), Inner: g.slicer(depth-1, true)}
		}
	}
	if insideCountQuota && !g.flaw() {
		return naive.Greedy{} // KnapsackSlice is refused there (R21)
	}
	if g.units {
		switch g.below(8) {
		case 0, 1:
			return naive.MultipleChoice{}
		case 2:
			return halves(true)
		case 3:
			return halves(false)
		case 4:
			return g.diverse()
		}
	}
	switch g.below(8) {
	case 0, 1:
		return naive.Greedy{}
	case 2:
		return naive.ScoreGreedy{}
	case 3, 4:
		return g.knapsack()
	case 5:
		return everything
	}
	return naive.CountConstrainedKnapsack{Entries: g.countEntries(), Throw: g.rarely(6), Knapsack: g.knapsack()}
}

// everything is a slicer that looks at no budget: the overflow strategies have
// to deal with what it leaves them.
var everything = naive.CustomSlicer{Choose: func(items []cupel.ScoredItem, _ []int) strategy.Selection {
	indices := make([]int, 0, len(items))
	for i := range items {
		indices = append(indices, len(items)-1-i)
	}
	return strategy.Selection{Indices: indices}
}}

func (g *generator) knapsack() naive.Knapsack {
	switch size := pick(g.source, 0, 1, 10, 7, 100, 3); {
	case g.flaw():
		size = pick(g.source, 0, -1, math.MinInt)
		return naive.Knapsack{BucketSize: &size}
	case g.huge && g.rarely(2):
		size = pick(g.source, math.MaxInt/256+1, math.MaxInt/8+1, math.MaxInt)
		return naive.Knapsack{BucketSize: &size}
	case size > 0:
		return naive.Knapsack{BucketSize: &size}
	}
	return naive.Knapsack{}
}

func (g *generator) countEntries() []naive.CountEntry {
	var entries []naive.CountEntry
	for _, kind := range g.kinds(3) {
		require := g.below(4)
		e := naive.CountEntry{Kind: kind, RequireCount: require, CapCount: require + g.below(3)}
		if g.flaw() {
			e.CapCount = pick(g.source, 0, 1, -1)
			e.RequireCount = pick(g.source, 0, 1, 2, -1)
		}
		entries = append(entries, e)
	}
	return entries
}

func (g *generator) budget() cupel.ContextBudget {
	maxTokens := pick(g.source, 1000, 500, 300, 120, 0, 2000)
	if g.large {
		maxTokens = pick(g.source, 5000, 2000, 20_000, 500)
	}
	if g.huge {
		maxTokens = pick(g.source, math.MaxInt, math.MaxInt/2+1, math.MaxInt/2+math.MaxInt/4+2, math.MaxInt>>10+4, 1000)
	}
	target := maxTokens
	switch g.below(8) {
	case 0:
	case 1:
		target = 0
	case 2:
		target /= 2
	default:
		target = min(target, pick(g.source, 200, 100, 300, 400, 150, 50, 99, 700))
		if g.large {
			target = maxTokens / (1 + g.below(5))
		}
		if g.huge {
			target = maxTokens - min(maxTokens, pick(g.source, 1, 1<<30, math.MaxInt/4+1))
		}
	}
	var opts []cupel.BudgetOption
	if g.rarely(3) {
		opts = append(opts, cupel.WithOutputReserve(min(maxTokens, pick(g.source, 100, 1, 300, 1000, math.MaxInt))))
	}
	if g.rarely(4) {
		slots := map[cupel.ContextKind]int{}
		flawed := g.flawed
		g.flawed = false // budgets are the engine's own, and always valid
		for _, kind := range g.kinds(3) {
			slots[kind] = pick(g.source, 10, 50, 0, 100)
			if g.huge && g.rarely(4) {
				slots[kind] = pick(g.source, math.MaxInt/2+1, math.MaxInt)
			}
		}
		g.flawed = flawed
		opts = append(opts, cupel.WithReservedSlots(slots))
	}
	if g.rarely(4) {
		opts = append(opts, cupel.WithEstimationSafetyMargin(pick(g.source, 10, 50, 33.3, 0.1, 100, 5e-324)))
	}
	return must(cupel.NewContextBudget(maxTokens, target, opts...))
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}
