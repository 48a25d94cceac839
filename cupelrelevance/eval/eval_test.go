package eval_test

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupel/pipeline"
	"github.com/wollax/cupel-go/cupel/strategy"
	"github.com/wollax/cupel-go/cupelrelevance"
	"github.com/wollax/cupel-go/cupelrelevance/eval"
)

func small(t testing.TB) []eval.Conversation {
	t.Helper()
	data, err := os.ReadFile("testdata/conversations.jsonl")
	require.NoError(t, err)
	conversations, err := read(bytes.NewReader(data))
	require.NoError(t, err)
	return conversations
}

// read returns what Scan reads, or its first error.
func read(r io.Reader) ([]eval.Conversation, error) {
	var all []eval.Conversation
	for c, err := range eval.Scan("", r, nil) {
		if err != nil {
			return nil, err
		}
		all = append(all, c)
	}
	return all, nil
}

// run returns what a table says of the samples of conversations, or the first error.
func run(ctx context.Context, conversations []eval.Conversation, policies []eval.Policy, budgets []int, opts ...eval.Option) (*eval.Result, error) {
	m, err := eval.NewMeasure(policies, budgets, opts...)
	if err != nil {
		return nil, err
	}
	each := func(yield func(eval.Conversation, error) bool) {
		for _, c := range conversations {
			if !yield(c, nil) {
				return
			}
		}
	}
	table := eval.NewTable(m.Plan())
	for s, err := range m.Samples(ctx, each) {
		if err := cmp.Or(err, s.Err()); err != nil {
			return nil, err
		}
		if err := table.Add(&s); err != nil {
			return nil, err
		}
	}
	return table.Result(), ctx.Err()
}

// TestSmall measures the conversations of this folder and holds the preset to
// what makes it one: in small budgets it finds most.
func TestSmall(t *testing.T) {
	result, err := run(t.Context(), small(t), eval.Builtin(), []int{100, 200, 400, 800})
	require.NoError(t, err)
	t.Log(result.Text())
	recall := make(map[string]float64)
	for _, p := range result.Policies {
		recall[p.Name] = p.Points[0].Recall
		for i, point := range p.Points {
			if point.Use > 1 || point.Recall > 1 || point.Precision > 1 || i > 0 && point.Recall < p.Points[i-1].Recall {
				t.Errorf("%s: %+v cannot be", p.Name, p.Points)
			}
		}
	}
	if recall["relevance"] < recall["lexical"]+0.1 || recall["lexical"] < 4*recall["recency"] {
		t.Errorf("recall within 100 tokens is %v", recall)
	}
}

// TestRunByHand checks every number of one conversation.
func TestRunByHand(t *testing.T) {
	// Four turns of 5 + 2 = 7 characters, 6 tokens each; the last two are the latest.
	const line = `{"id": "x", "items": [{"speaker": "A", "content": "abcd"}, {"speaker": "A", "content": "efgh"}, {"speaker": "B", "content": "ijkl"}, {"content": "mnopqrs"}],
		"questions": [{"query": "?", "evidence": [3, 0]}, {"query": "?", "evidence": [1]}]}`
	conversations, err := read(strings.NewReader(strings.ReplaceAll(line, "\n", " ")))
	require.NoError(t, err)
	result, err := run(t.Context(), conversations, eval.Builtin()[:1], []int{5, 12, 100})
	require.NoError(t, err)
	want := &eval.Result{Conversations: 1, Questions: 2, Budgets: []int{5, 12, 100}, Policies: []eval.PolicyResult{{Name: "recency", Points: []eval.Point{
		{Budget: 5}, // nothing fits
		{Budget: 12, Recall: (0.5 + 0) / 2, Precision: (0.5 + 0) / 2, Use: 1, Cost: (1.25*12 + 0.1*12) / 2 / (1.25 * 12)}, // the same window twice
		{Budget: 100, Recall: 1, Precision: (0.5 + 0.25) / 2, Use: 0.24, Cost: (1.25*24 + 0.1*24) / 2 / (1.25 * 100)},
	}}}}
	if !reflect.DeepEqual(result, want) {
		t.Errorf("got %+v, want %+v", result, want)
	}
	if text := result.Text(); !strings.HasPrefix(text, "1 conversation, 2 questions\n") {
		t.Errorf("the text begins %.40q", text)
	}
}

// TestAgainst compares the latest turn with the first one in conversations where
// either is the answer.
func TestAgainst(t *testing.T) {
	const answer = `{"id": "x", "items": [{"content": "abcd"}, {"content": "efgh"}], "questions": [{"query": "?", "evidence": [%d]}, {"query": "!", "evidence": [%d]}]}` + "\n"
	var data strings.Builder
	// A conversation has two questions with one answer: ten of the first turn, two of the last.
	for i := range 12 {
		fmt.Fprintf(&data, answer, i/10, i/10)
	}
	data.WriteString(`{"id": "silent", "items": []}`)
	conversations, err := read(strings.NewReader(data.String()))
	require.NoError(t, err)
	first := eval.ByScore("first", func(*cupelrelevance.Index, string) (strategy.Scorer, error) {
		return strategy.ScorerFunc(func(item *cupel.ContextItem, _ []*cupel.ContextItem) float64 {
			if item.Content() == "abcd" {
				return 1
			}
			return 0
		}), nil
	})
	result, err := run(t.Context(), conversations, []eval.Policy{eval.Builtin()[0], first}, []int{5, 10}, eval.WithAgainst("recency"))
	require.NoError(t, err)
	turned, err := run(t.Context(), conversations, []eval.Policy{first, eval.Builtin()[0]}, []int{5, 10}, eval.WithAgainst("recency"))
	require.NoError(t, err)
	assert.Equal(t, []eval.PolicyResult{turned.Policies[1], turned.Policies[0]}, result.Policies, "policies may come in any order")
	recency, got := result.Policies[0].Points, result.Policies[1].Points
	if recency[0].Against != nil || recency[0].RecallInterval == nil {
		t.Errorf("the policy to compare with has %+v", recency[0])
	}
	// The interval is cut at 1. The standard deviation of a share of 10/12 in 12 conversations is 0.108. If
	// questions were drawn in place of conversations, it would be 0.076.
	if in := got[0].RecallInterval; math.Abs(got[0].Recall-10.0/12) > 1e-12 || in.High != 1 || math.Abs(in.Low-(10.0/12-2*0.108)) > 0.06 {
		t.Errorf("recall is %v in %+v", got[0].Recall, in)
	}
	// 2 or fewer of 12 signs of one kind: (1 + 12 + 66) of 4096, on either side.
	a := got[0].Against
	if math.Abs(a.Difference-8.0/12) > 1e-12 || math.Abs(a.P-2*79.0/4096) > 1e-12 || a.Interval.High != 1 || a.Interval.Low < 0.1 || a.Interval.Low > 0.4 {
		t.Errorf("got %+v in %+v, want a difference of 8/12 with p 158/4096", a, a.Interval)
	}
	if a := got[1].Against; *a.Interval != (eval.Interval{}) || a.Difference != 0 || a.P != 1 {
		t.Errorf("where all is selected, got %+v", a)
	}
	if text := result.Text(); !strings.Contains(text, "\nagainst recency              5             10\n          first  +0.667 ±0.414  +0.000 ±0.000\n              p          0.039          1.000\n") {
		t.Errorf("got\n%s", text)
	}
}

// TestDeterministic: any number of workers gives the same bits.
func TestDeterministic(t *testing.T) {
	var first string
	for workers := range 6 {
		result, err := run(t.Context(), small(t), eval.Builtin(), []int{150, 600}, eval.WithWorkers(workers), eval.WithAgainst("lexical"))
		require.NoError(t, err)
		data, err := json.Marshal(result)
		require.NoError(t, err)
		all := string(data) + result.Text()
		if first == "" {
			first = all
		} else if all != first {
			t.Fatalf("%d workers give another result", workers)
		}
	}
}

func TestRead(t *testing.T) {
	for _, c := range []struct {
		name, line string
		reason     string // part of the error; none when empty
		why        string
	}{
		{"least", `{"items": [{"content": "a"}]}`, "", "everything else is optional"},
		{"unknown", `{"items": [], "x": 1}`, "", "unknown fields are ignored"},
		{"empty content", `{"items": [{"content": ""}], "questions": [{"query": "", "evidence": [0]}]}`, "", "transcripts have empty turns, and positions must stay"},
		{"number of a session", `{"items": [{"content": "a", "session": 3}]}`, "", "numbers name sessions as well"},
		{"time as people say it", `{"items": [{"content": "a", "time": "1:56 pm on 8 May"}]}`, "", "not understood without a year, and no reason to give up"},
		{"no JSON", `{"items"`, "unexpected end", "the line is cut"},
		{"session of another type", `{"items": [{"content": "a", "session": []}]}`, "string or a number", "a list is no name"},
		{"time of another type", `{"items": [{"content": "a", "time": {}}]}`, "text or a number", "an object is no time"},
		{"time too far", `{"items": [{"content": "a", "time": 1e300}]}`, "not a time", "it would wrap"},
		{"no evidence", `{"items": [{"content": "a"}], "questions": [{"query": "q"}]}`, "questions[0].evidence is empty", "recall would be undefined"},
		{"evidence out of range", `{"items": [{"content": "a"}], "questions": [{"query": "q", "evidence": [1]}]}`, "not a position among 1 items", "positions begin at 0"},
		{"negative evidence", `{"items": [{"content": "a"}], "questions": [{"query": "q", "evidence": [-1]}]}`, "not a position", "positions begin at 0"},
		{"evidence twice", `{"items": [{"content": "a"}], "questions": [{"query": "q", "evidence": [0, 0]}]}`, "0 twice", "shares would be wrong"},
	} {
		_, err := read(strings.NewReader("\ufeff\r\n" + c.line))
		bad, ok := errors.AsType[*eval.ReadError](err)
		switch {
		case c.reason == "" && err != nil:
			t.Errorf("%s: %v, but %s", c.name, err, c.why)
		case c.reason != "" && (!ok || bad.Line != 2 || !strings.Contains(err.Error(), c.reason)):
			t.Errorf("%s: got %v, want an error of line 2 with %q: %s", c.name, err, c.reason, c.why)
		}
	}
	if _, err := read(io.MultiReader(strings.NewReader("{}\n"), broken{})); !errors.Is(err, errBroken) {
		t.Errorf("a reader's error came back as %v", err)
	}
}

var errBroken = errors.New("broken")

type broken struct{}

func (broken) Read([]byte) (int, error) { return 0, errBroken }

func TestContextItems(t *testing.T) {
	conversations, err := read(strings.NewReader(`{"items": [{"speaker": "Ada", "content": "Grüße", "session": 7, "time": "2025-01-02T03:04:05Z"}, {"content": "b", "time": 1.5}, {"content": "c"}]}
{"items": [{"content": "a"}, {"content": "b"}]}`))
	require.NoError(t, err)
	items, err := conversations[0].ContextItems()
	require.NoError(t, err)
	session, _ := items[0].MetadataValue("session")
	speaker, _ := items[0].MetadataValue("speaker")
	assert.Equal(t, "Ada", speaker)
	_, spoken := items[1].MetadataValue("speaker")
	assert.False(t, spoken)
	at, _ := items[0].Timestamp()
	if items[0].Content() != "Ada: Grüße" || items[0].Tokens() != 3+4 || session != "7" || !at.Equal(time.Date(2025, 1, 2, 3, 4, 5, 0, time.UTC)) {
		t.Errorf("the first item is %q, %d tokens, session %v, at %v", items[0].Content(), items[0].Tokens(), session, at)
	}
	if at, _ := items[1].Timestamp(); !at.Equal(time.Unix(1, 500_000_001)) {
		t.Errorf("the second item is at %v", at)
	}
	if _, ok := items[2].Timestamp(); ok {
		t.Error("the third item has a time that was not given")
	}
	if items, err = conversations[1].ContextItems(); err != nil {
		t.Fatal(err)
	}
	if at, ok := items[1].Timestamp(); !ok || !at.Equal(time.Unix(1, 0)) {
		t.Errorf("without any time the second item is at %v", at)
	}
}

// TestValues decodes texts and times by themselves.
func TestValues(t *testing.T) {
	for _, row := range []struct{ text, want, why string }{
		{`null`, "", "there is none"},
		{`"a"`, "a", "text"},
		{`1.50`, "1.50", "a number stays as it is written"},
		{`[1]`, "error", "a list is neither"},
		{`"`, "error", "no JSON"},
	} {
		got := eval.Text("before")
		if err := got.UnmarshalJSON([]byte(row.text)); err != nil {
			got = "error"
		}
		assert.Equal(t, row.want, string(got), "%s: %s", row.text, row.why)
	}
	for _, row := range []struct{ text, want, why string }{
		{`null`, "0001-01-01T00:00:00Z", "no time"},
		{`1e11`, "5138-11-16T09:46:40Z", "the latest one"},
		{`-0.5`, "1969-12-31T23:59:59.5Z", "before 1970"},
		{`1.1e11`, "error", "later than the latest one"},
		{`-1.1e11`, "error", "earlier than the earliest one"},
		{`1e999`, "error", "no number that there is"},
		{`[1]`, "error", "a list is no time"},
		{`"`, "error", "no JSON"},
	} {
		got := eval.Time{Unread: "before"}
		text := "error"
		if err := got.UnmarshalJSON([]byte(row.text)); err == nil {
			text = got.Format(time.RFC3339Nano)
			assert.Empty(t, got.Unread, row.text)
		}
		assert.Equal(t, row.want, text, "%s: %s", row.text, row.why)
	}
}

// TestScanStops reads as many lines as it is asked for, and those that are taken.
func TestScanStops(t *testing.T) {
	const lines = `{"id": "a"}` + "\n{\n\n" + `{"id": "b"}` + "\n"
	for range 2 {
		for c, err := range eval.Scan("", strings.NewReader(lines), nil) {
			require.NoError(t, err)
			assert.Equal(t, "a", c.ID)
			break
		}
	}
	var taken []string
	for c, err := range eval.Scan("f", strings.NewReader(lines), func(n, line int) bool { taken = append(taken, fmt.Sprint(n, line)); return n == 2 }) {
		require.NoError(t, err, "a line that is not taken is not decoded")
		assert.Equal(t, eval.Conversation{ID: "b", File: "f", Line: 4}, c)
	}
	assert.Equal(t, []string{"0 1", "1 2", "2 4"}, taken)
	for _, err := range eval.Scan("", strings.NewReader("{\n{\n"), nil) {
		require.Error(t, err)
		break
	}
}

func TestArguments(t *testing.T) {
	builtin, fine := eval.Builtin(), []int{1}
	for field, given := range map[string]struct {
		policies []eval.Policy
		budgets  []int
		opt      eval.Option
	}{
		"policies":    {budgets: fine},
		"policies[0]": {policies: []eval.Policy{{}}, budgets: fine},
		"policies[1]": {policies: []eval.Policy{builtin[0], builtin[0]}, budgets: fine},
		"budgets":     {policies: builtin},
		"budgets[0]":  {policies: builtin, budgets: []int{0}},
		"budgets[1]":  {policies: builtin, budgets: []int{2, 2}},
		"workers":     {policies: builtin, budgets: fine, opt: eval.WithWorkers(-1)},
		"against":     {policies: builtin, budgets: fine, opt: eval.WithAgainst("nothing")},
	} {
		_, err := run(t.Context(), nil, given.policies, given.budgets, given.opt)
		if bad, ok := errors.AsType[*cupel.InvalidConfigError](err); !ok || bad.Field != field {
			t.Errorf("got %v, want an error about %s", err, field)
		}
	}
	if result, err := run(t.Context(), nil, builtin, fine); err != nil || result.Questions != 0 || result.Policies[0].Points[0].Recall != 0 {
		t.Errorf("no conversation gives %+v, %v", result, err)
	}
}

func TestFailures(t *testing.T) {
	bad := errors.New("no such policy")
	policies := []eval.Policy{{Name: "bad", New: func(*cupelrelevance.Index, string) (*pipeline.Pipeline, error) { return nil, bad }}}
	_, err := run(t.Context(), small(t), policies, []int{100})
	if !errors.Is(err, bad) || !strings.Contains(err.Error(), `policy "bad" on conversation "meeting"`) {
		t.Errorf("got %v, want the first conversation's error", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := run(ctx, small(t), eval.Builtin(), []int{100}); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want the context's error", err)
	}
	m, err := eval.NewMeasure(eval.Builtin(), []int{100})
	require.NoError(t, err)
	s, err := m.Sample(ctx, &small(t)[0])
	require.ErrorIs(t, err, context.Canceled)
	assert.Equal(t, eval.Sample{}, s, "there is no half of a sample")
}

// TestCost: a window that begins as the one for the question before costs less.
func TestCost(t *testing.T) {
	conversations := small(t)
	result, err := run(t.Context(), conversations, eval.Builtin()[:1], []int{400})
	require.NoError(t, err)
	first := result.Policies[0].Points[0].Cost
	for i := range conversations {
		c := &conversations[i]
		c.Questions = append(c.Questions, c.Questions...)
	}
	result, err = run(t.Context(), conversations, eval.Builtin()[:1], []int{400})
	require.NoError(t, err)
	again := result.Policies[0].Points[0].Cost
	assert.Positive(t, again)
	assert.Less(t, again, first)
}
