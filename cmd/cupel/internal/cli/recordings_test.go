package cli

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// recordings puts the runs that cupelotel recorded into the working folder: three, of
// the preset chat.
func recordings(t *testing.T) {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("..", "..", "..", "..", "cupelotel", "testdata", "recordings.jsonl"))
	require.NoError(t, err)
	var contents strings.Builder
	for _, id := range []string{"system", "question", "again", "call", "result", "report", "message 0", "message 1"} {
		fmt.Fprintf(&contents, `{"id": %q, "content": "the words of %s"}`+"\n", id, strings.ReplaceAll(id, "again", "question"))
	}
	const rest = "scorers = [{ type = \"recency\", weight = 1 }]\nslicer = { type = \"scoreGreedy\" }\nplacer = { type = \"chronological\" }"
	folder(t, map[string]string{
		"runs.jsonl":     string(data),
		"damaged.jsonl":  "{\n" + string(data) + `{"resourceLogs":[{"scopeLogs":[{"logRecords":[{"eventName":"cupel.recording","body":{"stringValue":"{}"}}]}]}]}` + "\n",
		"negative.jsonl": strings.Replace(string(data), `\"tokens\":80`, `\"tokens\":-80`, 1),
		"contents.jsonl": contents.String(),
		"near.toml":      "nearDuplicates = 0.9\n" + rest,
		"needs.toml":     strings.Replace(rest, "\"scoreGreedy\"", "\"countQuota\", inner = { type = \"greedy\" }, entries = [{ kind = \"Message\", requireCount = 2 }], scarcity = \"Throw\"", 1),
	})
}

// TestDiffRecordings: the policy that was recorded decides the same again, another one
// differs where it should, and what cannot be read is left out.
func TestDiffRecordings(t *testing.T) {
	recordings(t)
	require.Contains(t, printed(t, "diff", "recorded", "chat", "--recordings", "runs.jsonl"), "differs in 0 of 3 runs (0.0%), which have 24 candidates")
	require.Contains(t, printed(t, "diff", "recorded", "rag", "--recordings", "runs.jsonl", "-n", "2"), "… and 4 more")
	code, stdout, stderr := fed(t, "", "diff", "recorded", "rag", "--recordings", "damaged.jsonl", "--json")
	require.Equal(t, exitOK, code)
	require.Contains(t, stderr, "damaged.jsonl: line 1 is not OTLP in JSON")
	require.Contains(t, stderr, "damaged.jsonl: line 5: the recording cannot be read: its format is")
	var d corpusDifference
	decodeJSON(t, stdout, &d)
	// The question is there twice, and the presets keep other copies.
	require.Equal(t, []int{3, 3, 2}, []int{d.Runs, d.Changed, d.LeftOut})
	require.Len(t, d.Decisions, 6)
	require.Equal(t, decision{File: "damaged.jsonl", Line: 2, Trace: "00000000000000000000000000000001", Item: "again", Kind: "Message", Tokens: 12, A: "full", B: "out"}, d.Decisions[1])
	code, stdout, stderr = fed(t, "", "diff", "recorded", "chat", "--recordings", "negative.jsonl")
	require.Equal(t, exitOK, code)
	require.Contains(t, stderr, "negative.jsonl: line 1: the recording cannot be read: ")
	require.Contains(t, stdout, "differs in 0 of 2 runs")
}

// TestDiffRecordingsFailures: a run at which a policy fails costs nothing else, and
// what needs contents refuses without them.
func TestDiffRecordingsFailures(t *testing.T) {
	recordings(t)
	code, stdout, stderr := fed(t, "", "diff", "recorded", "needs.toml", "--recordings", "runs.jsonl", "--json")
	require.Equal(t, exitSelection, code)
	require.Equal(t, "cupel: a policy failed at 1 of 3 runs; the first is needs.toml: the run in runs.jsonl:1: CountQuotaSlice: candidate pool for kind 'Message' has 1 items but RequireCount is 2.\n", stderr)
	var d corpusDifference
	decodeJSON(t, stdout, &d)
	require.Equal(t, []int{2, 1}, []int{d.Runs, d.Failed})
	const missing = ` of the run in runs.jsonl:1 is missing`
	refusals(t, "", []refusal{
		{"contents", "diff recorded near.toml --recordings runs.jsonl", exitSelection, `near.toml: nearDuplicates reads contents, and that of candidate 0 (SystemPrompt, "system")` + missing, "no contents are recorded"},
		{"one content", "diff recorded near.toml --recordings runs.jsonl --contents contents.jsonl", exitSelection, `nearDuplicates reads contents, and that of candidate 6 (Memory, without an id)` + missing, "it has no id to join by"},
		{"relevance", "diff recorded relevance -q words --recordings runs.jsonl --contents contents.jsonl", exitSelection, `relevance reads contents, and that of candidate 6`, "a scorer reads it too"},
		{"no runs", "diff chat rag --recordings contents.jsonl", exitUsage, "no recorded runs in contents.jsonl", "all figures would be 0"},
		{"no ids", "diff recorded chat --recordings runs.jsonl --contents runs.jsonl", exitUsage, "runs.jsonl: content 1: it has no id", "nothing could be joined"},
		{"items", "diff chat rag -i x.jsonl --recordings runs.jsonl", exitUsage, "[items recordings]", "the candidates are those of the runs"},
	})
}
