package analysis_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupel/analysis"
	"github.com/wollax/cupel-go/cupel/pipeline"
	"github.com/wollax/cupel-go/cupel/slicer"
	"github.com/wollax/cupel-go/cupel/strategy"
)

// checkWhyNot compares the answer about a candidate with plain runs: at the budget, at
// every ceiling up to the smallest budget that includes it, and with it pinned.
func checkWhyNot(t *testing.T, p *pipeline.Pipeline, items []*cupel.ContextItem, b cupel.ContextBudget, candidate int) *analysis.WhyNotAnswer {
	t.Helper()
	a, err := analysis.WhyNot(t.Context(), p, items, b, candidate)
	report, failed := p.DryRun(t.Context(), items, b)
	if failed != nil {
		if err == nil || err.Error() != failed.Error() {
			t.Fatalf("got error %v, want that of the run: %v", err, failed)
		}
		return nil
	}
	if err != nil {
		t.Fatal(err)
	}
	fail := func(format string, args ...any) {
		t.Helper()
		text := fmt.Sprintf(format, args...) + fmt.Sprintf("\n%s by %q, smallest %+v\n%T %+v, budget %+v\n", a.Why(), a.Rule, a.Smallest, p.Config().Slicer, p.Config(), b)
		for i, it := range items {
			text += fmt.Sprintln(i, string(must(it.MarshalJSON())))
		}
		t.Fatal(text, report.Included, "\n", report.Excluded)
	}
	in := func(r *cupel.SelectionReport) []bool {
		marks := make([]bool, len(items))
		if r != nil {
			for _, e := range r.Included {
				marks[e.Candidate] = true
			}
		}
		return marks
	}
	was := in(report)
	if (a.Place > 0) != was[candidate] || (a.Rule == "") != was[candidate] {
		fail("the answer is about another run")
	}
	same := func(what string, x *analysis.Exchange, other *cupel.SelectionReport, failed error) {
		t.Helper()
		if (failed != nil) != (x.Err != nil) || failed != nil && failed.Error() != x.Err.Error() {
			fail("%s: %v, want %v", what, x.Err, failed)
		}
		var came, went []int
		for c, now := range in(other) {
			if failed == nil && now && !was[c] {
				came = append(came, c)
			}
			if failed == nil && !now && was[c] {
				went = append(went, c)
			}
		}
		if !slices.Equal(came, slices.Sorted(slices.Values(x.Came))) || !slices.Equal(went, slices.Sorted(slices.Values(x.Went))) {
			fail("%s: came %v and went %v, want %v and %v", what, x.Came, x.Went, came, went)
		}
		for _, list := range [][]int{x.Came, x.Went} {
			if !slices.IsSortedFunc(list, func(i, j int) int { return a.Ledger.Entries[i].Rank - a.Ledger.Entries[j].Rank }) {
				fail("%s: %v and %v are not by rank", what, x.Came, x.Went)
			}
		}
	}

	dropped := p.Config().Overflow == pipeline.OverflowTruncate || a.Code == string(cupel.ExcludeDeduplicated) || a.Code == string(cupel.ExcludeSuperseded)
	for _, i := range a.DisplacedBy {
		mine := i == candidate || items[i].Group() != "" && items[i].Group() == items[candidate].Group()
		if mine || !was[i] && !dropped && a.Ledger.Entries[i].Code != string(cupel.ExcludeCountCapExceeded) {
			fail("candidate %d was not chosen instead", i)
		}
	}

	// Every budget up to the first that includes it, or to where it looked.
	at := func(n int) (*cupel.SelectionReport, error) {
		resized, err := b.Resize(n, n-min(n, b.OutputReserve()))
		if err != nil {
			return nil, err
		}
		return p.DryRun(t.Context(), items, resized)
	}
	s := a.Smallest
	gone := a.Code == string(cupel.ExcludeDeduplicated) || a.Code == string(cupel.ExcludeNegativeTokens)
	if gone != (s.SearchedTo == math.MaxInt) || !s.Found && !s.Exact && s.Err == nil {
		fail("it stopped early")
	}
	last := min(s.SearchedTo, 4000)
	if s.Found {
		last = s.Tokens - 1
	}
	hidden := s.Err == nil // whether a run fails as the answer says
	for n := range last + 1 {
		report, err := at(n)
		hidden = hidden || err != nil && err.Error() == s.Err.Error()
		if s.Exact && err == nil && in(report)[candidate] {
			fail("%d tokens include it", n)
		}
	}
	if !hidden {
		fail("no budget up to %d fails so", last)
	}
	if s.Found {
		report, err := at(s.Tokens)
		if err != nil || !in(report)[candidate] {
			fail("the smallest budget does not include it: %v", err)
		}
	}

	if (a.IfPinned == nil) != (a.Place > 0 || gone) {
		fail("if pinned: %+v", a.IfPinned)
	}
	if a.IfPinned != nil {
		pinned := slices.Clone(items)
		pinned[candidate] = must(items[candidate].With(cupel.WithPinned()))
		other, err := p.DryRun(t.Context(), pinned, b)
		same("pinned", a.IfPinned, other, err)
	}
	return a
}

// The answers are true for all slicers, nested, that explain themselves or do not, and
// for groups, smaller forms and versions.
func TestWhyNotAnswersAreTrue(t *testing.T) {
	r := rand.New(rand.NewPCG(12, 7))
	rounds := 2400
	if testing.Short() || raceEnabled {
		rounds = 200
	}
	out, found, multiples := 0, 0, 0
	asked := make(map[string]int)
	for round := range rounds {
		w := newWorld(r)
		if round%2 == 0 {
			w.items = randomUnits(r, 1+r.IntN(7))
		}
		if len(w.items) == 0 {
			continue
		}
		reserve := w.base.OutputReserve()
		tokens := reserve + r.IntN(60)
		a := checkWhyNot(t, w.pipeline, w.items, must(w.base.Resize(tokens, tokens-reserve)), r.IntN(len(w.items)))
		if a == nil {
			continue
		}
		asked[a.Code]++
		if a.Place == 0 {
			out++
		}
		if a.Smallest.Found {
			found++
			if a.Smallest.SearchedTo > analysis.SufficientBudget(w.items, w.base) {
				multiples++
			}
		}
	}
	if out < rounds/4 || found < rounds/4 || multiples < rounds/100 {
		t.Errorf("the worlds have become too simple to say much: %d out, %d found, %d beyond room for all", out, found, multiples)
	}
	for _, code := range []cupel.ExclusionCode{cupel.ExcludeBudgetExceeded, cupel.ExcludeSuperseded, cupel.ExcludeCountCapExceeded} {
		if asked[string(code)] == 0 {
			t.Errorf("no candidate was left out by %s", code)
		}
	}
}

// answerText writes an answer: reason, rule, what is chosen instead, what goes if it
// is pinned, and the smallest budget.
func answerText(a *analysis.WhyNotAnswer) string {
	text := a.Why() + "\n"
	if a.Rule != "" {
		text += a.Rule + "\n"
	}
	names := func(what string, candidates []int) {
		for _, i := range candidates {
			what += " " + a.Ledger.Entries[i].Item.Content()
		}
		text += what + "\n"
	}
	names("instead:", a.DisplacedBy)
	if x := a.IfPinned; x != nil {
		names("if pinned:", x.Went)
		if x.Err != nil {
			text += x.Err.Error() + "\n"
		}
	}
	return text + a.Smallest.String()
}

func TestWhyNot(t *testing.T) {
	items := []*cupel.ContextItem{
		item("rule", 10, cupel.WithPinned()),
		scored("apple", 20, 0.8, cupel.WithKind("Document")),
		scored("banana", 40, 0.9, cupel.WithKind("Document")),
		scored("cherry", 30, 0.6, cupel.WithKind("ToolOutput")),
		scored("apple", 20, 0.1),
		item("damson", -1),
		scored("elder", 5, 0.05),
	}
	version := func(content string, tokens, days int) *cupel.ContextItem {
		return scored(content, tokens, 0.5, cupel.WithVersionOf("file"), cupel.WithTimestamp(time.Date(2025, 6, days, 0, 0, 0, 0, time.UTC)))
	}
	old, newest := version("old", 5, 1), version("newest", 5, 2)
	reserve := budget(100, 80, cupel.WithOutputReserve(20))
	fails := func(ranges ...int) strategy.Slicer {
		return sliceFunc(func(ctx context.Context, items []cupel.ScoredItem, b cupel.SliceBudget) (strategy.Selection, error) {
			for r := range slices.Chunk(ranges, 2) {
				if r[0] <= b.TargetTokens && b.TargetTokens <= r[1] {
					return failing(ctx, items, b)
				}
			}
			return custom{slicer.Greedy{}}.Slice(ctx, items, b)
		})
	}
	for _, tt := range []struct {
		name, why string
		items     []*cupel.ContextItem
		slicer    strategy.Slicer
		budget    cupel.ContextBudget
		candidate int
		has       []string
	}{
		{"out", "apple and banana leave 10 of 70, as 100 less 20 and 10; at 80 the 30 of the reserve and the pinned item leave 50", items, slicer.Greedy{}, reserve, 3, []string{
			"BudgetExceeded: 30 tokens requested, 5 available", "When its turn came, 10 of 70 tokens were left. ", "instead: apple banana\n", "if pinned: banana\n", "The smallest budget that includes it is 80 tokens."}},
		{"duplicate", "the other apple is better", items, slicer.Greedy{}, reserve, 4, []string{"Of candidates with the same content, and of such groups, only the best is kept.\ninstead: apple\nNo budget includes it."}},
		{"negative", "no budget helps", items, slicer.Greedy{}, reserve, 5, []string{"Items with a negative token count are never chosen, nor are their groups.\ninstead:\nNo budget includes it."}},
		{"pinned override", "30 would fit 35", items, slicer.Greedy{}, budget(35, 35), 3, []string{"Pinned items take their tokens before the slicer chooses.\ninstead: rule\nif pinned:\ncupel: Pinned items require 40 tokens", "is 60 tokens."}},
		{"pinned, of all sizes", "pinned items without tokens take nothing", []*cupel.ContextItem{item("none", 0, cupel.WithPinned()), item("one", 1, cupel.WithPinned()), item("two", 2, cupel.WithPinned()), item("big", 5)}, slicer.Greedy{}, budget(6, 6), 3, []string{"instead: one two\n", "is 8 tokens."}},
		{"older", "the newest stands for it", []*cupel.ContextItem{newest, old, scored("plain", 5, 0.9)}, slicer.Greedy{}, budget(10, 10), 1, []string{"Of the versions of one thing the newest counts. Older ones come back only in its place.\ninstead: newest\n"}},
		{"fails before", "60 may not be the smallest when 55 fails", items, fails(45, 45), budget(80, 80), 3, []string{"A budget of 100 tokens includes it; a smaller one may."}},
		{"fails before and beyond", "nothing is known to include it", items, fails(45, 45, 101, 10000), budget(80, 80), 3, []string{"The smallest budget that includes it is not known: slicer "}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p := newPipeline(tt.slicer)
			a, err := analysis.WhyNot(t.Context(), p, tt.items, tt.budget, tt.candidate)
			if err != nil {
				t.Fatal(err)
			}
			for _, text := range tt.has {
				if got := answerText(a); !strings.Contains(got, text) {
					t.Errorf("lacks %q: %s\n%s", text, tt.why, got)
				}
			}
		})
	}
}

func TestWhyNotOfNearCopies(t *testing.T) {
	var text string
	for i := range 60 {
		text += fmt.Sprintf("w%c%c ", 'a'+i/26, 'a'+i%26)
	}
	items := []*cupel.ContextItem{item(text+"once", 1), item(text+"twice", 1)}
	p := newPipeline(slicer.Greedy{}, func(c *pipeline.Config) { c.NearDuplicates = 0.5 })
	report := must(p.DryRun(t.Context(), items, budget(9, 9)))
	a := must(analysis.WhyNot(t.Context(), p, items, budget(9, 9), 0))
	if a.Rule != "Of items with nearly the same text, the newest counts." || !slices.Equal(a.DisplacedBy, []int{1}) || a.IfPinned == nil || a.Smallest.String() != "No budget includes it." {
		t.Errorf("got %q, %v, %+v, %s", a.Rule, a.DisplacedBy, a.IfPinned, a.Smallest)
	}
	if survivor, ok := analysis.NewLedger(reread(t, report), nil).Survivor(1); !ok || survivor != 0 {
		t.Errorf("from JSON the survivor is %d, %t", survivor, ok)
	}
}

func TestWhyNotFails(t *testing.T) {
	items := []*cupel.ContextItem{item("a", 1), item("b", 3)}
	p := newPipeline(slicer.Greedy{})
	for candidate, text := range map[int]string{2: "got 2", -1: "got -1"} {
		_, err := analysis.WhyNot(t.Context(), p, items, budget(2, 2), candidate)
		wantError(t, err, "cupel: candidate must be a position in the list of 2 items, "+text, "there is no such candidate")
	}
	_, err := analysis.WhyNot(t.Context(), nil, items, budget(2, 2), 0)
	wantError(t, err, "cupel: the pipeline is empty: build it with New (Pipeline)", "and no panic")
	// The context ends while the search is on.
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	if _, err := analysis.WhyNot(ctx, p, items, budget(2, 2), 1, analysis.WithProgress(func(int, int) { cancel() })); !errors.Is(err, context.Canceled) {
		t.Errorf("after the end of its context: %v", err)
	}
}

// TestWhyNotLooksNoFurther counts the budgets that WhyNot looks at in turn, after
// halving has found one that includes the candidate.
func TestWhyNotLooksNoFurther(t *testing.T) {
	first, second, pin := scored("first", 30, 0.9), scored("second", 20, 0.1), scored("pin", 5, 0, cupel.WithPinned())
	rest, never := []*cupel.ContextItem{scored("rare", 1, 1), scored("large", 11_998, 1)}, selects(0)
	few, many := analysis.WithMaxBudgets(2), analysis.WithMaxBudgets(1<<22)
	for _, tt := range []struct {
		items    []*cupel.ContextItem // the first is the candidate
		slicer   strategy.Slicer
		opts     []analysis.ProbeOption
		want     string
		from, to int
		why      string
	}{
		{[]*cupel.ContextItem{second, first}, custom{slicer.Greedy{}}, nil, "The smallest budget that includes it is 20 tokens.", 0, 0, "halving from 20 to 50 looks at 20 first, and nothing is left to look at"},
		{[]*cupel.ContextItem{second, first, pin}, custom{slicer.Greedy{}}, nil, "The smallest budget that includes it is 25 tokens.", 20, 25, "halving misses 25, where the first does not fit, and finds 55"},
		{[]*cupel.ContextItem{second, first, pin}, custom{slicer.Greedy{}}, []analysis.ProbeOption{few}, "A budget of 55 tokens includes it; a smaller one may.", 20, 21, "two budgets say little"},
		{rest, never, nil, "No budget up to 10000 tokens includes it; not all larger ones were tried.", 1, 10_000, "ten thousand budgets are tried by default"},
		{rest, never, []analysis.ProbeOption{many}, "No budget up to 11999 tokens includes it.", 1, 11_999, "the caller's limit holds"},
	} {
		var l looked
		a, err := analysis.WhyNot(t.Context(), newPipeline(tt.slicer), tt.items, budget(10, 10), 0, append(tt.opts, l.option())...)
		if err != nil || a.Smallest.String() != tt.want || l.from != tt.from || l.to != tt.to {
			t.Errorf("got %v, %v after %+v; want %s after %d to %d: %s", a.Smallest, err, l, tt.want, tt.from, tt.to, tt.why)
		}
	}
}

// TestWhyNotReportsFailures has a slicer fail at each of its calls in turn: what
// the answer lacks is never passed over in silence. It lacks nothing after a
// failure at a budget above the smallest.
func TestWhyNotReportsFailures(t *testing.T) {
	items := []*cupel.ContextItem{scored("first", 3, 0.9), scored("second", 2, 0.1), scored("pin", 1, 0, cupel.WithPinned())}
	complete := analysis.SmallestBudget{Found: true, Tokens: 3, Exact: true, SearchedTo: 6}
	failed, said := 0, 0
	for at := 1; ; at++ {
		calls := 0
		a, err := analysis.WhyNot(t.Context(), newPipeline(sliceFunc(func(ctx context.Context, items []cupel.ScoredItem, b cupel.SliceBudget) (strategy.Selection, error) {
			if calls++; calls == at {
				return failing(ctx, items, b)
			}
			return slicer.Greedy{}.Slice(ctx, items, b)
		})), items, budget(4, 4), 1)
		if calls < at {
			if err != nil || a.Smallest != complete || a.IfPinned == nil {
				t.Errorf("without a failure: %+v, %v", a, err)
			}
			break
		}
		switch {
		case err != nil:
			failed++
			if a != nil || !errors.Is(err, errBroken) {
				t.Errorf("failing at call %d: %+v, %v", at, a, err)
			}
		case a.Smallest == complete && a.IfPinned != nil:
		case errors.Is(a.Smallest.Err, errBroken):
			said++
			if a.Smallest.Exact {
				t.Errorf("failing at call %d: %+v with an error", at, a.Smallest)
			}
		default:
			t.Errorf("failing at call %d: %+v, no error", at, a.Smallest)
		}
	}
	if failed < 3 || said == 0 { // the run, the explanation, if it were pinned
		t.Errorf("%d failures ended it, want one for each part of the answer, and %d were in it", failed, said)
	}
}

func TestSufficientBudget(t *testing.T) {
	ten, pin := item("x", 10), cupel.WithPinned()
	for _, tt := range []struct {
		items  []*cupel.ContextItem
		budget cupel.ContextBudget
		want   int
		why    string
	}{
		{[]*cupel.ContextItem{ten, item("x", 5, pin), item("x", -7), item("x", -7, pin)}, budget(100, 0), 15, "what is negative needs nothing"},
		{[]*cupel.ContextItem{ten}, budget(100, 0, cupel.WithOutputReserve(3), cupel.WithReservedSlots(map[cupel.ContextKind]int{"Memory": 4})), 17, "reserves are on top"},
		{[]*cupel.ContextItem{item("x", 5, pin)}, budget(100, 0, cupel.WithOutputReserve(3)), 8, "pinned items need the ceiling less the reserve"},
		{[]*cupel.ContextItem{ten}, budget(100, 0, cupel.WithEstimationSafetyMargin(50)), 20, "half of 20 tokens hold the ten"},
		{[]*cupel.ContextItem{item("x", math.MaxInt), item("x", math.MaxInt)}, budget(100, 0), math.MaxInt, "sums do not wrap"},
	} {
		if got := analysis.SufficientBudget(tt.items, tt.budget); got != tt.want {
			t.Errorf("got %d, want %d: %s", got, tt.want, tt.why)
		}
	}
}
