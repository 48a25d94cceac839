package jsonwire

import (
	"encoding/json"
	"errors"
	"math"
	"strconv"
	"strings"
	"testing"
	"time"
	"unicode/utf8"
)

func TestWriteAny(t *testing.T) {
	type inner struct {
		Name string `json:"name"`
	}
	tests := []struct {
		name  string
		value any
		want  string
		why   string
	}{
		{"nil", nil, `null`, "null is a value of metadata"},
		{"boolean", true, `true`, "as it is"},
		{"string", "a\"\\\n\r\t\x00\x1f<>&\u2028é😀", `"a\"\\\n\r\t\u0000\u001f<>&` + "\u2028" + `é😀"`, "nothing but what the grammar asks for is escaped"},
		{"integer", math.MinInt, strconv.Itoa(math.MinInt), "every digit"},
		{"unsigned", uint64(math.MaxUint64), `18446744073709551615`, "wider than an int"},
		{"float", 0.1, `0.1`, "the shortest form that reads back"},
		{"large float", 1e8, `1e+08`, "the form in which metadata is compared (R12)"},
		{"negative zero", math.Copysign(0, -1), `-0`, "the sign is kept"},
		{"smallest float", math.SmallestNonzeroFloat64, `5e-324`, "the shortest form that reads back"},
		{"json.Number", json.Number("1.500e+400"), `1.500e+400`, "its own text"},
		{"raw", json.RawMessage(` {"a" : [ 1 ] } `), `{"a":[1]}`, "without its white space"},
		{"raw replacement", json.RawMessage(`"\ufffd"`), `"\ufffd"`, "an escape that was there before is no repair"},
		{"nil list", []any(nil), `[]`, "an empty list, not null"},
		{"sorted map", map[string]any{"b": 1, "a": []any{nil, map[string]any{}}, "B": "x"}, `{"B":"x","a":[null,{}],"b":1}`, "map order never shows"},
		{"struct", inner{"<x>"}, `{"name":"<x>"}`, "as encoding/json writes it, without HTML escapes"},
		{"strings", []string{"a", "\ufffd"}, `["a","` + "\ufffd" + `"]`, "U+FFFD is a character like any other"},
		{"backslash before ufffd", []string{`\ufffd`}, `["\\ufffd"]`, "a backslash and six letters are no repair"},
		{"time", time.Date(2025, 1, 2, 3, 4, 5, 6, time.UTC), `"2025-01-02T03:04:05.000000006Z"`, "types that know their JSON"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var w Writer
			w.Any(tt.value)
			got, err := w.Result()
			if err != nil || string(got) != tt.want {
				t.Fatalf("wrote %s, %v; want %s: %s", got, err, tt.want, tt.why)
			}
			if err := Check(got); err != nil {
				t.Errorf("no JSON: %v", err)
			}
			if _, err := Read(got, (*Reader).Any); err != nil {
				t.Errorf("cannot be read back: %v", err)
			}
		})
	}
}

type panicking struct{ with any }

func (p panicking) MarshalJSON() ([]byte, error) { panic(p.with) }

type raw string

func (r raw) MarshalJSON() ([]byte, error) { return []byte(r), nil }

func TestWriteAnyFails(t *testing.T) {
	cycle := map[string]any{}
	cycle["self"] = []any{cycle, cycle}
	deep := any("bottom")
	for range 1_000_000 {
		deep = []any{deep}
	}
	boom := errors.New("boom")
	tests := []struct {
		name  string
		value any
		want  string // the beginning of the reason
		cause error  // what the error wraps, if that is known
		why   string
	}{
		{"channel", make(chan int), "cannot be encoded: json: unsupported type: chan int", nil, "no JSON for a channel"},
		{"function", func() {}, "cannot be encoded: json: unsupported type: func()", nil, "no JSON for a function"},
		{"NaN", math.NaN(), "must be a finite number, got NaN", nil, "metadata has no rule for words"},
		{"infinity", math.Inf(-1), "must be a finite number, got -Infinity", nil, "metadata has no rule for words"},
		{"float32 infinity", float32(math.Inf(1)), "cannot be encoded: json: unsupported value: +Inf", nil, "encoding/json refuses it"},
		{"complex", complex(1, 2), "cannot be encoded: json: unsupported type: complex128", nil, "no JSON for it"},
		{"not UTF-8", "a\xff", "is not valid UTF-8", nil, "encoding/json would replace the byte in silence"},
		{"strings not UTF-8", []string{"a", "\xff"}, "is a []string with a string that is not valid UTF-8", nil, "the same inside other types"},
		{"empty json.Number", json.Number(""), `must be a JSON number, got the json.Number ""`, nil, "encoding/json would write 0"},
		{"word", json.Number("NaN"), `must be a JSON number, got the json.Number "NaN"`, nil, "no JSON number"},
		{"true", json.Number("true"), `must be a JSON number, got the json.Number "true"`, nil, "JSON, but no number"},
		{"space", json.Number(" 1"), `must be a JSON number, got the json.Number " 1"`, nil, "not only a number"},
		{"hexadecimal", json.Number("0x10"), `must be a JSON number, got the json.Number "0x10"`, nil, "no JSON number"},
		{"raw garbage", json.RawMessage("{"), "is not JSON that can be read back: unexpected end of JSON input at byte 1", nil, "the writer would write what no reader takes"},
		{"raw nil", json.RawMessage(nil), "is not JSON that can be read back: unexpected end of JSON input at byte 0", nil, "no text is no value"},
		{"raw duplicate", json.RawMessage(`{"a":1,"a":2}`), `is not JSON that can be read back: has the name "a" twice`, nil, "a reader could keep only one"},
		{"marshaler duplicate", raw(`{"a":1,"a":2}`), `is not JSON that can be read back: has the name "a" twice`, nil, "the same from a Marshaler"},
		{"cycle", cycle, "is nested more than 10000 deep", nil, "a map that contains itself has no end"},
		{"deep", deep, "is nested more than 10000 deep", nil, "no reader goes that deep, and no stack is exhausted"},
		{"panic", panicking{"no"}, "panicked in the JSON encoding of jsonwire.panicking: no", nil, "a value's mistake does not end the program"},
		{"panic with error", []any{panicking{boom}}, "panicked in the JSON encoding of jsonwire.panicking: boom", boom, "the error is kept"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var w Writer
			w.Any(tt.value)
			w.Any("ignored once it has failed")
			text, err := w.Result()
			if err == nil {
				t.Fatalf("wrote %s: %s", text, tt.why)
			}
			if !strings.HasPrefix(err.Reason, tt.want) {
				t.Errorf("reason %q, want %q: %s", err.Reason, tt.want, tt.why)
			}
			if tt.cause != nil && !errors.Is(err, tt.cause) {
				t.Errorf("%v does not wrap %v", err, tt.cause)
			}
		})
	}
}

func TestWriterPath(t *testing.T) {
	var w Writer
	visited := 0
	w.Object(func() {
		w.Field("done").Array(2, func(i int) { w.Int(i) })
		w.Field("list").Array(3, func(i int) {
			visited++
			w.Object(func() {
				w.Field("float").Float(math.NaN())
				w.Field("data").Map([]string{"a", "b.\"c\"", "d"}, func(int) {
					if i == 1 {
						w.Array(2, func(int) { w.Any("\xff") })
						return
					}
					w.Raw([]byte("null"))
				})
			})
		})
		w.Field("after").Any("\xfe")
		w.Field("object").Object(func() { t.Error("a failed writer goes on") })
		w.Field("array").Array(1, func(int) { t.Error("a failed writer goes on") })
		w.Field("map").Map([]string{"never"}, func(int) { t.Error("a failed writer goes on") })
	})
	_, err := w.Result()
	if err == nil {
		t.Fatal("the writer did not fail")
	}
	if want := `list[1].data["a"][0]`; err.Path != want {
		t.Errorf("path %s, want %s", err.Path, want)
	}
	if want := `list[1].data["a"][0]: is not valid UTF-8`; err.Error() != want {
		t.Errorf("error %q, want %q", err, want)
	}
	if visited != 2 {
		t.Errorf("%d elements were visited, want 2: the first failure ends the work", visited)
	}

	var long Writer
	long.Array(math.MaxInt, func(int) { long.Fail("is wrong", nil) })
	if _, err := long.Result(); err == nil || err.Path != "[0]" { // and not after 2^63 elements
		t.Errorf("a failure in a long array is %v", err)
	}

	var root Writer
	root.Fail("is wrong", nil)
	if _, err := root.Result(); err == nil || err.Path != "" {
		t.Errorf("a failure at the root has path %q", err.Path)
	}
}

func TestWriterNameThatIsNotUTF8(t *testing.T) {
	var w Writer
	w.Any(map[string]any{"ok": 1, "\xff": 2})
	if _, err := w.Result(); err == nil || err.Path != `["\xff"]` || err.Reason != "is not valid UTF-8" {
		t.Errorf("failed with %v", err)
	}
}

func TestPathsOfTheGreatestLength(t *testing.T) {
	key := strings.Repeat("k", maxPath-len(`[""]`))
	whole := `["` + key + `"]`
	tests := []struct {
		name  string
		value any
		want  string
		why   string
	}{
		{"as long as may be", map[string]any{key: math.NaN()}, whole, "nothing is cut"},
		{"one byte more", map[string]any{key + "k": math.NaN()}, `["` + key + `k"…`, "the end is cut"},
		{"more behind", map[string]any{key: []any{math.NaN()}}, whole + "…", "what is cut is marked"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var w Writer
			w.Any(tt.value)
			if _, err := w.Result(); err == nil || err.Path != tt.want {
				t.Errorf("failed with %v, want the path %s: %s", err, tt.want, tt.why)
			}
		})
	}
}

// Texts of all lengths are whole, and none shares its memory with another.
func TestWriteSizes(t *testing.T) {
	var texts [][]byte
	lengths := []int{0, 10, 1 << 14, 1<<14 + 1, 1 << 16}
	sizes := []int{0, 100, 1 << 14, 1<<14 + 1, 1 << 20}
	for _, length := range lengths {
		for _, size := range sizes {
			text, err := Write(size, func(w *Writer) { w.String(strings.Repeat(string(rune('a'+len(texts))), length)) })
			if err != nil {
				t.Fatal(err)
			}
			texts = append(texts, text)
		}
	}
	for i, text := range texts {
		if want := `"` + strings.Repeat(string(rune('a'+i)), lengths[i/len(sizes)]) + `"`; string(text) != want {
			t.Errorf("text %d is %.20s of %d bytes, want %.20s of %d", i, text, len(text), want, len(want))
		}
	}
}

// TestWarmWritersDoNotAllocate counts the text alone: short ones are copied out
// of memory that is used again, long ones are made in the size that was named.
func TestWarmWritersDoNotAllocate(t *testing.T) {
	if raceEnabled {
		t.Skip("the race detector makes pools drop things at random")
	}
	for _, length := range []int{10, 1<<14 - 2, 1 << 14, 1 << 16} {
		s := strings.Repeat("x", length)
		write := func(w *Writer) { w.String(s) }
		do := func() {
			if text, err := Write(length+2, write); err != nil || len(text) != length+2 {
				t.Errorf("%d bytes: %v", len(text), err)
			}
		}
		do()
		if got := testing.AllocsPerRun(100, do); got > 1 {
			t.Errorf("a text of %d bytes takes %v allocations, want 1", length+2, got)
		}
	}
}

func TestWriterText(t *testing.T) {
	text, err := Write(0, func(w *Writer) {
		w.Object(func() {
			w.Field("ints").Array(3, func(i int) { w.Int(i - 1) })
			w.Field("floats").Array(5, func(i int) {
				w.Float([]float64{0.125, 1e21, math.NaN(), math.Inf(1), math.Inf(-1)}[i])
			})
			w.Field("map").Map([]string{`"`, "é"}, func(i int) { w.Bool(i == 1) })
			w.Field("empty").Map(nil, nil)
			w.Field("time").Time(time.Date(2025, 1, 2, 3, 4, 5, 60, time.UTC))
			w.Field("raw").Raw([]byte("null"))
		})
	})
	const want = `{"ints":[-1,0,1],"floats":[0.125,1e+21,"NaN","Infinity","-Infinity"],"map":{"\"":false,"é":true},` +
		`"empty":{},"time":"2025-01-02T03:04:05.00000006Z","raw":null}`
	if err != nil || string(text) != want {
		t.Errorf("wrote %s, %v, want %s", text, err, want)
	}
}

func TestShortNamesInPaths(t *testing.T) {
	_, err := Write(0, func(w *Writer) {
		w.Object(func() {
			w.Field("a").Object(func() { w.Field("b").Any(math.NaN()) })
		})
	})
	if err == nil || err.Path != "a.b" {
		t.Errorf("failed with %v, want the path a.b", err)
	}
}

func TestKeysThatAreNotUTF8HaveNoValue(t *testing.T) {
	_, err := Write(0, func(w *Writer) {
		w.Map([]string{"a", "\xff", "b"}, func(i int) {
			if w.Int(i); i > 0 {
				t.Errorf("the value of key %d is asked for", i)
			}
		})
	})
	if err == nil || err.Path != `["\xff"]` {
		t.Errorf("failed with %v", err)
	}
}

// TestWordsLikeAReplacement look as encoding/json's escape does, without its
// backslash or with an escaped one.
func TestWordsLikeAReplacement(t *testing.T) {
	for _, s := range []string{"ufffd", "xufffd", `\ufffd`, `\\ufffd`, "\tufffd", "\t\tufffd", "\ufffd"} {
		text, err := Write(0, func(w *Writer) { w.Any(struct{ S string }{s}) })
		if err != nil {
			t.Errorf("%q fails with %v, and is a text", s, err)
			continue
		}
		if got, err := Read(text, (*Reader).Any); err != nil || got.(map[string]any)["S"] != s {
			t.Errorf("%q came back as %v, %v", s, got, err)
		}
	}
}

// A writer is used again: nothing of one value may show in the next.
func TestWrite(t *testing.T) {
	first, err := Write(0, func(w *Writer) { w.Any(map[string]any{"a": "b", "c": []any{1}}) })
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Write(0, func(w *Writer) { w.Any([]any{map[string]any{"x": "\xff"}}) }); err == nil || err.Path != `[0]["x"]` {
		t.Errorf("failed with %v, want the path [0][\"x\"]", err)
	}
	second, err := Write(0, func(w *Writer) { w.Any(map[string]any{"z": "y"}) })
	if want := `{"z":"y"}`; err != nil || string(second) != want {
		t.Errorf("wrote %s, %v; want %s", second, err, want)
	}
	if want := `{"a":"b","c":[1]}`; string(first) != want {
		t.Errorf("what was written before became %s, want %s", first, want)
	}
}

func TestLongPathsAreCutShort(t *testing.T) {
	cycle := map[string]any{}
	cycle["again"] = cycle
	tests := []struct {
		name  string
		value any
		why   string
	}{
		{"cycle", cycle, "10,000 times the same key tell nothing"},
		{"long key", map[string]any{strings.Repeat("é", 5000): math.NaN()}, "a key can be a document"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var w Writer
			w.Any(tt.value)
			_, err := w.Result()
			if err == nil {
				t.Fatal("want a failure")
			}
			if n := len(err.Path); n > maxPath+len("…") || !strings.HasSuffix(err.Path, "…") || !utf8.ValidString(err.Path) {
				t.Errorf("a path of %d bytes: %q: %s", n, err.Path, tt.why)
			}
		})
	}
}
