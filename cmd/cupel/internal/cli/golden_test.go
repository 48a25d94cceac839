package cli

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/wollax/cupel-go/cmd/cupel/internal/input"
	"github.com/wollax/cupel-go/cmd/cupel/internal/terminal"
	"github.com/wollax/cupel-go/cupel"
)

// TestGolden holds the text of each command that prints selections. A file has a
// command line and what it prints.
func TestGolden(t *testing.T) {
	dir, err := filepath.Abs(filepath.Join("testdata", "golden"))
	require.NoError(t, err)
	const greedy = " -i items.jsonl -p greedy.json -b 100 --reserve 20"
	for _, row := range []struct{ name, args, why string }{
		{"explain", "explain" + greedy, "what is in and out, by score, with the reason"},
		{"units", "explain -i units.json -p greedy.json -b 70 -n 0", "groups, smaller forms and versions have columns"},
		{"shortfall", "explain -i items.jsonl -p count.json -b 100 -n 1", "caps, lists that are cut, and what a policy lacks"},
		{"overflow", "explain -i items.jsonl -p proceed.json -b 50", "more than the target, as the policy allows"},
		{"failed", "explain -i items.jsonl -p greedy.json -b 5", "what is known of a selection that fails"},
		{"failed-huge", "run -i huge.json -p greedy.json -b 5", "no budget is enough"},
		{"why-not", "explain --why-not cherry" + greedy, "out: 50 tokens to select from leave 30 after apple, where banana does not fit"},
		{"why-in", "explain --why-not manual -i units.json -p greedy.json -b 70", "in, as an outline"},
		{"why-copy", "explain --why-not 5 -i items.jsonl -p greedy.json -b 100", "a copy by its number, and where the other stands"},
		{"why-pinned", "explain --why-not cherry -i items.jsonl -p greedy.json -b 35", "pinned items take its place, and pinned it would fail"},
		{"where-in", "where apple -n 1" + greedy, "one that is sent needs no pin, and its places are cut"},
		{"where-out", "where cherry" + greedy, "one that is out, with what would keep it"},
		{"where-negative", "where damson" + greedy, "no pin keeps what has less than no tokens"},
		{"where-twice", "where large -i units.json -p greedy.json -b 120", "of two places the newest is pinned"},
		{"where-form", "where manual -i units.json -p greedy.json -b 70", "an outline has tokens of its own"},
		{"where-paths", "where paths.json src/* -n 2 -b 90 --steps", "a pattern for whole paths; of many values no remedies are searched"},
		{"chat-json", "explain -i chat.json -p chat -b 29 --json", "messages that are out are as they were read"},
		{"forms-some", "explain -i forms.json -p greedy.json -b 20 -n 1", "of two forms the first"},
		{"diff", "diff count.json ends.json -i items.jsonl -b 75", "in one of them, and why not in the other"},
		{"diff-forms", "diff greedy.json ends.json -i units.json -b 90", "another form"},
		{"sweep", "sweep -i items.jsonl -p greedy.json --reserve 20 --from 18 --to 90", "each budget at which something changes, and what fails"},
		{"policies", "policies", "the presets"},
		{"explain-json", "explain --json" + greedy, "the report, for programs"},
		{"why-not-json", "explain --json --why-not cherry" + greedy, "an answer, for programs"},
		{"where-json", "where --json cherry --pin 1 --pin 7 -n 0" + greedy, "places, for programs"},
		{"sweep-json", "sweep -i items.jsonl -p greedy.json --reserve 20 --json", "from what is needed to what is enough, in at most fifty steps"},
		{"sweep-wide", "sweep -i items.jsonl -p greedy.json --from 145 --to 2147483647", "nothing changes where everything fits"},
		{"sweep-empty", "sweep -i few.json -p greedy.json --from 1 --to 9", "nothing is in at first"},
		{"why-system", "explain --why-not Be* -i chat.json -p chat -b 14 --no-pin", "a system prompt has no number, and cannot be pinned"},
		{"where-system", "where -i chat.json brief -p chat -b 14 --no-pin", "nor does a pin keep what it says"},
		{"why-large", "explain --why-not 3 -i chat.json -p chat -b 30", "it does not fit pinned, and nothing has its room"},
		{"numbers", "explain -i chat.json -p chat -b 900", "messages have numbers, from 1"},
		{"number", "explain -i chat.json -p chat -b 900 --why-not 4", "and are named by them"},
		{"no-number", "explain -i chat.json -p chat -b 900 --why-not 77", "there is no such message"},
		{"why-content", "explain -i names.json -p rag -b 900 --why-not 3", "a content comes before a number"},
		{"why-number", "explain -i names.json -p rag -b 900 --why-not 1", "what no content is can be a number"},
		{"forms", "explain -i forms.json -p greedy.json -b 20", "of a smaller form the first five lines are shown"},
		{"digits", "explain digits.json -p greedy.json -b 9 --json", "scores have six digits, and the numbers of users stay as they are"},
		{"diff-copies", "diff greedy.json twice.json -i items.jsonl -b 145", "content counts as included if one copy is"},
		{"compaction", "session.jsonl -b 60 --encoding heuristic", "what a compaction stands for counts as read, and a session is only read: the window is a text"},
		{"agent-json", "explain -i chat.json -p agent -b 45 --json", "what a preset sends, without durations"},
		{"why-agent-json", "explain -i chat.json -p agent -b 45 --why-not 3 --json", "an answer about a message"},
		{"why-agent", "explain -i chat.json -p agent -b 50 --why-not 3", "one message has the rest of its room"},
		{"copy-out", "explain -i items.jsonl -p greedy.json -b 15", "a copy of what is out itself"},
		{"room", "explain names.json -p agent -b 2", "one item has the room of another"},
		{"diff-json", "diff greedy.json rag -i items.jsonl -b 90 --json", "two policies have no name in common"},
		{"where-some", "where -i chat.json *.go -p chat -b 900 -n 1 --steps", "of several values the first"},
		{"steps", "where -i chat.json a.go -p chat -b 45 --steps", "where a value went, step by step"},
	} {
		t.Run(row.name, func(t *testing.T) {
			folder(t, selectable)
			code, stdout, stderr := fed(t, "", strings.Fields(row.args)...)
			require.Equal(t, strings.HasPrefix(row.name, "failed"), code == exitSelection, stderr)
			file, got := filepath.Join(dir, row.name+".txt"), "$ cupel "+row.args+"\n"+strings.Replace(stdout, strconv.Quote(version()), `"VERSION"`, 1)+stderr
			if *update {
				require.NoError(t, os.WriteFile(file, []byte(got), 0o600))
			}
			want, err := os.ReadFile(file)
			require.NoError(t, err)
			require.Equal(t, strings.ReplaceAll(string(want), "\r\n", "\n"), got, row.why)
		})
	}
}

func TestDiffJSON(t *testing.T) {
	folder(t, selectable)
	var got difference
	decodeJSON(t, printed(t, "diff", "greedy.json", "ends.json", "-i", "items.jsonl", "-b", "90", "--reserve", "20", "--json"), &got)
	for name, policy := range map[string]string{"a.json": "greedy.json", "b.json": "ends.json"} {
		report := printed(t, "explain", "-i", "items.jsonl", "-p", policy, "-b", "90", "--reserve", "20", "--json")
		require.NoError(t, os.WriteFile(name, []byte(report), 0o600))
	}
	var reports difference
	decodeJSON(t, printed(t, "diff", "a.json", "b.json", "--json"), &reports)
	require.Equal(t, got.Changes, reports.Changes)
	require.NoError(t, os.WriteFile("empty.json", []byte(`{"events": [], "included": [], "excluded": [], "total_candidates": 0, "total_tokens_considered": 0}`), 0o600))
	require.Contains(t, printed(t, "diff", "a.json", "empty.json"), notCandidate)
}

// TestHostileContent: nothing in content moves the cursor of a terminal.
func TestHostileContent(t *testing.T) {
	folder(t, map[string]string{"items.json": `[{"content": "\u001b]0;owned\u0007\u202e\u009b31m", "tokens": 1, "kind": "\u001b[31mKind", "source": "\u202e"}]`})
	for _, args := range []string{
		"explain -p rag -b 10", "explain -p rag -b 10 --json", "explain -p rag -b 10 --why-not *", "explain -p rag -b 10 --why-not * --json",
		"diff rag chat -b 10", "sweep -p rag", "sweep -p rag --json", "explain -p \x1b[31m -b 10",
	} {
		_, stdout, stderr := fed(t, "", append(strings.Fields(args), "-i", "items.json")...)
		require.NotEmpty(t, stdout+stderr)
		require.False(t, strings.ContainsAny(stdout+stderr, "\x1b\x07\u202e\u009b"), args)
	}
	require.Contains(t, printed(t, "run", "-i", "items.json", "-p", "rag", "-b", "10"), "\x1b", "a program gets what there is")
}

// TestTerminal: a terminal gets what is asked for alone, without what would move its cursor.
func TestTerminal(t *testing.T) {
	const text = "[\r\n{\"role\":\"user\",\"content\":\"a\u009b2J\"}]\r\n"
	folder(t, map[string]string{"chat.json": text})
	var out, notes strings.Builder
	env := &Environment{Stdout: &out, Stderr: &notes, screen: terminal.Screen{Terminal: true}}
	for _, flags := range []string{"", " -o -", " --as text", " -o out"} {
		root := newRoot(env)
		root.SetArgs(strings.Fields("chat.json -b 90" + flags))
		require.NoError(t, root.ExecuteContext(t.Context()))
	}
	require.Equal(t, "[\n{\"role\":\"user\",\"content\":\"a\\u009b2J\"}]\na\\u009b2J\n", out.String()) //nolint:testifylint // the same bytes
	require.Equal(t, 1, strings.Count(notes.String(), "nothing is printed on a terminal"))
	written, err := os.ReadFile("out")
	require.NoError(t, err)
	require.Equal(t, text, string(written))
}

func TestGlobs(t *testing.T) {
	for _, tt := range []struct {
		pattern, text string
		want          bool
		why           string
	}{
		{"abc", "abc", true, "all of it"},
		{"abc", "abcd", false, "a part is not all"},
		{"a*d", "a/b\nd", true, "stars cross slashes and line ends"},
		{"first*", "  first\nsecond", true, "the first line by itself"},
		{"a?", "a", false, "one character and not none"},
		{"?", "東", true, "one character of three bytes"},
		{"a.c[\\", "a.c[\\", true, "other characters are themselves"},
		{"a.c", "abc", false, "a point is a point"},
	} {
		require.Equal(t, tt.want, globs(tt.pattern)(tt.text), "%q and %q: %s", tt.pattern, tt.text, tt.why)
	}
}

func TestFind(t *testing.T) {
	var items []*cupel.ContextItem
	for _, content := range []string{"one", "one", "one and two", "\nthree\nlines", "f*r"} {
		item, err := cupel.NewContextItem(content, 1)
		require.NoError(t, err)
		items = append(items, item)
	}
	s := &selection{Candidates: &input.Candidates{Items: items}}
	for text, want := range map[string]int{"1": 0, "2": 1, "5": 4, "one": 0, "*two": 2, "three": 3, "f*r": 4, "thr*": 3, "and": 2} {
		got, err := s.find(text)
		require.NoError(t, err)
		require.Equal(t, want, got, text)
	}
	for text, want := range map[string]string{
		"0": "have the numbers 1 to 5, got 0", "-1": "1 to 5, got -1", "6": "1 to 5, got 6",
		"x": "none of 5 candidates matches", "o*": `item 1 and item 3 match; give the number of one`,
	} {
		_, err := s.find(text)
		require.ErrorContains(t, err, want)
	}
}
