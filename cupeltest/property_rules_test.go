package cupeltest_test

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupel/pipeline"
	"github.com/wollax/cupel-go/cupel/placer"
	"github.com/wollax/cupel-go/cupel/scorer"
	"github.com/wollax/cupel-go/cupel/slicer"
	"github.com/wollax/cupel-go/cupel/strategy"
	"github.com/wollax/cupel-go/cupeltest"
)

// lawful are pipelines of built-in strategies.
func lawful(t *testing.T) map[string]*pipeline.Pipeline {
	t.Helper()
	configs := make(map[string]pipeline.Config)
	entries := []slicer.CountQuotaEntry{{Kind: cupel.KindDocument, RequireCount: 1, CapCount: 3}}
	knapsack := slicer.Must(slicer.NewKnapsack(slicer.WithBucketSize(1)))
	for name, s := range map[string]strategy.Slicer{
		"greedy": slicer.Greedy{}, "score greedy": slicer.ScoreGreedy{}, "knapsack": knapsack, "multiple choice": slicer.NewMultipleChoice(),
		"quota":          slicer.Must(slicer.NewQuota(slicer.Greedy{}, slicer.Require(cupel.KindDocument, 30), slicer.Cap(cupel.KindMemory, 20))),
		"quota knapsack": slicer.Must(slicer.NewQuota(knapsack, slicer.Require(cupel.KindDocument, 30), slicer.Between(cupel.KindMemory, 10, 50))),
		"count":          slicer.Must(slicer.NewCountQuota(slicer.Greedy{}, entries)),
		"count knapsack": slicer.Must(slicer.NewCountConstrainedKnapsack(knapsack, entries)),
	} {
		for overflow, strategy := range map[string]pipeline.OverflowStrategy{"throw": pipeline.OverflowThrow, "truncate": pipeline.OverflowTruncate, "proceed": pipeline.OverflowProceed} {
			configs[name+", "+overflow] = pipeline.Config{Slicer: s, Overflow: strategy}
		}
	}
	configs["recency"] = pipeline.Config{Scorer: scorer.Recency{}, Placer: placer.Chronological{}}
	configs["near copies"] = pipeline.Config{Scorer: scorer.Priority{}, NearDuplicates: 0.8}
	pipelines := make(map[string]*pipeline.Pipeline)
	for name, config := range configs {
		pipelines[name] = newPipeline(t, config)
	}
	return pipelines
}

func TestPropertyAcceptsLawfulPolicies(t *testing.T) {
	cases := 300
	if testing.Short() {
		cases = 60
	}
	for name, pipeline := range lawful(t) {
		s := watch(func(t cupeltest.T) {
			cupeltest.Property(t, pipeline, cupeltest.WithCases(cases), cupeltest.WithSeed(7))
		})
		for _, message := range s.messages {
			t.Errorf("%s: %s", name, message)
		}
	}
}

// alternating is a scorer that remembers.
type alternating struct{ calls *int }

func (a alternating) Score(_ context.Context, items []*cupel.ContextItem, scores []float64) error {
	for i := range items {
		*a.calls++
		scores[i] = float64((*a.calls * 7) % 5)
	}
	return nil
}

// sliceWith is a slicer around Greedy that breaks its choice.
type sliceWith struct {
	change func(items []cupel.ScoredItem, budget cupel.SliceBudget, s strategy.Selection) strategy.Selection
}

func (s sliceWith) Slice(ctx context.Context, items []cupel.ScoredItem, budget cupel.SliceBudget) (strategy.Selection, error) {
	selection, err := slicer.Greedy{}.Slice(ctx, items, budget)
	return s.change(items, budget, selection), err
}

func TestPropertyFindsBrokenPolicies(t *testing.T) {
	calls := 0
	var all []string
	tooMuch := sliceWith{func(items []cupel.ScoredItem, _ cupel.SliceBudget, s strategy.Selection) strategy.Selection {
		s.Indices = nil
		for i := range items {
			s.Indices = append(s.Indices, i)
		}
		return s
	}}
	for _, row := range []struct {
		name   string
		config pipeline.Config
		rule   cupeltest.PropertyOption
		want   []string
	}{
		{"BudgetHeld", pipeline.Config{Slicer: tooMuch}, cupeltest.BudgetHeld(), []string{"the slicer chooses more than the target", "\n\t1 of "}},
		{"SameEveryTime", pipeline.Config{Scorer: alternating{&calls}}, cupeltest.SameEveryTime(), []string{"two runs differ"}},
		{"RequiredKindsKept", pipeline.Config{Slicer: slicer.Greedy{}}, cupeltest.RequiredKindsKept(cupel.KindDocument), []string{"the window loses kind Document", "\n\t2 of "}},
		{"RequiredKindsNotDisplaced", pipeline.Config{Scorer: scoreFunc(func(item *cupel.ContextItem, _ []*cupel.ContextItem) float64 {
			hint, _ := item.FutureRelevanceHint()
			return 0.1 + hint // nothing is worthless, so that small items are dense
		})}, cupeltest.RequiredKindsNotDisplaced(cupel.KindDocument), []string{"with one more item of ", "the window loses kind Document", "\n\t1 of "}},
		{"another failing run", pipeline.Config{Scorer: scoreFunc(func(item *cupel.ContextItem, _ []*cupel.ContextItem) float64 {
			if item.Tokens() > 190 {
				panic("too long")
			}
			return 1
		})}, cupeltest.BudgetHeld(), []string{"BudgetHeld: the run fails: cupel: scorer", "\n\t1 of "}},
		{"failing run", pipeline.Config{Scorer: scoreFunc(func(item *cupel.ContextItem, _ []*cupel.ContextItem) float64 {
			if item.Tokens() > 150 {
				panic("too long")
			}
			return 1
		})}, cupeltest.PinnedKept(), []string{"PinnedKept: the run fails: cupel: scorer", "\n\t1 of "}},
	} {
		calls = 0
		pipeline := newPipeline(t, row.config)
		s := watch(func(t cupeltest.T) { cupeltest.Property(t, pipeline, row.rule) })
		all = append(all, s.messages...)
		if len(s.messages) != 1 || s.stopped {
			t.Errorf("%s reports %q", row.name, s.messages)
			continue
		}
		for _, want := range append(row.want, "of seed 1: cupeltest.WithSeed(1) repeats it") {
			if !strings.Contains(s.messages[0], want) {
				t.Errorf("%s reports\n%s\nwithout %q", row.name, s.messages[0], want)
			}
		}
	}
	samePage(t, "testdata/properties.txt", strings.Join(all, "\n")+"\n")
}

// What the rules about required kinds ask of a case.
func TestRequirementsOfProperties(t *testing.T) {
	document := func(tokens int, opts ...cupel.ItemOption) *cupel.ContextItem {
		return cupeltest.Item("a", tokens, append(opts, cupel.WithKind(cupel.KindDocument))...)
	}
	for _, row := range []struct {
		items []*cupel.ContextItem
		want  bool
		why   string
	}{
		{nil, false, "there is no item of the kind"},
		{cupeltest.Items(1), false, "nor here"},
		{[]*cupel.ContextItem{document(30)}, true, "30 of 100 tokens are its share"},
		{[]*cupel.ContextItem{document(31)}, false, "31 are more"},
		{[]*cupel.ContextItem{document(0)}, true, "no tokens fit any share"},
		{[]*cupel.ContextItem{document(0), document(31)}, true, "a larger one does not take the place of one without tokens"},
		{[]*cupel.ContextItem{document(-1)}, false, "an item of negative size is in no window"},
		{[]*cupel.ContextItem{document(-1), document(31)}, false, "nor does it hide one that is too large"},
		{[]*cupel.ContextItem{document(31), document(30), document(32)}, true, "one of them fits"},
		{[]*cupel.ContextItem{document(30), cupeltest.Item("rule", 10, cupel.WithPinned())}, false, "the share is of what pinned items leave"},
		{[]*cupel.ContextItem{document(27), cupeltest.Item("rule", 10, cupel.WithPinned())}, true, "27 of 90"},
		{[]*cupel.ContextItem{document(5, cupel.WithPinned())}, false, "a pinned item is no candidate of the share"},
		{[]*cupel.ContextItem{document(5), document(5, cupel.WithGroup("g"))}, false, "a group has a kind and a size of its own"},
		{[]*cupel.ContextItem{document(5), cupeltest.Item("b", 5, cupel.WithGroup("g"))}, true, "a group of other kinds does not matter"},
	} {
		if got := cupeltest.Fits(cupel.KindDocument, 30, 100, row.items); got != row.want {
			t.Errorf("%v fits: %t, but %s", row.items, got, row.why)
		}
	}

	filler := cupeltest.Item("filler", 1)
	entry := func(score float64, opts ...cupel.ItemOption) cupel.IncludedItem {
		return cupel.IncludedItem{Item: cupeltest.Item("other", 5, opts...), Score: score}
	}
	itself := cupel.IncludedItem{Item: filler, Score: 0.5}
	excluded := func(score float64, code cupel.ExclusionCode) []cupel.ExcludedItem {
		return []cupel.ExcludedItem{{Item: cupeltest.Item("other", 5), Score: score, Reason: because(code)}}
	}
	for _, row := range []struct {
		report report
		want   bool
		why    string
	}{
		{report{Included: []cupel.IncludedItem{itself}}, false, "there is no other"},
		{report{Included: []cupel.IncludedItem{itself, entry(0.6)}}, false, "the other is better"},
		{report{Included: []cupel.IncludedItem{entry(0.6), itself, entry(0.5)}}, true, "one is not better"},
		{report{Included: []cupel.IncludedItem{itself, entry(0.1, cupel.WithPinned())}}, false, "a pinned item has no score of its own"},
		{report{Included: []cupel.IncludedItem{itself}, Excluded: excluded(0.4, cupel.ExcludeBudgetExceeded)}, true, "excluded items count"},
		{report{Included: []cupel.IncludedItem{itself}, Excluded: excluded(0, cupel.ExcludeSuperseded)}, false, "it was not scored"},
		{report{Included: []cupel.IncludedItem{itself}, Excluded: excluded(0, cupel.ExcludeNegativeTokens)}, false, "nor was this one"},
		{report{Included: []cupel.IncludedItem{itself, entry(math.NaN())}}, true, "NaN is worse than all"},
	} {
		if got := cupeltest.Preferred(&row.report, filler); got != row.want {
			t.Errorf("preferred: %t, but %s", got, row.why)
		}
	}
}

// A pipeline keeps pinned items and groups with any strategies; that a rule
// notices is seen with reports that it did not make.
func TestPropertyRulesNotice(t *testing.T) {
	if got := cupeltest.BrokenGroups(splitReport()); !strings.Contains(got, "group") {
		t.Errorf("a split group is reported as %q", got)
	}
	pinned := &report{Excluded: []cupel.ExcludedItem{{Item: cupeltest.Item("rule", 1, cupel.WithPinned()), Reason: because(cupel.ExcludeFiltered)}}}
	negative := &report{Excluded: []cupel.ExcludedItem{{Item: cupeltest.Item("rule", -1, cupel.WithPinned()), Reason: because(cupel.ExcludeNegativeTokens)}}}
	if got := cupeltest.BrokenPins(negative); got != "" {
		t.Errorf("a pinned item of negative size is reported as %q", got)
	}
	if got := cupeltest.BrokenPins(pinned); got != `the pinned item "rule" is excluded: Filtered` {
		t.Errorf("a pinned item that is out is reported as %q", got)
	}
}

type logger struct {
	spy
	lines []string
}

func (l *logger) Logf(format string, args ...any) {
	l.lines = append(l.lines, fmt.Sprintf(format, args...))
}

func TestPropertyExemptions(t *testing.T) {
	for name, want := range map[string]string{
		"greedy, proceed": "Property skips BudgetHeld: OverflowProceed lets the window pass the target.",
		"count, throw":    "Property skips BudgetHeld: a count slicer commits items of any size.",
		"count, truncate": "Property skips RequiredKindsKept: OverflowTruncate leaves out items that a count slicer has committed.",
		"greedy, throw":   "Property skips RequiredKindsKept: no slicer requires a kind, and none was given.",
	} {
		l := new(logger)
		cupeltest.Property(l, lawful(t)[name], cupeltest.WithCases(1))
		if !strings.Contains(strings.Join(l.lines, "\n"), want) || name == "count, throw" && len(l.lines) != 1 {
			t.Errorf("%s logs %q, want %q", name, l.lines, want)
		}
	}
}

// A report is compared with those of two more runs.
func TestSameEveryTimeRuns(t *testing.T) {
	runs := 0
	pipeline := newPipeline(t, pipeline.Config{Slicer: sliceFunc(func([]cupel.ScoredItem, cupel.SliceBudget) (strategy.Selection, error) {
		runs++
		return strategy.Selection{}, nil
	})})
	items := cupeltest.WithCandidates(func(*rand.Rand) []*cupel.ContextItem { return cupeltest.Items(1) })
	if cupeltest.Property(t, pipeline, cupeltest.SameEveryTime(), items, cupeltest.WithCases(2)); runs != 6 {
		t.Errorf("%d runs for 2 cases", runs)
	}
}

func TestPropertyWithCandidates(t *testing.T) {
	lists := func(seed uint64) (sizes []int) {
		cupeltest.Property(t, newPipeline(t, pipeline.Config{}), cupeltest.PinnedKept(), cupeltest.WithSeed(seed), cupeltest.WithCases(20),
			cupeltest.WithCandidates(func(random *rand.Rand) []*cupel.ContextItem {
				sizes = append(sizes, random.IntN(50))
				return cupeltest.Items(make([]int, sizes[len(sizes)-1])...)
			}))
		return sizes
	}
	if a, b, c := fmt.Sprint(lists(1)), fmt.Sprint(lists(1)), fmt.Sprint(lists(2)); a != b || a == c {
		t.Errorf("seed 1 gives %s and %s, seed 2 %s", a, b, c)
	}
	for _, row := range []struct {
		pipeline *pipeline.Pipeline
		option   cupeltest.PropertyOption
		want     string
	}{
		{nil, cupeltest.WithCases(1), "Property failed: the pipeline is nil"},
		{newPipeline(t, pipeline.Config{}), cupeltest.WithCases(0), "Property failed: it takes a generator and at least 1 case, got 0."},
		{newPipeline(t, pipeline.Config{}), cupeltest.WithCandidates(func(*rand.Rand) []*cupel.ContextItem { return []*cupel.ContextItem{nil} }), "Property failed: the generator returns a nil item in case 0 of seed 1."},
	} {
		s := watch(func(t cupeltest.T) { cupeltest.Property(t, row.pipeline, row.option, cupeltest.PinnedKept()) })
		equalMessages(t, "Property", s.messages, []string{row.want}, "nothing can be tried")
	}
}
