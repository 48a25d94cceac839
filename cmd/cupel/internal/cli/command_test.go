package cli

import (
	"compress/gzip"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// TestQuick: a file alone is enough, and what is missing is said.
func TestQuick(t *testing.T) {
	long := strings.Replace(baked, "LOAVES", strings.Repeat("45 rye loaves, id r-17. ", 900), 1)
	folder(t, map[string]string{
		"chat.json": long, "small.json": strings.Replace(baked, `"model"`, `"max_tokens": 1000, "tools": [{"type": "function", "function": {"name": "orders"}}], "model"`, 1), "odd.json": strings.Replace(baked, "gpt-4o", "gpt-0", 1),
		"items.json": `[{"content": "the oven is hot"}, {"content": "tea"}]`, "src/a.txt": "the oven is hot\n",
		"app.log": "INFO start\nERROR the oven is hot\n\nINFO end\n", "slog.jsonl": `{"time":"2026-01-01T00:00:00Z","level":"INFO","msg":"the oven is hot","role":"baker"}` + "\n" + "panic: cut\n",
		"bare.json": chat,
	})
	for _, tt := range []struct{ args, stdout, stderr, why string }{
		{"chat.json -b 300", `"model": "gpt-4o"`, "cupel: 6 → 5 messages, 9,958 → 299 tokens\n", "a conversation, as a request for the same API"},
		{"small.json", "LOAVES", "cupel: note: the window of gpt-4o has 128,000 tokens (November 2026); 1,000 are for the answer\ncupel: 6 messages, 74 tokens: all fit a budget of 127,000\n", "the window of the model, less its answer"},
		{"chat.json", "r-17", "4,096 are for the answer\n", "a request that says nothing of its answer"},
		{"chat.json -b 300 --as json", `"content": "You bake."`, "299 tokens\n", "another form"},
		{"src -b 90 -q oven", "a.txt:1\nthe oven is hot", "1 item, ", "a folder"},
		{"items.json -b 4 -q oven", "the oven is hot", "cupel: 2 → 1 item, ", "items"},
		{"sweep -i items.json -p rag --from 9 --to 9 --max-input 52", "budgets from 9 to 9 by 1", "", "one budget"},
		{"app.log -b 90 -q oven", "INFO start\n\nERROR the oven is hot\n\nINFO end\n", "cupel: note: the text is read line by line, as 3 candidates\n", "a log, in its order"},
		{"slog.jsonl -b 99 -q oven", `"msg":"the oven is hot","role":"baker"}` + "\n\npanic: cut", "as 2 candidates\n", "what a logger and others wrote"},
	} {
		code, stdout, stderr := fed(t, "", strings.Fields(tt.args)...)
		require.Equal(t, exitOK, code, "%s: %s", tt.args, stderr)
		require.Contains(t, stdout, tt.stdout, tt.why)
		require.Contains(t, stderr, tt.stderr, tt.why)
	}
	refusals(t, "", []refusal{
		{"unknown model", "odd.json", exitUsage, `give a --budget, such as -b 20k: the window of "gpt-0" is not among those known in November 2026`, "no guess"},
		{"no model", "app.log -q x", exitUsage, "the input names no model", "a log has none"},
		{"no question", "items.json -b 9", exitUsage, "are chosen by their relevance: give a question with -q, or a --policy", "nothing to be relevant to"},
		{"no file", "nothing.json -b 9", exitUsage, "nothing.json is neither a command nor a file", "a slip"},
		{"a log as JSON", "app.log -b 9 -q x --format json", exitUsage, "app.log: line 1", "the format is given"},
	})
}

// TestDefaults: the file of defaults sets what the command line does not, is named, and
// reaches nothing outside of its folder.
func TestDefaults(t *testing.T) {
	folder(t, map[string]string{"chat.json": strings.Replace(baked, "LOAVES", strings.Repeat("45 rye loaves, id r-17. ", 40), 1), "secret/rag.json": everything})
	for _, tt := range []struct{ file, args, want, why string }{
		{`budget = "120"`, "chat.json", "cupel: note: cupel.toml sets budget 120\n", "a budget"},
		{"policy = \"chat\"\ncounter = \"heuristic\"", "explain -i chat.json -b 900", "cupel.toml sets policy chat, encoding heuristic\n", "a policy and a counter"},
		{`budget = "120"`, "chat.json -b 900", "all fit a budget of 900", "the command line comes first"},
		{`pins = ["tool=orders"]`, "chat.json -b 600", "cupel.toml sets pin tool=orders\n", "a rule for messages"},
	} {
		require.NoError(t, os.WriteFile(defaultsFile, []byte(tt.file), 0o600))
		code, _, stderr := fed(t, "", strings.Fields(tt.args)...)
		require.Equal(t, exitOK, code, stderr)
		require.Contains(t, stderr, tt.want, tt.why)
		require.NotContains(t, stderr, "sets \n")
	}
	require.NoError(t, os.Symlink("secret/rag.json", "link.json"))
	outside := filepath.Join(t.TempDir(), "rag.json")
	require.NoError(t, os.WriteFile(outside, []byte(everything), 0o600))
	require.NoError(t, os.Symlink(outside, "out.json"))
	for file, want := range map[string]string{
		`upstream = "https://example.com"`:             "cupel.toml: upstream is unknown; it may set policy, budget, counter and pins",
		`policy = "../rag.json"`:                       "cupel.toml: policy: want a file below this folder",
		`policy = "` + filepath.ToSlash(outside) + `"`: "cupel.toml: policy: want a file below this folder",
		`policy = "out.json"`:                          "cupel.toml: policy: want a file below this folder",
		`policy = "-"`:                                 "cupel.toml: policy: want a preset, or a file below this folder",
		"budget = \"9\"\npins = [\"bogus\"]":           `cupel: --rule "keep bogus": "bogus" is unknown`,
		`budget = "much"`:                              `"much" is not an amount`,
		`budget = 8`:                                   "cupel.toml: ",
		"[":                                            "cupel.toml: ",
	} {
		require.NoError(t, os.WriteFile(defaultsFile, []byte(file), 0o600))
		code, stdout, stderr := fed(t, "", "chat.json")
		require.Equal(t, exitUsage, code, file)
		require.Empty(t, stdout)
		code, _, _ = fed(t, "", "policies")
		require.Equal(t, exitOK, code, "it takes nothing of the file")
		require.Contains(t, stderr, want, file)
	}
	require.NoError(t, os.WriteFile(outside, []byte("token-4711"), 0o600))
	require.NoError(t, os.Remove(defaultsFile))
	require.NoError(t, os.Symlink(outside, defaultsFile))
	code, _, stderr := fed(t, "", "chat.json")
	require.Equal(t, exitUsage, code)
	require.Contains(t, stderr, "escapes from parent", "an error would quote a file elsewhere")
}

// TestNotes: what is likely a mistake is said.
func TestNotes(t *testing.T) {
	folder(t, nil)
	for text, want := range map[string]string{
		`[{"content": "a", "pined": true}]`:                `item 1: "pined" is unknown and has no effect; did you mean "pinned"?`,
		`[{"content": "a"}, {"content": "b", "Token": 1}]`: `item 2: "Token" is unknown and has no effect; did you mean "tokens"?`,
		`[{"content": "a", "version_of": "x"}]`:            `did you mean "versionOf"?`,
		`[{"content": "a", "tokens": -1}]`:                 "left out, with less than 0 tokens: 1 item",
		`[]`:                                               "the list is empty",
	} {
		code, _, stderr := fed(t, text, "run", "-i", "-", "-p", "rag", "-b", "9")
		require.Equal(t, exitOK, code, stderr)
		require.Contains(t, stderr, want, text)
	}
	_, _, stderr := fed(t, `[{"content": "a", "tokens": 1, "size": 3}]`, "run", "-i", "-", "-p", "rag", "-b", "9")
	require.NotContains(t, stderr, "did you mean", "a field of the user's own")
}

// TestPresetsWritten: what cupel policies writes is a policy file.
func TestPresetsWritten(t *testing.T) {
	folder(t, map[string]string{"chat.json": baked})
	names, _ := presets()
	for _, name := range names {
		file := map[bool]string{true: "mine.toml", false: "mine.json"}[name == agentPolicy]
		code, written, _ := fed(t, "", "policies", name)
		require.Equal(t, exitOK, code)
		require.NoError(t, os.WriteFile(file, []byte(written), 0o600))
		args := []string{"run", "-i", "chat.json", "-b", "900", "-p", file}
		if name != agentPolicy {
			args = append(args, "-q", "rolls")
		}
		code, _, stderr := fed(t, "", args...)
		require.Equal(t, exitOK, code, "%s: %s", name, stderr)
	}
}

// hostile are inputs that nothing was meant to read.
func hostile() map[string]string {
	return map[string]string{
		"empty": "", "blank": " \n\t\n", "zero": strings.Repeat("\x00", 5_000), "rubbish": "\x80\xff{\"\xfe[", "letter": "x", "brace": "{", "list": "[", "null": "null", "number": "1e999999",
		"deep": strings.Repeat("[", 20_000), "deep objects": strings.Repeat(`{"a":`, 11_000), "large count": `[{"content":"a","tokens":999999999999999999999999}]`,
		"most tokens": `[{"content":"a","tokens":9223372036854775807},{"content":"b","tokens":9223372036854775807}]`, "least tokens": `[{"content":"a","tokens":-9223372036854775808}]`,
		"no messages": `{"messages":[]}`, "numbers as messages": `{"messages":[1,2]}`, "roles": `{"model":1,"max_tokens":-5,"messages":[{"role":"user","content":[]}]}`, "model": `{"model":"gpt-4o","max_tokens":99999999999,"messages":[{"role":"user","content":"a"}]}`,
		"cut gzip": "\x1f\x8b\x08", "lines": strings.Repeat("{}\n", 300), "log": strings.Repeat("a\n", 300), "events": "data: {}\n\n", "twice": `{"messages":[],"messages":[]}`, "mark": "\ufeff[", "report": `{"included":[{"candidate":-1}]}`,
	}
}

// FuzzEveryInput: for any input, each command that reads one ends with an exit code that
// is documented, and none panics.
func FuzzEveryInput(f *testing.F) {
	for _, text := range hostile() {
		f.Add(text)
	}
	f.Add(baked)
	f.Add(chat)
	f.Fuzz(everyCommand)
}

// everyCommand runs all commands that read an input.
func everyCommand(t *testing.T, text string) {
	folder(t, map[string]string{"items.jsonl": selectable["items.jsonl"], "greedy.json": selectable["greedy.json"], "check.toml": "[selection]\nitems = \"input\"\npolicy = \"rag\"\nbudget = 9\n[[checks]]\nassert = \"have_no_exclusions\"\n"})
	require.NoError(t, os.WriteFile("input", []byte(text), 0o600))
	for _, args := range []string{
		"input -q a", "input -b 50 -q a", "run -i input -p rag -b 9", "run -i input -p agent -b 9 --as transcript", "run -i - -p chat -b 50", "explain -i input -p rag -b 9 --json", "explain -i input -p rag -b 9 --why-not 1",
		"diff rag chat -i input -b 9", "sweep -i input -p rag --to 50", "inspect -i input -p rag -b 9 -o -", "where -i input -p agent -b 50 a", "check check.toml", "check input", "diff input.json greedy.json", "run -i items.jsonl -p input.toml -b 9", "eval --data input -p chat", "replay --data input -p newest", "diff rag chat --recordings input", "mcp", "mcp --sessions nowhere",
	} {
		for _, suffix := range []string{".json", ".toml"} {
			if strings.Contains(args, "input"+suffix) {
				require.NoError(t, os.WriteFile("input"+suffix, []byte(text), 0o600))
			}
		}
		code, _, _ := fed(t, text, append(strings.Fields(args), "--max-input", "100k")...)
		require.True(t, slices.Contains([]int{exitOK, exitCheck, exitUsage, exitSelection}, code), "%.99q: cupel %s: exit code %d", text, args, code)
	}
	here, err := os.Getwd()
	require.NoError(t, err)
	files, _ := filepath.Glob("/proc/self/fd/*") // of Linux
	for _, file := range files {
		name, _ := os.Readlink(file)
		require.False(t, strings.HasPrefix(name, here), "%s is open", name)
	}
}

// zeros is what /dev/zero has. It counts what is read of it.
type zeros struct{ read int }

func (z *zeros) Read(p []byte) (int, error) {
	clear(p)
	z.read += len(p)
	return len(p), nil
}

// TestMaxInput: no input is read beyond its bound, and none takes much more memory.
func TestMaxInput(t *testing.T) {
	var bomb strings.Builder
	zipping := gzip.NewWriter(&bomb)
	_, err := zipping.Write(make([]byte, 8_000_000))
	require.NoError(t, err)
	require.NoError(t, zipping.Close())
	folder(t, map[string]string{"bomb": bomb.String(), "many/a.txt": strings.Repeat("word\n\n", 100_000), "many/b.txt": strings.Repeat("word\n\n", 100_000)})
	const most = 1_000_000
	for _, args := range []string{"run -i - -p rag -b 9", "explain -i - -p agent -b 9", "eval --data bomb", "replay --data -", "check -", "run -i bomb -p rag -b 9", "bomb -q x -b 9", "many -q x -b 9"} {
		endless := new(zeros)
		var errs strings.Builder
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		code := Main(t.Context(), append(strings.Fields(args), "--max-input", "1M"), Environment{
			Stdin: endless, Stdout: t.Output(), Stderr: &errs, Getenv: func(string) string { return "" }, Clock: time.Now,
		})
		runtime.ReadMemStats(&after)
		require.Equal(t, exitUsage, code, "%s: %s", args, errs.String())
		require.Contains(t, errs.String(), "more than", args)
		require.LessOrEqual(t, endless.read, most+64<<10, args)
		require.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(80*most), args)
	}
}
