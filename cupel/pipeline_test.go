package cupel_test

import (
	"errors"
	"math"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupel/strategy"
)

func keepDuplicates(c *cupel.Config) { c.KeepDuplicates = true }

func overflow(s cupel.OverflowStrategy) func(*cupel.Config) {
	return func(c *cupel.Config) { c.Overflow = s }
}

func withSlicer(s cupel.Slicer) func(*cupel.Config) { return func(c *cupel.Config) { c.Slicer = s } }
func withPlacer(p cupel.Placer) func(*cupel.Config) { return func(c *cupel.Config) { c.Placer = p } }
func withScorer(s cupel.Scorer) func(*cupel.Config) { return func(c *cupel.Config) { c.Scorer = s } }

const big62 = math.MaxInt/2 + 1 // 2^62 where int has 64 bits: four of them are one more than it can count

func TestRun(t *testing.T) {
	pin := cupel.WithPinned()
	truncate, proceed := overflow(cupel.OverflowTruncate), overflow(cupel.OverflowProceed)
	twice := item(t, "same", 10, hint(0.5))
	tests := []struct {
		name     string
		config   []func(*cupel.Config)
		items    []*cupel.ContextItem
		budget   cupel.ContextBudget
		want     string // the window
		excluded string // the report's excluded list
		err      error
		why      string
	}{
		{
			name: "no candidates", budget: budgetOf(t, 100, 100),
			why: "empty in, empty out: no stage may stumble over nothing",
		},
		{
			name:   "by score",
			items:  []*cupel.ContextItem{item(t, "low", 60, hint(0.1)), item(t, "high", 60, hint(0.9))},
			budget: budgetOf(t, 100, 100), want: "high", excluded: "low: BudgetExceeded: 60 tokens requested, 40 available",
			why: "the slicer sees the higher score first",
		},
		{
			name:   "ties by index",
			items:  []*cupel.ContextItem{item(t, "a", 1, hint(0.5)), item(t, "b", 1, hint(0.5)), item(t, "c", 1, hint(0.5))},
			budget: budgetOf(t, 9, 2), want: "a b", excluded: "c: BudgetExceeded: 1 tokens requested, 0 available",
			why: "the sort is stable (P1)",
		},
		{
			name:   "NaN last, infinities at the ends, zeros tie",
			config: []func(*cupel.Config){withSlicer(everything)},
			items: []*cupel.ContextItem{
				item(t, "nan", 1, hint(math.NaN())), item(t, "-0", 1, hint(math.Copysign(0, -1))), item(t, "0", 1, hint(0)),
				item(t, "-inf", 1, hint(math.Inf(-1))), item(t, "inf", 1, hint(math.Inf(1))),
			},
			budget: budgetOf(t, 9, 9), want: "inf -0 0 -inf nan",
			why: "R8",
		},
		{
			name:   "merge order",
			config: []func(*cupel.Config){withSlicer(everything)},
			items:  []*cupel.ContextItem{item(t, "a", 1, hint(0.1)), item(t, "p", 1, pin), item(t, "b", 1, hint(0.2)), item(t, "q", 1, pin)},
			budget: budgetOf(t, 9, 9), want: "p q b a",
			why: "pinned in the order given, then by score, though this slicer returns the worst first (R23)",
		},
		{
			name:   "negative tokens come before pinned",
			items:  []*cupel.ContextItem{item(t, "bad", -1, pin), item(t, "ok", 1)},
			budget: budgetOf(t, 9, 9), want: "ok", excluded: "bad: NegativeTokens: -1 tokens",
			why: "a pinned item with a negative count is excluded, not pinned",
		},
		{
			name:   "duplicates keep the best",
			items:  []*cupel.ContextItem{item(t, "x", 1, hint(0.1)), item(t, "y", 1, hint(0.5)), item(t, "x", 2, hint(0.9))},
			budget: budgetOf(t, 9, 9), want: "x y", excluded: "x: Deduplicated: the same content is in as another item",
			why: "the survivor is the one with the highest score",
		},
		{
			name:   "duplicates with a NaN score",
			items:  []*cupel.ContextItem{item(t, "x", 1, hint(math.NaN())), item(t, "x", 2, hint(0.9))},
			budget: budgetOf(t, 9, 9), want: "x", excluded: "x: Deduplicated: the same content is in as another item",
			why: "0.9 > NaN is false, so the first stays, as the pseudocode reads",
		},
		{
			name:   "a pointer given twice is two candidates",
			config: []func(*cupel.Config){keepDuplicates},
			items:  []*cupel.ContextItem{twice, twice},
			budget: budgetOf(t, 15, 15), want: "same", excluded: "same: BudgetExceeded: 10 tokens requested, 5 available",
			why: "selecting one position never selects the other (R1)",
		},
		{
			name:   "a pointer given twice is deduplicated",
			items:  []*cupel.ContextItem{twice, twice},
			budget: budgetOf(t, 99, 99), want: "same", excluded: "same: Deduplicated: the same content is in as another item",
			why: "its content is equal to itself (R1)",
		},
		{
			name:   "almost duplicates",
			items:  []*cupel.ContextItem{item(t, "é", 1), item(t, "e\u0301", 1), item(t, "É", 1), item(t, "é ", 1), item(t, "\ufeffé", 1)},
			budget: budgetOf(t, 9, 9), want: "é e\u0301 É é  \ufeffé",
			why: "contents are compared byte for byte (P3)",
		},
		{
			name:   "pinned too large",
			items:  []*cupel.ContextItem{item(t, "p", 91, pin)},
			budget: budgetOf(t, 100, 50, cupel.WithOutputReserve(10)), err: cupel.ErrPinnedExceedsBudget,
			why: "91 > 100 - 10",
		},
		{
			name:   "pinned up to the ceiling",
			config: []func(*cupel.Config){truncate},
			items:  []*cupel.ContextItem{item(t, "p", 90, pin)},
			budget: budgetOf(t, 100, 50, cupel.WithOutputReserve(10), cupel.WithReservedSlots(map[cupel.ContextKind]int{"x": 60})), want: "p",
			why: "the check knows neither the target nor reserved slots (R4)",
		},
		{
			name:   "hostile token counts",
			items:  []*cupel.ContextItem{item(t, "p", big62, pin), item(t, "q", big62, pin), item(t, "r", big62, pin), item(t, "s", big62, pin)},
			budget: budgetOf(t, 100, 100), err: cupel.ErrPinnedExceedsBudget,
			why: "four times 2^62 does not wrap to 0 (R5)",
		},
		{
			name:   "reserved slots and margin",
			items:  []*cupel.ContextItem{item(t, "a", 54, hint(1)), item(t, "b", 1)},
			budget: budgetOf(t, 100, 90, cupel.WithReservedSlots(map[cupel.ContextKind]int{"Tool": 30}), cupel.WithEstimationSafetyMargin(10)),
			want:   "a", excluded: "b: BudgetExceeded: 1 tokens requested, 0 available",
			why: "(90 - 30) less 10 % is 54 (R6)",
		},
		{
			name:   "throw",
			config: []func(*cupel.Config){withSlicer(everything)},
			items:  []*cupel.ContextItem{item(t, "a", 60), item(t, "b", 60)},
			budget: budgetOf(t, 200, 100), err: cupel.ErrOverflow,
			why: "120 > 100 under the default strategy",
		},
		{
			name:   "truncate",
			config: []func(*cupel.Config){withSlicer(everything), truncate},
			items: []*cupel.ContextItem{
				item(t, "a", 50, hint(0.9)), item(t, "b", 60, hint(0.8)), item(t, "c", 30, hint(0.7)), item(t, "z", 0, hint(0.1)), item(t, "p", 20, pin),
			},
			budget: budgetOf(t, 200, 100), want: "p a c z", excluded: "b: BudgetExceeded: 60 tokens requested, 30 available",
			why: "b does not fit into what p and a left, even had p not been there: 50 + 60 > 100; c does",
		},
		{
			name:   "truncate blames what is pinned",
			config: []func(*cupel.Config){withSlicer(everything), truncate},
			items:  []*cupel.ContextItem{item(t, "a", 50, hint(0.9)), item(t, "b", 50, hint(0.8)), item(t, "p", 20, pin)},
			budget: budgetOf(t, 200, 100), want: "p a", excluded: "b: PinnedOverride: pinned items took its place",
			why: "without p both fit: 70 - 20 + 50 <= 100 (R30)",
		},
		{
			name:   "truncate drops zero-token items once the target is passed",
			config: []func(*cupel.Config){withSlicer(everything), truncate},
			items:  []*cupel.ContextItem{item(t, "p", 120, pin), item(t, "z", 0, hint(0.1))},
			budget: budgetOf(t, 200, 100), want: "p", excluded: "z: PinnedOverride: pinned items took its place",
			why: "120 + 0 > 100 (R25); without p it would fit (R30)",
		},
		{
			name:   "proceed",
			config: []func(*cupel.Config){withSlicer(everything), proceed},
			items:  []*cupel.ContextItem{item(t, "a", 60, hint(0.1)), item(t, "b", 60, hint(0.2))},
			budget: budgetOf(t, 200, 100), want: "b a",
			why: "everything stays",
		},
		{
			name:   "pinned override at slice",
			items:  []*cupel.ContextItem{item(t, "p", 60, pin), item(t, "a", 50, hint(0.9)), item(t, "b", 30, hint(0.8)), item(t, "c", 101, hint(0.7)), item(t, "d", 20, hint(0.1))},
			budget: budgetOf(t, 200, 100), want: "p b",
			excluded: "a: PinnedOverride: pinned items took its place; c: BudgetExceeded: 101 tokens requested, 10 available; " +
				"d: BudgetExceeded: 20 tokens requested, 10 available",
			why: "a does not fit 40 but would fit 100; c fits neither; d fits 40 on its own (R30)",
		},
		{
			name:   "equal scores in the excluded list",
			items:  []*cupel.ContextItem{item(t, "d", 99), item(t, "x", 98), item(t, "x", 97), item(t, "n", -4), item(t, "m", -3)},
			budget: budgetOf(t, 9, 9), want: "",
			excluded: "n: NegativeTokens: -4 tokens; m: NegativeTokens: -3 tokens; x: Deduplicated: the same content is in as another item; " +
				"d: BudgetExceeded: 99 tokens requested, 9 available; x: BudgetExceeded: 98 tokens requested, 9 available",
			why: "by stage, then by position among the candidates (R34)",
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			p := pipeline(t, tt.config...)
			got, err := p.Run(t.Context(), tt.items, tt.budget)
			if tt.err != nil {
				errorIs(t, err, tt.err)
				return
			}
			if err != nil {
				t.Fatalf("%v: %s", err, tt.why)
			}
			if contents(got) != tt.want {
				t.Errorf("got %q, want %q: %s", contents(got), tt.want, tt.why)
			}
			report, err := p.DryRun(t.Context(), tt.items, tt.budget)
			if err != nil {
				t.Fatal(err)
			}
			if included(report) != tt.want {
				t.Errorf("dry run: got %q, want %q: %s", included(report), tt.want, tt.why)
			}
			if excluded(report) != tt.excluded {
				t.Errorf("excluded:\n got %q\nwant %q: %s", excluded(report), tt.excluded, tt.why)
			}
			equal(t, "candidates", report.TotalCandidates, len(report.Included)+len(report.Excluded))
		})
	}
}

func TestReportScoresAndReasons(t *testing.T) {
	p := pipeline(t)
	items := []*cupel.ContextItem{
		item(t, "pinned zero", 0, cupel.WithPinned(), hint(0.3)), item(t, "zero", 0, hint(0.25)), item(t, "scored", 5, hint(0.75)),
		item(t, "scored", 5, hint(0.5)), item(t, "negative", -7, hint(0.9)),
	}
	report, err := p.DryRun(t.Context(), items, budgetOf(t, 10, 10))
	if err != nil {
		t.Fatal(err)
	}
	want := []struct {
		content string
		score   float64
		reason  cupel.InclusionReason
	}{{"pinned zero", 1, cupel.IncludePinned}, {"scored", 0.75, cupel.IncludeScored}, {"zero", 0.25, cupel.IncludeZeroToken}}
	for i, w := range want {
		got := report.Included[i]
		if got.Item.Content() != w.content || got.Score != w.score || got.Reason != w.reason {
			t.Errorf("included %d: got %s %v %s, want %v (R26)", i, got.Item.Content(), got.Score, got.Reason, w)
		}
	}
	duplicate, negative := report.Excluded[0], report.Excluded[1]
	equal(t, "score of the duplicate", duplicate.Score, 0.5)
	equal(t, "content of the survivor", duplicate.Reason.Data().DeduplicatedAgainst, "scored")
	equal(t, "survivor", duplicate.Reason.Data().Survivor, items[2])
	equal(t, "score of the invalid item", negative.Score, 0)
	equal(t, "tokens considered", report.TotalTokensConsidered, 3)
}

func TestTotalTokensAreClamped(t *testing.T) {
	report, err := pipeline(t).DryRun(t.Context(), []*cupel.ContextItem{
		item(t, "a", math.MaxInt), item(t, "b", math.MaxInt), item(t, "c", -5),
	}, budgetOf(t, 10, 10))
	if err != nil {
		t.Fatal(err)
	}
	equal(t, "tokens considered", report.TotalTokensConsidered, math.MaxInt)
}

func TestOverflowObserver(t *testing.T) {
	var events []cupel.OverflowEvent
	p := pipeline(t, withSlicer(everything), overflow(cupel.OverflowProceed), func(c *cupel.Config) {
		c.OnOverflow = func(e cupel.OverflowEvent) { events = append(events, e) }
	})
	items := []*cupel.ContextItem{item(t, "a", 60), item(t, "b", 50), item(t, "p", 5, cupel.WithPinned())}
	budget := budgetOf(t, 200, 100)

	report, err := p.DryRun(t.Context(), items, budget)
	if err != nil {
		t.Fatal(err)
	}
	equal(t, "events of a dry run", len(events), 0)
	equal(t, "tokens over budget in the report", report.Overflow.TokensOverBudget, 15)

	if _, err := p.Run(t.Context(), items, budget); err != nil {
		t.Fatal(err)
	}
	equal(t, "events of a run", len(events), 1)
	equal(t, "tokens over budget", events[0].TokensOverBudget, 15)
	equal(t, "overflowing items", contents(events[0].OverflowingItems), "p a b")
	equal(t, "budget", events[0].Budget.TargetTokens(), 100)

	fits := budgetOf(t, 200, 115)
	if report, err = p.DryRun(t.Context(), items, fits); err != nil || report.Overflow != nil {
		t.Errorf("got overflow %v, error %v at exactly the target; want neither", report.Overflow, err)
	}
}

func TestFixedTexts(t *testing.T) {
	items := []*cupel.ContextItem{item(t, "p", 50, cupel.WithPinned())}
	_, err := pipeline(t).Run(t.Context(), items, budgetOf(t, 40, 30, cupel.WithOutputReserve(5)))
	equal(t, "pinned", err.Error(), "cupel: Pinned items require 50 tokens, but only 35 are available")
	_, err = pipeline(t).Run(t.Context(), items, budgetOf(t, 60, 30))
	equal(t, "overflow", err.Error(), "cupel: Selected items require 50 tokens, exceeding target budget of 30")
	err = &cupel.ScarcityError{Slicer: "CountConstrainedKnapsackSlice", Kind: "tool", RequireCount: 3, Satisfied: 1}
	equal(t, "scarcity", err.Error(), "cupel: CountConstrainedKnapsackSlice: candidate pool for kind 'tool' has 1 items but RequireCount is 3.")
}

func TestScorerIsCalledOncePerItem(t *testing.T) {
	calls := 0
	p := pipeline(t, withScorer(scoreFunc(func(it *cupel.ContextItem, all []*cupel.ContextItem) float64 {
		calls++
		equal(t, "list given to the scorer", contents(all), "b c")
		return 1
	})))
	items := []*cupel.ContextItem{item(t, "p", 1, cupel.WithPinned()), item(t, "b", 1), item(t, "n", -1), item(t, "c", 1)}
	if _, err := p.Run(t.Context(), items, budgetOf(t, 9, 9)); err != nil {
		t.Fatal(err)
	}
	equal(t, "calls", calls, 2)
	if _, err := p.Run(t.Context(), items[:1], budgetOf(t, 9, 9)); err != nil {
		t.Fatal(err)
	}
	equal(t, "calls after a run without scoreable items", calls, 2)
}

func TestItemsOfTheCallerAreNotTouched(t *testing.T) {
	items := []*cupel.ContextItem{item(t, "a", 1, hint(0.1)), item(t, "b", 1, hint(0.2)), item(t, "c", -1)}
	before := append([]*cupel.ContextItem(nil), items...)
	vandal := scoreFunc(func(it *cupel.ContextItem, all []*cupel.ContextItem) float64 {
		all[0] = it // a scorer must not, but if it does it harms only itself
		return 1
	})
	got, err := pipeline(t, withScorer(vandal)).Run(t.Context(), items, budgetOf(t, 9, 9))
	if err != nil {
		t.Fatal(err)
	}
	equalSlices(t, "items", items, before)
	equal(t, "window", contents(got), "a b")
}

func TestConcurrentRuns(t *testing.T) {
	p := pipeline(t)
	var items []*cupel.ContextItem
	for i := range 200 {
		items = append(items, item(t, strings.Repeat("x", 1+i%50), i%7, hint(float64(i%13))))
	}
	budget := budgetOf(t, 300, 200)
	want, err := p.Run(t.Context(), items, budget)
	if err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	for range 8 {
		wg.Add(1)
		go func() {
			defer wg.Done()
			for range 50 {
				got, err := p.Run(t.Context(), items, budget)
				if err != nil || contents(got) != contents(want) {
					t.Errorf("got %q, error %v", contents(got), err)
				}
			}
		}()
	}
	wg.Wait()
}

func TestNilContext(t *testing.T) {
	if _, err := pipeline(t).Run(nil, []*cupel.ContextItem{item(t, "a", 1)}, budgetOf(t, 9, 9)); err != nil { //nolint:staticcheck // a nil context must not panic
		t.Fatal(err)
	}
}

func TestInvalidItems(t *testing.T) {
	tests := []struct {
		name string
		bad  *cupel.ContextItem
		why  string
	}{
		{"nil", nil, "there is nothing to score"},
		{"not constructed", new(cupel.ContextItem), "its content is empty, which the constructor refuses"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			report, err := pipeline(t).DryRun(t.Context(), []*cupel.ContextItem{item(t, "a", 3), tt.bad}, budgetOf(t, 9, 9))
			var invalid *cupel.InvalidItemError
			if !errors.As(err, &invalid) || invalid.Index != 1 {
				t.Fatalf("got %v, want an InvalidItemError at index 1: %s", err, tt.why)
			}
			equal(t, "candidates", report.TotalCandidates, 2)
		})
	}
}

func TestConfig(t *testing.T) {
	good := cupel.Config{Scorer: byHint{}, Slicer: inOrder, Placer: asMerged}
	tests := []struct {
		name, field string
		change      func(*cupel.Config)
	}{
		{"no scorer", "Scorer", func(c *cupel.Config) { c.Scorer = nil }},
		{"nil function as scorer", "Scorer", func(c *cupel.Config) { c.Scorer = scoreFunc(nil) }},
		{"nil pointer as scorer", "Scorer", func(c *cupel.Config) { c.Scorer = (*byHint)(nil) }},
		{"no slicer", "Slicer", func(c *cupel.Config) { c.Slicer = nil }},
		{"no placer", "Placer", func(c *cupel.Config) { c.Placer = nil }},
		{"unknown overflow", "Overflow", func(c *cupel.Config) { c.Overflow = 17 }},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			config := good
			tt.change(&config)
			_, err := cupel.New(config)
			var invalid *cupel.InvalidConfigError
			if !errors.As(err, &invalid) || invalid.Field != tt.field || !errors.Is(err, cupel.ErrInvalidConfig) {
				t.Fatalf("got %v, want an InvalidConfigError for %s", err, tt.field)
			}
		})
	}
}

// TestConfigReportsAll: a configuration with several mistakes is repaired in one go.
func TestConfigReportsAll(t *testing.T) {
	_, err := cupel.New(cupel.Config{Placer: invalidPlacer{asMerged}, Overflow: 17})
	var got []string
	for _, e := range strategy.All(err) {
		var invalid *cupel.InvalidConfigError
		if !errors.As(e, &invalid) {
			t.Fatalf("%v is no InvalidConfigError", e)
		}
		got = append(got, invalid.Component+"."+invalid.Field)
	}
	equal(t, "settings", strings.Join(got, " "), "Config.Scorer Config.Slicer cupel_test.invalidPlacer. Config.Overflow")
	if !errors.Is(err, cupel.ErrInvalidConfig) {
		t.Errorf("%v does not match ErrInvalidConfig", err)
	}
}

func TestDurationsComeFromTheClock(t *testing.T) {
	start := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	p := pipeline(t, func(c *cupel.Config) { c.Clock = ticking(start, 1500*time.Microsecond) })
	report, err := p.DryRun(t.Context(), nil, budgetOf(t, 9, 9))
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range report.Events {
		equal(t, string(e.Stage), e.DurationMS, 1.5)
	}
	equal(t, "events", len(report.Events), 5)
}
