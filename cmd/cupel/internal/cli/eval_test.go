package cli

import (
	"encoding/json"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"
	"weak"

	"github.com/wollax/cupel-go/cupelrelevance"
	"github.com/wollax/cupel-go/cupelrelevance/eval"
)

// Two conversations of four and three turns. With a speaker and three letters
// each, "A: abc", a turn has 2 + 4 = 6 tokens.
const talk = `{"id": "one", "items": [{"speaker": "A", "content": "cat"}, {"speaker": "B", "content": "dog"}, {"speaker": "A", "content": "cow"}, {"speaker": "B", "content": "pig"}],
 "questions": [{"query": "cat", "evidence": [0]}, {"query": "pig", "evidence": [3, 0]}]}
{"id": "two", "items": [{"speaker": "A", "content": "hen"}, {"speaker": "B", "content": "owl"}, {"speaker": "A", "content": "owl"}], "questions": [{"query": "owl", "evidence": [1]}]}
`

// talkFile puts each conversation on a line of its own.
func talkFile() string { return strings.ReplaceAll(talk, ",\n ", ", ") }

// TestEvalByHand checks every number: the latest turns; 6 tokens hold
// one and 12 two.
func TestEvalByHand(t *testing.T) {
	folder(t, map[string]string{"talk.jsonl": talkFile()})
	code, stdout, stderr := fed(t, "", "eval", "--data", "talk.jsonl", "-p", "recency", "--budgets", "12,6")
	// 6: pig is half of the evidence of one question of three.
	// 12: the same, and the first owl.
	// Two conversations say nothing of others.
	const want = `2 conversations, 3 questions

   recall             6            12
  recency  0.167 ±0.500  0.500 ±0.500

precision      6     12
  recency  0.333  0.333

      use      6     12
  recency  1.000  1.000
`
	if code != exitOK || stdout != want || stderr != "" {
		t.Errorf("got %d, %q,\n%s\nwant\n%s", code, stderr, stdout, want)
	}
}

// TestEvalPolicies measures what the command adds to the policies of package
// eval.
func TestEvalPolicies(t *testing.T) {
	folder(t, map[string]string{
		"talk.jsonl": talkFile(),
		// Other groups than the default: an index of its own, for each conversation.
		"mine.toml": "scorers = [{ type = \"relevance\", weight = 1, settings = { query = \"never asked\", groups = [] } }]\nslicer = { type = \"scoreGreedy\" }\nplacer = { type = \"uShaped\" }",
		"old.json":  `{"scorers": [{"type": "decay", "weight": 1, "curve": {"type": "window", "maxAge": "2s"}}], "slicer": {"type": "scoreGreedy"}, "placer": {"type": "chronological"}}`,
	})
	code, stdout, stderr := fed(t, talkFile(), "eval", "--data", "-", "--budgets", "6", "--json", "-j", "2",
		"-p", "chat", "-p", "chat+query", "-p", "relevance", "-p", "relevance+query", "-p", "mine.toml", "-p", "old.json", "-p", "old.json+query")
	if code != exitOK || stderr != "" {
		t.Fatalf("exit code %d: %s", code, stderr)
	}
	var result struct {
		Part string
		eval.Result
	}
	if err := json.Unmarshal([]byte(stdout), &result); err != nil {
		t.Fatal(err)
	}
	if result.Part != "all" || result.Conversations != 2 || result.Questions != 3 {
		t.Errorf("got %+v", result)
	}
	// One turn each time. The latest are pig, for half of one question, and the
	// second owl, which is no evidence; the words of the questions find cat, pig
	// and the first owl.
	const found = (1 + 0.5 + 1) / 3.0
	for i, want := range []struct {
		name   string
		recall float64
		why    string
	}{
		{"chat", 0.5 / 3, "recency alone"},
		{"chat+query", 0.5/3 + 1.0/3, "relevance, and of two owls the later one"},
		{"relevance", found, "of two owls the first"},
		{"relevance+query", found, "it has relevance already"},
		{"mine.toml", found, "the question of the data, not that of the file"},
		{"old.json", 0.5 / 3, "now is four seconds after the first turn, so that the last turn of the first conversation is young, and no other"},
		{"old.json+query", found, "nothing else tells the two owls apart"},
	} {
		if i >= len(result.Policies) {
			t.Fatalf("%d policies", len(result.Policies))
		}
		got := result.Policies[i]
		if got.Name != want.name || got.Points[0].Recall < want.recall-1e-9 || got.Points[0].Recall > want.recall+1e-9 {
			t.Errorf("got %+v, want recall %v of %s: %s", got, want.recall, want.name, want.why)
		}
	}
}

// TestEvalParts: what is tuned and what is held out are all, and nothing is in
// both.
func TestEvalParts(t *testing.T) {
	folder(t, map[string]string{"talk.jsonl": talkFile()})
	for _, row := range []struct {
		args []string
		head string
	}{
		{nil, "6 conversations, 9 questions\n"},
		{[]string{"--part", "tune"}, "tune: 3 conversations, 6 questions\n"},
		{[]string{"--part", "held-out"}, "held-out: 3 conversations, 3 questions\n"},
		{[]string{"--part", "tune", "--hold-out", "3"}, "tune: 6 conversations, 9 questions\n"},
	} {
		_, stdout, stderr := fed(t, "", append([]string{"eval", "--data", "talk.jsonl", "--data", "talk.jsonl", "--data", "talk.jsonl", "--budgets", "6"}, row.args...)...)
		if !strings.HasPrefix(stdout, row.head) || stderr != "" {
			t.Errorf("%q: got %q, %q; want a beginning of %q: each file is parted by itself", row.args, stdout, stderr, row.head)
		}
	}
}

// TestEvalTimes: what is no time is named, once for each file.
func TestEvalTimes(t *testing.T) {
	line := func(times ...string) string {
		return `{"id": "x", "items": [{"content": "a", "time": "` + strings.Join(times, `"}, {"content": "b", "time": "`) + `"}], "questions": [{"query": "a", "evidence": [0]}]}` + "\n"
	}
	folder(t, map[string]string{
		"good.jsonl": line("1:56 pm on 8 May, 2023", "2023-05-09T10:00:00Z"),
		"bad.jsonl":  line("8 May 2023", "soon") + line("later", "5/6/2023"),
	})
	code, _, stderr := fed(t, "", "eval", "--data", "good.jsonl", "--data", "bad.jsonl", "-p", "recency")
	const want = `cupel: note: bad.jsonl: 3 of 4 times cannot be read and are ignored; the first is "soon" of items[1] in conversation "x"; write it like 2023-05-08T13:56:00Z or 1:56 pm on 8 May, 2023` + "\n"
	if code != exitOK || stderr != want {
		t.Errorf("got %d, %q; want %q", code, stderr, want)
	}
}

// TestEvalAgainst compares a policy with another one.
func TestEvalAgainst(t *testing.T) {
	folder(t, map[string]string{"talk.jsonl": talkFile()})
	code, stdout, stderr := fed(t, "", "eval", "--data", "talk.jsonl", "-p", "recency", "-p", "relevance", "--against", "recency", "--budgets", "6")
	// Relevance finds cat and the first owl: one question in each conversation.
	const want = `
against recency              6
      relevance  +0.667 ±1.000
              p          0.500
`
	if code != exitOK || stderr != "" || !strings.HasSuffix(stdout, want) {
		t.Errorf("got %d, %q,\n%s\nwant an end of\n%s", code, stderr, stdout, want)
	}
}

// TestEvalShipped holds the figures of the README to the data that it names, and
// the result to one for any number of workers.
func TestEvalShipped(t *testing.T) {
	data := filepath.Join("..", "..", "..", "..", "cupelrelevance", "eval", "testdata", "conversations.jsonl")
	var first string
	for _, jobs := range []string{"1", "2", "5"} {
		code, stdout, stderr := fed(t, "", "eval", "--data", data, "--budgets", "100,200,400,800", "-j", jobs)
		if code != exitOK || stderr != "" {
			t.Fatalf("exit code %d: %s", code, stderr)
		}
		if first == "" {
			first = stdout
		}
		if stdout != first {
			t.Errorf("-j %s prints\n%s\nand another\n%s", jobs, stdout, first)
		}
	}
	code, stdout, stderr := fed(t, "", "eval", "--data", data, "--budgets", "100,800", "-p", "chat", "-p", "chat+query", "-p", "relevance", "--json")
	if code != exitOK {
		t.Fatal(stderr)
	}
	var result eval.Result
	if err := json.Unmarshal([]byte(stdout), &result); err != nil {
		t.Fatal(err)
	}
	recall := func(policy, budget int) float64 { return result.Policies[policy].Points[budget].Recall }
	if recall(1, 0) < 5*recall(0, 0) || recall(1, 0) < 0.8*recall(2, 0) || recall(1, 1) < 0.9 {
		t.Errorf("recall is %s; want a question to make most of the difference", stdout)
	}
}

func TestEvalPlot(t *testing.T) {
	folder(t, map[string]string{"talk.jsonl": talkFile(), "there.svg": "mine"})
	common := []string{"eval", "--data", "talk.jsonl", "--budgets", "6,12", "-p", "lexical"}
	code, stdout, _ := fed(t, "", append(common, "--svg", "plot.svg")...)
	if svg, err := os.ReadFile("plot.svg"); code != exitOK || err != nil || !strings.HasPrefix(string(svg), "<svg ") || !strings.HasPrefix(stdout, "2 conversations") {
		t.Errorf("got %d, %v, %q; want the plot and the table", code, err, stdout)
	}
	if code, stdout, _ := fed(t, "", append(common, "--svg", "-")...); code != exitOK || !strings.HasPrefix(stdout, "<svg ") || strings.Contains(stdout, "conversations") {
		t.Errorf("got %d, %q; want the plot alone", code, stdout)
	}
	if code, _, stderr := fed(t, "", append(common, "--svg", "there.svg")...); code != exitUsage || stderr != "cupel: there.svg already exists; --force overwrites it\n" {
		t.Errorf("got %d, %q", code, stderr)
	}
	code, _, _ = fed(t, "", append(common, "--svg", "there.svg", "--force")...)
	if svg, err := os.ReadFile("there.svg"); code != exitOK || err != nil || !strings.HasPrefix(string(svg), "<svg ") {
		t.Errorf("got %d, %v, %q", code, err, svg)
	}
}

func TestEvalMistakes(t *testing.T) {
	folder(t, map[string]string{"talk.jsonl": talkFile(), "bad.jsonl": "{}\n{\"items\": 1}", "none.jsonl": "{}\n{}\n"})
	for _, row := range []misuse{
		{"no data", nil, `required flag(s) "data" not set; for example: cupel eval --data meetings.jsonl`, "there is none by default"},
		{"no file", []string{"--data", "x.jsonl"}, "open x.jsonl: no such file or directory", "it is not there"},
		{"bad data", []string{"--data", "talk.jsonl", "--data", "bad.jsonl"}, "bad.jsonl: line 2 is not a labelled conversation: json: cannot unmarshal number into Go struct field Conversation.items of type []eval.Turn", "which file and line"},
		{"no question", []string{"--data", "none.jsonl", "--part", "tune"}, "no questions to measure in none.jsonl (part tune, 1 conversation)", "all shares would be 0"},
		{"budget", []string{"--data", "talk.jsonl", "--budgets", "100,0"}, "--budgets: must be positive numbers of tokens, got 0", "it selects nothing"},
		{"jobs", []string{"--data", "talk.jsonl", "-j", "-1"}, "--jobs: must be at least 1, or 0 for the number of processors, got -1", "no conversation would be measured"},
		{"part", []string{"--data", "talk.jsonl", "--part", "test"}, `--part: "test" is not one of all, tune, held-out`, "names are exact"},
		{"hold out", []string{"--data", "talk.jsonl", "--hold-out", "1"}, "--hold-out: must be at least 2, got 1", "nothing would be left"},
		{"policy twice", []string{"--data", "talk.jsonl", "-p", "chat", "-p", "chat"}, `--policy: "chat" is given twice`, "one line would be the other"},
		{"policy", []string{"--data", "talk.jsonl", "-p", "caht+query"}, "; a policy file ends in .json or .toml", "the names that are known, and that there are files"},
		{"against", []string{"--data", "talk.jsonl", "-p", "chat", "--against", "relevance"}, `--against: "relevance" is not measured; add -p relevance`, "there is nothing to compare with"},
		{"against itself", []string{"--data", "talk.jsonl", "-p", "chat", "--against", "chat"}, `--against: there is no other policy than "chat" to compare; add one with -p`, "a comparison was asked for, and none would be printed"},
		{"both outputs", []string{"--data", "talk.jsonl", "--svg", "-", "--json"}, "--svg - and --json cannot both go to standard output; give --svg a file", "one of them would spoil the other"},
		{"argument", []string{"talk.jsonl"}, `unexpected argument "talk.jsonl" (did you mean --data talk.jsonl?)`, "data come with --data"},
	} {
		row.check(t, "eval")
	}
}

// TestEvalInSession: the more a session keeps from question to question, the less
// it costs.
func TestEvalInSession(t *testing.T) {
	const data = "../../../../cupelrelevance/eval/testdata/conversations.jsonl"
	code, stdout, stderr := fed(t, "", "eval", "--data", data, "--budgets", "400", "--json", "-p", "relevance", "-p", "relevance@0.3", "-p", "relevance@0.8")
	if code != exitOK {
		t.Fatalf("exit code %d: %s", code, stderr)
	}
	var result eval.Result
	if err := json.Unmarshal([]byte(stdout), &result); err != nil {
		t.Fatal(err)
	}
	before := result.Policies[0].Points[0]
	for _, p := range result.Policies[1:] {
		if point := p.Points[0]; !p.InTurn || point.Cost >= before.Cost-0.1 || point.Recall < 0.5 || point.Use > 1 {
			t.Errorf("%s: got %+v, want less cost than %+v", p.Name, point, before)
		}
		before = p.Points[0]
	}
	if code, _, stderr := fed(t, "", "eval", "--data", data, "-p", "relevance@2"); code != exitUsage || !strings.Contains(stderr, "low-water mark must be above 0 and at most 1") {
		t.Errorf("exit code %d: %s", code, stderr)
	}
}

// TestEvalForgets: a policy does not keep the words of each conversation of a corpus.
func TestEvalForgets(t *testing.T) {
	p, err := measured(&Environment{}, "chat"+withQuery, time.Now)
	if err != nil {
		t.Fatal(err)
	}
	ask := func() weak.Pointer[cupelrelevance.Index] {
		index, err := cupelrelevance.NewIndex()
		if err == nil {
			_, err = p.New(index, "what?")
		}
		if err != nil {
			t.Fatal(err)
		}
		return weak.Make(index)
	}
	first := ask()
	for range 200 {
		ask()
	}
	runtime.GC()
	if first.Value() != nil {
		t.Error("the first of 201 conversations has its index still")
	}
	runtime.KeepAlive(p)
}
