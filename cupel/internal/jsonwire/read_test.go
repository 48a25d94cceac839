package jsonwire

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"
)

func TestCheck(t *testing.T) {
	tests := []struct {
		name, text, want string // want is part of the error, "" for none
		why              string
	}{
		{"object", ` {"a": [1, "x", null]} `, "", "white space around a value is allowed"},
		{"empty", "", "unexpected end of JSON input at byte 0", "no text is no value"},
		{"blank", " \n", "unexpected end of JSON input at byte 2", "white space is no value"},
		{"truncated", `{"a": [1`, "unexpected end of JSON input at byte 8", "the brackets are open"},
		{"garbage behind", `{} x`, "invalid character 'x' after top-level value at byte 4", "one value and nothing else"},
		{"two values", `{}{}`, "after top-level value", "one value and nothing else"},
		{"NaN", `NaN`, "invalid character 'N'", "JSON has no NaN"},
		{"leading zero", `01`, "after top-level value", "JSON has no octal numbers"},
		{"control character", "\"a\nb\"", "invalid character '\\n' in string literal", "control characters are escaped in JSON"},
		{"bad escape", `"\x41"`, "in string escape code", "JSON has no \\x"},
		{"not UTF-8", "\"a\xffb\"", "is not valid UTF-8", "JSON is UTF-8; encoding/json would repair it in silence"},
		{"deepest", strings.Repeat("[", 10000) + strings.Repeat("]", 10000), "", "encoding/json's limit itself is allowed"},
		{"too deep", strings.Repeat("[", 10001) + strings.Repeat("]", 10001), "exceeded max depth", "one more than encoding/json's limit"},
		{"very deep", strings.Repeat(`{"a":`, 1_000_000), "exceeded max depth", "depth never exhausts the stack"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			err := Check([]byte(tt.text))
			if tt.want == "" {
				if err != nil {
					t.Fatalf("Check failed with %v: %s", err, tt.why)
				}
				return
			}
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Fatalf("Check = %v, want %q: %s", err, tt.want, tt.why)
			}
		})
	}
	var syntax *json.SyntaxError
	if err := Check([]byte("{")); !errors.As(err, &syntax) {
		t.Errorf("Check({) = %v, which does not wrap a json.SyntaxError", err)
	}
}

// describe writes values as Go syntax, so that one table serves all readers.
func describe[T any](v T, err error) string {
	if err != nil {
		if !reflect.ValueOf(&v).Elem().IsZero() {
			return fmt.Sprintf("%#v with error %v", v, err)
		}
		return "error: " + err.Error()
	}
	return fmt.Sprintf("%#v", v)
}

func TestReadScalars(t *testing.T) {
	// The limits of int, which has 32 bits on some machines.
	minInt, maxInt := strconv.Itoa(math.MinInt), strconv.Itoa(math.MaxInt)
	str := func(raw []byte) string { return describe(Read(raw, (*Reader).String)) }
	boolean := func(raw []byte) string { return describe(Read(raw, (*Reader).Bool)) }
	integer := func(raw []byte) string { return describe(Read(raw, (*Reader).Int)) }
	float := func(raw []byte) string { return describe(Read(raw, (*Reader).Float)) }
	number := func(raw []byte) string { return describe(Read(raw, (*Reader).Number)) }
	tests := []struct {
		name string
		read func([]byte) string
		text string
		want string
		why  string
	}{
		{"string", str, ` "a b" `, `"a b"`, "white space around a value does not count"},
		{"string with escapes", str, `"\"\\\/\b\f\n\r\t\u00e9"`, `"\"\\/\b\f\n\r\té"`, "every escape of the JSON grammar"},
		{"surrogate pair", str, `"\ud83d\ude00!"`, `"😀!"`, "two escapes, one character"},
		{"upper case hex", str, `"\u00E9\u20AC"`, `"é€"`, "hexadecimal digits have two cases"},
		{"replacement character", str, `"\ufffd` + "\ufffd" + `"`, `"��"`, "U+FFFD is a character like any other"},
		{"high half alone", str, `"\ud83d"`, "error: has an escape that is one half of a surrogate pair", "no UTF-8 for it: encoding/json would replace it"},
		{"high half and a letter", str, `"\ud83d\u0041"`, "error: has an escape that is one half of a surrogate pair", "the second escape is not a low half"},
		{"high half and text", str, `"\ud83dabcdefgh"`, "error: has an escape that is one half of a surrogate pair", "no second escape follows"},
		{"low half alone", str, `"\ude00"`, "error: has an escape that is one half of a surrogate pair", "a low half needs a high one before"},
		{"string: number", str, `1`, "error: must be a string, got a number", "wrong type"},
		{"string: object", str, `{}`, "error: must be a string, got an object", "wrong type"},
		{"string: array", str, `[]`, "error: must be a string, got an array", "wrong type"},
		{"string: true", str, `true`, "error: must be a string, got a boolean", "wrong type"},
		{"string: false", str, `false`, "error: must be a string, got a boolean", "wrong type"},
		{"string: null", str, `null`, "error: must be a string, got null", "wrong type"},

		{"true", boolean, `true`, `true`, "a boolean"},
		{"false", boolean, ` false`, `false`, "a boolean"},
		{"boolean: string", boolean, `"true"`, "error: must be true or false, got a string", "wrong type"},

		{"integer", integer, ` -12 `, `-12`, "a negative integer"},
		{"minus zero", integer, `-0`, `0`, "the integers have one zero"},
		{"largest", integer, maxInt, maxInt, "2^63-1"},
		{"smallest", integer, minInt, minInt, "-2^63, or -2^31"},
		{"one too large", integer, "9223372036854775808", "error: must be from " + minInt + " to " + maxInt + ", got 9223372036854775808", "2^63 would wrap"},
		{"far too large", integer, strings.Repeat("9", 100), "error: must be from " + minInt + " to " + maxInt + ", got " + strings.Repeat("9", 40) + "…", "errors stay short"},
		{"40 digits", integer, strings.Repeat("9", 40), "error: must be from " + minInt + " to " + maxInt + ", got " + strings.Repeat("9", 40), "forty digits are shown whole"},
		{"fraction of zeros", integer, "3.0", "3", "JSON Schema counts it as an integer"},
		{"exponent", integer, "1e3", "1000", "the same number as 1000"},
		{"fraction and exponent", integer, "-1.28E+2", "-128", "an exponent may move the point to the end"},
		{"negative exponent", integer, "1000e-1", "100", "or zeros behind it"},
		{"all digits behind the point", integer, "0.00012e5", "12", "leading zeros do not count as digits"},
		{"minus zero with a fraction", integer, "-0.0", "0", "the integers have one zero"},
		{"zero with a huge exponent", integer, "0.0e-99999999999999999999", "0", "zero is zero, however it is scaled"},
		{"largest with a fraction", integer, maxInt + ".00", maxInt, "exact, where a float64 would round"},
		{"smallest with an exponent", integer, minInt + "0e-1", minInt, "exact, where a float64 would round"},
		{"one too large with a fraction", integer, "9223372036854775808.0", "error: must be from " + minInt + " to " + maxInt + ", got 9223372036854775808.0", "2^63 would wrap"},
		{"half", integer, "1.5", "error: must be an integer, got 1.5", "there are no half tokens"},
		{"nearly whole", integer, "1.0000000000000000000000000000001", "error: must be an integer, got 1.0000000000000000000000000000001", "a float64 would be 1"},
		{"small", integer, "1e-1", "error: must be an integer, got 1e-1", "a tenth"},
		{"huge exponent", integer, "1e999999999", "error: must be from " + minInt + " to " + maxInt + ", got 1e999999999", "its zeros are not written out"},
		{"tiny", integer, "1e-99999999999999999999", "error: must be an integer, got 1e-99999999999999999999", "the exponent itself is out of every range"},
		{"huge exponent that does not matter", integer, "0." + strings.Repeat("0", 30) + "5e31", "5", "the digits after the point cancel it"},
		{"20 digits", integer, "1e19", "error: must be from " + minInt + " to " + maxInt + ", got 1e19", "10^19 is above 2^63"},
		{"integer: string", integer, `"3"`, "error: must be an integer, got a string", "wrong type"},

		{"float", float, `0.1`, `0.1`, "the nearest float64"},
		{"float from integer", float, `7`, `7`, "an integer is a number"},
		{"float with exponent", float, `-2.5E-3`, `-0.0025`, "JSON's exponent"},
		{"smallest float", float, `5e-324`, `5e-324`, "the smallest denormal"},
		{"underflow", float, `1e-999`, `0`, "the nearest float64 is 0"},
		{"NaN", float, `"NaN"`, `NaN`, "the wire format's word"},
		{"infinity", float, `"Infinity"`, `+Inf`, "the wire format's word"},
		{"minus infinity", float, `"-Infinity"`, `-Inf`, "the wire format's word"},
		{"overflow", float, `1e999`, "error: must be within the range of a float64, got 1e999", "a number is not silently an infinity"},
		{"other words", float, `"inf"`, `error: must be a number, "NaN", "Infinity" or "-Infinity", got a string`, "three words are allowed"},
		{"number", number, ` -2.5E-3 `, `-0.0025`, "as Float reads it"},
		{"number: overflow", number, `1e999`, "error: must be within the range of a float64, got 1e999", "as Float refuses it"},
		{"number: NaN", number, `"NaN"`, "error: must be a number, got a string", "no words"},
		{"number: boolean", number, ` true`, "error: must be a number, got a boolean", "wrong type"},
		{"nine digits", integer, "-12345678", "-12345678", "short numbers are read by hand"},
		{"ten digits", integer, "1234567890", "1234567890", "longer ones are not"},
		{"eight characters", str, `"1234567\n9012345\"89"`, `"1234567\n9012345\"89"`, "escapes in the last place of eight bytes"},
		{"letters beyond ASCII behind an escape", str, `"a\n` + "123456789é" + `"`, `"a\n123456789é"`, "either part is UTF-8"},
		{"number in a string", float, `"1.5"`, `error: must be a number, "NaN", "Infinity" or "-Infinity", got a string`, "wrong type"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if err := Check([]byte(tt.text)); err != nil {
				t.Fatalf("the row is no JSON: %v", err)
			}
			if got := tt.read([]byte(tt.text)); got != tt.want {
				t.Errorf("got %s, want %s: %s", got, tt.want, tt.why)
			}
		})
	}
}

func TestMinusZeroKeepsItsSign(t *testing.T) {
	if f, err := Read([]byte("-0.0"), (*Reader).Float); err != nil || f != 0 || !math.Signbit(f) {
		t.Errorf("Float(-0.0) = %v, %v; want a negative zero", f, err)
	}
}

func TestMembersAndElements(t *testing.T) {
	text := []byte(" { \"a\" : 1 ,\n\"A\":\t{\"x\": [\"}\", \"\\\"]\"]}, \"\\u0061\" : null , \"\": [ ] }\r\n")
	members, err := Members(text)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, m := range members {
		got = append(got, m.Name+"="+string(m.Value))
	}
	want := []string{"a=1", `A={"x": ["}", "\"]"]}`, "a=null", "=[ ]"}
	if !slices.Equal(got, want) {
		t.Errorf("Members = %q, want %q", got, want)
	}
	if !IsNull(members[2].Value) || IsNull(members[0].Value) {
		t.Error("IsNull does not tell null from 1")
	}

	elements, err := Elements([]byte(` [ 1, "a,b" ,[2 , 3],{"c":4},true ]`))
	if err != nil {
		t.Fatal(err)
	}
	got = nil
	for _, e := range elements {
		got = append(got, string(e))
	}
	if want := []string{"1", `"a,b"`, "[2 , 3]", `{"c":4}`, "true"}; !slices.Equal(got, want) {
		t.Errorf("Elements = %q, want %q", got, want)
	}

	for _, empty := range []string{"{}", " { } "} {
		if m, err := Members([]byte(empty)); err != nil || len(m) != 0 {
			t.Errorf("Members(%q) = %v, %v", empty, m, err)
		}
	}
	if e, err := Elements([]byte("[ ]")); err != nil || len(e) != 0 {
		t.Errorf("Elements([ ]) = %v, %v", e, err)
	}
	if _, err := Members([]byte("[]")); err == nil || err.Error() != "must be an object, got an array" {
		t.Errorf("Members([]) fails with %v", err)
	}
	if _, err := Elements([]byte("{}")); err == nil || err.Error() != "must be an array, got an object" {
		t.Errorf("Elements({}) fails with %v", err)
	}
	if _, err := Members([]byte(`{"\ud800":1}`)); err == nil || err.Error() != "has a name that has an escape that is one half of a surrogate pair" {
		t.Errorf("Members with half a surrogate pair in a name fails with %v", err)
	}
}

func TestAny(t *testing.T) {
	tests := []struct {
		name, text string
		want       any
		why        string
	}{
		{"null", "null", nil, "null is a value"},
		{"booleans", "[true,false]", []any{true, false}, "both of them"},
		{"number", "12345678901234567890.50", json.Number("12345678901234567890.50"), "every digit is kept, a trailing 0 too"},
		{"empty array", "[]", []any{}, "empty is not null"},
		{"empty object", "{}", map[string]any{}, "empty is not null"},
		{"nested", `{"a":[{"b":"c"},1],"A":null}`, map[string]any{"a": []any{map[string]any{"b": "c"}, json.Number("1")}, "A": nil}, "names are compared exactly"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := Read([]byte(tt.text), (*Reader).Any)
			if err != nil || !reflect.DeepEqual(got, tt.want) {
				t.Errorf("Any = %#v, %v; want %#v: %s", got, err, tt.want, tt.why)
			}
		})
	}

	for text, want := range map[string]string{
		`{"a":1,"\u0061":2}`:      `has the name "a" twice`,
		`[[{"b":["\udc00"]}]]`:    "has an escape that is one half of a surrogate pair",
		`{"b":{"\ud800\n":true}}`: "has a name that has an escape that is one half of a surrogate pair",
	} {
		if _, err := Read([]byte(text), (*Reader).Any); err == nil || err.Error() != want {
			t.Errorf("Any(%s) fails with %v, want %q", text, err, want)
		}
	}
}

func TestAnyIsLinearInDepth(t *testing.T) {
	const depth = 9_000
	text := []byte(strings.Repeat("[", depth) + `"` + strings.Repeat("x", 1<<20) + `"` + strings.Repeat("]", depth))
	if err := Check(text); err != nil {
		t.Fatal(err)
	}
	v, err := Read(text, (*Reader).Any) // 9 GB to look at, if each level were read on its own
	if err != nil {
		t.Fatal(err)
	}
	levels := 0
	for list, ok := v.([]any); ok; list, ok = list[0].([]any) {
		levels++
	}
	if levels != depth {
		t.Errorf("%d levels came back, want %d", levels, depth)
	}
}

// FuzzAny compares the reader with encoding/json, and what it reads with what
// is written of it.
func FuzzAny(f *testing.F) {
	for _, seed := range []string{
		`null`, `"\ud83d\ude00\u00e9"`, `[1,2.50,-0,1e-7,{"a":{"b":[]}}]`, `{"a":1,"a":2}`, `"\ud800"`, `{"\u2028":"<&>\u007f\u0000"}`, ` [ ] `, "\"\xff\"", `[[[[`, `12 34`,
		`[1,]`, `{"a":1,}`, `{"a"}`, `{"a":}`, `{,}`, `{1:2}`, `[01,-,1.,1e,1e+,.5,-01]`, `-`, `1.`, `1e+`, `01`, `tru`, `nulls`, `"\u12g4"`, `"\x"`, `"\`, `"abc`,
		`"abcdefgh\ud83d"`, "\"a\tb\"", `{"a" 1}`, `"\ud83d\u00"`, `{"a":{"b":"\ud800"},"c":1}`, strings.Repeat("[", 10_001) + strings.Repeat("]", 10_001),
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) { agreesWithEncodingJSON(t, data) })
}

func agreesWithEncodingJSON(t *testing.T, data []byte) {
	t.Helper()
	r := NewReader(data)
	text := r.Raw()
	skipped := r.Close()
	got, err := Read(data, (*Reader).Any)
	if wrong := Check(data); wrong != nil {
		if want := "is malformed: " + wrong.Error(); err == nil || err.Error() != want || skipped == nil || skipped.Reason != want {
			t.Fatalf("read with %v, passed over with %v; want %s", err, skipped, want)
		}
		return
	}
	if skipped != nil || !bytes.Equal(text, Compact(data)) {
		t.Fatalf("passed over %s with %v, want %s", text, skipped, Compact(data))
	}
	if err != nil {
		if strings.HasPrefix(err.Error(), "is malformed") {
			t.Fatalf("%v, and encoding/json takes it", err)
		}
		return
	}
	var want any
	dec := json.NewDecoder(strings.NewReader(string(data)))
	dec.UseNumber()
	if err := dec.Decode(&want); err != nil {
		t.Fatalf("encoding/json refuses what Check and Any took: %v", err)
	}
	if !reflect.DeepEqual(got, want) {
		t.Fatalf("Any = %#v, encoding/json has %#v", got, want)
	}
	var w Writer
	w.Any(got)
	written, werr := w.Result()
	if werr != nil {
		t.Fatalf("what was read cannot be written: %v", werr)
	}
	if err := Check(written); err != nil {
		t.Fatalf("what was written is no JSON: %v", err)
	}
	again, err := Read(written, (*Reader).Any)
	if err != nil || !reflect.DeepEqual(again, got) {
		t.Fatalf("read %#v, wrote %s, read %#v, %v", got, written, again, err)
	}
}
