package cupelinspect_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupel/analysis"
	"github.com/wollax/cupel-go/cupel/pipeline"
	"github.com/wollax/cupel-go/cupel/slicer"
	"github.com/wollax/cupel-go/cupelinspect"
)

// TestLosers: of 100 tokens, one that is pinned takes the room of those that lose most.
func TestLosers(t *testing.T) {
	scored := func(content string, tokens int, score float64, more ...cupel.ItemOption) *cupel.ContextItem {
		item, err := cupel.NewContextItem(content, tokens, append(more, cupel.WithFutureRelevanceHint(score))...)
		require.NoError(t, err)
		return item
	}
	items := []*cupel.ContextItem{scored("a", 20, 0.9), scored("b", 30, 0.5), scored("call", 10, 0.7, cupel.WithGroup("call")), scored("result", 20, 0.7, cupel.WithGroup("call")), scored("c", 20, 0.1), scored("large", 90, 0.1)}
	p := newPipeline(t, func(c *pipeline.Config) { c.Slicer = slicer.ScoreGreedy{} })
	room, err := cupel.NewContextBudget(100, 100)
	require.NoError(t, err)
	pinned := func(candidate int) *analysis.Ledger {
		with := slices.Clone(items)
		if candidate >= 0 {
			with[candidate], err = with[candidate].With(cupel.WithPinned())
			require.NoError(t, err)
		}
		report, err := p.DryRun(t.Context(), with, room)
		require.NoError(t, err)
		return analysis.NewLedger(report, with)
	}
	now, after := pinned(-1), pinned(5)
	for _, row := range []struct {
		now, after *analysis.Ledger
		candidate  int
		want       []int
		why        string
	}{
		{now, after, 5, []int{1, 0, 3, 4, 2}, "10 tokens are left for all others, which have 100; those that lose most are first"},
		{now, after, 0, []int{1, 3, 4, 2}, "one does not lose to itself"},
		{now, after, 2, []int{1, 0, 4}, "nor do the members of its group"},
		{now, now, 5, []int{}, "nothing changes"},
		{now, pinned(2), 2, []int{}, "its group is in already"},
		{now, after, -1, nil, "it is none"},
		{now, after, 6, nil, "it is none"},
		{now, analysis.NewLedger(nil, nil), 5, nil, "the second has no candidates"},
		{after, now, 3, []int{5}, "the other way, the one that is no longer pinned"},
	} {
		assert.Equal(t, row.want, cupelinspect.Losers(row.now, row.after, row.candidate), row.why)
	}
}
