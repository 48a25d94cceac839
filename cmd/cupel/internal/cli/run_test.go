package cli

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
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
	// Without pins the answer would be first, and cannot be. The question takes its room.
	_, stdout, _ = ran(t, chat, "-b", "14", "--as", "transcript", "--no-pin")
	require.Contains(t, stdout, `{"type": "text", "text": "List the files."}, {"type": "text", "text": "Thanks."}`)
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
	for name, stays := range map[string]bool{"new": false, "link": true, "gone": false} {
		err := writeFile(name, true, func(io.Writer) error {
			_ = os.Remove("gone")
			return failure
		})
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

// TestInputs: files are uncompressed, and what is broken is named.
func TestInputs(t *testing.T) {
	const items = `{"content":"apple"}` + "\n" + `{"content":"pear"}`
	folder(t, map[string]string{
		"a.jsonl.gz": zipped(t, items), "plain.gz": items, "cut.gz": zipped(t, items)[:20], "bad.gz": "\x1f\x8b\x00",
	})
	for _, tt := range []struct {
		file, stdin, want, err string
	}{
		{"a.jsonl.gz", "", "apple\n\npear\n", ""},
		{"plain.gz", "", "apple\n\npear\n", ""},
		{"-", zipped(t, items), "apple\n\npear\n", ""},
		{"cut.gz", "", "", "cut.gz: unexpected EOF"},
		{"bad.gz", "", "", "bad.gz: the gzip data cannot be read: unexpected EOF"},
	} {
		code, stdout, stderr := fed(t, tt.stdin, "run", "-p", "chat", "-b", "1k", "-i", tt.file)
		require.Equal(t, tt.err == "", code == exitOK, stderr)
		require.Equal(t, tt.want, stdout, tt.file)
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
	for _, flags := range [][]string{{"--query", "What is in oven1.go?"}, {"--pin", "5", "--pin", "1"}} {
		_, stdout, _ := ran(t, b.String(), append(flags, "-p", "agent", "-b", "900", "--as", "transcript")...)
		require.Equal(t, 20, strings.Count(stdout, "func oven1()"), "%v", flags)
	}
	for _, pin := range []string{"0", "99"} {
		code, _, stderr := ran(t, b.String(), "--pin", pin, "-p", "agent", "-b", "900")
		require.Equal(t, exitUsage, code)
		require.Contains(t, stderr, "does not have all of the messages ["+pin+"]")
	}
}
