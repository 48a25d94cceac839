package cupelchat

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/wollax/cupel-go/cupel"
)

// An exchange that is over, with words, two calls and a long result, and a message
// behind it.
func exchange(long string) string {
	return `[{"role":"user","content":"go"},
	{"role":"assistant","content":"I look.","tool_calls":[{"id":"a","type":"function","function":{"name":"f","arguments":"{\"path\":\n\"x.go\"}"}},{"id":"b","type":"function","function":{"name":"g","arguments":"[]"}}]},
	{"role":"tool","tool_call_id":"b","content":"B"}, {"role":"tool","tool_call_id":"a","x":1.0,"content":"` + long + `"},
	{"role":"user","content":"and now?"}]`
}

func TestExchange(t *testing.T) {
	long := strings.Repeat("nothing to see here at all. ", 40)
	short := WithForms(func(tool, _ string) []cupel.Variant {
		return []cupel.Variant{{Content: "short " + tool, Worth: 0.99}}
	})
	c := read(t, OpenAI, []byte(exchange(long)), short)
	var got []row
	for _, item := range c.Items() {
		got = append(got, rowOf(item))
	}
	message, tool := cupel.KindMessage, cupel.KindToolOutput
	want := []row{
		{message, 4 + 2, true, "go", "user 0"},
		{tool, 4 + 7 + (4 + 1 + 16) + (4 + 1 + 2), false, "I look.\nf({\"path\":\"x.go\"})\ng([])", "assistant 1 3 f, g a, b"},
		{tool, 4 + 4 + 1, false, "B", "tool 2 g b"},
		{tool, 4 + 4 + len(long), false, long, "tool 3 f a"},
		{message, 4 + 8, true, "and now?", "user 4"},
	}
	assert.Equal(t, want, got)
	var titles []string
	for _, item := range c.Items() {
		title, _ := item.MetadataText("title")
		titles = append(titles, title)
	}
	assert.Equal(t, []string{"go", "f(x.go), g([])", "g([]): 1 B", "f(x.go): 1.1 kB", "and now?"}, titles)

	// The longest smaller form has the caller's form of the result that is long enough
	// to have one; notes are shorter, or say less.
	got1, _ := body(t, c, func(unit *cupel.ContextItem) int {
		if unit.Group() == "" {
			return -1
		}
		return 1
	})
	assert.Equal(t, exchange("short f"), got1)
}
