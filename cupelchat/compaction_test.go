package cupelchat

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"github.com/wollax/cupel-go/cupel/pipeline"
	"github.com/wollax/cupel-go/cupel/placer"
	"github.com/wollax/cupel-go/cupel/scorer"
	"github.com/wollax/cupel-go/cupel/slicer"
)

func newest(t *testing.T) *pipeline.Pipeline {
	t.Helper()
	p, err := pipeline.New(pipeline.Config{Scorer: scorer.Recency{}, Slicer: slicer.Greedy{}, Placer: placer.Chronological{}})
	require.NoError(t, err)
	return p
}

func TestCompaction(t *testing.T) {
	const text = `[{"role":"user","content":"task"},{"role":"assistant","content":"an old answer"},{"role":"user","content":"x"},
	{"role":"assistant","content":[{"type":"compaction","content":"what was said"}]},{"role":"user","content":"and now"},
	{"role":"assistant","content":"a long answer, too long to stay"},{"role":"user","content":"last"}]`
	c := read(t, Anthropic, []byte(text))
	for _, tt := range []struct {
		why    string
		tokens int
		want   string
		notes  []string
	}{
		{"if everything just fits, everything is in", 101, text, nil},
		{"what it stands for goes first, except what is pinned", 50,
			`[{"role":"user","content":"task"},
	{"role":"assistant","content":[{"type":"compaction","content":"what was said"}]},{"role":"user","content":[{"type": "text", "text": "and now"}, {"type": "text", "text": "last"}]}]`,
			[]string{"left out 2 items before the latest compaction, which replaces them", "joined 1 message with the one before, because the messages between were dropped"}},
	} {
		w, err := c.Select(t.Context(), newest(t), budget(t, tt.tokens))
		require.NoError(t, err)
		got, err := w.Body()
		require.NoError(t, err, tt.why)
		assert.Equal(t, tt.want, string(got), tt.why)
		assert.Equal(t, 7, len(w.Report.Included)+len(w.Report.Excluded), tt.why)
		assert.Equal(t, 7, w.Report.TotalCandidates, tt.why)
		for _, e := range w.Report.Excluded {
			assert.Equal(t, e.Reason.Code == Compacted, e.Candidate == 1 || e.Candidate == 2, tt.why)
		}
		for _, e := range w.Report.Included {
			assert.Equal(t, c.Items()[e.Candidate].Content(), e.Item.Content(), tt.why)
		}
		assert.Equal(t, tt.notes, w.Notes, tt.why)
	}
	w, err := read(t, Anthropic, []byte(text), WithoutPins()).Select(t.Context(), newest(t), budget(t, 50))
	require.NoError(t, err)
	require.NotRegexp(t, "compaction", w.Notes, "it may go itself")
}
