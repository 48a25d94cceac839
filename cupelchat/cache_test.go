package cupelchat

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

const cached = `{"tools":[{"name":"f","input_schema":{}}],"system":[{"type":"text","text":"s"}],"messages":[
	{"role":"user","content":"task"},{"role":"assistant","content":[{"type":"text","text":"a"},{"type":"thinking","thinking":"t","signature":"x"}]},
	{"role":"user","content":"old"},{"role":"assistant","content":"b"},{"role":"user","content":[{"type":"text","text":"new"}]}]}`

func TestBreakpointsOfBedrock(t *testing.T) {
	const point = `, {"cachePoint": {"type": "default"}}`
	const text = `{"system":[{"text":"s"},{"cachePoint":{"type":"default","ttl":"1h"}}],"messages":[{"role":"user","content":[{"cachePoint":{"type":"default"}},{"text":"task"}]},
	{"role":"assistant","content":[{"text":"a"},{"reasoningContent":{"reasoningText":{"text":"t"}}}]},{"role":"user","content":[{"text":"new"},{"cachePoint":{"type":"default"}}]}]}`
	want := strings.NewReplacer(
		`{"type":"default","ttl":"1h"}`, `{"type": "default"}`, // no time to live may be longer than one before it
		`{"cachePoint":{"type":"default"}},{"text":"task"}`, `{"text":"task"}`,
	).Replace(text)
	marked := func(text string, marked ...int) string {
		c := read(t, Bedrock, []byte(text))
		pieces := make([]Piece, len(c.Items()))
		for i := range pieces {
			pieces[i].Candidates = []int{i}
			if slices.Contains(marked, i) {
				pieces[i].Breakpoint = "5m"
			}
		}
		got, _, err := c.Compose(pieces)
		require.NoError(t, err)
		return string(got)
	}
	if got := marked(text, 0, 3); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	const plain = `{"system":[{"text":"s"}],"messages":[{"role":"user","content":[{"text":"task"}]}]}`
	got := marked(plain, 0, 1)
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
