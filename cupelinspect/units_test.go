package cupelinspect_test

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupel/pipeline"
	"github.com/wollax/cupel-go/cupel/slicer"
	"github.com/wollax/cupel-go/cupelinspect"
)

// grouped are, under a target of 60 tokens: a pinned rule whose group shrinks
// only below 20 tokens, a call in full, a manual in its second form, notes as
// what stands for both, a large call that is out, and a draft that comes back
// for the newer one.
func grouped(t testing.TB, calls *atomic.Int32) []*cupel.ContextItem {
	t.Helper()
	hint, group := cupel.WithFutureRelevanceHint, cupel.WithGroup
	chapters := func(context.Context) (string, error) {
		calls.Add(1)
		return "its chapters", nil
	}
	return []*cupel.ContextItem{
		newItem(t, "a rule", 5, cupel.WithPinned(), group("rules")),
		newItem(t, "the reason", 10, group("rules"), cupel.WithVariants(cupel.Variant{Content: "in short", Tokens: 2, Worth: 0.5})),
		newItem(t, "a call", 2, hint(0.8), group("call 1")),
		newItem(t, "its result", 8, hint(0.1), group("call 1"), cupel.WithKind(cupel.KindToolOutput)),
		newItem(t, "the manual", 80, hint(0.5), cupel.WithVariants(
			cupel.Variant{Content: "its pages", Tokens: 70, Worth: 0.9}, cupel.Variant{Make: chapters, Tokens: 15, Worth: 0.5}, cupel.Variant{Make: chapters, Tokens: 3, Worth: 0.1})),
		newItem(t, "note 1", 30, hint(0.4), group("notes")),
		newItem(t, "note 2", 40, hint(0.4), group("notes"), cupel.WithGroupVariants(cupel.Variant{Make: chapters, Tokens: 10, Worth: 0.7})),
		newItem(t, "a large call", 90, hint(0.1), group("call 2")),
		newItem(t, "draft 1", 4, hint(0.3), cupel.WithVersionOf("draft")),
		newItem(t, "draft 2", 100, hint(0.3), cupel.WithVersionOf("draft")),
	}
}

func TestInspectUnits(t *testing.T) {
	var calls atomic.Int32
	s := inspect(t, newPipeline(t, nil), grouped(t, &calls), newBudget(t, 60, 60), cupelinspect.WithSweep(8, 400, 99))
	assert.EqualValues(t, 2, calls.Load(), "for the manual and the notes; the sweep must not call it")
	p, got := shown(t, s)
	equal(t, "codes", got.codes(), []string{"Pinned", "Pinned", "Scored", "Scored", "Scored", "Scored", "Scored", "BudgetExceeded", "Scored", "BudgetExceeded"})
	equal(t, "forms of the run", got.Form, map[int]int{4: 1, 5: 1, 6: 1})
	sent := func(at int) string { return got.Forms[at][0].sent(t, p.Items[got.Candidates[at]].Content) }
	equal(t, "the manual in the window", []any{sent(4), got.Forms[4][0].Tokens}, []any{"its chapters", 15})
	equal(t, "the notes in the window", []any{sent(5) + sent(6), got.Forms[5][0].Tokens, got.Forms[6][0].Tokens}, []any{"its chapters", 10, 0})
	equal(t, "forms of the reason and of a note, each once: as in the run, and as in the sweep", []int{len(got.Forms[1]), len(got.Forms[5])}, []int{1, 2})
	equal(t, "stale", got.Stale, []int{8})
	equal(t, "pinned", *got.Pinned, 15)
	equal(t, "what the slicer may spend", got.Budget.Effective, 45)
	equal(t, "group and version", []string{p.Items[3].Group, p.Items[9].VersionOf}, []string{"call 1", "draft"})
	equal(t, "the large call", got.Why[7], "BudgetExceeded: 90 tokens requested, 6 available (group_tokens=90)")

	equal(t, "rivals: with what is cut or out in full the rule does not fit", got.Rivals, map[int][]int{4: {-1}, 5: {-1}, 6: {-1}, 7: {-1}, 9: {-1}})

	unmade, shrunk := 0, 0
	for _, stop := range got.Sweep.Stops {
		if form, ok := stop.Form[4]; ok && got.Forms[4][form-1].sent(t, p.Items[got.Candidates[4]].Content) == "made when it is chosen" {
			unmade++
		}
		if stop.Form[1] == 1 && *stop.Pinned == 7 && stop.Effective == stop.Target-7 {
			shrunk++
		}
	}
	assert.Positive(t, unmade, "stops with a form that a function would make")
	assert.Positive(t, shrunk, "stops with a pinned group in a smaller form")

	// A report that was read has the same forms, whose contents are its items.
	report, err := newPipeline(t, nil).DryRun(t.Context(), grouped(t, &calls), newBudget(t, 60, 60))
	require.NoError(t, err)
	text, err := json.Marshal(report)
	require.NoError(t, err)
	var back cupel.SelectionReport
	require.NoError(t, json.Unmarshal(text, &back))
	from, err := cupelinspect.FromReport(&back, newBudget(t, 60, 60))
	require.NoError(t, err)
	p, got = shown(t, from)
	equal(t, "tokens in full", between(t, write(t, "", from), "<p>", " →"), "369")
	at := slices.IndexFunc(p.Items, func(it item) bool { return it.Content == "its chapters" })
	require.GreaterOrEqual(t, at, 0)
	equal(t, "forms that were read", []int{len(got.Form), got.Form[at], got.Full[at], got.Origin[at], len(got.Forms), *got.Pinned}, []int{3, 1, 80, 4, 0, 15})
}

func TestSupersededNamesTheNewest(t *testing.T) {
	items := []*cupel.ContextItem{
		newItem(t, "draft 1", 4, cupel.WithVersionOf("draft")),
		newItem(t, strings.Repeat(" ", 200)+"draft 2 "+strings.Repeat("x", 60), 5, cupel.WithVersionOf("draft")),
	}
	_, got := shown(t, inspect(t, newPipeline(t, nil), items, newBudget(t, 20, 20)))
	equal(t, "why", got.Why[0], "Superseded: a newer version is among the candidates: “draft 2 "+strings.Repeat("x", 52)+"…”")
	equal(t, "newest", got.Survivor, map[int]int{0: 1})
	equal(t, "stale", got.Stale, []int{0})
}

// A failed run has no window, and pinned items have the tokens that they came
// with.
func TestUnitsOfAFailedRun(t *testing.T) {
	items := []*cupel.ContextItem{newItem(t, "rule", 50, cupel.WithPinned(), cupel.WithGroup("rules")), newItem(t, "reason", 5, cupel.WithGroup("rules"))}
	s := inspect(t, newPipeline(t, func(c *pipeline.Config) { c.Slicer = slicer.Greedy{} }), items, newBudget(t, 20, 20))
	_, got := shown(t, s)
	require.Error(t, s.Err())
	equal(t, "pinned and forms", []any{got.Pinned, got.Form}, []any{nil, nil})
}
