package jsonwire

import (
	"slices"
	"strings"
	"testing"
)

// TestOneWrongByte spoils texts at each place in all ways that matter to the
// grammar, and holds the readers to encoding/json.
func TestOneWrongByte(t *testing.T) {
	alphabet := []byte("\"\\{}[]:,.+-edDEu/'`:;AFGafgnt019 \t\n\x00\x1f\x7f\x80\xc3\xff")
	for _, text := range []string{
		`{"a":[1,-2.50e+3,0],"b":{"c":null}}`,
		` [ true , false , null , "x" ] `,
		`"\"\\\/\b\f\n\r\t"`,
		`"ab\u00e9cd\ud83d\ude00"`,
		"\"12345678é\\n12345678é\"",
		"{\"é\":1,\"\\u0061b\":\"\"}",
		`[[],[[]],{},{"":{}}]`,
		`-0.5E-7`,
	} {
		agreesWithEncodingJSON(t, []byte(text))
		for at := range len(text) + 1 {
			before, behind := text[:at], text[at:]
			agreesWithEncodingJSON(t, slices.Clip([]byte(before)))
			for _, c := range alphabet {
				agreesWithEncodingJSON(t, slices.Clip([]byte(before+string([]byte{c})+behind)))
				if behind != "" {
					agreesWithEncodingJSON(t, slices.Clip([]byte(before+string([]byte{c})+behind[1:])))
				}
			}
			if behind != "" {
				agreesWithEncodingJSON(t, slices.Clip([]byte(before+behind[1:])))
			}
		}
	}
}

// TestOneWrongByteInAShape does the same for objects whose fields are known.
func TestOneWrongByteInAShape(t *testing.T) {
	const text = `{"n":1,"x":[1,"é\n"],"s":"aé\n","list":[{"y":{"z":[]}}]}`
	for at := range len(text) + 1 {
		for _, c := range []byte("\"\\{}[]:,1nu \x00\xff") {
			for _, spoilt := range []string{text[:at] + string([]byte{c}) + text[at:], text[:at] + string([]byte{c}) + text[min(at+1, len(text)):], text[:at]} {
				got, malformed := readShape(spoilt), Check([]byte(spoilt))
				if want := "error: : is malformed: "; malformed != nil && got != want+malformed.Error() || malformed == nil && strings.HasPrefix(got, want) {
					t.Fatalf("read %q as %s, encoding/json says %v", spoilt, got, malformed)
				}
			}
		}
	}
}

func TestManyShallowValues(t *testing.T) {
	for _, text := range []string{"[]", "{}", "[[]]", `{"a":{}}`} {
		list := []byte("[" + strings.Repeat(text+",", 10_001) + text + "]")
		if v, err := Read(list, (*Reader).Any); err != nil || len(v.([]any)) != 10_002 {
			t.Errorf("many of %s: %v; what is closed is no longer nested", text, err)
		}
		if e, err := Elements(list); err != nil || len(e) != 10_002 {
			t.Errorf("many of %s: %v; what is passed over is no longer nested", text, err)
		}
	}
}

// TestTheDeepestText is nested as deep as may be; the next is not.
func TestTheDeepestText(t *testing.T) {
	for _, depth := range []int{maxDepth, maxDepth + 1} {
		agreesWithEncodingJSON(t, []byte(strings.Repeat("[", depth)+strings.Repeat("]", depth)))
		agreesWithEncodingJSON(t, []byte(strings.Repeat(`{"":`, depth)+"1"+strings.Repeat("}", depth)))
	}
}

// TestMistakesReadAsZero reads values that cannot be, and asks for the mistake
// before the reader is closed.
func TestMistakesReadAsZero(t *testing.T) {
	for text, read := range map[string]func(*Reader) bool{
		`1e999`:  func(r *Reader) bool { return r.Number() == 0 },
		`-1e999`: func(r *Reader) bool { return r.Float() == 0 },
		`1.5`:    func(r *Reader) bool { return r.Int() == 0 },
		`1e99`:   func(r *Reader) bool { return r.Int() == 0 },
		`null`:   func(r *Reader) bool { return !r.Bool() },
	} {
		r := NewReader([]byte(text))
		if r.Err() != nil {
			t.Errorf("%s: a mistake before anything is read: %v", text, r.Err())
		}
		if zero := read(r); !zero || r.Err() == nil {
			t.Errorf("%s: zero is %t, the mistake is %v", text, zero, r.Err())
		}
		if err := r.Close(); err == nil {
			t.Errorf("%s: there is no mistake", text)
		}
	}
}

// TestNothingIsReadAfterAMistake reads what would be there.
func TestNothingIsReadAfterAMistake(t *testing.T) {
	for text, read := range map[string]func(*Reader) bool{
		`12`:      func(r *Reader) bool { return r.Int() == 0 },
		`1.5`:     func(r *Reader) bool { return r.Float() == 0 },
		`"NaN"`:   func(r *Reader) bool { return r.Float() == 0 },
		`2.5`:     func(r *Reader) bool { return r.Number() == 0 },
		`"text"`:  func(r *Reader) bool { return r.String() == "" },
		`"word"`:  func(r *Reader) bool { return r.Word() == "" },
		`true`:    func(r *Reader) bool { return !r.Bool() },
		`null`:    func(r *Reader) bool { return !r.Null() },
		`[1]`:     func(r *Reader) bool { return r.Any() == nil },
		`{"a":1}`: func(r *Reader) bool { return r.Any() == nil },
		`[2]`:     func(r *Reader) bool { return r.Value() == nil && r.Raw() == nil },
		`[3]`:     func(r *Reader) bool { a := r.Array(); return !a.Next() },
		`{"b":1}`: func(r *Reader) bool { o := r.Object(nil); return !o.Next() },
	} {
		r := NewReader([]byte(text))
		r.Fail("here", "is wrong", nil)
		if !read(r) || r.pos != 0 {
			t.Errorf("%s was read after a mistake, up to %d", text, r.pos)
		}
		if err := r.Close(); err == nil || err.Path != "here" {
			t.Errorf("%s: %v, want the first mistake", text, err)
		}
	}
}

func TestClosedReadersKeepNoText(t *testing.T) {
	r := NewReader([]byte(`"` + strings.Repeat(`\n`, 1<<17) + `"`))
	if len(r.String()) != 1<<17 {
		t.Error("the string is not whole")
	}
	if err := r.Close(); err != nil || r.data != nil || r.err != nil || r.text != nil {
		t.Errorf("a closed reader keeps %d bytes, an error %v, %d bytes for escapes", len(r.data), r.err, cap(r.text))
	}
}

func TestRequiredFields(t *testing.T) {
	for text, want := range map[string]string{
		`{"a":1,"b":2,"c":3}`:    "",
		`{"c":1,"b":2,"a":3}`:    "",
		`{"a":1,"b":2}`:          "",
		`{"b":2}`:                "a: is required",
		`{"a":1,"c":2}`:          "b: is required",
		`{"a":1,"b":null}`:       "b: is required",
		`{"c":1}`:                "a: is required",
		`{"a":1,"b":"x"}`:        "b: must be an integer, got a string",
		`{"a":1,"b":2,"b":3}`:    `["b"]: is given twice`,
		`{"a":1,"b":2,"c":true}`: "c: must be an integer, got a boolean",
	} {
		r := NewReader([]byte(text))
		for o := r.Object(NewShape(2, "a", "b", "c")); o.Next(); {
			r.Int()
		}
		got := ""
		if err := r.Close(); err != nil {
			got = err.Error()
		}
		if got != want {
			t.Errorf("%s: %q, want %q", text, got, want)
		}
	}
}

func TestPathsOfElements(t *testing.T) {
	for text, want := range map[string]string{
		`{"n":1,"list":[{"x":{"y":1,"y":2}}]}`:       `error: list[0]["x"]: has the name "y" twice`,
		`{"n":1,"list":[3]}`:                         "error: list[0]: must be an object, got a number",
		`{"n":1,"list":[{"x":1},{"x":1},[]]}`:        "error: list[2]: must be an object, got an array",
		`{"n":1,"list":[{"x":1},{"a\"b":"\ud800"}]}`: `error: list[1]["a\"b"]: has an escape that is one half of a surrogate pair`,
	} {
		if got := readShape(text); got != want {
			t.Errorf("%s: %s, want %s", text, got, want)
		}
	}
}

func TestJoin(t *testing.T) {
	for _, tt := range []struct{ outer, inner, want, why string }{
		{"", "", "", "no path at all"},
		{"a", "", "a", "the outer value itself"},
		{"", "b", "b", "nothing is around it"},
		{"a", "b", "a.b", "a field"},
		{"a", "[0].b", "a[0].b", "an element needs no point"},
	} {
		if got := Join(tt.outer, tt.inner); got != tt.want {
			t.Errorf("Join(%q, %q) = %q, want %q: %s", tt.outer, tt.inner, got, tt.want, tt.why)
		}
	}
}

func TestTheFirstFailureOfAWriterCounts(t *testing.T) {
	var w Writer
	w.Fail("is the first", nil)
	w.Fail("is the second", nil)
	if _, err := w.Result(); err == nil || err.Reason != "is the first" {
		t.Errorf("failed with %v", err)
	}
}
