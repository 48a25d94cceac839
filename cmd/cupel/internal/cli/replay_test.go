package cli

import (
	"context"
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"
	"unicode"

	"github.com/wollax/cupel-go/cupelsession/replay"
)

// agents is the conversations that package replay ships.
var agents = filepath.Join("..", "..", "..", "..", "cupelsession", "replay", "testdata", "agents.jsonl")

// replayedRows runs replay with --json.
func replayedRows(t *testing.T, args ...string) []replay.Row {
	t.Helper()
	code, stdout, stderr := fed(t, "", append([]string{"replay", "--json"}, args...)...)
	if code != exitOK || stderr != "" {
		t.Fatalf("%q: exit code %d: %s", args, code, stderr)
	}
	var result struct{ Rows []replay.Row }
	if err := json.Unmarshal([]byte(stdout), &result); err != nil {
		t.Fatal(err)
	}
	return result.Rows
}

// TestReplayReference compares with the figures of the reference implementation,
// to three digits.
func TestReplayReference(t *testing.T) {
	data, err := os.ReadFile(strings.TrimSuffix(agents, ".jsonl") + ".reference.jsonl")
	if err != nil {
		t.Skip("the rest of the repository is not there: ", err)
	}
	rows := replayedRows(t, "--data", agents, "-p", "everything", "-p", "newest", "-p", "clear", "-p", "newest-blocks", "-p", "clear-blocks")
	for i, line := range strings.Split(strings.TrimSpace(string(data)), "\n") {
		var want replay.Row
		if err := json.Unmarshal([]byte(line), &want); err != nil {
			t.Fatal(err)
		}
		got := rows[i]
		for name, pair := range map[string][2]float64{
			"share": {got.Share, want.Share}, "support": {got.Support, want.Support}, "grounded": {got.Grounded, want.Grounded}, "cost": {got.Cost, want.Cost},
			"breaks": {got.Breaks, want.Breaks}, "task": {got.Task, want.Task}, "recent": {got.Recent, want.Recent},
		} {
			if math.Abs(pair[0]-pair[1]) > 0.0005 {
				t.Errorf("%s at %g: %s is %v, want %v", want.Policy, want.Share, name, pair[0], pair[1])
			}
		}
		if got.Policy != want.Policy || got.Values != want.Values || got.Steps != want.Steps {
			t.Errorf("got %+v, want %+v", got, want)
		}
	}
}

// TestReplaySession: a baseline in a session is the one in blocks, unless it
// fills another share of the room.
func TestReplaySession(t *testing.T) {
	common := []string{"--data", agents, "--share", "0.5,0.25"}
	blocks := replayedRows(t, append(common, "-p", "newest-blocks", "-p", "clear-blocks")...)
	session := replayedRows(t, append(common, "-p", "newest", "-p", "clear", "--session")...)
	for i, got := range session {
		want := blocks[i]
		want.Policy = got.Policy
		if !reflect.DeepEqual(got, want) || got.Mode != replay.Session {
			t.Errorf("got %+v, want %+v", got, want)
		}
	}
	compared := replayedRows(t, append(common, "-p", "newest", "-p", "clear", "--against", "newest")...)
	if a := compared[1].Against; compared[0].Against != nil || a == nil || math.Abs(a.Difference-(compared[1].Grounded-compared[0].Grounded)) > 1e-12 {
		t.Errorf("got %+v against %+v", a, compared[0])
	}
	lower := replayedRows(t, append(common, "-p", "newest", "--session", "--low-water", "0.2")...)
	named := replayedRows(t, append(common, "-p", "newest@0.2", "-p", "newest")...)
	if named[0].Policy != "newest@0.2" || named[0].Mode != replay.Session || named[0].Cost != lower[0].Cost || named[1].Mode != replay.Stateless {
		t.Errorf("got %+v, want the costs of %+v in a session, and a choice at each step", named, lower[0])
	}
	if lower[0].Cost >= session[0].Cost || lower[0].Share != 0.25 {
		t.Errorf("got %+v; want cheaper windows than %+v", lower[0], session[0])
	}
}

// TestReplayCache reports the cost by a provider's cache next to that of the measure.
func TestReplayCache(t *testing.T) {
	common := []string{"--data", agents, "--share", "0.5", "-p", "newest", "-p", "agent", "--session"}
	plain := replayedRows(t, common...)
	all := []string{"anthropic", "gemini", "none"}
	together := replayedRows(t, append([]string{"--cache", strings.Join(all, ",")}, common...)...)
	for k, name := range all {
		code, stdout, stderr := fed(t, "", append([]string{"replay", "--json", "--cache", name}, common...)...)
		if code != exitOK {
			t.Fatalf("%s: exit code %d: %s", name, code, stderr)
		}
		var result replay.Result
		if err := json.Unmarshal([]byte(stdout), &result); err != nil {
			t.Fatal(err)
		}
		for i, got := range result.Rows {
			if len(got.Caches) != 1 || got.Caches[0].Cache != name || got.Caches[0].Cost <= 0 || together[i].Caches[k] != got.Caches[0] {
				t.Errorf("%s: got %+v, and with the others %+v; want the same cost by the cache", name, got.Caches, together[i].Caches)
			}
			if got.Caches = nil; !reflect.DeepEqual(got, plain[i]) {
				t.Errorf("%s: got %+v, want %+v", name, got, plain[i])
			}
		}
	}
}

// TestReplayTable prints a table.
func TestReplayTable(t *testing.T) {
	// The figures are found by hand in package replay.
	const line = `{"id": "talk", "messages": [{"role": "system", "content": "Be kind."}, {"role": "user", "content": "Hi!"}, {"role": "assistant", "content": "", "tool_calls": [{"id": "c", "type": "function", "function": {"name": "f", "arguments": "{\"q\":\"tea\"}"}}]}, {"role": "tool", "tool_call_id": "c", "content": "{\"sku\": \"TEA-77\"}"}, {"role": "assistant", "content": "Tea?"}, {"role": "user", "content": "Yes."}, {"role": "assistant", "content": "", "tool_calls": [{"id": "d", "type": "function", "function": {"name": "f", "arguments": "{\"sku\":\"TEA-77\"}"}}]}]}
`
	const want = `1 conversation, 3 steps, 1 value

share 0.5         mode       support  grounded   cost  breaks   task  recent   fill
everything        stateless    1.000     1.000  1.000   0.000  1.000   1.000  1.152
newest that fits  stateless    0.000     0.000  1.020   0.667  1.000   0.333  0.696

worst for newest that fits: values missed
   0.5      of  conversation
     1       1  talk (standard input:1)
`
	t.Chdir(t.TempDir())
	args := []string{"replay", "--data", "-", "-p", "everything", "-p", "newest", "--share", "0.5"}
	code, stdout, stderr := fed(t, line, args...)
	if code != exitOK || stdout != want || stderr != "" {
		t.Errorf("got %d, %q,\n%s\nwant\n%s", code, stderr, stdout, want)
	}
	// Every character of the encoding's tokens counts more than a quarter.
	code, other, stderr := fed(t, line, append(args, "--encoding", "o200k_base")...)
	if code != exitOK || stderr != "" || other == want {
		t.Errorf("got %d, %q,\n%s", code, stderr, other)
	}
	code, stdout, _ = fed(t, line+line, append(args, "--part", "held-out")...)
	if code != exitOK || stdout != "held-out: "+strings.Replace(want, "input:1", "input:2", 1) {
		t.Errorf("got %d, %q; want the second conversation alone", code, stdout)
	}
}

// TestReplayPolicies measures what is not a baseline: presets and files.
func TestReplayPolicies(t *testing.T) {
	data, err := filepath.Abs(agents)
	if err != nil {
		t.Fatal(err)
	}
	folder(t, map[string]string{
		"mine.toml": "scorers = [{ type = \"recency\", weight = 1 }]\nslicer = { type = \"scoreGreedy\" }\nplacer = { type = \"chronological\" }",
		// The last but one message says nothing, which is not a message for the API.
		"empty.jsonl": `{"id": "odd", "messages": [{"role": "user", "content": "Hi"}, {"role": "assistant", "content": null}, {"role": "assistant", "content": "Hello"}]}`,
	})
	rows := replayedRows(t, "--data", data, "--share", "0.5,0.75", "-p", "newest", "-p", "agent", "-p", "chat", "-p", "mine.toml")
	for i, name := range []string{"newest", "agent", "chat", "mine.toml", "newest", "agent", "chat", "mine.toml"} {
		if got := rows[i]; got.Policy != name || i%4 > 0 && (got.Task < 0.9 || got.Grounded == 0) {
			t.Errorf("got %+v; want %s to have the task", got, name)
		}
	}
	code, stdout, stderr := fed(t, "", "replay", "--data", "empty.jsonl", "--share", "0.5", "-p", "newest", "-p", "chat")
	const want = `cupel: chat at 0.5: 1 of 2 steps failed; the first is step 1 of conversation "odd": line 1: messages[1] has neither content nor tool calls; remove it` + "\n"
	if code != exitSelection || !strings.HasPrefix(stdout, "1 conversation, 2 steps") || stderr != want {
		t.Errorf("got %d, %q, %q; want the table, and %q", code, stdout, stderr, want)
	}
}

func TestReplayProgress(t *testing.T) {
	data, err := filepath.Abs(agents)
	if err != nil {
		t.Fatal(err)
	}
	now := time.Date(2026, 11, 20, 0, 0, 0, 0, time.UTC)
	run := func(ctx context.Context) (code int, stdout, stderr string) {
		var out, errs strings.Builder
		code = Main(ctx, []string{"replay", "--data", data, "--share", "0.5", "-p", "newest", "-j", "1"}, Environment{
			Stdin: strings.NewReader(""), Stdout: &out, Stderr: &errs, Getenv: func(string) string { return "" },
			Clock: func() time.Time { now = now.Add(time.Minute); return now },
		})
		return code, out.String(), errs.String()
	}
	code, stdout, stderr := run(t.Context())
	if code != exitOK || strings.Contains(stdout, "windows") || stderr != "12 windows\n20 windows\n26 windows\n" {
		t.Errorf("got %d, %q, %q", code, stdout, stderr)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if code, stdout, _ := run(ctx); code != exitInterrupted || stdout != "" {
		t.Errorf("interrupted: got %d, %q", code, stdout)
	}
}

func TestReplayMistakes(t *testing.T) {
	folder(t, map[string]string{"talk.jsonl": `{"messages": []}`, "bad.jsonl": "{\"messages\": []}\n{\"messages\": 1}", "none.jsonl": "\n"})
	for _, row := range []misuse{
		{"no data", nil, `required flag(s) "data" not set; for example: cupel replay --data agents.jsonl`, "there is none by default"},
		{"no file", []string{"--data", "x.jsonl"}, "open x.jsonl: no such file or directory", "it is not there"},
		{"bad data", []string{"--data", "bad.jsonl"}, "bad.jsonl: line 2: \"messages\" must be a list of messages", "which file and line"},
		{"nothing", []string{"--data", "none.jsonl"}, "no conversations to measure in none.jsonl (part all)", "all figures would be 0"},
		{"nothing in a part", []string{"--data", "talk.jsonl", "--part", "held-out"}, "no conversations to measure in talk.jsonl (part held-out)", "all figures would be 0"},
		{"share", []string{"--data", "talk.jsonl", "--share", "0.5,0"}, "--share: must be above 0 and at most 1, got 0", "an empty budget"},
		{"percent", []string{"--data", "talk.jsonl", "--share", "25"}, "--share: must be above 0 and at most 1, got 25", "a share is not a percentage"},
		{"low water", []string{"--data", "talk.jsonl", "--session", "--low-water", "NaN"}, "--low-water: must be above 0 and at most 1, got NaN", "no number"},
		{"low water of a policy", []string{"--data", "talk.jsonl", "-p", "agent@2"}, "--policy: \"agent@2\": the low-water mark must be above 0 and at most 1, got 2", "more than the room"},
		{"low water alone", []string{"--data", "talk.jsonl", "--low-water", "0.5"}, "--low-water is for a --session", "it would count for nothing"},
		{"against", []string{"--data", "talk.jsonl", "-p", "newest", "--against", "clear"}, `--against: "clear" is not measured; add -p clear`, "there is nothing to compare with"},
		{"against itself", []string{"--data", "talk.jsonl", "-p", "newest", "--against", "newest"}, `--against: there is no other policy than "newest" to compare; add one with -p`, "a comparison was asked for, and none would be printed"},
		{"cache", []string{"--data", "talk.jsonl", "--cache", "x"}, `--cache: "x" is unknown; want some of anthropic, anthropic-1h, gemini, none, openai, openai-breakpoints`, "which there are"},
		{"cache twice", []string{"--data", "talk.jsonl", "--cache", "none,none"}, `--cache: "none" is given twice`, "one column would be the other"},
		{"encoding", []string{"--data", "talk.jsonl", "--encoding", "x"}, "; heuristic gives an estimate for any model", "names are exact"},
		{"policy twice", []string{"--data", "talk.jsonl", "-p", "newest", "-p", "newest"}, `--policy: "newest" is given twice`, "one line would be the other"},
		{"policy", []string{"--data", "talk.jsonl", "-p", "nwest"}, "; a policy file ends in .json or .toml", "the names that are known, and that there are files"},
		{"policy file", []string{"--data", "talk.jsonl", "-p", "none.toml"}, "none.toml: no such file or directory", "it is not there"},
		{"jobs", []string{"--data", "talk.jsonl", "-j", "-1"}, "--jobs: must be at least 1, or 0 for the number of processors, got -1", "no conversation would be measured"},
	} {
		row.check(t, "replay")
	}
}

// TestReplayPrintsHostileNames: an id is data, and neither moves the cursor of a
// terminal nor makes a line of the table.
func TestReplayPrintsHostileNames(t *testing.T) {
	recorded, err := os.ReadFile(agents)
	if err != nil {
		t.Skip("the rest of the repository is not there: ", err)
	}
	folder(t, map[string]string{"agents.jsonl": strings.Replace(string(recorded), `"bakery"`, `"\u001b[2J\u009b1m\n 9  9 \u202ebakery"`, 1)})
	for format, want := range map[string]string{"--force": `"\x1b[2J\u009b1m\n 9  9 \u202ebakery" (agents.jsonl:1)`, "--json": `"conversation": "\u001b[2J\u009b1m\n 9  9 \u202ebakery"`} {
		code, stdout, stderr := fed(t, "", "replay", "--data", "agents.jsonl", "-p", "newest", "--share", "0.15", format)
		if code != exitOK || !strings.Contains(stdout, want) || strings.ContainsFunc(stdout, func(r rune) bool { return r != '\n' && !unicode.IsGraphic(r) }) {
			t.Errorf("%s: got %d, %s%q, want %s and nothing that a terminal obeys", format, code, stderr, stdout, want)
		}
	}
}
