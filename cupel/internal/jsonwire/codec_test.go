package jsonwire

import (
	"math"
	"testing"
)

// thing is a type with a field of each form.
type thing struct {
	N       int
	Kind    string
	X       float64
	On      bool
	Parts   []thing
	Unknown []Member
}

func (t *thing) wire(c *Codec) {
	c.Object(func() {
		c.Required("n").Int(&t.N)
		Text(&t.Kind, c.Optional("kind", t.Kind != ""))
		c.Optional("x", t.X != 0).Float(&t.X)
		c.Optional("on", t.On).Bool(&t.On)
		List(c.Optional("parts", len(t.Parts) > 0), &t.Parts, (*thing).wire)
		for _, m := range t.Unknown {
			if c.W != nil {
				c.Required(m.Name).Raw(m.Value)
			}
		}
		if c.R != nil {
			t.Unknown = c.Unknown()
		}
	})
}

// TestCodec reads objects, and writes what was read.
func TestCodec(t *testing.T) {
	tests := []struct{ name, text, want, why string }{
		{"in order", `{"n":1,"kind":"a","x":0.5,"on":true,"parts":[{"n":2},{"n":3,"on":true}]}`, "", "as it is written"},
		{"unknown", `{"n":1,"x":2,"y":[1,{"z":"\ud800"}],"x2":"\ud800"}`, "", "as it is spelled"},
		{"unknown between known", `{"u":null,"n":1,"v":{},"kind":"a"}`, `{"n":1,"kind":"a","u":null,"v":{}}`, "in their order, null too"},
		{"names of other case", `{"n":1,"N":2}`, "", "names are compared exactly"},
		{"escaped name", `{"\u006e":1,"a\n":2}`, `{"n":1,"a\n":2}`, "escapes do not hide a name"},
		{"null", `{"n":1,"kind":null,"on":true}`, `{"n":1,"on":true}`, "null is absent"},
		{"words", `{"n":1,"x":"NaN","parts":[{"n":1,"x":"Infinity"},{"n":1,"x":"-Infinity"}]}`, "", "what is not finite"},
		{"not the object", `[]`, "fault: : must be an object, got an array", "wrong type"},
		{"required", `{"kind":"a"}`, "fault: n: is required", "a required field is there"},
		{"required in a part", `{"n":1,"parts":[{"n":1},{}]}`, "fault: parts[1].n: is required", "the path leads to it"},
		{"twice", `{"n":1,"kind":"a","n":1}`, `fault: ["n"]: is given twice`, "which one is meant?"},
		{"null and again", `{"n":1,"kind":null,"kind":"a"}`, `fault: ["kind"]: is given twice`, "null was given"},
		{"unknown twice", `{"n":1,"u":1,"v":2,"u":1}`, `fault: ["u"]: is given twice`, "one would be lost"},
		{"wrong value", `{"n":"1","parts":5}`, "fault: n: must be an integer, got a string", "the first mistake counts"},
		{"wrong value after unknown", `{"u":1,"kind":3,"n":1}`, "fault: kind: must be a string, got a number", "in any order"},
		{"null in a list", `{"n":1,"parts":[null]}`, "fault: parts[0]: must be an object, got null", "there is no absent element"},
		{"half a character in a name", `{"n":1,"parts":[{"\ud800":1}]}`, "fault: parts[0]: has a name that has an escape that is one half of a surrogate pair", "there is no name to show"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var v thing
			got, fault := []byte(nil), Read([]byte(tt.text), func(r *Reader) { v.wire(&Codec{R: r}) })
			if fault == nil {
				got, fault = Write(v.wire)
			}
			if fault != nil {
				got = []byte("fault: " + fault.Path + ": " + fault.Reason)
			}
			want := tt.want
			if want == "" {
				want = tt.text
			}
			if string(got) != want {
				t.Errorf("got %s, want %s: %s", got, want, tt.why)
			}
		})
	}
}

func TestCodecFails(t *testing.T) {
	bad := thing{Parts: []thing{{}, {Parts: []thing{{Kind: "\xff"}}}}}
	if text, fault := Write(bad.wire); text != nil || fault == nil || fault.Path != "parts[1].parts[0].kind" || fault.Reason != "is not valid UTF-8" {
		t.Errorf("wrote %s, %v", text, fault)
	}
	maps := func(r *Reader) { r.Map(func(string) { r.Map(func(string) { r.Int() }) }) }
	if fault := Read([]byte(`{"a":{"b":1,"b":2,"c\"":true}}`), maps); fault == nil || fault.Path != `["a"]["c\""]` {
		t.Errorf("read maps with %v, want the path of the boolean", fault)
	}
	// A field that is not there is neither read nor written.
	v := thing{N: 3, X: math.Inf(1)}
	v.wire(new(Codec))
	if v.N != 3 || !math.IsInf(v.X, 1) {
		t.Errorf("a codec without reader and writer read %+v", v)
	}
}
