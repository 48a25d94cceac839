package eval_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupel/pipeline"
	"github.com/wollax/cupel-go/cupel/placer"
	"github.com/wollax/cupel-go/cupel/scorer"
	"github.com/wollax/cupel-go/cupel/slicer"
	"github.com/wollax/cupel-go/cupel/strategy"
	"github.com/wollax/cupel-go/cupelrelevance"
	"github.com/wollax/cupel-go/cupelrelevance/eval"
)

// TestTables: samples in any order give the bits of one run.
func TestTables(t *testing.T) {
	policies, budgets := eval.Builtin(), []int{150, 600}
	one, err := run(t.Context(), small(t), policies, budgets, eval.WithAgainst("lexical"))
	require.NoError(t, err)
	m, err := eval.NewMeasure(policies, budgets, eval.WithAgainst("lexical"))
	require.NoError(t, err)
	table, conversations := eval.NewTable(m.Plan()), small(t)
	for _, i := range rand.New(rand.NewPCG(1, 2)).Perm(len(conversations)) {
		s, err := m.Sample(t.Context(), &conversations[i])
		require.NoError(t, err)
		require.NoError(t, table.Add(&s))
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
	require.NoError(t, err)
	table := eval.NewTable(m.Plan())
	var errs []string
	for s, err := range m.Samples(t.Context(), eval.Scan("f", strings.NewReader(strings.Replace(line, "mud", "tea", 1)+"{\"items\"\n"+line), nil)) {
		require.NoError(t, err)
		if s.Err() != nil {
			errs = append(errs, s.Err().Error())
		}
		require.NoError(t, table.Add(&s))
	}
	const want = "f: line 2 is not a labeled conversation: unexpected end of JSON input\n" + `cupel: policy "picky" on conversation "x": broken`
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

// TestFailingParts: a policy may fail when it scores, and when it selects.
func TestFailingParts(t *testing.T) {
	conversation := eval.Conversation{ID: "x", Items: []eval.Turn{{Content: "a"}}, Questions: []eval.Question{{Query: "?", Evidence: []int{0}}}}
	failing := strategy.SlicerFunc(func(context.Context, []cupel.ScoredItem, cupel.SliceBudget) (strategy.Selection, error) {
		return strategy.Selection{}, errBroken
	})
	for name, config := range map[string]pipeline.Config{
		"scorer": {Scorer: new(cupelrelevance.Lexical), Slicer: slicer.Greedy{}, Placer: placer.Chronological{}},
		"slicer": {Scorer: scorer.Recency{}, Slicer: failing, Placer: placer.Chronological{}},
	} {
		policy := eval.Policy{Name: name, New: func(*cupelrelevance.Index, string) (*pipeline.Pipeline, error) { return pipeline.New(config) }}
		m, err := eval.NewMeasure([]eval.Policy{policy}, []int{10, 20})
		require.NoError(t, err)
		s, err := m.Sample(t.Context(), &conversation)
		require.NoError(t, err)
		require.ErrorContains(t, s.Err(), `policy "`+name+`" on conversation "x": `)
		assert.Contains(t, s.Sums[0].Failure, name)
		assert.Equal(t, s.Sums[0], s.Sums[1])
		assert.Zero(t, s.Sums[1].Recall)
	}
	m, err := eval.NewMeasure(eval.Builtin(), []int{10})
	require.NoError(t, err)
	for s, err := range m.Samples(t.Context(), eval.Scan("", broken{}, nil)) {
		require.NoError(t, err)
		require.ErrorIs(t, s.Err(), errBroken, "an error of the reader is that of a line")
	}
}

// TestFirstFailure adds failures in every order: the first by file, line and
// conversation is kept.
func TestFirstFailure(t *testing.T) {
	var samples []eval.Sample
	for _, at := range []struct {
		file string
		line int
		id   string
	}{{"a", 2, "x"}, {"a", 2, "y"}, {"a", 3, "a"}, {"b", 1, "a"}} {
		samples = append(samples, eval.Sample{File: at.file, Line: at.line, Conversation: at.id, Sums: []eval.Sums{{Failure: at.file + at.id}}})
	}
	m, err := eval.NewMeasure(eval.Builtin()[:1], []int{100})
	require.NoError(t, err)
	for _, order := range [][]int{{0, 1, 2, 3}, {3, 2, 1, 0}, {1, 0, 3, 2}, {2, 3, 0, 1}} {
		table := eval.NewTable(m.Plan())
		for _, i := range order {
			require.NoError(t, table.Add(&samples[i]))
		}
		point := table.Result().Policies[0].Points[0]
		assert.Equal(t, 4, point.Failures)
		assert.Equal(t, &eval.Failure{Conversation: "x", Reason: "ax"}, point.First, "%v", order)
	}
}

// TestText writes all that a result may have.
func TestText(t *testing.T) {
	point := func(budget int, recall float64, against *eval.Against) eval.Point {
		return eval.Point{Budget: budget, Recall: recall, Precision: recall / 2, Use: 0.9, Cost: 0.25, RecallInterval: &eval.Interval{Low: recall - 0.1, High: recall + 0.1}, Against: against}
	}
	against := &eval.Against{Policy: "é", Difference: -0.25, Interval: &eval.Interval{Low: -0.5, High: 0}, P: 0.0004}
	r := eval.Result{Conversations: 2, Questions: 1, Failed: 1, Budgets: []int{5, 1_000_000}, Policies: []eval.PolicyResult{
		{Name: "é", Points: []eval.Point{point(5, 0.5, nil), point(1_000_000, 1, nil)}},
		{Name: "the longest name", Points: []eval.Point{point(5, 0.25, against), point(1_000_000, 0.75, against)}},
	}}
	assert.Equal(t, `2 conversations, 1 question, 1 left out

          recall             5         1,000,000
               é  0.500 ±0.100      1.000 ±0.100
the longest name  0.250 ±0.100      0.750 ±0.100

       precision      5  1,000,000
               é  0.250      0.500
the longest name  0.125      0.375

             use      5  1,000,000
               é  0.900      0.900
the longest name  0.900      0.900

       against é              5         1,000,000
the longest name  -0.250 ±0.250     -0.250 ±0.250
               p         <0.001            <0.001
`, r.Text())
	r.Budgets = r.Budgets[:1]
	for i := range r.Policies {
		r.Policies[i].Points = r.Policies[i].Points[:1]
	}
	assert.Contains(t, r.Text(), "\n       against é              5\nthe longest name  -0.250 ±0.250\n")
	assert.Equal(t, "0 conversations, 0 questions\n\n   recall\n\nprecision\n\n      use\n", (&eval.Result{}).Text())
}
