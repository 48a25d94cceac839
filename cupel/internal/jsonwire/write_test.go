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

func writeAny(v any) ([]byte, *Fault) { return Write(func(c *Codec) { c.W.Any(v) }) }

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
		{"large float", 1e8, `1e+08`, "the form in which metadata is compared (R12)"},
		{"negative zero", math.Copysign(0, -1), `-0`, "the sign is kept"},
		{"smallest float", math.SmallestNonzeroFloat64, `5e-324`, "the shortest form that reads back"},
		{"json.Number", json.Number("-1.500e+400"), `-1.500e+400`, "its own text"},
		{"raw", json.RawMessage(` {"a" : [ 1 ] } `), `{"a":[1]}`, "without its white space"},
		{"raw replacement", json.RawMessage(`"\ufffd"`), `"\ufffd"`, "an escape that was there before is no repair"},
		{"nil list", []any(nil), `[]`, "an empty list, not null"},
		{"sorted map", map[string]any{"b": 1, "a": []any{nil, map[string]any{}}, "B\n": "x"}, `{"B\n":"x","a":[null,{}],"b":1}`, "map order never shows"},
		{"struct", inner{"<x>"}, `{"name":"<x>"}`, "as encoding/json writes it, without HTML escapes"},
		{"words like a replacement", []string{"\ufffd", "ufffd", `\ufffd`, `\\ufffd`, "\tufffd"}, `["` + "\ufffd" + `","ufffd","\\ufffd","\\\\ufffd","\tufffd"]`, "none is a repair"},
		{"time", time.Date(2025, 1, 2, 3, 4, 5, 6, time.UTC), `"2025-01-02T03:04:05.000000006Z"`, "types that know their JSON"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, fault := writeAny(tt.value)
			if fault != nil || string(got) != tt.want {
				t.Fatalf("wrote %s, %v; want %s: %s", got, fault, tt.want, tt.why)
			}
			if _, fault := readAs(string(got), (*Reader).Any); fault != nil {
				t.Errorf("cannot be read back: %v", fault)
			}
		})
	}
}

type panicking struct{ with any }

func (p panicking) MarshalJSON() ([]byte, error) { panic(p.with) }

func TestWriteAnyFails(t *testing.T) {
	cycle := map[string]any{}
	cycle["self"] = []any{cycle, cycle}
	deep := any("bottom")
	for range 1_000_000 {
		deep = []any{deep}
	}
	boom := errors.New("boom")
	in := func(key string, v any) any { return map[string]any{key: v} }
	key := strings.Repeat("k", maxPath-len(`[""]`))
	tests := []struct {
		name  string
		value any
		path  string
		want  string // the beginning of the reason
		why   string
	}{
		{"channel", make(chan int), "", "cannot be encoded: json: unsupported type: chan int", "no JSON for a channel"},
		{"NaN", math.NaN(), "", "must be a finite number, got NaN", "metadata has no rule for words"},
		{"not UTF-8", []any{1, "a\xff"}, "[1]", "is not valid UTF-8", "encoding/json would replace the byte in silence"},
		{"strings not UTF-8", []string{"a", "\xff"}, "", "is a []string with a string that is not valid UTF-8", "the same inside other types"},
		{"key not UTF-8", map[string]any{"ok": 1, "\xff": 2}, `["\xff"]`, "is not valid UTF-8", "the same in a key"},
		{"empty json.Number", json.Number(""), "", `must be a JSON number, got the json.Number ""`, "encoding/json would write 0"},
		{"true", json.Number("true"), "", `must be a JSON number, got the json.Number "true"`, "JSON, but no number"},
		{"space", json.Number(" 1"), "", `must be a JSON number, got the json.Number " 1"`, "not only a number"},
		{"leading zero", json.Number("01"), "", `must be a JSON number, got the json.Number "01"`, "no JSON number"},
		{"raw garbage", json.RawMessage("{"), "", "is not JSON that can be read back: unexpected end of JSON input at byte 1", "the writer would write what no reader takes"},
		{"raw duplicate", json.RawMessage(`{"a":1,"a":2}`), "", `is not JSON that can be read back: has the name "a" twice`, "a reader could keep only one"},
		{"marshaler duplicate", []json.RawMessage{json.RawMessage(`{"a":1,"a":2}`)}, "", `is not JSON that can be read back: has the name "a" twice`, "the same inside other types"},
		{"deep", deep, strings.Repeat("[0]", maxPath/3) + "[0…", "is nested more than 10000 deep", "no reader goes that deep, and no stack is exhausted"},
		{"cycle", cycle, strings.Repeat(`["self"][0]`, maxPath/11) + `["…`, "is nested more than 10000 deep", "a map that contains itself has no end"},
		{"panic", []any{panicking{boom}}, "[0]", "panicked in the JSON encoding of jsonwire.panicking: boom", "a value's mistake does not end the program"},
		{"longest path", in(key, math.NaN()), `["` + key + `"]`, "must be a finite number", "nothing is cut"},
		{"path that is too long", in("k"+key, math.NaN()), `["k` + key + `"…`, "must be a finite number", "the end is cut"},
		{"path that is too long by its outer part", in("k", in(key, 1i)), `["k"]["` + key[3:] + "…", "cannot be encoded", "what is near the root stays"},
		{"character that is cut", in(strings.Repeat("é", 5000), math.NaN()), `["` + strings.Repeat("é", (maxPath-2)/2) + "…", "must be a finite number", "a path is UTF-8"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			text, fault := writeAny(tt.value)
			if fault == nil {
				t.Fatalf("wrote %s: %s", text, tt.why)
			}
			if fault.Path != tt.path || !strings.HasPrefix(fault.Reason, tt.want) || !utf8.ValidString(fault.Path) {
				t.Errorf("%q %q, want %q %q: %s", fault.Path, fault.Reason, tt.path, tt.want, tt.why)
			}
		})
	}
	if _, fault := writeAny(panicking{boom}); !errors.Is(fault.Err, boom) {
		t.Errorf("%v does not wrap the error of the panic", fault)
	}
	if _, fault := writeAny(json.RawMessage("{")); fault.Err == nil {
		t.Errorf("%v does not wrap the error of encoding/json", fault)
	}
}

// TestTextsAreCopies: buffers are used again, and texts are not.
func TestTextsAreCopies(t *testing.T) {
	first, _ := writeAny(map[string]any{"a": "b"})
	if _, fault := writeAny([]any{"\xff"}); fault == nil {
		t.Error("no failure")
	}
	second, fault := writeAny([]any{"longer than the first"})
	if fault != nil || string(first) != `{"a":"b"}` || string(second) != `["longer than the first"]` {
		t.Errorf("wrote %s and %s, %v", first, second, fault)
	}
}
