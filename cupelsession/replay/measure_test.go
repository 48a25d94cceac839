package replay

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"github.com/wollax/cupel-go/cupelsession"
)

// TestJSON compares with what Python writes: json.dumps(x, ensure_ascii=False),
// and str(x) of a number.
func TestJSON(t *testing.T) {
	for _, row := range []struct{ text, want, why string }{
		{`{"b":1,"a":[true,false,null,{}]}`, `{"b": 1, "a": [true, false, null, {}]}`, "order stays, and spaces come"},
		{`{"a":1,"a":3,"b":2}`, `{"a": 3, "b": 2}`, "the last value at the first place"},
		{`"\u00e9\u2028\/\u007f"`, "\"é\u2028/\x7f\"", "letters are not escaped"},
		{`"\"\\\n\r\t\f\b\u0000\u001f"`, `"\"\\\n\r\t\f\b\u0000\u001f"`, "control characters are"},
		{`123456789012345678901234567890`, `123456789012345678901234567890`, "integers have all digits"},
		{"\"\xff\xfe\"", "\"\ufffd\ufffd\"", "what is not UTF-8 is replaced"},
		{`-0`, `0`, "there is one integer zero"},
		{`-0.0`, `-0.0`, "there are two others"},
		{`1.50`, `1.5`, "the fewest digits"},
		{`1E2`, `100.0`, "a float"},
		{`1e15`, `1000000000000000.0`, "sixteen digits before the point"},
		{`1e16`, `1e+16`, "more"},
		{`12345678901234567890.0`, `1.2345678901234567e+19`, "more, and digits behind the point"},
		{`0.0001`, `0.0001`, "three zeros behind the point"},
		{`0.00001`, `1e-05`, "more"},
		{`1e999`, `Infinity`, "out of range"},
		{`-1e999`, `-Infinity`, "out of range"},
	} {
		v, err := decode(row.text)
		require.NoError(t, err)
		assert.Equal(t, row.want, string(appendJSON(nil, v, number)), row.why)
	}
	for _, text := range []string{"", " ", "{", `{"a"`, `{"a":`, `[1`, `{} {}`, "[1]]", "nul", `{"a":}`, strings.Repeat("[", 10_001) + strings.Repeat("]", 10_001)} {
		v, err := decode(text)
		assert.Error(t, err, "%q is %v", text, v)
		m, err := parseMessage(text)
		assert.Nil(t, m, text)
		assert.Error(t, err, text)
	}
	named := keys{}
	named.add("", object{{"a", []any{true, false, nil, true}}})
	assert.Equal(t, keys{"True": {"a"}, "False": {"a"}, "None": {"a"}}, named)
}

func TestUsed(t *testing.T) {
	for _, row := range []struct{ message, want, why string }{
		{`{"content": "see pkg/item.go and ./tax_rate.go-, but not ab_c./ or shop or 12345678 or reading"}`, "pkg/item.go tax_rate.go", "words that look like names, without marks around them"},
		{`{"content": "camelCase HTTPServer naïve_x größer _under 1abc_def a.b.c"}`, "camelCase naïve_x _under abc_def", "any script inside, ASCII at the start; a.b.c is short"},
		{`{"content": "aaaaa9 a٣bbbb"}`, "aaaaa9 a٣bbbb", "digits of any script"},
		{`{"content": "file_name", "tool_calls": [{"function": {"arguments": "{\"a\": [\"abcd\", \"abc\", 123, 12, 1.5, true, null], \"b\": {\"c\": \"äöü!\"}}"}}]}`, "abcd 123 1.5 äöü!", "arguments alone, at any depth, if long enough"},
		{`{"content": "file_name", "tool_calls": [{"function": {"arguments": "{"}}, {"function": {"arguments": "\"alone\""}}, {}, 1]}`, "alone", "what is no JSON has no values"},
		{`{"content": "", "tool_calls": [{"function": {"arguments": {"a": "abcd"}}}]}`, "abcd", "some servers send an object"},
		{`{"content": "file_name", "tool_calls": []}`, "file_name", "no calls"},
		{`{"content": [{"type": "text", "text": "file_name"}, {"type": "image"}, "x_y_z_y_x"]}`, "file_name x_y_z_y_x", "parts"},
	} {
		m, err := parseMessage(strings.Replace(row.message, "{", `{"role": "assistant", `, 1))
		require.NoError(t, err)
		var got []string
		used(m, func(v string) { got = append(got, v) })
		assert.Equal(t, row.want, strings.Join(got, " "), "%s (%s)", row.message, row.why)
	}
}

func TestGrounded(t *testing.T) {
	source := unit{text: "the order ord-7 of today: {\"sku\": \"TEA-77\"}", keys: keys{"TEA-77": {"sku"}}}
	for _, row := range []struct {
		value, window string
		want          bool
		why           string
	}{
		{"TEA-77", "sku: TEA-77", true, "behind its key"},
		{"TEA-77", "TEA-77 is the sku", false, "the key comes first"},
		{"TEA-77", "TEA-77, ord-7", false, "a list of bare words"},
		{"TEA-77", "sku" + strings.Repeat(".", 37) + "TEA-77", true, "the key begins 40 characters before it"},
		{"TEA-77", "sku" + strings.Repeat(".", 38) + "TEA-77", false, "41 characters"},
		{"TEA-77", "sku" + strings.Repeat("é", 37) + "TEA-77", true, "characters are not bytes"},
		{"TEA-77", "sku: TEA-777", false, "another word"},
		{"TEA-77", "sku: xTEA-77", false, "another word"},
		{"TEA-77", "sku: éTEA-77é", true, "a word ends at what is not ASCII"},
		{"TEA-77", "sku: TEA-777, TEA-77", true, "one of two"},
		{"ord-7", "e order ord-7", false, "eight characters before it are not enough"},
		{"ord-7", "the order ord-77", false, "another word"},
		{"ord-7", "the order ord-7", true, "all that stood before it"},
		{"ord-7", "ord-7 of today: {", true, "twelve characters behind it"},
		{"ord-7", "ord-7 of today", false, "nine characters"},
		{"ord-9", "the order ord-9", false, "it was never seen"},
	} {
		v := newValue(row.value, []unit{source})
		assert.Equal(t, row.want, v.grounded(row.window), row.why)
	}
	// White space alone is nothing to go by, as Python has it.
	for _, space := range []string{"\n\t ", "\u00a0\u2003", "\x1c\x1f"} {
		v := newValue("ord-7", []unit{{text: space + "ord-7" + space}})
		assert.False(t, v.grounded(space+"ord-7"+space), "%q counts as what stood next to a value", space)
	}
}

// TestUnits: a value costs the smallest unit with it so far, and a cache holds the window
// up to the system prompts, the task and the end.
func TestUnits(t *testing.T) {
	units := []unit{{text: "a b", tokens: 9}, {text: "b", tokens: 5}, {text: "b", tokens: 7}, {text: "b", tokens: 1}}
	at := turn{recording: &recording{units: units}, said: 3}
	require.Equal(t, []int{9, 5, 0}, []int{at.least("a"), at.least("b"), at.least("c")})
	require.Equal(t, 5, (&unit{pieces: window{{blocks: 2}, {blocks: 3}}}).blocks())
	message, err := parseMessage(`{"role": "assistant", "tool_calls": [{"function": {"arguments": {"a": "abcd"}}}]}`)
	require.NoError(t, err)
	called := unit{parts: []*chatMessage{message}}
	called.finish()
	require.Equal(t, keys{"abcd": {"a"}}, called.keys)
	var w window
	for _, role := range []string{"system", "system", "user", "system", "system", "assistant"} {
		w = append(w, piece{role: role, tokens: 1})
	}
	_, held := w.cost(&cupelsession.CacheModel{Read: 0.1, Write: 1.25, Breakpoints: 4, Likely: time.Minute}, 0, nil, nil)
	require.Equal(t, []cupelsession.Prefix{{Items: 2}, {Items: 3}, {Items: 6}}, held)
}

// TestFull names units by letters; an exchange is a call, "(", and its result, ")".
func TestFull(t *testing.T) {
	for _, row := range []struct{ said, window, want, why string }{
		{"s u a b", "s u a b", "1111", "all"},
		{"s u a b", "s a b", "1011", "one is left out"},
		{"s u () b", "s ( x b", "1001", "a result is another"},
		{"s u () b", "s ( ) b", "1011", "a whole exchange"},
		{"s () u ()", "s ( ) u", "1110", "the first of two"},
		{"s () u ()", "s u ( )", "1011", "the second of two"},
		{"s y u y b", "s y b", "10011", "of equal ones the newest"},
		{"s y u y", "s y u", "1110", "the one at its place"},
		{"a b c d", "x a y c z", "1010", "others between"},
		{"x x b x", "x x", "0101", "the newest"},
		{"a b a b", "b a", "0110", "in their order"},
	} {
		r := &recording{}
		for name := range strings.FieldsSeq(row.said) {
			u := unit{id: "unit " + name}
			for part := range strings.SplitSeq(name, "") {
				u.pieces = append(u.pieces, piece{id: part})
			}
			r.units = append(r.units, u)
		}
		var w window
		for id := range strings.FieldsSeq(row.window) {
			w = append(w, piece{id: id})
		}
		got := ""
		for _, full := range (&turn{recording: r, said: len(r.units)}).full(w) {
			got += fmt.Sprint(btoi(full))
		}
		assert.Equal(t, row.want, got, row.why)
	}
}
