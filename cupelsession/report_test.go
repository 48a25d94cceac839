package cupelsession_test

import (
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupel/analysis"
	"github.com/wollax/cupel-go/cupel/turn"
	"github.com/wollax/cupel-go/cupelinspect"
	"github.com/wollax/cupel-go/cupelsession"
)

// checkReport holds a turn's report against the turn, against analysis, JSON and
// the page.
func checkReport(t testing.TB, current *cupelsession.Turn, items []*cupel.ContextItem) *cupel.SelectionReport {
	t.Helper()
	r := current.Report()
	if again := current.Report(); again != r {
		t.Error("the report is made twice")
	}
	window := r.Window()
	if !slices.Equal(window, current.Window) {
		t.Errorf("the report's window is %v, the turn's %v", contents(window), contents(current.Window))
	}
	tokens := 0
	for _, it := range items {
		tokens += it.Tokens()
	}
	if r.TotalCandidates != len(items) || r.TotalTokensConsidered != tokens {
		t.Errorf("%d candidates of %d tokens, want %d of %d", r.TotalCandidates, r.TotalTokensConsidered, len(items), tokens)
	}
	ledger := analysis.NewLedger(r, items)
	for i := range ledger.Entries {
		if e := &ledger.Entries[i]; (e.Included != nil) == (e.Excluded != nil) || e.Code == "" {
			t.Errorf("candidate %d, %q: included %v, excluded %v, for the reason %q", i, items[i].Content(), e.Included, e.Excluded, e.Code)
		}
	}
	for _, e := range r.Included {
		if at := e.Candidate; at >= 0 {
			forms := append(items[at].Variants(), items[at].GroupVariants()...)
			says := func(v cupel.Variant) bool { return v.Content == e.Item.Content() }
			if n := slices.IndexFunc(forms, says); n >= 0 {
				assert.Equal(t, n+1, e.Form, e.Item.Content())
			}
		}
	}
	data, err := json.Marshal(r)
	require.NoError(t, err)
	var read cupel.SelectionReport
	require.NoError(t, json.Unmarshal(data, &read))
	again, err := json.Marshal(&read)
	require.NoError(t, err)
	assert.Equal(t, string(data), string(again), "JSON reads as another report")
	if d := analysis.DiffReports(r, &read); len(d.Came)+len(d.Went)+len(d.Moved)+len(d.Reasons)+len(d.Forms) > 0 {
		t.Errorf("JSON reads as another report: %+v", d)
	}
	assert.Equal(t, contents(window), contents(read.Window()), "the window read from JSON")
	selection, err := cupelinspect.FromReport(&read, budget(t, 1000))
	require.NoError(t, err)
	if err := cupelinspect.WriteHTML(io.Discard, "turn", selection); err != nil {
		t.Error(err)
	}
	return r
}

func contents(items []*cupel.ContextItem) string {
	var list []string
	for _, it := range items {
		list = append(list, fmt.Sprintf("%s:%d", it.Content(), it.Tokens()))
	}
	return strings.Join(list, " ")
}

// why says of each candidate why it is in or out.
func why(r *cupel.SelectionReport) string {
	var list []string
	for _, e := range r.Included {
		list = append(list, fmt.Sprintf("%d/%d %s", e.Candidate, e.Form, e.Reason))
	}
	for _, e := range r.Excluded {
		list = append(list, fmt.Sprintf("%d %s", e.Candidate, e.Reason.Code))
	}
	return strings.Join(list, ", ")
}

func TestReport(t *testing.T) {
	items := numbered(t, 10)
	items[2] = item(t, "negative", -1)
	s := session(t, newest(t), cupelsession.Config{})
	summary := ready(t, items[1], items[3], items[4])
	for _, step := range []struct {
		items int
		why   string
		event string
		what  string
	}{
		{5, "0/0 Pinned, 1/0 Scored, 3/0 Scored, 4/0 Scored, 2 NegativeTokens", "turn 1: 0 tokens kept; cost 40, or 40 to send everything", "no choice"},
		{6, "0/0 Pinned, 1/0 Scored, 3/0 Scored, 4/0 Scored, 5/0 Scored, 2 NegativeTokens", "turn 2: 40 tokens kept; cost 50, or 50 to send everything", "appended"},
		{7, "0/0 Pinned, -1/0 Scored, 5/0 Scored, 6/0 Scored, 4 BudgetExceeded, 3 BudgetExceeded, 1 BudgetExceeded, 2 NegativeTokens",
			"turn 3: break (forced) at item 1, 10 tokens kept, 3 items left out; cost 35, or 60 to send everything", "a break, with a summary that is no candidate"},
		{8, "0/0 Pinned, -1/0 Scored, 5/0 Scored, 6/0 Scored, 7/0 Scored, 4 BudgetExceeded, 3 BudgetExceeded, 1 BudgetExceeded, 2 NegativeTokens",
			"turn 4: 35 tokens kept; cost 45, or 70 to send everything", "the reasons of the last choice stay"},
	} {
		if step.items == 7 {
			amend(t, s, summary)
		}
		current := next(t, s, items[:step.items], 50)
		r := checkReport(t, current, items[:step.items])
		step.event += ", in tokens of plain input"
		assert.Equal(t, step.why, why(r), "%d items: %s", step.items, step.what)
		if e := r.Events[len(r.Events)-1]; e.Stage != turn.Stage || e.Message != step.event || current.String() != step.event || e.ItemCount != len(current.Window) {
			t.Errorf("%d items: the event is %+v, want %q", step.items, e, step.event)
		}
		commit(t, current)
	}
}

// TestReportOfTail: the tail has its own reasons, and a quotation is in the window and
// in the trace.
func TestReportOfTail(t *testing.T) {
	d := &diary{}
	items := numbered(t, 6)
	s := session(t, newest(t), cupelsession.Config{Trace: d, Tail: func(it *cupel.ContextItem) bool { return it.Kind() == cupel.KindDocument }})
	commit(t, next(t, s, items[:5], 50))
	commit(t, next(t, s, items, 50))
	now := cupel.WithTimestamp(time.Unix(9, 0)) // so that they have scores
	all := append(items[:6:6], item(t, "question", 2, cupel.WithKind(cupel.KindDocument), cupel.WithPinned()),
		item(t, "large", 40, cupel.WithKind(cupel.KindDocument), now), item(t, "large", 40, cupel.WithKind(cupel.KindDocument), now))
	d.take()
	current := next(t, s, all, 50)
	assert.Contains(t, d.take(), "quoted 1, ")
	const want = "0/0 Pinned, 4/0 Scored, 5/0 Scored, 3/1 Scored, 6/0 Pinned, 7 BudgetExceeded, 8 BudgetExceeded, 2 BudgetExceeded, 1 BudgetExceeded"
	assert.Equal(t, want, why(checkReport(t, current, all)), contents(current.Window))
}
