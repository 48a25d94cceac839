package cli

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

var update = flag.Bool("update", false, "write what the commands print into the golden files and into README.md and its like")

// fed runs a command with a text on standard input, on a hundred columns.
func fed(t *testing.T, stdin string, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	var out, errs bytes.Buffer
	code = Main(t.Context(), args, Environment{
		Stdin: strings.NewReader(stdin), Stdout: &out, Stderr: &errs,
		Getenv: func(string) string { return "" },
		Clock:  func() time.Time { return time.Date(2026, 11, 20, 0, 0, 0, 0, time.UTC) },
	})
	return code, out.String(), errs.String()
}

// negative is the note about the list that most tests select from.
const negative = "cupel: note: left out, with less than 0 tokens: 1 item\n"

// summed cuts the last line of standard error, which says what was done.
func summed(t *testing.T, stderr string) (notes string) {
	t.Helper()
	lines := strings.SplitAfter(stderr, "\n")
	require.Greater(t, len(lines), 1, stderr)
	summary := lines[len(lines)-2]
	require.Regexp(t, `^cupel: [^:]`, summary)
	require.NotContains(t, summary, "note:")
	return strings.Join(lines[:len(lines)-2], "")
}

// printed returns what a command prints that succeeds and has no notes but a summary.
func printed(t *testing.T, args ...string) string {
	t.Helper()
	code, stdout, stderr := fed(t, "", args...)
	require.Equal(t, exitOK, code, stderr)
	require.Empty(t, strings.ReplaceAll(summed(t, stderr), negative, ""))
	return stdout
}

// decodeJSON reads JSON into a value.
func decodeJSON(t *testing.T, text string, to any) {
	t.Helper()
	require.NoError(t, json.Unmarshal([]byte(text), to), text)
}

// folder makes a folder of files, and goes there.
func folder(t *testing.T, files map[string]string) {
	t.Helper()
	t.Chdir(t.TempDir())
	for name, content := range files {
		require.NoError(t, os.MkdirAll(filepath.Dir(name), 0o700))
		require.NoError(t, os.WriteFile(name, []byte(content), 0o600))
	}
}

// refusal is a command line that is refused, or fails, with a part of what it says.
type refusal struct {
	name string
	args string // by blanks
	code int
	want string
	why  string
}

// refusals runs what is refused: nothing is printed but the reason.
func refusals(t *testing.T, stdin string, rows []refusal) {
	t.Helper()
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			code, stdout, stderr := fed(t, stdin, strings.Fields(row.args)...)
			require.Equal(t, row.code, code, "%s: %s", row.why, stderr)
			require.Empty(t, stdout)
			require.Contains(t, stderr, row.want, row.why)
		})
	}
}

// selectable is what most tests select from. With the policy greedy.json, a budget of
// 100 and a reserve of 20, the pinned item leaves 100-20-10 = 70 tokens. By score per
// token: apple (0.04) takes 20, banana (0.0225) 40, cherry (0.02) does not fit the 10
// that are left, elder (0.01) takes 5. So 10+20+40+5 = 75 tokens are in, and 5 are left.
var selectable = map[string]string{
	"items.jsonl": `{"content": "Be brief.", "tokens": 10, "kind": "SystemPrompt", "pinned": true, "timestamp": "2026-01-01T00:00:00Z"}
{"content": "apple", "tokens": 20, "kind": "Document", "futureRelevanceHint": 0.8, "timestamp": "2026-01-03T00:00:00Z"}
{"content": "banana\nof two lines", "tokens": 40, "kind": "Document", "futureRelevanceHint": 0.9, "timestamp": "2026-01-02T00:00:00Z"}
{"content": "cherry", "tokens": 30, "kind": "ToolOutput", "futureRelevanceHint": 0.6, "timestamp": "2026-01-04T00:00:00Z"}
{"content": "apple", "tokens": 20, "kind": "Document", "futureRelevanceHint": 0.1}
{"content": "damson", "tokens": -1}
{"content": "elder", "tokens": 5, "futureRelevanceHint": 0.05, "timestamp": "2026-01-05T00:00:00Z"}
`,
	// A pinned group, a call with its result, a manual with an outline, a large call,
	// and two versions of a file.
	"units.json": `[
	{"content":"rules","tokens":5,"kind":"SystemPrompt","pinned":true,"group":"rules"},
	{"content":"reasons","tokens":4,"group":"rules"},
	{"content":"call","tokens":4,"group":"call_1","futureRelevanceHint":0.9},
	{"content":"result","tokens":16,"kind":"ToolOutput","group":"call_1","futureRelevanceHint":0.2},
	{"content":"manual","tokens":60,"kind":"Document","futureRelevanceHint":0.5,"variants":[{"content":"chapters","tokens":20,"worth":0.5}]},
	{"content":"large call","tokens":10,"group":"call_2","futureRelevanceHint":0.1},
	{"content":"large result","tokens":90,"kind":"ToolOutput","group":"call_2","futureRelevanceHint":0.1},
	{"content":"file, version 1","tokens":5,"versionOf":"file","futureRelevanceHint":0.3},
	{"content":"file, version 2","tokens":6,"versionOf":"file","futureRelevanceHint":0.6}
]`,
	"chat.json":  chat,
	"huge.json":  `[{"content": "a", "tokens": 9223372036854775807, "pinned": true}, {"content": "b", "tokens": 1, "pinned": true}]`,
	"few.json":   `[{"content": "fig", "tokens": 5}]`,
	"paths.json": `[{"role": "user", "content": "src/a.go src/b.go src/c.go src/d.go src/e.go lib/src.go"}, {"role": "assistant", "content": "src/a.go"}]`,
	"names.json": `[{"content": "a"}, {"content": "3"}, {"content": "c"}]`,
	"forms.json": `[{"content": "five", "tokens": 90, "variants": [{"content": "a\na\na\na\nfifth", "tokens": 5, "worth": 0.5}]},
		{"content": "six", "tokens": 90, "variants": [{"content": "b\nb\nb\nb\nb\nsixth", "tokens": 5, "worth": 0.5}]}]`,
	"digits.json": `[{"content":"<a>","tokens":1,"futureRelevanceHint":0.123456789012345,"metadata":{"score":12345678}}]`,
	"twice.json":  `{"deduplicate": false, "scorers": [{"type": "reflexive", "weight": 1}], "slicer": {"type": "greedy"}, "placer": {"type": "chronological"}}`,
	"session.jsonl": `{"sessionId":"s","uuid":"u","type":"user","message":{"role":"user","content":"Bake r-17. Bake r-17. Bake r-17. Bake r-17. Bake r-17. Bake r-17. Bake r-17. Bake r-17. Bake r-17. Bake r-17. Bake r-17. Bake r-17. Bake r-17. Bake r-17. Bake r-17. Bake r-17. Bake r-17. Bake r-17. Bake r-17. Bake r-17. Bake r-17. Bake r-17. Bake r-17. Bake r-17. Bake r-17. Bake r-17. Bake r-17. Bake r-17. Bake r-17. Bake r-17. Bake r-17. Bake r-17. Bake r-17. Bake r-17. Bake r-17. Bake r-17. Bake r-17. Bake r-17. Bake r-17. Bake r-17. "}}
{"sessionId":"s","uuid":"u","type":"assistant","message":{"role":"assistant","content":"It is baked. It is baked. It is baked. It is baked. It is baked. It is baked. It is baked. It is baked. It is baked. It is baked. It is baked. It is baked. It is baked. It is baked. It is baked. It is baked. It is baked. It is baked. It is baked. It is baked. It is baked. It is baked. It is baked. It is baked. It is baked. It is baked. It is baked. It is baked. It is baked. It is baked. It is baked. It is baked. It is baked. It is baked. It is baked. It is baked. It is baked. It is baked. It is baked. It is baked. "}}
{"sessionId":"s","uuid":"u","type":"user","message":{"role":"user","content":"The rye r-17 is baked."},"isCompactSummary":true}
{"sessionId":"s","uuid":"u","type":"assistant","message":{"role":"assistant","content":"What next?"}}
{"sessionId":"s","uuid":"u","type":"user","message":{"role":"user","content":"Pack r-17."}}`,
	"greedy.json":  `{"name": "Mine", "scorers": [{"type": "reflexive", "weight": 1}], "slicer": {"type": "greedy"}, "placer": {"type": "chronological"}}`,
	"ends.json":    `{"scorers": [{"type": "reflexive", "weight": 1}], "slicer": {"type": "scoreGreedy"}, "placer": {"type": "uShaped"}}`,
	"sack.json":    `{"scorers": [{"type": "reflexive", "weight": 1}], "slicer": {"type": "knapsack", "bucketSize": 1}, "placer": {"type": "chronological"}}`,
	"count.json":   `{"scorers": [{"type": "reflexive", "weight": 1}], "slicer": {"type": "countQuota", "inner": {"type": "greedy"}, "entries": [{"kind": "document", "capCount": 1}, {"kind": "Memory", "requireCount": 1}]}, "placer": {"type": "chronological"}}`,
	"throw.json":   `{"scorers": [{"type": "reflexive", "weight": 1}], "slicer": {"type": "countQuota", "inner": {"type": "greedy"}, "entries": [{"kind": "Document", "requireCount": 2}]}, "placer": {"type": "chronological"}}`,
	"proceed.json": `{"scorers": [{"type": "reflexive", "weight": 1}], "slicer": {"type": "countQuota", "inner": {"type": "greedy"}, "entries": [{"kind": "Document", "requireCount": 2}]}, "placer": {"type": "chronological"}, "overflow": "Proceed"}`,
}

// chat is a conversation for Anthropic's API.
const chat = `{
 "model": "claude-x", "system": "Be brief.",
 "messages": [
  {"role": "user", "content": "List the files."},
  {"role": "assistant", "content": [{"type": "tool_use", "id": "t1", "name": "ls", "input": {"path": "."}}]},
  {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t1", "content": "a.go b.go"}]},
  {"role": "assistant", "content": "There are two."},
  {"role": "user", "content": "Thanks."}
 ]
}
`

// baked is a conversation with a number that no float64 has.
const baked = `{"model": "gpt-4o", "user_id": 12345678901234567891, "messages": [
	{"role": "system", "content": "You bake."},
	{"role": "user", "content": "Look up the loaves."},
	{"role": "assistant", "content": null, "tool_calls": [{"id": "c1", "type": "function", "function": {"name": "orders", "arguments": "{\"day\": 1}"}}]},
	{"role": "tool", "tool_call_id": "c1", "content": "LOAVES"},
	{"role": "assistant", "content": "They are in the oven."},
	{"role": "user", "content": "And the rolls?"}]}`
