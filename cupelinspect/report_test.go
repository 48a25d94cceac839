package cupelinspect_test

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupel/pipeline"
	"github.com/wollax/cupel-go/cupel/scorer"
	"github.com/wollax/cupel-go/cupel/turn"
	"github.com/wollax/cupel-go/cupelinspect"
)

// throughJSON returns the report after a round trip through JSON.
func throughJSON(t testing.TB, report *cupel.SelectionReport) *cupel.SelectionReport {
	t.Helper()
	data, err := json.Marshal(report)
	require.NoError(t, err)
	var other cupel.SelectionReport
	require.NoError(t, json.Unmarshal(data, &other))
	return &other
}

func fromReport(t testing.TB, report *cupel.SelectionReport, b cupel.ContextBudget, opts ...cupelinspect.Option) *cupelinspect.Selection {
	t.Helper()
	s, err := cupelinspect.FromReport(report, b, opts...)
	require.NoError(t, err)
	return s
}

func TestFromReport(t *testing.T) {
	b := newBudget(t, 100, 80, cupel.WithOutputReserve(10))
	report, err := newPipeline(t, nil).DryRun(t.Context(), everyReason(t), b)
	require.NoError(t, err)
	for name, report := range map[string]*cupel.SelectionReport{"in memory": report, "through JSON": throughJSON(t, report)} {
		t.Run(name, func(t *testing.T) {
			p, got := shown(t, fromReport(t, report, b, cupelinspect.WithName("stored")))
			// The window first, then what was left out, best first.
			equal(t, "codes", got.codes(), []string{"Pinned", "Scored", "Scored", "ZeroToken", "BudgetExceeded", "Deduplicated", "NegativeTokens"})
			equal(t, "scores", values(got.Scores), []any{1, 0.9, 0.5, 0.1, 0.8, 0.4, nil})
			equal(t, "window", got.Window, []int{0, 1, 2, 3})
			equal(t, "survivor", got.Survivor, map[int]int{5: 1})
			equal(t, "budget", got.Budget, budget{Max: 100, Target: 80, OutputReserve: 10, Effective: 70})
			equal(t, "name", got.Name, "stored")
			equal(t, "candidate 4", []string{got.Why[4], p.Items[got.Candidates[4]].Content}, []string{"BudgetExceeded: 400 tokens requested, 20 available", "huge"})
			equal(t, "what a report does not know", []any{got.Scorer + got.Slicer + got.Placer + got.Overflow + got.Error, got.Deduplicate, got.Sweep, got.Parts}, []any{"", true, nil, []part{}})
		})
	}
}

// TestReportOfOtherItems checks that items of a report are the candidates at their
// positions, even if their pointers differ, and other contents smaller forms of them.
func TestReportOfOtherItems(t *testing.T) {
	in := func(content string, candidate int) cupel.IncludedItem {
		return cupel.IncludedItem{Item: hinted(t, content, 1, 1), Candidate: candidate, Reason: cupel.IncludeScored}
	}
	out := func(candidate int) cupel.ExcludedItem {
		return cupel.ExcludedItem{Item: hinted(t, "x", 1, 1), Candidate: candidate, Reason: cupel.ExclusionReason{Code: "Own"}}
	}
	items := []*cupel.ContextItem{hinted(t, "a", 1, 1), hinted(t, "b", 1, 1), hinted(t, "c", 1, 1), hinted(t, "d", 1, 1)}
	report := &cupel.SelectionReport{
		Included: []cupel.IncludedItem{in("no candidate", 4), in("no candidate", -1), in("b", 1), in("short c", 2)},
		Excluded: []cupel.ExcludedItem{out(4), out(-1), out(0), out(3)},
	}
	_, got := shown(t, fromReport(t, report, newBudget(t, 9, 9), cupelinspect.WithCandidates(items, nil)))
	equal(t, "codes", got.codes(), []string{"Own", "Scored", "Scored", "Own"})
	equal(t, "forms", got.Form, map[int]int{2: 1})
}

// TestStrangeReport checks that no report breaks a page.
func TestStrangeReport(t *testing.T) {
	one := hinted(t, "one", 5, 1)
	excluded := func(n int) (list []cupel.ExcludedItem) {
		for i := range n {
			list = append(list, cupel.ExcludedItem{Item: one, Reason: cupel.ExclusionReason{Code: cupel.ExclusionCode(fmt.Sprint("Reason", i))}})
		}
		return list
	}
	tests := []struct {
		name   string
		report cupel.SelectionReport
		want   func(selection) bool
		why    string
	}{
		{"empty", cupel.SelectionReport{}, func(s selection) bool { return len(s.Candidates) == 0 && s.Window != nil && s.Stages != nil }, "lists are lists"},
		{"many codes", cupel.SelectionReport{Excluded: excluded(1000)}, func(s selection) bool {
			return len(s.Codes) == 201 && s.Codes[199] == "Reason199" && s.Codes[200] == "(other)" && s.Code[999] == 200 && s.Why[999] == "Reason999"
		}, "a legend ends, the sentences go on"},
		{"negative rest", cupel.SelectionReport{Excluded: []cupel.ExcludedItem{
			{Item: one, Reason: cupel.NewExclusionReason(cupel.ExcludeBudgetExceeded, cupel.ReasonData{ItemTokens: 5, AvailableTokens: -7})},
			{Item: one, Reason: cupel.NewExclusionReason(cupel.ExcludeBudgetExceeded, cupel.ReasonData{ItemTokens: 5, AvailableTokens: math.MinInt})}}},
			func(s selection) bool {
				return s.Why[0] == "BudgetExceeded: 5 tokens requested, but the slicer had already exceeded its budget by 7 tokens" && !strings.Contains(s.Why[1], "-")
			}, "a negative remainder would confuse readers"},
		{"own reason", cupel.SelectionReport{Excluded: []cupel.ExcludedItem{{Item: one, Reason: cupel.NewExclusionReason("TeamBudget", cupel.ReasonData{Kind: "Memory", Cap: 3})}}},
			func(s selection) bool {
				return s.Codes[0] == "TeamBudget" && s.Why[0] == "TeamBudget: kind=Memory, cap=3"
			}, "a strategy of the user's own says why"},
		{"duplicate of nothing", cupel.SelectionReport{Excluded: []cupel.ExcludedItem{{Item: one, Reason: cupel.ExclusionReason{Code: cupel.ExcludeDeduplicated}}}},
			func(s selection) bool { return len(s.Survivor) == 0 }, "what stayed is not there"},
		{"no items", cupel.SelectionReport{Included: []cupel.IncludedItem{{Reason: cupel.IncludeScored}}, Excluded: []cupel.ExcludedItem{{}}},
			func(s selection) bool { return len(s.Candidates) == 2 && s.Codes[1] == "" }, "a report by hand may lack everything"},
		{"no numbers", cupel.SelectionReport{Included: []cupel.IncludedItem{{Item: one, Score: math.NaN(), Reason: cupel.IncludeScored}, {Item: one, Score: math.Inf(1), Reason: cupel.IncludeScored}}},
			func(s selection) bool {
				return s.Scores[0] == nil && s.Scores[1] == nil && s.Why[1] == "Scored: score +Inf, 5 tokens"
			}, "JSON has no such numbers, text has"},
		{"session", cupel.SelectionReport{Events: []cupel.TraceEvent{{Stage: cupel.StageClassify, ItemCount: 2}, {Stage: turn.Stage, ItemCount: 2, Message: "turn 3: break (forced) at item 1"}}},
			func(s selection) bool {
				return s.Session == "turn 3: break (forced) at item 1" && len(s.Stages) == 0
			}, "a turn says what it kept and broke; that is no stage"},
		{"shortened before", cupel.SelectionReport{Included: []cupel.IncludedItem{{Item: newItem(t, "a", 5, cupel.WithOriginalTokens(9)), Reason: cupel.IncludeScored}, {Item: newItem(t, "b", 5, cupel.WithOriginalTokens(5)), Reason: cupel.IncludeScored}}},
			func(s selection) bool { return len(s.Form) == 1 && s.Form[0] == 1 && s.Full[0] == 9 && s.Origin == nil }, "a content that had more tokens is cut"},
		{"overflow", cupel.SelectionReport{Overflow: &cupel.OverflowEvent{TokensOverBudget: 4, Budget: newBudget(t, 9, 8)}},
			func(s selection) bool {
				return s.Overflow == "Proceed" && s.Overflowed == "4 tokens above the target of 8 were kept"
			}, "only Proceed keeps an overflow"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, got := shown(t, fromReport(t, &tt.report, cupel.ContextBudget{}))
			if !tt.want(got) {
				t.Errorf("%s: got %.2000s", tt.why, fmt.Sprintf("%+v", got))
			}
		})
	}
}

func TestFromReportErrors(t *testing.T) {
	_, err := cupelinspect.FromReport(nil, cupel.ContextBudget{})
	require.ErrorIs(t, err, cupel.ErrInvalidConfig)
	require.ErrorContains(t, err, "a report is required")
	_, err = cupelinspect.FromReport(&cupel.SelectionReport{}, cupel.ContextBudget{}, cupelinspect.WithSweep(-1, 0, 1))
	require.ErrorIs(t, err, cupel.ErrInvalidConfig)
}

// TestFromReportOfARun: with the pipeline, the candidates and a function that chooses again,
// a report makes the page that the run itself makes, and ends where a run would.
func TestFromReportOfARun(t *testing.T) {
	composite := scorer.Must(scorer.NewComposite(scorer.Weighted{Scorer: scorer.Reflexive{}, Weight: 3}, scorer.Weighted{Scorer: scorer.Priority{}, Weight: 1}))
	p, items, b := newPipeline(t, func(c *pipeline.Config) { c.Scorer = composite }), everyReason(t), newBudget(t, 100, 80)
	report, err := p.DryRun(t.Context(), items, b)
	require.NoError(t, err)
	calls, failsAt, fails := 0, -1, error(nil)
	choose := func(budget cupel.ContextBudget, pinned int) (*cupel.SelectionReport, error) {
		if calls++; calls-1 == failsAt {
			return nil, fails
		}
		with := slices.Clone(items)
		if pinned >= 0 {
			var err error
			with[pinned], err = items[pinned].With(cupel.WithPinned())
			require.NoError(t, err)
		}
		return p.DryRun(t.Context(), with, budget)
	}
	_, got := shown(t, fromReport(t, report, b, cupelinspect.WithPipeline(p), cupelinspect.WithCandidates(items, choose)))
	_, want := shown(t, inspect(t, p, items, b))
	require.NotEmpty(t, want.Parts)
	require.NotEmpty(t, want.Rivals)
	equal(t, "strategies", []string{got.Scorer, got.Slicer, got.Placer, got.Overflow}, []string{want.Scorer, want.Slicer, want.Placer, want.Overflow})
	equal(t, "parts", got.Parts, want.Parts)
	equal(t, "sweep", got.Sweep, want.Sweep)
	equal(t, "rivals", got.Rivals, want.Rivals)

	canceled, cancel := context.WithCancel(t.Context())
	cancel()
	_, fails = p.DryRun(canceled, items, b)
	all := calls
	for failsAt = range all {
		calls = 0
		_, err := cupelinspect.FromReport(report, b, cupelinspect.WithCandidates(items, choose))
		require.ErrorIs(t, err, context.Canceled, "call %d of %d", failsAt+1, all)
		require.Equal(t, failsAt+1, calls, "nothing is chosen after that")
	}
	calls, failsAt, fails = 0, 1, cupel.ErrStrategy
	_, got = shown(t, fromReport(t, report, b, cupelinspect.WithCandidates(items, choose)))
	equal(t, "error of a stop without a report", got.Sweep.Stops[0].Error, fails.Error())
	_, err = cupelinspect.FromReport(report, b, cupelinspect.WithCandidates([]*cupel.ContextItem{nil}, nil))
	require.ErrorContains(t, err, "must come from NewContextItem")
}

// TestTwoSelections checks which candidates of two selections are one item.
func TestTwoSelections(t *testing.T) {
	items := everyReason(t)
	b := newBudget(t, 100, 80)
	run := func(items []*cupel.ContextItem) *cupelinspect.Selection {
		return inspect(t, newPipeline(t, nil), items, b)
	}
	report, err := newPipeline(t, nil).DryRun(t.Context(), items, b)
	require.NoError(t, err)
	reversed := slices.Clone(items)
	slices.Reverse(reversed)
	twice := []*cupel.ContextItem{hinted(t, "copy", 1, 0.5), hinted(t, "copy", 1, 0.5)}
	again := []*cupel.ContextItem{hinted(t, "copy", 1, 0.5), hinted(t, "copy", 1, 0.5), hinted(t, "copy", 1, 0.5), hinted(t, "copy", 2, 0.5)}
	inWindowOrder := []int{0, 1, 2, 5, 6, 3, 4}
	tests := []struct {
		name   string
		a, b   *cupelinspect.Selection
		first  []int
		second []int
		items  int
		why    string
	}{
		{"same", run(items), run(items), []int{0, 1, 2, 3, 4, 5, 6}, []int{0, 1, 2, 3, 4, 5, 6}, 7, "pointers tell"},
		{"reversed", run(items), run(reversed), []int{0, 1, 2, 3, 4, 5, 6}, []int{6, 5, 4, 3, 2, 1, 0}, 7, "items are identified by pointer, in any order"},
		{"part", run(items[:2]), run(items[1:3]), []int{0, 1}, []int{1, 2}, 3, "what the first does not have is new"},
		{"stored", run(items), fromReport(t, throughJSON(t, report), b), []int{0, 1, 2, 3, 4, 5, 6}, inWindowOrder, 7, "items of a report are identified by their looks"},
		{"both stored", fromReport(t, throughJSON(t, report), b), fromReport(t, throughJSON(t, report), b), []int{0, 1, 2, 3, 4, 5, 6}, []int{0, 1, 2, 3, 4, 5, 6}, 7, "so are those of two"},
		{"copies", run(twice), run(again), []int{0, 1}, []int{0, 1, 2, 3}, 4, "the n-th copy is the n-th copy, a third is new"},
		{"one copy", run(twice[:1]), run(again[:1]), []int{0}, []int{0}, 1, "also of one"},
		{"mixed", run(twice), run([]*cupel.ContextItem{again[0], twice[0], again[1]}), []int{0, 1}, []int{1, 0, 2}, 3, "pointers first, looks for the rest"},
		{"pointer twice", run(again[3:]), run([]*cupel.ContextItem{again[0], again[0]}), []int{0}, []int{1, 1}, 2, "a pointer is an item"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			p := read(t, write(t, "both", tt.a, tt.b))
			equal(t, tt.why, p.Selections[0].Candidates, tt.first)
			equal(t, tt.why, p.Selections[1].Candidates, tt.second)
			assert.Len(t, p.Items, tt.items, tt.why)
			equal(t, "names", []string{p.Selections[0].Name, p.Selections[1].Name}, []string{"A", "B"})
		})
	}
	stored := func(report *cupel.SelectionReport) *cupelinspect.Selection {
		return fromReport(t, throughJSON(t, report), b)
	}
	one := &cupel.SelectionReport{Included: report.Included[:1]}
	p := read(t, write(t, "", stored(one), stored(report), stored(report)))
	equal(t, "the third has the items of the first and those that the second added", p.Selections[2].Candidates, p.Selections[1].Candidates)
}
