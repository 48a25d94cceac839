package cupelinspect_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupel/observe"
	"github.com/wollax/cupel-go/cupel/pipeline"
	"github.com/wollax/cupel-go/cupel/placer"
	"github.com/wollax/cupel-go/cupel/scorer"
	"github.com/wollax/cupel-go/cupel/slicer"
	"github.com/wollax/cupel-go/cupel/strategy"
	"github.com/wollax/cupel-go/cupelinspect"
)

// everyReason returns candidates that each get a different reason.
func everyReason(t testing.TB) []*cupel.ContextItem {
	t.Helper()
	return []*cupel.ContextItem{
		newItem(t, "Be brief.", 10, cupel.WithKind(cupel.KindSystemPrompt), cupel.WithPinned()),
		hinted(t, "alpha\nand more", 20, 0.9),
		hinted(t, "beta", 30, 0.5),
		hinted(t, "alpha\nand more", 20, 0.4),
		newItem(t, "broken", -1),
		hinted(t, "free", 0, 0.1),
		hinted(t, "huge", 400, 0.8),
	}
}

func TestInspect(t *testing.T) {
	items := everyReason(t)
	b := newBudget(t, 100, 80, cupel.WithOutputReserve(10))
	s := inspect(t, newPipeline(t, nil), items, b, cupelinspect.WithName("first"))
	require.NoError(t, s.Err())
	p, got := shown(t, s)

	// The slicer may spend 80 - 10 tokens. Greedy takes the free item, the alpha
	// that has the better score, and beta: 50 tokens.
	equal(t, "candidates", got.Candidates, []int{0, 1, 2, 3, 4, 5, 6})
	equal(t, "codes", got.codes(), []string{"Pinned", "Scored", "Scored", "Deduplicated", "NegativeTokens", "ZeroToken", "BudgetExceeded"})
	equal(t, "scores", values(got.Scores), []any{1, 0.9, 0.5, 0.4, nil, 0.1, 0.8})
	equal(t, "window", got.Window, []int{0, 1, 2, 5})
	equal(t, "survivor", got.Survivor, map[int]int{3: 1})
	equal(t, "why", got.Why, []string{
		"Pinned: score 1, 10 tokens",
		"Scored: score 0.9, 20 tokens",
		"Scored: score 0.5, 30 tokens",
		"Deduplicated: the same content is in as another item: “alpha…”",
		"NegativeTokens: -1 tokens",
		"ZeroToken: score 0.1, 0 tokens",
		"BudgetExceeded: 400 tokens requested, 20 available",
	})
	for candidate, code := range got.Code { // one that leaves an item out has plain words
		assert.Equal(t, !slices.Contains(got.Window, candidate), got.Meanings[code] != "", "candidate %d is %s", candidate, got.Codes[code])
	}
	equal(t, "budget", got.Budget, budget{Max: 100, Target: 80, OutputReserve: 10, Effective: 70})
	equal(t, "strategies", []string{got.Name, got.Scorer, got.Slicer, got.Placer, got.Overflow}, []string{"first", "Reflexive", "Greedy", "Chronological", "Throw"})
	equal(t, "deduplicate, error, shortfalls, overflow and parts", []any{got.Deduplicate, got.Error, got.Shortfalls, got.Overflowed, got.Parts}, []any{true, "", nil, "", []part{}})
	equal(t, "title", p.Title, "Context window")
	require.Len(t, p.Items, len(items))
	first, third := p.Items[0], p.Items[2]
	equal(t, "items", []any{p.Items[1].Content, first.Pinned, first.Kind, third.Hint, third.Source}, []any{"alpha\nand more", true, "SystemPrompt", 0.5, "Chat"})
}

// watcher is an observer of its own, to compare with.
type watcher struct {
	observe.NoTrace
	observe.NullTraceCollector
	start  time.Time
	stages []stage
	total  int64
}

func (*watcher) IsEnabled() bool { return true }

func (w *watcher) StartRun(ctx context.Context, info observe.RunInfo) (context.Context, observe.RunTrace) {
	w.start = info.Start
	return ctx, w
}

func (w *watcher) EndStage(_ context.Context, e observe.StageEnd) {
	w.stages = append(w.stages, stage{string(e.Stage), int64(e.Start.Sub(w.start)), int64(e.Duration), e.CountIn, e.CountOut})
}

func (w *watcher) EndRun(_ context.Context, e observe.RunEnd) { w.total = int64(e.End.Sub(e.Start)) }

func TestStages(t *testing.T) {
	items := everyReason(t)
	b := newBudget(t, 100, 80)
	clocked := func() *pipeline.Pipeline { return newPipeline(t, nil) } // each has a clock of its own
	_, got := shown(t, inspect(t, clocked(), items, b))

	w := &watcher{}
	_, err := clocked().DryRun(t.Context(), items, b, pipeline.WithTrace(w))
	require.NoError(t, err)
	equal(t, "stages", got.Stages, w.stages)
	assert.Equal(t, w.total, got.Total)
	assert.GreaterOrEqual(t, got.Total, int64(5*time.Second), "a second for each stage")
	var counts [][2]int
	for _, s := range got.Stages {
		counts = append(counts, [2]int{s.In, s.Out})
	}
	// Classify loses the negative one, pinned ones skip Score, and so on.
	equal(t, "counts", counts, [][2]int{{7, 6}, {5, 5}, {5, 4}, {4, 3}, {4, 4}})

	backwards := newPipeline(t, func(c *pipeline.Config) {
		now := time.Now()
		c.Clock = func() time.Time {
			now = now.Add(-time.Second)
			return now
		}
	})
	_, got = shown(t, inspect(t, backwards, items, b))
	for _, s := range got.Stages {
		assert.Zero(t, s.Start+s.Duration, "by a clock that goes back: %s", s.Name)
	}
}

// broken panics in every role.
type broken struct{}

func (broken) Score(context.Context, []*cupel.ContextItem, []float64) error { panic("no score") }

func (broken) Slice(context.Context, []cupel.ScoredItem, cupel.SliceBudget) (strategy.Selection, error) {
	panic("no slice")
}

func (broken) Place(context.Context, []cupel.ScoredItem, []int) error { panic("no place") }

// everythingSlicer selects everything and ignores the budget.
type everythingSlicer struct{}

func (everythingSlicer) Slice(_ context.Context, items []cupel.ScoredItem, _ cupel.SliceBudget) (strategy.Selection, error) {
	sel := strategy.Selection{}
	for i := range items {
		sel.Indices = append(sel.Indices, i)
	}
	return sel, nil
}

// TestFailedRun checks that a run that fails is shown.
func TestFailedRun(t *testing.T) {
	counts, err := slicer.NewCountQuota(slicer.Greedy{}, []slicer.CountQuotaEntry{{Kind: cupel.KindMemory, RequireCount: 1, CapCount: 1}}, slicer.WithScarcity(slicer.ScarcityThrow))
	require.NoError(t, err)
	tests := []struct {
		name   string
		change func(*pipeline.Config)
		max    int
		target error
		codes  []string
		stages int
		sweep  bool
		why    string
	}{
		{"pinned", nil, 5, pipeline.ErrPinnedExceedsBudget, []string{"Undecided", "Undecided", "NegativeTokens"}, 1, true, "the pinned item has 10 tokens; other budgets hold it"},
		{"overflow", func(c *pipeline.Config) { c.Slicer = everythingSlicer{} }, 20, pipeline.ErrOverflow, []string{"Undecided", "Undecided", "NegativeTokens"}, 5, true, "10 + 50 tokens do not fit 20"},
		{"scarcity", func(c *pipeline.Config) { c.Slicer = counts }, 100, cupel.ErrScarcity, []string{"Undecided", "Undecided", "NegativeTokens"}, 4, true, "there is no memory, at no budget"},
		{"scorer", func(c *pipeline.Config) { c.Scorer = broken{} }, 100, cupel.ErrStrategy, []string{"Undecided", "Undecided", "NegativeTokens"}, 2, false, "without scores there is nothing to try"},
		{"slicer", func(c *pipeline.Config) { c.Slicer = broken{} }, 100, cupel.ErrStrategy, []string{"Undecided", "Undecided", "NegativeTokens"}, 4, true, "each stop says so"},
		{"placer", func(c *pipeline.Config) { c.Placer = broken{} }, 100, cupel.ErrStrategy, []string{"Undecided", "Undecided", "NegativeTokens"}, 5, true, "what was sliced is not in a window yet"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			items := []*cupel.ContextItem{newItem(t, "pinned", 10, cupel.WithPinned()), hinted(t, "a", 50, 0.5), newItem(t, "negative", -3, cupel.WithPinned())}
			s := inspect(t, newPipeline(t, tt.change), items, newBudget(t, tt.max, tt.max))
			require.ErrorIs(t, s.Err(), tt.target, tt.why)
			_, got := shown(t, s)
			assert.Equal(t, s.Err().Error(), got.Error)
			equal(t, "codes", got.codes(), tt.codes)
			equal(t, "what they mean", got.Meanings[got.Code[0]], "the run failed before it decided")
			equal(t, "window", got.Window, []int{})
			equal(t, "what the pinned item leaves", got.Budget.Effective, max(0, tt.max-10))
			assert.Len(t, got.Stages, tt.stages, "the last one failed")
			assert.Positive(t, got.Total)
			assert.Equal(t, tt.sweep, got.Sweep != nil, tt.why)
		})
	}
}

func TestInspectErrors(t *testing.T) {
	canceled, cancel := context.WithCancel(t.Context())
	cancel()
	good := []*cupel.ContextItem{hinted(t, "a", 1, 1)}
	ok := newPipeline(t, nil)
	tests := []struct {
		name     string
		ctx      context.Context
		pipeline *pipeline.Pipeline
		items    []*cupel.ContextItem
		opts     []cupelinspect.Option
		want     string
		why      string
	}{
		{"no pipeline", t.Context(), nil, good, nil, "the pipeline is empty", "there is nothing to run"},
		{"zero pipeline", t.Context(), &pipeline.Pipeline{}, good, nil, "the pipeline is empty", "it was not built by New"},
		{"nil item", t.Context(), ok, []*cupel.ContextItem{nil}, []cupelinspect.Option{cupelinspect.WithSweep(0, 0, 0)}, "must come from NewContextItem", "a page cannot show it"},
		{"canceled", canceled, ok, good, nil, "canceled", "the caller has gone"},
		{"negative range", t.Context(), ok, good, []cupelinspect.Option{cupelinspect.WithSweep(-1, 5, 2)}, "sweep.from must be at least 0 tokens", "there is no such budget"},
		{"backward range", t.Context(), ok, good, []cupelinspect.Option{cupelinspect.WithSweep(6, 5, 2)}, "sweep.to must be at least the first budget, 6 tokens", "budgets rise"},
		{"too many stops", t.Context(), ok, good, []cupelinspect.Option{cupelinspect.WithSweep(1, 5, 1001)}, "sweep.stops must be from 0 to 1000", "a page has its limits"},
		{"negative stops", t.Context(), ok, good, []cupelinspect.Option{cupelinspect.WithSweep(1, 5, -1)}, "sweep.stops must be from 0 to 1000", "there is no such number"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s, err := cupelinspect.Inspect(tt.ctx, tt.pipeline, tt.items, newBudget(t, 10, 10), tt.opts...)
			assert.Nil(t, s, tt.why)
			assert.ErrorContains(t, err, tt.want, tt.why)
		})
	}
	require.NoError(t, (*cupelinspect.Selection)(nil).Err())
	var noContext context.Context
	s, err := cupelinspect.Inspect(noContext, ok, good, newBudget(t, 10, 10), nil)
	require.NoError(t, err, "a missing context and a nil option are left out")
	require.NotNil(t, s)
}

// half is a wrapper of one's own, with one scorer inside.
type half struct{ inner strategy.Scorer }

func (h half) Score(ctx context.Context, items []*cupel.ContextItem, scores []float64) error {
	err := strategy.CallScorer(ctx, h.inner, items, scores)
	for i := range scores {
		scores[i] /= 2
	}
	return err
}

func (h half) Facts() strategy.Facts {
	return strategy.Facts{Of: h, Scorers: []strategy.Scorer{h.inner}}
}

// first is a wrapper that asks the first of its scorers alone.
type first []strategy.Scorer

func (f first) Score(ctx context.Context, items []*cupel.ContextItem, scores []float64) error {
	return strategy.CallScorer(ctx, f[0], items, scores)
}

func (f first) Facts() strategy.Facts { return strategy.Facts{Of: f, Scorers: f} }

// explained is a scorer with the given parts.
type explained struct {
	half
	parts func(n int) ([]scorer.Part, error)
}

func (e explained) ScoreParts(_ context.Context, all []*cupel.ContextItem) ([]scorer.Part, error) {
	return e.parts(len(all))
}

// generic has type arguments.
type generic[T any] struct{ scorer.Reflexive }

func TestParts(t *testing.T) {
	items := []*cupel.ContextItem{
		newItem(t, "pinned", 1, cupel.WithPinned()),
		newItem(t, "a", 0, cupel.WithFutureRelevanceHint(0.8), cupel.WithGroup("free")),
		newItem(t, "negative", -1, cupel.WithGroup("apart")),
		newItem(t, "b", 1, cupel.WithKind(cupel.KindSystemPrompt)),
		newItem(t, "with it", 1, cupel.WithGroup("apart")),
	}
	composite := scorer.Must(scorer.NewComposite(
		scorer.Weighted{Scorer: scorer.Reflexive{}, Weight: 3},
		scorer.Weighted{Scorer: scorer.Must(scorer.NewKind(map[cupel.ContextKind]float64{cupel.KindSystemPrompt: 0.5})), Weight: 1},
	))
	scaled := scorer.Must(scorer.NewScaled(half{composite}))
	deep := strategy.Scorer(scorer.Reflexive{})
	for range 150 {
		deep = half{deep}
	}
	explain := func(parts func(n int) ([]scorer.Part, error)) strategy.Scorer {
		return explained{half{scorer.Reflexive{}}, parts}
	}
	part := func(weight float64, scores ...float64) []scorer.Part {
		return []scorer.Part{{Scorer: scorer.Reflexive{}, Weight: weight, Scores: scores}}
	}
	reflexive := []any{nil, 0.8, nil, 0, nil, 0.75} // and the weight
	kind := []any{nil, 0, nil, 0.5, nil, 0.25}
	tests := []struct {
		name        string
		scorer      strategy.Scorer
		description string
		parts       map[string][]any
		why         string
	}{
		{"plain", scorer.Reflexive{}, "Reflexive", nil, "it has no parts"},
		{"composite", composite, "Composite(Reflexive 0.75, Kind 0.25)", map[string][]any{"Reflexive": reflexive, "Kind": kind}, "pinned and negative items have no scores"},
		{"wrapped", scaled, "Scaled(half(Composite(Reflexive 0.75, Kind 0.25)))", map[string][]any{"Reflexive": reflexive, "Kind": kind}, "wrappers around one scorer are seen through"},
		{"nested", scorer.Must(scorer.NewComposite(scorer.Weighted{Scorer: composite, Weight: 1})), "Composite(Composite(Reflexive 0.75, Kind 0.25) 1)",
			map[string][]any{"Composite(Reflexive 0.75, Kind 0.25)": {nil, 0.6000000000000001, nil, 0.125, nil, 1}}, "the outer one is what the scores are made of; 0.75 * 0.8 rounds so"},
		{"wrapper", half{scorer.Reflexive{}}, "half(Reflexive)", nil, "a wrapper around a scorer without parts"},
		{"two inside", first{composite, scorer.Reflexive{}}, "first(Composite(Reflexive 0.75, Kind 0.25), Reflexive)", nil, "the page cannot know how it combines them"},
		{"deep", deep, strings.Repeat("half(", 150) + "Reflexive" + strings.Repeat(")", 150), nil, "the search ends"},
		{"pointer", &scorer.Kind{}, "Kind", nil, "the type that it points to"},
		{"generic", generic[map[string]half]{}, "generic", nil, "type arguments would have whole paths"},
		{"unnamed", struct{ scorer.Reflexive }{}, "struct { scorer.Reflexive }", nil, "there is no shorter name"},
		{"fails", explain(func(n int) ([]scorer.Part, error) { return part(1, make([]float64, n)...), errors.New("no") }), "explained(half(Reflexive))", nil, "what cannot be explained is not"},
		{"panics", explain(func(int) ([]scorer.Part, error) { panic("no") }), "explained(half(Reflexive))", nil, "the run itself was fine"},
		{"too few", explain(func(int) ([]scorer.Part, error) { return part(1, 0.5), nil }), "explained(half(Reflexive))", nil, "the scores cannot be assigned to items"},
		{"strange", explain(func(n int) ([]scorer.Part, error) {
			return part(math.NaN(), slices.Repeat([]float64{math.Inf(1)}, n)...), nil
		}), "explained(Reflexive NaN)", map[string][]any{"Reflexive": {nil, nil, nil, nil, nil, 0}}, "JSON has no infinite numbers"},
		{"infinite", explain(func(n int) ([]scorer.Part, error) {
			return part(math.Inf(-1), slices.Repeat([]float64{0.5}, n)...), nil
		}), "explained(Reflexive -Inf)", map[string][]any{"Reflexive": {nil, 0.5, nil, 0.5, nil, 0}}, "nor infinite weights"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			p := newPipeline(t, func(c *pipeline.Config) { c.Scorer = tt.scorer })
			_, got := shown(t, inspect(t, p, items, newBudget(t, 10, 10)))
			equal(t, "description", got.Scorer, tt.description)
			assert.Len(t, got.Parts, len(tt.parts), tt.why)
			for _, part := range got.Parts {
				equal(t, part.Name, append(values(part.Scores), part.Weight), tt.parts[part.Name])
			}
		})
	}
}

func TestStrategies(t *testing.T) {
	quota, err := slicer.NewQuota(slicer.Greedy{}, slicer.Cap(cupel.KindMemory, 50))
	require.NoError(t, err)
	counts, err := slicer.NewCountQuota(quota, []slicer.CountQuotaEntry{{Kind: cupel.KindMemory, RequireCount: 2, CapCount: 2}})
	require.NoError(t, err)
	many := make([]scorer.Weighted, 500)
	for i := range many {
		many[i] = scorer.Weighted{Scorer: scorer.Reflexive{}, Weight: 1}
	}
	p := newPipeline(t, func(c *pipeline.Config) {
		c.Slicer, c.Placer, c.KeepDuplicates, c.Overflow = counts, placer.UShaped{}, true, pipeline.OverflowProceed
		c.Scorer = scorer.Must(scorer.NewComposite(many...))
	})
	items := []*cupel.ContextItem{
		newItem(t, "pinned", 60, cupel.WithPinned()),
		newItem(t, "memory", 60, cupel.WithKind(cupel.KindMemory)),
	}
	slots := map[cupel.ContextKind]int{"Wiki": 3, cupel.ContextKind("long" + strings.Repeat("!", 300)): 2, cupel.ContextKind("long" + strings.Repeat("!", 301)): 1}
	b := newBudget(t, 110, 100, cupel.WithReservedSlots(slots), cupel.WithEstimationSafetyMargin(50))
	_, got := shown(t, inspect(t, p, items, b))
	equal(t, "strategies", []string{got.Slicer, got.Placer, got.Overflow}, []string{"CountQuota(Quota(Greedy))", "UShaped", "Proceed"})
	assert.False(t, got.Deduplicate)
	assert.Less(t, len(got.Scorer), 3000)
	assert.Regexp(t, `^Composite\(Reflexive 0\.002, Reflexive 0\.002, .*…$`, got.Scorer)
	// Half of 100 - 60 - 6 tokens.
	cut := "long" + strings.Repeat("!", 196) + "…"
	equal(t, "budget", got.Budget, budget{Max: 110, Target: 100, ReservedSlots: map[string]int{"Wiki": 3, cut: 3}, Margin: 50, Effective: 17})
	// The count slicer commits the only memory without looking at the budget.
	equal(t, "shortfalls", got.Shortfalls, []string{"CountRequirementShortfall: Memory has 1 of 2 required items"})
	equal(t, "overflow", got.Overflowed, "20 tokens above the target of 100 were kept")
}

// TestSurvivor checks that what stays of equal items is one that competed.
func TestSurvivor(t *testing.T) {
	items := []*cupel.ContextItem{
		newItem(t, "same", 10, cupel.WithPinned()),
		newItem(t, "same", -5, cupel.WithPinned()),
		newItem(t, "same", -5),
		hinted(t, "same", 10, 0.1),
		hinted(t, "same", 10, 0.9),
		hinted(t, "same", 10, 0.5),
	}
	_, got := shown(t, inspect(t, newPipeline(t, nil), items, newBudget(t, 40, 40)))
	equal(t, "codes", got.codes(), []string{"Pinned", "NegativeTokens", "NegativeTokens", "Deduplicated", "Scored", "Deduplicated"})
	equal(t, "survivors", got.Survivor, map[int]int{3: 4, 5: 4})
	equal(t, "why", got.Why[3], "Deduplicated: the same content is in as another item: “same”")
	equal(t, "what the slicer may spend: the pinned item of -5 tokens is out", got.Budget.Effective, 30)
}

// TestDeterministic checks that equal runs give equal pages.
func TestDeterministic(t *testing.T) {
	var pages [3][]byte
	items := everyReason(t)
	items = append(items, newItem(t, "much", 5, cupel.WithMetadata(map[string]any{"a": 1, "b": map[string]any{"x": 1, "y": 2, "z": 3}, "c": "3", "d": nil})), items[1], items[2])
	b := newBudget(t, 120, 100, cupel.WithReservedSlots(map[cupel.ContextKind]int{"a": 1, "b": 2, "c": 3}))
	for i := range pages {
		p := newPipeline(t, func(c *pipeline.Config) { c.KeepDuplicates = true })
		s := inspect(t, p, items, b)
		var html bytes.Buffer
		require.NoError(t, cupelinspect.WriteHTML(&html, "same", s, inspect(t, p, items[2:], b)))
		pages[i] = html.Bytes()
	}
	assert.True(t, bytes.Equal(pages[0], pages[1]) && bytes.Equal(pages[0], pages[2]))
}

// TestListsAreLists checks that the script never finds null for a list.
func TestListsAreLists(t *testing.T) {
	b := newBudget(t, 10, 10)
	for name, s := range map[string]*cupelinspect.Selection{
		"no candidates": inspect(t, newPipeline(t, nil), nil, b),
		"empty report":  fromReport(t, &cupel.SelectionReport{}, b),
	} {
		_, data, _ := strings.Cut(write(t, "", s), dataStart)
		data, _, _ = strings.Cut(data, "</script>")
		data = unpack(t, data)
		assert.Equal(t, 1, strings.Count(data, "null"), name)
		assert.Contains(t, data, `"sweep":null`, name)
	}
}

// The page has the body that was sent, also where it is not UTF-8; the report stays the caller's.
func TestRequest(t *testing.T) {
	items := []*cupel.ContextItem{hinted(t, "a", 1, 0.8), newItem(t, "b", 20)}
	p, budget := newPipeline(t, nil), newBudget(t, 10, 10)
	report, err := p.DryRun(t.Context(), items, budget)
	require.NoError(t, err)
	before := fmt.Sprintf("%+v", report)
	s, err := cupelinspect.FromReport(report, budget, cupelinspect.WithCandidates(items, nil), cupelinspect.WithRequest([]byte("{\"a\": \"\xff\"}")))
	require.NoError(t, err)
	_, got := shown(t, s)
	equal(t, "request", got.Request, "{\"a\": \"\uFFFD\"}")
	equal(t, "report", fmt.Sprintf("%+v", report), before)
	equal(t, "places of given candidates", len(got.Origin), 0)
	_, got = shown(t, fromReport(t, report, budget))
	equal(t, "places among candidates that only the report has", got.Origin, []int{0, 1})
}
