package cupelchat

import (
	"slices"
	"strings"
	"testing"

	"github.com/wollax/cupel-go/cupel"
)

const cached = `{"tools":[{"name":"f","input_schema":{}}],"system":[{"type":"text","text":"s"}],"messages":[
	{"role":"user","content":"task"},{"role":"assistant","content":[{"type":"text","text":"a"},{"type":"thinking","thinking":"t","signature":"x"}]},
	{"role":"user","content":"old"},{"role":"assistant","content":"b"},{"role":"user","content":[{"type":"text","text":"new"}]}]}`

// TestBreakpointsOfLines has messages on a line each, which are no request.
func TestBreakpointsOfLines(t *testing.T) {
	const text = `{"role":"user","content":"task"}` + "\n" + `{"role":"user","content":[{"type":"text","text":"new"}]}`
	got, notes := body(t, read(t, Anthropic, []byte(text), WithBreakpoints()), everything)
	if got != text || len(notes) != 1 || !strings.HasPrefix(notes[0], "set no breakpoints of the prompt cache: ") {
		t.Errorf("got %s with notes %q, want the input, and a note that no breakpoints are set", got, notes)
	}
}

func TestBreakpoints(t *testing.T) {
	const set = `, "cache_control": {"type": "ephemeral"}`
	without := func(contents ...string) form {
		keep := only(contents...)
		return func(unit *cupel.ContextItem) int { return -1 - keep(unit) }
	}
	const gap = `
	{"role":"user","content":"old"},{"role":"assistant","content":"b"},`
	many := strings.Replace(cached, `{"type":"text","text":"s"}`,
		`{"type":"text","text":"0","cache_control":{}},{"type":"text","text":"1","cache_control":{}},{"type":"text","text":"2","cache_control":{}},{"type":"text","text":"3","cache_control":{}}`, 1)
	many = strings.Replace(many, `"text":"a"`, `"text":"a","cache_control":{}`, 1)
	set4 := strings.NewReplacer(
		`"input_schema":{}`, `"input_schema":{}`+set,
		`"text":"s"`, `"text":"s"`+set,
		`"text":"new"`, `"text":"new"`+set,
	).Replace(cached)
	tests := []struct {
		name, why, text string
		opts            []Option
		want            form
		wantText        string
	}{
		{"everything", "the last two are the same block", cached, []Option{WithBreakpoints()}, everything, set4},
		{"a gap", "one at the end of what is as it was", cached, []Option{WithBreakpoints()}, without("old", "b"),
			strings.Replace(strings.Replace(set4, `{"type":"text","text":"a"}`, `{"type":"text","text":"a"`+set+`}`, 1), gap, "", 1)},
		{"blank system prompt", "as a block it would be refused", `{"system":" \n","messages":[{"role":"user","content":"hi"}]}`, []Option{WithBreakpoints()}, everything,
			`{"system":" \n","messages":[{"role":"user","content":[{"type": "text", "text": "hi"` + set + `}]}]}`},
		{"top level", "the API sets the one at the end itself", `{"cache_control":{"type":"ephemeral"},` + cached[1:], []Option{WithBreakpoints()}, everything,
			`{"cache_control":{"type":"ephemeral"},` + strings.Replace(strings.Replace(cached, `"input_schema":{}`, `"input_schema":{}`+set, 1), `"text":"s"`, `"text":"s"`+set, 1)[1:]},
		{"a few", "those that are there stay where they are", strings.Replace(cached, `"text":"a"`, `"text":"a","cache_control":{}`, 1), nil, without("b", "old"),
			strings.Replace(strings.Replace(cached, `"text":"a"`, `"text":"a","cache_control":{}`, 1), gap, "", 1)},
		{"too many", "those at the end of what is as it was stay", many, nil, without("b", "old"),
			strings.Replace(strings.Replace(many, gap, "", 1), `"text":"0","cache_control":{}`, `"text":"0"`, 1)},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, _ := body(t, read(t, Anthropic, []byte(tt.text), append(tt.opts, WithoutPins())...), tt.want)
			if got != tt.wantText {
				t.Errorf("%s: got\n%s\nwant\n%s", tt.why, got, tt.wantText)
			}
		})
	}
}

func TestBreakpointsOfBedrock(t *testing.T) {
	const point = `, {"cachePoint": {"type": "default"}}`
	const text = `{"system":[{"text":"s"},{"cachePoint":{"type":"default","ttl":"1h"}}],"messages":[{"role":"user","content":[{"cachePoint":{"type":"default"}},{"text":"task"}]},
	{"role":"assistant","content":[{"text":"a"},{"reasoningContent":{"reasoningText":{"text":"t"}}}]},{"role":"user","content":[{"text":"new"},{"cachePoint":{"type":"default"}}]}]}`
	want := strings.NewReplacer(
		`{"type":"default","ttl":"1h"}`, `{"type": "default"}`, // no time to live may be longer than one before it
		`{"cachePoint":{"type":"default"}},{"text":"task"}`, `{"text":"task"}`,
	).Replace(text)
	got, _ := body(t, read(t, Bedrock, []byte(text), WithBreakpoints(), WithoutPins()), everything)
	if got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	const plain = `{"system":[{"text":"s"}],"messages":[{"role":"user","content":[{"text":"task"}]}]}`
	got, _ = body(t, read(t, Bedrock, []byte(plain), WithBreakpoints(), WithoutPins()), everything)
	if want := strings.NewReplacer(`{"text":"s"}`, `{"text":"s"}`+point, `{"text":"task"}`, `{"text":"task"}`+point).Replace(plain); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// TestBreakpointsOfPieces marks where the caller says, through exchanges that a note
// stands for and messages that are joined.
func TestBreakpointsOfPieces(t *testing.T) {
	const mark = `, "cache_control": {"type": "ephemeral", "ttl": "1h"}`
	c := read(t, Anthropic, []byte(cached))
	all := []Piece{{Candidates: []int{0}}, {Candidates: []int{1}}, {Candidates: []int{2}}, {Candidates: []int{3}}, {Candidates: []int{4}}, {Candidates: []int{5}}, {Candidates: []int{6}}}
	for _, test := range []struct {
		name   string
		pieces []Piece
		behind []int
		marked []string
		why    string
	}{
		{"all", all, []int{0, 1, 3, 6}, []string{`"input_schema":{}`, `"text":"s"`, `"text":"a"`, `"text":"new"`}, "thinking has none: the text before it"},
		{"string", all, []int{2, 4}, []string{`"text": "task"`, `"text": "old"`}, "a text becomes a block"},
		{"joined", slices.Delete(slices.Clone(all), 5, 6), []int{4, 5}, []string{`"text": "old"`, `"text":"new"`}, "two messages of the user become one"},
		{"five", all, []int{0, 1, 2, 4, 6}, []string{`"text":"s"`, `"text": "task"`, `"text": "old"`, `"text":"new"`}, "a request has four at most, the latest count"},
	} {
		pieces := slices.Clone(test.pieces)
		for _, n := range test.behind {
			pieces[n].Breakpoint = "1h"
		}
		got, _, err := c.Compose(pieces)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range test.marked {
			if !strings.Contains(string(got), m+mark) {
				t.Errorf("%s: no breakpoint behind %s (%s)\n%s", test.name, m, test.why, got)
			}
		}
		if n := strings.Count(string(got), "cache_control"); n != len(test.marked) {
			t.Errorf("%s: %d breakpoints, want %d (%s)\n%s", test.name, n, len(test.marked), test.why, got)
		}
		if v := Check(got, Anthropic); len(v) > 0 {
			t.Errorf("%s: %v", test.name, v)
		}
	}
	if _, _, err := c.Compose([]Piece{{Candidates: []int{0}, Breakpoint: "2h"}}); err == nil || !strings.Contains(err.Error(), `pieces[0] has the breakpoint "2h", want 5m or 1h`) {
		t.Errorf("error %v, want one about the time to live", err)
	}
	if got := c.Blocks(); !slices.Equal(got, []int{1, 1, 1, 2, 1, 1, 1}) {
		t.Errorf("blocks %v, want 2 of the message with thinking and one of each other", got)
	}
}
