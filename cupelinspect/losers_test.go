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
	now := pinned(-1)
	for _, row := range []struct {
		candidate int
		want      []int
		why       string
	}{
		{5, []int{1, 0, 3, 4, 2}, "10 tokens are left for all others, which have 100"},
		{0, nil, "it is in already"},
		{2, nil, "its group is in already"},
		{-1, nil, "it is none"},
		{6, nil, "it is none"},
	} {
		assert.ElementsMatch(t, row.want, cupelinspect.Losers(now, pinned(min(row.candidate, 5)), row.candidate), row.why)
	}
	got := cupelinspect.Losers(now, pinned(5), 5)
	assert.Equal(t, []int{1, 0, 3, 4, 2}, got, "those that lose most are first")
	assert.Nil(t, cupelinspect.Losers(now, analysis.NewLedger(nil, nil), 5), "the second has no candidates")
	assert.Equal(t, []int{5}, cupelinspect.Losers(pinned(5), now, 3), "the other way, the one that is no longer pinned")
}
