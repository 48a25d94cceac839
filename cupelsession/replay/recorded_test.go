package replay_test

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupel/observe"
	"github.com/wollax/cupel-go/cupel/pipeline"
	"github.com/wollax/cupel-go/cupelchat"
	"github.com/wollax/cupel-go/cupelchat/agent"
	"github.com/wollax/cupel-go/cupelrecord"
	"github.com/wollax/cupel-go/cupelsession/replay"
)

// TestRecorded: the records of the turns of conversations, each in a segment of its own,
// have the table of these, whole and in parts.
func TestRecorded(t *testing.T) {
	data, err := os.ReadFile("testdata/agents.jsonl")
	require.NoError(t, err)
	folder, id := t.TempDir(), ""
	recorder, err := cupelrecord.New(cupelrecord.Config{
		Sink: cupelrecord.Folder(folder), SegmentBytes: 1, Trace: func(context.Context) string { return id },
		Redaction: observe.Redaction{Show: observe.PartContent | observe.PartMetadata, Metadata: []string{"role", "tool", "tool_call_id"}},
	})
	require.NoError(t, err)
	budget, err := cupel.NewContextBudget(300, 300)
	require.NoError(t, err)
	conversations := load(t, "agents.jsonl")
	for i, line := range bytes.Split(bytes.TrimSpace(data), []byte("\n")) {
		id = conversations[i].ID
		var whole struct{ Messages []json.RawMessage }
		require.NoError(t, json.Unmarshal(line, &whole))
		for n := range whole.Messages {
			said, err := cupelchat.Read(marshal(t, whole.Messages[:n+1]), cupelchat.OpenAI, cupel.HeuristicCounter{})
			require.NoError(t, err)
			_, _, err = agent.New(nil).RunReport(t.Context(), said.Items(), budget, pipeline.WithTrace(recorder))
			require.NoError(t, err)
		}
		conversations[i].Line = 0
	}
	require.NoError(t, recorder.Close(t.Context()))
	segments, err := filepath.Glob(folder + "/*")
	require.NoError(t, err)
	scan := func(take func(n, line int) bool) (recorded []replay.Conversation) {
		for c, err := range replay.Latest(func(yield func(replay.Conversation, error) bool) {
			for _, name := range segments {
				segment, err := os.ReadFile(name)
				require.NoError(t, err)
				replay.Scan("", bytes.NewReader(segment), take)(yield)
			}
		}) {
			require.NoError(t, err)
			recorded = append(recorded, c)
		}
		return recorded
	}
	policies := append(replay.Baselines(), replay.Choosing("agent", agent.New(replay.Characters{})))
	require.Equal(t, written(t, run(t, conversations, policies, shares)), written(t, run(t, scan(nil), policies, shares)))
	even := scan(func(n, _ int) bool { return n%2 == 0 })
	odd := scan(func(n, _ int) bool { return n%2 == 1 })
	require.Len(t, append(even, odd...), len(conversations))
	require.NotEmpty(t, odd, "their numbers are those of the conversations, not of the lines")
}
