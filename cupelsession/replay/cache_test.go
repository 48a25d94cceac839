package replay_test

import (
	"math"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"github.com/wollax/cupel-go/cupelchat/agent"
	"github.com/wollax/cupel-go/cupelsession"
	"github.com/wollax/cupel-go/cupelsession/replay"
)

// TestCostByAModel: a cache that finds any prefix at the measure's prices costs what
// the measure says; breakpoints and a minimum length make it dearer; without a cache
// the cost is the share of the tokens; and the windows are the same in all of them.
func TestCostByAModel(t *testing.T) {
	conversations := load(t, "agents.jsonl")
	policies := append(replay.Baselines(), replay.Choosing("agent", agent.New(replay.Characters{})).InSession(0.6))
	reference := cupelsession.CacheModel{Name: "reference", Read: 0.1, Write: 1.25, Likely: time.Minute}
	marked := reference
	marked.Name, marked.Breakpoints, marked.LookBack = "marked", 4, 20
	long := marked
	long.Name, long.MinTokens = "long", 1<<30
	want := run(t, conversations, policies, shares)
	dearer := 0
	models := []cupelsession.CacheModel{reference, marked, long, {Name: "none"}}
	together := run(t, conversations, policies, shares, replay.WithCache(models...))
	for k, model := range models {
		got := run(t, conversations, policies, shares, replay.WithCache(model))
		assert.Equal(t, model.Name, got.Rows[0].Caches[0].Cache)
		assert.Contains(t, got.Text(), "  cost  "+strings.Repeat(" ", max(0, 5-len(model.Name)))+model.Name+"  breaks")
		for i, row := range got.Rows {
			cost := row.Caches[0].Cost
			figure, ok := got.Figure(row.Policy, row.Share, model.Name)
			assert.True(t, ok, model.Name)
			assert.InDelta(t, cost, figure, 0, model.Name)
			assert.Equal(t, row.Caches[0], together.Rows[i].Caches[k], "%s with others", model.Name)
			row.Caches = nil
			assert.Equal(t, want.Rows[i], row)
			switch {
			case model.Name == "reference" && math.Abs(cost-row.Cost) > 1e-12:
				t.Errorf("%s of %s at %g: %v, want %v", model.Name, row.Policy, row.Share, cost, row.Cost)
			case model.Name == "marked" && cost < row.Cost-1e-12:
				t.Errorf("%s of %s at %g: %v, want at least %v", model.Name, row.Policy, row.Share, cost, row.Cost)
			case row.Policy == "everything" && math.Abs(cost-1) > 1e-12:
				t.Errorf("%s of everything: %v, want 1", model.Name, cost)
			case row.Policy != "everything" && row.Share < 0.5 && (model.Name == "none" || model.Name == "long") && cost > 0.9:
				t.Errorf("%s of %s at %g: %v, want the share of the tokens", model.Name, row.Policy, row.Share, cost)
			case model.Name == "marked" && cost > row.Cost:
				dearer++
			}
		}
	}
	_, ok := want.Figure("everything", shares[0], "none")
	require.False(t, ok, "a cache that is not measured has a figure")
	require.NotZero(t, dearer, "breakpoints never cost anything")
	_, err := replay.NewMeasure(policies, shares, replay.WithCache(long, long))
	require.ErrorContains(t, err, "different names")
	_, err = replay.NewMeasure(policies, shares, replay.WithCache(cupelsession.CacheModel{Read: math.NaN()}))
	require.ErrorContains(t, err, "Cache.Read must be a price")
}
