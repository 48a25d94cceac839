package transcript

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/wollax/cupel-go/cupel"
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

func TestPins(t *testing.T) {
	tests := []struct {
		name, why string
		api       API
		text      string
		want      []string // contents
	}{
		{"turn", "the API refuses to go on with a turn whose thinking is gone", Messages, turn, []string{"q", "hm\nf(1)\nA", "h(3)\nC"}},
		{"turn without thinking", "a turn that did not begin with thinking may lose what it did", Messages,
			strings.Replace(turn, `{"type":"thinking","thinking":"hm","signature":"s"},`, "", 1), []string{"q", "h(3)\nC"}},
		{"turn that is over", "thinking of a turn that is over is not asked for", Messages,
			turn[:len(turn)-1] + `,{"role":"assistant","content":"done"},{"role":"user","content":"thanks"}]`, []string{"thanks"}},
		{"turn of OpenAI's", "the other API has no such rule", Chat,
			`[{"role":"user","content":"q"},{"role":"assistant","content":"x","tool_calls":[{"id":"a","function":{"name":"f"}}]},{"role":"tool","tool_call_id":"a","content":"A"},
			{"role":"assistant","tool_calls":[{"id":"b","function":{"name":"g"}}]},{"role":"tool","tool_call_id":"b","content":"B"}]`, []string{"q", "g()\nB"}},
		{"words with a result", "an exchange cannot be first: what the user said before it has to stay, or nothing could be sent", Messages, separate,
			[]string{"q", "f(1)\nA\nand now"}},
		{"the model first", "there may be nothing before it", Messages,
			`[{"role":"assistant","content":[{"type":"tool_use","id":"a","name":"f","input":1}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"a"}]}]`, []string{"f(1)"}},
		{"system prompts", "a system prompt among the messages is no one who speaks", Messages,
			`[{"role":"system","content":"s"},` + separate[1:], []string{"s", "q", "f(1)\nA\nand now"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var got []string
			for _, item := range read(t, tt.api, []byte(tt.text), Options{}).Items {
				if item.Pinned() {
					got = append(got, item.Content())
				}
			}
			if !slices.Equal(got, tt.want) {
				t.Errorf("%s:\ngot  %q\nwant %q", tt.why, got, tt.want)
			}
		})
	}
}

// TestPinnedAlone writes transcripts with only the pinned items left, with
// no room for anything more.
func TestPinnedAlone(t *testing.T) {
	for name, text := range map[string]string{"turn": turn, "separate": separate} {
		transcript := read(t, Messages, []byte(text), Options{})
		got, notes := write(t, transcript, slices.DeleteFunc(slices.Clone(transcript.Items), func(i *cupel.ContextItem) bool { return !i.Pinned() }), 0)
		if len(notes) > 0 {
			t.Errorf("%s: notes %q, want none", name, notes)
		}
		if reasons := refused(Messages, messagesOf(t, Messages, got)); len(reasons) > 0 {
			t.Errorf("%s: %q\n%s", name, reasons, got)
		}
	}
}

// TestServerTools has a call of a tool that the API runs in one message and its
// result in another: so it is when a turn pauses, and when a program that the API
// runs calls a tool of the client's.
func TestServerTools(t *testing.T) {
	const text = `[{"role":"user","content":"q"},
		{"role":"assistant","content":[{"type":"text","text":"let me see"},{"type":"server_tool_use","id":"s","name":"web_search","input":{}}]},
		{"role":"assistant","content":[{"type":"web_search_tool_result","tool_use_id":"s","content":[]},{"type":"text","text":"so"}]},
		{"role":"user","content":"r"},
		{"role":"assistant","content":[{"type":"server_tool_use","id":"c","name":"code_execution","input":{}},{"type":"tool_use","id":"t","name":"f","input":1}]},
		{"role":"user","content":[{"type":"tool_result","tool_use_id":"t","content":"T"}]},
		{"role":"assistant","content":[{"type":"code_execution_tool_result","tool_use_id":"c","content":{}},{"type":"text","text":"end"}]},
		{"role":"user","content":"thanks"}]`
	var got []string
	for _, item := range read(t, Messages, []byte(text), Options{}).Items {
		index, _ := item.MetadataValue("index")
		messages, _ := item.MetadataValue("messages")
		got = append(got, fmt.Sprint(item.Kind(), " ", index, " ", messages))
	}
	want := []string{"Message 0 <nil>", "Message 1 2", "Message 3 <nil>", "ToolOutput 4 3", "Message 7 <nil>"}
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

// TestNoUserBefore has a conversation that begins with the model: nothing that is
// left out would make it begin with a user.
func TestNoUserBefore(t *testing.T) {
	const exchange = `{"role":"assistant","content":[{"type":"tool_use","id":"a","name":"f","input":1}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"a"}]}]`
	transcript := read(t, Messages, []byte(`[{"role":"assistant","content":"hello"},`+exchange), Options{})
	got, notes := write(t, transcript, pick(transcript, "f(1)"), 0)
	if got != "["+exchange+"\n" || len(notes) > 0 {
		t.Errorf("what is pinned is lost: got %s, notes %q", got, notes)
	}
}

func TestNotesOfCalls(t *testing.T) {
	const call = `{"role":"user","content":"q"},{"role":"assistant","tool_calls":[{"id":"a","function":{"name":"f"}}]}`
	kinds := make([]string, 6)
	for i := range kinds {
		kinds[i] = fmt.Sprintf(`{"type":"%d%s"}`, i, strings.Repeat("x", 100*i))
	}
	tests := []struct {
		name, why string
		api       API
		text      string
		want      []string
	}{
		{"twice", "one call has one result", Chat, "[" + call + `,{"role":"tool","tool_call_id":"a","content":"1"},{"role":"tool","tool_call_id":"a","content":"2"}]`,
			[]string{"messages[3] has a second result of the same call; the API refuses such a transcript"}},
		{"twice of Anthropic", "in the other API too", Messages,
			`[{"role":"user","content":"q"},{"role":"assistant","content":[{"type":"tool_use","id":"a","name":"f"}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"a"},{"type":"tool_result","tool_use_id":"a"}]}]`,
			[]string{"messages[2] has a second result of the same call; the API refuses such a transcript"}},
		{"apart", "results come next", Chat, "[" + call + `,{"role":"user","content":"hurry"},{"role":"tool","tool_call_id":"a","content":"1"}]`,
			[]string{"messages[3] has a result that is not next to its call; the API refuses such a transcript"}},
		{"apart of Anthropic", "what a user says comes behind the results", Messages,
			`[{"role":"user","content":"q"},{"role":"assistant","content":[{"type":"tool_use","id":"a","name":"f"}]},{"role":"user","content":"hurry"},{"role":"user","content":[{"type":"tool_result","tool_use_id":"a"}]}]`,
			[]string{"messages[3] has a result that is not next to its call; the API refuses such a transcript"}},
		{"messages of the model", "messages of the model that follow each other are one to Anthropic's API, and so are results", Messages,
			`[{"role":"user","content":"q"},{"role":"assistant","content":[{"type":"tool_use","id":"a","name":"f"},{"type":"tool_use","id":"b","name":"f"}]},{"role":"assistant","content":"so"},
			{"role":"user","content":[{"type":"tool_result","tool_use_id":"a"}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"b"}]}]`, nil},
		{"apart of Responses", "but for the Responses API, which has them anywhere", Responses,
			`[{"type":"function_call","call_id":"a","name":"f"},{"role":"user","content":"hurry"},{"type":"function_call_output","call_id":"a","output":"1"}]`, nil},
		{"parallel", "the result of another call is no one between", Chat,
			`[{"role":"assistant","tool_calls":[{"id":"a","function":{"name":"f"}},{"id":"b","function":{"name":"f"}}]},{"role":"tool","tool_call_id":"b","content":"1"},{"role":"tool","tool_call_id":"a","content":"2"}]`, nil},
		{"before", "a result before its call is not its result", Chat, `[{"role":"tool","tool_call_id":"a","content":"1"},` + call + `,{"role":"user","content":"x"}]`,
			[]string{"messages[0] has a result without a call before it; the API refuses such a transcript", "messages[2] has a call without a result; the API refuses such a transcript"}},
		{"many unknown types", "a hostile text does not fill the screen", Messages, `[{"role":"user","content":[` + strings.Join(kinds, ",") + `]}]`,
			[]string{`1 part of the unknown type "0": kept and counted as JSON`, `1 part of the unknown type "1` + strings.Repeat("x", 39) + `": kept and counted as JSON`,
				`1 part of the unknown type "2` + strings.Repeat("x", 39) + `": kept and counted as JSON`, "3 more parts of 3 other unknown types: kept and counted as JSON"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := read(t, tt.api, []byte(tt.text), Options{}).Notes; !slices.Equal(got, tt.want) {
				t.Errorf("%s:\ngot  %q\nwant %q", tt.why, got, tt.want)
			}
		})
	}
}

// TestTwiceGivenNames looks where names are only read to tell media apart.
func TestTwiceGivenNames(t *testing.T) {
	tests := []struct {
		name, path string
		api        API
		text       string
	}{
		{"image", "messages[0].content[0].image_url.url", Chat, `[{"role":"user","content":[{"type":"image_url","image_url":{"url":"a","url":"b"}}]}]`},
		{"source", "messages[0].content[0].source.type", Messages, `[{"role":"user","content":[{"type":"image","source":{"type":"url","type":"file"}}]}]`},
		{"screenshot", "input[0].output.type", Responses, `[{"type":"computer_call_output","call_id":"c","output":{"type":"x","type":"y"}}]`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := Read(source(t, tt.api, []byte(tt.text)), Options{Counter: bytesCounter{}})
			if want := "line 1: " + tt.path + " is given twice"; err == nil || err.Error() != want {
				t.Errorf("got %v, want %s", err, want)
			}
		})
	}
}

func TestRepetitionsOfPinnedItems(t *testing.T) {
	// An item that is pinned takes no part in deduplication: what equals it is out
	// for another reason, which the note got wrong.
	transcript := read(t, Chat, []byte(`[{"role":"user","content":"again"},{"role":"assistant","content":"x"},{"role":"user","content":"again"}]`), Options{})
	if _, notes := write(t, transcript, transcript.Items[1:], 0); len(notes) > 0 {
		t.Errorf("notes %q, want none", notes)
	}
	transcript = read(t, Chat, []byte(`[{"role":"user","content":"again"},{"role":"user","content":"again"}]`), Options{NoPin: true})
	var out strings.Builder
	if notes, err := transcript.Write(&out, Selection{Window: transcript.Items[1:]}); err != nil || len(notes) > 0 {
		t.Errorf("nothing is deduplicated: notes %q, %v", notes, err)
	}
}

func TestLostThinking(t *testing.T) {
	const want = "the model's turn at the end no longer begins with its thinking: the API refuses that if thinking is enabled"
	tests := []struct {
		name, why, text string
		keep            []string
		note            bool
	}{
		{"lost", "without pins the thinking may go", turn, []string{"q", "h(3)\nC"}, true},
		{"kept", "what comes after it may go", turn, []string{"q", "hm\nf(1)\nA", "h(3)\nC"}, false},
		{"asked before", "nor may the turn become one with an answer before it", turn, []string{"old", "oh", "hm\nf(1)\nA", "h(3)\nC"}, true},
		{"over", "a turn that is over needs none", turn[:len(turn)-1] + `,{"role":"user","content":"thanks"}]`, []string{"q", "h(3)\nC", "thanks"}, false},
		{"never", "who never thinks has it not enabled", strings.Replace(turn, `{"type":"thinking","thinking":"hm","signature":"s"},`, "", 1), []string{"q", "h(3)\nC"}, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			transcript := read(t, Messages, []byte(tt.text), Options{NoPin: true})
			window := pick(transcript, tt.keep...)
			if len(window) != len(tt.keep) {
				t.Fatalf("%d items of %q", len(window), tt.keep)
			}
			if _, notes := write(t, transcript, window, 0); slices.Contains(notes, want) != tt.note {
				t.Errorf("%s: notes %q", tt.why, notes)
			}
		})
	}
}

// TestSystemPromptFirst has a system prompt among the messages: the first one
// who speaks is still the user.
func TestSystemPromptFirst(t *testing.T) {
	transcript := read(t, Messages, []byte(`[{"role":"system","content":"s"},{"role":"user","content":"u1"},{"role":"assistant","content":"a1"},{"role":"user","content":"u2"}]`), Options{NoPin: true})
	got, notes := write(t, transcript, pick(transcript, "s", "a1", "u2"), 100)
	want := `[{"role":"system","content":"s"},{"role":"user","content":"u1"},{"role":"assistant","content":"a1"},{"role":"user","content":"u2"}]` + "\n"
	if got != want || len(notes) != 1 {
		t.Errorf("got %s, notes %q", got, notes)
	}
	got, _ = write(t, transcript, pick(transcript, "s", "a1", "u2"), 0)
	if want := `[{"role":"system","content":"s"},{"role":"user","content":"u2"}]` + "\n"; got != want {
		t.Errorf("without room: got %s, want %s", got, want)
	}
}

// TestHostileTranscripts reads what once took time that grows with the square of
// its size, or worse: with these sizes, minutes.
func TestHostileTranscripts(t *testing.T) {
	n := 30_000
	if testing.Short() {
		n = 3_000
	}
	list := func(format string) string {
		var b strings.Builder
		for i := range n {
			if i > 0 {
				b.WriteByte(',')
			}
			fmt.Fprintf(&b, format, i)
		}
		return b.String()
	}
	pad := strings.Repeat(" ", 1000)
	tests := []struct {
		name, why string
		api       API
		text      string
	}{
		{"calls", "each call without a result looked at all that follows", Responses, `[` + list(`{"type":"function_call","call_id":"%d","name":"f"}`) + `]`},
		{"exchange", "and so it was with the results of one message", Chat,
			`[{"role":"assistant","tool_calls":[` + list(`{"id":"x%d","function":{"name":"f"}}`) + `,{"id":"x","function":{"name":"f"}}]},` + list(`{"role":"tool","tool_call_id":"x","x":%d}`) + `]`},
		{"images", "an error that was discarded counted the lines before each image", Responses, `[{"role":"user","content":[` + list(pad+`{"type":"input_image","image_url":"%d"}`) + `]}]`},
		{"outputs", "and before each output", Responses, `[` + list(pad+`{"type":"shell_call_output","call_id":"%d","output":"x"}`) + `]`},
		{"nested", "each part was looked at once for every part that it is in", Messages,
			`[{"role":"user","content":` + strings.Repeat(`[{"type":"tool_result","tool_use_id":"x","content":`, 4900) + `"` + strings.Repeat("x", 1<<20) + `"` + strings.Repeat("}]", 4900) + `}]`},
		{"joined", "a field was stripped of its white space for each message that has it", Messages,
			`[{"role":"user","content":"x","n":[` + strings.Repeat(" ", 1<<20) + `]},` + list(`{"role":"assistant","content":"a%d"},{"role":"user","content":"u","n":[]}`) + `]`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			transcript := read(t, tt.api, []byte(tt.text), Options{NoPin: true})
			write(t, transcript, slices.DeleteFunc(slices.Clone(transcript.Items), func(i *cupel.ContextItem) bool {
				return strings.HasPrefix(i.Content(), "a")
			}), 0)
		})
	}
}

// TestRandomAgents makes conversations with tools, and keeps what is
// pinned and some of the rest, and asks the rules of Anthropic's API.
func TestRandomAgents(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	for range 300 {
		text := randomAgent(rng)
		transcript := read(t, Messages, []byte(text), Options{})
		if got, _ := write(t, transcript, transcript.Items, 0); got != text+"\n" {
			t.Fatalf("got\n%s\nwant\n%s", got, text)
		}
		var window []*cupel.ContextItem
		share := rng.Float64()
		for _, item := range transcript.Items {
			if item.Pinned() || rng.Float64() < share {
				window = append(window, item)
			}
		}
		got, notes := write(t, transcript, window, rng.IntN(40))
		if reasons := refused(Messages, messagesOf(t, Messages, got)); len(reasons) > 0 {
			t.Fatalf("%q, notes %q\n%s\nof\n%s", reasons, notes, got, text)
		}
		for _, item := range window {
			if index, _ := item.MetadataValue("index"); item.Pinned() && !strings.Contains(got, fmt.Sprintf("of %v.", index)) {
				t.Fatalf("%q is pinned and lost, notes %q\n%s", item.Content(), notes, got)
			}
		}
	}
}

// randomAgent is a conversation of a user and a model with tools, which ends with
// the user. Each message says which it is.
func randomAgent(rng *rand.Rand) string {
	var messages []string
	id := 0
	say := func(role, content string) {
		messages = append(messages, fmt.Sprintf(`{"role":%q,"content":[%s]}`, role, content))
	}
	words := func() string { return fmt.Sprintf(`{"type":"text","text":"of %d."}`, len(messages)) }
	for range 1 + rng.IntN(4) {
		say("user", words())
		exchanges := rng.IntN(4)
		for i := range exchanges {
			var calls, results []string
			for range 1 + rng.IntN(3) {
				id++
				calls = append(calls, fmt.Sprintf(`{"type":"tool_use","id":"t%d","name":"f","input":{}}`, id))
				results = append(results, fmt.Sprintf(`{"type":"tool_result","tool_use_id":"t%d","content":"r%d"}`, id, id))
			}
			start := words()
			if i == 0 {
				start = `{"type":"thinking","thinking":"hm","signature":"s"},` + start
			}
			say("assistant", start+","+strings.Join(calls, ","))
			end := ""
			if rng.IntN(3) == 0 {
				end = "," + words()
			}
			say("user", strings.Join(results, ",")+end)
		}
		if exchanges > 0 && rng.IntN(4) == 0 {
			return "[" + strings.Join(messages, ",\n") + "]"
		}
		say("assistant", words())
	}
	say("user", words())
	return "[" + strings.Join(messages, ",\n") + "]"
}
