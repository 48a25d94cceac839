package rawjson

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func value(t *testing.T, text string) Value {
	t.Helper()
	v, err := Text(text).Value()
	require.NoError(t, err)
	return v
}

// FuzzValue holds the parser to encoding/json.
func FuzzValue(f *testing.F) {
	for _, seed := range []string{
		`null`, ` [1, "a\"]", {"b": [ ]} , -1.5e3 ] `, `{"a":1,"b":{"c":[{}]}, "d" : "\\\"}" }`, `{"a":1,"a":2}`, `{}`, `[]`, `"x"`, "\xef\xbb\xbf[1]",
		"[1,]", `{"":"\ud800"}`, "\xff\xfe[", "[\x80]", strings.Repeat("[", 20) + strings.Repeat("]", 20), `{"\u0061":1,"a":2}`, `["\\\\", "\\\\\\"", "\\\\\\\\", 1]`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		text, err := NewText(data)
		if err != nil {
			return
		}
		v, err := text.Value()
		require.Equal(t, json.Valid(text), err == nil, "%v", err)
		const most = 1 << 14 // comparing is quadratic in the depth
		if err != nil || len(text) > most {
			return
		}
		compare(t, v)
		before, after := v.Around()
		require.Equal(t, string(text), string(slices.Concat(before, v.Raw(), after)), "text is lost around the value")
	})
}

func compare(t *testing.T, v Value) {
	t.Helper()
	switch {
	case v.IsArray():
		var want []json.RawMessage
		require.NoError(t, json.Unmarshal(v.Raw(), &want))
		var outer [][]byte
		parts := v.Elements()
		require.Len(t, parts, len(want))
		for i, part := range parts {
			outer = append(outer, part.Outer())
			require.Equal(t, string(want[i]), string(part.Value.Raw()), "element %d", i)
			require.Equal(t, string(part.Outer()), string(part.With(part.Value.Raw())), "element %d", i)
			compare(t, part.Value)
		}
		if got := "[" + string(bytes.Join(outer, []byte(","))) + "]"; len(parts) > 0 && got != string(v.Raw()) {
			t.Fatalf("got %s, want %s", got, v.Raw())
		}
	case v.IsObject():
		want := map[string]json.RawMessage{}
		require.NoError(t, json.Unmarshal(v.Raw(), &want))
		o, err := v.Object("")
		if err != nil {
			require.NotEqual(t, len(want), len(o.Members), "%v, but no name is given twice", err)
			return
		}
		require.Len(t, o.Members, len(want))
		for _, m := range o.Members {
			got := o.Get(m.Name)
			require.Equal(t, string(want[m.Name]), string(got.Raw()), m.Name)
			require.True(t, bytes.HasSuffix(bytes.TrimSpace(m.Outer()), got.Raw()), "member %q is %s", m.Name, got.Raw())
			compare(t, m.Value)
		}
	case v.IsString():
		var want string
		require.NoError(t, json.Unmarshal(v.Raw(), &want))
		require.Equal(t, want, v.String())
	}
}

func TestErrors(t *testing.T) {
	tests := []struct{ name, why, text, want string }{
		{"empty", "an empty file is a mistake", "", "line 1: expected JSON, got nothing (column 1)"},
		{"blank", "and so is a blank one", " \n\n", "line 2: expected JSON, got nothing (column 1)"},
		{"trailing comma", "the usual mistake has words of its own", "[\n1,\n]", "line 3: JSON allows no comma before a closing ] (column 1)"},
		{"no comma", "only a bracket closes", "[1,x]", "line 1: invalid character 'x' looking for beginning of value (column 4)"},
		{"object comma", "in objects too", `{"a":1,}`, "line 1: JSON allows no comma before a closing } (column 8)"},
		{"cut off", "a file may end too early", "[\n{\"a\":", "line 2: unexpected end of JSON input (column 5)"},
		{"character", "other mistakes are encoding/json's", "[\n a]", "line 2: invalid character 'a' looking for beginning of value (column 2)"},
		{"deep", "nesting has a limit", strings.Repeat("[", 10001), "line 1: invalid character '[' exceeded max depth (column 10001)"},
		{"utf-16", "files of other encodings are named", "\xff\xfe[\x00]\x00", "the text is UTF-16; it must be UTF-8"},
		{"bytes", "bytes that are no text are found", "[\n\"\ufffd\xe9\"]", "line 2: the text is not valid UTF-8 at byte 6"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			text, err := NewText([]byte(tt.text))
			if err == nil {
				_, err = text.Value()
			}
			require.ErrorAs(t, err, new(*Error), tt.why)
			require.EqualError(t, err, tt.want, tt.why)
		})
	}
}

func TestLines(t *testing.T) {
	text, err := NewText([]byte("\xef\xbb\xbf\n{\"a\":1}\r\n \t\n [2] \n3"))
	require.NoError(t, err)
	parts, err := text.Lines()
	require.NoError(t, err)
	var got []string
	for _, p := range parts {
		got = append(got, string(p.Value.Raw()), string(rune('0'+p.Value.Line())))
	}
	require.Equal(t, []string{`{"a":1}`, "2", "[2]", "4", "3", "5"}, got)
	text, _ = NewText([]byte("1\n2 3\n"))
	_, err = text.Lines()
	require.Regexp(t, "^line 2: ", err)
}

func TestManyMembers(t *testing.T) {
	var b strings.Builder
	for i := range 1000 {
		b.WriteString(`"` + strings.Repeat("x", i) + `": ` + string(rune('0'+i%10)) + ",")
	}
	for name, tail := range map[string]string{"distinct": `"y":0`, "twice": `"xx":0`} {
		text, _ := NewText([]byte("{" + b.String() + tail + "}"))
		v, err := text.Value()
		require.NoError(t, err)
		o, err := v.Object("p")
		if name == "twice" {
			assert.EqualError(t, err, "line 1: p.xx is given twice")
			continue
		}
		require.NoError(t, err)
		assert.Equal(t, "3", string(o.Get("xxx").Raw()))
		assert.False(t, o.Has("z"))
	}
}

func TestTypes(t *testing.T) {
	for _, row := range []struct{ text, want, compact, object string }{
		{"-1", "a number", "-1", "line 1: p must be an object, got a number"},
		{"0", "a number", "0", "line 1: p must be an object, got a number"},
		{" 9e1 ", "a number", "9e1", "line 1: p must be an object, got a number"},
		{`"9"`, "a string", `"9"`, "line 1: p must be an object, got a string"},
		{"\n[ 1,\n{} ]", "an array", "[1,{}]", "line 2: p must be an object, got an array"},
		{`{ "a": 1 }`, "an object", `{"a":1}`, ""},
		{"true", "a boolean", "true", "line 1: p must be an object, got a boolean"},
		{"false", "a boolean", "false", "line 1: p must be an object, got a boolean"},
		{"null", "null", "null", "line 1: p must be an object, got null"},
	} {
		v := value(t, row.text)
		is := map[string]bool{
			"a number": v.IsNumber(), "a string": v.IsString(), "an array": v.IsArray(), "an object": v.IsObject(), "null": v.IsNull(),
			"a boolean": v.Compact() == "true" || v.Compact() == "false",
		}
		for name, got := range is {
			assert.Equal(t, name == row.want, got, "%s is %s", row.text, name)
		}
		assert.Equal(t, row.want, v.Type(), row.text)
		assert.Equal(t, v.IsString(), v.String() != "", "only strings say something: %s", row.text)
		assert.Equal(t, v.IsArray(), len(v.Elements()) > 0, "only arrays have elements: %s", row.text)
		assert.Equal(t, row.compact, v.Compact(), row.text)
		o, err := v.Object("p")
		if row.object == "" {
			require.NoError(t, err)
			assert.Len(t, o.Members, 1)
			continue
		}
		require.EqualError(t, err, row.object)
		assert.Empty(t, v.Members(), "only objects have members")
	}
	_, err := value(t, `{"a":1,"b":2,"a":3}`).Object("")
	require.EqualError(t, err, "line 1: a is given twice")
	zero := Value{}
	assert.True(t, zero.IsZero())
	assert.True(t, zero.IsNull())
	assert.Zero(t, zero.Line())
	require.EqualError(t, zero.Errorf("", "is missing"), "is missing")
}

// TestDrop drops every set of parts: what is left are the others, as they were written.
func TestDrop(t *testing.T) {
	for set := range 1 << 4 {
		v := value(t, ` [ 1, "b" ,[ 2 ] , 4 ] `)
		parts := v.Elements()
		gone := func(i int) bool { return set>>i&1 == 1 }
		var want []string
		for i, p := range parts {
			if !gone(i) {
				want = append(want, string(p.Value.Raw()))
			}
		}
		var edits Edits
		edits.Drop(parts, gone)
		assert.Equal(t, set == 0, edits.Empty())
		var got []string
		for _, p := range value(t, string(edits.Outer(Whole(v)))).Elements() {
			got = append(got, string(p.Value.Raw()))
		}
		assert.Equal(t, want, got, "without set %b", set)
	}
}

func TestEdits(t *testing.T) {
	v := value(t, ` {"a" : [1, 2,3], "b":4} `)
	members := v.Members()
	elements := members[0].Value.Elements()
	var edits Edits
	edits.Replace(members[1].Value, []byte("44"))
	edits.Replace(elements[0].Value, []byte("11"))
	edits.Drop(elements, func(i int) bool { return i == 0 })
	edits.Replace(elements[2].Value, []byte("33"))
	for _, row := range []struct {
		part      Part
		want, why string
	}{
		{Whole(v), ` {"a" : [ 2,33], "b":44} `, "what is replaced within what is dropped goes too"},
		{members[0], `"a" : [ 2,33]`, "what changes after a part is not in it"},
		{members[1], ` "b":44`, "nor is what changes before"},
		{elements[1], ` 2`, "nothing changes in this one"},
		{elements[2].Value.Alone(), `33`, "a change may fill the part"},
	} {
		assert.Equal(t, row.want, string(edits.Outer(row.part)), row.why)
	}
	before, after := members[1].Value.Around()
	assert.Equal(t, []string{` {"a" : [1, 2,3], "b":`, "} "}, []string{string(before), string(after)}, "the text itself stays")
	element, err := Element([]byte(" 5 "))
	require.NoError(t, err)
	assert.Equal(t, " 6 ", string(element.With([]byte("6"))))
}

func TestSeveralLines(t *testing.T) {
	for _, row := range []struct {
		text string
		want bool
		why  string
	}{
		{"", false, "there is no line"},
		{"{}", false, "one object without a line end is one value"},
		{"{}\n", true, "an object per line, and one line"},
		{"\n \t{\"a\":1} \r\nx", true, "the first line that is not blank counts"},
		{"{\n}\n", false, "an object goes over two lines"},
		{"[]\n[]\n", false, "lines of a log are objects"},
	} {
		assert.Equal(t, row.want, Text(row.text).SeveralLines(), "%q: %s", row.text, row.why)
	}
}
