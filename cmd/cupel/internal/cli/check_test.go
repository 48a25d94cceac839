package cli

import (
	"context"
	"encoding/json"
	"encoding/xml"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

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
		"checks/expected.toml": `
[selection]
items = "../data/items.jsonl"
policy = "rag"
budget = 5
error = "PinnedExceedsBudget"
`,
		"checks/bare.toml": "[[checks]]\nassert = \"have_no_exclusions\"\n",
		"checks/wrong.toml": `
[selection]
budgets = 25
[[checks]]
assert = "have_tokens_at_least"
[[checks]]
assert = "have_tokens_at_most"
n = "20"
`,
	})
}

func TestCheck(t *testing.T) {
	const failing = `FAIL  checks/bad.toml checks[1] IncludeItemWithKind(Document) failed: Included contained 0 items with Kind=Document. Included had 2 items with kinds: [evil\x1b[2J, Message].
        no candidate matches
      why: two
      lines
`
	for _, row := range []struct {
		name   string
		args   []string
		code   int
		stdout string
		stderr string
		why    string
	}{
		{"holds", []string{"checks/good.toml"}, exitOK,
			"ok    checks/good.toml checks[0] IncludeItemMatching item={content=\"high\"}\n1 check in 1 file: 1 ok, 0 failed\n", "", "a file holds the whole test"},
		{"fails", []string{"--checks", "checks/bad.toml"}, exitCheck,
			"ok    checks/bad.toml checks[0] HaveTokensAtMost n=20\n" + failing + "2 checks in 1 file: 1 ok, 1 failed\n", "", "escape sequences in a kind are not printed"},
		{"several", []string{"--checks", "checks/bad.toml", "checks/good.toml", "checks/expected.toml"}, exitCheck,
			"ok    checks/bad.toml checks[0] HaveTokensAtMost n=20\n" + failing + "ok    checks/good.toml checks[0] IncludeItemMatching item={content=\"high\"}\n" +
				"ok    checks/expected.toml selection.error Error PinnedExceedsBudget\n4 checks in 3 files: 3 ok, 1 failed\n", "", "one that fails is enough"},
		{"no selection", []string{"checks/crowded.toml", "checks/good.toml"}, exitSelection,
			"ERROR checks/crowded.toml: the selection failed: Pinned items require 10 tokens, but only 5 are available\n" +
				"ok    checks/good.toml checks[0] IncludeItemMatching item={content=\"high\"}\n1 check in 2 files: 1 ok, 0 failed, 1 file without a selection\n",
			"cupel: checks/crowded.toml: Pinned items require 10 tokens, but only 5 are available\n", "the others are checked nevertheless"},
		{"expected and not so", []string{"checks/expected.toml", "-b", "40"}, exitCheck,
			"FAIL  checks/expected.toml selection.error Error failed: expected the selection to fail with PinnedExceedsBudget, but it has 3 items\n1 check in 1 file: 0 ok, 1 failed\n", "", "flags win, and 40 tokens are enough"},
		{"flags alone", []string{"checks/bare.toml", "-i", "data/items.jsonl", "-p", "data/mine.json", "-b", "30"}, exitOK,
			"ok    checks/bare.toml checks[0] HaveNoExclusions\n1 check in 1 file: 1 ok, 0 failed\n", "", "a file may have checks alone"},
		{"flags win", []string{"checks/good.toml", "-b", "15"}, exitCheck,
			"FAIL  checks/good.toml checks[0] IncludeItemMatching failed: no item in Included matched the predicate. Included had 1 items. They are: [(kind=evil\\x1b[2J, score=1, reason=Pinned)].\n        high is excluded: PinnedOverride, displaced by \"rule\"\n1 check in 1 file: 0 ok, 1 failed\n", "", "15 tokens hold the pinned item alone"},
		{"hidden", []string{"checks/good.toml", "-b", "15", "--hide-contents"}, exitCheck,
			"FAIL  checks/good.toml checks[0] IncludeItemMatching failed: no item in Included matched the predicate. Included had 1 items. They are: [(kind=evil\\x1b[2J, score=1, reason=Pinned)].\n        <4 bytes> is excluded: PinnedOverride, displaced by <4 bytes>\n1 check in 1 file: 0 ok, 1 failed\n", "", "what candidates say stays out of logs"},
		{"wrong files", []string{"checks/wrong.toml", "checks/good.toml", "data/mine.json", "none.toml"}, exitUsage, "",
			"cupel: checks/wrong.toml: 3 problems\n" +
				"  selection.budgets: is unknown; want one of items, format, encoding, policy, query, budget, target, reserve, margin, reserve_kind, error\n" +
				"  checks[0].assert: \"have_tokens_at_least\" is unknown; want one of " + strings.Join(vocabulary(t), ", ") + "\n" +
				"  checks[1].n: must be an integer, got text\n" +
				"data/mine.json: is not TOML: toml: line 1: expected '.' or '=', but got '{' instead\n" +
				"open none.toml: no such file or directory\n", "all mistakes are reported at once, and nothing is run"},
		{"no items", []string{"checks/bare.toml"}, exitUsage, "", "cupel: checks/bare.toml: selection.items is missing; set it in the file, or give --items\n", "neither the file nor a flag says"},
		{"no policy", []string{"checks/bare.toml", "-i", "data/items.jsonl"}, exitUsage, "", "cupel: checks/bare.toml: selection.policy is missing; set it in the file, or give --policy\n", "the same"},
		{"no budget", []string{"checks/bare.toml", "-i", "data/items.jsonl", "-p", "rag"}, exitUsage, "", "cupel: checks/bare.toml: selection.budget is missing; set it in the file, or give --budget\n", "the same"},
		{"bad budget", []string{"checks/good.toml", "--target", "26"}, exitUsage, "", "cupel: checks/good.toml: --target must be at most --budget (25), got 26\n", "the words of the budget, with flags"},
		{"no question", []string{"checks/good.toml", "-p", "relevance"}, exitUsage, "",
			"cupel: checks/good.toml: relevance: invalid policy: scorers[0].settings.query: no question is given; give --query or --query-file, or set one here\n", "policies are those of cupel run"},
		{"nothing", nil, exitUsage, "", "cupel: nothing to check: give a file of checks (CHECKS.md describes the format)\n", "no file is not a success"},
		{"results over checks", []string{"checks/good.toml", "--force", "--junit", "checks/../checks/good.toml"}, exitUsage, "", "cupel: --junit: checks/good.toml is a file of checks and would be overwritten; choose another file\n", "a slip should not cost them"},
		{"both outputs", []string{"checks/good.toml", "--json", "--junit", "-"}, exitUsage, "", "cupel: --junit - and --json cannot both go to standard output; give --junit a file\n", "one would spoil the other"},
	} {
		t.Run(row.name, func(t *testing.T) {
			checks(t)
			code, stdout, stderr := fed(t, "", append([]string{"check"}, row.args...)...)
			if code != row.code || stdout != row.stdout || stderr != row.stderr {
				t.Errorf("got %d\n%s%s\nwant %d\n%s%s\nsince %s", code, stdout, stderr, row.code, row.stdout, row.stderr, row.why)
			}
		})
	}
}

// vocabulary returns the names that assertions are known by.
func vocabulary(t *testing.T) []string {
	t.Helper()
	_, err := assertions.Decode([]byte("[[checks]]\nassert = \"x\""), globs)
	_, list, ok := strings.Cut(err.Error(), "want one of ")
	if !ok {
		t.Fatal(err)
	}
	return strings.Split(list, ", ")
}

// TestCheckSettings: what a file says of the selection arrives, and so does what
// flags say instead.
func TestCheckSettings(t *testing.T) {
	checks(t)
	const file = `[selection]
items = "items.json"
format = "json"
encoding = "heuristic"
policy = "chat"
query = "oven"
budget = 100
target = 60
reserve = 10
margin = 10
reserve_kind = { Memory = 20 }
`
	if err := os.WriteFile("items.json", []byte(`[{"content": "The oven broke.", "tokens": 30}, {"content": "Good night!", "tokens": 30}]`), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, row := range []struct {
		name, check string
		args        []string
		code        int
		why         string
	}{
		{"as it is", `assert = "include_item_matching"` + "\n" + `item = { content_glob = "*oven*" }`, nil, exitOK, "60 less 20 for memories, less a tenth, are 36, and hold the one that is asked for"},
		{"another question", `assert = "include_item_matching"` + "\n" + `item = { content_glob = "*oven*" }`, []string{"-q", "night"}, exitCheck, "the other item fits alone"},
		{"no room", `assert = "have_tokens_at_most"` + "\n" + `n = 0`, []string{"--reserve-kind", "Memory=60"}, exitOK, "all of the target is kept for memories"},
		{"all the room", `assert = "have_no_exclusions"`, []string{"--reserve-kind", "Memory=0", "--margin", "0"}, exitOK, "60 tokens hold both"},
		{"less room", `assert = "have_no_exclusions"`, []string{"--reserve-kind", "Memory=0", "--margin", "0", "--target", "59"}, exitCheck, "59 tokens do not"},
		{"format", `assert = "have_no_exclusions"`, []string{"--format", "openai"}, exitUsage, "items are no messages"},
	} {
		t.Run(row.name, func(t *testing.T) {
			code, stdout, stderr := fed(t, file+"[[checks]]\n"+row.check, append([]string{"check", "-"}, row.args...)...)
			if code != row.code {
				t.Errorf("got %d, %s%s; want %d: %s", code, stdout, stderr, row.code, row.why)
			}
		})
	}
}

// TestCheckSharedItems: several files may look at one standard input.
func TestCheckSharedItems(t *testing.T) {
	checks(t)
	items, err := os.ReadFile("data/items.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	code, stdout, stderr := fed(t, string(items), "check", "checks/good.toml", "checks/bare.toml", "-i", "-", "-p", "rag", "-b", "30")
	if code != exitOK || !strings.HasSuffix(stdout, "\n2 checks in 2 files: 2 ok, 0 failed\n") {
		t.Errorf("got %d, %q, %q", code, stdout, stderr)
	}
}

func TestCheckJSON(t *testing.T) {
	checks(t)
	code, stdout, _ := fed(t, "", "check", "--json", "checks/bad.toml", "checks/crowded.toml")
	var got checksJSON
	if err := json.Unmarshal([]byte(stdout), &got); err != nil || code != exitSelection {
		t.Fatalf("got %d, %v, %s", code, err, stdout)
	}
	want := checksJSON{Checks: 2, Failed: 1, Files: []checkFileJSON{
		{File: "checks/bad.toml", Checks: []checkJSON{
			{Path: "checks[0]", Assertion: "HaveTokensAtMost", Text: "HaveTokensAtMost n=20", OK: true},
			{Path: "checks[1]", Assertion: "IncludeItemWithKind", Text: `IncludeItemWithKind kind="Document"`, Why: "two\nlines",
				Message:  "IncludeItemWithKind(Document) failed: Included contained 0 items with Kind=Document. Included had 2 items with kinds: [evil\\x1b[2J, Message].\n\tno candidate matches",
				Expected: "at least 1 included item with Kind=Document", Actual: "2 included items with kinds: [evil\x1b[2J, Message]"},
		}},
		{File: "checks/crowded.toml", Error: "Pinned items require 10 tokens, but only 5 are available", Checks: []checkJSON{}},
	}}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v\nwant %+v", got, want)
	}
}

func TestCheckJUnit(t *testing.T) {
	checks(t)
	code, stdout, _ := fed(t, "", "check", "--junit", "report.xml", "checks/good.toml", "checks/bad.toml", "checks/crowded.toml")
	data, err := os.ReadFile("report.xml")
	if err != nil || code != exitSelection || !strings.Contains(stdout, "3 checks in 3 files") {
		t.Fatalf("got %d, %v, %s", code, err, stdout)
	}
	var got junitSuites
	if err := xml.Unmarshal(data, &got); err != nil {
		t.Fatal(err)
	}
	got.XMLName = xml.Name{}
	want := junitSuites{Name: "cupel check", Tests: 4, Failures: 1, Errors: 1, Suites: []junitSuite{
		{Name: "checks/good.toml", Tests: 1, Cases: []junitCase{{Class: "checks/good.toml", Name: `checks[0] IncludeItemMatching item={content="high"}`}}},
		{Name: "checks/bad.toml", Tests: 2, Failures: 1, Cases: []junitCase{
			{Class: "checks/bad.toml", Name: "checks[0] HaveTokensAtMost n=20"},
			{Class: "checks/bad.toml", Name: `checks[1] IncludeItemWithKind kind="Document"`, Failure: &junitMessage{
				Message: "IncludeItemWithKind(Document) failed: Included contained 0 items with Kind=Document. Included had 2 items with kinds: [evil\\x1b[2J, Message].\n\tno candidate matches",
				Type:    "IncludeItemWithKind", Text: "two\nlines"}},
		}},
		{Name: "checks/crowded.toml", Tests: 1, Errors: 1, Cases: []junitCase{{Class: "checks/crowded.toml", Name: "selection",
			Error: &junitMessage{Message: "Pinned items require 10 tokens, but only 5 are available", Type: "Error"}}}},
	}}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v\nwant %+v", got, want)
	}
	if code, stdout, stderr := fed(t, "", "check", "--junit", "report.xml", "checks/good.toml"); code != exitUsage || stdout != "" || stderr != "cupel: report.xml already exists; --force overwrites it\n" {
		t.Errorf("got %d, %q, %q", code, stdout, stderr)
	}
	if code, stdout, _ := fed(t, "", "check", "--junit", "-", "checks/good.toml"); code != exitOK || !strings.HasPrefix(stdout, xml.Header+"<testsuites ") {
		t.Errorf("got %d, %q", code, stdout)
	}
}

// TestCheckPublished runs the example that CHECKS.md shows, and reads the files
// in it.
func TestCheckPublished(t *testing.T) {
	t.Chdir(filepath.Join("..", ".."))
	data, err := os.ReadFile("CHECKS.md")
	if err != nil {
		t.Fatal(err)
	}
	doc := string(data)
	const files = "testdata/checks/crowded.toml testdata/checks/desk.toml"
	code, stdout, stderr := fed(t, "", append([]string{"check"}, strings.Fields(files)...)...)
	if code != exitOK || !strings.Contains(doc, "```\n$ cupel check "+files+"\n"+stdout+"```\n") {
		t.Errorf("CHECKS.md does not show what this prints (exit code %d, %q):\n%s", code, stderr, stdout)
	}
	for _, name := range vocabulary(t) {
		if !strings.Contains(doc, "\n| `"+name+"` |") {
			t.Errorf("CHECKS.md says nothing of %s", name)
		}
	}
	blocks := strings.Split(doc, "```toml\n")[1:]
	for _, block := range blocks {
		text, _, _ := strings.Cut(block, "```")
		if _, err := assertions.Decode([]byte(text), globs); err != nil {
			t.Errorf("%v in\n%s", err, text)
		}
	}
	if len(blocks) < 2 {
		t.Errorf("CHECKS.md has %d files", len(blocks))
	}
}

// TestCheckInterrupted: a command that is stopped says nothing of the checks.
func TestCheckInterrupted(t *testing.T) {
	checks(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	var out, errs strings.Builder
	code := Main(ctx, []string{"check", "checks/good.toml"}, Environment{
		Stdin: strings.NewReader(""), Stdout: &out, Stderr: &errs,
		Getenv: func(string) string { return "" }, Clock: func() time.Time { return time.Time{} },
	})
	if code != exitInterrupted || out.String() != "" {
		t.Errorf("got %d, %q, %q", code, out.String(), errs.String())
	}
}
