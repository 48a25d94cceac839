package cli

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/wollax/cupel-go/cmd/cupel/internal/assertions"
)

// checks has files of checks over three items; the policy takes the
// pinned one and high within 25 tokens.
func checks(t *testing.T) {
	t.Helper()
	folder(t, map[string]string{
		"data/items.jsonl": `{"content": "high", "tokens": 10, "futureRelevanceHint": 0.9}
{"content": "low", "tokens": 10, "futureRelevanceHint": 0.1}
{"content": "rule", "tokens": 10, "pinned": true, "kind": "evil\u001b[2J"}
`,
		"data/mine.json": `{"scorers": [{"type": "reflexive", "weight": 1}], "slicer": {"type": "greedy"}, "placer": {"type": "uShaped"}}`,
		"checks/good.toml": `
[selection]
items = "../data/items.jsonl"
policy = "../data/mine.json"
budget = 25
[[checks]]
assert = "include_item_matching"
item = { content = "high" }
`,
		"checks/bad.toml": `
[selection]
items = "../data/items.jsonl"
policy = "rag"
budget = 30
reserve = 5
[[checks]]
assert = "have_tokens_at_most"
n = 20
[[checks]]
assert = "include_item_with_kind"
kind = "Document"
why = """
two
lines"""
`,
		"checks/crowded.toml": `
[selection]
items = "../data/items.jsonl"
policy = "rag"
budget = 5
[[checks]]
assert = "have_no_exclusions"
`,
		"checks/bare.toml": "[selection]\nbudget = 30\n[[checks]]\nassert = \"have_no_exclusions\"\n",
		"checks/none.toml": "[[checks]]\nassert = \"have_no_exclusions\"\n",
		"checks/over.toml": `
[selection]
items = "../data/items.jsonl"
policy = "rag"
budget = 25
reserve = 26
[[checks]]
assert = "have_no_exclusions"
`,
		"checks/small.toml": `
[selection]
items = "../data/items.jsonl"
policy = "../data/mine.json"
budget = 15
[[checks]]
assert = "include_item_matching"
item = { content = "high" }
`,
		"checks/wrong.toml": `
[selection]
budgets = 25
[[checks]]
assert = "have_tokens_at_least"
`,
	})
}

func TestCheck(t *testing.T) {
	const failing = `FAIL  checks/bad.toml checks[1] IncludeItemWithKind(Document) failed: Included contained 0 items with Kind=Document. Included had 2 items with kinds: [evil\x1b[2J, Message].
        no candidate matches
      why: two
      lines
`
	const good = "ok    checks/good.toml checks[0] IncludeItemMatching item={\"content\":\"high\"}\n"
	for _, row := range []struct {
		name   string
		args   string
		code   int
		stdout string
		stderr string
		why    string
	}{
		{"several", "checks/bad.toml checks/good.toml", exitCheck,
			"ok    checks/bad.toml checks[0] HaveTokensAtMost n=20\n" + failing + good +
				"3 checks in 2 files: 2 ok, 1 failed\n", "", "one that fails is enough, and escape sequences are not printed"},
		{"no selection", "checks/crowded.toml checks/good.toml", exitSelection,
			"ERROR checks/crowded.toml: the selection failed: Pinned items require 10 tokens, but only 5 are available\n" + good + "1 check in 2 files: 1 ok, 0 failed, some without a selection\n",
			"cupel: checks/crowded.toml: Pinned items require 10 tokens, but only 5 are available\n", "the others are checked nevertheless"},
		{"lint", "checks/crowded.toml --lint", exitSelection, "checks/crowded.toml:1: the selection failed: Pinned items require 10 tokens, but only 5 are available\n",
			"cupel: checks/crowded.toml: Pinned items require 10 tokens, but only 5 are available\n", "editors read it"},
		{"flags", "checks/bare.toml -i data/items.jsonl -p data/mine.json", exitOK,
			"ok    checks/bare.toml checks[0] HaveNoExclusions\n1 check in 1 file: 1 ok, 0 failed\n", "", "a file may leave out items and policy"},
		{"hidden", "checks/small.toml --hide-contents", exitCheck,
			"FAIL  checks/small.toml checks[0] IncludeItemMatching failed: no item in Included matched the predicate. Included had 1 items. They are: [(kind=evil\\x1b[2J, score=1, reason=Pinned)].\n        <4 bytes> is excluded: PinnedOverride, pinned items took its place, displaced by <4 bytes>\n1 check in 1 file: 0 ok, 1 failed\n", "", "what candidates say stays out of logs"},
	} {
		t.Run(row.name, func(t *testing.T) {
			checks(t)
			code, stdout, stderr := fed(t, "", append([]string{"check"}, strings.Fields(row.args)...)...)
			require.Equal(t, row.code, code, row.why)
			require.Equal(t, row.stdout, stdout)
			if row.code != exitSelection {
				stderr = summed(t, stderr)
			}
			require.Equal(t, row.stderr, stderr)
		})
	}
	checks(t)
	refusals(t, "", []refusal{
		{"wrong files", "check checks/wrong.toml checks/good.toml data/mine.json", exitUsage, "cupel: checks/wrong.toml: ", "all mistakes are reported at once, and nothing is run"},
		{"the second wrong file", "check checks/wrong.toml checks/good.toml data/mine.json", exitUsage, "\ndata/mine.json: ", "the same"},
		{"no items", "check checks/none.toml", exitUsage, "checks/none.toml: selection.items is missing", "neither the file nor a flag says"},
		{"no policy", "check checks/none.toml -i data/items.jsonl", exitUsage, "selection.policy is missing", "the same"},
		{"no budget", "check checks/none.toml -i data/items.jsonl -p rag", exitUsage, "selection.budget is missing", "the same"},
		{"bad budget", "check checks/over.toml", exitUsage, "checks/over.toml: selection.reserve must be at most selection.budget (25), got 26", "the words of the budget, with the names of the file"},
		{"nothing", "check", exitUsage, "requires at least 1 arg(s)", "no file is not a success"},
		{"results over checks", "check checks/good.toml --markdown checks/good.toml", exitUsage, "checks/good.toml already exists; --force overwrites it", "a slip should not cost them"},
	})
}

// TestCheckSettings: what a file says of the selection arrives.
func TestCheckSettings(t *testing.T) {
	const file = `[selection]
items = "items.json"
format = "json"
encoding = "heuristic"
policy = "chat"
query = "oven"
budget = 50
reserve = 10
margin = 10
[[checks]]
`
	for _, name := range []string{t.TempDir(), "-"} {
		require.Equal(t, name, relativeTo("a/b.toml", name), "it is no path in the folder")
	}
	const oven = "assert = \"include_item_matching\"\nitem = { content_glob = \"*oven*\" }"
	folder(t, map[string]string{"items.json": `[{"content": "The oven broke.", "tokens": 30}, {"content": "Good night!", "tokens": 30}]`})
	for _, row := range []struct {
		name, check string
		edit        [2]string // what is replaced
		code        int
		why         string
	}{
		{"as it is", oven, [2]string{}, exitOK, "50 less 10 for the answer, less a tenth, are 36, and hold the one that is asked for"},
		{"another question", oven, [2]string{`"oven"`, `"night"`}, exitCheck, "the other item fits alone"},
		{"no room", "assert = \"have_tokens_at_most\"\nn = 0", [2]string{"reserve = 10", "reserve = 20"}, exitOK, "30 less a tenth hold none"},
		{"less room", `assert = "have_no_exclusions"`, [2]string{"= 50", "= 76"}, exitCheck, "66 less a tenth do not hold both"},
		{"format", oven, [2]string{`"json"`, `"openai"`}, exitUsage, "items are no messages"},
	} {
		t.Run(row.name, func(t *testing.T) {
			code, stdout, stderr := fed(t, strings.Replace(file, row.edit[0], row.edit[1], 1)+row.check, "check", "-")
			require.Equal(t, row.code, code, "%s: %s%s", row.why, stdout, stderr)
		})
	}
}

// TestCheckJSON: the same results for programs.
func TestCheckJSON(t *testing.T) {
	checks(t)
	code, stdout, _ := fed(t, "", "check", "--json", "--markdown", "report.md", "checks/bad.toml", "checks/crowded.toml")
	require.Equal(t, exitSelection, code)
	report, err := os.ReadFile("report.md")
	require.NoError(t, err)
	require.Contains(t, string(report), "| error | checks/crowded.toml | Pinned items require 10 tokens")
	const failure = "IncludeItemWithKind(Document) failed: Included contained 0 items with Kind=Document. Included had 2 items with kinds: [evil\\x1b[2J, Message].\n\tno candidate matches"
	var got checkedFiles
	decodeJSON(t, stdout, &got)
	require.Equal(t, checkedFiles{Checks: 2, Failed: 1, Files: []*checkedFile{
		{File: "checks/bad.toml", Results: []checkResult{
			{Path: "checks[0]", Assertion: "HaveTokensAtMost", Text: "HaveTokensAtMost n=20", OK: true},
			{
				Path: "checks[1]", Assertion: "IncludeItemWithKind", Text: `IncludeItemWithKind kind="Document"`, Why: "two\nlines", Message: failure,
			},
		}},
		{File: "checks/crowded.toml", Error: "Pinned items require 10 tokens, but only 5 are available", Results: []checkResult{}},
	}}, got)
}

// TestCheckPublished reads the files in CHECKS.md, and runs those that it is about.
func TestCheckPublished(t *testing.T) {
	t.Chdir(filepath.Join("..", ".."))
	data, err := os.ReadFile("CHECKS.md")
	require.NoError(t, err)
	doc := string(data)
	require.Contains(t, printed(t, "check", "testdata/checks/desk.toml", "testdata/checks/rules.toml"), "7 checks in 2 files: 7 ok, 0 failed\n")
	_, err = assertions.Decode([]byte("[[checks]]\nassert = \"x\""), globs)
	_, list, _ := strings.Cut(err.Error(), "want one of ")
	for name := range strings.SplitSeq(list, ", ") {
		require.Contains(t, doc, "\n| `"+name+"` |")
	}
	blocks := strings.Split(doc, "```toml\n")[1:]
	require.NotEmpty(t, blocks)
	for _, block := range blocks {
		text, _, _ := strings.Cut(block, "```")
		_, err := assertions.Decode([]byte(text), globs)
		require.NoError(t, err, text)
	}
}

// dying is a context that is canceled after so many looks at it.
type dying struct {
	context.Context
	looks atomic.Int64
}

func (d *dying) Err() error {
	if d.looks.Add(-1) < 0 {
		return context.Canceled
	}
	return nil
}

// TestInterrupted: a command that is stopped, at any point, prints nothing or all.
func TestInterrupted(t *testing.T) {
	checks(t)
	require.NoError(t, os.WriteFile("chat.json", []byte(baked), 0o600))
	require.NoError(t, os.WriteFile("talk.jsonl", []byte(talk), 0o600))
	for _, args := range []string{
		"check checks/good.toml", "where -i chat.json -b 50 loaves --steps --session", "where -i chat.json -b 900 -p chat oven --steps",
		"explain -i data/items.jsonl -p data/mine.json -b 25", "explain -i chat.json -b 50", "explain -i chat.json -b 50 --why-not 4", "sweep -i chat.json -p agent",
		"diff agent chat -i chat.json -b 50", "run -i chat.json -b 50",
		"eval talk.jsonl -p recency -j 1 -b 6", "replay chat.json -p newest -j 1 --share 0.5",
	} {
		run := func(looks int64) (code int, printed string) {
			ctx := &dying{Context: t.Context()}
			ctx.looks.Store(looks)
			var out, errs strings.Builder
			code = Main(ctx, strings.Fields(args), Environment{
				Stdin: strings.NewReader(""), Stdout: &out, Stderr: &errs,
				Getenv: func(string) string { return "" }, Clock: func() time.Time { return time.Time{} },
			})
			return code, out.String()
		}
		code, all := run(1 << 40)
		require.Zero(t, code)
		for looks := range int64(50) {
			code, printed := run(looks)
			if code == exitOK {
				require.Equal(t, all, printed, "%s: %d", args, looks)
				break // it is not asked more often
			}
			require.Equal(t, exitInterrupted, code, "%s: %d", args, looks)
			require.Empty(t, printed)
		}
	}
}

// TestKeepFact: a value survives at every step of recordings, or the report says where it
// went.
func TestKeepFact(t *testing.T) {
	recorded, err := os.ReadFile(agents)
	require.NoError(t, err)
	const head = "[selection]\nrecordings = \"days\"\npolicy = \"agent\"\n"
	const fact = "[[checks]]\nassert = \"keep_fact\"\nfact = \"%s\"\n"
	folder(t, map[string]string{
		"days/monday.jsonl": string(recorded), "days/tuesday.jsonl": string(recorded),
		"keep.toml":  head + "budget = 100000\n" + fmt.Sprintf(fact, "kunde_4711"),
		"lose.toml":  head + "budget = 300\nsession = true\n" + fmt.Sprintf(fact, "kunde_4711") + "why = \"a | b <c>\"\n" + fmt.Sprintf(fact, "nowhere"),
		"mixed.toml": head + "budget = 300\n[[checks]]\nassert = \"have_no_exclusions\"\n",
		"bare.toml":  "[selection]\npolicy = \"agent\"\nbudget = 300\n" + fmt.Sprintf(fact, "x"),
		"gone.toml":  strings.Replace(head, "days", "weeks", 1) + "budget = 300\n" + fmt.Sprintf(fact, "x"),
		"empty.toml": strings.Replace(head, "days", "empty", 1) + "budget = 300\n" + fmt.Sprintf(fact, "x"),
		"odd.toml":   strings.Replace(head, "agent", "agnt", 1) + "budget = 300\n" + fmt.Sprintf(fact, "x"),
		"cut.toml":   strings.Replace(head, "days", "cut.jsonl", 1) + "budget = 300\n" + fmt.Sprintf(fact, "x"),
		"cut.jsonl":  `{"messages": [`,
	})
	require.NoError(t, os.Mkdir("empty", 0o700))
	require.Equal(t, "ok    keep.toml checks[0] KeepFact fact=\"kunde_4711\"\n1 check in 1 file: 1 ok, 0 failed\n", printed(t, "check", "keep.toml"))
	code, stdout, _ := fed(t, "", "check", "lose.toml", "--lint", "--markdown", "report.md")
	require.Equal(t, exitCheck, code)
	const lost = ": bakery: the window before message 12 does not have \"kunde_4711\"\n"
	require.Equal(t, filepath.Join("days", "monday.jsonl")+":1"+lost+filepath.Join("days", "tuesday.jsonl")+":1"+lost+
		"lose.toml:1: checks[1] KeepFact failed: no step in 2 files comes after a message with the value\n", stdout)
	report, err := os.ReadFile("report.md")
	require.NoError(t, err)
	require.Contains(t, string(report), "|---|---|---|\n| **failed** | lose.toml | checks[0] KeepFact fact=\"kunde_4711\"<br>KeepFact failed: the value is lost in 2 of 2 conversations<br>")
	require.Contains(t, string(report), "<br>a \\| b &lt;c> |\n")
	refusals(t, "", []refusal{
		{"mixed", "check mixed.toml", exitUsage, "selection.items is missing", "other checks are about a selection"},
		{"no recordings", "check bare.toml", exitUsage, "selection.recordings is missing", "there is nothing to follow the value through"},
		{"missing", "check gone.toml", exitUsage, "gone.toml: open weeks: ", "nothing failed, and nothing was checked"},
		{"empty", "check empty.toml", exitUsage, "empty.toml: selection.recordings: the folder empty has no files", "the same"},
		{"policy", "check odd.toml", exitUsage, `no policy is named "agnt"`, "the same"},
		{"damaged", "check cut.toml", exitUsage, "cut.toml: cut.jsonl", "the same"},
		{"twice", "check keep.toml --markdown report.md", exitUsage, "report.md already exists", "no file is overwritten"},
	})
}
