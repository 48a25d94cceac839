package cupelchat

import (
	"strings"
	"testing"

	"github.com/wollax/cupel-go/cupel"
)

const cached = `{"tools":[{"name":"f","input_schema":{}}],"system":[{"type":"text","text":"s"}],"messages":[
	{"role":"user","content":"task"},{"role":"assistant","content":[{"type":"text","text":"a"},{"type":"thinking","thinking":"t","signature":"x"}]},
	{"role":"user","content":"old"},{"role":"assistant","content":"b"},{"role":"user","content":[{"type":"text","text":"new"}]}]}`

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
