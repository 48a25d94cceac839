// Package rawjson reads JSON without decoding it: every value keeps its place in
// the text, so that errors name a line, and writing a value writes the text that
// was read. It scans each byte once per level of nesting that is read, and does
// not recurse.
package rawjson

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"unicode/utf8"
)

// Error is a fault of a text, and its place.
type Error struct {
	Line   int    // from 1, or 0 if the mistake is not on one line
	Path   string // such as "messages[3].role", or "" for the text as a whole
	Reason string // the fault; the value is the subject of the sentence
	Err    error  // the cause, or nil
}

func (e *Error) Error() string {
	message := e.Reason
	if e.Path != "" {
		message = e.Path + " " + message
	}
	if e.Line > 0 {
		message = fmt.Sprintf("line %d: %s", e.Line, message)
	}
	return message
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// Value is one JSON value within a text.
type Value struct {
	text       []byte // the whole text
	start, end int
}

// Part is a member of an object or an element of an array.
type Part struct {
	Name     string // "" in an array
	Value    Value
	from, to int // of the text between the commas or brackets around it
}

// Outer returns the text of the part between the commas or brackets around it,
// including white space and the name.
func (p Part) Outer() []byte { return p.Value.text[p.from:p.to] }

// End returns where the Outer text ends.
func (p Part) End() int { return p.to }

// With returns the Outer text with the value replaced.
func (p Part) With(value []byte) []byte {
	return slices.Concat(p.Value.text[p.from:p.Value.start], value, p.Value.text[p.Value.end:p.to])
}

// Text is valid UTF-8 without a byte order mark.
type Text []byte

// NewText checks data and returns it as a Text.
func NewText(data []byte) (Text, error) {
	for _, mark := range []string{"\xff\xfe", "\xfe\xff"} {
		if bytes.HasPrefix(data, []byte(mark)) {
			return nil, &Error{Reason: "the text is UTF-16; it must be UTF-8"}
		}
	}
	data = bytes.TrimPrefix(data, []byte("\xef\xbb\xbf"))
	if utf8.Valid(data) {
		return data, nil
	}
	at := 0
	for at < len(data) {
		r, size := utf8.DecodeRune(data[at:])
		if r == utf8.RuneError && size == 1 {
			break
		}
		at += size
	}
	return nil, &Error{Line: line(data, at), Reason: fmt.Sprintf("the text is not valid UTF-8 at byte %d", at)}
}

// Value returns the only value of the text.
func (t Text) Value() (Value, error) { return t.value(0, len(t)) }

// SeveralLines reports whether the first line that is not blank is a complete
// object: then the text has one object per line.
func (t Text) SeveralLines() bool {
	t = bytes.TrimLeft(t, " \t\r\n")
	end := bytes.IndexByte(t, '\n')
	if end < 0 || t[0] != '{' {
		return false
	}
	_, err := t[:end].Value()
	return err == nil
}

// Lines returns the values of a text that has one per line. It skips blank lines.
func (t Text) Lines() ([]Part, error) {
	var parts []Part
	for start := 0; start < len(t); {
		end := len(t)
		if n := bytes.IndexByte(t[start:], '\n'); n >= 0 {
			end = start + n
		}
		if len(bytes.TrimLeft(t[start:end], " \t\r")) > 0 {
			v, err := t.value(start, end)
			if err != nil {
				return nil, err
			}
			parts = append(parts, Part{Value: v, from: start, to: end})
		}
		start = end + 1
	}
	return parts, nil
}

func (t Text) value(start, end int) (Value, error) {
	if !Walk(t[start:end], nil) {
		return Value{}, t.syntaxError(start, end)
	}
	for isSpace(t[end-1]) {
		end--
	}
	v := Value{t, start, end}
	p := parser{t, start}
	p.peek()
	v.start = p.pos
	return v, nil
}

// syntaxError returns the reason why a part of the text is not a JSON value.
func (t Text) syntaxError(start, end int) error {
	var raw json.RawMessage
	err := json.Unmarshal(t[start:end], &raw)
	syntax, ok := errors.AsType[*json.SyntaxError](err)
	if !ok {
		return &Error{Line: line(t, start), Reason: "this is not JSON", Err: err}
	}
	at := min(start+max(int(syntax.Offset)-1, 0), end)
	reason := syntax.Error()
	before := bytes.TrimRight(t[start:at], " \t\r\n")
	switch {
	case len(bytes.TrimSpace(t[start:end])) == 0:
		reason = "expected JSON, got nothing"
	case at < end && (t[at] == ']' || t[at] == '}') && bytes.HasSuffix(before, []byte(",")):
		reason = fmt.Sprintf("JSON allows no comma before a closing %c", t[at])
	}
	newline := bytes.LastIndexByte(t[:at], '\n')
	return &Error{Line: line(t, at), Reason: fmt.Sprintf("%s (column %d)", reason, at-newline), Err: syntax}
}

func line(text []byte, at int) int { return 1 + bytes.Count(text[:at], []byte("\n")) }

// IsZero reports whether v is the zero Value.
func (v Value) IsZero() bool { return v.text == nil }

// Alone returns v as the only part of its text.
func (v Value) Alone() Part { return Part{Value: v, from: v.start, to: v.end} }

// Line returns the line on which v begins, from 1, or 0 for the zero Value. It
// scans the text up to v.
func (v Value) Line() int {
	if v.IsZero() {
		return 0
	}
	return line(v.text, v.start)
}

// Raw returns the text of v, without white space around it.
func (v Value) Raw() []byte { return v.text[v.start:v.end] }

// Around returns the text before v and after it.
func (v Value) Around() (before, after []byte) { return v.text[:v.start], v.text[v.end:] }

// Errorf returns an error at v.
func (v Value) Errorf(path, format string, args ...any) error {
	return &Error{Line: v.Line(), Path: path, Reason: fmt.Sprintf(format, args...)}
}

func (v Value) first() byte {
	if v.IsZero() {
		return 'n'
	}
	return v.text[v.start]
}

// IsNull reports whether v is null or the zero Value.
func (v Value) IsNull() bool { return v.first() == 'n' }

// IsObject reports whether v is an object.
func (v Value) IsObject() bool { return v.first() == '{' }

// IsArray reports whether v is an array.
func (v Value) IsArray() bool { return v.first() == '[' }

// IsString reports whether v is a string.
func (v Value) IsString() bool { return v.first() == '"' }

// IsNumber reports whether v is a number.
func (v Value) IsNumber() bool {
	c := v.first()
	return c == '-' || '0' <= c && c <= '9'
}

// Type names the type of v for error texts, such as "a string".
func (v Value) Type() string {
	switch c := v.first(); c {
	case '{':
		return "an object"
	case '[':
		return "an array"
	case '"':
		return "a string"
	case 't', 'f':
		return "a boolean"
	case 'n':
		return "null"
	default:
		return "a number"
	}
}

// String returns the decoded value of a string, with unpaired surrogates
// replaced by U+FFFD, or "" for any other value.
func (v Value) String() string {
	if !v.IsString() {
		return ""
	}
	inside := v.text[v.start+1 : v.end-1]
	if bytes.IndexByte(inside, '\\') < 0 {
		return string(inside)
	}
	return Unquote(inside)
}

// Compact returns the text of v without white space between its parts.
func (v Value) Compact() string {
	var b bytes.Buffer
	_ = json.Compact(&b, v.Raw()) // the text has been checked
	return b.String()
}

// Elements returns the elements of an array, or none for any other value.
func (v Value) Elements() []Part {
	if !v.IsArray() {
		return nil
	}
	p := parser{v.text, v.start}
	return p.parts(']')
}

// Members returns the members of an object, or none for any other value. Unlike
// [Value.Object], it accepts duplicate names.
func (v Value) Members() []Part {
	if !v.IsObject() {
		return nil
	}
	p := parser{v.text, v.start}
	return p.parts('}')
}

// Object is a JSON object with unique names.
type Object struct {
	Value   Value
	Members []Part
	index   map[string]int // of objects with many members
}

// manyMembers is the size from which an object is searched with a map.
const manyMembers = 24

// Object returns the members of an object. path is its path, for errors.
func (v Value) Object(path string) (Object, error) {
	if !v.IsObject() {
		return Object{}, v.Errorf(path, "must be an object, got %s", v.Type())
	}
	o, twice := v.Fields()
	if len(twice) > 0 {
		return o, twice[0].Value.Errorf(Join(path, twice[0].Name), "is given twice")
	}
	return o, nil
}

// Fields returns the members of an object, or none for any other value, and those
// whose name was given before: the first value of a name counts.
func (v Value) Fields() (o Object, twice []Part) {
	o = Object{Value: v, Members: v.Members()}
	if len(o.Members) >= manyMembers {
		o.index = make(map[string]int, len(o.Members))
	}
	for i, m := range o.Members {
		if at, known := o.find(m.Name); known && at < i {
			twice = append(twice, m)
		} else if o.index != nil {
			o.index[m.Name] = i
		}
	}
	return o, twice
}

func (o *Object) find(name string) (int, bool) {
	if o.index != nil {
		i, ok := o.index[name]
		return i, ok
	}
	for i := range o.Members {
		if o.Members[i].Name == name {
			return i, true
		}
	}
	return 0, false
}

// Get returns the value of a member, or the zero Value if there is none.
func (o *Object) Get(name string) Value {
	if i, ok := o.find(name); ok {
		return o.Members[i].Value
	}
	return Value{}
}

// Has reports whether there is a member of that name that is not null.
func (o *Object) Has(name string) bool { return !o.Get(name).IsNull() }

// Join returns the path of a member.
func Join(path, name string) string {
	if path == "" {
		return name
	}
	return path + "." + name
}

// Index returns the path of an element.
func Index(path string, i int) string { return fmt.Sprintf("%s[%d]", path, i) }

// parser scans text that is valid JSON.
type parser struct {
	text []byte
	pos  int
}

func isSpace(c byte) bool { return c == ' ' || c == '\t' || c == '\r' || c == '\n' }

// ends reports whether c ends a number or a word.
func ends(c byte) bool { return c == ',' || c == '}' || c == ']' || isSpace(c) }

// peek skips white space and returns the byte that follows.
func (p *parser) peek() byte {
	for isSpace(p.text[p.pos]) {
		p.pos++
	}
	return p.text[p.pos]
}

// parts returns the parts between the bracket at p and the closing one.
func (p *parser) parts(closing byte) []Part {
	var parts []Part
	for {
		p.pos++ // the bracket or the comma
		from := p.pos
		if p.peek() == closing { // of an empty list only
			return parts
		}
		part := Part{from: from}
		if closing == '}' {
			start := p.pos
			p.quoted()
			part.Name = Value{p.text, start, p.pos}.String()
			p.peek()
			p.pos++ // the colon
			p.peek()
		}
		start := p.pos
		p.skip()
		part.Value = Value{p.text, start, p.pos}
		c := p.peek()
		part.to = p.pos
		parts = append(parts, part)
		if c == closing {
			return parts
		}
	}
}

// skip moves past a value.
func (p *parser) skip() {
	depth := 0
	for {
		switch p.text[p.pos] {
		case '"':
			p.quoted()
		case '{', '[':
			p.pos++
			depth++
			continue
		case '}', ']':
			p.pos++
			depth--
		case ',', ':', ' ', '\t', '\r', '\n':
			p.pos++
			continue
		default: // a number, true, false or null
			for p.pos < len(p.text) && !ends(p.text[p.pos]) {
				p.pos++
			}
		}
		if depth == 0 {
			return
		}
	}
}

// quoted moves past a string.
func (p *parser) quoted() {
	start := p.pos + 1
	end := start + bytes.IndexByte(p.text[start:], '"')
	if p.text[end-1] != '\\' {
		p.pos = end + 1
		return
	}
	p.pos = closing(p.text, start) // the quote may be escaped
}
