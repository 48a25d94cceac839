package analysis_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupel/analysis"
	"github.com/wollax/cupel-go/cupel/slicer"
)

// TestWhyNotOfUnits compares answers about groups, smaller forms and versions with
// dry runs at every budget.
func TestWhyNotOfUnits(t *testing.T) {
	random := rand.New(rand.NewPCG(13, 2))
	slicers := []cupel.Slicer{
		slicer.Greedy{}, slicer.ScoreGreedy{}, slicer.Knapsack{}, slicer.MultipleChoice{},
		must(slicer.NewKnapsack(slicer.WithBucketSize(1))),
		must(slicer.NewQuota(slicer.Greedy{}, slicer.Cap(cupel.KindMessage, 60))),
		must(slicer.NewCountQuota(slicer.Greedy{}, []slicer.CountQuotaEntry{{Kind: cupel.KindMessage, CapCount: 2}})),
	}
	rounds := 300
	if testing.Short() {
		rounds = 80
	}
	asked := make(map[string]int)
	for round := range rounds {
		p := pipeline(slicers[round%len(slicers)], overflow(cupel.OverflowStrategy(random.IntN(3))), func(c *cupel.Config) { c.FullOnly = round%9 == 0 })
		items := randomUnits(random, 2+random.IntN(6))
		tokens := 20 + random.IntN(60)
		report, err := p.DryRun(t.Context(), items, budget(tokens, tokens))
		if err != nil {
			continue
		}
		in := func(r *cupel.SelectionReport) []bool {
			marks := make([]bool, len(items))
			for _, e := range r.Included {
				marks[e.Candidate()] = true
			}
			return marks
		}
		was := in(report)
		windows := make(map[int][]bool) // by budget
		window := func(n int) []bool {
			if windows[n] == nil {
				windows[n] = make([]bool, len(items))
				if r, err := p.DryRun(t.Context(), items, budget(n, n)); err == nil {
					windows[n] = in(r)
				}
			}
			return windows[n]
		}
		same := func(what string, x *analysis.Exchange, now []bool) {
			t.Helper()
			var came, went []int
			for c := range items {
				if now[c] && !was[c] {
					came = append(came, c)
				}
				if was[c] && !now[c] {
					went = append(went, c)
				}
			}
			if !slices.Equal(came, slices.Sorted(slices.Values(x.Came))) || !slices.Equal(went, slices.Sorted(slices.Values(x.Went))) {
				t.Fatalf("round %d, %s: came %v and went %v, want %v and %v", round, what, x.Came, x.Went, came, went)
			}
		}
		for c := range items {
			a, err := analysis.WhyNot(t.Context(), p, items, budget(tokens, tokens), c)
			if err != nil {
				t.Fatal(err)
			}
			asked[a.Code()]++
			if (a.Place > 0) != was[c] || (a.Rule == "") != was[c] {
				t.Fatalf("round %d, candidate %d (%s): place %d by rule %q, want it in the window: %t\n%s", round, c, a.Why(), a.Place, a.Rule, was[c], wholeText(items, report))
			}
			for _, by := range a.DisplacedBy {
				chosen := a.Code() != string(cupel.ExcludeSuperseded) && a.Code() != string(cupel.ExcludeDeduplicated)
				chosen = chosen && a.Ledger.Entries[by].Code() != string(cupel.ExcludeCountCapExceeded) // its inner slicer chose it
				if chosen && p.Config().Overflow != cupel.OverflowTruncate && !was[by] {
					t.Fatalf("round %d, candidate %d (%s): displaced by %d, which is out\n%s", round, c, a.Why(), by, wholeText(items, report))
				}
				if by == c || items[c].Group() != "" && items[by].Group() == items[c].Group() {
					t.Fatalf("round %d, candidate %d: displaced by %v, itself or its group", round, c, a.DisplacedBy)
				}
			}

			s := a.Smallest
			if s.Err != nil && !errors.Is(s.Err, cupel.ErrOverflow) || !s.Found && !s.Exact && s.Err == nil {
				t.Fatalf("round %d, candidate %d (%s): smallest %+v", round, c, a.Code(), s)
			}
			before := min(s.SearchedTo, 2*analysis.SufficientBudget(items, budget(tokens, tokens))) // budgets that must not include it
			if s.Found {
				before = s.Tokens - 1
				if !window(s.Tokens)[c] {
					t.Fatalf("round %d, candidate %d (%s): %d tokens do not include it", round, c, a.Code(), s.Tokens)
				}
				same("at the smallest budget", a.AtSmallest, window(s.Tokens))
			}
			for n := range before + 1 {
				if s.Exact && window(n)[c] {
					t.Fatalf("round %d, candidate %d (%s): smallest %+v, and %d tokens include it", round, c, a.Code(), s, n)
				}
			}
			if a.IfPinned == nil {
				continue
			}
			pinned := slices.Clone(items)
			pinned[c] = must(items[c].With(cupel.WithPinned()))
			r, err := p.DryRun(t.Context(), pinned, budget(tokens, tokens))
			if (err != nil) != (a.IfPinned.Err != nil) {
				t.Fatalf("round %d, candidate %d: pinned it gives %v, want %v", round, c, a.IfPinned.Err, err)
			}
			if err == nil {
				same("pinned", a.IfPinned, in(r))
			}
		}
	}
	t.Log(asked)
	for _, code := range []cupel.ExclusionCode{cupel.ExcludeBudgetExceeded, cupel.ExcludeSuperseded, cupel.ExcludeCountCapExceeded} {
		if asked[string(code)] == 0 {
			t.Errorf("no candidate was left out by %s", code)
		}
	}
}

// wholeText returns the candidates and the report of a failing case.
func wholeText(items []*cupel.ContextItem, report *cupel.SelectionReport) string {
	text := ""
	for i, it := range items {
		data, _ := it.MarshalJSON()
		text += fmt.Sprintln(i, string(data))
	}
	return text + fmt.Sprint(report.Included, "\n", report.Excluded)
}

// TestWhyNotSaysWhatUnitsDo has a sentence about each rule of units.
func TestWhyNotSaysWhatUnitsDo(t *testing.T) {
	group := cupel.WithGroup("g")
	for _, tt := range []struct {
		name      string
		items     []*cupel.ContextItem
		tokens    int
		candidate int
		want      string
		why       string
	}{
		{"shrunk", []*cupel.ContextItem{scored("manual", 50, 0.5, cupel.WithVariants(short("chapters", 20, 0.6)))}, 30, 0,
			"\"manual\" (Message, 50 tokens, score 0.5, rank 1 of 1) is included, in place 1 of 1, in form 1, 20 tokens: Scored\nThe smallest budget that includes it is 20 tokens.", "it is in, but not in full"},
		{"group", []*cupel.ContextItem{scored("call", 5, 0.5, group), scored("result", 30, 0.2, group), scored("plain", 20, 0.9)}, 40, 0,
			"\"call\" (Message, 5 tokens, group \"g\", score 0.5, rank 2 of 3) is not included: BudgetExceeded: 5 tokens requested, 20 available (group_tokens=35)\n" +
				"GreedySlice takes the highest score per token first. When its turn came, 20 of 40 tokens were left.\nChosen instead:\n  \"plain\" (Message, 20 tokens, score 0.9, rank 1 of 3)\n" +
				"If it were pinned, these would go:\n  \"plain\" (Message, 20 tokens, score 0.9, rank 1 of 3)\nThe smallest budget that includes it is 55 tokens.", "5 tokens would fit, and the group of 35 does not"},
		{"negative", []*cupel.ContextItem{scored("call", 5, 0.5, group), scored("result", -1, 0.2, group)}, 40, 0,
			"\"call\" (Message, 5 tokens, group \"g\") is not included: NegativeTokens: -1 tokens\nGroups in which an item has a negative token count are never chosen.\nNo budget includes it.", "one member is enough"},
		{"duplicate", []*cupel.ContextItem{scored("same", 5, 0.9), scored("same", 5, 0.5, group), scored("same", 5, 0.4, cupel.WithGroup("h"))}, 40, 2,
			"\"same\" (Message, 5 tokens, group \"h\", score 0.4, rank 3 of 3) is not included: Deduplicated: the same content is in as another item\nOf groups with the same contents, only the best is kept.\nChosen instead:\n  \"same\" (Message, 5 tokens, group \"g\", score 0.5, rank 2 of 3)\nNo budget includes it.", "groups are compared with groups"},
		{"replaced", []*cupel.ContextItem{scored("old", 5, 0.5, cupel.WithVersionOf("file")), scored("new", 50, 0.6, cupel.WithVersionOf("file"))}, 40, 1,
			"\"new\" (Message, 50 tokens, score 0.6, rank 1 of 2) is not included: BudgetExceeded: 50 tokens requested, 35 available\nThe slicer left it out, and an older version came back in its place.\nChosen instead:\n  \"old\" (Message, 5 tokens, score 0.5, rank 2 of 2)\n" +
				"If it were pinned, the selection would fail: Pinned items require 50 tokens, but only 40 are available\nThe smallest budget that includes it is 50 tokens.", "the older version is in its place"},
		{"pinned group", []*cupel.ContextItem{item("rule", 3, group, cupel.WithPinned()), scored("reason", 20, 0.2, group), scored("plain", 30, 0.9)}, 40, 2,
			"\"plain\" (Message, 30 tokens, score 0.9, rank 1 of 1) is not included: PinnedOverride: pinned items took its place\nPinned items take their tokens before the slicer chooses.\nChosen instead:\n  \"rule\" (Message, 3 tokens, group \"g\")\n  \"reason\" (Message, 20 tokens, group \"g\")\n" +
				"If it were pinned, the selection would fail: Pinned items require 53 tokens, but only 40 are available\nThe smallest budget that includes it is 53 tokens.", "its group pins the reason"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			a, err := analysis.WhyNot(t.Context(), pipeline(slicer.Greedy{}), tt.items, budget(tt.tokens, tt.tokens), tt.candidate)
			if err != nil {
				t.Fatal(err)
			}
			if got := a.String(); got != tt.want {
				t.Errorf("got\n%s\nwant\n%s\nsince %s", got, tt.want, tt.why)
			}
		})
	}
}
