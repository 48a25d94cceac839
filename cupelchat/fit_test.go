package cupelchat

import (
	"context"
	"encoding/json"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupel/pipeline"
	"github.com/wollax/cupel-go/cupelchat/agent"
)

// talk is a list of messages whose second does not fit.
func talk[M any](message func(role, content string) M) []M {
	return []M{message("user", "task"), message("assistant", "answer"), message("user", "last")}
}

// kept is a message with what JSON does not hold, or not as it is.
type kept struct {
	Role    string         `json:"role"`
	Content string         `json:"content"`
	Extra   map[string]any `json:"extra,omitempty"`
	Local   string         `json:"-"`
}

// textual marshals to the text that it was made from, as types of SDKs can.
type textual struct {
	Messages []kept `json:"messages"`
	text     json.RawMessage
}

func (w textual) MarshalJSON() ([]byte, error) {
	type plain textual
	if w.text != nil {
		return w.text, nil
	}
	return json.Marshal(plain(w))
}

// What does not change comes back as it was given, with what JSON does not say.
func TestFitKeepsValues(t *testing.T) {
	const large = 9007199254740993 // no float64
	messages := talk(func(role, content string) *kept {
		return &kept{Role: role, Content: content, Extra: map[string]any{"bytes": []byte("x"), "id": uint64(large)}, Local: "here"}
	})
	type Params struct {
		Messages []*kept        `json:"messages"`
		Betas    []string       `json:"-"`
		Metadata map[string]any `json:"metadata"`
		private  int
	}
	fit := func(t *testing.T, in any, opts ...Option) any {
		t.Helper()
		before, err := json.Marshal(in)
		require.NoError(t, err)
		out, err := Fit(t.Context(), in, OpenAI, newest(t), budget(t, 20), bytesCounter{}, opts...)
		require.NoError(t, err)
		after, err := json.Marshal(in)
		require.NoError(t, err)
		require.Equal(t, string(before), string(after))
		return out.Params
	}
	type Absent struct{ A string }
	type Present struct{ P string }
	type wrapped struct {
		*Params
		*Absent
		Present
		Local string `json:"-"`
	}
	rest := []*kept{messages[0], messages[2]}
	stray := &kept{Role: "tool", Content: "found"}
	begun, err := json.Marshal(messages[:2])
	require.NoError(t, err)
	metadata := map[string]any{"id": uint64(large)}
	textual := textual{text: json.RawMessage(`{"messages":[{"role":"user","content":"task"},{"role":"assistant","content":"answer"},{"role":"user","content":"last"}]}`)}
	fitted := textual
	fitted.Messages, fitted.text = []kept{{Role: "user", Content: "task"}, {Role: "user", Content: "last"}}, nil
	tests := []struct {
		why      string
		in, want any
	}{
		{"a list", messages, rest},
		{"fields outside of JSON", Params{messages, []string{"b"}, metadata, 7}, Params{rest, []string{"b"}, metadata, 7}},
		{"a pointer", &Params{messages, []string{"b"}, metadata, 7}, &Params{rest, []string{"b"}, metadata, 7}},
		{"an embedded struct", wrapped{&Params{messages, []string{"b"}, metadata, 7}, nil, Present{"p"}, "here"}, wrapped{&Params{rest, []string{"b"}, metadata, 7}, nil, Present{"p"}, "here"}},
		{"a map", map[string]any{"messages": messages, "metadata": metadata}, map[string]any{"messages": rest, "metadata": metadata}},
		{"a map of lists", map[string][]*kept{"messages": messages}, map[string][]*kept{"messages": rest}},
		{"a type that marshals a text", textual, fitted},
	}
	for _, tt := range tests {
		t.Run(tt.why, func(t *testing.T) {
			require.Equal(t, tt.want, fit(t, tt.in))
		})
	}
	require.Equal(t, rest, fit(t, []*kept{messages[0], stray, messages[1], messages[2]}, WithRepair()), "a list that was repaired")
	require.Equal(t, rest, fit(t, messages, WithEarlier(read(t, OpenAI, begun))), "a list whose beginning was read before")
}

// countedMessage counts how often each message is encoded and decoded, by the first
// word of what it says.
type countedMessage struct{ kept }

var encoded, decoded map[string]int

func (m countedMessage) MarshalJSON() ([]byte, error) {
	encoded[strings.Fields(m.Content)[0]]++
	return json.Marshal(m.kept)
}

func (m *countedMessage) UnmarshalJSON(text []byte) error {
	err := json.Unmarshal(text, &m.kept)
	decoded[strings.Fields(m.Content)[0]]++
	return err
}

// A message that changes is made from JSON and encoded once again, and no other message.
func TestFitDecodesOnce(t *testing.T) {
	encoded, decoded = map[string]int{}, map[string]int{}
	messages := talk(func(role, content string) *countedMessage { return &countedMessage{kept{Role: role, Content: content}} })
	messages[0].Content = strings.Repeat("task to do. ", 40)
	got, err := Fit(t.Context(), map[string]any{"messages": messages}, OpenAI, newest(t), budget(t, 200), bytesCounter{})
	require.NoError(t, err)
	require.Len(t, got.Params["messages"], 3)
	require.Equal(t, map[string]int{"task": 2, "answer": 1, "last": 1}, encoded)
	require.Equal(t, map[string]int{"task": 1}, decoded)
}

// forgetful marshals what it does not read.
type forgetful struct{ role, content string }

func (f forgetful) MarshalJSON() ([]byte, error) {
	return json.Marshal(map[string]string{"role": f.role, "content": f.content})
}

func (f *forgetful) UnmarshalJSON([]byte) error { return nil }

// A message that cannot be made from JSON is an error, never one that says less.
func TestFitRefusesLosses(t *testing.T) {
	type params struct {
		Messages []forgetful `json:"messages"`
	}
	long := params{talk(func(role, content string) forgetful { return forgetful{role, content} })}
	got, err := Fit(t.Context(), long, OpenAI, newest(t), budget(t, 20), bytesCounter{})
	require.NoError(t, err)
	require.Len(t, got.Params.Messages, 2)
	require.Equal(t, "last", got.Params.Messages[1].content)

	long.Messages[0].content = strings.Repeat("a long task ", 40)
	_, err = Fit(t.Context(), long, OpenAI, newest(t), budget(t, 200), bytesCounter{})
	var lost *Error
	require.ErrorAs(t, err, &lost, "a task that is reduced")
	require.Regexp(t, `^messages\[0\]`, lost.Path)
	require.Contains(t, lost.Reason, "cupelchat.params")
}

func TestDifference(t *testing.T) {
	tests := []struct{ got, want, path, why string }{
		{`{"a":[1,{"b":"x"}]}`, `{"a":[1,{"b":"x"}]}`, "", "the same"},
		{`{"a":[1,{"b":"y"}]}`, `{"a":[1,{"b":"x"}]}`, "a[1].b", "another text"},
		{`{}`, `{"a":"","b":null,"c":[],"d":{},"e":false,"f":0}`, "", "what is empty may be missing"},
		{`{}`, `{"a":1}`, "a", "a number is missing"},
		{`{}`, `{"h":1,"d":1,"c":1,"g":1,"f":1,"b":1,"e":1}`, "h", "of several the first"},
		{`{"a":1,"b":[1,2]}`, `{"a":1,"b":[1,3]}`, "b[1]", "what comes before is the same"},
		{`{"b":0}`, `{}`, "", "more than is wanted"},
		{`[1]`, `[1,2]`, "body", "an element is missing"},
		{`1.0`, `1`, "", "another spelling"},
		{`9007199254740992`, `9007199254740993`, "body", "as float64 they are equal"},
		{`1e999`, `1e999`, "", "no float64, spelled in the same way"},
		{`"1"`, `1`, "body", "a text is no number"},
		{`{`, `0`, "body", "no JSON"},
	}
	for _, tt := range tests {
		assert.Equal(t, tt.path, difference([]byte(tt.got), []byte(tt.want)), tt.why)
	}
}

// With types that hold any JSON, Fit says what Body says, for every format.
func TestFitIsBody(t *testing.T) {
	rng := rand.New(rand.NewPCG(14, 0))
	smaller := 0
	for i := range 120 {
		f := writable[i%len(writable)]
		data := randomBody(rng, f, rng.IntN(3))
		c, err := Read(data, f, bytesCounter{})
		if err != nil {
			continue
		}
		limit := budget(t, 100+rng.IntN(800))
		w, err := c.Select(t.Context(), newest(t), limit)
		if err != nil {
			continue
		}
		want, err := w.Body()
		require.NoError(t, err)
		var params map[string]any
		require.NoError(t, json.Unmarshal(data, &params))
		got, err := Fit(t.Context(), params, f, newest(t), limit, bytesCounter{})
		require.NoError(t, err)
		text, err := json.Marshal(got.Params)
		require.NoError(t, err)
		require.Empty(t, difference(text, want), "%s, conversation %d: got\n%s\nwant\n%s", f, i, text, want)
		if len(want) < len(data) {
			smaller++
		}
	}
	require.GreaterOrEqual(t, smaller, 20)
}

// reporting is a chooser with a report of its own.
type reporting struct {
	Chooser
	change func(*cupel.SelectionReport) *cupel.SelectionReport
}

func (r reporting) RunReport(ctx context.Context, items []*cupel.ContextItem, budget cupel.ContextBudget, opts ...pipeline.RunOption) ([]*cupel.ContextItem, *cupel.SelectionReport, error) {
	window, report, err := r.Chooser.RunReport(ctx, items, budget, opts...)
	return window, r.change(report), err
}

// A request that cannot be made is an error, and no request.
func TestFitFails(t *testing.T) {
	at := func(position int) Chooser {
		return reporting{newest(t), func(report *cupel.SelectionReport) *cupel.SelectionReport {
			report.Included[0].Candidate = position
			return report
		}}
	}
	messages := []any{kept{Role: "user", Content: "task"}, kept{Role: "user", Content: "last"}}
	for _, tt := range []struct {
		params  any
		f       Format
		chooser Chooser
		want    string
		why     string
	}{
		{[]any{func() {}}, OpenAI, newest(t), "json: unsupported type: func()", "it is no JSON"},
		{[]any{1}, OpenAI, newest(t), "must be an object", "it is no message"},
		{messages, OpenAI, nil, "a chooser is required", "nothing chooses"},
		{messages, OpenAI, (*pipeline.Pipeline)(nil), "a chooser is required", "nor does this"},
		{messages, OpenAI, (*agent.Preset)(nil), "make the preset with agent.New", "nor this"},
		{messages, OpenAI, reporting{newest(t), func(*cupel.SelectionReport) *cupel.SelectionReport { return nil }}, errNoPositions.Error(), "nothing says what is in"},
		{messages, OpenAI, at(-1), errNoPositions.Error(), "there is no such candidate"},
		{messages, OpenAI, at(2), errNoPositions.Error(), "nor this"},
		{map[string]any{"messages": []any{map[string]any{"type": "user", "sessionId": "s", "message": messages[0]}}}, ClaudeCode, newest(t), "is only read", "a record is not sent"},
	} {
		got, err := Fit(t.Context(), tt.params, tt.f, tt.chooser, budget(t, 1000), bytesCounter{})
		require.ErrorContains(t, err, tt.want, tt.why)
		require.Equal(t, Request[any]{}, got, tt.why)
	}
	type optional struct {
		B     string `json:",omitempty"`
		local int
	}
	for _, tt := range []struct {
		before any
		after  string
		want   any
		why    string
	}{
		{nil, `"x"`, "x", "nothing has no type"},
		{7, `"x"`, "x", "a number cannot be a text, but what holds it can"},
		{map[int]string{1: "y"}, `{"1":"x"}`, map[int]string{1: "x"}, "names may be numbers"},
		{optional{local: 7}, `{"B":"x"}`, optional{"x", 7}, "a field may have been missing"},
		{[]kept{{Local: "a"}, {Local: "b"}, {Role: "c"}}, `[{"role":"","content":""},{"role":"","content":""}]`, []kept{{Local: "a"}, {Local: "b"}}, "equal messages are two"},
	} {
		params := map[string]any{"messages": []any{}, "a": tt.before}
		data, err := json.Marshal(params)
		require.NoError(t, err)
		got, err := Refit(read(t, OpenAI, data), params, []byte(`{"messages":[],"a":`+tt.after+`}`))
		require.NoError(t, err, tt.why)
		require.Equal(t, tt.want, got["a"], tt.why)
	}
	_, err := Refit(read(t, OpenAI, []byte(`{"messages":[],"A":{"b":[]}}`)), struct{ A map[string][]int }{map[string][]int{"b": {}}}, []byte(`{"A":{"b":["x"]}}`))
	require.ErrorContains(t, err, "the type int cannot hold the messages that fit")
	_, err = Refit(read(t, OpenAI, []byte(`[]`)), map[string]int{}, []byte(`{`))
	require.ErrorContains(t, err, "unexpected end")
	_, err = Refit(read(t, OpenAI, []byte(`{"messages":[]}`)), struct{ F func() }{}, []byte(`{}`))
	require.ErrorContains(t, err, "unsupported type")
}

// A chooser may count in another way: its report keeps its items.
func TestItemsOfTheChooser(t *testing.T) {
	var own *cupel.ContextItem
	c := read(t, OpenAI, []byte(`[{"role":"user","content":"task"},{"role":"assistant","content":"answer"},{"role":"user","content":"last"}]`))
	w, err := c.Select(t.Context(), reporting{newest(t), func(report *cupel.SelectionReport) *cupel.SelectionReport {
		item := &report.Included[0].Item
		own, _ = (*item).With(cupel.WithContent((*item).Content(), 1))
		*item = own
		return report
	}}, budget(t, 20))
	require.NoError(t, err)
	require.Same(t, own, w.Items[0])
	// Positions of what is out may be of no candidates.
	for _, n := range []int{-1, 3} {
		w, err = c.Select(t.Context(), reporting{newest(t), func(report *cupel.SelectionReport) *cupel.SelectionReport {
			report.Excluded[0].Candidate = n
			return report
		}}, budget(t, 20))
		require.NoError(t, err)
		require.Equal(t, n, w.Report.Excluded[0].Candidate)
	}
	// A window without a report does not take the place of one that lost an answer.
	c = read(t, Anthropic, []byte(`[{"role":"user","content":"an old question"},{"role":"user","content":"`+strings.Repeat("long ", 9)+`"},{"role":"assistant","content":"a"},{"role":"user","content":"b"}]`), WithoutPins())
	w, err = c.Select(t.Context(), reporting{newest(t), func(report *cupel.SelectionReport) *cupel.SelectionReport {
		if report.Included[0].Candidate == 0 {
			return nil
		}
		return report
	}}, budget(t, 25))
	require.NoError(t, err)
	require.Len(t, w.Items, 1)
	// But one in which something else takes the room of the answer does.
	w, err = c.Select(t.Context(), newest(t), budget(t, 25))
	require.NoError(t, err)
	require.Len(t, w.Items, 2)
	for _, e := range w.Report.Excluded {
		require.Equal(t, e.Reason.Code == Refused, e.Candidate == 2)
	}
}
