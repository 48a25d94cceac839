package eval_test

import (
	"errors"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"

	"github.com/wollax/cupel-go/cupel/pipeline"
	"github.com/wollax/cupel-go/cupelrelevance"
	"github.com/wollax/cupel-go/cupelrelevance/eval"
)

// TestTables: samples in any order give the bits of one run.
func TestTables(t *testing.T) {
	policies, budgets := eval.Builtin(), []int{150, 600}
	one, err := run(t.Context(), small(t), policies, budgets, eval.WithAgainst("lexical"))
	if err != nil {
		t.Fatal(err)
	}
	m, err := eval.NewMeasure(policies, budgets, eval.WithAgainst("lexical"))
	if err != nil {
		t.Fatal(err)
	}
	table, conversations := eval.NewTable(m.Plan()), small(t)
	for _, i := range rand.New(rand.NewPCG(1, 2)).Perm(len(conversations)) {
		s, err := m.Sample(t.Context(), &conversations[i])
		if err != nil {
			t.Fatal(err)
		}
		if err := table.Add(&s); err != nil {
			t.Fatal(err)
		}
	}
	if r := table.Result(); !reflect.DeepEqual(r, one) {
		t.Errorf("got\n%s\nwant\n%s", r.Text(), one.Text())
	}
	if err := table.Add(&eval.Sample{Sums: make([]eval.Sums, 3)}); err == nil {
		t.Error("a sample of another plan was added")
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
	if _, err := read(strings.NewReader("{")); !errors.As(err, new(*eval.ReadError)) || strings.Contains(err.Error(), "f:") {
		t.Errorf("got %v without a file", err)
	}
}
