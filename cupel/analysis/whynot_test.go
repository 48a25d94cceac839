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

	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupel/analysis"
	"github.com/wollax/cupel-go/cupel/slicer"
)

// isIn reports whether a plain dry run includes a candidate at a ceiling whose
// target is the ceiling less the reserve.
func isIn(ctx context.Context, p *cupel.Pipeline, items []*cupel.ContextItem, base cupel.ContextBudget, tokens, candidate int) bool {
	b, err := base.Resize(tokens, tokens-base.OutputReserve())
	if err != nil {
		return false
	}
	report, err := p.DryRun(ctx, items, b)
	return err == nil && slices.ContainsFunc(report.Included, func(i cupel.IncludedItem) bool { return i.Candidate() == candidate })
}

// failsUpTo reports whether a plain dry run at some ceiling up to last fails as err
// does.
func failsUpTo(ctx context.Context, p *cupel.Pipeline, items []*cupel.ContextItem, base cupel.ContextBudget, last int, err error) bool {
	for tokens := base.OutputReserve(); tokens <= last; tokens++ {
		b := must(base.Resize(tokens, tokens-base.OutputReserve()))
		if _, failed := p.DryRun(ctx, items, b); failed != nil && failed.Error() == err.Error() {
			return true
		}
	}
	return false
}

// The smallest budget is the first of all budgets that includes the candidate,
// for all slicers, nested, that explain and sweep or do not; what is said to have
// been chosen instead was; and pinning changes what it is said to change.
func TestWhyNotAnswersAreTrue(t *testing.T) {
	r := rand.New(rand.NewPCG(12, 7))
	rounds := 1500
	if testing.Short() || raceEnabled {
		rounds = 150
	}
	out, found, multiples := 0, 0, 0
	for range rounds {
		w := newWorld(r)
		if len(w.items) == 0 {
			continue
		}
		reserve := w.base.OutputReserve()
		tokens := reserve + r.IntN(60)
		b := must(w.base.Resize(tokens, tokens-reserve))
		candidate := r.IntN(len(w.items))
		a, err := analysis.WhyNot(t.Context(), w.pipeline, w.items, b, candidate)
		report, failed := w.pipeline.DryRun(t.Context(), w.items, b)
		if failed != nil {
			if err == nil || err.Error() != failed.Error() {
				t.Fatalf("got error %v, want that of the run: %v", err, failed)
			}
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		describe := func() string {
			text := fmt.Sprintf("%T %+v, budget %+v, overflow %v\n%s\n", w.slicer, w.slicer, b, w.pipeline.Config().Overflow, a)
			for i, it := range w.items {
				text += fmt.Sprintf("%d: %p %+v\n", i, it, it)
			}
			return text
		}
		included := func(i int) bool {
			return slices.ContainsFunc(report.Included, func(e cupel.IncludedItem) bool { return e.Candidate() == i })
		}
		if (a.Place > 0) != included(candidate) || (a.Rule == "") != included(candidate) {
			t.Fatalf("the answer is about another run\n%s", describe())
		}
		if a.Place == 0 {
			out++
		}
		dropped := w.pipeline.Config().Overflow == cupel.OverflowTruncate
		for _, i := range a.DisplacedBy {
			if code := a.Ledger.Entries[i].Code(); i == candidate || !included(i) && !dropped && code != string(cupel.ExcludeCountCapExceeded) && a.Code() != string(cupel.ExcludeDeduplicated) {
				t.Fatalf("candidate %d was not chosen instead\n%s", i, describe())
			}
		}

		// Every budget up to where it looked, and no other.
		never := a.Code() == string(cupel.ExcludeDeduplicated) || a.Code() == string(cupel.ExcludeNegativeTokens)
		if never != (a.Smallest.SearchedTo == math.MaxInt) {
			t.Fatalf("searched to %d\n%s", a.Smallest.SearchedTo, describe())
		}
		want := analysis.SmallestBudget{Exact: true, SearchedTo: a.Smallest.SearchedTo}
		for at := 0; at <= min(a.Smallest.SearchedTo, 4000); at++ {
			if isIn(t.Context(), w.pipeline, w.items, w.base, at, candidate) {
				want.Found, want.Tokens = true, at
				break
			}
		}
		if a.Smallest.Err == nil && a.Smallest != want {
			t.Fatalf("got %+v, want %+v\n%s", a.Smallest, want, describe())
		}
		if err := a.Smallest.Err; err != nil {
			// Only a run that fails at a smaller budget hides the answer.
			last := a.Smallest.SearchedTo
			if want.Found {
				last = want.Tokens - 1
			}
			if !failsUpTo(t.Context(), w.pipeline, w.items, w.base, last, err) {
				t.Fatalf("no budget up to %d fails with %v, and the first is %+v\n%s", last, err, want, describe())
			}
		}
		if a.Smallest.Found {
			if !isIn(t.Context(), w.pipeline, w.items, w.base, a.Smallest.Tokens, candidate) {
				t.Fatalf("%+v does not include it\n%s", a.Smallest, describe())
			}
			found++
			if want.SearchedTo > analysis.SufficientBudget(w.items, w.base) {
				multiples++
			}
			if a.AtSmallest == nil || a.AtSmallest.Err != nil || a.Place == 0 && !slices.Contains(a.AtSmallest.Came, candidate) {
				t.Fatalf("at the smallest budget: %+v\n%s", a.AtSmallest, describe())
			}
		}

		if (a.IfPinned == nil) != (a.Place > 0 || never) {
			t.Fatalf("if pinned: %+v\n%s", a.IfPinned, describe())
		}
		if a.IfPinned == nil {
			continue
		}
		it := w.items[candidate]
		hint, _ := it.FutureRelevanceHint()
		items := slices.Clone(w.items)
		items[candidate] = scored(it.Content(), it.Tokens(), hint, cupel.WithKind(it.Kind()), cupel.WithPinned())
		other, err := w.pipeline.DryRun(t.Context(), items, b)
		if (err != nil) != (a.IfPinned.Err != nil) || err != nil && err.Error() != a.IfPinned.Err.Error() {
			t.Fatalf("if pinned: %v, want %v\n%s", a.IfPinned.Err, err, describe())
		}
		if err != nil {
			continue
		}
		for i := range items {
			in := slices.ContainsFunc(other.Included, func(e cupel.IncludedItem) bool { return e.Candidate() == i })
			if slices.Contains(a.IfPinned.Came, i) != (in && !included(i)) || slices.Contains(a.IfPinned.Went, i) != (!in && included(i)) {
				t.Fatalf("if pinned, candidate %d: %+v\n%s", i, a.IfPinned, describe())
			}
		}
	}
	if out < rounds/4 || found < rounds/4 || multiples < rounds/100 {
		t.Errorf("the worlds have become too simple to say much: %d out, %d found, %d beyond room for all", out, found, multiples)
	}
}

func TestWhyNot(t *testing.T) {
	items := []*cupel.ContextItem{
		item("Be brief.", 10, cupel.WithPinned()),
		scored("apple", 20, 0.8, cupel.WithKind("Document")),
		scored("banana", 40, 0.9, cupel.WithKind("Document")),
		scored("cherry", 30, 0.6, cupel.WithKind("ToolOutput")),
		scored("apple", 20, 0.1),
		item("damson", -1),
		scored("elder", 5, 0.05),
	}
	twin := scored("twin", 7, 0.5)
	knapsack := must(slicer.NewKnapsack(slicer.WithBucketSize(1)))
	counted := must(slicer.NewCountConstrainedKnapsack(knapsack, []slicer.CountQuotaEntry{{Kind: "Memory", CapCount: 1}}))
	reserve := budget(100, 80, cupel.WithOutputReserve(20))
	failing := func(ranges ...int) cupel.Slicer {
		return sliceFunc(func(ctx context.Context, items []cupel.ScoredItem, b cupel.SliceBudget) (cupel.Selection, error) {
			for r := range slices.Chunk(ranges, 2) {
				if r[0] <= b.TargetTokens && b.TargetTokens <= r[1] {
					return cupel.Selection{}, errors.New("that is too much")
				}
			}
			return slicer.Greedy{}.Slice(ctx, items, b)
		})
	}
	for _, tt := range []struct {
		name, why string
		items     []*cupel.ContextItem
		slicer    cupel.Slicer
		budget    cupel.ContextBudget
		candidate int
		opts      []analysis.ProbeOption
		has       []string
	}{
		{"out", "apple and banana leave 10 of 70, as 100 less 20 and 10; at 80 the 30 of the reserve and the pinned item leave 50", items, slicer.Greedy{}, reserve, 3, nil, []string{
			`"cherry" (ToolOutput, 30 tokens, score 0.6, rank 3 of 5) is not included: BudgetExceeded: 30 tokens requested, 5 available`,
			"When its turn came, 10 of 70 tokens were left.", "Chosen instead:\n  \"apple\" (Document, 20 tokens, score 0.8, rank 2 of 5)\n  \"banana\"",
			"If it were pinned, these would go:\n  \"banana\" (Document, 40 tokens, score 0.9, rank 1 of 5)\n", "The smallest budget that includes it is 80 tokens."}},
		{"in", "it is best", items, slicer.Greedy{}, reserve, 2, nil, []string{"is included, in place 2 of 4: Scored\nThe smallest budget that includes it is 90 tokens."}},
		{"pinned", "10 and the reserve", items, slicer.Greedy{}, reserve, 0, nil, []string{"\"Be brief.\" (Message, 10 tokens) is included", "is 30 tokens."}},
		{"duplicate", "the other apple is better", items, slicer.Greedy{}, reserve, 4, nil, []string{"Of candidates with the same content, only the best is kept.\nChosen instead:\n  \"apple\" (Document", "No budget includes it."}},
		{"negative", "no budget helps", items, slicer.Greedy{}, reserve, 5, nil, []string{"Items with a negative token count are never chosen.", "No budget includes it."}},
		{"pinned override", "30 would fit 35", items, slicer.Greedy{}, budget(35, 35), 3, nil, []string{"Pinned items take their tokens before the slicer chooses.\nChosen instead:\n  \"Be brief.\"",
			"If it were pinned, the selection would fail: Pinned items require 40 tokens", "is 60 tokens."}},
		{"does not explain itself", "only what it chose is known", items, custom{knapsack}, reserve, 3, nil, []string{"custom chose others, with 70 tokens.\nChosen instead:\n", "is 80 tokens."}},
		{"share", "a tenth of 300 tokens, and 30", items, must(slicer.NewQuota(slicer.Greedy{}, slicer.Cap("ToolOutput", 10))), reserve, 3, nil, []string{"QuotaSlice gives the kind ToolOutput 7 of 70 tokens.", "is 330 tokens."}},
		{"ceiling", "80 would do", items, slicer.Greedy{}, reserve, 3, []analysis.ProbeOption{analysis.WithCeiling(79)}, []string{"No budget up to 79 tokens includes it."}},
		{"ceiling of nothing", "nothing fits", items, slicer.Greedy{}, reserve, 3, []analysis.ProbeOption{analysis.WithCeiling(0)}, []string{"No budget up to 0 tokens includes it."}},
		{"few budgets", "halving finds what is enough", items, counted, reserve, 3, []analysis.ProbeOption{analysis.WithMaxBudgets(10)}, []string{"A budget of ", "tokens includes it; a smaller one may."}},
		{"too few", "the first ten budgets are 50 to 59", items, counted, reserve, 3, []analysis.ProbeOption{analysis.WithMaxBudgets(10), analysis.WithCeiling(60)}, []string{"No budget up to 59 tokens includes it; not all larger ones were looked at."}},
		{"twins", "a pointer that occurs twice is two candidates: the second fits when both do", []*cupel.ContextItem{twin, twin}, slicer.Greedy{}, budget(10, 10), 1, nil, []string{"Chosen instead:\n  \"twin\" (Message, 7 tokens, score 0.5, rank 1 of 2)", "is 14 tokens."}},
		{"free", "items without tokens fit any target", []*cupel.ContextItem{item("free", 0), item("pin", 5, cupel.WithPinned())}, slicer.Greedy{}, budget(5, 5), 0, nil, []string{"Nothing is left to choose with after pinned items and what the budget reserves.", "If it were pinned, nothing would go.", "is 6 tokens."}},
		{"fails beyond", "what fails at large budgets says nothing of smaller ones", items, failing(101, 1000), budget(80, 80), 3, nil, []string{"sliceFunc chose others", "is 60 tokens."}},
		{"fails before", "60 may not be the smallest when 55 fails", items, failing(45, 45), budget(80, 80), 3, nil, []string{"sliceFunc chose others", "A budget of 100 tokens includes it; a smaller one may."}},
		{"fails before and beyond", "nothing is known to include it", items, failing(45, 45, 101, 1000), budget(80, 80), 3, nil, []string{"sliceFunc chose others", "The smallest budget that includes it is not known: slicer "}},
		{"long content", "names are short", []*cupel.ContextItem{item(strings.Repeat("é", 41), 9)}, slicer.Greedy{}, budget(5, 5), 0, nil, []string{`"` + strings.Repeat("é", 40) + `"… (Message, 9 tokens`}},
		{"pinned, of all sizes", "pinned items without tokens take nothing", []*cupel.ContextItem{item("none", 0, cupel.WithPinned()), item("one", 1, cupel.WithPinned()), item("two", 2, cupel.WithPinned()), item("big", 5)}, slicer.Greedy{}, budget(6, 6), 3, nil,
			[]string{"Chosen instead:\n  \"one\" (Message, 1 tokens)\n  \"two\" (Message, 2 tokens)\n", "is 8 tokens."}},
		{"long score", "four digits are enough", []*cupel.ContextItem{scored("a", 9, 0.123456)}, slicer.Greedy{}, budget(5, 5), 0, nil, []string{"score 0.1235,"}},
		{"huge", "sums do not wrap", []*cupel.ContextItem{item("one", math.MaxInt), item("pin", 1, cupel.WithPinned())}, slicer.Greedy{}, budget(5, 5), 0, nil, []string{"No budget includes it."}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p := pipeline(tt.slicer, func(c *cupel.Config) { c.KeepDuplicates = tt.name == "twins" })
			a, err := analysis.WhyNot(t.Context(), p, tt.items, tt.budget, tt.candidate, tt.opts...)
			if err != nil {
				t.Fatal(err)
			}
			for _, text := range tt.has {
				if !strings.Contains(a.String(), text) {
					t.Errorf("lacks %q: %s\n%s", text, tt.why, a)
				}
			}
		})
	}
}

func TestWhyNotNamesSome(t *testing.T) {
	for n, want := range map[int]string{9: "", 10: "", 11: "\n  and 1 more\n", 12: "\n  and 2 more\n"} {
		var items []*cupel.ContextItem
		for i := range n + 1 {
			items = append(items, scored(fmt.Sprint("item ", i), 1, 1-float64(i)/100))
		}
		a, err := analysis.WhyNot(t.Context(), pipeline(slicer.Greedy{}), items, budget(n, n), n)
		if err != nil || strings.Count(a.String(), "\n  \"item") != min(n, 10)+1 || !strings.Contains(a.String(), want) || want == "" && strings.Contains(a.String(), " more\n") { // at most ten chosen instead, and one that would go
			t.Errorf("%d chosen instead: got %v\n%v", n, err, a)
		}
	}
}

func TestWhyNotFails(t *testing.T) {
	items := []*cupel.ContextItem{item("a", 1), item("b", 3)}
	p := pipeline(slicer.Greedy{})
	for _, tt := range []struct {
		name, text string
		pipeline   *cupel.Pipeline
		candidate  int
		opts       []analysis.ProbeOption
	}{
		{"no such candidate", "cupel: candidate must be a position in the list of 2 items, got 2", p, 2, nil},
		{"slices.Index that finds nothing", "cupel: candidate must be a position in the list of 2 items, got -1", p, -1, nil},
		{"no budgets", "cupel: the number of budgets to try must be at least 1, got 0", p, 0, []analysis.ProbeOption{analysis.WithMaxBudgets(0)}},
		{"negative ceiling", "cupel: the largest budget to try must be at least 0, got -1", p, 0, []analysis.ProbeOption{analysis.WithCeiling(-1)}},
	} {
		_, err := analysis.WhyNot(t.Context(), tt.pipeline, items, budget(2, 2), tt.candidate, tt.opts...)
		wantError(t, err, analysis.ErrInvalidArgument, tt.text, tt.name)
	}
	if _, err := analysis.WhyNot(t.Context(), nil, items, budget(2, 2), 0); !errors.Is(err, cupel.ErrInvalidConfig) {
		t.Errorf("without a pipeline: %v", err)
	}

	// The context ends while the search is on.
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	_, err := analysis.WhyNot(ctx, p, items, budget(2, 2), 1, analysis.WithProgress(func(int, int) { cancel() }))
	if !errors.Is(err, context.Canceled) {
		t.Errorf("after the end of its context: %v", err)
	}
}

func TestSufficientBudget(t *testing.T) {
	for _, tt := range []struct {
		name, why string
		items     []*cupel.ContextItem
		opts      []cupel.BudgetOption
		want      int
	}{
		{"sum", "what is negative needs nothing", []*cupel.ContextItem{item("x", 10), item("x", 5, cupel.WithPinned()), item("x", -7)}, nil, 15},
		{"kept", "reserves are on top", []*cupel.ContextItem{item("x", 10)},
			[]cupel.BudgetOption{cupel.WithOutputReserve(3), cupel.WithReservedSlots(map[cupel.ContextKind]int{"Memory": 4})}, 17},
		{"margin", "half of 21 tokens hold the ten", []*cupel.ContextItem{item("x", 10)}, []cupel.BudgetOption{cupel.WithEstimationSafetyMargin(50)}, 21},
		{"small margin", "less than a percent is a margin: 11 tokens hold ten, and one for rounding", []*cupel.ContextItem{item("x", 10)}, []cupel.BudgetOption{cupel.WithEstimationSafetyMargin(0.5)}, 12},
		{"nothing is enough", "a margin of everything", []*cupel.ContextItem{item("x", 10)}, []cupel.BudgetOption{cupel.WithEstimationSafetyMargin(100)}, 10},
		{"huge", "sums do not wrap", []*cupel.ContextItem{item("x", math.MaxInt), item("x", math.MaxInt)}, nil, math.MaxInt},
		{"huge with a margin", "nor do margins", []*cupel.ContextItem{item("x", math.MaxInt)}, []cupel.BudgetOption{cupel.WithEstimationSafetyMargin(50)}, math.MaxInt},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := analysis.SufficientBudget(tt.items, budget(100, 0, tt.opts...)); got != tt.want {
				t.Errorf("got %d, want %d: %s", got, tt.want, tt.why)
			}
		})
	}
}

func TestNoWhyNotAnswer(t *testing.T) {
	for _, a := range []*analysis.WhyNotAnswer{nil, {}} {
		if got := a.String(); got != "no answer" {
			t.Errorf("got %q", got)
		}
	}
}
