package cupel

import (
	"context"
	"fmt"

	"github.com/wollax/cupel-go/cupel/internal/promoted"
)

// Scorer says how relevant an item is among all items. Scores are
// conventionally in [0,1], higher is more relevant; any float64 is allowed.
//
// Score is a pure function: same arguments, same result, no side effects. It
// is called from several goroutines at once. all holds every scoreable item,
// item among them, and must be neither changed nor kept.
//
// A scorer that compares items with each other should be a [BatchScorer] as
// well: the engine then asks once for all items instead of once for each.
//
// It implements the Scorers chapter of the specification.
type Scorer interface {
	Score(item *ContextItem, all []*ContextItem) float64
}

// BatchScorer is a [Scorer] that scores a whole list in one pass.
//
// ScoreAll writes scores[i] for every all[i], the same bits that Score gives
// for that item; len(scores) equals len(all), and a score not written is 0. It
// keeps neither slice. ctx is the run's, with the values that an observer of
// the run has put into it; long work stops when ctx is done.
//
// A type that embeds a BatchScorer has its ScoreAll, which is used as long as
// Score is the embedded type's too. One with a Score of its own is asked for one
// score at a time, until it has a ScoreAll of its own as well.
type BatchScorer interface {
	Scorer
	ScoreAll(ctx context.Context, all []*ContextItem, scores []float64) error
}

// ScorerWrapper is implemented by scorers that are made of others. Validation
// and cycle detection look through it.
type ScorerWrapper interface {
	// Scorers returns the scorers that this one calls, in order.
	Scorers() []Scorer
}

// ScoreAll scores every item with s, in one pass when s is a [BatchScorer] and
// one by one otherwise. Scorers that wrap others use it, so that a pass over
// the whole stays a pass over each part.
//
// A panic or an error of s comes back as a [StrategyError] that names s. The
// end of ctx comes back as it is, and so do a [StrategyError], an
// [InvalidConfigError] and a [ScarcityError]: they name the culprit already.
// len(scores) must equal len(all). A nil ctx is [context.Background]. Besides s
// itself it takes O(N) at most.
func ScoreAll(ctx context.Context, s Scorer, all []*ContextItem, scores []float64) (err error) {
	ctx = contextOr(ctx)
	if isNil(s) {
		return &StrategyError{Role: "scorer", Strategy: typeName(s), Reason: "is nil"}
	}
	if len(scores) != len(all) {
		return &StrategyError{Role: "scorer", Strategy: typeName(s), Reason: fmt.Sprintf("was given room for %d scores of %d items", len(scores), len(all))}
	}
	defer recoverStrategy("scorer", s, &err)
	if batch, ok := s.(BatchScorer); ok && promoted.ScoreAll.Agree(s) {
		clear(scores) // what a batch form forgets is 0, and not what was there before
		return strategyError(ctx, "scorer", s, batch.ScoreAll(ctx, all, scores))
	}
	for i, item := range all {
		if i%64 == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		scores[i] = s.Score(item, all)
	}
	return nil
}
