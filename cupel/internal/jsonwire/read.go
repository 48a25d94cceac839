// Package jsonwire reads and writes JSON text without losing anything: names
// are compared exactly, numbers keep their digits, unknown fields keep their
// text, and duplicate names and invalid UTF-8 are errors. It knows no Cupel
// types.
//
// The errors of this package complete a sentence whose subject is the value:
// "must be an integer, got a string".
//
// A plain version, structs with tags, does none of this (docs/decisions.md, entry 9),
// and takes 1.1 times as long to read a report of 30 MB and 1.2 times to write it.
package jsonwire

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/wollax/cupel-go/cupel/internal/compat"
)

// maxDepth is how deep encoding/json reads, and so how deep this package reads
// and writes.
const maxDepth = 10000

// Check returns why data is not exactly one JSON value in UTF-8, nested at most
// 10,000 deep, or returns nil.
func Check(data []byte) *Fault {
	var err error
	switch {
	case !utf8.Valid(data):
		err = errors.New("is not valid UTF-8")
	case !json.Valid(data):
		err = json.Unmarshal(data, new(json.RawMessage))
		if syntax, ok := compat.AsType[*json.SyntaxError](err); ok {
			err = fmt.Errorf("%w at byte %d", err, syntax.Offset)
		}
	default:
		return nil
	}
	return &Fault{Reason: "is malformed: " + err.Error(), Err: err}
}

// Compact returns a copy of raw without white space between its parts.
func Compact(raw []byte) []byte {
	var b bytes.Buffer
	_ = json.Compact(&b, raw) // it fails only on text that Check rejects
	return b.Bytes()
}

// A Member is one name and value of a JSON object. The value has no white
// space around it.
type Member struct {
	Name  string
	Value []byte
}

// Fault describes what cannot be read or written, and where.
type Fault struct {
	Path   string // such as `included[3].item.metadata["key"]`; "" for the value as a whole; a long one ends in "…"
	Reason string
	Err    error // the cause, or nil
}

// maxPath is how many bytes of a path errors show: the path of a value that
// contains itself is long.
const maxPath = 200

// within puts a place before the path of the mistake.
func (f *Fault) within(outer string) {
	if outer != "" && f.Path != "" && f.Path[0] != '[' {
		outer += "."
	}
	f.Path = outer + f.Path
	if len(f.Path) > maxPath {
		f.Path = strings.ToValidUTF8(f.Path[:maxPath], "") + "…" // the cut may split a character
	}
}

func keyPath(name string) string { return fmt.Sprintf("[%q]", name) }

func indexPath(i int) string { return fmt.Sprintf("[%d]", i) }

// Reader reads JSON text that [Check] accepts. The first mistake makes it fail;
// later reads return zero values.
type Reader struct {
	Fault *Fault // the first mistake so far

	data []byte
	pos  int
}

// Read reads the value in text that [Check] accepts. It returns the first mistake.
func Read(valid []byte, value func(*Reader)) *Fault {
	r := Reader{data: valid}
	value(&r)
	return r.Fault
}

// Fail records a mistake in the value that was read last, at a path within it.
func (r *Reader) Fail(path, reason string) {
	if r.Fault == nil {
		r.Fault = &Fault{Path: path, Reason: reason}
	}
}

// next skips white space and returns the byte that follows.
func (r *Reader) next() byte {
	for isSpace(r.data[r.pos]) {
		r.pos++
	}
	return r.data[r.pos]
}

func isSpace(c byte) bool { return c == ' ' || c == '\n' || c == '\t' || c == '\r' }

// is reports whether the value begins with one of the bytes of first. If not, the
// reader fails.
func (r *Reader) is(first, want string) bool {
	if r.Fault == nil && strings.IndexByte(first, r.next()) < 0 {
		r.wrongType(want)
	}
	return r.Fault == nil
}

func (r *Reader) wrongType(want string) {
	got := "a number"
	switch r.next() {
	case '{':
		got = "an object"
	case '[':
		got = "an array"
	case '"':
		got = "a string"
	case 't', 'f':
		got = "a boolean"
	case 'n':
		got = "null"
	}
	r.Fail("", "must be "+want+", got "+got)
}

// more reports whether there is another member or element, and goes there.
func (r *Reader) more(closing byte) bool {
	if r.next() == ',' {
		r.pos++
	}
	if r.next() != closing {
		return true
	}
	r.pos++
	return false
}

// Array reads an array; element reads one element. If that fails, the path of
// the error begins with the index.
func (r *Reader) Array(element func()) {
	if !r.is("[", "an array") {
		return
	}
	r.pos++
	for i := 0; r.more(']'); i++ {
		if element(); r.Fault != nil {
			r.Fault.within(indexPath(i))
			return
		}
	}
}

// Map reads an object whose names are data; member reads the value of one name.
// A name may occur twice. If a value fails, the path of the error begins with the
// name.
func (r *Reader) Map(member func(name string)) {
	if !r.is("{", "an object") {
		return
	}
	r.pos++
	for r.Fault == nil && r.more('}') {
		name := r.text()
		if r.Fault != nil {
			r.Fault.Reason = "has a name that " + r.Fault.Reason
			return
		}
		r.next()
		r.pos++ // the colon
		if member(name); r.Fault != nil {
			r.Fault.within(keyPath(name))
		}
	}
}

// Null skips a null, and reports whether there was one.
func (r *Reader) Null() bool {
	return r.Fault == nil && r.next() == 'n' && r.word() != nil
}

// word skips a number, true, false or null, and returns its text.
func (r *Reader) word() []byte {
	start := r.pos
	for ; r.pos < len(r.data); r.pos++ {
		if c := r.data[r.pos]; isSpace(c) || c == ',' || c == ']' || c == '}' {
			break
		}
	}
	return r.data[start:r.pos]
}

// Bool reads a boolean.
func (r *Reader) Bool() bool {
	return r.is("tf", "true or false") && len(r.word()) == len("true")
}

// Value skips a value of any type and returns its text, which is part of data.
func (r *Reader) Value() []byte {
	if r.Fault != nil {
		return nil
	}
	r.next()
	start := r.pos
	for depth := 0; ; {
		switch r.next() {
		case '{', '[':
			depth++
			r.pos++
		case '}', ']':
			depth--
			r.pos++
		case ',', ':':
			r.pos++
		case '"':
			r.quoted()
		default:
			r.word()
		}
		if depth == 0 {
			return r.data[start:r.pos]
		}
	}
}

// Any reads a value of any type: nil, bool, string, [json.Number], []any or
// map[string]any. Errors within it have no path.
func (r *Reader) Any() (v any) {
	if r.Fault != nil {
		return nil
	}
	switch r.next() {
	case '{':
		v = r.anyMap()
	case '[':
		list := []any{}
		r.Array(func() { list = append(list, r.Any()) })
		v = list
	case '"':
		return r.String()
	case 't', 'f':
		return r.Bool()
	case 'n':
		r.Null()
	default:
		return json.Number(r.word())
	}
	if r.Fault != nil {
		r.Fault.Path = ""
	}
	return v
}

func (r *Reader) anyMap() map[string]any {
	m := make(map[string]any)
	r.Map(func(name string) {
		if _, ok := m[name]; ok {
			r.Fail("", fmt.Sprintf("has the name %q twice", name))
		}
		m[name] = r.Any()
	})
	return m
}
