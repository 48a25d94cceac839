package rawjson

import (
	"bytes"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"
)

// FuzzValue holds the parser to encoding/json.
func FuzzValue(f *testing.F) {
	for _, seed := range []string{
		`null`, ` [1, "a\"]", {"b": [ ]} , -1.5e3 ] `, `{"a":1,"b":{"c":[{}]}, "d" : "\\\"}" }`, `{"a":1,"a":2}`, `{}`, `[]`, `"x"`, "\xef\xbb\xbf[1]",
		"[1,]", `{"":"\ud800"}`, "\xff\xfe[", "[\x80]", strings.Repeat("[", 20) + strings.Repeat("]", 20), `{"\u0061":1,"a":2}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		text, err := NewText(data)
		if err != nil {
			return
		}
		v, err := text.Value()
		if valid := json.Valid(text); valid != (err == nil) {
			t.Fatalf("valid is %t, the error %v", valid, err)
		}
		const most = 1 << 14 // comparing is quadratic in the depth
		if err != nil || len(text) > most {
			return
		}
		compare(t, v)
		before, after := v.Around()
		if !bytes.Equal(slices.Concat(before, v.Raw(), after), text) {
			t.Error("text is lost around the value")
		}
	})
}

func compare(t *testing.T, v Value) {
	t.Helper()
	switch {
	case v.IsArray():
		var want []json.RawMessage
		if err := json.Unmarshal(v.Raw(), &want); err != nil {
			t.Fatal(err)
		}
		var outer [][]byte
		parts := v.Elements()
		if len(parts) != len(want) {
			t.Fatalf("%d elements, want %d", len(parts), len(want))
		}
		for i, part := range parts {
			outer = append(outer, part.Outer())
			if !bytes.Equal(part.Value.Raw(), want[i]) || !bytes.Equal(part.With(part.Value.Raw()), part.Outer()) {
				t.Fatalf("element %d is %s, want %s", i, part.Value.Raw(), want[i])
			}
			compare(t, part.Value)
		}
		if got := "[" + string(bytes.Join(outer, []byte(","))) + "]"; len(parts) > 0 && got != string(v.Raw()) {
			t.Fatalf("got %s, want %s", got, v.Raw())
		}
	case v.IsObject():
		want := map[string]json.RawMessage{}
		if err := json.Unmarshal(v.Raw(), &want); err != nil {
			t.Fatal(err)
		}
		o, err := v.Object("")
		if err != nil {
			if len(o.Members) == len(want) {
				t.Fatalf("%v, but no name is given twice", err)
			}
			return
		}
		if len(o.Members) != len(want) {
			t.Fatalf("%d members, want %d", len(o.Members), len(want))
		}
		for _, m := range o.Members {
			if got := o.Get(m.Name); !bytes.Equal(got.Raw(), want[m.Name]) || !bytes.HasSuffix(bytes.TrimSpace(m.Outer()), got.Raw()) {
				t.Fatalf("member %q is %s, want %s", m.Name, got.Raw(), want[m.Name])
			}
			compare(t, m.Value)
		}
	case v.IsString():
		var want string
		if err := json.Unmarshal(v.Raw(), &want); err != nil || v.String() != want {
			t.Fatalf("got %q, want %q", v.String(), want)
		}
	}
}

func TestErrors(t *testing.T) {
	tests := []struct{ name, why, text, want string }{
		{"empty", "an empty file is a mistake", "", "line 1: expected JSON, got nothing (column 1)"},
		{"blank", "and so is a blank one", " \n\n", "line 2: expected JSON, got nothing (column 1)"},
		{"trailing comma", "the usual mistake has words of its own", "[\n1,\n]", "line 3: JSON allows no comma before a closing ] (column 1)"},
		{"object comma", "in objects too", `{"a":1,}`, "line 1: JSON allows no comma before a closing } (column 8)"},
		{"cut off", "a file may end too early", "[\n{\"a\":", "line 2: unexpected end of JSON input (column 5)"},
		{"character", "other mistakes are encoding/json's", "[\n a]", "line 2: invalid character 'a' looking for beginning of value (column 2)"},
		{"deep", "nesting has a limit", strings.Repeat("[", 10001), "line 1: invalid character '[' exceeded max depth (column 10001)"},
		{"utf-16", "files of other encodings are named", "\xff\xfe[\x00]\x00", "the text is UTF-16; it must be UTF-8"},
		{"bytes", "bytes that are no text are found", "[\n\"\xe9\"]", "line 2: the text is not valid UTF-8 at byte 3"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			text, err := NewText([]byte(tt.text))
			if err == nil {
				_, err = text.Value()
			}
			if _, ok := errors.AsType[*Error](err); !ok || err.Error() != tt.want {
				t.Errorf("%s:\ngot  %v\nwant %s", tt.why, err, tt.want)
			}
		})
	}
}

func TestLines(t *testing.T) {
	text, err := NewText([]byte("\xef\xbb\xbf\n{\"a\":1}\r\n \t\n [2] \n3"))
	if err != nil {
		t.Fatal(err)
	}
	parts, err := text.Lines()
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, p := range parts {
		got = append(got, string(p.Value.Raw()), string(rune('0'+p.Value.Line())))
	}
	if want := []string{`{"a":1}`, "2", "[2]", "4", "3", "5"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	text, _ = NewText([]byte("1\n2 3\n"))
	if _, err := text.Lines(); err == nil || !strings.HasPrefix(err.Error(), "line 2: ") {
		t.Errorf("got %v, want an error in line 2", err)
	}
}

func TestManyMembers(t *testing.T) {
	var b strings.Builder
	for i := range 1000 {
		b.WriteString(`"` + strings.Repeat("x", i) + `": ` + string(rune('0'+i%10)) + ",")
	}
	for name, tail := range map[string]string{"distinct": `"y":0`, "twice": `"xx":0`} {
		text, _ := NewText([]byte("{" + b.String() + tail + "}"))
		v, err := text.Value()
		if err != nil {
			t.Fatal(err)
		}
		o, err := v.Object("p")
		if name == "twice" {
			if err == nil || err.Error() != "line 1: p.xx is given twice" {
				t.Errorf("got %v", err)
			}
			continue
		}
		if err != nil || string(o.Get("xxx").Raw()) != "3" || o.Has("z") {
			t.Errorf("%v, %s, %t", err, o.Get("xxx").Raw(), o.Has("z"))
		}
	}
}
