package cupelrecord_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupel/observe"
	"github.com/wollax/cupel-go/cupel/pipeline"
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
			Sink: cupelrecord.Shadow(row.shadow, func(d cupelrecord.Difference) {
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
