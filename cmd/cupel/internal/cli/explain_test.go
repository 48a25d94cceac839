package cli

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/wollax/cupel-go/cupel"
)

// fixture is what the tests of explain, diff and sweep select from. With policy
// greedy.json, a budget of 100 and a reserve of 20, the pinned item leaves
// 100-20-10 = 70 tokens. By score per token: apple (0.04) takes 20, banana
// (0.0225) 40, cherry (0.02) does not fit the 10 that are left, elder (0.01)
// takes 5. So 10+20+40+5 = 75 tokens are in, and 5 are free.
var fixture = map[string]string{
	"items.jsonl": `{"content": "Be brief.", "tokens": 10, "kind": "SystemPrompt", "pinned": true, "timestamp": "2026-01-01T00:00:00Z"}
{"content": "apple", "tokens": 20, "kind": "Document", "futureRelevanceHint": 0.8, "timestamp": "2026-01-03T00:00:00Z"}
{"content": "banana\nof two lines", "tokens": 40, "kind": "Document", "futureRelevanceHint": 0.9, "timestamp": "2026-01-02T00:00:00Z"}
{"content": "cherry", "tokens": 30, "kind": "ToolOutput", "futureRelevanceHint": 0.6, "timestamp": "2026-01-04T00:00:00Z"}
{"content": "apple", "tokens": 20, "kind": "Document", "futureRelevanceHint": 0.1}
{"content": "damson", "tokens": -1}
{"content": "elder", "tokens": 5, "futureRelevanceHint": 0.05, "timestamp": "2026-01-05T00:00:00Z"}
`,
	"greedy.json":   `{"name": "Mine", "scorers": [{"type": "reflexive", "weight": 1}], "slicer": {"type": "greedy"}, "placer": {"type": "chronological"}}`,
	"score.json":    `{"scorers": [{"type": "reflexive", "weight": 1}], "slicer": {"type": "scoreGreedy"}, "placer": {"type": "chronological"}}`,
	"sack.json":     `{"scorers": [{"type": "reflexive", "weight": 1}], "slicer": {"type": "knapsack", "bucketSize": 1}, "placer": {"type": "chronological"}}`,
	"quota.json":    `{"scorers": [{"type": "reflexive", "weight": 1}], "slicer": {"type": "quota", "inner": {"type": "greedy"}, "entries": [{"kind": "ToolOutput", "cap": 10}]}, "placer": {"type": "chronological"}}`,
	"buckets.json":  `{"scorers": [{"type": "reflexive", "weight": 1}], "slicer": {"type": "knapsack", "bucketSize": 50}, "placer": {"type": "chronological"}}`,
	"nothing.json":  `{"scorers": [{"type": "tag", "weight": 1, "weights": {"x": 1}}], "slicer": {"type": "knapsack", "bucketSize": 1}, "placer": {"type": "chronological"}}`,
	"shares.json":   `{"scorers": [{"type": "reflexive", "weight": 1}], "slicer": {"type": "quota", "inner": {"type": "countQuota", "inner": {"type": "greedy"}, "entries": [{"kind": "Document", "requireCount": 1}]}, "entries": [{"kind": "ToolOutput", "cap": 10}]}, "placer": {"type": "chronological"}}`,
	"throw.json":    `{"scorers": [{"type": "reflexive", "weight": 1}], "slicer": {"type": "countQuota", "inner": {"type": "greedy"}, "entries": [{"kind": "Document", "requireCount": 2}]}, "placer": {"type": "chronological"}}`,
	"none.json":     `{"scorers": [{"type": "reflexive", "weight": 1}], "slicer": {"type": "quota", "inner": {"type": "greedy"}, "entries": [{"kind": "ToolOutput", "cap": 0}]}, "placer": {"type": "chronological"}}`,
	"counted.json":  `{"scorers": [{"type": "reflexive", "weight": 1}], "slicer": {"type": "countConstrainedKnapsack", "bucketSize": 1, "entries": [{"kind": "Memory", "capCount": 1}]}, "placer": {"type": "chronological"}}`,
	"truncate.json": `{"scorers": [{"type": "reflexive", "weight": 1}], "slicer": {"type": "countQuota", "inner": {"type": "greedy"}, "entries": [{"kind": "Document", "requireCount": 2}]}, "placer": {"type": "chronological"}, "overflow": "Truncate"}`,
	"count.json":    `{"scorers": [{"type": "reflexive", "weight": 1}], "slicer": {"type": "countQuota", "inner": {"type": "greedy"}, "entries": [{"kind": "document", "capCount": 1}]}, "placer": {"type": "chronological"}}`,
	"nodocs.json":   `{"scorers": [{"type": "reflexive", "weight": 1}], "slicer": {"type": "countQuota", "inner": {"type": "greedy"}, "entries": [{"kind": "Document", "capCount": 0}]}, "placer": {"type": "chronological"}}`,
	"needs.json":    `{"scorers": [{"type": "reflexive", "weight": 1}], "slicer": {"type": "countQuota", "inner": {"type": "greedy"}, "entries": [{"kind": "Message", "requireCount": 1}]}, "placer": {"type": "chronological"}}`,
	"parts.json":    `{"name": "Parts", "scorers": [{"type": "reflexive", "weight": 3}, {"type": "kind", "weight": 1}], "slicer": {"type": "greedy"}, "placer": {"type": "chronological"}}`,
}

// inFixture runs the command in a folder with the fixture.
func inFixture(t *testing.T, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	dir := t.TempDir()
	for name, content := range fixture {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	t.Chdir(dir)
	return start(t, args...)
}

// onColumns runs the command where there are so many columns.
func onColumns(t *testing.T, columns int, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	var out, errs bytes.Buffer
	code = Main(t.Context(), args, Environment{
		Stdin: strings.NewReader(""), Stdout: &out, Stderr: &errs, Clock: time.Now,
		Getenv: func(name string) string { return map[string]string{"COLUMNS": strconv.Itoa(columns)}[name] },
	})
	return code, out.String(), errs.String()
}

// mustPrint runs the command and returns what it prints.
func mustPrint(t *testing.T, args ...string) string {
	t.Helper()
	code, stdout, stderr := inFixture(t, args...)
	if code != exitOK || stderr != "" {
		t.Fatalf("exit code %d: %s", code, stderr)
	}
	return stdout
}

func explaining(policy string, args ...string) []string {
	return append([]string{"explain", "-i", "items.jsonl", "-p", policy, "-b", "100", "--reserve", "20"}, args...)
}

func TestExplain(t *testing.T) {
	// A bar has 98 columns between its brackets: 60% of them are 58.8, 10% are 9.8
	// and 5% are 4.9 twice, 20% are 19.6. The floors 58+9+4+4+19 leave four, for
	// the largest remainders: .9 twice and .8 twice.
	want := `Mine: 4 of 7 candidates included, 75 tokens, 75.0% of the budget of 100

[` + strings.Repeat("D", 59) + strings.Repeat("S", 10) + "MMMMM....." + strings.Repeat("/", 19) + `]
D  Document      60  60.0%  2 items
S  SystemPrompt  10  10.0%  1 item
M  Message        5   5.0%  1 item
.  free           5   5.0%
/  reserve       20  20.0%  reserved for the answer

In, by score (4)
#  RANK  SCORE  TOKENS  KIND          REASON  ITEM
1     -      -      10  SystemPrompt  Pinned  Be brief.
2     1    0.9      40  Document      Scored  banana …
3     2    0.8      20  Document      Scored  apple
4     5   0.05       5  Message       Scored  elder

Out, by score (3)
RANK  SCORE  TOKENS  KIND        REASON                  ITEM
   3    0.6      30  ToolOutput  BudgetExceeded, 5 left  cherry
   4    0.1      20  Document    Deduplicated, is #3     apple
   -      -      -1  Message     NegativeTokens          damson

Why they are out
1  BudgetExceeded  larger than the 5 tokens left
1  Deduplicated    another item with the same content is in
1  NegativeTokens  its token count is negative
`
	if got := mustPrint(t, explaining("greedy.json")...); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

func TestExplainReasons(t *testing.T) {
	for _, test := range []struct {
		name, why string
		args      []string
		has, not  []string
	}{
		{"fits", "of 115 tokens 50 are left, and cherry has 30, for which its kind has 11",
			[]string{"explain", "-i", "items.jsonl", "-p", "quota.json", "-b", "125"},
			[]string{"ToolOutput  BudgetExceeded       cherry\n", "\n1  BudgetExceeded  fits into what was left, but was not chosen: see --why-not\n"}, []string{"50 left"}},
		{"cap", "one document is all", explaining("count.json"), []string{"CountCapExceeded, cap 1  banana"}, nil},
		{"nothing left", "the target is what is pinned", []string{"explain", "-i", "items.jsonl", "-p", "greedy.json", "-b", "10", "--item", "b*"},
			[]string{"REASON                     ITEM\n   1    0.9      40  Document  BudgetExceeded, none left  banana …\n", "Why they are out\n1  BudgetExceeded  nothing was left\n"}, []string{"3  "}},
		{"truncated", "apple takes 20 of the 25 tokens that the pinned item leaves; banana leaves 5, and cherry and elder had 35 too few",
			[]string{"explain", "-i", "items.jsonl", "-p", "truncate.json", "-b", "35"}, []string{"BudgetExceeded, 25 left    banana", "BudgetExceeded, none left  elder", "larger than what was left\n",
				"\nThe slicer chose 35 tokens more than its budget; items were dropped until the rest fit.\n"}, []string{"-35"}},
		{"not chosen among too many", "the report counts a rest of -35",
			[]string{"explain", "-i", "items.jsonl", "-p", "truncate.json", "-b", "35", "--why-not", "elder"},
			[]string{"It is out: BudgetExceeded: 5 tokens requested, but the slicer had already exceeded its budget by 35 tokens\n"}, []string{"-35"}},
		{"none is out", "there is nothing to sum up", explaining("greedy.json", "--item", "Be*"), nil, []string{"Why they are out"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			got := mustPrint(t, test.args...)
			for _, text := range test.has {
				if !strings.Contains(got, text) {
					t.Errorf("lacks %q: %s\n%s", text, test.why, got)
				}
			}
			for _, text := range test.not {
				if strings.Contains(got, text) {
					t.Errorf("has %q: %s\n%s", text, test.why, got)
				}
			}
		})
	}
}

func TestExplainNarrowed(t *testing.T) {
	for _, test := range []struct {
		name, why string
		args      []string
		has, not  []string
	}{
		{"one pattern", "the first line alone matches", []string{"--item", "ban*na"},
			[]string{"In, by score (1 of 4, those that match)\n", "banana", "Out, by score (0 of 3, those that match)\n"}, []string{"apple", "cherry"}},
		{"whole content", "a star takes line ends", []string{"--item", "*two*"}, []string{"(1 of 4, those that match)"}, []string{"apple"}},
		{"several", "any of them", []string{"--item", "apple", "--item", "c*"}, []string{"(1 of 4", "(2 of 3"}, []string{"banana", "elder"}},
		{"rows", "a list is cut and says so", []string{"-n", "1"}, []string{"Be brief.", "… and 3 more; --rows 0 shows all", "cherry", "… and 2 more; --rows 0 shows all"}, []string{"banana", "damson"}},
		{"all rows", "none is the sign for all", []string{"-n", "0"}, []string{"elder", "damson"}, []string{"more"}},
		{"one part", "a scorer that is no composite is its only part", []string{"--parts"}, []string{"Reflexive×1", "   1    0.9          0.9      40"}, nil},
	} {
		t.Run(test.name, func(t *testing.T) {
			got := mustPrint(t, explaining("greedy.json", test.args...)...)
			for _, text := range test.has {
				if !strings.Contains(got, text) {
					t.Errorf("lacks %q: %s\n%s", text, test.why, got)
				}
			}
			for _, text := range test.not {
				if strings.Contains(got, text) {
					t.Errorf("has %q: %s\n%s", text, test.why, got)
				}
			}
		})
	}
}

func TestExplainParts(t *testing.T) {
	// ToolOutput weighs 0.6 by default and Document 0.4. Per token apple's
	// 0.75*0.8+0.25*0.4 = 0.7 is 0.035, cherry's 0.6 is 0.02, banana's 0.775 less:
	// cherry is in here.
	got := mustPrint(t, explaining("parts.json", "--parts", "--item", "cherry")...)
	want := "#  RANK  SCORE  Reflexive×0.75  Kind×0.25  TOKENS  KIND        REASON  ITEM\n" +
		"3     3    0.6             0.6        0.6      30  ToolOutput  Scored  cherry\n"
	if !strings.Contains(got, want) {
		t.Errorf("got\n%s\nwant in it\n%s", got, want)
	}

	// 14 and 9 columns and the spaces between are more than half of 40.
	code, got, stderr := onColumns(t, 40, explaining("parts.json", "--parts", "--item", "cherry")...)
	want = "P1 Reflexive×0.75, P2 Kind×0.25\n#   P1   P2  TOKENS  KIND      REASON  ITEM\n3  0.6  0.6      30  ToolOut…  Scored  cherry\n"
	if code != exitOK || !strings.Contains(got, want) {
		t.Errorf("got\n%s%s\nwant in it\n%s", got, stderr, want)
	}

	out := mustPrint(t, explaining("parts.json", "--parts", "--json", "--item", "apple")...)
	var report struct {
		Included []struct {
			Score float64
			Parts []struct {
				Name          string
				Weight, Score float64
			}
		}
		Excluded []any
		Total    int `json:"total_candidates"`
	}
	if err := json.Unmarshal([]byte(out), &report); err != nil {
		t.Fatal(err)
	}
	if len(report.Included) != 1 || len(report.Excluded) != 1 || report.Total != 7 {
		t.Fatalf("got %+v, want both apples of seven", report)
	}
	parts := report.Included[0].Parts
	if len(parts) != 2 || parts[0].Name != "Reflexive" || parts[0].Weight != 0.75 || parts[0].Score != 0.8 ||
		parts[1].Name != "Kind" || parts[1].Weight != 0.25 || parts[1].Score != 0.4 {
		t.Errorf("got parts %+v", parts)
	}
}

func TestExplainJSON(t *testing.T) {
	out := mustPrint(t, explaining("greedy.json", "--json")...)
	var report cupel.SelectionReport
	if err := json.Unmarshal([]byte(out), &report); err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, i := range report.Included {
		got = append(got, i.Item.Content()+" "+string(i.Reason))
	}
	for _, e := range report.Excluded {
		got = append(got, e.Item.Content()+" "+string(e.Reason.Code))
	}
	want := "Be brief. Pinned|banana\nof two lines Scored|apple Scored|elder Scored|cherry BudgetExceeded|apple Deduplicated|damson NegativeTokens"
	if strings.Join(got, "|") != want || report.TotalCandidates != 7 || report.TotalTokensConsidered != 124 {
		t.Errorf("got %q, %d candidates, %d tokens", got, report.TotalCandidates, report.TotalTokensConsidered)
	}
}

func TestExplainFailure(t *testing.T) {
	const message = "cupel: Pinned items require 10 tokens, but only 5 are available\n" +
		"  Give a --budget of at least 10, or pin less: remove \"pinned\" from items.\n"
	for _, test := range []struct {
		name, why string
		args      []string
		has       string
	}{
		{"text", "it says what is in the way", nil,
			"Pinned, largest first (1)\nRANK  SCORE  TOKENS  KIND          REASON  ITEM\n   -      -      10  SystemPrompt          Be brief.\n"},
		{"json", "the report of what was found before", []string{"--json"}, `"total_candidates": 7`},
		{"one item", "nothing is known of one item either", []string{"--why-not", "cherry"}, "The run ended before it decided about 6 candidates.\n"},
	} {
		t.Run(test.name, func(t *testing.T) {
			code, stdout, stderr := inFixture(t, append([]string{"explain", "-i", "items.jsonl", "-p", "greedy.json", "-b", "5"}, test.args...)...)
			if code != exitSelection || stderr != message {
				t.Errorf("exit code %d and %q, want %d and %q", code, stderr, exitSelection, message)
			}
			if !strings.Contains(stdout, test.has) {
				t.Errorf("got\n%s\nwant in it\n%s\n%s", stdout, test.has, test.why)
			}
		})
	}
}

func TestExplainUsage(t *testing.T) {
	for _, test := range []struct {
		name string
		args []string
		want string
	}{
		{"rows", []string{"-n", "-1"}, "--rows: must be at least 0, got -1"},
		{"colour", []string{"--color", "red"}, `--color: "red" is not one of auto, always, never`},
		{"pattern", []string{"--item", "[a"}, `--item: pattern "[a" ends too early; write \*, \?, \[ and \\ for these characters`},
		{"unknown item", []string{"--why-not", "zucchini"}, "--why-not: none of 7 candidates matches; cupel explain --rows 0 lists them all"},
		{"no item", []string{"--why-not", ""}, "--why-not: give the content of a candidate, its first line, its beginning, its title, or a pattern"},
		{"many items", []string{"--why-not", "*e*"}, `--why-not: 5 candidates match: "Be brief.", "apple", "banana …", "cherry", "elder"; give more of the content`},
		{"probes of nothing", []string{"--max-probes", "5"}, "--max-probes requires --why-not"},
		{"limit of nothing", []string{"--up-to", "5"}, "--up-to requires --why-not"},
		{"probes", []string{"--why-not", "cherry", "--max-probes", "-1"}, "--max-probes: must be at least 0, got -1"},
		{"ceiling", []string{"--why-not", "cherry", "--up-to", "-1"}, "--up-to: must be at least 0, got -1"},
		{"output", []string{"-o", "items.jsonl"}, "items.jsonl already exists; --force overwrites it"},
	} {
		t.Run(test.name, func(t *testing.T) {
			code, stdout, stderr := inFixture(t, explaining("greedy.json", test.args...)...)
			if want := "cupel: " + test.want + "\n"; code != exitUsage || stdout != "" || stderr != want {
				t.Errorf("exit code %d\n%s%s\nwant %d\n%s", code, stdout, stderr, exitUsage, want)
			}
		})
	}
}

func TestExplainSpendsABudget(t *testing.T) {
	// 100 tokens: 75 are in, 8 are kept for a kind, and the target of 92
	// holds back 8 more: 92-10-8 = 74 for the selection, in which the same items
	// have 65, and 9 are free.
	got := mustPrint(t, "explain", "-i", "items.jsonl", "-p", "greedy.json", "-b", "100", "--target", "92", "--reserve-kind", "Memory=8")
	for _, want := range []string{
		"\n+  for kinds      8   8.0%  reserved for later items\n",
		"\n,  held back      8   8.0%  by the target or the margin\n",
		"\n.  free           9   9.0%\n",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("got\n%s\nwant in it\n%s", got, want)
		}
	}
}

func TestExplainManyKinds(t *testing.T) {
	var items strings.Builder
	for i := range 14 {
		fmt.Fprintf(&items, `{"content": "%d", "tokens": %d, "kind": "Kind%d"}`+"\n", i, 100-i, i)
	}
	t.Chdir(t.TempDir())
	if err := os.WriteFile("items.jsonl", []byte(items.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	_, got, stderr := start(t, "explain", "-i", "items.jsonl", "-p", "rag", "-b", "1309")
	// Eleven kinds have a line, and the smallest three, 89, 88 and 87 tokens, one
	// more. Letters: the name's own first, each in both cases.
	for _, want := range []string{"\nK  Kind0          100", "\nk  Kind1           99", "\nI  Kind2           98", "\n#  3 other kinds  264  20.2%  3 items\n"} {
		if !strings.Contains(got, want) {
			t.Errorf("lacks %q:\n%s%s", want, got, stderr)
		}
	}
	if strings.Contains(got, "Kind11          ") {
		t.Errorf("a twelfth kind has a line:\n%s", got)
	}
}

func TestDuplicatesThatAreOut(t *testing.T) {
	t.Chdir(t.TempDir())
	items := `{"content": "large", "tokens": 50, "futureRelevanceHint": 0.2}
{"content": "large", "tokens": 50, "futureRelevanceHint": 0.8}
{"content": "pinned", "tokens": 10, "pinned": true}
`
	if err := os.WriteFile("items.jsonl", []byte(items), 0o600); err != nil {
		t.Fatal(err)
	}
	_, got, _ := start(t, "explain", "-i", "items.jsonl", "-p", "rag", "-b", "10")
	if !strings.Contains(got, "Deduplicated, is rank 1") {
		t.Errorf("the duplicate is out, and does not say as which:\n%s", got)
	}
	_, got, _ = start(t, "explain", "-i", "items.jsonl", "-p", "rag", "-b", "10", "--why-not", "large")
	for _, want := range []string{"It is out: BudgetExceeded: 50 tokens requested, 0 available\n", "copies  1 other candidate",
		"Nothing is left to choose with after pinned items and what the budget reserves.\n", "   -      -      10          -  Message  pinned\n", "is 60 tokens, 50 more than now.\n"} {
		if !strings.Contains(got, want) {
			t.Errorf("lacks %q:\n%s", want, got)
		}
	}
}

func TestExplainWritesFiles(t *testing.T) {
	_ = mustPrint(t, explaining("greedy.json", "--color", "always", "-o", "out.txt")...)
	text, err := os.ReadFile("out.txt")
	if err != nil || !strings.HasPrefix(string(text), "\x1b[1mMine\x1b[0m: 4 of 7") {
		t.Errorf("got %q, %v", text, err)
	}
}

func TestHostileContent(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	item := `[{"content": "\u001b]0;owned\u0007\u202e\u009b31m", "tokens": 1, "kind": "\u001b[31mKind", "source": "\u202e"}]`
	if err := os.WriteFile("items.json", []byte(item), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{
		{"explain", "-p", "rag", "-b", "10"},
		{"explain", "-p", "rag", "-b", "10", "--json"},
		{"explain", "-p", "rag", "-b", "10", "--why-not", "*"},
		{"explain", "-p", "rag", "-b", "10", "--why-not", "*", "--json"},
		{"diff", "-p", "rag", "0", "10"},
		{"diff", "-p", "rag", "0", "10", "--json"},
		{"sweep", "-p", "rag"},
		{"sweep", "-p", "rag", "--json"},
		{"explain", "-p", "\x1b[31m", "-b", "10"},
	} {
		_, stdout, stderr := start(t, append(args, "-i", "items.json")...)
		for _, text := range []string{stdout, stderr} {
			if i := strings.IndexAny(text, "\x1b\x07\u202e\u009b"); i >= 0 {
				t.Errorf("%q lets %q through", args, text[i:])
			}
		}
		if stdout+stderr == "" {
			t.Errorf("%q prints nothing", args)
		}
	}
}

// Below 80 columns the code of a reason is all there is room for.
func TestExplainNarrowScreen(t *testing.T) {
	_ = mustPrint(t, explaining("greedy.json")...) // writes the fixture
	for columns, want := range map[int]string{79: "  BudgetExceeded       cherry\n", 80: "  BudgetExceeded, 5 left  cherry\n"} {
		if _, got, _ := onColumns(t, columns, explaining("greedy.json")...); !strings.Contains(got, want) {
			t.Errorf("with %d columns there is no %q:\n%s", columns, want, got)
		}
	}
}

// What fails leaves no half of a file, and no link or device of the user's less.
func TestWriteOutputFails(t *testing.T) {
	t.Chdir(t.TempDir())
	if err := os.WriteFile("target", []byte("precious"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("target", "link"); err != nil {
		t.Skipf("SKIPPED: links are not tested: %v", err)
	}
	failure := errors.New("no space left")
	for name, stays := range map[string]bool{"new": false, "link": true} {
		if err := writeOutput(new(Environment), name, true, func(io.Writer) error { return failure }); !errors.Is(err, failure) {
			t.Errorf("%s: got %v", name, err)
		}
		if _, err := os.Lstat(name); (err == nil) != stays {
			t.Errorf("%s: stays is %t, want %t", name, err == nil, stays)
		}
	}
}

func TestUnknownPolicy(t *testing.T) {
	code, _, stderr := inFixture(t, explaining("nope")...)
	want := `cupel: no policy is named "nope"; the presets are chat, code-review, debugging, document-qa, long-running, rag, relevance, tool-use, agent; a policy file ends in .json or .toml` + "\n"
	if code != exitUsage || stderr != want {
		t.Errorf("exit code %d and %q, want %d and %q", code, stderr, exitUsage, want)
	}
}

// UShaped puts the best at the edges, so that the order of the prompt is not
// the one of the scores.
func TestExplainOrdersByScore(t *testing.T) {
	code, stdout, stderr := inspected(t, "explain", "-i", "items.jsonl", "-p", "p.json", "-b", "35")
	const want = `In, by score (3)
#  RANK  SCORE  TOKENS  KIND     REASON  ITEM
1     -      -      10  Message  Pinned  pinned <script>
3     1    0.9      10  Message  Scored  high
2     2    0.1      10  Message  Scored  low
`
	if code != exitOK || !strings.Contains(stdout, want) {
		t.Errorf("exit code %d, %s\n%s", code, stderr, stdout)
	}
}

func TestJSONScore(t *testing.T) {
	for want, score := range map[string]float64{"0.5": 0.5, `"NaN"`: math.NaN(), `"Infinity"`: math.Inf(1), `"-Infinity"`: math.Inf(-1)} {
		if got, err := jsonScore(score).MarshalJSON(); err != nil || string(got) != want {
			t.Errorf("%v is written %s (%v), want %s", score, got, err, want)
		}
	}
}
