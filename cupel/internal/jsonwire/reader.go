package jsonwire

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/bits"
	"sync"
)

// Reader reads one JSON value, and looks at each byte once. The first mistake
// makes it fail; later reads return zero values. Get one from [NewReader].
type Reader struct {
	data   []byte
	pos    int
	depth  int
	spaces int // bytes of white space passed
	err    *Error
	text   []byte     // what a string with escapes says
	words  [64]string // short strings that were read before
}

var readers = sync.Pool{New: func() any { return new(Reader) }}

// NewReader returns a reader of data. Call [Reader.Close] when done.
func NewReader(data []byte) *Reader {
	r := readers.Get().(*Reader)
	r.data, r.pos, r.depth, r.spaces, r.err = data, 0, 0, 0, nil
	return r
}

// Close returns why data is not exactly the one value that was read, or nil. Do
// not use the reader afterwards.
func (r *Reader) Close() *Error {
	if r.peek(); r.pos < len(r.data) {
		r.syntax()
	}
	err, data := r.err, r.data
	r.data, r.err = nil, nil
	const most = 1 << 16
	if cap(r.text) > most {
		r.text = nil
	}
	readers.Put(r)
	if err != nil {
		if wrong := Check(data); wrong != nil { // text that is not JSON has no other mistakes
			return &Error{Reason: "is malformed: " + wrong.Error(), Err: wrong}
		}
	}
	return err
}

// Err returns the first mistake so far.
func (r *Reader) Err() *Error { return r.err }

// Fail records a mistake in the value that was read last, at a path within it.
func (r *Reader) Fail(path, reason string, cause error) {
	if r.err == nil {
		r.err = &Error{path, reason, cause}
	}
}

// syntax records that the text is not JSON. [Reader.Close] finds out why, and
// drops any other mistake in such a text.
func (r *Reader) syntax() { r.Fail("", "is malformed", nil) }

func (r *Reader) wrongType(want string) {
	if r.peek() == 0 {
		r.syntax()
		return
	}
	r.Fail("", wrongType(want, r.data[r.pos:]), nil)
}

// within puts a place before the path of the mistake.
func (r *Reader) within(outer string) { r.err.Path = Join(outer, r.err.Path) }

// Join returns the path of what is at inner within outer.
func Join(outer, inner string) string {
	if outer == "" || inner == "" || inner[0] == '[' {
		return outer + inner
	}
	return outer + "." + inner
}

// peek skips white space and returns the byte that follows, 0 at the end.
func (r *Reader) peek() byte {
	for ; r.pos < len(r.data); r.pos++ {
		c := r.data[r.pos]
		if c > ' ' || c != ' ' && c != '\t' && c != '\r' && c != '\n' {
			return c
		}
		r.spaces++
	}
	return 0
}

// enter begins an object or array.
func (r *Reader) enter(bracket byte, want string) {
	if r.err != nil {
		return
	}
	if r.peek() != bracket {
		r.wrongType(want)
		return
	}
	r.pos++
	if r.depth++; r.depth > maxDepth {
		r.syntax()
	}
}

// more advances to the next member or element, and reports whether there is one.
func (r *Reader) more(first bool, closing byte) bool {
	c := r.peek()
	switch {
	case c == closing:
		r.pos++
		r.depth--
		return false
	case first:
		return true
	case c == ',':
		r.pos++
		return true
	}
	r.syntax()
	return false
}

// A Shape is the names that the fields of an object have.
type Shape struct {
	names    []string
	required int // number of required names, which come first
}

// NewShape returns the shape of an object with up to 32 names. The first
// required ones must be present.
func NewShape(required int, names ...string) *Shape { return &Shape{names, required} }

// Object reads the members of an object one by one:
//
//	for o := r.Object(shape); o.Next(); {
//		switch o.Field { … } // read the value
//	}
//
// If reading a value fails, the path of the error begins with the name of the
// field. A null field counts as absent. Duplicate names and missing required
// names are errors.
type Object struct {
	Field int    // the field, as a position in the names of the shape
	Name  string // the name, in an object without a shape
	// KeepNull makes null a value like any other.
	KeepNull bool

	r             *Reader
	shape         *Shape
	begun, inside bool
	seen, present uint32 // fields by their positions
	extra         []Member
	names         map[string]bool // of extra members, if there are many
}

// Object begins an object. If shape is nil, names are data: null is a value, and
// names may occur twice.
func (r *Reader) Object(shape *Shape) Object {
	r.enter('{', "an object")
	return Object{r: r, shape: shape}
}

// Next advances to the next known field, and reports whether there is one.
func (o *Object) Next() bool {
	r := o.r
	if r.err != nil {
		if o.inside {
			r.within(o.place())
		}
		return false
	}
	for r.more(!o.begun, '}') {
		o.begun = true
		name := r.name()
		if r.err != nil {
			return false
		}
		if o.shape == nil {
			o.Name, o.inside = r.word(name), true
			return true
		}
		at := o.find(name)
		if at < 0 {
			o.keep(name)
			if r.err != nil {
				return false
			}
			continue
		}
		if o.seen&(1<<at) != 0 {
			r.Fail(place(name), "is given twice", nil)
			return false
		}
		o.seen |= 1 << at
		if o.KeepNull || !r.Null() {
			o.present |= 1 << at
			o.Field, o.inside = at, true
			return true
		}
		if r.err != nil {
			return false
		}
	}
	if o.shape != nil {
		for i, name := range o.shape.names[:o.shape.required] {
			if o.present&(1<<i) == 0 {
				r.Fail(name, "is required", nil)
				break
			}
		}
	}
	return false
}

// Extra returns the members whose names are unknown, with the text of their
// values.
func (o *Object) Extra() []Member { return o.extra }

// place is the path of the member that is read.
func (o *Object) place() string {
	if o.shape == nil {
		return place([]byte(o.Name))
	}
	return o.shape.names[o.Field]
}

// place is the path of a member whose name is data.
func place(name []byte) string { return fmt.Sprintf("[%q]", name) }

// find returns the position of a name, or -1. It first tries the name that
// follows the previous field's.
func (o *Object) find(name []byte) int {
	names := o.shape.names
	start := bits.Len32(o.seen)
	for i := start; i < len(names); i++ {
		if names[i] == string(name) {
			return i
		}
	}
	for i := range min(start, len(names)) {
		if names[i] == string(name) {
			return i
		}
	}
	return -1
}

// keep keeps an unknown member.
func (o *Object) keep(name []byte) {
	const few = 16
	member := Member{Name: o.r.word(name)}
	twice := o.names[member.Name]
	if o.names == nil {
		for _, m := range o.extra {
			twice = twice || m.Name == member.Name
		}
	}
	if twice {
		o.r.Fail(place([]byte(member.Name)), "is given twice", nil)
		return
	}
	member.Value = o.r.Raw()
	o.extra = append(o.extra, member)
	if o.names != nil {
		o.names[member.Name] = true
	} else if len(o.extra) == few {
		o.names = make(map[string]bool)
		for _, m := range o.extra {
			o.names[m.Name] = true
		}
	}
}

// name reads the name of a member and the colon. The name is valid until the
// next string is read.
func (r *Reader) name() []byte {
	if r.peek() != '"' {
		r.syntax()
		return nil
	}
	name := r.str()
	if r.err != nil {
		r.err.Reason = "has a name that " + r.err.Reason
		return nil
	}
	if r.peek() != ':' {
		r.syntax()
		return nil
	}
	r.pos++
	return name
}

// Array reads the elements of an array one by one:
//
//	for a := r.Array(); a.Next(); {
//		// read the element
//	}
//
// If reading an element fails, the path of the error begins with its index.
type Array struct {
	r *Reader
	n int // elements begun
}

// Array begins an array.
func (r *Reader) Array() Array {
	r.enter('[', "an array")
	return Array{r: r}
}

// Next advances to the next element, and reports whether there is one.
func (a *Array) Next() bool {
	if a.r.err != nil {
		if a.n > 0 {
			a.r.within(fmt.Sprintf("[%d]", a.n-1))
		}
		return false
	}
	if !a.r.more(a.n == 0, ']') {
		return false
	}
	a.n++
	return true
}

// Null skips a null, and reports whether there was one.
func (r *Reader) Null() bool { return r.err == nil && r.peek() == 'n' && r.literal("null") }

// literal skips a word, such as true.
func (r *Reader) literal(word string) bool {
	if len(r.data)-r.pos < len(word) || string(r.data[r.pos:r.pos+len(word)]) != word {
		r.syntax()
		return false
	}
	r.pos += len(word)
	return true
}

// Bool reads a boolean.
func (r *Reader) Bool() bool {
	if r.err != nil {
		return false
	}
	switch r.peek() {
	case 't':
		return r.literal("true")
	case 'f':
		r.literal("false")
	default:
		r.wrongType("true or false")
	}
	return false
}

// Raw skips a value of any type and returns a copy of its text, without white
// space between its parts.
func (r *Reader) Raw() []byte {
	r.peek()
	spaces := r.spaces
	text := r.Value()
	if r.spaces > spaces {
		return Compact(text)
	}
	return bytes.Clone(text)
}

// Value skips a value of any type and returns its text, which is part of data.
func (r *Reader) Value() []byte {
	r.peek()
	start := r.pos
	if r.skip(); r.err != nil {
		return nil
	}
	return r.data[start:r.pos]
}

// skip skips a value of any type.
func (r *Reader) skip() {
	if r.err != nil {
		return
	}
	switch r.peek() {
	case '{':
		r.enter('{', "")
		for first := true; r.err == nil && r.more(first, '}'); first = false {
			r.quoted()
			if r.err == nil && r.peek() != ':' {
				r.syntax()
			}
			r.pos++
			r.skip()
		}
	case '[':
		r.enter('[', "")
		for first := true; r.err == nil && r.more(first, ']'); first = false {
			r.skip()
		}
	case '"':
		r.quoted()
	case 't':
		r.literal("true")
	case 'f':
		r.literal("false")
	case 'n':
		r.literal("null")
	default:
		r.anyNumber()
	}
}

// Any reads a value of any type: nil, bool, string, [json.Number], []any or
// map[string]any.
func (r *Reader) Any() any {
	if r.err != nil {
		return nil
	}
	switch r.peek() {
	case '{':
		m := make(map[string]any)
		r.enter('{', "")
		for first := true; r.err == nil && r.more(first, '}'); first = false {
			name := r.word(r.name())
			if r.err != nil {
				break
			}
			if _, ok := m[name]; ok {
				r.Fail("", fmt.Sprintf("has the name %q twice", name), nil)
				break
			}
			m[name] = r.Any()
		}
		return m
	case '[':
		list := []any{}
		r.enter('[', "")
		for first := true; r.err == nil && r.more(first, ']'); first = false {
			list = append(list, r.Any())
		}
		return list
	case '"':
		return r.String()
	case 't', 'f':
		return r.Bool()
	case 'n':
		r.Null()
		return nil
	}
	return json.Number(r.word(r.anyNumber()))
}
