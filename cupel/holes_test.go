package cupel_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/wollax/cupel-go/cupel"
)

// TestKeysOfKinds: well-known kinds have theirs without folding.
func TestKeysOfKinds(t *testing.T) {
	for kind, want := range map[cupel.ContextKind]string{
		cupel.KindMessage: "message", cupel.KindDocument: "document", cupel.KindToolOutput: "tooloutput",
		cupel.KindMemory: "memory", cupel.KindSystemPrompt: "systemprompt", "SYSTEMPROMPT": "systemprompt", "Own Kind": "own kind",
	} {
		equal(t, "key of "+string(kind), kind.Key(), want)
	}
}

func TestTextsOfEnumsAndErrors(t *testing.T) {
	own := errors.New("own cause")
	for _, tt := range []struct{ got, want, why string }{
		{cupel.TraceDetailStage.String(), "Stage", "the specification's name"},
		{cupel.TraceDetailItem.String(), "Item", "the specification's name"},
		{cupel.TraceDetailLevel(7).String(), "TraceDetailLevel(7)", "no level"},
		{(&cupel.AbandonedError{}).Error(), "cupel: the run was abandoned", "between two stages"},
		{(&cupel.AbandonedError{Stage: cupel.StageSlice}).Error(), "cupel: the run was abandoned in stage Slice", "within one"},
		{(&cupel.CanceledError{Stage: cupel.StageScore, Err: context.Canceled}).Error(), "cupel: stopped in stage Score: context canceled", "no cause"},
		{(&cupel.CanceledError{Stage: cupel.StageScore, Err: context.Canceled, Cause: context.Canceled}).Error(), "cupel: stopped in stage Score: context canceled", "the cause says no more"},
		{(&cupel.CanceledError{Stage: cupel.StageScore, Err: context.Canceled, Cause: own}).Error(), "cupel: stopped in stage Score: context canceled: own cause", "the cause says more"},
	} {
		equal(t, tt.why, tt.got, tt.want)
	}
}

// TestSentinelsOfErrors holds which sentinels each error matches, and that it
// matches no other.
func TestSentinelsOfErrors(t *testing.T) {
	sentinels := map[string]error{
		"scarcity": cupel.ErrScarcity, "strategy": cupel.ErrStrategy, "contract": cupel.ErrContract, "source": cupel.ErrSource, "config": cupel.ErrInvalidConfig,
	}
	for _, tt := range []struct {
		err  error
		want string
	}{
		{&cupel.ScarcityError{}, "scarcity"},
		{&cupel.StrategyError{}, "strategy"},
		{&cupel.ContractError{}, "contract strategy"},
		{&cupel.SourceError{}, "source"},
		{&cupel.InvalidConfigError{}, "config"},
		{&cupel.PanicError{Value: "text"}, ""},
	} {
		for name, sentinel := range sentinels {
			want := slices.Contains(strings.Fields(tt.want), name)
			if got := errors.Is(tt.err, sentinel); got != want {
				t.Errorf("%T matches the sentinel of %s: %t, want %t", tt.err, name, got, want)
			}
		}
	}
	if contract := error(&cupel.ContractError{}); contract.(interface{ Is(error) bool }).Is(cupel.ErrStrategy) == false {
		t.Error("a ContractError is a failure of a strategy by itself")
	}
}

// TestNothingOfNoItem: a nil item and absent fields have zero values.
func TestNothingOfNoItem(t *testing.T) {
	for _, it := range []*cupel.ContextItem{nil, item(t, "a", 1)} {
		priority, hasPriority := it.Priority()
		original, hasOriginal := it.OriginalTokens()
		hint, hasHint := it.FutureRelevanceHint()
		number, isNumber := it.MetadataInt("absent")
		if priority != 0 || hasPriority || original != 0 || hasOriginal || hint != 0 || hasHint || number != 0 || isNumber {
			t.Errorf("%v has priority %d, original tokens %d, hint %v, number %d", it, priority, original, hint, number)
		}
	}
}

func TestSingleFormOfABatchScorer(t *testing.T) {
	first, second := item(t, "a", 1), item(t, "b", 1)
	byPlace := cupel.BatchScorerFunc(func(_ context.Context, all []*cupel.ContextItem, scores []float64) error {
		for i := range all {
			scores[i] = float64(i) + 0.5
		}
		return nil
	})
	equal(t, "the first item", byPlace.Score(first, []*cupel.ContextItem{first, second}), 0.5)
	equal(t, "the second item", byPlace.Score(second, []*cupel.ContextItem{first, second}), 1.5)
	equal(t, "an item that is not in the list", byPlace.Score(item(t, "c", 1), []*cupel.ContextItem{first, second}), 0)
	equal(t, "an empty list", byPlace.Score(first, nil), 0)
}

func TestExplainSliceOutsideTheList(t *testing.T) {
	items := []cupel.ScoredItem{{Item: item(t, "a", 1), Score: 1}}
	for at, bad := range map[int]bool{-1: true, 0: false, 1: true} {
		_, err := cupel.ExplainSlice(t.Context(), inOrder, items, cupel.SliceBudget{MaxTokens: 9, TargetTokens: 9}, at)
		if errors.Is(err, cupel.ErrInvalidConfig) != bad {
			t.Errorf("position %d of 1: %v", at, err)
		}
	}
}

// TestEveryFieldCountsInEqual changes one field at a time.
func TestEveryFieldCountsInEqual(t *testing.T) {
	a, b := item(t, "a", 1), item(t, "b", 1)
	reading := func(text string) cupel.SelectionReport {
		var r cupel.SelectionReport
		if err := r.UnmarshalJSON([]byte(text)); err != nil {
			t.Fatal(err)
		}
		return r
	}
	const empty = `{"events":[],"included":[],"excluded":[],"total_candidates":0,"total_tokens_considered":0`
	for why, pair := range map[string][2]cupel.SelectionReport{
		"events":         {{}, {Events: []cupel.TraceEvent{{Stage: cupel.StageScore}}}},
		"included":       {{Included: []cupel.IncludedItem{{Item: a}}}, {Included: []cupel.IncludedItem{{Item: b}}}},
		"excluded":       {{Excluded: []cupel.ExcludedItem{{Item: a}}}, {Excluded: []cupel.ExcludedItem{{Item: b}}}},
		"candidates":     {{TotalCandidates: 1}, {TotalCandidates: 2}},
		"tokens":         {{TotalTokensConsidered: 1}, {TotalTokensConsidered: 2}},
		"shortfalls":     {{}, {CountRequirementShortfalls: []cupel.CountRequirementShortfall{{Kind: "a"}}}},
		"an overflow":    {{}, {Overflow: &cupel.OverflowEvent{}}},
		"unknown names":  {reading(empty + `,"x":1}`), reading(empty + `,"y":1}`)},
		"unknown fields": {reading(empty + `,"x":1}`), reading(empty + `,"x":2}`)},
	} {
		if pair[0].Equal(pair[1]) || pair[1].Equal(pair[0]) {
			t.Errorf("reports with different %s are equal", why)
		}
		if !pair[0].Equal(pair[0]) || !pair[1].Equal(pair[1]) {
			t.Errorf("a report with %s does not equal itself", why)
		}
	}
	overflows := []cupel.OverflowEvent{
		{}, {TokensOverBudget: 1}, {OverflowingItems: []*cupel.ContextItem{a}}, {OverflowingItems: []*cupel.ContextItem{b}}, {Budget: budgetOf(t, 9, 9)},
	}
	for i := range overflows {
		for j := range overflows {
			if got := overflows[i].Equal(overflows[j]); got != (i == j) {
				t.Errorf("overflow %d equals overflow %d: %t", i, j, got)
			}
		}
	}
	unit := func(opts ...cupel.ItemOption) *cupel.ContextItem { return item(t, "a", 9, opts...) }
	forms := []cupel.Variant{{Content: "v", Tokens: 5, Worth: 0.5}}
	items := []*cupel.ContextItem{
		unit(), unit(cupel.WithPinned()), unit(cupel.WithGroup("g")), unit(cupel.WithGroup("h")), unit(cupel.WithVersionOf("k")),
		unit(cupel.WithVariants(forms...)), unit(cupel.WithGroup("g"), cupel.WithGroupVariants(forms...)), unit(cupel.WithTags("a")),
		unit(cupel.WithMetadata(map[string]any{"a": 1})), unit(cupel.WithMetadata(map[string]any{"a": 2})), unit(cupel.WithMetadata(map[string]any{"b": 1})),
		unit(cupel.WithMetadata(map[string]any{"a": math.NaN()})), unit(cupel.WithMetadata(map[string]any{"a": func() {}})),
	}
	for i := range items {
		for j := range items {
			if got := items[i].Equal(items[j]); got != (i == j) {
				t.Errorf("item %d equals item %d: %t", i, j, got)
			}
		}
	}
	if !items[8].Equal(unit(cupel.WithMetadata(map[string]any{"a": 1.0}))) {
		t.Error("JSON has one spelling of 1")
	}
}

// TestLogsOfSingleValues: what is not finite is a word, and pinned items say so.
func TestLogsOfSingleValues(t *testing.T) {
	log := func(v any) string {
		var b strings.Builder
		logger := slog.New(slog.NewTextHandler(&b, &slog.HandlerOptions{ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {
			if a.Key == slog.TimeKey || a.Key == slog.LevelKey || a.Key == slog.MessageKey {
				return slog.Attr{}
			}
			return a
		}}))
		logger.Info("", "v", v)
		return strings.TrimSpace(b.String())
	}
	plain := *item(t, "secret", 3, cupel.WithSource("Rag"))
	pinned := *item(t, "secret", 3, cupel.WithPinned())
	for _, tt := range []struct {
		value any
		want  string
		why   string
	}{
		{plain, "v.kind=Message v.source=Rag v.tokens=3", "an item that is not pinned does not say so"},
		{pinned, "v.kind=Message v.source=Chat v.tokens=3 v.pinned=true", "a pinned one does"},
		{cupel.ScoredItem{Score: math.Inf(1)}, "v.score=+Inf", "infinity is a word"},
		{cupel.ScoredItem{Score: 0.5}, "v.score=0.5", "a number is a number"},
		{cupel.ExcludedItem{Item: &plain, Score: math.NaN(), Reason: cupel.NewExclusionReason("Own", cupel.ReasonData{Tokens: 3})},
			"v.item.kind=Message v.item.source=Rag v.item.tokens=3 v.score=NaN v.reason.reason=Own v.reason.tokens=3", "an item in an entry is its group"},
		{cupel.ReasonData{ItemTokens: 3, AvailableTokens: 2}, "v.item_tokens=3 v.available_tokens=2", "the data alone, without a code"},
	} {
		equal(t, tt.why, log(tt.value), tt.want)
	}
	equal(t, "a score beyond decimal digits", cupel.IncludedItem{Item: &plain, Score: 1e21, Reason: cupel.IncludeScored}.String(), "Scored: score 1e+21, 3 tokens")
}

// TestFailuresWithUnits: any failure in a run of units fails the run, in the
// same way as without units.
func TestFailuresWithUnits(t *testing.T) {
	failure := errors.New("no answer")
	failingPlacer := placeFunc(func(context.Context, []cupel.ScoredItem) ([]int, error) { return nil, failure })
	failingSlicer := sliceFunc(func(context.Context, []cupel.ScoredItem, cupel.SliceBudget) (cupel.Selection, error) {
		return cupel.Selection{}, failure
	})
	beyond := sliceFunc(func(_ context.Context, items []cupel.ScoredItem, _ cupel.SliceBudget) (cupel.Selection, error) {
		return cupel.Selection{Indices: []int{len(items)}}, nil
	})
	const grouped = "a 10 .9 g=g; b 10 .8 g=g; c 10 .7"
	for _, tt := range []struct {
		why    string
		change func(*cupel.Config)
		want   error
		stream bool // which does not ask the slicer
	}{
		{"the slicer fails", func(c *cupel.Config) { c.Slicer = failingSlicer }, failure, false},
		{"the slicer chooses what is not there", func(c *cupel.Config) { c.Slicer = beyond }, cupel.ErrContract, false},
		{"the placer fails", func(c *cupel.Config) { c.Placer = failingPlacer }, failure, true},
		{"the scorer fails", func(c *cupel.Config) {
			c.Scorer = batchFunc(func(context.Context, []*cupel.ContextItem, []float64) error { return failure })
		}, failure, true},
	} {
		for _, text := range []string{grouped, "a 10 .9; b 10 .8; c 10 .7"} {
			p, items, budget := pipeline(t, tt.change), unitItems(t, text), budgetOf(t, 30, 30)
			if _, err := p.Run(t.Context(), items, budget); !errors.Is(err, tt.want) {
				t.Errorf("%s: %q: %v, want %v", tt.why, text, err, tt.want)
			}
			for _, size := range []int{1, 99} {
				if !tt.stream {
					continue
				}
				if _, err := p.RunStream(t.Context(), streamed(items), budget, cupel.WithBatchSize(size)); !errors.Is(err, tt.want) {
					t.Errorf("%s: %q in batches of %d: %v, want %v", tt.why, text, size, err, tt.want)
				}
			}
		}
	}
	for at := range 3 {
		items := unitItems(t, grouped)
		items[at] = nil
		var invalid *cupel.InvalidItemError
		if _, err := pipeline(t).Run(t.Context(), items, budgetOf(t, 30, 30)); !errors.As(err, &invalid) || invalid.Index != at {
			t.Errorf("item %d is nil: %v", at, err)
		}
		items[at] = new(cupel.ContextItem)
		if _, err := pipeline(t).Run(t.Context(), items, budgetOf(t, 30, 30)); !errors.As(err, &invalid) || invalid.Index != at {
			t.Errorf("item %d has no content: %v", at, err)
		}
	}
}

// TestOverflowObserverWithUnits: events list members in the forms of the window.
func TestOverflowObserverWithUnits(t *testing.T) {
	var events []cupel.OverflowEvent
	p := pipeline(t, withSlicer(everything), overflow(cupel.OverflowProceed), func(c *cupel.Config) {
		c.OnOverflow = func(e cupel.OverflowEvent) { events = append(events, e) }
	})
	items := unitItems(t, "a 60 .9 g=g; b 10 .8 g=g; c 40 .7; p 5 .5 pin")
	budget := budgetOf(t, 200, 100)
	report, err := p.DryRun(t.Context(), items, budget)
	if err != nil || len(events) != 0 || report.Overflow == nil {
		t.Fatalf("a dry run observed %d events and reports %v, %v", len(events), report, err)
	}
	equal(t, "tokens over budget in the report", report.Overflow.TokensOverBudget, 15)
	equal(t, "overflowing items in the report", contents(report.Overflow.OverflowingItems), "p a b c")
	for i, run := range []func() error{
		func() error { _, err := p.Run(t.Context(), items, budget); return err },
		func() error { _, _, err := p.RunReport(t.Context(), items, budget); return err },
	} {
		if err := run(); err != nil {
			t.Fatal(err)
		}
		equal(t, "events", len(events), i+1)
		equal(t, "tokens over budget", events[i].TokensOverBudget, 15)
		equal(t, "overflowing items", contents(events[i].OverflowingItems), "p a b c")
		equal(t, "budget", events[i].Budget.TargetTokens(), 100)
	}
	events = nil
	if _, err := p.Run(t.Context(), items, budgetOf(t, 200, 115)); err != nil || len(events) != 0 {
		t.Errorf("%d events, %v, where everything fits", len(events), err)
	}
}

// TestEveryPassOfAUsedPipelineIsNew runs long and short lists with groups in
// turn: nothing of one run may show in the next.
func TestEveryPassOfAUsedPipelineIsNew(t *testing.T) {
	p := pipelineOf(t, "greedy")
	var long strings.Builder
	for i := range 60 {
		fmt.Fprintf(&long, "i%d 3 .%d g=g%d;", i, 10+i, i/2)
	}
	texts := []string{long.String(), "a 10 .9 g=g; b 10 .8 g=g; c 30 .7", "x 10 .3 g=h v=5:.5; y 10 .8 g=h; z 10 .9 k=v; w 20 .8 k=v", "a 10 .5 pin g=g; b 10 .8 g=g; a 10 .9"}
	want := make([]string, len(texts))
	for round := range 4 {
		for i, text := range texts {
			window, report, err := p.RunReport(t.Context(), unitItems(t, text), budgetOf(t, 40, 40))
			if err != nil {
				t.Fatal(err)
			}
			got := contents(window) + " | " + included(report) + " | " + excluded(report)
			if round == 0 {
				want[i] = got
			}
			equal(t, fmt.Sprintf("round %d of list %d", round, i), got, want[i])
		}
	}
}

// observerName is the key of a context.
type observerName string

// passOn is an observer whose contexts carry its name.
type passOn struct {
	cupel.NoTrace
	name string
}

func (p passOn) IsEnabled() bool                   { return true }
func (p passOn) RecordStageEvent(cupel.TraceEvent) {}
func (p passOn) RecordItemEvent(cupel.TraceEvent)  {}

func (p passOn) StartRun(ctx context.Context, _ cupel.RunInfo) (context.Context, cupel.RunTrace) {
	return ctx, p
}

func (p passOn) StartStage(ctx context.Context, s cupel.StageStart) context.Context {
	return context.WithValue(ctx, observerName(p.name), s.Stage)
}

// TestStagesRunInTheContextsOfAllObservers: what one observer puts into the
// context reaches the next ones and the strategies.
func TestStagesRunInTheContextsOfAllObservers(t *testing.T) {
	seen := map[string]any{}
	p := pipeline(t, withScorer(batchFunc(func(ctx context.Context, _ []*cupel.ContextItem, _ []float64) error {
		seen["first"], seen["second"] = ctx.Value(observerName("first")), ctx.Value(observerName("second"))
		return nil
	})))
	both := cupel.MultiTraceCollector(passOn{name: "first"}, passOn{name: "second"})
	if _, err := p.Run(t.Context(), []*cupel.ContextItem{item(t, "a", 1)}, budgetOf(t, 9, 9), cupel.WithTrace(both)); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"first", "second"} {
		if seen[name] != cupel.StageScore {
			t.Errorf("the %s observer's context did not reach the scorer: %v", name, seen[name])
		}
	}
	if ctx := t.Context(); (cupel.NoTrace{}).StartStage(ctx, cupel.StageStart{}) != ctx {
		t.Error("NoTrace has a context of its own")
	}
	cupel.TraceFuncs{}.RecordItemEvent(cupel.TraceEvent{})
	cupel.TraceFuncs{}.RecordStageEvent(cupel.TraceEvent{})
}
