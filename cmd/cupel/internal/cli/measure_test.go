package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode"

	"github.com/stretchr/testify/require"

	"github.com/wollax/cupel-go/cupelrelevance/eval"
	"github.com/wollax/cupel-go/cupelsession/replay"
)

// The data that the packages of the measures ship.
var (
	agents = filepath.Join("..", "..", "..", "..", "cupelsession", "replay", "testdata", "agents.jsonl")
)

// replayedRows runs replay with --json.
func replayedRows(t *testing.T, args ...string) []replay.Row {
	t.Helper()
	var result struct{ Rows []replay.Row }
	decodeJSON(t, printed(t, append([]string{"replay", "--json"}, args...)...), &result)
	return result.Rows
}

// TestReplaySession: a baseline in a session is the one in blocks, unless it fills
// another share of the room.
func TestReplaySession(t *testing.T) {
	common := []string{"--data", agents, "--share", "0.5,0.25"}
	blocks := replayedRows(t, append(common, "-p", "newest-blocks", "-p", "clear-blocks")...)
	session := replayedRows(t, append(common, "-p", "newest", "-p", "clear", "--session")...)
	for i, got := range session {
		require.Equal(t, replay.Session, got.Mode)
		got.Policy = blocks[i].Policy
		require.Equal(t, blocks[i], got)
	}
	compared := replayedRows(t, append(common, "-p", "newest", "-p", "clear", "--against", "newest")...)
	require.Nil(t, compared[0].Against)
	require.InDelta(t, compared[1].Grounded-compared[0].Grounded, compared[1].Against.Difference, 1e-12)
	named := replayedRows(t, append(common, "-p", "newest@0.2", "-p", "newest")...)
	require.Equal(t, "newest@0.2", named[0].Policy)
	require.Equal(t, replay.Session, named[0].Mode)
	require.Less(t, named[0].Cost, session[0].Cost)
	require.Equal(t, replay.Stateless, named[1].Mode)
	require.InDelta(t, 0.25, named[0].Share, 0)
}

// TestReplayCache reports the cost by providers' caches next to that of the measure.
func TestReplayCache(t *testing.T) {
	common := []string{"--data", agents, "--share", "0.5", "-p", "newest", "-p", "agent", "--session"}
	plain := replayedRows(t, common...)
	for i, got := range replayedRows(t, append([]string{"--cache", "none,anthropic"}, common...)...) {
		require.Equal(t, "none", got.Caches[0].Cache)
		require.Equal(t, "anthropic", got.Caches[1].Cache)
		require.NotZero(t, got.Caches[1].Cost)
		got.Caches = nil
		require.Equal(t, plain[i], got)
	}
}

// TestReplayPolicies measures what is not a baseline: presets and files.
func TestReplayPolicies(t *testing.T) {
	data, err := filepath.Abs(agents)
	require.NoError(t, err)
	folder(t, map[string]string{
		"mine.toml": "scorers = [{ type = \"recency\", weight = 1 }]\nslicer = { type = \"scoreGreedy\" }\nplacer = { type = \"chronological\" }",
		// The last but one message says nothing, which is not a message for the API.
		"empty.jsonl": `{"id": "odd", "messages": [{"role": "user", "content": "Hi"}, {"role": "assistant", "content": null}, {"role": "assistant", "content": "Hello"}]}`,
		"none.jsonl":  "\n",
	})
	rows := replayedRows(t, "--data", data, "--share", "0.75", "-p", "agent", "-p", "chat", "-p", "mine.toml")
	for i, name := range []string{"agent", "chat", "mine.toml"} {
		require.Equal(t, name, rows[i].Policy)
		require.Greater(t, rows[i].Task, 0.9)
		require.NotZero(t, rows[i].Grounded)
	}
	require.NotEqual(t, rows[0].Cost, rows[1].Cost, "the preset chat makes no outlines")
	code, stdout, stderr := fed(t, "", "replay", "--data", "empty.jsonl", "--share", "0.5", "-p", "newest", "-p", "chat")
	require.Equal(t, exitSelection, code)
	require.Regexp(t, "^1 conversation, 2 steps", stdout)
	require.Equal(t, `cupel: chat at 0.5: 1 of 2 steps failed; the first is step 1 of conversation "odd": line 1: messages[1] has neither content nor tool calls; remove it`+"\n", stderr)
	refusals(t, "", []refusal{{"nothing", "replay --data none.jsonl", exitUsage, "no conversations to measure in none.jsonl (part all)", "all figures would be 0"}})
}

// TestDataFiles: folders and arguments name files, which gzip may have compressed. One that
// is cut ends the measurement.
func TestDataFiles(t *testing.T) {
	folder(t, map[string]string{
		"b/1.jsonl": talk, "b/2.jsonl.gz": zipped(t, talk), "b/deeper/3.jsonl": talk, "b/folder.jsonl/4": talk, "cut/1.jsonl.gz": zipped(t, talk)[:60], "[x].jsonl": talk, "other": talk,
	})
	require.NoError(t, os.Mkdir("none", 0o700))
	common := []string{"eval", "--budgets", "6", "-p", "recency"}
	require.Contains(t, printed(t, append(common, "--data", "b", "[x].jsonl")...), "6 conversations, 9 questions")
	require.Contains(t, printed(t, append(common, "other", "[x].jsonl")...), "4 conversations, 6 questions")
	refusals(t, "", []refusal{
		{"cut", "eval cut", exitUsage, "1.jsonl.gz: line 1 is not a labeled conversation: unexpected EOF", "figures would be of a part"},
		{"policy", "eval other -p caht", exitUsage, `no policy is named "caht"`, "a slip"},
		{"no match", "eval --data c*", exitUsage, "open c*: no such file or directory", "a shell that matches nothing passes the pattern on"},
		{"empty folder", "replay --data none", exitUsage, "no conversations to measure", "all figures would be 0"},
	})
}

// TestReplayPrintsHostileNames: an id is data, and neither moves the cursor of a
// terminal nor makes a line of the table.
func TestReplayPrintsHostileNames(t *testing.T) {
	recorded, err := os.ReadFile(agents)
	require.NoError(t, err)
	folder(t, map[string]string{"agents.jsonl": strings.Replace(string(recorded), `"bakery"`, `"\u001b[2J\u009b1m\n 9  9 \u202ebakery"`, 1)})
	for format, want := range map[string]string{"-j=1": `"\x1b[2J\u009b1m\n 9  9 \u202ebakery" (agents.jsonl:1)`, "--json": `"conversation": "\u001b[2J\u009b1m\n 9  9 \u202ebakery"`} {
		stdout := printed(t, "replay", "--data", "agents.jsonl", "-p", "newest", "--share", "0.15", format)
		require.Contains(t, stdout, want)
		require.False(t, strings.ContainsFunc(stdout, func(r rune) bool { return r != '\n' && !unicode.IsGraphic(r) }))
	}
}

// talk has two conversations of four and three turns. With a speaker and three letters
// each, "A: abc", a turn has 2 + 4 = 6 tokens.
const talk = `{"id": "one", "items": [{"speaker": "A", "content": "cat"}, {"speaker": "B", "content": "dog"}, {"speaker": "A", "content": "cow"}, {"speaker": "B", "content": "pig"}], "questions": [{"query": "cat", "evidence": [0]}, {"query": "pig", "evidence": [3, 0]}]}
{"id": "two", "items": [{"speaker": "A", "content": "hen"}, {"speaker": "B", "content": "owl"}, {"speaker": "A", "content": "owl"}], "questions": [{"query": "owl", "evidence": [1]}]}
`

// TestEvalPolicies measures what the command adds to the policies of package eval. One
// turn is selected each time. The latest are pig, for half of one question, and the
// second owl, which is no evidence; the words of the questions find cat, pig and the
// first owl.
func TestEvalPolicies(t *testing.T) {
	folder(t, map[string]string{
		"mine.toml": "scorers = [{ type = \"relevance\", weight = 1 }]\nslicer = { type = \"scoreGreedy\" }\nplacer = { type = \"uShaped\" }",
		"old.json":  `{"scorers": [{"type": "decay", "weight": 1, "curve": {"type": "window", "maxAge": "2s"}}], "slicer": {"type": "scoreGreedy"}, "placer": {"type": "chronological"}}`,
	})
	require.NoError(t, os.WriteFile("talk.jsonl", []byte(talk), 0o600))
	stdout := printed(t, "eval", "--data", "talk.jsonl", "--budgets", "12,6,6", "--json", "-j", "2", "-p", "chat", "-p", "relevance", "-p", "mine.toml", "-p", "old.json")
	var result struct {
		Part string
		eval.Result
	}
	decodeJSON(t, stdout, &result)
	require.Equal(t, []any{"all", 2, 3}, []any{result.Part, result.Conversations, result.Questions})
	require.InDelta(t, 0.5, result.Policies[0].Points[1].Recall, 1e-9, "of two turns with one text the first is evidence")
	const found = (1 + 0.5 + 1) / 3.0
	for i, want := range []struct {
		name   string
		recall float64
		why    string
	}{
		{"chat", 0.5 / 3, "recency alone"},
		{"relevance", found, "of two owls the first"},
		{"mine.toml", found, "the question of the data"},
		{"old.json", 0.5 / 3, "now is four seconds after the first turn, so that the last turn of the first conversation is young, and no other"},
	} {
		require.Equal(t, want.name, result.Policies[i].Name)
		require.InDelta(t, want.recall, result.Policies[i].Points[0].Recall, 1e-9, "%s: %s", want.name, want.why)
	}
}

// TestEvalParts: what is tuned and what is held out are all, and nothing is in both.
// Each file is parted by itself.
func TestEvalParts(t *testing.T) {
	folder(t, map[string]string{"talk.jsonl": talk})
	for part, head := range map[string]string{
		"all": "4 conversations, 6 questions\n", "tune": "tune: 2 conversations, 4 questions\n", "held-out": "held-out: 2 conversations, 2 questions\n",
	} {
		stdout := printed(t, "eval", "--data", "talk.jsonl", "--data", "talk.jsonl", "--part", part)
		require.True(t, strings.HasPrefix(stdout, head), stdout)
		require.Contains(t, stdout, "    500  1,000  2,000  4,000  8,000\n", "the budgets without a flag")
	}
}
