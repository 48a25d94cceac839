package cli

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

// With 50 tokens to select from, apple leaves 30, banana does not fit them, and
// cherry does: 50 and the 30 of the reserve and the pinned item are 80. With
// less, apple leaves less than 30 and comes first whenever it fits; what is
// below 20 has no room for cherry.
const whyNotCherry = `It is out: BudgetExceeded: 30 tokens requested, 5 available

item    cherry
kind    ToolOutput, source Chat
tokens  30
score   0.6, rank 3 of 5

GreedySlice takes the highest score per token first. When its turn came, 10 of 70 tokens were left.
Later items took 5 of them.
Chosen instead:
RANK  SCORE  TOKENS  PER TOKEN  KIND      ITEM
   2    0.8      20       0.04  Document  apple
   1    0.9      40     0.0225  Document  banana …

If it were pinned, these would be dropped:
RANK  SCORE  TOKENS  PER TOKEN  KIND      ITEM
   1    0.9      40     0.0225  Document  banana …

The smallest budget that includes it is 80 tokens, 20 fewer than now: with more, others may be
chosen instead.
That budget drops:
RANK  SCORE  TOKENS  PER TOKEN  KIND      ITEM
   1    0.9      40     0.0225  Document  banana …
   5   0.05       5       0.01  Message   elder
`

func TestWhyNot(t *testing.T) {
	if got := mustPrint(t, explaining("greedy.json", "--why-not", "cherry")...); got != whyNotCherry {
		t.Errorf("got\n%s\nwant\n%s", got, whyNotCherry)
	}
}

func TestWhyNotSays(t *testing.T) {
	for _, test := range []struct {
		name, why, policy, item string
		args                    []string
		has, not                []string
	}{
		{"in", "banana needs 60 tokens together with apple, which comes first, or 40 where apple does not fit: never, as it is smaller", "greedy.json", "ban*", nil,
			[]string{"It is in, as #2 of 4: Scored\n", "The smallest budget that includes it is 90 tokens, 10 fewer than now.\n"}, []string{"pinned", "before"}},
		{"pinned", "its 10 tokens and the 20 of the reserve", "greedy.json", "Be", nil,
			[]string{"It is in, as #1 of 4: Pinned\n", "The smallest budget that includes it is 30 tokens, 70 fewer than now.\n"}, []string{"score"}},
		{"negative", "no budget helps", "greedy.json", "damson", nil,
			[]string{"It is out: NegativeTokens: -1 tokens\n", "No budget includes it: correct its token count.\n"}, []string{"pinned", "score"}},
		{"copies", "the copy that is in answers for both", "greedy.json", "apple", nil,
			[]string{"It is in, as #3 of 4: Scored\n", "copies  1 other candidate with the same content\n", "is 50 tokens, 50 fewer than now.\n"}, nil},
		{"by score", "banana leaves 30 and apple 10 of them; where banana does not fit apple leaves too little; 40+20+30 are 90", "score.json", "cherry", nil,
			[]string{"ScoreGreedySlice takes the highest score first. When its turn came, 10 of 70 tokens were left. Later\nitems took 5 of them.\nChosen instead:\n",
				"The smallest budget that includes it is 120 tokens, 20 more than now.\n", "That budget drops:\n"}, nil},
		{"knapsack", "0.8+0.6 in 50 tokens beat 0.9+0.05 in 45; nothing with cherry does in less", "sack.json", "cherry", nil,
			[]string{"KnapsackSlice takes the items whose scores have the highest sum, within 70 tokens.\n", "is 80 tokens, 20 fewer than now"}, nil},
		{"buckets", "a bucket of 50 is all that 70 tokens have, and banana is worth most of what fits it", "buckets.json", "cherry", nil,
			[]string{"within 70 tokens, the tokens of\neach rounded up to buckets of 50.\n", "   1    0.9      40 ",
				// 30 are kept or pinned, and two buckets are enough for banana and apple, so that cherry needs three.
				"The smallest budget that includes it is 180 tokens, 80 more than now.\n"}, nil},
		{"worth nothing", "scores count in ten-thousandths", "nothing.json", "cherry", nil,
			[]string{"KnapsackSlice takes nothing with a score below 0.0001.\n", "No budget up to 145 tokens includes it; raise --up-to to search further.\n"}, nil},
		{"target", "80 tokens are enough without it, as above", "greedy.json", "cherry", []string{"--target", "25"},
			[]string{"Without --target, the smallest budget that includes it is 80 tokens, 20 fewer than now.\n"}, []string{"with more"}},
		{"required share", "Document is required, and takes nothing from ToolOutput", "shares.json", "cherry", nil,
			[]string{"QuotaSlice gives the kind ToolOutput 7 of 70 tokens. GreedySlice takes the highest score per token\nfirst. Nothing comes before it, but there are only 7 tokens.\n"}, []string{"requires"}},
		{"few probes", "with 120 there is room for all three that cost most, and ten budgets from 50 on say nothing about 60 and more", "sack.json", "cherry", []string{"--max-probes", "10"},
			[]string{"A budget of 120 tokens includes it, 20 more than now; a smaller one may too: raise --max-probes to\nfind it.\n"}, nil},
		{"far too few probes", "79 do not take it, and the first ten budgets are 50 to 59: 30 for it and 20 for the reserve", "counted.json", "cherry", []string{"--max-probes", "10", "--up-to", "79"},
			[]string{"KnapsackSlice takes the items whose scores have the highest sum, within 70 tokens.\n", "No budget up to 59 tokens includes it; raise --max-probes to try more budgets.\n"}, nil},
		{"ceiling", "80 would take it", "greedy.json", "cherry", []string{"--up-to", "79"}, []string{"No budget up to 79 tokens includes it; raise --up-to to search further.\n"}, nil},
		{"quota", "a tenth of 70 tokens", "quota.json", "cherry", nil,
			[]string{"QuotaSlice gives the kind ToolOutput 7 of 70 tokens.", "Nothing comes before it, but there are only 7 tokens.\n"}, nil},
		{"quota and a large budget", "a tenth of 300 tokens, and 30 more: more than all candidates have", "quota.json", "cherry", nil,
			[]string{"The smallest budget that includes it is 330 tokens, 230 more than now.\n"}, nil},
		{"nothing for the kind", "its quota is nothing", "none.json", "cherry", nil,
			[]string{"QuotaSlice leaves no tokens for the kind ToolOutput.\n"}, nil},
		{"cap", "apple has the only place, and fits wherever banana does", "count.json", "ban*", nil,
			[]string{"It is out: CountCapExceeded: Document has 1 items, cap 1\n", "CountQuotaSlice takes at most 1 item of the kind Document.\nChosen instead:\n", "    2    0.8      20       0.04  Document  apple\n",
				"No budget up to 145 tokens includes it; raise --up-to to search further.\n"}, nil},
		{"cap of nothing", "nothing of the kind is ever chosen", "nodocs.json", "ban*", nil,
			[]string{"CountQuotaSlice takes no items of the kind Document.\n"}, nil},
		{"chosen and dropped", "banana took 40 tokens before the cap put it out", "count.json", "cherry", nil,
			[]string{"When its turn came, 10 of 70 tokens were left.\n", "Document  CountCapExceeded, cap 1  banana …\n"}, nil},
		{"requirement", "elder comes first, as one message has to", "needs.json", "cherry", nil,
			[]string{"CountQuotaSlice takes what it requires of a kind first, here 1 item. GreedySlice takes the highest\nscore per token first. When its turn came, 5 of 65 tokens were left.\n"}, nil},
	} {
		t.Run(test.name, func(t *testing.T) {
			got := mustPrint(t, explaining(test.policy, append(test.args, "--why-not", test.item)...)...)
			for _, text := range test.has {
				if !strings.Contains(got, strings.TrimLeft(text, " ")) {
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

func TestWhyNotOverflow(t *testing.T) {
	// Both documents are required: with 10 pinned they need 70 tokens, and 90 with
	// the reserve. An overflow is judged by the target, which is the budget less
	// the reserve, for a search as for a selection.
	got := mustPrint(t, explaining("throw.json", "--why-not", "banana*")...)
	if want := "The smallest budget that includes it is 90 tokens, 10 fewer than now.\n"; !strings.Contains(got, want) {
		t.Errorf("lacks %q:\n%s", want, got)
	}
}

func TestWhyNotPinnedBringsOthers(t *testing.T) {
	t.Chdir(t.TempDir())
	items := `{"content": "grape", "tokens": 20, "kind": "Document", "futureRelevanceHint": 0.9}
{"content": "fig", "tokens": 15, "kind": "Document", "futureRelevanceHint": 0.5}
{"content": "plum", "tokens": 12, "kind": "Document", "futureRelevanceHint": 0.1}
`
	for name, content := range map[string]string{"items.jsonl": items, "share.json": fixture["score.json"]} {
		if err := os.WriteFile(name, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	// Of 30 tokens grape takes 20, and nothing fits the other ten. Next to a fig of
	// 15 grape does not fit, and plum does.
	_, got, _ := start(t, "explain", "-i", "items.jsonl", "-p", "share.json", "-b", "30", "--why-not", "fig")
	for _, want := range []string{
		"If it were pinned, these would be dropped:\n", " grape\n", "These would also be included:\n", "   3    0.1      12   0.008333  Document  plum\n",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("lacks %q:\n%s", want, got)
		}
	}
}

func TestWhyNotOfTheLargest(t *testing.T) {
	t.Chdir(t.TempDir())
	items := `{"content": "\u001b[1m one", "tokens": 9223372036854775807}
{"content": "\u001b[1m two", "tokens": 1, "pinned": true}
`
	if err := os.WriteFile("items.jsonl", []byte(items), 0o600); err != nil {
		t.Fatal(err)
	}
	// The pinned token and those of the first are more than an int holds.
	_, got, _ := start(t, "explain", "-i", "items.jsonl", "-p", "rag", "-b", "5", "--why-not", "*one")
	if want := "\nNo budget includes it.\n"; !strings.Contains(got, want) {
		t.Errorf("lacks %q:\n%s", want, got)
	}
	_, _, got = start(t, "explain", "-i", "items.jsonl", "-p", "rag", "-b", "5", "--why-not", "*")
	if want := `2 candidates match: "\x1b[1m one", "\x1b[1m two"; give more`; !strings.Contains(got, want) {
		t.Errorf("lacks %q, escaped once: %s", want, got)
	}
}

func TestWhyNotCopies(t *testing.T) {
	// Where duplicates are kept, 7 tokens take one copy and only 10 the other.
	t.Chdir(t.TempDir())
	items := `{"content": "twin", "tokens": 7, "futureRelevanceHint": 0.5}
{"content": "twin", "tokens": 3, "futureRelevanceHint": 0.5}
`
	policy := strings.Replace(fixture["greedy.json"], "{", `{"deduplicate": false, `, 1)
	for name, content := range map[string]string{"items.jsonl": items, "twins.json": policy} {
		if err := os.WriteFile(name, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	_, got, _ := start(t, "explain", "-i", "items.jsonl", "-p", "twins.json", "-b", "20", "--why-not", "twin")
	if want := "The smallest budget that includes this copy of it is 10 tokens, 10 fewer than now.\n"; !strings.Contains(got, want) {
		t.Errorf("lacks %q:\n%s", want, got)
	}
}

func TestWhyNotPinnedOverride(t *testing.T) {
	// 50-10 = 40 tokens are enough for cherry if nothing is pinned; with 25 pinned
	// it does not fit 25 by itself.
	got := mustPrint(t, "explain", "-i", "items.jsonl", "-p", "greedy.json", "-b", "35", "--why-not", "cherry")
	for _, want := range []string{
		"It is out: PinnedOverride: pinned items took its place\n",
		"Pinned items take their tokens before the slicer chooses.\nChosen instead:\n",
		"   -      -      10          -  SystemPrompt  Be brief.\n",
		"If it were pinned, the selection would fail: Pinned items require 40 tokens, but only 35 are\navailable\n",
		"The smallest budget that includes it is 60 tokens, 25 more than now.\n", // 20 for apple, 30 and 10
	} {
		if !strings.Contains(got, want) {
			t.Errorf("lacks %q:\n%s", want, got)
		}
	}
}

func TestWhyNotTruncated(t *testing.T) {
	// Both documents are required, and 10+40+20 tokens are more than 35. Banana has
	// the best score and does not fit next to the pinned item; apple does.
	got := mustPrint(t, "explain", "-i", "items.jsonl", "-p", "truncate.json", "-b", "35", "--why-not", "ban*")
	for _, want := range []string{
		"It is out: BudgetExceeded: 40 tokens requested, 25 available\n",
		"The slicer chose it, but the selection overflowed the target: pinned items stay, and of the others\nthe best that fit.\nChosen instead:\nRANK  SCORE  TOKENS  PER TOKEN  KIND          ITEM\n   -      -      10          -  SystemPrompt  Be brief.\n\n",
		"The smallest budget that includes it is 50 tokens, 15 more than now.\nThat budget drops:\n",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("lacks %q:\n%s", want, got)
		}
	}
}

// A clock that runs fast makes any work long.
func TestBudgetProgress(t *testing.T) {
	for _, args := range [][]string{
		sweeping("--stride", "1", "-o", "out"),
		explaining("sack.json", "--why-not", "cherry", "-o", "out"),
	} {
		for _, wanted := range []bool{true, false} {
			dir := t.TempDir()
			for name, content := range fixture {
				if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			t.Chdir(dir)
			given := args
			if wanted {
				given = append(slices.Clone(args), "--progress")
			}
			var out, errs bytes.Buffer
			now := time.Date(2026, 11, 20, 0, 0, 0, 0, time.UTC)
			code := Main(t.Context(), given, Environment{
				Stdin: strings.NewReader(""), Stdout: &out, Stderr: &errs, Getenv: func(string) string { return "" },
				Clock: func() time.Time { now = now.Add(time.Minute); return now },
			})
			if code != exitOK || out.Len() > 0 {
				t.Fatalf("%q: exit code %d, %q, %q", given, code, out.String(), errs.String())
			}
			lines := regexp.MustCompile(`^(\d+ of (145|119) tokens of budget\n)+$`)
			if got := errs.String(); wanted && !lines.MatchString(got) || !wanted && got != "" {
				t.Errorf("%q says %q", given, got)
			}
		}
	}
}

func TestWhyNotJSON(t *testing.T) {
	out := mustPrint(t, explaining("greedy.json", "--why-not", "cherry", "--json")...)
	var got struct {
		Position, Rank, Tokens int
		Included               bool
		Reason                 string
		Parts                  []jsonPartRead
		DisplacedBy            []struct{ Content string } `json:"displaced_by"`
		IfPinned               struct {
			Came, Went []struct{ Position int }
		} `json:"if_pinned"`
		Smallest map[string]any `json:"smallest_budget"`
		At       struct {
			Came, Went []struct{ Position int }
		} `json:"at_smallest_budget"`
	}
	if err := json.Unmarshal([]byte(out), &got); err != nil {
		t.Fatal(err)
	}
	if got.Position != 3 || got.Rank != 3 || got.Tokens != 30 || got.Included || got.Reason != "BudgetExceeded" {
		t.Errorf("the candidate: %+v", got)
	}
	if len(got.Parts) != 1 || got.Parts[0] != (jsonPartRead{"Reflexive", 1, 0.6}) {
		t.Errorf("parts %+v", got.Parts)
	}
	if len(got.DisplacedBy) != 2 || got.DisplacedBy[0].Content != "apple" || got.DisplacedBy[1].Content != "banana\nof two lines" {
		t.Errorf("displaced by %+v", got.DisplacedBy)
	}
	if len(got.IfPinned.Went) != 1 || got.IfPinned.Went[0].Position != 2 || len(got.At.Went) != 2 || len(got.At.Came) != 1 {
		t.Errorf("exchanges %+v and %+v", got.IfPinned, got.At)
	}
	// All others have 20+40+30+20+5 tokens; 10 are pinned and 20 kept.
	want := map[string]any{"found": true, "tokens": 80.0, "exact": true, "searched_to": 145.0}
	for name, value := range want {
		if got.Smallest[name] != value {
			t.Errorf("smallest budget: %s is %v, want %v", name, got.Smallest[name], value)
		}
	}
}

type jsonPartRead struct {
	Name          string
	Weight, Score float64
}

// What the agent preset prepares depends on the budget, and so does what is in.
func TestWhyNotPrepared(t *testing.T) {
	const chat = "../../../../examples/data/chat.json"
	included := func(budget int, args ...string) (in bool, smallest jsonSmallest) {
		t.Helper()
		args = append([]string{"explain", "-i", chat, "-p", "agent", "-b", strconv.Itoa(budget), "--json", "--why-not", "45 rye*"}, args...)
		code, stdout, stderr := start(t, args...)
		var answer struct {
			Included bool         `json:"included"`
			Smallest jsonSmallest `json:"smallest_budget"`
		}
		if err := json.Unmarshal([]byte(stdout), &answer); code != exitOK || err != nil {
			t.Fatalf("exit code %d, %v: %s", code, err, stderr)
		}
		return answer.Included, answer.Smallest
	}
	const wanted = 92
	if in, smallest := included(60); in || smallest != (jsonSmallest{Found: true, Tokens: wanted, Exact: true, SearchedTo: 387}) {
		t.Errorf("in: %v, smallest %+v", in, smallest)
	}
	if in, _ := included(wanted); !in {
		t.Errorf("it is out at %d tokens", wanted)
	}
	for budget := 47; budget < wanted; budget++ {
		if in, _ := included(budget, "--max-probes", "2"); in {
			t.Errorf("it is in at %d tokens, fewer than %d", budget, wanted)
		}
	}
	if _, smallest := included(60, "--max-probes", "20"); !smallest.Found || smallest.Exact {
		t.Errorf("after 20 budgets: %+v, and that is not exact", smallest)
	}
	if _, smallest := included(60, "--up-to", "80"); smallest != (jsonSmallest{Exact: true, SearchedTo: 80}) {
		t.Errorf("up to 80: %+v", smallest)
	}
}
