package jsonwire

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"reflect"
	"strconv"
	"strings"
	"testing"
)

func readAs[T any](text string, read func(*Reader) T) (v T, fault *Fault) {
	fault = Read([]byte(text), func(r *Reader) { v = read(r) })
	return v, fault
}

// describe writes values as Go syntax, so that one table serves all readers.
func describe[T any](read func(*Reader) T) func(string) string {
	return func(text string) string {
		v, fault := readAs(text, read)
		if fault == nil {
			return fmt.Sprintf("%#v", v)
		}
		return "error: " + fault.Reason
	}
}

func TestReadScalars(t *testing.T) {
	// The limits of int, which has 32 bits on some machines.
	minInt, maxInt := strconv.Itoa(math.MinInt), strconv.Itoa(math.MaxInt)
	text, boolean, value := describe((*Reader).String), describe((*Reader).Bool), describe((*Reader).Any)
	integer, float, number := describe((*Reader).Int), describe((*Reader).Float), describe((*Reader).Number)
	const half = "error: has an escape that is one half of a surrogate pair"
	tests := []struct {
		read            func(string) string
		text, want, why string
	}{
		{text, ` "a b" `, `"a b"`, "white space around a value does not count"},
		{text, `"\"\\\/\b\f\n\r\t\u00e9\u00E9x"`, `"\"\\/\b\f\n\r\tééx"`, "every escape of the grammar; digits have two cases"},
		{text, `"a\"\\\/\b\f\n\r\tn\\u"`, `"a\"\\/\b\f\n\r\tn\\u"`, "every escape without a number; a backslash may stand before a u"},
		{text, `"\n\t"`, `"\n\t"`, "and nothing else"},
		{text, `"\ud83d\ude00!"`, `"😀!"`, "two escapes, one character"},
		{text, `"\ufffd` + "\ufffd" + `"`, `"��"`, "U+FFFD is a character like any other"},
		{text, `"\ud83d"`, half, "no UTF-8 for it: encoding/json would replace it"},
		{text, `"\ud83d\u0041"`, half, "the second escape is not a low half"},
		{text, `"\ud83dabcdefgh"`, half, "no second escape follows"},
		{text, `"\ude00\ud83d"`, half, "a low half needs a high one before"},
		{text, `1`, "error: must be a string, got a number", "wrong type"},
		{text, `[]`, "error: must be a string, got an array", "wrong type"},
		{text, `{}`, "error: must be a string, got an object", "wrong type"},
		{text, `true`, "error: must be a string, got a boolean", "wrong type"},
		{text, `null`, "error: must be a string, got null", "wrong type"},

		{boolean, `true`, `true`, "a boolean"},
		{boolean, ` false`, `false`, "a boolean"},
		{boolean, `"true"`, "error: must be true or false, got a string", "wrong type"},

		{integer, "7 ", "7", "white space after it does not count"},
		{integer, "7\n", "7", "nor does the end of a line"},
		{boolean, "true\t", "true", "nor a tab"},
		{integer, `-0`, `0`, "the integers have one zero"},
		{integer, maxInt, maxInt, "2^63-1"},
		{integer, "9223372036854775808", "error: must be from " + minInt + " to " + maxInt + ", got 9223372036854775808", "2^63 would wrap"},
		{integer, strings.Repeat("9", 41), "error: must be from " + minInt + " to " + maxInt + ", got " + strings.Repeat("9", 40) + "…", "errors stay short"},
		{integer, strings.Repeat("9", 40), "error: must be from " + minInt + " to " + maxInt + ", got " + strings.Repeat("9", 40), "forty digits are shown whole"},
		{integer, "1e3", "1000", "the same number as 1000"},
		{integer, "-1.28E+2", "-128", "an exponent may move the point to the end"},
		{integer, "0.00012e5", "12", "leading zeros do not count as digits"},
		{integer, "0.0e-99999999999999999999", "0", "zero is zero, however it is scaled"},
		{integer, maxInt + ".00", maxInt, "exact, where a float64 would round"},
		{integer, minInt + "0e-1", minInt, "exact, where a float64 would round"},
		{integer, "9223372036854775808.0", "error: must be from " + minInt + " to " + maxInt + ", got 9223372036854775808.0", "2^63 would wrap"},
		{integer, "1.5", "error: must be an integer, got 1.5", "there are no half tokens"},
		{integer, "1.0000000000000000000000000000001", "error: must be an integer, got 1.0000000000000000000000000000001", "a float64 would be 1"},
		{integer, "1e-1", "error: must be an integer, got 1e-1", "a tenth"},
		{integer, "1e999999999", "error: must be from " + minInt + " to " + maxInt + ", got 1e999999999", "its zeros are not written out"},
		{integer, "1e-99999999999999999999", "error: must be an integer, got 1e-99999999999999999999", "the exponent itself is out of every range"},
		{integer, "0." + strings.Repeat("0", 30) + "5e31", "5", "the digits after the point cancel the exponent"},
		{integer, "1e19", "error: must be from " + minInt + " to " + maxInt + ", got 1e19", "10^19 is above 2^63"},
		{integer, `"3"`, "error: must be an integer, got a string", "wrong type"},

		{float, `1e-999`, `0`, "the nearest float64 is 0"},
		{float, ` "NaN"`, `NaN`, "the wire format's word"},
		{float, `"-Infinity"`, `-Inf`, "the wire format's word"},
		{float, `1e999`, "error: must be within the range of a float64, got 1e999", "a number is not silently an infinity"},
		{float, `"inf"`, `error: must be a number, "NaN", "Infinity" or "-Infinity", got a string`, "three words are allowed"},
		{float, `"1.5"`, `error: must be a number, "NaN", "Infinity" or "-Infinity", got a string`, "a number is no word"},
		{number, `"NaN"`, "error: must be a number, got a string", "no words"},

		{value, "12345678901234567890.50", `"12345678901234567890.50"`, "every digit is kept, a trailing 0 too"},
		{value, "[]", "[]interface {}{}", "empty is not null"},
		{value, "{}", "map[string]interface {}{}", "empty is not null"},
		{value, `{"a":1,"\u0061":2}`, `error: has the name "a" twice`, "one would be lost"},
		{value, `[[{"b":["\udc00"]}]]`, half, "also deep inside"},
		{value, `{"b":{"\ud800\n":true}}`, "error: has a name that has an escape that is one half of a surrogate pair", "nor can it be a name"},
	}
	for _, tt := range tests {
		if got := tt.read(tt.text); got != tt.want {
			t.Errorf("%s: got %s, want %s: %s", tt.text, got, tt.want, tt.why)
		}
	}
	if f, fault := readAs("-0.0", (*Reader).Float); fault != nil || f != 0 || !math.Signbit(f) {
		t.Errorf("Float(-0.0) = %v, %v; want a negative zero", f, fault)
	}
}

// TestNothingIsReadAfterAMistake reads what would be there.
func TestNothingIsReadAfterAMistake(t *testing.T) {
	for text, read := range map[string]func(*Reader) any{
		`12`:      func(r *Reader) any { return r.Int() == 0 },
		`"NaN"`:   func(r *Reader) any { return r.Float() == 0 },
		`"text"`:  func(r *Reader) any { return r.String() == "" },
		`true`:    func(r *Reader) any { return !r.Bool() },
		`null`:    func(r *Reader) any { return !r.Null() },
		`[1]`:     func(r *Reader) any { return r.Any() == nil },
		`{"a":1}`: func(r *Reader) any { return r.Value() == nil },
		`[3]`:     func(r *Reader) any { r.Array(func() { r.Fail("there", "goes on") }); return true },
		`{"b":1}`: func(r *Reader) any { r.Map(func(string) { r.Fail("there", "goes on") }); return true },
		`{"c":1}`: func(r *Reader) any { (&Codec{R: r}).Object(func() { r.Fail("there", "goes on") }); return true },
	} {
		fault := Read([]byte(text), func(r *Reader) {
			r.Fail("here", "is wrong")
			if read(r) != true || r.pos != 0 {
				t.Errorf("%s was read after a mistake, up to %d", text, r.pos)
			}
		})
		if fault == nil || fault.Path != "here" || fault.Reason != "is wrong" {
			t.Errorf("%s: %v, want the first mistake", text, fault)
		}
	}
}

// TestDeepTextTakesLinearTime: each byte is looked at once, or this would take 9 GB.
func TestDeepTextTakesLinearTime(t *testing.T) {
	agreesWithEncodingJSON(t, []byte(strings.Repeat("[", 9_000)+`"`+strings.Repeat("x", 1<<20)+`"`+strings.Repeat("]", 9_000)))
}

func TestCheck(t *testing.T) {
	var syntax *json.SyntaxError
	if fault := Check([]byte(`{} x`)); fault == nil || !errors.As(fault.Err, &syntax) || fault.Reason != "is malformed: invalid character 'x' after top-level value at byte 4" {
		t.Errorf("Check says %v, want the words of encoding/json and the place", fault)
	}
	if fault := Check([]byte("\"a\xff\"")); fault == nil || fault.Reason != "is malformed: is not valid UTF-8" {
		t.Errorf("Check says %v; encoding/json would repair the byte in silence", fault)
	}
}

// FuzzAny compares the reader with encoding/json, and what it reads with what
// is written of it.
func FuzzAny(f *testing.F) {
	for _, seed := range []string{
		`null`, `"\ud83d\ude00\u00e9"`, `[1,2.50,-0,1e-7,{"a":{"b":[]}}]`, `{"a":1,"a":2}`, `"\ud800"`, `{"\u2028":"<&>\u007f\u0000"}`,
		` [ ] `, "\"\xff\"", `[1,]`, `{"a"}`, `{1:2}`, `[01,-,1.,1e,1e+,.5,-01]`, `-`, `tru`, `"\u12g4"`, `"\`, "\"a\tb\"", `{"a":{"b":"\ud800"},"c":1}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(agreesWithEncodingJSON)
}

func agreesWithEncodingJSON(t *testing.T, data []byte) {
	t.Helper()
	if Check(data) != nil {
		return
	}
	var text []byte
	skipped := Read(data, func(r *Reader) { text = r.Value() })
	if whole := strings.Trim(string(data), " \t\r\n"); skipped != nil || string(text) != whole {
		t.Fatalf("skipped %s with %v, want %s", text, skipped, whole)
	}
	got, fault := readAs(string(data), (*Reader).Any)
	if fault != nil {
		if fault.Path != "" {
			t.Fatalf("%v, and encoding/json takes it", fault)
		}
		return
	}
	var want any
	dec := json.NewDecoder(strings.NewReader(string(data)))
	dec.UseNumber()
	if err := dec.Decode(&want); err != nil || !reflect.DeepEqual(got, want) {
		t.Fatalf("Any = %#v, encoding/json has %#v, %v", got, want, err)
	}
	written, fault := Write(func(c *Codec) { c.W.Any(got) })
	if fault != nil {
		t.Fatalf("what was read cannot be written: %v", fault)
	}
	if again, fault := readAs(string(written), (*Reader).Any); fault != nil || !reflect.DeepEqual(again, got) {
		t.Fatalf("read %#v, wrote %s, read %#v, %v", got, written, again, fault)
	}
}
