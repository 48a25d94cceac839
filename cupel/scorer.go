package cupel

import (
	"context"
	"fmt"

	"github.com/wollax/cupel-go/cupel/internal/promoted"
)

// Scorer says how relevant an item is among all items. Scores are
// conventionally in [0,1], higher is more relevant; any float64 is allowed.
//
// Score is a pure function: same arguments, same result, no side effects. It must
// be safe for concurrent use. all holds every scoreable item, including item, and
// must be neither changed nor retained.
//
// A scorer that compares items with each other should also be a [BatchScorer]: the
// engine then calls it once for all items instead of once per item.
//
// It implements the Scorers chapter of the specification.
type Scorer interface {
	Score(item *ContextItem, all []*ContextItem) float64
}

// BatchScorer is a [Scorer] that scores a whole list in one pass.
//
// ScoreAll writes scores[i] for every all[i], the same bits that Score gives
// for that item; len(scores) equals len(all), and a score not written is 0. It
// must not retain the slices. ctx is the run's context, with the values that an
// observer has added; long work should stop when ctx is done.
//
// A type that embeds a BatchScorer inherits its ScoreAll. The engine uses it only
// if Score is inherited too. If the type declares its own Score, the engine calls
// that once per item, unless the type also declares its own ScoreAll.
type BatchScorer interface {
	Scorer
	ScoreAll(ctx context.Context, all []*ContextItem, scores []float64) error
}

// ScorerWrapper is implemented by scorers that contain others. Validation and
// cycle detection look inside them.
type ScorerWrapper interface {
	// Scorers returns the scorers that this one calls, in order.
	Scorers() []Scorer
}

// ScoreAll scores every item with s, in one pass when s is a [BatchScorer] and
// one by one otherwise. Scorers that wrap others use it, so that a pass over
// the whole stays a pass over each part.
//
// A panic or an error of s is returned as a [StrategyError] that names s. ctx.Err(),
// a [StrategyError], an [InvalidConfigError] and a [ScarcityError] are returned
// unchanged. len(scores) must equal len(all). A nil ctx is [context.Background]. In
// addition to s, it takes O(N) time.
func ScoreAll(ctx context.Context, s Scorer, all []*ContextItem, scores []float64) (err error) {
	ctx = contextOr(ctx)
	if isNil(s) {
		return &StrategyError{Role: "scorer", Strategy: typeName(s), Reason: "is nil"}
	}
	if len(scores) != len(all) {
		return &StrategyError{Role: "scorer", Strategy: typeName(s), Reason: fmt.Sprintf("was given room for %d scores of %d items", len(scores), len(all))}
	}
	ctx, timing := startTiming(ctx, s)
	defer timing.end()
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
