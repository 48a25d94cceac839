package eval_test

import (
	"encoding/json"
	"errors"
	"github.com/wollax/cupel-go/cupel/pipeline"
	"github.com/wollax/cupel-go/cupelrelevance"
	"github.com/wollax/cupel-go/cupelrelevance/eval"
	"math/rand/v2"
	"os"
	"strings"
	"testing"
)

// TestShards: samples that were written and read, in any order and in tables that are
// merged, give the bits of one run.
func TestShards(t *testing.T) {
	data, err := os.ReadFile("testdata/conversations.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	policies, budgets := eval.Builtin(), []int{150, 600}
	one, err := eval.Run(t.Context(), small(t), policies, budgets, eval.WithAgainst("lexical"))
	if err != nil {
		t.Fatal(err)
	}
	encode := func(v any) []byte {
		data, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		return data
	}
	want := string(encode(one)) + one.Text()
	random := rand.New(rand.NewPCG(1, 2))
	for _, shards := range []int{1, 2, 3} {
		m, err := eval.NewMeasure(policies, budgets, eval.WithAgainst("lexical"))
		if err != nil {
			t.Fatal(err)
		}
		total := eval.NewTable(m.Plan())
		for _, shard := range random.Perm(shards) {
			table := eval.NewTable(m.Plan())
			for s, err := range m.Samples(t.Context(), eval.Scan("f", strings.NewReader(string(data)), func(n, _ int) bool { return n%shards == shard })) {
				if err != nil {
					t.Fatal(err)
				}
				var read eval.Sample
				if err := json.Unmarshal(encode(s), &read); err != nil {
					t.Fatal(err)
				}
				if err := table.Add(&read); err != nil {
					t.Fatal(err)
				}
			}
			var read eval.Table
			if err := json.Unmarshal(encode(table), &read); err != nil {
				t.Fatal(err)
			}
			if err := total.Merge(&read); err != nil {
				t.Fatal(err)
			}
		}
		if r := total.Result(); string(encode(r))+r.Text() != want {
			t.Errorf("%d shards: got\n%s\nwant\n%s", shards, r.Text(), want)
		}
	}
	other := eval.NewTable(eval.Plan{Budgets: budgets})
	if err := eval.NewTable(eval.Plan{Policies: []eval.Planned{{Name: "x"}}, Budgets: budgets}).Merge(other); err == nil {
		t.Error("tables of two plans were merged")
	}
	if err := other.Add(&eval.Sample{Sums: make([]eval.Sums, 3)}); err == nil {
		t.Error("a sample of another plan was added")
	}
	single := eval.NewTable(eval.Plan{Policies: []eval.Planned{{Name: "x"}}, Budgets: []int{1}})
	for _, row := range []struct {
		questions int
		sums      eval.Sums
		why       string
	}{
		{-1, eval.Sums{}, "no conversation has fewer than 0 questions"},
		{1, eval.Sums{Recall: 1.5}, "more than all evidence"},
		{1, eval.Sums{Precision: -1}, "less than nothing"},
		{1, eval.Sums{Use: 1e300}, "squares would not be finite"},
		{1, eval.Sums{Cost: -1}, "nothing has a negative cost"},
	} {
		if err := single.Add(&eval.Sample{Questions: row.questions, Sums: []eval.Sums{row.sums}}); err == nil || single.Conversations > 0 {
			t.Errorf("%d questions, %+v were added: %s", row.questions, row.sums, row.why)
		}
	}
}

// TestFailedSamples: a line that is damaged and a policy that fails cost nothing else.
func TestFailedSamples(t *testing.T) {
	const line = `{"id": "x", "items": [{"content": "abcd"}, {"content": "efgh"}], "questions": [{"query": "?", "evidence": [1]}, {"query": "mud", "evidence": [1]}]}` + "\n"
	picky := eval.Builtin()[0]
	picky.Name = "picky"
	picky.New = func(index *cupelrelevance.Index, query string) (*pipeline.Pipeline, error) {
		if query == "mud" {
			return nil, errBroken
		}
		return eval.Builtin()[0].New(index, query)
	}
	m, err := eval.NewMeasure([]eval.Policy{eval.Builtin()[0], picky}, []int{100})
	if err != nil {
		t.Fatal(err)
	}
	table := eval.NewTable(m.Plan())
	var errs []string
	for s, err := range m.Samples(t.Context(), eval.Scan("f", strings.NewReader(strings.Replace(line, "mud", "tea", 1)+"{\"items\"\n"+line), nil)) {
		if err != nil {
			t.Fatal(err)
		}
		if s.Err() != nil {
			errs = append(errs, s.Err().Error())
		}
		if err := table.Add(&s); err != nil {
			t.Fatal(err)
		}
	}
	const want = "f: line 2 is not a labelled conversation: unexpected end of JSON input\n" + `cupel: policy "picky" on conversation "x": broken`
	if strings.Join(errs, "\n") != want {
		t.Errorf("got %q, want %q", errs, want)
	}
	r := table.Result()
	fine, bad := r.Policies[0].Points[0], r.Policies[1].Points[0]
	if r.Conversations != 2 || r.Failed != 1 || fine.Recall != 1 || fine.Failures != 0 || bad.Recall != 0.5 || bad.Failures != 1 || *bad.First != (eval.Failure{Conversation: "x", Reason: "broken"}) {
		t.Errorf("got %+v", r)
	}
	if _, err := eval.Read(strings.NewReader("{")); !errors.As(err, new(*eval.ReadError)) || strings.Contains(err.Error(), "f:") {
		t.Errorf("got %v without a file", err)
	}
}
