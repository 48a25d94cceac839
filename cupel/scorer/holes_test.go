package scorer_test

import (
	"context"
	"errors"
	"testing"

	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupel/scorer"
)

// TestPassesStopAtOnce counts looks at the context: one before the pass, one for
// each 4096 items, and none after the one that found it done.
func TestPassesStopAtOnce(t *testing.T) {
	all := make(items, 10_000)
	for i := range all {
		all[i] = item(cupel.WithPriority(i))
	}
	for _, tt := range []struct {
		scorer cupel.BatchScorer
		looks  int
		why    string
	}{
		{scorer.Reflexive{}, 4, "three look-ups in 10,000 items"},
		{scorer.Priority{}, 5, "the same, and one after sorting"},
	} {
		for from := 1; from <= tt.looks+1; from++ {
			ctx := &lateContext{Context: t.Context(), from: from}
			err := tt.scorer.ScoreAll(ctx, all, make([]float64, len(all)))
			done := from <= tt.looks
			if errors.Is(err, context.DeadlineExceeded) != done || ctx.asked != min(from, tt.looks) && done || !done && ctx.asked != tt.looks {
				t.Errorf("%T: done at look %d: asked %d times, error %v: %s", tt.scorer, from, ctx.asked, err, tt.why)
			}
		}
	}
}

func TestZeroMetadataKeyIsNeutral(t *testing.T) {
	all := items{item(cupel.WithMetadata(map[string]any{"": ""}))}
	for _, m := range []*scorer.MetadataKey{nil, {}} {
		if got := m.Score(all[0], all); got != 1 {
			t.Errorf("got %v, want 1, as for items that do not match", got)
		}
	}
}

// TestScaledGivesItsMemoryBack looks at the single form, which needs a list.
func TestScaledGivesItsMemoryBack(t *testing.T) {
	if raceEnabled {
		t.Skip("the race detector makes pools drop things at random")
	}
	all := make(items, 100)
	for i := range all {
		all[i] = item(cupel.WithPriority(i))
	}
	s := scaled(scorer.Reflexive{})
	if got := testing.AllocsPerRun(100, func() { s.Score(all[3], all) }); got > 0 {
		t.Errorf("allocated %v times", got)
	}
}
