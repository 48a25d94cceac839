package cupeltest

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupel/pipeline"
	"github.com/wollax/cupel-go/cupel/placer"
	"github.com/wollax/cupel-go/cupel/scorer"
	"github.com/wollax/cupel-go/cupel/slicer"
	"github.com/wollax/cupel-go/cupel/strategy"
)

// Items that are alike may be selected from either end, and not from the middle.
func TestUnstableSlicers(t *testing.T) {
	for _, row := range []struct {
		target int // where the slicer chooses
		chosen func(i int) bool
		want   string
		why    string
	}{
		{300, func(i int) bool { return i < 20 }, "", "the first"},
		{300, func(i int) bool { return i >= 180 }, "", "the last"},
		{300, func(i int) bool { return i == 0 }, "", "one of them"},
		{300, func(i int) bool { return i == 3 }, "a target of 300: of those of 10 tokens, position 3 is selected and 6 is not, and the other way round before", "0 is alike"},
		{1000, func(i int) bool { return i == 4 }, "a target of 1000: of those of 11 tokens, position 4 is selected and 7 is not, and the other way round before", "1 is alike"},
		{300, func(i int) bool { return i == 5 }, "a target of 300: of those of 12 tokens, position 5 is selected and 8 is not, and the other way round before", "2 is alike"},
		{300, func(i int) bool { return i != 5 }, "a target of 300: of those of 12 tokens, position 8 is selected and 5 is not, and the other way round before", "they are left out in the middle"},
	} {
		k := kitOf(&scripted{slice: func(items []cupel.ScoredItem, target int) (sel strategy.Selection, _ error) {
			if target != row.target || len(items) != 200 { // as failures say
				return sel, nil
			}
			sel.Indices = []int{-1, len(items)} // which is another rule's
			for i := range items {
				if row.chosen(i) {
					sel.Indices = append(sel.Indices, i)
				}
			}
			return sel, nil
		}})
		if got := k.unstable(); !strings.HasSuffix(got, row.want) || row.want == "" && got != "" {
			t.Errorf("%q, want %q: %s", got, row.want, row.why)
		}
	}
}

func TestUnstablePlacers(t *testing.T) {
	swap := func(a, b int) func(order []int) {
		return func(order []int) { order[a], order[b] = order[b], order[a] }
	}
	for _, row := range []struct {
		change func(order []int)
		want   string
		why    string
	}{
		{func([]int) {}, "", "they keep their order"},
		{slices.Reverse[[]int], "", "it is reversed"},
		{swap(0, 5), "", "one direction and then the other"},
		{swap(5, 10), "positions [0 10 5 15 ", "up, down and up"},
		{func(order []int) {
			if len(order) == 200 { // as failures say
				order[5], order[10] = order[10], order[5]
			}
		}, "positions [0 10 5 15 ", "the same"},
		{func(order []int) { order[0], order[1] = -1, len(order) }, "", "another rule's"},
	} {
		k := newPlacerKit(func() strategy.Placer { return placerFunc(row.change) }, new(kitOptions))
		if got := k.unstable(); !strings.Contains(got, row.want[:min(len(row.want), 12)]) || row.want == "" && got != "" {
			t.Errorf("%q, want %q: %s", got, row.want, row.why)
		}
	}
}

// How many tokens a failure says are missing.
func TestMissingTokens(t *testing.T) {
	for _, row := range []struct {
		tokens    int
		threshold float64
		most      int
		want      string
		why       string
	}{
		{0, 0.5, 0, "", "there is no share of nothing"},
		{0, 1, 1, "1 tokens are missing: 1 of 1 is 1", "one is a budget"},
		{3, 0.75, 10, "5 tokens are missing: 0.75 of 10 is 8", "parts of a token are rounded up"},
		{10, 1.5, 10, "5 tokens are missing: 1.5 of 10 is 15", "more than there may be"},
		{0, math.NaN(), 10, "", "NaN is no share"},
		{0, math.Inf(1), 10, "", "nor is infinity"},
		{0, 1 << 53, 1, "", "beyond what a float64 counts"},
	} {
		if got := strings.Join(missingTokens(row.tokens, row.threshold, Budget(row.most, 0)), "\n"); got != row.want {
			t.Errorf("%d of %v of %d: %q, want %q: %s", row.tokens, row.threshold, row.most, got, row.want, row.why)
		}
	}
}

func TestConversationItems(t *testing.T) {
	var lines []string
	for _, item := range Conversation(System("12345"), User("1234", cupel.WithTags("a")), Tool("go build", "ok"), Assistant("1")) {
		lines = append(lines, describeAll(item))
	}
	want := []string{
		`"12345" (SystemPrompt, Chat, 2 tokens, pinned, map[role:system]), 2026-01-01T12:00:00`,
		`"1234" (Message, Chat, 1 tokens, tags ["a"], map[role:user]), 2026-01-01T12:01:00`,
		`"go build" (ToolOutput, Tool, 2 tokens, group "call 3", map[role:assistant]), 2026-01-01T12:02:00`,
		`"ok" (ToolOutput, Tool, 1 tokens, group "call 3", map[role:tool]), 2026-01-01T12:02:00`,
		`"1" (Message, Chat, 1 tokens, map[role:assistant]), 2026-01-01T12:03:00`,
	}
	if !slices.Equal(lines, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(lines, "\n"), strings.Join(want, "\n"))
	}
}

// failing is a scorer that panics for lists of some length.
func failing(fails func(n int) bool) strategy.Scorer {
	return scorerOf(func(_ *cupel.ContextItem, all []*cupel.ContextItem) float64 {
		if fails(len(all)) {
			panic("too long")
		}
		return 1
	})
}

// What each rule says of one case.
func TestPropertyRulesOfOneCase(t *testing.T) {
	quota := slicer.Must(slicer.NewQuota(slicer.Greedy{}, slicer.Require("A", 50)))
	pinned := func(tokens int) *cupel.ContextItem {
		return Item(fmt.Sprint("pinned ", tokens), tokens, cupel.WithPinned())
	}
	over := sliceOf(func(items []cupel.ScoredItem, _ cupel.SliceBudget) (sel strategy.Selection) {
		for i := range items {
			sel.Indices = append(sel.Indices, i)
		}
		return sel
	})
	odd, runs := 0, 0
	scarce := &scripted{slice: func([]cupel.ScoredItem, int) (strategy.Selection, error) {
		if runs++; runs > 1 {
			return strategy.Selection{}, &cupel.ScarcityError{Slicer: "scripted", Kind: "A", RequireCount: 1}
		}
		return strategy.Selection{}, nil
	}}
	ofA := Item("a", 30, cupel.WithKind("A"), cupel.WithFutureRelevanceHint(0.5))
	largeA := Item("a", 31, cupel.WithKind("A"))
	count := slicer.Must(slicer.NewCountQuota(slicer.Greedy{}, []slicer.CountQuotaEntry{{Kind: "A", RequireCount: 1, CapCount: 1}}))
	percent := slicer.Must(slicer.NewQuota(slicer.Greedy{}, slicer.Require("A", 1)))
	alone := sliceOf(func(items []cupel.ScoredItem, _ cupel.SliceBudget) (sel strategy.Selection) {
		if len(items) == 1 {
			sel.Indices = []int{0}
		}
		return sel
	})
	failures := 0
	const lost = "with a budget of 90 tokens instead of 60, the window loses kind A"
	for _, row := range []struct {
		rule   PropertyOption
		config pipeline.Config
		c      propertyCase
		want   string // how it begins
		why    string
	}{
		{BudgetHeld(), pipeline.Config{}, propertyCase{items: []*cupel.ContextItem{pinned(55)}, budget: Budget(60, 50)}, "", "pinned items may pass the target"},
		{BudgetHeld(), pipeline.Config{Overflow: pipeline.OverflowThrow}, propertyCase{items: []*cupel.ContextItem{pinned(30), pinned(25)}, budget: Budget(60, 50)}, "", "together too"},
		{BudgetHeld(), pipeline.Config{Overflow: pipeline.OverflowThrow, Slicer: over}, propertyCase{items: Items(30, 21), budget: Budget(60, 50)}, "the slicer chooses more than the target: ", "nothing is pinned"},
		{BudgetHeld(), pipeline.Config{Overflow: pipeline.OverflowThrow, Slicer: over}, propertyCase{items: append(Items(30), pinned(50)), budget: Budget(80, 50)}, "the slicer chooses more than the target: ", "what is pinned is at the target"},
		{BudgetHeld(), pipeline.Config{Overflow: pipeline.OverflowThrow, Slicer: over}, propertyCase{items: append(Items(1), pinned(0)), budget: Budget(80, 0)}, "the slicer chooses more than the target: ", "what is pinned has no tokens"},
		{BudgetHeld(), pipeline.Config{Overflow: pipeline.OverflowProceed, Slicer: over}, propertyCase{items: Items(30, 21), budget: Budget(60, 50)}, "51 tokens are included, and 50 are allowed", "the window has them"},
		{BudgetHeld(), pipeline.Config{Overflow: pipeline.OverflowProceed, Slicer: over}, propertyCase{items: Items(30, 20), budget: Budget(60, 50)}, "", "as many as the target"},
		{BudgetHeld(), pipeline.Config{Scorer: failing(func(int) bool { return true })}, propertyCase{items: Items(1), budget: Budget(60, 50)}, "the run fails: ", "a panic is no lawful failure"},
		{PinnedKept(), pipeline.Config{}, propertyCase{items: []*cupel.ContextItem{pinned(61)}, budget: Budget(60, 50)}, "", "it does not fit, which is lawful"},
		{reportRule("all is wrong", func(*cupel.SelectionReport) string { return "wrong" }), pipeline.Config{}, propertyCase{items: Items(1), budget: Budget(60, 50)}, "wrong", "the report is looked at"},
		{SameEveryTime(), pipeline.Config{Scorer: failing(func(int) bool { return true })}, propertyCase{items: Items(1), budget: Budget(60, 50)}, "the run fails: ", "the first run"},
		{SameEveryTime(), pipeline.Config{Scorer: failing(func(int) bool { odd++; return odd > 1 })}, propertyCase{items: Items(1), budget: Budget(60, 50)}, "the run fails: ", "the second run"},
		{SameEveryTime(), pipeline.Config{Slicer: scarce}, propertyCase{items: Items(1), budget: Budget(60, 50)}, "a run succeeds, and the next one fails", "the second run, lawfully"},
		{SameEveryTime(), pipeline.Config{}, propertyCase{items: Items(1), budget: Budget(60, 50)}, "", "they are equal"},
		{RequiredKindsKept("A"), pipeline.Config{Scorer: failing(func(int) bool { return true })}, propertyCase{items: Items(1), budget: Budget(60, 50), more: Budget(90, 90)}, "the run fails: ", "the first run"},
		{RequiredKindsNotDisplaced("A"), pipeline.Config{Scorer: failing(func(n int) bool { return n > 1 })}, propertyCase{items: Items(1), budget: Budget(60, 50), filler: Item("filler", 1)}, "the run fails: ", "the run with one more"},
		{RequiredKindsKept("A"), pipeline.Config{Slicer: lossy()}, propertyCase{items: []*cupel.ContextItem{ofA}, budget: Budget(60, 60), more: Budget(90, 90)}, lost, "it is lost"},
		{RequiredKindsKept("B"), pipeline.Config{Slicer: lossy()}, propertyCase{items: []*cupel.ContextItem{ofA}, budget: Budget(60, 60), more: Budget(90, 90)}, "", "another kind is asked for"},
		{RequiredKindsKept("B", "A"), pipeline.Config{Slicer: lossy()}, propertyCase{items: []*cupel.ContextItem{ofA}, budget: Budget(60, 60), more: Budget(90, 90)}, lost, "one of two"},
		{RequiredKindsKept(), pipeline.Config{Slicer: quota}, propertyCase{items: []*cupel.ContextItem{ofA}, budget: Budget(60, 60), more: Budget(90, 90)}, "", "it stays"},
		{RequiredKindsKept("A"), pipeline.Config{Scorer: failing(func(int) bool { failures++; return failures == 1 })}, propertyCase{items: Items(1), budget: Budget(60, 60), more: Budget(90, 90)}, "the run fails: ", "the first run alone"},
		{RequiredKindsKept(), pipeline.Config{Slicer: lossyAround{lossy(), count}}, propertyCase{items: []*cupel.ContextItem{largeA}, budget: Budget(60, 60), more: Budget(90, 90)}, lost, "the count slicer requires it"},
		{RequiredKindsKept("B"), pipeline.Config{Slicer: lossyAround{lossy(), count}}, propertyCase{items: []*cupel.ContextItem{largeA}, budget: Budget(60, 60), more: Budget(90, 90)}, "", "another kind takes the place of those of slicers"},
		{RequiredKindsKept(), pipeline.Config{Slicer: lossyAround{lossy(), quota}}, propertyCase{items: []*cupel.ContextItem{ofA}, budget: Budget(60, 60), more: Budget(90, 90)}, lost, "it fits its share"},
		{RequiredKindsKept(), pipeline.Config{Slicer: lossyAround{lossy(), quota}}, propertyCase{items: []*cupel.ContextItem{largeA}, budget: Budget(60, 60), more: Budget(90, 90)}, "", "it does not"},
		{RequiredKindsKept(), pipeline.Config{Slicer: lossyAround{lossy(), percent}}, propertyCase{items: []*cupel.ContextItem{ofA}, budget: Budget(60, 60), more: Budget(90, 90)}, "", "nor that of one percent"},
		{RequiredKindsNotDisplaced("A"), pipeline.Config{Slicer: alone}, propertyCase{items: []*cupel.ContextItem{ofA}, budget: Budget(60, 60), filler: Item("filler", 2)}, "with one more item of 2 tokens, which nothing prefers, the window loses kind A", "it has a better score"},
		{RequiredKindsNotDisplaced("A"), pipeline.Config{Slicer: alone, Scorer: failing(func(int) bool { return false })}, propertyCase{items: []*cupel.ContextItem{ofA}, budget: Budget(60, 60), filler: Item("filler", 2)}, "", "it has no better score"},
	} {
		if row.config.Scorer == nil {
			row.config.Scorer = scorer.Reflexive{}
		}
		if row.config.Slicer == nil {
			row.config.Slicer = slicer.Greedy{}
		}
		row.config.Placer = placer.Chronological{}
		p := &property{pipeline: must(pipeline.New(row.config))}
		row.rule(p)
		if got := p.rules[0].broken(p, row.c); !strings.HasPrefix(got, row.want) || row.want == "" && got != "" {
			t.Errorf("%s: %q, want %q: %s", p.rules[0].name, got, row.want, row.why)
		}
	}
}

// lossy selects nothing for targets above 60.
func lossy() strategy.Slicer {
	return sliceOf(func(items []cupel.ScoredItem, budget cupel.SliceBudget) (sel strategy.Selection) {
		for i := range items {
			if budget.TargetTokens <= 60 {
				sel.Indices = append(sel.Indices, i)
			}
		}
		return sel
	})
}

// lossyAround seems to have another slicer inside.
type lossyAround struct {
	strategy.Slicer
	inner strategy.Slicer
}

func (l lossyAround) Facts() strategy.Facts {
	return strategy.Facts{Of: l, Slicers: []strategy.Slicer{l.inner}}
}

// The list of a failure is made as small as it can be, in so many runs.
func TestShrink(t *testing.T) {
	shrink := func(n int, broken func(call int, has func(i int) bool) bool) (calls int, left string) {
		all := Items(make([]int, n)...)
		rule := propertyRule{broken: func(_ *property, c propertyCase) string {
			calls++
			if broken(calls, func(i int) bool { return slices.Contains(c.items, all[i]) }) {
				return "broken"
			}
			return ""
		}}
		small, _ := new(property).shrink(rule, propertyCase{items: all}, "broken")
		for _, item := range small.items {
			left += item.Content() + ", "
		}
		return calls, left
	}
	// The first one may go where the second has gone.
	if _, left := shrink(3, func(_ int, has func(i int) bool) bool { return has(2) && (has(0) || !has(1)) }); left != "item 3, " {
		t.Errorf("%s is left, and item 3 is enough", left)
	}
	// A removal that is enough at once makes the number of runs odd.
	if calls, _ := shrink(1500, func(call int, _ func(int) bool) bool { return call == 3 }); calls != mostShrinks+1 {
		t.Errorf("%d runs, want %d", calls, mostShrinks+1)
	}
	if calls, _ := shrink(1500, func(int, func(int) bool) bool { return false }); calls != mostShrinks {
		t.Errorf("%d runs, want %d", calls, mostShrinks)
	}
}

// The budgets of cases, of items so small that each is the last that fits, and so
// large that not all of their tokens count.
func TestPropertyBudgets(t *testing.T) {
	for _, row := range []struct {
		items []*cupel.ContextItem
		want  string
	}{
		{Items(slices.Repeat([]int{1}, 100)...), "72 72 108, 37 37 84, 79 81 93, 59 64 112, 100 101 112, 20 22 34, 15 15 19, 33 35 55"},
		{Items(math.MaxInt32), "0 0 376635398, 401917216 436630240 926793210, 0 0 125776116, 634890907 697841761 1197318124, 1073947637 1089172184 1195015154, 224571671 245306382 370145925, 166615181 179490998 212953208, 364544945 382335525 585249403"},
	} {
		p := &property{seed: 1, generate: func(*rand.Rand) []*cupel.ContextItem { return row.items }}
		var got []string
		for n := range 8 {
			c, _ := p.newCase(n)
			got = append(got, fmt.Sprint(c.budget.TargetTokens(), " ", c.budget.MaxTokens(), " ", c.more.MaxTokens()))
		}
		if text := strings.Join(got, ", "); text != row.want {
			t.Errorf("%d items: %s, want %s", len(row.items), text, row.want)
		}
	}
}

// The errors of runs that are lawful, however they are wrapped.
func TestLawfulFailures(t *testing.T) {
	for err, lawful := range map[error]bool{
		&cupel.ScarcityError{Slicer: "s", Kind: "A", RequireCount: 1}: true,
		errors.New("busy"): false,
	} {
		s := &scripted{slice: func([]cupel.ScoredItem, int) (strategy.Selection, error) { return strategy.Selection{}, err }}
		p := &property{pipeline: must(pipeline.New(pipeline.Config{Scorer: scorer.Reflexive{}, Slicer: s, Placer: placer.Chronological{}}))}
		report, broken := p.run(Items(1), Budget(9, 9))
		if report != nil || (broken == "") != lawful {
			t.Errorf("%v: %v, %q", err, report, broken)
		}
	}
}
