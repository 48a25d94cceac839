package cli

import (
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/wollax/cupel-go/cmd/cupel/internal/input"
	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupel/analysis"
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
		{"why-not", "explain --why-not cherry" + greedy, "out: 50 tokens to select from leave 30 after apple, where banana does not fit"},
		{"why-in", "explain --why-not manual -i units.json -p greedy.json -b 70", "in, as an outline"},
		{"why-copy", "explain --why-not 5 -i items.jsonl -p greedy.json -b 100", "a copy by its number, and where the other stands"},
		{"why-pinned", "explain --why-not cherry -i items.jsonl -p greedy.json -b 35", "pinned items take its place, and pinned it would fail"},
		{"where-in", "where apple -n 1" + greedy, "one that is sent needs no pin, and its places are cut"},
		{"where-out", "where cherry" + greedy, "one that is out, with what would keep it"},
		{"diff", "diff count.json ends.json -i items.jsonl -b 75", "in one of them, and why not in the other"},
		{"diff-forms", "diff greedy.json ends.json -i units.json -b 90", "another form"},
		{"sweep", "sweep -i items.jsonl -p greedy.json --reserve 20 --from 20 --to 90", "each budget at which something changes, and what fails"},
		{"policies", "policies", "the presets"},
	} {
		t.Run(row.name, func(t *testing.T) {
			folder(t, selectable)
			code, stdout, stderr := fed(t, "", strings.Fields(row.args)...)
			require.Equal(t, row.name == "failed", code == exitSelection, stderr)
			file, got := filepath.Join(dir, row.name+".txt"), "$ cupel "+row.args+"\n"+stdout+stderr
			if *update {
				require.NoError(t, os.WriteFile(file, []byte(got), 0o600))
			}
			want, err := os.ReadFile(file)
			require.NoError(t, err)
			require.Equal(t, strings.ReplaceAll(string(want), "\r\n", "\n"), got, row.why)
		})
	}
}

func TestExplainJSON(t *testing.T) {
	folder(t, selectable)
	var report cupel.SelectionReport
	decodeJSON(t, printed(t, "explain", "-i", "items.jsonl", "-p", "greedy.json", "-b", "100", "--reserve", "20", "--json"), &report)
	var got []string
	for _, i := range report.Included {
		got = append(got, i.Item.Content()+" "+string(i.Reason))
	}
	for _, e := range report.Excluded {
		got = append(got, e.Item.Content()+" "+string(e.Reason.Code))
	}
	require.Equal(t, []string{
		"Be brief. Pinned", "banana\nof two lines Scored", "apple Scored", "elder Scored",
		"cherry BudgetExceeded", "apple Deduplicated", "damson NegativeTokens",
	}, got)
	require.Equal(t, 7, report.TotalCandidates)
}

// TestExplainForms: of a smaller form the first five lines are shown.
func TestExplainForms(t *testing.T) {
	folder(t, selectable)
	_, stdout, stderr := fed(t, `[{"content": "five", "tokens": 90, "variants": [{"content": "a\na\na\na\nfifth", "tokens": 5, "worth": 0.5}]},
		{"content": "six", "tokens": 90, "variants": [{"content": "b\nb\nb\nb\nb\nsixth", "tokens": 5, "worth": 0.5}]}]`, "explain", "-i", "-", "-p", "greedy.json", "-b", "20")
	require.Contains(t, stdout, "fifth\n", stderr)
	require.NotContains(t, stdout, "sixth")
	require.Equal(t, 1, strings.Count(stdout, " more line"), stdout)
	require.Contains(t, stdout, "  … and 1 more line; --why-not shows all\n")
}

func TestWhyNotJSON(t *testing.T) {
	folder(t, selectable)
	var got struct {
		Name        string
		Rank        int
		Excluded    cupel.ExcludedItem
		DisplacedBy []string                      `json:"displaced_by"`
		IfPinned    struct{ Came, Went []string } `json:"if_pinned"`
		Smallest    analysis.SmallestBudget       `json:"smallest_budget"`
	}
	decodeJSON(t, printed(t, "explain", "-i", "items.jsonl", "-p", "greedy.json", "-b", "100", "--reserve", "20", "--why-not", "cherry", "--json"), &got)
	require.Equal(t, "item 4", got.Name)
	require.Equal(t, 3, got.Rank)
	require.Equal(t, cupel.ExcludeBudgetExceeded, got.Excluded.Reason.Code)
	require.Equal(t, 30, got.Excluded.Item.Tokens())
	require.Equal(t, []string{"item 2", "item 3"}, got.DisplacedBy)
	require.Equal(t, []string{"item 4"}, got.IfPinned.Came)
	require.Equal(t, []string{"item 3"}, got.IfPinned.Went)
	require.Equal(t, analysis.SmallestBudget{Found: true, Tokens: 80, Exact: true, SearchedTo: 145}, got.Smallest)
}

func TestDiffJSON(t *testing.T) {
	folder(t, selectable)
	var got difference
	decodeJSON(t, printed(t, "diff", "greedy.json", "ends.json", "-i", "items.jsonl", "-b", "90", "--reserve", "20", "--json"), &got)
	require.Equal(t, "ends.json", got.B.Label)
	require.Equal(t, 70, got.A.Tokens)
	require.Equal(t, []change{}, got.Changes[:0])
	for _, name := range []string{"a.json", "b.json"} {
		report := printed(t, "explain", "-i", "items.jsonl", "-p", map[string]string{"a.json": "greedy.json", "b.json": "ends.json"}[name], "-b", "90", "--reserve", "20", "--json")
		require.NoError(t, os.WriteFile(name, []byte(report), 0o600))
	}
	var reports difference
	decodeJSON(t, printed(t, "diff", "a.json", "b.json", "--json"), &reports)
	require.Equal(t, got.Changes, reports.Changes)
	require.NoError(t, os.WriteFile("empty.json", []byte(`{"events": [], "included": [], "excluded": [], "total_candidates": 0, "total_tokens_considered": 0}`), 0o600))
	require.Contains(t, printed(t, "diff", "a.json", "empty.json"), notCandidate)
}

// TestDiffCopies: content counts as included if one copy is.
func TestDiffCopies(t *testing.T) {
	folder(t, selectable)
	twice := strings.Replace(selectable["greedy.json"], "{", `{"deduplicate": false, `, 1)
	require.NoError(t, os.WriteFile("twice.json", []byte(twice), 0o600))
	require.Contains(t, printed(t, "diff", "greedy.json", "twice.json", "-i", "items.jsonl", "-b", "145"), "Both include the same contents in the same order.")
}

func TestSweepJSON(t *testing.T) {
	folder(t, selectable)
	var got struct {
		From, To, Stride int
		Candidates       int
		Steps            []sweepStep
	}
	decodeJSON(t, printed(t, "sweep", "-i", "items.jsonl", "-p", "greedy.json", "--reserve", "20", "--json"), &got)
	require.Equal(t, []int{30, 145, 3}, []int{got.From, got.To, got.Stride}, "from what is needed to what is enough, in at most fifty steps")
	require.Equal(t, 7, got.Candidates)
	require.Equal(t, sweepStep{Budget: 30, Tokens: 10, Included: 1, Came: []string{"Be brief."}, Went: []string{}}, got.Steps[0])
	decodeJSON(t, printed(t, "sweep", "-i", "items.jsonl", "-p", "greedy.json", "--from", "145", "--to", strconv.Itoa(math.MaxInt32), "--json"), &got)
	require.Len(t, got.Steps, 1, "nothing changes where everything fits")
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
