package cupelchat

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/wollax/cupel-go/cupel"
)

// FuzzSelect holds that nothing panics, that a conversation whose messages are all
// selected is the text that was read, and that a smaller one can be read
// again.
func FuzzSelect(f *testing.F) {
	for name, format := range fixtures {
		f.Add(fixture(f, name), uint8(format), uint64(1))
	}
	for _, text := range []string{
		``, `[]`, `{}`, `[{}]`, `null`, `{"messages":[]}`, `{"input":"x"}`, "\xef\xbb\xbf[]", "data: {}\n",
		`[{"role":"user","content":null},{"role":"user"},{"role":"user","content":[]}]`, `{"messages":[{"role":"user","content":"\ud800"}]}`,
		`{"input":[{"type":"x_call_output"},{"type":"y_call","call_id":1}]}`, `{"system":null,"messages":[]}`,
		`[{"role":"assistant","content":"a"},{"role":"user","content":"b"}]`, "{\"role\":\"user\",\"content\":\"a\"}\n\n{\"role\":\"user\",\"content\":\"b\"}",
		`[{"role":"user","content":[{"type":"tool_result","tool_use_id":"x","content":[{"type":"tool_result","tool_use_id":"x"}]}]}]`,
		`[{"role":"assistant","content":[{"type":"thinking","thinking":""},{"type":"tool_use","id":"a","name":"f"}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"a"},{"type":"text","text":"b"}]}]`,
		`[{"role":"user","content":"q"},{"role":"assistant","content":[{"type":"server_tool_use","id":"s","name":"w"}]},{"role":"assistant","content":[{"type":"w_tool_result","tool_use_id":"s"}]}]`,
		`[{"role":"assistant","tool_calls":[{"id":"a","function":{"name":"f","arguments":"{\n}"}}]},{"role":"user","content":""},{"role":"tool","tool_call_id":"a"},{"role":"tool","tool_call_id":"a"}]`,
		`{"input":[{"type":"shell_call_output","call_id":"1","output":{"type":"computer_screenshot"}},{"type":"reasoning"},{"type":"reasoning"}]}`,
		`[{"role":"user","content":[{"type":"image_url","image_url":{"url":"u"}},{"type":"text","text":"x"},{"type":"text","text":"y"}]}]`,
		`[{"role":"assistant","content":[{"type":"compaction","content":"c"}]},{"role":"user","content":"x","cache_control":{}}]`,
	} {
		for _, format := range Formats() {
			f.Add([]byte(text), uint8(format), uint64(2))
		}
	}
	short := WithForms(func(tool, text string) []cupel.Variant {
		return []cupel.Variant{{Content: "short\n" + tool, Worth: 0.5}}
	})
	f.Fuzz(func(t *testing.T, data []byte, choice uint8, seed uint64) {
		format := Formats()[int(choice)%len(Formats())]
		if _, err := Detect(data); err != nil && err.Error() == "" {
			t.Fatal("an error without words")
		}
		rng := rand.New(rand.NewPCG(seed, 1))
		opts := []Option{short}
		if seed%2 == 0 {
			opts = append(opts, WithoutPins())
		}
		c, err := Read(data, format, cupel.HeuristicCounter{}, opts...)
		if err != nil || c.rules.record {
			return
		}
		for _, item := range c.Items() {
			_, err := item.MarshalJSON()
			require.NoError(t, err, "an item that cannot be written")
		}
		all, _ := body(t, c, everything)
		require.Equal(t, string(data), all)
		some, _ := body(t, c, func(unit *cupel.ContextItem) int { return rng.IntN(2+len(unit.Forms())) - 1 })
		if some == "" {
			return // nothing was chosen
		}
		_, err = Read([]byte(some), format, cupel.HeuristicCounter{})
		require.NoError(t, err, "%s\nof\n%s", some, data)
	})
}
