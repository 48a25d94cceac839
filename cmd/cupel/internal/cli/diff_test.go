package cli

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupel/analysis"
	"github.com/wollax/cupel-go/cupel/pipeline"
	"github.com/wollax/cupel-go/cupel/placer"
	"github.com/wollax/cupel-go/cupel/scorer"
	"github.com/wollax/cupel-go/cupel/slicer"
	"github.com/wollax/cupel-go/cupel/strategy"
)

// At 80 tokens apple and cherry are in (see TestWhyNot), at 100 banana, apple
// and elder.
const diffOfBudgets = `A: 80
B: 100

                             A       B  CHANGE
items                        3       4      +1
tokens                      60      75     +15
of the budget            75.0%   75.0%
kinds                        3       3
with a timestamp        100.0%  100.0%
tokens of Document          20      60     +40
tokens of ToolOutput        30       0     -30
tokens of SystemPrompt      10      10
tokens of Message            0       5      +5

In A only (1)
SCORE A  SCORE B  TOKENS  KIND        NOT IN B                ITEM
    0.6      0.6      30  ToolOutput  BudgetExceeded, 5 left  cherry

In B only (2)
SCORE A  SCORE B  TOKENS  KIND      NOT IN A                   ITEM
    0.9      0.9      40  Document  BudgetExceeded, none left  banana …
   0.05     0.05       5  Message   BudgetExceeded, none left  elder
`

func TestDiffOfBudgets(t *testing.T) {
	got := mustPrint(t, "diff", "-i", "items.jsonl", "-p", "greedy.json", "--reserve", "20", "80", "100")
	if got != diffOfBudgets {
		t.Errorf("got\n%s\nwant\n%s", got, diffOfBudgets)
	}
}

func TestDiffOfPolicies(t *testing.T) {
	// By score banana takes 40 of 70 tokens, apple 20, and elder 5 of the rest:
	// what is taken by density too.
	got := mustPrint(t, "diff", "-i", "items.jsonl", "-b", "100", "--reserve", "20", "greedy.json", "score.json")
	for _, want := range []string{"A: greedy.json, budget 100\nB: score.json, budget 100\n", "\nBoth include the same items in the same order.\n"} {
		if !strings.Contains(got, want) {
			t.Errorf("got\n%s\nwant in it\n%s", got, want)
		}
	}
	if err := os.WriteFile("ends.json", []byte(strings.Replace(fixture["greedy.json"], "chronological", "uShaped", 1)), 0o600); err != nil {
		t.Fatal(err)
	}
	// The window by score is: pinned 1.0, banana 0.9, apple 0.8, elder 0.05. The
	// U puts them first, last, second and third: banana alone has moved.
	_, got, _ = start(t, "diff", "-i", "items.jsonl", "-b", "100", "--reserve", "20", "greedy.json", "ends.json")
	if want := "In both, but in a different order (1)\n A   B  ITEM\n#2  #4  banana …\n"; !strings.Contains(got, want) {
		t.Errorf("got\n%s\nwant in it\n%s", got, want)
	}
}

func TestDiffOfPoliciesFails(t *testing.T) {
	code, stdout, stderr := inFixture(t, "diff", "-i", "items.jsonl", "-b", "5", "greedy.json", "score.json")
	if want := "cupel: greedy.json: Pinned items require 10 tokens, but only 5 are available\n       10  Be brief.\n  Give a --budget of at least 10, or pin less: remove \"pinned\" from items.\n"; code != exitSelection || stdout != "" || stderr != want {
		t.Errorf("exit code %d, %q, %q, want %d and %q", code, stdout, stderr, exitSelection, want)
	}
}

// The score of a pinned item is no scorer's: explain does not show it either.
func TestDiffOfPinned(t *testing.T) {
	_ = mustPrint(t, explaining("greedy.json", "--json", "-o", "a.json")...)
	if err := os.WriteFile("other.jsonl", []byte(`{"content": "fig", "tokens": 1, "pinned": true}`), 0o600); err != nil {
		t.Fatal(err)
	}
	if code, _, stderr := start(t, "explain", "-i", "other.jsonl", "-p", "greedy.json", "-b", "5", "--json", "-o", "b.json"); code != exitOK {
		t.Fatal(stderr)
	}
	_, got, _ := start(t, "diff", "a.json", "b.json")
	for _, want := range []string{"\n      -        -      10  SystemPrompt  NotACandidate  Be brief.\n", "\n      -        -       1  Message  NotACandidate  fig\n"} {
		if !strings.Contains(got, want) {
			t.Errorf("got\n%s\nwant in it\n%s", got, want)
		}
	}
}

func TestDiffOfCopies(t *testing.T) {
	// Both policies have the content, and one of them has it twice.
	_ = mustPrint(t, explaining("score.json")...) // writes the fixture
	if err := os.WriteFile("copies.json", []byte(strings.Replace(fixture["score.json"], "{", `{"deduplicate": false, `, 1)), 0o600); err != nil {
		t.Fatal(err)
	}
	_, got, _ := start(t, "diff", "-i", "items.jsonl", "-b", "145", "score.json", "copies.json")
	if want := "\nBoth include the same contents in the same order, but different copies of them.\n"; !strings.Contains(got, want) {
		t.Errorf("got\n%s\nwant in it\n%s", got, want)
	}
}

func TestDiffJSON(t *testing.T) {
	out := mustPrint(t, "diff", "-i", "items.jsonl", "-p", "greedy.json", "--reserve", "20", "80", "100", "--json")
	var got struct {
		A, B struct {
			Label       string
			Budget      int
			Tokens      int
			Utilization float64
			ByKind      map[string]int `json:"tokens_by_kind"`
		}
		Swings []struct {
			Content string
			A, B    struct {
				Included bool
				Reason   string
				Score    float64
			}
		}
		Moved []any
	}
	if err := json.Unmarshal([]byte(out), &got); err != nil {
		t.Fatal(err)
	}
	if got.A.Label != "80" || got.A.Budget != 80 || got.A.Tokens != 60 || got.A.Utilization != 0.75 || got.B.ByKind["Document"] != 60 {
		t.Errorf("measures %+v and %+v", got.A, got.B)
	}
	if len(got.Swings) != 3 || got.Swings[0].Content != "banana\nof two lines" || got.Swings[0].A.Included || !got.Swings[0].B.Included ||
		got.Swings[0].A.Reason != "BudgetExceeded" || got.Swings[0].A.Score != 0.9 || got.Swings[0].B.Reason != "Scored" {
		t.Errorf("swings %+v", got.Swings)
	}
	if got.Moved == nil || len(got.Moved) != 0 {
		t.Errorf("moved is %v, want an empty list", got.Moved)
	}
}

func TestDiffOfReports(t *testing.T) {
	_ = mustPrint(t, "explain", "-i", "items.jsonl", "-p", "greedy.json", "--reserve", "20", "-b", "80", "--json", "-o", "a.json")
	if code, _, stderr := start(t, "explain", "-i", "items.jsonl", "-p", "greedy.json", "--reserve", "20", "-b", "100", "--json", "-o", "b.json"); code != exitOK {
		t.Fatal(stderr)
	}
	_, got, _ := start(t, "diff", "a.json", "b.json")
	for _, want := range []string{"A: a.json\nB: b.json\n", "In A only (1)\n", "cherry", "In B only (2)\n", "elder"} {
		if !strings.Contains(got, want) {
			t.Errorf("got\n%s\nwant in it\n%s", got, want)
		}
	}
	if strings.Contains(got, "of the budget") {
		t.Errorf("the reports do not have the budget:\n%s", got)
	}
	if _, got, _ = start(t, "diff", "a.json", "b.json", "-b", "100"); !strings.Contains(got, "of the budget            60.0%   75.0%  +15.0 points\n") {
		t.Errorf("got\n%s\nwant the share of 100 tokens", got)
	}
	if err := os.WriteFile("empty.json", []byte(`{"events": [], "included": [], "excluded": [], "total_candidates": 0, "total_tokens_considered": 0}`), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, got, _ = start(t, "diff", "a.json", "empty.json"); !strings.Contains(got, "NotACandidate") {
		t.Errorf("got\n%s\nwant that the other report does not know the items", got)
	}
}

func TestDiffUsage(t *testing.T) {
	for _, test := range []struct {
		name string
		args []string
		want string
	}{
		{"no policy", []string{"-i", "items.jsonl", "80", "100"}, "two budgets need a policy: give --policy"},
		{"no budget", []string{"-i", "items.jsonl", "chat", "rag"}, "two policies need a budget: give --budget"},
		{"no items", []string{"-p", "rag", "80", "100"}, "two budgets need candidates: give --items"},
		{"budgets and a budget", []string{"-i", "items.jsonl", "-p", "rag", "-b", "5", "80", "100"},
			"with --policy, A and B are the budgets: omit --budget, or omit --policy to compare policies"},
		{"policies and a policy", []string{"-i", "items.jsonl", "-p", "rag", "chat", "rag"},
			`with --policy, A and B are budgets; omit --policy to compare policies: "chat" is neither a number nor a model of the table: write 8000, 3,000, 8k, 50% (of the candidates) or a model such as gpt-4o`},
		{"twice", []string{"-i", "items.jsonl", "-b", "5", "rag", "rag"}, "A and B are both rag: give two different policies, or --policy and two budgets"},
		{"no reports", []string{"chat", "rag"}, "chat is not a report: a report ends in .json; give --items to compare policies, and --policy to compare budgets"},
		{"policy as a report", []string{"greedy.json", "sack.json"},
			"greedy.json is not a report: cupel explain --json writes one; give --items to compare policies"},
		{"rows", []string{"chat", "rag", "-n", "-1"}, "--rows: must be at least 0, got -1"},
		{"one", []string{"chat"}, "want 2 arguments, got 1: cupel diff A B [flags]"},
	} {
		t.Run(test.name, func(t *testing.T) {
			code, stdout, stderr := inFixture(t, append([]string{"diff"}, test.args...)...)
			if want := "cupel: " + test.want + "\n"; code != exitUsage || stdout != "" || stderr != want {
				t.Errorf("exit code %d\n%s%s\nwant %d\n%s", code, stdout, stderr, exitUsage, want)
			}
		})
	}
}

func TestDiffFailure(t *testing.T) {
	code, _, stderr := inFixture(t, "diff", "-i", "items.jsonl", "-p", "greedy.json", "5", "100")
	if code != exitSelection || !strings.Contains(stderr, "budget 5: Pinned items require 10 tokens, but only 5 are available\n") {
		t.Errorf("exit code %d: %s", code, stderr)
	}
}

// What swings is what the specification's comparison of policies finds.
func TestSwingsAreDiffs(t *testing.T) {
	random := rand.New(rand.NewPCG(7, 7))
	for range 200 {
		var items []*cupel.ContextItem
		for range random.IntN(12) {
			item, err := cupel.NewContextItem(fmt.Sprint("item ", random.IntN(8)), random.IntN(20)-1,
				cupel.WithFutureRelevanceHint(float64(random.IntN(5))/4))
			if err != nil {
				t.Fatal(err)
			}
			items = append(items, item)
		}
		budget, err := cupel.NewContextBudget(40, 40)
		if err != nil {
			t.Fatal(err)
		}
		var variants []analysis.PipelineVariant
		for label, s := range []strategy.Slicer{slicer.Greedy{}, slicer.ScoreGreedy{}} {
			p, err := pipeline.New(pipeline.Config{Scorer: scorer.Reflexive{}, Slicer: s, Placer: placer.UShaped{}, KeepDuplicates: random.IntN(2) == 0})
			if err != nil {
				t.Fatal(err)
			}
			variants = append(variants, analysis.PipelineVariant{Label: fmt.Sprint(label), Pipeline: p})
		}
		result, err := analysis.PolicySensitivityOfPipelines(t.Context(), items, budget, variants...)
		if err != nil {
			t.Fatal(err)
		}
		d := compare(items, [2]side{{"0", &budget, result.Variants[0].Report}, {"1", &budget, result.Variants[1].Report}})
		var got, want []string
		for _, s := range d.Swings {
			got = append(got, fmt.Sprint(s.Content, s.A.Included, s.B.Included))
		}
		for _, e := range result.Diffs {
			want = append(want, fmt.Sprint(e.Content, e.Statuses[0].Status == analysis.StatusIncluded, e.Statuses[1].Status == analysis.StatusIncluded))
		}
		if !slices.Equal(got, want) {
			t.Fatalf("got %q, want %q", got, want)
		}
	}
}
