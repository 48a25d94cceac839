package cli

import (
	"context"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupel/observe"
	"github.com/wollax/cupel-go/cupel/pipeline"
	"github.com/wollax/cupel-go/cupel/policy"
	"github.com/wollax/cupel-go/cupelrecord"
)

// record records three runs of the preset chat into a folder, the last one of the
// recorder dropped.
func record(t *testing.T, folder string, redaction observe.Redaction) {
	t.Helper()
	recorder, err := cupelrecord.New(cupelrecord.Config{
		Sink: cupelrecord.Folder(folder), Redaction: redaction, Trace: func(context.Context) string { return "5e" },
	})
	require.NoError(t, err)
	preset, err := policy.NewRegistry().Lookup("chat")
	require.NoError(t, err)
	p, err := preset.Pipeline(policy.Environment{})
	require.NoError(t, err)
	config := p.Config()
	config.Clock = func() time.Time { return time.Date(2026, 1, 2, 4, 0, 0, 0, time.UTC) }
	p, err = pipeline.New(config)
	require.NoError(t, err)
	budget, err := cupel.NewContextBudget(200, 150)
	require.NoError(t, err)
	for turn := range 3 {
		_, err := p.Run(t.Context(), conversation(t, turn), budget, pipeline.WithTrace(recorder))
		require.NoError(t, err)
	}
	require.NoError(t, recorder.Close(t.Context()))
}

// conversation returns the candidates of a turn. The question is there twice.
func conversation(t *testing.T, turn int) (items []*cupel.ContextItem) {
	t.Helper()
	add := func(content string, tokens int, kind cupel.ContextKind, id string, opts ...cupel.ItemOption) {
		at := time.Date(2026, 1, 2, 3, turn+len(items), 0, 0, time.UTC)
		opts = append(opts, cupel.WithKind(kind), cupel.WithTimestamp(at))
		if id != "" {
			opts = append(opts, cupel.WithMetadata(map[string]any{"id": id}))
		}
		item, err := cupel.NewContextItem(content, tokens, opts...)
		require.NoError(t, err)
		items = append(items, item)
	}
	add("secret system", 20, cupel.KindSystemPrompt, "system", cupel.WithPinned())
	add("secret question", 12, cupel.KindMessage, "question")
	add("secret question", 12, cupel.KindMessage, "again")
	add("secret call", 15, cupel.KindMessage, "call", cupel.WithGroup("exchange"))
	add("secret result", 90, cupel.KindToolOutput, "result", cupel.WithGroup("exchange"))
	add("secret report", 80, cupel.KindDocument, "report", cupel.WithVariants(cupel.Variant{Content: "secret short", Tokens: 9, Worth: 0.5}))
	add("secret old", 30, cupel.KindMemory, "")
	for i := range turn {
		add(fmt.Sprint("secret message ", i), 25, cupel.KindMessage, fmt.Sprint("message ", i))
	}
	return items
}

// fields are what the preset reads, with ids.
var fields = observe.Redaction{Show: observe.PartFields | observe.PartID, ID: "id"}

// recordings puts recorded runs into the folder runs of the working folder.
func recordings(t *testing.T) {
	t.Helper()
	const rest = "scorers = [{ type = \"recency\", weight = 1 }]\nslicer = { type = \"scoreGreedy\" }\nplacer = { type = \"chronological\" }"
	folder(t, map[string]string{
		"runs/contents.jsonl": "no segment",
		"near.toml":           "nearDuplicates = 0.9\n" + rest,
		"tags.toml":           strings.Replace(rest, "recency", "frequency", 1),
		"needs.toml":          strings.Replace(rest, "\"scoreGreedy\"", "\"countQuota\", inner = { type = \"greedy\" }, entries = [{ kind = \"Message\", requireCount = 2 }], scarcity = \"Throw\"", 1),
	})
	record(t, "runs", fields)
}

// segment is the one in a folder.
func segment(t *testing.T, folder string) string {
	t.Helper()
	names := filesIn(cupelrecord.Extension, folder)
	require.Len(t, names, 1)
	return names[0]
}

// TestDiffRecordings: the policy that was recorded decides the same again, and another
// one differs where it should.
func TestDiffRecordings(t *testing.T) {
	recordings(t)
	require.Contains(t, printed(t, "diff", "recorded", "chat", "--recordings", "runs"), "differs in 0 of 3 runs (0.0%), which have 24 candidates")
	require.Contains(t, printed(t, "diff", "recorded", "rag", "--recordings", "runs", "-n", "2"), "… and 4 more")
	var d corpusDifference
	decodeJSON(t, printed(t, "diff", "recorded", "rag", "--recordings", "runs", "--json"), &d)
	// The question is there twice, and the presets keep other copies.
	require.Equal(t, []int{3, 3, 0}, []int{d.Runs, d.Changed, d.LeftOut})
	require.Len(t, d.Decisions, 6)
	require.Equal(t, decision{File: segment(t, "runs"), Run: 0, Trace: "5e", Item: "again", Kind: "Message", Tokens: 12, A: "full", B: "out"}, d.Decisions[1])
	record(t, "whole", observe.Redaction{Show: observe.PartFields | observe.PartContent})
	require.Contains(t, printed(t, "diff", "recorded", "near.toml", "--recordings", "whole"), "3 runs")
}

// TestDiffDamagedRecordings: what cannot be read is named, and the rest counts.
func TestDiffDamagedRecordings(t *testing.T) {
	recordings(t)
	name := segment(t, "runs")
	data, err := os.ReadFile(name)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile("cut", data[:len(data)-1], 0o600))
	code, stdout, stderr := fed(t, "", "diff", "recorded", "chat", "--recordings", "cut", "--recordings", "runs/contents.jsonl", "--json")
	require.Equal(t, exitOK, code)
	require.Contains(t, stderr, "cupel: note: cut: the segment is cut or damaged: ")
	require.Contains(t, stderr, "cupel: note: runs/contents.jsonl: the segment is cut or damaged: ")
	require.Contains(t, stderr, " did not close its recorder: its last runs may be missing")
	var d corpusDifference
	decodeJSON(t, stdout, &d)
	require.Equal(t, []int{3, 0, 2}, []int{d.Runs, d.Changed, d.LeftOut})

	panics := true
	redaction := fields
	redaction.Rewrite = func(_ observe.Part, text string) string {
		if panics {
			panics = false
			panic(text)
		}
		return text
	}
	record(t, "gap", redaction)
	code, stdout, stderr = fed(t, "", "diff", "recorded", "chat", "--recordings", "gap", "--json")
	require.Equal(t, exitOK, code)
	require.Contains(t, stderr, "cupel: note: 1 runs are missing between those that were recorded\n")
	decodeJSON(t, stdout, &d)
	require.Equal(t, []int{2, 0, 1}, []int{d.Runs, d.Changed, int(d.Missing)})
}

// TestDiffRecordingsFailures: a run at which a policy fails costs nothing else, and
// what reads more than was recorded refuses.
func TestDiffRecordingsFailures(t *testing.T) {
	recordings(t)
	record(t, "bare", observe.Redaction{})
	name := segment(t, "runs")
	code, stdout, stderr := fed(t, "", "diff", "recorded", "needs.toml", "--recordings", "runs", "--json")
	require.Equal(t, exitSelection, code)
	require.Equal(t, "cupel: a policy failed at 1 of 3 runs; the first is the run "+name+":0: needs.toml: CountQuotaSlice: candidate pool for kind 'Message' has 1 items but RequireCount is 2.\n", stderr)
	var d corpusDifference
	decodeJSON(t, stdout, &d)
	require.Equal(t, []int{2, 1}, []int{d.Runs, d.Failed})
	refusals(t, "", []refusal{
		{"fields", "diff recorded chat --recordings bare", exitSelection, "the run " + segment(t, "bare") + ":0: chat: the policy reads pins, times and other fields (observe.PartFields), which were not recorded", "no policy reads scores"},
		{"policy", "diff none recorded --recordings runs", exitUsage, `no policy is named "none"`, "a slip"},
		{"missing", "diff recorded chat --recordings nowhere", exitUsage, "open nowhere: ", "it is not there"},
		{"tags", "diff recorded tags.toml --recordings runs", exitSelection, "the run " + name + ":0: tags.toml: frequency reads tags, which were not recorded", "all items would look alike"},
		{"contents", "diff recorded near.toml --recordings runs", exitSelection, "the run " + name + ":0: near.toml: nearDuplicates reads contents, which were not recorded", "no contents are recorded"},
		{"relevance", "diff recorded relevance -q words --recordings runs", exitSelection, "relevance: relevance reads contents, which", "a scorer reads it too"},
		{"replay", "replay --data " + name, exitUsage, name + ": line 1: the record lacks a trace, contents", "no message is there"},
		{"items", "diff chat rag -i x.jsonl -b 9 --recordings runs", exitUsage, "[items recordings]", "the candidates are those of the runs"},
	})
	require.NoError(t, os.Mkdir("empty", 0o700))
	refusals(t, "", []refusal{{"no runs", "diff chat rag --recordings empty", exitUsage, "no recorded runs in empty", "all figures would be 0"}})
}
