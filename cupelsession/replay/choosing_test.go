package replay_test

import (
	"context"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupel/pipeline"
	"github.com/wollax/cupel-go/cupel/placer"
	"github.com/wollax/cupel-go/cupel/scorer"
	"github.com/wollax/cupel-go/cupel/slicer"
	"github.com/wollax/cupel-go/cupelchat"
	"github.com/wollax/cupel-go/cupelchat/agent"
	"github.com/wollax/cupel-go/cupelsession"
	"github.com/wollax/cupel-go/cupelsession/replay"
)

func latest(t testing.TB) *pipeline.Pipeline {
	t.Helper()
	p, err := pipeline.New(pipeline.Config{Scorer: scorer.Recency{}, Slicer: slicer.ScoreGreedy{}, Placer: placer.Chronological{}})
	require.NoError(t, err)
	return p
}

// chooserFunc changes what a chooser is given.
type chooserFunc struct {
	cupelchat.Chooser
	before func(items []*cupel.ContextItem, budget cupel.ContextBudget) (cupel.ContextBudget, error)
}

func (c chooserFunc) RunReport(ctx context.Context, items []*cupel.ContextItem, budget cupel.ContextBudget, opts ...pipeline.RunOption) ([]*cupel.ContextItem, *cupel.SelectionReport, error) {
	budget, err := c.before(items, budget)
	if err != nil {
		return nil, nil, err
	}
	return c.Chooser.RunReport(ctx, items, budget, opts...)
}

// reportFunc changes the report of a chooser.
type reportFunc struct {
	cupelchat.Chooser
	after func(*cupel.SelectionReport)
}

func (c reportFunc) RunReport(ctx context.Context, items []*cupel.ContextItem, budget cupel.ContextBudget, opts ...pipeline.RunOption) ([]*cupel.ContextItem, *cupel.SelectionReport, error) {
	window, report, err := c.Chooser.RunReport(ctx, items, budget, opts...)
	if err == nil {
		c.after(report)
	}
	return window, report, err
}

var update = flag.Bool("update", false, "write the figures that there are now")

// TestFigures holds the figures of choosers. A session changes less of what was sent
// than a choice at each step, and the lower its mark the less it costs.
func TestFigures(t *testing.T) {
	newest, preset := replay.Choosing("latest", latest(t)), replay.Choosing("agent", agent.New(replay.Characters{}))
	unmarked := preset.InSession(0)
	unmarked.Name = "agent unmarked"
	policies := []replay.Policy{replay.Baselines()[1], newest, newest.InSession(0.5), preset, preset.InSession(0.9).InSession(0.3), unmarked}
	got := ""
	for _, name := range []string{"agents.jsonl", "strange.jsonl"} {
		got += run(t, load(t, name), policies, []float64{0.2, 0.5}, replay.WithCache(cupelsession.AnthropicCache), replay.WithAgainst("newest")).Text() + "\n"
	}
	file := filepath.Join("testdata", "choosing.txt")
	if *update {
		require.NoError(t, os.WriteFile(file, []byte(got), 0o600))
	}
	want, err := os.ReadFile(file)
	require.NoError(t, err)
	require.Equal(t, strings.ReplaceAll(string(want), "\r\n", "\n"), got)
}

func failing(t *testing.T) replay.Policy {
	t.Helper()
	return replay.Choosing("failing", chooserFunc{latest(t), func(_ []*cupel.ContextItem, budget cupel.ContextBudget) (cupel.ContextBudget, error) {
		return budget, errBroken
	}})
}

// TestTooLarge: a window that is larger than the budget is chosen again.
func TestTooLarge(t *testing.T) {
	greedy := chooserFunc{latest(t), func(_ []*cupel.ContextItem, budget cupel.ContextBudget) (cupel.ContextBudget, error) {
		return cupel.NewContextBudget(budget.MaxTokens()+10, budget.TargetTokens()+10)
	}}
	policy := replay.Choosing("greedy", greedy)
	for _, row := range run(t, load(t, "agents.jsonl"), []replay.Policy{policy, policy.InSession(0.6)}, []float64{0.5}).Rows {
		assert.Zero(t, row.Failures, "%s: %+v", row.Mode, row.First)
	}
	// At the second step 43 tokens are pinned: of the budget of 45, the second try has 42.
	tries := 0
	once := chooserFunc{latest(t), func(_ []*cupel.ContextItem, budget cupel.ContextBudget) (cupel.ContextBudget, error) {
		tries++
		if budget.MaxTokens() == 45 {
			return cupel.NewContextBudget(55, 55)
		}
		return budget, nil
	}}
	row := run(t, read(t, talk), []replay.Policy{replay.Choosing("once", once)}, []float64{0.49}).Rows[0]
	require.Zero(t, row.Failures, "%+v", row.First)
	require.Equal(t, 4, tries, "what is pinned fits")
	twice := chooserFunc{latest(t), func(_ []*cupel.ContextItem, budget cupel.ContextBudget) (cupel.ContextBudget, error) {
		if budget.MaxTokens() < 46 {
			return budget, errBroken
		}
		return cupel.NewContextBudget(1000, 1000)
	}}
	row = run(t, read(t, talk), []replay.Policy{replay.Choosing("twice", twice)}, []float64{0.5}).Rows[0]
	require.Regexp(t, "^the window has", row.First.Reason, "a smaller one cannot be chosen")
	rows := run(t, read(t, talk), []replay.Policy{failing(t), failing(t).InSession(0.5)}, []float64{0.5}).Rows
	for i, want := range []int{3, 1} { // a session chooses where not everything fits
		row := rows[i]
		assert.Equal(t, want, row.Failures, "%s: %+v", row.Mode, row.First)
		assert.Equal(t, errBroken.Error(), row.First.Reason, "%s", row.Mode)
	}
}

func TestNamed(t *testing.T) {
	find := func(base string) (replay.Policy, error) {
		if base == "none@all" {
			return replay.Policy{}, errBroken
		}
		return replay.Choosing(base, latest(t)), nil
	}
	for _, row := range []struct {
		name, title string
		mode        replay.Mode
	}{
		{"newest", "newest that fits", replay.Stateless},
		{"newest@0.5", "newest, to 0.5", replay.Session},
		{"@0.5", ", to 0.5", replay.Session},
		{"mine@1.json", "", replay.Stateless},
		{"mine.json@1", "mine.json, to 1", replay.Session},
	} {
		p, err := replay.Named(row.name, find)
		require.NoError(t, err)
		require.Equal(t, []any{row.name, row.title, row.mode}, []any{p.Name, p.Title, p.Mode})
	}
	_, err := replay.Named("none@all", find)
	require.ErrorIs(t, err, errBroken)
	for _, mark := range []string{"0", "1.5", "NaN"} {
		_, err := replay.Named("newest@"+mark, find)
		require.EqualError(t, err, `cupel: policy "newest@`+mark+`": the low-water mark must be above 0 and at most 1, got `+mark)
	}
	low, err := replay.Named("newest@0.3", nil)
	require.NoError(t, err)
	rows := run(t, load(t, "agents.jsonl"), []replay.Policy{replay.Baselines()[1].InSession(0), replay.Baselines()[3], low}, []float64{0.25}).Rows
	require.InDelta(t, rows[1].Cost, rows[0].Cost, 0, "a baseline has the mark of the reference")
	require.Less(t, rows[2].Cost, rows[1].Cost, "or its own")
}
