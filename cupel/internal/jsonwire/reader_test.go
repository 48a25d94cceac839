package jsonwire

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// readShape reads an object with three fields; the first is required
// and the last is an array of objects without a shape.
func readShape(text string) string {
	r := NewReader([]byte(text))
	var got []string
	o := r.Object(NewShape(1, "n", "s", "list"))
	for o.Next() {
		switch o.Field {
		case 0:
			got = append(got, fmt.Sprint("n=", r.Int()))
		case 1:
			got = append(got, "s="+r.Word())
		case 2:
			for a := r.Array(); a.Next(); {
				for m := r.Object(nil); m.Next(); {
					got = append(got, fmt.Sprint(m.Name, "=", r.Any()))
				}
			}
		}
	}
	for _, m := range o.Extra() {
		got = append(got, m.Name+":"+string(m.Value))
	}
	if err := r.Close(); err != nil {
		return "error: " + err.Error()
	}
	return strings.Join(got, " ")
}

func TestReaderObject(t *testing.T) {
	unknown := func(n int) string {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, `"u%d":%d,`, i, i)
		}
		return b.String()
	}
	many := strings.ReplaceAll(strings.ReplaceAll(strings.TrimSuffix(unknown(40), ","), `"`, ""), ",", " ")
	tests := []struct{ name, text, want, why string }{
		{"in order", `{"n":1,"s":"a","list":[{"x":null},{"x":[2]}]}`, "n=1 s=a x=<nil> x=[2]", "as it is written"},
		{"out of order", ` { "list" : [ ] , "s" : "a" , "n" : 1 } `, "s=a n=1", "order does not count"},
		{"unknown", `{"n":1,"x":[1, {"y" : " " }],"y":"\ud800"}`, `n=1 x:[1,{"y":" "}] y:"\ud800"`, "without white space, and as it is spelled"},
		{"many unknown", `{` + unknown(40) + `"n":1}`, "n=1 " + many, "all of them"},
		{"null", `{"n":1,"s":null}`, "n=1", "null is absent"},
		{"required", `{"s":"a"}`, "error: n: is required", "a required field is there"},
		{"required, null", `{"n":null}`, "error: n: is required", "null is absent"},
		{"empty", `{}`, "error: n: is required", "also of an empty object"},
		{"twice", `{"n":1,"s":"a","n":1}`, `error: ["n"]: is given twice`, "which one is meant?"},
		{"null and again", `{"n":1,"s":null,"s":"a"}`, `error: ["s"]: is given twice`, "null is a value that was given"},
		{"unknown twice", `{"n":1,"x":1,"y":2,"x":1}`, `error: ["x"]: is given twice`, "one would be lost"},
		{"the 15th of many twice", `{` + unknown(15) + `"u14":1,"n":1}`, `error: ["u14"]: is given twice`, "few are compared one by one"},
		{"the 16th of many twice", `{` + unknown(16) + `"u15":1,"n":1}`, `error: ["u15"]: is given twice`, "many are looked up"},
		{"the first of many twice", `{` + unknown(40) + `"u0":1,"n":1}`, `error: ["u0"]: is given twice`, "those before many are looked up too"},
		{"the last of many twice", `{` + unknown(40) + `"u39":1,"n":1}`, `error: ["u39"]: is given twice`, "and those after"},
		{"unknown twice, and more", `{"n":1,"x":1,"x":1,"z":1,"s":"a"}`, `error: ["x"]: is given twice`, "what follows does not change the mistake"},
		{"half a character in a name", `{"n":1,"list":[{"\ud800":1}]}`, `error: list[0]: has a name that has an escape that is one half of a surrogate pair`, "there is no name to show"},
		{"path", `{"n":1,"list":[{"x":1},{"x":{"y":1,"y":2}}]}`, `error: list[1]["x"]: has the name "y" twice`, "the path leads to the member"},
		{"path of a field", `{"n":"1"}`, "error: n: must be an integer, got a string", "the name of the field"},
		{"no array", `{"n":1,"list":{}}`, "error: list: must be an array, got an object", "wrong type"},
		{"no object", `[]`, "error: : must be an object, got an array", "wrong type"},
		{"a mistake before broken text", `{"n":"1",}`, "error: : is malformed: invalid character '}' looking for beginning of object key string at byte 10", "text that is not JSON has no other mistakes"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := readShape(tt.text); got != tt.want {
				t.Errorf("got %s, want %s: %s", got, tt.want, tt.why)
			}
		})
	}
}

func TestKeepNull(t *testing.T) {
	r := NewReader([]byte(`{"a":null,"b":null}`))
	o := r.Object(NewShape(2, "a", "b"))
	o.KeepNull = true
	var got []any
	for o.Next() {
		got = append(got, o.Field, r.Any())
	}
	if err := r.Close(); err != nil || !slices.Equal(got, []any{0, nil, 1, nil}) {
		t.Errorf("read %v, %v; null is a value here", got, err)
	}
}

// TestWarmReadersDoNotAllocate counts what a second look at the same text takes.
func TestWarmReadersDoNotAllocate(t *testing.T) {
	if raceEnabled {
		t.Skip("the race detector makes pools drop things at random")
	}
	word := func(text string) func() {
		data := []byte(`"` + text + `"`)
		return func() {
			r := NewReader(data)
			r.Word()
			if err := r.Close(); err != nil {
				t.Error(err)
			}
		}
	}
	for _, tt := range []struct {
		name string
		do   func()
		want float64
		why  string
	}{
		{"short word", word("message"), 0, "the reader and the word are used again"},
		{"word with an escape", word(`mess\u0061ge`), 0, "so is the memory for its text"},
		{"32 bytes", word(strings.Repeat("x", 32)), 0, "the longest word that is kept"},
		{"33 bytes", word(strings.Repeat("x", 33)), 1, "a long one is made each time, and not kept"},
	} {
		tt.do()
		if got := testing.AllocsPerRun(100, tt.do); got != tt.want {
			t.Errorf("%s: %v allocations, want %v: %s", tt.name, got, tt.want, tt.why)
		}
	}
}

// A reader is used again, with the short strings that it has read.
func TestReaderIsUsedAgain(t *testing.T) {
	for range 3 {
		if got, want := readShape(`{"n":"`), "error: : is malformed: unexpected end of JSON input at byte 6"; got != want {
			t.Errorf("got %s, want %s", got, want)
		}
		for _, word := range []string{"", "a", "b", "ab", "ba", "Message", "Massage", strings.Repeat("x", 32), strings.Repeat("x", 33)} {
			if got, want := readShape(`{"n":1,"s":"`+word+`"}`), "n=1 s="+word; got != want {
				t.Errorf("got %s, want %s", got, want)
			}
		}
	}
}

// TestPlainText holds the search of eight bytes at a time to one byte at a time.
func TestPlainText(t *testing.T) {
	special := []byte{'"', '\\', 0, 1, 0x1f, '\n'}
	others := []byte{' ', '!', '#', '[', ']', 0x7f, 0x80, 0xa2, 0xdc, 0xff}
	for length := range 20 {
		for at := range length {
			for _, c := range slices.Concat(special, others) {
				for _, around := range others {
					text := []byte(strings.Repeat(string([]byte{around}), length))
					text[at] = c
					end, high := plainText(text, 0)
					want := length
					if slices.Contains(special, c) {
						want = at
					}
					if end != want {
						t.Fatalf("%q has plain text up to %d, want %d", text, end, want)
					}
					beyond := slices.ContainsFunc(text[:end], func(c byte) bool { return c >= 0x80 })
					if beyond && !high {
						t.Fatalf("%q has letters beyond ASCII before %d", text, end)
					}
				}
			}
		}
	}
}
