package cli

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// ran runs cupel run with a text on standard input, which is the file "-".
func ran(t *testing.T, stdin string, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	return fed(t, stdin, append([]string{"run", "-i", "-", "-p", "chat"}, args...)...)
}

// everything takes all items that there is room for, in the given order of time.
const everything = `{"name": "All", "deduplicate": false, "scorers": [{"type": "recency", "weight": 1}], "slicer": {"type": "greedy"}, "placer": {"type": "PLACER"}}`

// TestRunTakesTranscriptsThrough: what fits is unchanged, in each format.
func TestRunTakesTranscriptsThrough(t *testing.T) {
	paths, err := filepath.Glob("../../../../cupelchat/testdata/*.json")
	require.NoError(t, err)
	require.Greater(t, len(paths), 5)
	shaped := filepath.Join(t.TempDir(), "policy.json")
	require.NoError(t, os.WriteFile(shaped, []byte(strings.Replace(everything, "PLACER", "uShaped", 1)), 0o600))
	for _, path := range paths {
		text, err := os.ReadFile(path)
		require.NoError(t, err)
		for _, policy := range []string{shaped, "chat"} {
			code, stdout, stderr := ran(t, string(text), "-p", policy, "-b", "1000000", "--as", "transcript")
			require.Equal(t, exitOK, code, "%s: %s", path, stderr)
			require.JSONEq(t, string(text), stdout, path)
		}
	}
}

// TestRunDropsExchangesWhole: 7 tokens of the system prompt, 8 of the first message, 6
// of the last one and 8 of the answer before it leave no room for the exchange.
func TestRunDropsExchangesWhole(t *testing.T) {
	code, stdout, stderr := ran(t, chat, "-b", "29", "--as", "transcript")
	require.Equal(t, exitOK, code)
	require.Equal(t, "cupel: 6 → 4 messages, 55 → 29 tokens\n", stderr)
	//nolint:testifylint // the same bytes
	require.Equal(t, `{
 "model": "claude-x", "system": "Be brief.",
 "messages": [
  {"role": "user", "content": "List the files."},
  {"role": "assistant", "content": "There are two."},
  {"role": "user", "content": "Thanks."}
 ]
}
`, stdout)
	_, stdout, stderr = ran(t, chat, "-b", "28", "--as", "transcript")
	require.NotContains(t, stdout, "There are two.")
	require.Contains(t, stderr, "cupel: note: joined 1 message with the one before, because the messages between were dropped\n")
	// Without pins the answer is first, and cannot be.
	_, stdout, stderr = ran(t, chat, "-b", "14", "--as", "transcript", "--no-pin")
	require.Contains(t, stdout, "\"messages\": [\n  {\"role\": \"user\", \"content\": \"Thanks.\"}")
	require.Contains(t, stderr, "dropped 1 item from messages[3] on (8 tokens), because the API requires that the user speaks first")
}

// TestRunJSON reads back what it wrote.
func TestRunJSON(t *testing.T) {
	_, stdout, _ := ran(t, chat, "-b", "1000", "--as", "json")
	var items []any
	decodeJSON(t, stdout, &items)
	require.Len(t, items, 6)
	_, again, _ := ran(t, stdout, "-b", "1000", "--as", "json")
	require.Equal(t, stdout, again)
	_, none, _ := ran(t, "[]", "-b", "1000", "--as", "json")
	require.Equal(t, "[]\n", none)
}

// TestRunKeepsRepetitions has a message twice, and a policy that would leave out items
// with equal content.
func TestRunKeepsRepetitions(t *testing.T) {
	const text = `[{"role":"assistant","content":"go on"},{"role":"assistant","content":"go on"},{"role":"user","content":"x"}]`
	_, stdout, _ := ran(t, text, "-b", "100", "--as", "transcript", "--format", "openai")
	require.Equal(t, text+"\n", stdout) //nolint:testifylint // the same bytes
}

// TestOutput: a file is written as a whole, and only --force overwrites one.
func TestOutput(t *testing.T) {
	folder(t, selectable)
	args := []string{"-b", "1000", "--as", "transcript", "-o", "out"}
	code, stdout, stderr := ran(t, chat, args...)
	require.Equal(t, exitOK, code, stderr)
	require.Empty(t, stdout)
	got, err := os.ReadFile("out")
	require.NoError(t, err)
	require.Equal(t, chat, string(got)) //nolint:testifylint // the same bytes
	code, _, stderr = ran(t, chat, args...)
	require.Equal(t, exitUsage, code)
	require.Equal(t, "cupel: out already exists; --force overwrites it\n", stderr)
	code, _, stderr = ran(t, chat, append(args, "--force")...)
	require.Equal(t, exitOK, code, stderr)
	failure := errors.New("no space left")
	require.NoError(t, os.Symlink("out", "link"))
	for name, stays := range map[string]bool{"new": false, "link": true} {
		err := writeFile(name, true, func(io.Writer) error { return failure })
		require.ErrorIs(t, err, failure)
		_, err = os.Lstat(name)
		require.Equal(t, stays, err == nil, "no half of a file, and the user's link")
	}
}

func zipped(t *testing.T, text string) string {
	t.Helper()
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	_, err := w.Write([]byte(text))
	require.NoError(t, err)
	require.NoError(t, w.Close())
	return b.String()
}

// TestInputs: files are uncompressed and joined, and what is broken is named.
func TestInputs(t *testing.T) {
	const items = `{"content":"apple"}` + "\n" + `{"content":"pear"}`
	folder(t, map[string]string{
		"a.jsonl.gz": zipped(t, items), "plain.gz": items, "cut.gz": zipped(t, items)[:20], "bad.gz": "\x1f\x8b\x00",
		"b.json": `[{"content":"banana"}]`, "shop/c.txt": "cherry\n", "chat.json": `[{"role":"user","content":"date"}]`,
	})
	for _, tt := range []struct {
		files, stdin, want, err string
	}{
		{"a.jsonl.gz", "", "apple\n\npear\n", ""},
		{"plain.gz", "", "apple\n\npear\n", ""},
		{"-", zipped(t, items), "apple\n\npear\n", ""},
		{"b.json plain.gz shop", "", "c.txt:1\ncherry\n\nbanana\n\napple\n\npear\n", ""}, // files have times
		{"cut.gz", "", "", "cut.gz: unexpected EOF"},
		{"bad.gz", "", "", "bad.gz: what gzip compressed cannot be read: unexpected EOF"},
		{"b.json chat.json", "", "", "one of b.json, chat.json is a transcript: give it alone"},
		{"- -", items, "", "standard input can be read once"},
	} {
		args := []string{"run", "-p", "chat", "-b", "1k"}
		for file := range strings.FieldsSeq(tt.files) {
			args = append(args, "-i", file)
		}
		code, stdout, stderr := fed(t, tt.stdin, args...)
		require.Equal(t, tt.err == "", code == exitOK, stderr)
		require.Equal(t, tt.want, stdout, tt.files)
		require.Contains(t, stderr, tt.err)
	}
}

// TestFolder asks about a folder.
func TestFolder(t *testing.T) {
	folder(t, map[string]string{
		"shop/price.go":  "package shop\n\n// Round rounds a price to five cents.\nfunc Round(cents int) int { return cents / 5 * 5 }\n",
		"shop/README.md": "# Shop\n\nSells tea.\n\n## Opening hours\n\nFrom nine to six.\n",
	})
	ask := []string{"-i", "shop", "-p", "relevance", "-b", "50", "-q", "How is a price rounded?", "--encoding", "heuristic"}
	require.Contains(t, printed(t, append([]string{"run"}, ask...)...), "price.go:3 Round\n// Round rounds a price to five cents.\nfunc Round(cents int) int { return cents / 5 * 5 }\n")
	require.Contains(t, printed(t, append([]string{"explain", "--why-not", "README*hours*"}, ask...)...), "It is out: BudgetExceeded")
	refusals(t, "", []refusal{
		{"format", "run -i shop -p chat -b 50 --format json", exitUsage, "--format does not apply to a folder: shop", "it would have no effect"},
		{"transcript", "run -i shop -p chat -b 50 --as transcript", exitUsage, "these are items (folder)", "there is no transcript to write"},
	})
}

// TestRunForAgent: the preset writes a smaller conversation, in which an older exchange
// is a note.
func TestRunForAgent(t *testing.T) {
	var b strings.Builder
	b.WriteString(`[{"role":"user","content":"Fix the oven test."}`)
	for i := range 6 {
		fmt.Fprintf(&b, `,{"role":"assistant","tool_calls":[{"id":"c%d","type":"function","function":{"name":"read","arguments":"{\"path\":\"oven%d.go\"}"}}]},{"role":"tool","tool_call_id":"c%d","content":%q}`,
			i, i, i, strings.Repeat(fmt.Sprintf("func oven%d() error { return nil }\n", i), 20))
	}
	b.WriteString(`,{"role":"user","content":"Go on."}]`)
	_, stdout, _ := ran(t, b.String(), "-p", "agent", "-b", "900", "--as", "transcript")
	require.Contains(t, stdout, "[earlier] read(")
	require.Contains(t, stdout, "Fix the oven test.")
	require.Less(t, strings.Count(stdout, "func oven1()"), 20)
	for _, flags := range [][]string{{"--query", "What is in oven1.go?"}, {"--pin", "5"}} {
		_, stdout, _ := ran(t, b.String(), append(flags, "-p", "agent", "-b", "900", "--as", "transcript")...)
		require.Equal(t, 20, strings.Count(stdout, "func oven1()"), "%v", flags)
	}
}

// TestOneSelection: every command selects what run does, where the task does not fit too.
func TestOneSelection(t *testing.T) {
	body, err := json.Marshal([]map[string]string{
		{"role": "system", "content": "You are a baker."},
		{"role": "user", "content": strings.Repeat("Look at oven.go and bake the bread.\n", 60)},
		{"role": "assistant", "content": strings.Repeat("The loaf42 is in.\n", 30)},
		{"role": "user", "content": strings.Repeat("Is it done? ", 20)},
	})
	require.NoError(t, err)
	folder(t, map[string]string{"chat.json": string(body)})
	for _, policy := range []string{"agent", "chat"} {
		command := func(args string) (stdout, stderr string) {
			t.Helper()
			code, stdout, stderr := fed(t, "", append(strings.Fields(args), "-i", "chat.json", "--encoding", "heuristic")...)
			require.Equal(t, exitOK, code, stderr)
			return stdout, stderr
		}
		var items []struct{ Content string }
		window, _ := command("run -b 200 --as json -p " + policy)
		decodeJSON(t, window, &items)
		var report struct {
			Included []struct{ Item struct{ Content string } }
		}
		out, notes := command("explain -b 200 --json -p " + policy)
		decodeJSON(t, out, &report)
		require.Contains(t, notes, "messages[1] was shortened from")
		var ran, explained []string
		for _, item := range items {
			ran = append(ran, item.Content)
		}
		for _, in := range report.Included {
			explained = append(explained, in.Item.Content)
		}
		slices.Sort(ran)
		slices.Sort(explained)
		require.Len(t, ran, 4)
		require.Equal(t, ran, explained)
		command("explain -b 200 --why-not The* -p " + policy)
		command("diff rag -b 200 " + policy)
		command("inspect -p rag -b 200 -o - --against " + policy)
		var sweep struct {
			Steps []struct {
				Included int
				Error    string
			}
		}
		out, _ = command("sweep --from 200 --to 700 --json -p " + policy)
		decodeJSON(t, out, &sweep)
		require.Greater(t, len(sweep.Steps), 1)
		require.Equal(t, len(ran), sweep.Steps[0].Included)
		require.Empty(t, sweep.Steps[0].Error)
	}
}

// turns returns a conversation after so many exchanges, for Anthropic's API.
func turns(n int) string {
	var b strings.Builder
	b.WriteString(`{"model":"claude-sonnet-4-5","max_tokens":100,"system":"You bake.","messages":[{"role":"user","content":"Bake the loaves."}`)
	for i := range n {
		fmt.Fprintf(&b, `,{"role":"assistant","content":[{"type":"tool_use","id":"c%d","name":"oven","input":{"id":%d}}]}`, i, i)
		fmt.Fprintf(&b, `,{"role":"user","content":[{"type":"tool_result","tool_use_id":"c%d","content":%q}]}`, i, strings.Repeat(fmt.Sprintf("loaf %d is brown. ", i), 60))
	}
	b.WriteString("]}")
	return b.String()
}

// TestRunInSession: what was sent is sent again in another process until there is no
// room for it, and the window is what the API takes.
func TestRunInSession(t *testing.T) {
	t.Chdir(t.TempDir())
	before, kept := "", 0
	for n := 1; n < 9; n++ {
		code, stdout, stderr := ran(t, turns(n), "-p", "agent", "-b", "1600", "--encoding", "heuristic", "--as", "transcript", "--session", "s.json", "--check-format")
		require.Equal(t, exitOK, code, stderr)
		require.Contains(t, stderr, fmt.Sprintf("cupel: turn %d: ", n))
		var request struct{ Messages []json.RawMessage }
		decodeJSON(t, strings.ReplaceAll(stdout, `, "cache_control": {"type": "ephemeral"}`, ""), &request)
		var now strings.Builder
		for _, m := range request.Messages {
			var compact bytes.Buffer
			require.NoError(t, json.Compact(&compact, m))
			now.Write(compact.Bytes())
		}
		if n > 1 && strings.HasPrefix(now.String(), before) {
			kept++
		}
		before = now.String()
	}
	require.GreaterOrEqual(t, kept, 3)
	require.Less(t, kept, 7, "the window breaks where there is no room")
	info, err := os.Stat("s.json")
	require.NoError(t, err)
	require.Zero(t, info.Mode().Perm()&0o077, "the state is not for others")
	entries, err := os.ReadDir(".")
	require.NoError(t, err)
	require.Len(t, entries, 1)
}

func TestSessionFiles(t *testing.T) {
	folder(t, map[string]string{"broken.json": "{\"version\":", "chat.json": turns(1), "items.json": `[{"content":"a"}]`, "out": "precious"})
	const run = "run -p agent --encoding heuristic -i "
	refusals(t, "", []refusal{
		{"cut", run + "chat.json -b 1200 --session broken.json", exitUsage, "--session: broken.json is not the state of a session, and is left as it is: ", "a state that was cut"},
		{"mixed up", run + "chat.json -b 1200 --session chat.json", exitUsage, "--session: chat.json is not the state of a session", "the files were mixed up"},
		{"items", run + "items.json -b 1200 --session new.json", exitUsage, "--session require a transcript as input, and these are items (json)", "items are no conversation"},
		{"cache", run + "chat.json -b 1200 --session new.json --cache antropic", exitUsage, `--cache: "antropic" is unknown; want one of anthropic, `, "a slip"},
		{"cache alone", run + "chat.json -b 1200 --cache openai", exitUsage, "--cache is for a --session", "it would count for nothing"},
		{"too little", run + "chat.json -b 5 --session new.json", exitSelection, "the request needs at least ", "a window that cannot be chosen is not saved"},
		{"output", run + "chat.json -b 1200 --session new.json -o new.json", exitUsage, "--session and --output are the same file", "one would replace the other"},
		{"output that is there", run + "chat.json -b 1200 --session new.json -o out", exitUsage, "out already exists", "nor is one that was not written"},
	})
	_, err := os.Stat("new.json")
	require.ErrorIs(t, err, os.ErrNotExist)
	text, err := os.ReadFile("broken.json")
	require.NoError(t, err)
	require.Equal(t, "{\"version\":", string(text))
	require.NoError(t, os.Symlink("real.json", "link.json"))
	for range 2 { // a link stays one
		code, _, stderr := fed(t, "", strings.Fields(run+"chat.json -b 1200 --session link.json")...)
		require.Equal(t, exitOK, code, stderr)
		require.NoError(t, os.Rename("link.json", "link2.json"))
		require.NoError(t, os.Rename("link2.json", "link.json"))
	}
}

func TestCheckFormat(t *testing.T) {
	const lost = `[{"role":"user","content":"x"},{"role":"tool","tool_call_id":"c9","content":"y"},{"role":"user","content":"z"}]`
	args := []string{"-b", "1000", "--as", "transcript", "--format", "openai"}
	code, stdout, _ := ran(t, lost, args...)
	require.Equal(t, exitOK, code)
	require.NotEmpty(t, stdout)
	code, stdout, stderr := ran(t, lost, append(args, "--check-format")...)
	require.Equal(t, exitCheck, code)
	require.Empty(t, stdout)
	require.Contains(t, stderr, "cupel: the API (openai) would refuse the window, and nothing is written:\n  messages[1].role: ")
}
