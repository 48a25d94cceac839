package cupelchat

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A turn of the model in the middle of its tools, that began with thinking.
const turn = `[{"role":"user","content":"old"},{"role":"assistant","content":"oh"},{"role":"user","content":"q"},
	{"role":"assistant","content":[{"type":"thinking","thinking":"hm","signature":"s"},{"type":"tool_use","id":"a","name":"f","input":1}]},
	{"role":"user","content":[{"type":"tool_result","tool_use_id":"a","content":"A"}]},
	{"role":"assistant","content":[{"type":"tool_use","id":"b","name":"g","input":2}]},
	{"role":"user","content":[{"type":"tool_result","tool_use_id":"b","content":"B"}]},
	{"role":"assistant","content":[{"type":"tool_use","id":"c","name":"h","input":3}]},
	{"role":"user","content":[{"type":"tool_result","tool_use_id":"c","content":"C"}]}]`

// A user who says something with the result of a tool, and what he said before.
const separate = `[{"role":"user","content":"old"},{"role":"assistant","content":"oh"},{"role":"user","content":"q"},{"role":"assistant","content":"wait"},
	{"role":"assistant","content":[{"type":"tool_use","id":"a","name":"f","input":1}]},
	{"role":"user","content":[{"type":"tool_result","tool_use_id":"a","content":"A"},{"type":"text","text":"and now"}]}]`

// Two turns, and only the calls of the first one are signed; and a signed turn before.
const (
	signedExchange = `{"role":"model","parts":[{"functionCall":{"name":"f","args":{}},"thoughtSignature":"c2ln"}]},{"role":"user","parts":[{"functionResponse":{"name":"f","response":{"output":"A"}}}]}`
	signedTurns    = `[{"role":"user","parts":[{"text":"q"}]},` + signedExchange + `,{"role":"model","parts":[{"text":"a"}]},{"role":"user","parts":[{"text":"more"}]},{"role":"model","parts":[{"functionCall":{"name":"g","args":{}}}]},{"role":"user","parts":[{"functionResponse":{"name":"g","response":{"output":"B"}}}]}]`
	older          = `[{"role":"user","parts":[{"text":"o"}]},` + signedExchange + `,{"role":"model","parts":[{"text":"p"}]},`
)

func TestPins(t *testing.T) {
	tests := []struct {
		name, why string
		f         Format
		text      string
		want      []string // contents
	}{
		{"turn", "the API refuses to go on with a turn whose thinking is gone", Anthropic, turn, []string{"old", "q", "hm\nf(1)", "h(3)"}},
		{"turn with hidden thinking", "nor without that", Anthropic,
			strings.Replace(turn, `{"type":"thinking","thinking":"hm","signature":"s"}`, `{"type":"redacted_thinking","data":"x"}`, 1), []string{"old", "q", "[thinking ba2df4903a2c]\nf(1)", "h(3)"}},
		{"turn without thinking", "a turn that did not begin with thinking may lose what it did", Anthropic,
			strings.Replace(turn, `{"type":"thinking","thinking":"hm","signature":"s"},`, "", 1), []string{"old", "q", "h(3)"}},
		{"turn that is over", "thinking of a turn that is over is not asked for", Anthropic,
			turn[:len(turn)-1] + `,{"role":"assistant","content":"done"},{"role":"user","content":"thanks"}]`, []string{"old", "thanks"}},
		{"turn of OpenAI's", "the other API has no such rule", OpenAI,
			`[{"role":"user","content":"q"},{"role":"assistant","content":"x","tool_calls":[{"id":"a","function":{"name":"f"}}]},{"role":"tool","tool_call_id":"a","content":"A"},
			{"role":"assistant","tool_calls":[{"id":"b","function":{"name":"g"}}]},{"role":"tool","tool_call_id":"b","content":"B"}]`, []string{"q", "g()"}},
		{"words with a result", "what the user says with a result is an item of its own, and the exchange stays with it", Anthropic, separate,
			[]string{"old", "f(1)", "and now"}},
		{"the model first", "there may be nothing before it", Anthropic,
			`[{"role":"assistant","content":[{"type":"tool_use","id":"a","name":"f","input":1}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"a"}]}]`, []string{"f(1)"}},
		{"calls alone", "one of parallel calls may wait, and no message is before them", Responses,
			`[{"type":"function_call","call_id":"1","name":"f","arguments":"1"},{"type":"function_call","call_id":"2","name":"g","arguments":"2"},{"type":"function_call_output","call_id":"2","output":"G"}]`, []string{"f(1)", "g(2)"}},
		{"system prompts", "a system prompt among the messages is no one who speaks", Anthropic,
			`[{"role":"system","content":"s"},` + separate[1:], []string{"s", "old", "f(1)", "and now"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var got []string
			for _, item := range read(t, tt.f, []byte(tt.text)).Items() {
				if item.Pinned() {
					got = append(got, item.Content())
				}
			}
			assert.Equal(t, tt.want, got)
		})
	}
	for _, tt := range []struct {
		text  string
		named []int
		want  []string
		why   string
	}{
		{turn, []int{5}, []string{"q", "g(2)", "h(3)"}, "what the user said before stays with a message of the model"},
		{turn, []int{8}, []string{"q", "h(3)", "C"}, "so does a result at the end"},
		{`[{"role":"user","content":"q"}]`, nil, nil, "nothing is at the end of an exchange"},
		{separate, nil, []string{"q", "f(1)", "and now"}, "what the user says with a result belongs to the exchange at the end"},
	} {
		var got []string
		for _, item := range read(t, Anthropic, []byte(strings.Replace(tt.text, `"thinking","thinking":`, `"text","text":`, 1)), WithPins(false, false, tt.named...)).Items() {
			if item.Pinned() {
				got = append(got, item.Content())
			}
		}
		assert.Equal(t, tt.want, got, tt.why)
	}
}

func TestWrite(t *testing.T) {
	const chat = `{"a": 1, "messages": [ {"role":"user","content":"u1"}, {"role":"assistant","content":"a1"}, {"role":"user","content":"u2"} ], "b": {"c": 2.50}}`
	const claude = `{"system": "s", "messages": [{"role":"user","content":"u1"},{"role":"assistant","content":"a1"},{"role":"user","content":[{"type":"text","text":"u2","cache_control":{}}]},{"role":"assistant","content":"a2"},{"role":"user","content":"u3"}]}`
	const wantsUser = "because the API requires that the user speaks first"
	const gemini = `[{"role":"model","parts":[{"text":"hi"}]},{"role":"user","parts":[{"text":"u1"}]},{"role":"model","parts":[{"functionCall":{"name":"f","args":{}}}]},{"role":"user","parts":[{"functionResponse":{"name":"f","response":{"output":"r1"}}},{"text":"u2"}]}]`
	tests := []struct {
		name, why string
		f         Format
		text      string
		keep      []string
		room      int
		want      string
		notes     []string
	}{
		{"a request", "all but the messages is as it was", OpenAI, chat, []string{"u1", "u2"}, 0,
			`{"a": 1, "messages": [ {"role":"user","content":"u1"}, {"role":"user","content":"u2"} ], "b": {"c": 2.50}}`, nil},
		{"no message", "an empty request is refused", OpenAI, chat, nil, 0, "", nil},
		{"joined", "roles alternate, and blocks keep what else they have", Anthropic, claude, []string{"s", "u1", "u2", "a2", "u3"}, 0,
			`{"system": "s", "messages": [{"role":"user","content":[{"type": "text", "text": "u1"}, {"type":"text","text":"u2","cache_control":{}}]},{"role":"assistant","content":"a2"},{"role":"user","content":"u3"}]}`,
			[]string{"joined 1 message with the one before, because the messages between were dropped"}},
		{"three joined", "as many as come together", Anthropic, claude, []string{"s", "u1", "u2", "u3"}, 0,
			`{"system": "s", "messages": [{"role":"user","content":[{"type": "text", "text": "u1"}, {"type":"text","text":"u2","cache_control":{}}, {"type": "text", "text": "u3"}]}]}`,
			[]string{"joined 2 messages with the one before, because the messages between were dropped"}},
		{"nothing joined", "an empty text is no block", Anthropic,
			`[{"role":"user","content":"u1"},{"role":"assistant","content":"a1"},{"role":"user","content":""}]`, []string{"u1", "(empty)"}, 0,
			`[{"role":"user","content":[{"type": "text", "text": "u1"}]}]`,
			[]string{"joined 1 message with the one before, because the messages between were dropped"}},
		{"no thinking", "a turn without thinking stays", Anthropic, strings.Replace(turn, `{"type":"thinking","thinking":"hm","signature":"s"},`, "", 1), []string{"q", "h(3)", "C"}, 0,
			`[{"role":"user","content":"q"},
	{"role":"assistant","content":[{"type":"tool_use","id":"c","name":"h","input":3}]},
	{"role":"user","content":[{"type":"tool_result","tool_use_id":"c","content":"C"}]}]`, nil},
		{"no system", "a system prompt that is not selected is gone", Anthropic, claude, []string{"u1", "a1", "u2"}, 0,
			`{ "messages": [{"role":"user","content":"u1"},{"role":"assistant","content":"a1"},{"role":"user","content":[{"type":"text","text":"u2","cache_control":{}}]}]}`, nil},
		{"brought back", "the user's message before comes back if it fits", Anthropic, claude, []string{"a1", "u3"}, 6,
			`{ "messages": [{"role":"user","content":"u1"},{"role":"assistant","content":"a1"},{"role":"user","content":"u3"}]}`,
			[]string{"restored messages[0] (6 tokens), " + wantsUser}},
		{"left out", "and what cannot be first is left out if it does not", Anthropic, claude, []string{"a1", "a2", "u3"}, 5,
			`{ "messages": [{"role":"user","content":"u3"}]}`,
			[]string{"dropped 2 items from messages[1] on (12 tokens), " + wantsUser + ", and the user's message before does not fit"}},
		{"the model last", "the API would go on with the model's words, or refuse to: the user's come back if they fit", Anthropic, claude, []string{"s", "u1", "a1"}, 6,
			`{"system": "s", "messages": [{"role":"user","content":"u1"},{"role":"assistant","content":"a1"},{"role":"user","content":"u3"}]}`,
			[]string{"restored messages[4] (6 tokens), because the API requires that the user speaks last"}},
		{"the model last without room", "and otherwise the model's go: what came back first has taken the room", Anthropic, claude, []string{"a1"}, 11,
			`{ "messages": [{"role":"user","content":"u1"}]}`,
			[]string{"restored messages[0] (6 tokens), " + wantsUser, "dropped 1 item from messages[1] on (6 tokens), because the API requires that the user speaks last, and the user's last message does not fit"}},
		{"the model first", "its calls follow the user's message, which comes back if it fits", Gemini, gemini, []string{"hi", "f({})", "r1", "u2"}, 6, gemini,
			[]string{"restored contents[1] (6 tokens), " + wantsUser}},
		{"the model first without room", "or go, and what it said before stays", Gemini, gemini, []string{"hi", "f({})", "r1", "u2"}, 5,
			`[{"role":"model","parts":[{"text":"hi"}]},{"role":"user","parts":[{"text":"u2"}]}]`,
			[]string{"dropped 2 items from contents[2] on (21 tokens), " + wantsUser + ", and the user's message before does not fit"}},
		{"fields joined", "the first message has its other fields, and two values of one cannot be kept", Anthropic,
			`[{"role":"user","content":"<u1>","id":1},{"role":"assistant","content":"a1"},{"role":"user","content":"u2","id":2,"x":[]}]`, []string{"<u1>", "u2"}, 0,
			`[{"role":"user","content":[{"type": "text", "text": "<u1>"}, {"type": "text", "text": "u2"}],"id":1}]`,
			[]string{"joined 1 message with the one before, because the messages between were dropped"}},
		{"thinking", "a turn at the end begins with thinking, or is not there", Anthropic, turn, []string{"old", "g(2)", "B", "q"}, 0,
			`[{"role":"user","content":[{"type": "text", "text": "old"}, {"type": "text", "text": "q"}]}]`,
			[]string{"dropped 2 items up to messages[6] (19 tokens), because the API requires that a turn at the end begins with thinking", "joined 1 message with the one before, because the messages between were dropped"}},
		{"signatures of a question", "a question after results begins no turn", Gemini, signedTurns[:len(signedTurns)-1] + `,{"role":"model","parts":[{"text":"b"}]},{"role":"user","parts":[{"text":"now"}]}]`, []string{"q", "f({})", "A", "g({})", "B", "now"}, 0,
			`[{"role":"user","parts":[{"text":"q"}]},{"role":"model","parts":[{"functionCall":{"name":"g","args":{}}}]},{"role":"user","parts":[{"functionResponse":{"name":"g","response":{"output":"B"}}}, {"text":"now"}]}]`,
			[]string{"dropped 2 items up to contents[2] (20 tokens), because the API requires that all calls of a turn are signed, or none", "joined 1 message with the one before, because the messages between were dropped"}},
		{"signatures", "calls that are not signed were of another turn", Gemini, older + signedTurns[1:], []string{"o", "p", "q", "f({})", "A", "g({})", "B"}, 0,
			older + `{"role":"user","parts":[{"text":"q"}]},{"role":"model","parts":[{"functionCall":{"name":"g","args":{}}}]},{"role":"user","parts":[{"functionResponse":{"name":"g","response":{"output":"B"}}}]}]`,
			[]string{"dropped 2 items up to contents[6] (20 tokens), because the API requires that all calls of a turn are signed, or none"}},
		{"signatures of a model that needs none", "they may come and go", Gemini, `{"model":"gemini-2.5-pro","contents":` + signedTurns + `}`, []string{"q", "f({})", "A", "g({})", "B"}, 0,
			`{"model":"gemini-2.5-pro","contents":[{"role":"user","parts":[{"text":"q"}]},` + signedExchange + `,{"role":"model","parts":[{"functionCall":{"name":"g","args":{}}}]},{"role":"user","parts":[{"functionResponse":{"name":"g","response":{"output":"B"}}}]}]}`, nil},
		{"neighbours", "users that spoke one after the other in the conversation still do", Anthropic,
			`[{"role":"user","content":"u1"},{"role":"user","content":"u2"},{"role":"assistant","content":"a1"}]`, []string{"u1", "u2"}, 0,
			`[{"role":"user","content":"u1"},{"role":"user","content":"u2"}]`, nil},
		{"lines", "lines stay lines", OpenAI, "{\"role\":\"user\",\"content\":\"u1\"}\n\n {\"role\":\"user\",\"content\":\"u2\"}\n{\"role\":\"user\",\"content\":\"u3\"}", []string{"u2", "u3"}, 0,
			" {\"role\":\"user\",\"content\":\"u2\"}\n{\"role\":\"user\",\"content\":\"u3\"}", nil},
		{"input text gone", "an input without its text has no message", Responses, `{"input": "hello", "instructions": "i"}`, []string{"i"}, 0,
			"", nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c := read(t, tt.f, []byte(tt.text), WithoutPins())
			got, notes := written(t, c, tt.room, tt.keep...)
			assert.Equal(t, tt.want, got)
			assert.Equal(t, tt.notes, notes)
		})
	}
}

// written writes a conversation with the items of some contents, as if the window
// had room for more tokens.
func written(t *testing.T, c *Conversation, room int, keep ...string) (string, []string) {
	t.Helper()
	states := make([]state, len(c.entries))
	for i, item := range c.items {
		states[i].in = slices.Contains(keep, item.Content())
	}
	n := &notesOf{}
	text, err := (&writer{Conversation: c, notesOf: n, states: states, room: room}).finish()
	if len(text) == 0 {
		require.ErrorIs(t, err, errEmpty)
		return "", nil
	}
	require.NoError(t, err)
	return string(text), n.notes()
}

func TestTitles(t *testing.T) {
	long := strings.Repeat("word ", 20)
	for _, test := range []struct{ text, want, why string }{
		{"words", "words", "a short text names itself"},
		{"two\nlines", "two: 9 B", "the first line, and the size of all"},
		{long, long[:71] + "…: 100 B", "the beginning"},
		{strings.Repeat("é", 72), strings.Repeat("é", 72), "72 characters are short"},
		{"a\rb\r\nc", `a\nb: 6 B`, "a line has one line"},
	} {
		e := entry{role: "user", parts: []part{{kind: words, text: test.text}}}
		assert.Equal(t, test.want, e.headline(), test.why)
	}
	called := entry{role: "assistant", names: []string{"search"}}
	assert.Equal(t, "search", called.headline(), "a tool that the API ran")
	for arguments, want := range map[string]string{
		`{}`: "", `{"a":1,"path":"x.go"}`: "x.go", `{"b":"","a":"x\ny"}`: `x\ny`, `{"n":7,"a":"x"}`: "n=7", `{"list":[1]}`: `{"list":[1]}`, "no\nJSON": `no\nJSON`, "{\n}": "",
	} {
		assert.Equal(t, want, subject(arguments), arguments)
	}
}
