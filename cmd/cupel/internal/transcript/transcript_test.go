package transcript

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/internal/rawjson"
)

func TestEverythingKeptIsTheSameText(t *testing.T) {
	for name, api := range fixtures {
		t.Run(name, func(t *testing.T) {
			data := fixture(t, name)
			transcript := read(t, api, data, Options{})
			// The order of the window does not matter: a placer may have moved things.
			window := slices.Clone(transcript.Items)
			slices.Reverse(window)
			got, notes := write(t, transcript, window, 0)
			if want := strings.ReplaceAll(string(data), "\n\n", "\n"); got != want {
				t.Errorf("got\n%s\nwant\n%s", got, want)
			}
			if len(notes) > 0 {
				t.Errorf("notes %q, want none", notes)
			}
		})
	}
}

// TestEverySubsetIsTakenBack writes subsets of the items of every fixture, and
// asks the rules of the APIs.
func TestEverySubsetIsTakenBack(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for name, api := range fixtures {
		data := fixture(t, name)
		transcript := read(t, api, data, Options{})
		forgiven := refused(api, messagesOf(t, api, string(data)))
		for range 400 {
			var window []*cupel.ContextItem
			share := rng.Float64()
			for _, item := range transcript.Items {
				if rng.Float64() < share {
					window = append(window, item)
				}
			}
			text, notes := write(t, transcript, window, rng.IntN(200))
			messages := messagesOf(t, api, text)
			for _, reason := range refused(api, messages) {
				// What the user himself wrote stays as it is.
				if len(forgiven) == 0 || !strings.Contains(reason, "has no call") {
					t.Fatalf("%s: %s\nnotes %q\n%s", name, reason, notes, text)
				}
			}
			if len(messages) == 0 && !slices.Contains(notes, "no message is left; the API refuses a request without one") {
				t.Fatalf("%s: an empty transcript without a note", name)
			}
			if _, err := Read(source(t, api, []byte(text)), Options{Counter: bytesCounter{}}); err != nil {
				t.Fatalf("%s: cannot be read again: %v\n%s", name, err, text)
			}
		}
	}
}

// row is what a test expects of an item.
type row struct {
	kind    cupel.ContextKind
	tokens  int
	pinned  bool
	content string
	more    string // metadata: role, index, messages, tool, tool_call_id
}

func rowOf(item *cupel.ContextItem) row {
	var more []string
	for _, key := range []string{"role", "index", "messages", "tool", "tool_call_id"} {
		if v, ok := item.MetadataValue(key); ok {
			more = append(more, fmt.Sprint(v))
		}
	}
	return row{item.Kind(), item.Tokens(), item.Pinned(), item.Content(), strings.Join(more, " ")}
}

func TestItems(t *testing.T) {
	message, tool, system := cupel.KindMessage, cupel.KindToolOutput, cupel.KindSystemPrompt
	tests := []struct {
		name, why string
		api       API
		text      string
		want      []row
	}{
		{"chat", "a system prompt and the last message of the user are pinned", Chat,
			`[{"role":"system","content":"Sys"},{"role":"user","content":"one"},{"role":"assistant","content":"two"},{"role":"user","content":"three","name":"Al"}]`,
			[]row{
				{system, 4 + 3, true, "Sys", "system 0"}, {message, 4 + 3, false, "one", "user 1"},
				{message, 4 + 3, false, "two", "assistant 2"}, {message, 4 + 5 + 1 + 2, true, "three", "user 3"},
			}},
		{"exchange", "calls and results are one item; it is pinned at the end, because the model answers to it", Chat,
			`[{"role":"user","content":"go"},
			{"role":"assistant","content":"ok","tool_calls":[{"id":"a","function":{"name":"f","arguments":"{}"}},{"id":"b","function":{"name":"gg","arguments":"[]"}}]},
			{"role":"tool","tool_call_id":"b","content":"B"},{"role":"tool","tool_call_id":"a","content":"AA"}]`,
			[]row{
				{message, 4 + 2, true, "go", "user 0"},
				{tool, 4 + 2 + (4 + 1 + 2) + (4 + 2 + 2) + (4 + 4 + 1) + (4 + 4 + 2), true, "ok\nf({})\ngg([])\nB\nAA", "assistant 1 3 f, gg a, b"},
			}},
		{"ids that return", "a server may give the same id in every message: the latest call counts", Chat,
			`[{"role":"assistant","tool_calls":[{"id":"0","function":{"name":"f","arguments":"1"}}]},{"role":"tool","tool_call_id":"0","content":"one"},
			{"role":"assistant","tool_calls":[{"id":"0","function":{"name":"f","arguments":"2"}}]},{"role":"tool","tool_call_id":"0","content":"two"},
			{"role":"user","content":"x"}]`,
			[]row{
				{tool, 4 + 4 + 2 + 8 + 3, false, "f(1)\none", "assistant 0 2 f 0"}, {tool, 4 + 4 + 2 + 8 + 3, false, "f(2)\ntwo", "assistant 2 2 f 0"},
				{message, 5, true, "x", "user 4"},
			}},
		{"no ids", "a server may give no ids, and objects for arguments", Chat,
			`[{"role":"assistant","tool_calls":[{"function":{"name":"f","arguments":{"a": 1}}},{"function":{"name":"g"}}]},{"role":"tool","content":"one"},{"role":"tool","content":"two"},{"role":"user","content":"x"}]`,
			[]row{
				{tool, 4 + (4 + 1 + 7) + (4 + 1) + (8 + 3) + (8 + 3), false, "f({\"a\":1})\ng()\none\ntwo", "assistant 0 3 f, g"},
				{message, 5, true, "x", "user 3"},
			}},
		{"refusal and nothing", "a refusal is text; a message without any is kept all the same", Chat,
			`[{"role":"assistant","content":null,"refusal":"No."},{"role":"user","content":""},{"role":"assistant"}]`,
			[]row{{message, 4 + 3, false, "No.", "assistant 0"}, {message, 4, true, "(empty)", "user 1"}, {message, 4, false, "(empty)", "assistant 2"}}},
		{"chat media", "images are estimated by their detail, sounds and files by what they are", Chat,
			`[{"role":"user","content":[{"type":"image_url","image_url":{"url":"https://e.org/a"}},{"type":"image_url","image_url":{"url":"https://e.org/b","detail":"low"}},
			{"type":"input_audio","input_audio":{"data":"AA"}},{"type":"file","file":{"file_id":"f"}}]}]`,
			[]row{{message, 4 + 765 + 85 + 600 + 3000, true, "[image https://e.org/a]\n[image https://e.org/b]\n[audio 2fe2a3965b33]\n[file 9d03db32055b]", "user 0"}}},
		{"request", "definitions of tools are sent in any case: they are counted, and always pinned", Chat,
			`{"model":"m","tools":[ {"a": 1} ],"messages":[{"role":"user","content":"x"}]}`,
			[]row{{KindTools, 9, true, `[{"a":1}]`, "tools"}, {message, 5, true, "x", "user 0"}}},
		{"anthropic", "the system prompt is apart; blocks of text are one content", Messages,
			`{"system":[{"type":"text","text":"A"},{"type":"text","text":"BB"}],"tools":[],"messages":[{"role":"user","content":[{"type":"text","text":"x"}]}]}`,
			[]row{{system, 4 + 3, true, "A\nBB", "system"}, {message, 4 + 1, true, "x", "user 0"}}},
		{"anthropic tools", "tools bring a system prompt of their own", Messages,
			`{"tools":[{}],"messages":[{"role":"user","content":"x"}]}`,
			[]row{{KindTools, 346 + 4, true, "[{}]", "tools"}, {message, 5, true, "x", "user 0"}}},
		{"anthropic exchange", "a message that only returns results is not the user's last word", Messages,
			`[{"role":"user","content":"q"},{"role":"assistant","content":[{"type":"thinking","thinking":"hm","signature":"s"},{"type":"tool_use","id":"i","name":"f","input":{"a": 1}}]},
			{"role":"user","content":[{"type":"tool_result","tool_use_id":"i","content":[{"type":"text","text":"r"},{"type":"image","source":{"type":"url","url":"https://e.org/i"}}]}]},
			{"role":"assistant","content":"done"}]`,
			[]row{
				{message, 5, true, "q", "user 0"},
				{tool, (4 + 2) + (4 + 1 + 7) + (4 + 4 + 1 + 1600), false, "hm\nf({\"a\":1})\nr\n[image https://e.org/i]", "assistant 1 2 f i"},
				{message, 8, false, "done", "assistant 3"},
			}},
		{"anthropic document", "a document of text is text, and one that is a file is estimated", Messages,
			`[{"role":"user","content":[{"type":"document","title":"T","source":{"type":"text","data":"text"}},{"type":"document","source":{"type":"url","url":"http://e.org/p"}},
			{"type":"document","source":{"type":"content","content":[{"type":"text","text":"c"}]}}]}]`,
			[]row{{message, 4 + 1 + 4 + 3000 + 1, true, "T\ntext\n[document http://e.org/p]\nc", "user 0"}}},
		{"hidden thinking", "what only the API can read is counted by its size", Messages,
			`[{"role":"user","content":"q"},{"role":"assistant","content":[{"type":"redacted_thinking","data":"0123456789"}]}]`,
			[]row{{message, 5, true, "q", "user 0"}, {message, 4 + 2, false, "[thinking a2f4d3a5921c]", "assistant 1"}}},
		{"responses", "reasoning stays with what follows from it; parallel calls at the end are all pinned", Responses,
			`{"instructions":"I","input":[{"role":"user","content":"q"},{"type":"reasoning","summary":[{"type":"summary_text","text":"s"}]},{"type":"message","role":"assistant","content":[{"type":"output_text","text":"m"}]},
			{"type":"function_call","call_id":"1","name":"f","arguments":"a"},{"role":"user","content":"w"},
			{"type":"function_call","call_id":"2","name":"g","arguments":"b"},{"type":"function_call","call_id":"3","name":"h","arguments":"c"},
			{"type":"function_call_output","call_id":"2","output":"G"},{"type":"function_call_output","call_id":"3","output":"H"}]}`,
			[]row{
				{system, 5, true, "I", "system"}, {message, 5, false, "q", "user 0"},
				{tool, 5 + 5 + 10, false, "s\nm\nf(a)", "reasoning 1 3 f 1"},
				{message, 5, true, "w", "user 4"},
				{tool, 10 + 9, true, "g(b)\nG", "assistant 5 2 g 2"}, {tool, 10 + 9, true, "h(c)\nH", "assistant 6 2 h 3"},
			}},
		{"empty name", "a member whose name is empty is no system prompt", Chat,
			`{"":"s","messages":[{"role":"user","content":"x"}]}`, []row{{message, 5, true, "x", "user 0"}}},
		{"input text", "an input may be the text of a user", Responses,
			`{"input":"hello"}`, []row{{message, 4 + 5, true, "hello", "user"}}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var got []row
			for _, item := range read(t, tt.api, []byte(tt.text), Options{}).Items {
				got = append(got, rowOf(item))
			}
			if !reflect.DeepEqual(got, tt.want) {
				t.Errorf("%s:\ngot  %+v\nwant %+v", tt.why, got, tt.want)
			}
		})
	}
}

func TestSourcesAndOrigins(t *testing.T) {
	transcript := read(t, Chat, []byte(`{"tools":[{}],"messages":[{"role":"developer","content":"d"},{"role":"user","content":"u"},
		{"role":"assistant","content":"a"},{"role":"assistant","tool_calls":[{"id":"1","function":{"name":"f"}}]}]}`), Options{})
	var got []string
	for _, item := range transcript.Items {
		origin, _ := item.MetadataValue(cupel.MetadataSourceType)
		got = append(got, fmt.Sprint(item.Source(), " ", origin))
	}
	want := []string{"Tool tool", "Chat system", "Chat user", "Chat assistant", "Tool tool"}
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestNoPin(t *testing.T) {
	for name, api := range fixtures {
		for _, item := range read(t, api, fixture(t, name), Options{NoPin: true}).Items {
			if item.Pinned() != (item.Kind() == KindTools) {
				t.Errorf("%s: pinned is %t of %s %q", name, item.Pinned(), item.Kind(), item.Content())
			}
		}
	}
}

func TestMediaTokens(t *testing.T) {
	text := `[{"role":"user","content":[{"type":"image_url","image_url":{"url":"u"}},{"type":"file"},{"type":"image_url","image_url":{"url":"v"}}]}]`
	transcript := read(t, Chat, []byte(text), Options{MediaTokens: new(7)})
	if got := transcript.Items[0].Tokens(); got != 4+3*7 {
		t.Errorf("got %d tokens, want 25", got)
	}
	want := []string{
		"estimated the tokens of media: 1 file of 7 tokens (--media-tokens changes that)",
		"estimated the tokens of media: 2 images of 7 tokens (--media-tokens changes that)",
	}
	if !slices.Equal(transcript.Notes, want) {
		t.Errorf("got %q, want %q", transcript.Notes, want)
	}
	huge := read(t, Chat, []byte(text), Options{MediaTokens: new(int(^uint(0) >> 1))})
	if got := huge.Items[0].Tokens(); got != int(^uint(0)>>1) {
		t.Errorf("tokens wrapped to %d", got)
	}
}

func TestTimes(t *testing.T) {
	at := func(s string) time.Time {
		parsed, err := time.Parse(time.RFC3339Nano, s)
		if err != nil {
			t.Fatal(err)
		}
		return parsed
	}
	tests := []struct {
		name, why, text string
		want            []time.Time
	}{
		{"none", "times that are made up are seconds since 1970, in the order of the messages",
			`[{"role":"user"},{"role":"user"},{"role":"user"}]`, []time.Time{time.Unix(0, 0), time.Unix(1, 0), time.Unix(2, 0)}},
		{"some", "a message without a time comes right behind the one before it, or right before the first that has one",
			`[{"role":"user"},{"role":"user","timestamp":"2026-01-02T03:04:05+01:00"},{"role":"user"},{"role":"user","created_at":1767323046}]`,
			[]time.Time{at("2026-01-02T02:04:04.999999999Z"), at("2026-01-02T02:04:05Z"), at("2026-01-02T02:04:05.000000001Z"), at("2026-01-02T03:04:06Z")}},
		{"numbers", "seconds may have fractions, and large numbers are milliseconds",
			`[{"role":"user","created":1.5},{"role":"user","timestamp":1767323046123}]`, []time.Time{time.Unix(1, 5e8), at("2026-01-02T03:04:06.123Z")}},
		{"not a time", "what is no time is not used",
			`[{"role":"user","timestamp":"yesterday"},{"role":"user","timestamp":1e300},{"role":"user","timestamp":{}},{"role":"user","timestamp":-99999999999}]`,
			[]time.Time{time.Unix(0, 0), time.Unix(1, 0), time.Unix(2, 0), time.Unix(3, 0)}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			transcript := read(t, Chat, []byte(tt.text), Options{})
			for i, item := range transcript.Items {
				if got, ok := item.Timestamp(); !ok || !got.Equal(tt.want[i]) {
					t.Errorf("%s: message %d is of %v, want %v", tt.why, i, got, tt.want[i])
				}
			}
			if tt.name == "not a time" && !slices.Equal(transcript.Notes, []string{"messages[0].timestamp (and 3 more) is ignored: it is not a time in RFC 3339 or in seconds since 1970"}) {
				t.Errorf("notes %q", transcript.Notes)
			}
		})
	}
}

func TestNotes(t *testing.T) {
	tests := []struct {
		name, why string
		api       API
		text      string
		want      []string
	}{
		{"orphan", "a result without a call would be refused", Chat, `[{"role":"user","content":"x"},{"role":"tool","tool_call_id":"a","content":"y"},{"role":"tool","tool_call_id":"b","content":"z"}]`,
			[]string{"messages[1] (and 1 more) has a result without a call before it; the API refuses such a transcript"}},
		{"unanswered", "so would a call without a result", Chat, `[{"role":"assistant","tool_calls":[{"id":"a","function":{"name":"f"}}]},{"role":"user","content":"x"}]`,
			[]string{"messages[0] has a call without a result; the API refuses such a transcript"}},
		{"waiting", "but for one at the end, which still waits", Chat, `[{"role":"user","content":"x"},{"role":"assistant","tool_calls":[{"id":"a","function":{"name":"f"}},{"id":"b","function":{"name":"f"}}]},{"role":"tool","tool_call_id":"b"}]`, nil},
		{"elsewhere", "text on the server is not counted", Responses, `{"previous_response_id":"r","input":[{"type":"item_reference","id":"i"},{"id":"j"}]}`,
			[]string{"previous_response_id (and 2 more) refers to text that is not in the file and is not counted"}},
		{"unknown part", "a part of a later version of the API is kept", Messages, `[{"role":"user","content":[{"type":"hologram"},{"type":"hologram"}]}]`,
			[]string{`2 parts of the unknown type "hologram": kept and counted as JSON`}},
		{"unknown item", "and so is an item", Responses, `[{"type":"dream"}]`, []string{`1 part of the unknown type "dream": kept and counted as JSON`}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := read(t, tt.api, []byte(tt.text), Options{}).Notes; !slices.Equal(got, tt.want) {
				t.Errorf("%s:\ngot  %q\nwant %q", tt.why, got, tt.want)
			}
		})
	}
}

func TestMistakes(t *testing.T) {
	tests := []struct {
		name, why string
		api       API
		text      string
		want      string
	}{
		{"no object", "a message is an object", Chat, "[\n3]", "line 2: messages[0] must be an object, got a number"},
		{"no role", "a message says who speaks", Chat, `[{"content":"x"}]`, "line 1: messages[0].role is required"},
		{"other role", "known roles are listed", Chat, `[{"role":"bot"}]`, `line 1: messages[0].role must be one of system, developer, user, assistant, tool, function, got "bot"`},
		{"anthropic role", "the roles of the other API are not taken", Messages, `[{"role":"tool"}]`, `line 1: messages[0].role must be one of system, user, assistant, got "tool"`},
		{"number for a role", "a role is a string", Chat, `[{"role":1}]`, "line 1: messages[0].role must be a string, got a number"},
		{"twice", "a repeated role is ambiguous", Chat, `[{"role":"user","role":"user"}]`, "line 1: messages[0].role is given twice"},
		{"content", "content is text or parts", Chat, `[{"role":"user","content":{}}]`, "line 1: messages[0].content must be a string or an array of parts, got an object"},
		{"part", "a part says what it is", Chat, `[{"role":"user","content":[{"text":"x"}]}]`, "line 1: messages[0].content[0].type is required"},
		{"part text", "a part of text has text", Chat, `[{"role":"user","content":[{"type":"text"}]}]`, "line 1: messages[0].content[0].text is required"},
		{"calls", "calls are a list", Chat, `[{"role":"assistant","tool_calls":{}}]`, "line 1: messages[0].tool_calls must be an array, got an object"},
		{"call", "a call has a function", Chat, "[{\"role\":\"assistant\",\"tool_calls\":[\n{\"id\":\"x\"}]}]", "line 2: messages[0].tool_calls[0].function must be an object, got null"},
		{"call name", "a function has a name", Chat, `[{"role":"assistant","tool_calls":[{"id":"x","function":{}}]}]`, "line 1: messages[0].tool_calls[0].function.name is required"},
		{"legacy call", "the old form as well", Chat, `[{"role":"assistant","function_call":{}}]`, "line 1: messages[0].function_call.name is required"},
		{"result", "a result names its call", Messages, `[{"role":"user","content":[{"type":"tool_result"}]}]`, "line 1: messages[0].content[0].tool_use_id is required"},
		{"responses call", "a call has an id", Responses, `{"input":[{"type":"function_call","name":"f"}]}`, "line 1: input[0].call_id is required"},
		{"request", "a request has messages", Messages, `{"system":"x"}`, "line 1: messages is required: it holds the messages"},
		{"messages", "messages are a list", Messages, `{"messages":{}}`, "line 1: messages must be an array of messages, got an object"},
		{"nothing", "a transcript is a list or a request", Chat, `3`, "line 1: a transcript must be an array or an object, got a number"},
		{"document", "a document has a source", Messages, `[{"role":"user","content":[{"type":"document"}]}]`, "line 1: messages[0].content[0].source must be an object, got null"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := Read(source(t, tt.api, []byte(tt.text)), Options{Counter: bytesCounter{}})
			if _, ok := errors.AsType[*rawjson.Error](err); !ok || err.Error() != tt.want {
				t.Errorf("%s:\ngot  %v\nwant %s", tt.why, err, tt.want)
			}
		})
	}
}

type failingCounter struct{}

var errCounter = errors.New("no counter today")

func (failingCounter) CountTokens(string) (int, error) { return 0, errCounter }

func TestCounterFails(t *testing.T) {
	for name, api := range fixtures {
		if _, err := Read(source(t, api, fixture(t, name)), Options{Counter: failingCounter{}}); !errors.Is(err, errCounter) {
			t.Errorf("%s: got %v, want the counter's error", name, err)
		}
	}
}

// pick returns the items whose contents are in list.
func pick(transcript *Transcript, list ...string) []*cupel.ContextItem {
	var window []*cupel.ContextItem
	for _, item := range transcript.Items {
		if slices.Contains(list, item.Content()) {
			window = append(window, item)
		}
	}
	return window
}

func TestWrite(t *testing.T) {
	const chat = `{"a": 1, "messages": [ {"role":"user","content":"u1"}, {"role":"assistant","content":"a1"}, {"role":"user","content":"u2"} ], "b": {"c": 2.50}}`
	const claude = `{"system": "s", "messages": [{"role":"user","content":"u1"},{"role":"assistant","content":"a1"},{"role":"user","content":[{"type":"text","text":"u2","cache_control":{}}]},{"role":"assistant","content":"a2"},{"role":"user","content":"u3"}]}`
	const wantsUser = "because the API requires that the user speaks first"
	tests := []struct {
		name, why string
		api       API
		text      string
		keep      []string
		room      int
		want      string
		notes     []string
	}{
		{"a request", "all but the messages is as it was", Chat, chat, []string{"u1", "u2"}, 0,
			`{"a": 1, "messages": [ {"role":"user","content":"u1"}, {"role":"user","content":"u2"} ], "b": {"c": 2.50}}`, nil},
		{"no message", "an empty request is refused", Chat, chat, nil, 0,
			`{"a": 1, "messages": [], "b": {"c": 2.50}}`, []string{"no message is left; the API refuses a request without one"}},
		{"joined", "roles alternate, and blocks keep what else they have", Messages, claude, []string{"s", "u1", "u2", "a2", "u3"}, 0,
			`{"system": "s", "messages": [{"role":"user","content":[{"type": "text", "text": "u1"}, {"type":"text","text":"u2","cache_control":{}}]},{"role":"assistant","content":"a2"},{"role":"user","content":"u3"}]}`,
			[]string{"joined 1 message with the one before, because the messages between were dropped"}},
		{"three joined", "as many as come together", Messages, claude, []string{"s", "u1", "u2", "u3"}, 0,
			`{"system": "s", "messages": [{"role":"user","content":[{"type": "text", "text": "u1"}, {"type":"text","text":"u2","cache_control":{}}, {"type": "text", "text": "u3"}]}]}`,
			[]string{"joined 2 messages with the one before, because the messages between were dropped"}},
		{"no system", "a system prompt that is not selected is gone", Messages, claude, []string{"u1", "a1", "u2"}, 0,
			`{ "messages": [{"role":"user","content":"u1"},{"role":"assistant","content":"a1"},{"role":"user","content":[{"type":"text","text":"u2","cache_control":{}}]}]}`, nil},
		{"brought back", "the user's message before comes back if it fits", Messages, claude, []string{"a1", "u3"}, 6,
			`{ "messages": [{"role":"user","content":"u1"},{"role":"assistant","content":"a1"},{"role":"user","content":"u3"}]}`,
			[]string{"restored messages[0] (6 tokens), " + wantsUser}},
		{"left out", "and what cannot be first is left out if it does not", Messages, claude, []string{"a1", "a2", "u3"}, 5,
			`{ "messages": [{"role":"user","content":"u3"}]}`,
			[]string{"dropped 2 items from messages[1] on (12 tokens), " + wantsUser + ", and the user's message before does not fit"}},
		{"the model last", "some models refuse to go on with their own words", Messages, claude, []string{"s", "u1", "a1"}, 0,
			`{"system": "s", "messages": [{"role":"user","content":"u1"},{"role":"assistant","content":"a1"}]}`,
			[]string{"the last message is now the model's: the API continues it or refuses it"}},
		{"no joining", "two values of one field cannot both be kept in one message", Messages,
			`[{"role":"user","content":"u1","id":1},{"role":"assistant","content":"a1"},{"role":"user","content":"u2","id":2}]`, []string{"u1", "u2"}, 0,
			`[{"role":"user","content":"u1","id":1},{"role":"user","content":"u2","id":2}]`, nil},
		{"fields joined", "fields that do not contradict each other are all kept", Messages,
			`[{"role":"user","content":"u1","id":1},{"role":"assistant","content":"a1"},{"role":"user","content":"u2","id":1,"x":[]}]`, []string{"u1", "u2"}, 0,
			`[{"role":"user","content":[{"type": "text", "text": "u1"}, {"type": "text", "text": "u2"}],"id":1,"x":[]}]`,
			[]string{"joined 1 message with the one before, because the messages between were dropped"}},
		{"neighbours", "users that spoke one after the other in the conversation still do", Messages,
			`[{"role":"user","content":"u1"},{"role":"user","content":"u2"},{"role":"assistant","content":"a1"}]`, []string{"u1", "u2"}, 0,
			`[{"role":"user","content":"u1"},{"role":"user","content":"u2"}]`, nil},
		{"lines", "lines stay lines", Chat, "{\"role\":\"user\",\"content\":\"u1\"}\n\n {\"role\":\"user\",\"content\":\"u2\"}\n{\"role\":\"user\",\"content\":\"u3\"}", []string{"u2", "u3"}, 0,
			" {\"role\":\"user\",\"content\":\"u2\"}\n{\"role\":\"user\",\"content\":\"u3\"}", nil},
		{"repetition", "the policy may leave out what is said twice, and a note says so", Chat,
			`[{"role":"user","content":"again"},{"role":"assistant","content":"x"},{"role":"user","content":"again"}]`, []string{"x"}, 0,
			`[{"role":"assistant","content":"x"}]`, nil},
		{"input text gone", "an input without its text is an empty list", Responses, `{"input": "hello", "instructions": "i"}`, []string{"i"}, 0,
			`{"input": [], "instructions": "i"}`, []string{"no message is left; the API refuses a request without one"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			transcript := read(t, tt.api, []byte(tt.text), Options{NoPin: true})
			got, notes := write(t, transcript, pick(transcript, tt.keep...), tt.room)
			if got != tt.want+"\n" {
				t.Errorf("%s:\ngot  %s\nwant %s", tt.why, got, tt.want)
			}
			if !slices.Equal(notes, tt.notes) {
				t.Errorf("%s:\ngot  %q\nwant %q", tt.why, notes, tt.notes)
			}
		})
	}
}

func TestRepetitionsAreTold(t *testing.T) {
	transcript := read(t, Chat, []byte(`[{"role":"user","content":"again"},{"role":"assistant","content":"x"},{"role":"user","content":"again"}]`), Options{NoPin: true})
	_, notes := write(t, transcript, transcript.Items[1:], 0)
	want := []string{`dropped as duplicates: 1 item, 9 tokens; a policy with "deduplicate": false keeps them`}
	if !slices.Equal(notes, want) {
		t.Errorf("got %q, want %q", notes, want)
	}
}

func TestToolsAreNeverDropped(t *testing.T) {
	const text = `{"tools":[{}],"messages":[{"role":"user","content":"x"}]}`
	transcript := read(t, Chat, []byte(text), Options{})
	got, _ := write(t, transcript, pick(transcript, "x"), 0)
	if got != text+"\n" {
		t.Errorf("got %s", got)
	}
}

func TestForeignItem(t *testing.T) {
	transcript := read(t, Chat, []byte(`[]`), Options{})
	other := read(t, Chat, []byte(`[{"role":"user","content":"x"}]`), Options{})
	if _, err := transcript.Write(io.Discard, Selection{Window: other.Items}); err == nil {
		t.Error("an item of another transcript was taken")
	}
}

func TestLongTranscripts(t *testing.T) {
	const n = 20_000
	texts := map[string]string{
		"messages": "[" + strings.Repeat(`{"role":"user","content":"x"},{"role":"assistant","content":"y"},`, n) + `{"role":"user","content":"z"}]`,
		"parts":    `[{"role":"user","content":[` + strings.Repeat(`{"type":"text","text":"x"},`, n) + `{"type":"text","text":"z"}]}]`,
		"members": `[{"role":"user"` + func() string {
			var b bytes.Buffer
			for i := range n {
				fmt.Fprintf(&b, `,"m%d":1`, i)
			}
			return b.String()
		}() + `}]`,
	}
	for _, name := range slices.Sorted(maps.Keys(texts)) {
		t.Run(name, func(t *testing.T) {
			transcript := read(t, Messages, []byte(texts[name]), Options{NoPin: true})
			var window []*cupel.ContextItem
			for i, item := range transcript.Items {
				if i%2 == 0 {
					window = append(window, item)
				}
			}
			write(t, transcript, window, 0)
		})
	}
}
