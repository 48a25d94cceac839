package cupelrecord_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupel/observe"
	"github.com/wollax/cupel-go/cupel/pipeline"
	"github.com/wollax/cupel-go/cupel/placer"
	"github.com/wollax/cupel-go/cupel/scorer"
	"github.com/wollax/cupel-go/cupel/slicer"
	"github.com/wollax/cupel-go/cupel/strategy"
	"github.com/wollax/cupel-go/cupelrecord"
)

// failing is a scorer that fails.
type failing struct{}

func (failing) Score(context.Context, []*cupel.ContextItem, []float64) error {
	return errors.New("no scores")
}

// TestShadow: another policy sees the candidates of each run, and what differs is
// reported before Close returns.
func TestShadow(t *testing.T) {
	config := chat(t).Config()
	config.KeepDuplicates = true
	other, err := pipeline.New(config)
	require.NoError(t, err)
	config.Scorer = failing{}
	fails, err := pipeline.New(config)
	require.NoError(t, err)
	for _, row := range []struct {
		name   string
		shadow *pipeline.Pipeline
		want   string // positions of what differs, or the error
	}{
		{"the same policy", chat(t), "[]"},
		{"one that keeps copies", other, "[1 3 4 5 6 11]"},
		{"one that fails", fails, "cupel: scorer cupelrecord_test.failing failed: no scores"},
	} {
		var got string
		reports := 0
		recorder := newRecorder(t, cupelrecord.Config{
			Redaction: observe.Redaction{Show: observe.PartFields | observe.PartContent},
			Follow: cupelrecord.Shadow(row.shadow, func(d cupelrecord.Difference) {
				reports++
				if d.Err != nil {
					got = d.Err.Error()
				} else {
					got = fmt.Sprint(d.Candidates)
					assert.Len(t, d.Run.Items, 12)
					assert.NotEmpty(t, d.Report.Included)
				}
			}),
		})
		budget, err := cupel.NewContextBudget(200, 150)
		require.NoError(t, err)
		_, err = chat(t).Run(t.Context(), candidates(t), budget, pipeline.WithTrace(recorder))
		require.NoError(t, err)
		require.NoError(t, recorder.Close(t.Context()))
		assert.Equal(t, row.want, got, row.name)
		assert.Equal(t, 1, reports, row.name)
		assert.Equal(t, cupelrecord.Stats{Written: 1}, recorder.Stats())
	}
}

// A shadow names what its window would lose, if it may read contents.
func TestShadowNamesLostValues(t *testing.T) {
	for _, row := range []struct {
		show observe.Part
		want []string
		why  string
	}{
		{observe.PartFields | observe.PartContent, []string{"/var/log/oven.log"}, "the oldest message has the path, and the shadow keeps the newest"},
		{observe.PartFields, nil, "without contents there are no values"},
	} {
		items := []*cupel.ContextItem{
			newItem(t, "the log is /var/log/oven.log", 50, cupel.WithFutureRelevanceHint(1), cupel.WithTimestamp(time.Unix(1, 0))),
			newItem(t, "and it says status=404", 50, cupel.WithFutureRelevanceHint(.5), cupel.WithTimestamp(time.Unix(2, 0))),
			newItem(t, "so status=404 is what to mend", 50, cupel.WithFutureRelevanceHint(.1), cupel.WithTimestamp(time.Unix(3, 0))),
		}
		run := func(s strategy.Scorer) *pipeline.Pipeline {
			p, err := pipeline.New(pipeline.Config{Scorer: s, Slicer: slicer.ScoreGreedy{}, Placer: placer.Chronological{}})
			require.NoError(t, err)
			return p
		}
		var got cupelrecord.Difference
		recorder := newRecorder(t, cupelrecord.Config{
			Redaction: observe.Redaction{Show: row.show},
			Follow:    cupelrecord.Shadow(run(scorer.Recency{}), func(d cupelrecord.Difference) { got = d }),
		})
		budget, err := cupel.NewContextBudget(100, 100)
		require.NoError(t, err)
		_, err = run(scorer.Reflexive{}).Run(t.Context(), items, budget, pipeline.WithTrace(recorder))
		require.NoError(t, err)
		require.NoError(t, recorder.Close(t.Context()))
		require.NoError(t, got.Err)
		assert.Equal(t, []int{0, 2}, got.Candidates)
		assert.Equal(t, row.want, got.Lost, row.why)
	}
}
