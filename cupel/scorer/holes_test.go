package scorer_test

import (
	"context"
	"errors"
	"slices"
	"testing"

	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupel/scorer"
	"github.com/wollax/cupel-go/cupel/strategy"
)

// TestPassesStopAtOnce counts looks at the context: one before the pass, one for
// each 4096 items from the first on, and none after the one that found it done.
func TestPassesStopAtOnce(t *testing.T) {
	all := make(items, 2*4096+1) // the third look is at the last item
	for i := range all {
		all[i] = item(cupel.WithPriority(i))
	}
	for _, tt := range []struct {
		scorer cupel.BatchScorer
		looks  int
		why    string
	}{
		{scorer.Reflexive{}, 4, "three looks in 8193 items"},
		{scorer.Priority{}, 5, "the same, and one after sorting"},
		{scorer.Recency{}, 5, "the same, and one after sorting"},
		{scorer.Frequency{}, 5, "the same, and one at the end: there are no tags to count"},
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

// TestScoresOfScorersThatWereNotBuilt: the single form has no error to return.
func TestScoresOfScorersThatWereNotBuilt(t *testing.T) {
	it := item(cupel.WithMetadata(map[string]any{"": ""}), cupel.WithTags("a"), cupel.WithTimestamp(reference))
	all := items{it, item()}
	for _, tt := range []struct {
		scorer cupel.Scorer
		want   float64
		why    string
	}{
		{(*scorer.MetadataKey)(nil), 1, "neutral, as for items that do not match"},
		{&scorer.MetadataKey{}, 1, "neutral, though the item has an empty key and value"},
		{(*scorer.MetadataTrust)(nil), 0, "no default score"},
		{(*scorer.Tag)(nil), 0, "no weights"},
		{&scorer.Tag{}, 0, "no weights"},
		{(*scorer.Composite)(nil), 0, "no parts"},
		{&scorer.Composite{}, 0, "no parts"},
		{(*scorer.Decay)(nil), 0, "no clock"},
		{&scorer.Decay{}, 0, "no clock"},
		{(*scorer.Scaled)(nil), 0.5, "no scores to tell apart"},
		{&scorer.Scaled{}, 0.5, "no scores to tell apart"},
	} {
		if got := tt.scorer.Score(it, all); got != tt.want {
			t.Errorf("%T %+v scores %v, want %v: %s", tt.scorer, tt.scorer, got, tt.want, tt.why)
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

// TestThreeSpellings: each spelling after the first repeats the first.
func TestThreeSpellings(t *testing.T) {
	_, kind := scorer.NewKind(map[cupel.ContextKind]float64{"NOTE": 1, "Note": 1, "note": 1})
	_, tag := scorer.NewTag(map[string]float64{"NOTE": 1, "Note": 1, "note": 1}, scorer.WithCaseInsensitiveTags())
	for _, err := range []error{kind, tag} {
		var repeated []string
		for _, one := range strategy.All(err) {
			var wrong *cupel.InvalidConfigError
			if errors.As(one, &wrong) {
				repeated = append(repeated, wrong.Field+" "+wrong.Earlier)
			}
		}
		want := []string{`weights["Note"] weights["NOTE"]`, `weights["note"] weights["NOTE"]`}
		if !slices.Equal(repeated, want) {
			t.Errorf("got %q, want %q", repeated, want)
		}
	}
}
