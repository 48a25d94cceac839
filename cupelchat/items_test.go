package cupelchat

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/internal/rawjson"
)

func TestItems(t *testing.T) {
	message, tool, system := cupel.KindMessage, cupel.KindToolOutput, cupel.KindSystemPrompt
	tests := []struct {
		name, why string
		f         Format
		text      string
		want      []row
	}{
		{"no ids", "a server may give no ids, and objects for arguments", OpenAI,
			`[{"role":"assistant","tool_calls":[{"function":{"name":"f","arguments":{"a": 1}}},{"function":{"name":"g"}}]},{"role":"tool","content":"one"},{"role":"tool","content":"two"},{"role":"user","content":"x"}]`,
			[]row{
				{tool, 4 + (4 + 1 + 7) + (4 + 1), false, "f({\"a\":1})\ng()", "assistant 0 3 f, g"},
				{tool, 8 + 3, false, "one", "tool 1 f"}, {tool, 8 + 3, false, "two", "tool 2 g"},
				{message, 5, true, "x", "user 3"},
			}},
		{"anthropic document", "a document of text is text, and one that is a file is estimated", Anthropic,
			`[{"role":"user","content":[{"type":"document","title":"T","source":{"type":"text","data":"text"}},{"type":"document","source":{"type":"url","url":"http://e.org/p"}},
			{"type":"document","source":{"type":"content","content":[{"type":"text","text":"c"}]}}]}]`,
			[]row{{message, 4 + 1 + 4 + 3000 + 1, true, "T\ntext\n[document http://e.org/p]\nc", "user 0"}}},
		{"responses", "reasoning stays with what follows from it; parallel calls at the end are all pinned", Responses,
			`{"instructions":"I","input":[{"role":"user","content":"q"},{"type":"reasoning","summary":[{"type":"summary_text","text":"s"}]},{"type":"message","role":"assistant","content":[{"type":"output_text","text":"m"}]},
			{"type":"function_call","call_id":"1","name":"f","arguments":"a"},{"role":"user","content":"w"},
			{"type":"function_call","call_id":"2","name":"g","arguments":"b"},{"type":"function_call","call_id":"3","name":"h","arguments":"c"},
			{"type":"function_call_output","call_id":"2","output":"G"},{"type":"function_call_output","call_id":"3","output":"H"}]}`,
			[]row{
				{system, 5, true, "I", "system"}, {message, 5, true, "q", "user 0"},
				{message, 5, false, "s", "reasoning 1 3"}, {message, 5, false, "m", "assistant 2"}, {tool, 10, false, "f(a)", "assistant 3 f 1"},
				{message, 5, true, "w", "user 4"},
				{tool, 10, true, "g(b)", "assistant 5 2 g 2"}, {tool, 10, true, "h(c)", "assistant 6 2 h 3"},
				{tool, 9, false, "G", "tool 7 g 2"}, {tool, 9, false, "H", "tool 8 h 3"},
			}},
		{"result of the model", "the API refuses it, and it answers no call", Anthropic,
			`[{"role":"user","content":"q"},{"role":"assistant","content":[{"type":"tool_result","tool_use_id":"a","content":"r"}]}]`,
			[]row{{message, 5, true, "q", "user 0"}, {message, 58, false, `{"type":"tool_result","tool_use_id":"a","content":"r"}`, "assistant 1"}}},
		{"result of another name", "the API counts results", Gemini,
			`[{"role":"model","parts":[{"functionCall":{"name":"f","args":{}}}]},{"role":"user","parts":[{"functionResponse":{"name":"g","response":{"output":"r"}}}]}]`,
			[]row{{tool, 11, true, "f({})", "assistant 0 2 f function f"}, {tool, 9, false, "r", "tool 1 function g"}}},
		{"image of a tool", "the API makes it in a call of its own", Responses,
			`[{"role":"user","content":"q"},{"type":"image_generation_call","id":"ig_1","status":"completed","result":"aGk="}]`,
			[]row{{message, 5, true, "q", "user 0"}, {tool, 4 + 765, true, "[image 907e6b7ff49b]", "assistant 1 image_generation"}}},
		{"empty name", "a member whose name is empty is no system prompt", OpenAI,
			`{"":"s","messages":[{"role":"assistant","tool_calls":[{"function":{"name":"f"}}]}]}`, []row{{tool, 9, true, "f()", "assistant 0 f"}}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var got []row
			for _, item := range read(t, tt.f, []byte(tt.text)).Items() {
				got = append(got, rowOf(item))
			}
			assert.Equal(t, tt.want, got)
		})
	}
}

func TestSourcesAndOrigins(t *testing.T) {
	c := read(t, OpenAI, []byte(strings.ReplaceAll(`{"tools":[{"type":"function","function":{"name":"f"}}],"messages":[{"role":"developer","content":"long"},{"role":"user","content":"u"},
		{"role":"assistant","content":"long"},{"role":"assistant","content":"long","tool_calls":[{"id":"1","function":{"name":"f"}}]},{"role":"tool","tool_call_id":"1","content":"r"}]}`, "long", strings.Repeat("long ", 40))), WithMarks(sameMark{}))
	var got []string
	for _, item := range c.Items() {
		line := string(item.Source())
		for _, key := range []string{cupel.MetadataSourceType, "mark", "tools", "fixed", "never"} {
			if value, ok := item.MetadataValue(key); ok {
				line += fmt.Sprint(" ", value)
			}
		}
		got = append(got, line)
	}
	want := []string{"Tool tool map[f:43] 45", "Chat system", "Chat user", "Chat assistant [r1]", "Tool assistant", "Tool tool [r1]"}
	assert.Equal(t, want, got)
}

// Without pins, definitions are there in any case, and the newest message if a chooser takes
// nothing.
func TestNoPin(t *testing.T) {
	for name, f := range fixtures {
		c := read(t, f, fixture(t, name), WithoutPins())
		for _, item := range c.Items() {
			assert.Equal(t, item.Kind() == KindTools, item.Pinned(), "%s: %s", name, item.Content())
		}
		text, _ := body(t, c, func(*cupel.ContextItem) int { return -1 })
		assert.NotEmpty(t, text, name)
	}
}

func TestNoPinButNamed(t *testing.T) {
	for _, opts := range [][]Option{{WithoutPins(), WithPins(true, true, 0)}, {WithPins(false, false, 0)}} {
		c := read(t, OpenAI, []byte(`[{"role":"user","content":"a"},{"role":"assistant","content":"b"},{"role":"user","content":"c"}]`), opts...)
		for i, item := range c.Items() {
			assert.Equal(t, i == 0, item.Pinned(), i)
		}
	}
}

func TestMediaTokens(t *testing.T) {
	text := `[{"role":"user","content":[{"type":"image_url","image_url":{"url":"u"}},{"type":"file","file":{}},{"type":"image_url","image_url":{"url":"v"}}]}]`
	c := read(t, OpenAI, []byte(text), WithMediaTokens(7))
	assert.Equal(t, 4+3*7, c.Items()[0].Tokens())
	_, own := c.Items()[0].MetadataText("forms")
	assert.False(t, own, "the caller made no forms")
	want := []string{
		"estimated the tokens of media: 1 file of 7 tokens",
		"estimated the tokens of media: 2 images of 7 tokens",
	}
	require.Equal(t, want, c.Notes())
	huge := read(t, OpenAI, []byte(text), WithMediaTokens(int(^uint(0)>>1)))
	assert.Equal(t, int(^uint(0)>>1), huge.Items()[0].Tokens())
}

// A medium shows its address if that is short and on one line, or else a hash.
func TestLabels(t *testing.T) {
	for address, shown := range map[string]bool{
		"https://e.org/i": true, "http://e.org/i": true, "https://" + strings.Repeat("x", 191): true, "https://" + strings.Repeat("x", 192): false,
		"https://e.org\n": false, "data:image/png;base64,AA==": false,
	} {
		v, err := rawjson.Text(quoted(address)).Value()
		require.NoError(t, err)
		require.Equal(t, shown, label(v) == address, address)
	}
}

func TestTimes(t *testing.T) {
	at := func(s string) time.Time {
		parsed, err := time.Parse(time.RFC3339Nano, s)
		require.NoError(t, err)
		return parsed
	}
	tests := []struct {
		name, why, text string
		want            []time.Time
	}{
		{"none", "times that are made up are seconds since 1970, in the order of the messages",
			`[{"role":"user","content":"x"},{"role":"user","content":"x"},{"role":"user","content":"x"}]`, []time.Time{time.Unix(0, 0), time.Unix(1, 0), time.Unix(2, 0)}},
		{"some", "a message without a time comes right behind the one before it, or right before the first that has one",
			`[{"role":"user","content":"x"},{"role":"user","content":"x","timestamp":"2026-01-02T03:04:05+01:00"},{"role":"user","content":"x"},{"role":"user","content":"x","created_at":1767323046}]`,
			[]time.Time{at("2026-01-02T02:04:04.999999999Z"), at("2026-01-02T02:04:05Z"), at("2026-01-02T02:04:05.000000001Z"), at("2026-01-02T03:04:06Z")}},
		{"numbers", "seconds may have fractions, and large numbers are milliseconds",
			`[{"role":"user","content":"x","created":1.5},{"role":"user","content":"x","timestamp":1767323046123}]`, []time.Time{time.Unix(1, 5e8), at("2026-01-02T03:04:06.123Z")}},
		{"years", "times of the first and the last year of four digits are not used, since those next to them may have another number of digits",
			`[{"role":"user","content":"x","timestamp":"0002-01-02T03:04:05Z"},{"role":"user","content":"x","timestamp":"0001-12-31T03:04:05Z"},{"role":"user","content":"x","timestamp":"9998-01-02T03:04:05Z"},{"role":"user","content":"x","timestamp":"9999-01-02T03:04:05Z"}]`,
			[]time.Time{at("0002-01-02T03:04:05Z"), at("0002-01-02T03:04:05.000000001Z"), at("9998-01-02T03:04:05Z"), at("9998-01-02T03:04:05.000000001Z")}},
		{"not a time", "what is no time is not used",
			`[{"role":"user","content":"x","timestamp":"yesterday"},{"role":"user","content":"x","timestamp":1e300},{"role":"user","content":"x","timestamp":{}},{"role":"user","content":"x","timestamp":-99999999999}]`,
			[]time.Time{time.Unix(0, 0), time.Unix(1, 0), time.Unix(2, 0), time.Unix(3, 0)}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c := read(t, OpenAI, []byte(tt.text))
			for i, item := range c.Items() {
				got, ok := item.Timestamp()
				require.True(t, ok, "%s: message %d", tt.why, i)
				require.WithinDuration(t, tt.want[i], got, 0, "%s: message %d", tt.why, i)
			}
			if tt.name == "not a time" {
				require.Equal(t, []string{"messages[0].timestamp (and 3 more) is ignored: it is not a time in RFC 3339 or in seconds since 1970"}, c.Notes())
			}
		})
	}
}

// A form ends with its size, if it is not a result that lost nothing else, and the mark;
// one that the caller made has the mark alone.
func TestEndsOfForms(t *testing.T) {
	words := strings.Repeat("word ", 40)
	body := []byte(`[{"role":"user","content":"q"},{"role":"assistant","content":[{"type":"tool_use","id":"a","name":"f","input":{}},{"type":"tool_use","id":"b","name":"f","input":{}}]},
		{"role":"user","content":[{"type":"tool_result","tool_use_id":"a","content":[{"type":"text","text":"` + words + `"},{"type":"image","source":{"type":"url","url":"u"}}]},{"type":"tool_result","tool_use_id":"b","content":"` + words + `"}]},
		{"role":"assistant","content":"` + words + `"},{"role":"user","content":[{"type":"text","text":"` + words + `"},{"type":"image","source":{"type":"url","url":"u"}}]}]`)
	image := "\n[image a103d1b50c12]"
	for _, test := range []struct {
		entry int
		open  bool
		own   bool
		want  string
		why   string
	}{
		{2, false, false, words + "\n[shortened from 240 tokens] [r1]", "the image is gone"},
		{2, true, false, image, "it is there while the model works on it"},
		{3, false, false, " [r1]", "a result is known to be cut"},
		{4, false, false, "\n[shortened from 200 tokens] [r1]", "a message is not"},
		{5, true, false, words + "\n[shortened from 240 tokens] [r1]", "the image of a message is gone in any case"},
		{4, false, true, "w [r1]", "the caller says what the form says"},
	} {
		opts := []Option{nil, WithMarks(sameMark{}), WithMediaTokens(40), WithPins(true, true, 3)}
		if test.own {
			opts = append(opts, WithForms(func(_, text string) []cupel.Variant { return []cupel.Variant{{Content: text[:1], Worth: 0.5}} }))
		}
		c := read(t, Anthropic, body, opts...)
		c.all = true
		forms, own, err := c.variants(&c.entries[test.entry], test.open, "[r1]")
		require.NoError(t, err)
		require.NotEmpty(t, forms, test.why)
		require.Equal(t, test.own, own, test.why)
		require.True(t, strings.HasSuffix(forms[0].Content, test.want), "%s: %q", test.why, forms[0].Content)
	}
}

func TestBytesOf(t *testing.T) {
	for n, want := range map[int]string{999: "999 B", 1000: "1.0 kB", 4444: "4.4 kB", 999_949: "999.9 kB", 999_950: "1.0 MB", 2_345_678: "2.3 MB"} {
		assert.Equal(t, want, bytesOf(n))
	}
}
