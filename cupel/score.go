package cupel

import "context"

// score is stage 2: one pass of the scorer over all scoreable items. The
// scorer is not called when there are none.
//
// It implements the Score chapter of the specification.
func (r *run) score(ctx context.Context) error {
	r.all = resize(r.all, len(r.scoreable))
	for i, candidate := range r.scoreable {
		r.all[i] = r.items[candidate]
	}
	r.scores = resize(r.scores, len(r.scoreable))
	r.trace.count = len(r.scoreable)
	if len(r.scoreable) == 0 {
		return nil
	}
	if err := ScoreAll(ctx, r.pipeline.config.Scorer, r.all, r.scores); err != nil {
		return err
	}
	if r.units != nil {
		r.scoreUnits()
	}
	return nil
}
