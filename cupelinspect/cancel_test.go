package cupelinspect_test

import (
	"context"
	"errors"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupel/pipeline"
	"github.com/wollax/cupel-go/cupel/scorer"
	"github.com/wollax/cupel-go/cupelinspect"
)

// quitter cancels the context on its at-th call with items.
type quitter struct {
	asked *int
	at    int
	quit  context.CancelFunc
}

func (q quitter) Score(_ context.Context, all []*cupel.ContextItem, _ []float64) error {
	if len(all) == 0 {
		return nil
	}
	if *q.asked++; *q.asked == q.at {
		q.quit()
	}
	return nil
}

// TestCanceled checks that a page is complete or not made at all if the context
// is canceled in the run, while the parts are scored, or in the sweep.
func TestCanceled(t *testing.T) {
	for at := 1; at <= 3; at++ {
		for _, stops := range []int{0, 3} {
			ctx, cancel := context.WithCancel(t.Context())
			asked := 0
			p := newPipeline(t, func(c *pipeline.Config) {
				c.Scorer = scorer.Must(scorer.NewComposite(scorer.Weighted{Scorer: quitter{&asked, at, cancel}, Weight: 1}, scorer.Weighted{Scorer: scorer.Reflexive{}, Weight: 1}))
			})
			s, err := cupelinspect.Inspect(ctx, p, []*cupel.ContextItem{hinted(t, "a", 1, 1)}, newBudget(t, 9, 9), cupelinspect.WithSweep(0, 9, stops))
			canceled, ok := errors.AsType[*pipeline.CanceledError](err)
			if ctx.Err() != nil {
				assert.Nil(t, s)
				assert.ErrorIs(t, err, context.Canceled, "when the scorer is asked for the %d. time, with %d stops", at, stops)
				require.True(t, ok)
			} else {
				assert.NoError(t, err)
			}
			if at == 3 && stops > 0 {
				assert.Equal(t, 3, asked, "in the run, for its parts and for the sweep")
				assert.Equal(t, cupel.StageScore, canceled.Stage, "the sweep says where it ended")
			}
			cancel()
		}
	}
}
