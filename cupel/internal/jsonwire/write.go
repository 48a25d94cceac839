package jsonwire

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unicode/utf8"
)

// Writer builds one JSON value. The first value that cannot be written makes it
// fail; it ignores later writes. The zero Writer is ready.
type Writer struct {
	buf   []byte
	depth int
	at    place
	fault *Fault
}

// Result returns the text, or the first failure.
func (w *Writer) Result() ([]byte, *Fault) {
	if w.fault == nil {
		return w.buf, nil
	}
	if path := w.fault.Path; len(path) > maxPath {
		w.fault.Path = strings.ToValidUTF8(path[:maxPath], "") + "…" // the cut may split a character
	}
	return nil, w.fault
}

var buffers = sync.Pool{New: func() any { return new([]byte) }}

// Write returns what value writes, or the first failure. A buffer that grows for
// each value would take half of the time of writing a large one.
func Write(value func(*Codec)) ([]byte, *Fault) {
	buffer := buffers.Get().(*[]byte)
	defer buffers.Put(buffer)
	w := Writer{buf: (*buffer)[:0]}
	value(&Codec{W: &w})
	*buffer = w.buf
	text, fault := w.Result()
	return bytes.Clone(text), fault
}

// Fail records that the value at the current place cannot be written.
func (w *Writer) Fail(reason string, cause error) {
	if w.fault == nil {
		w.fault = &Fault{Reason: reason, Err: cause}
	}
}

// maxPath is how many bytes of a path errors show: the path of a value that
// contains itself is long.
const maxPath = 200

// within puts a place before the path of the failure.
func (w *Writer) within(outer string) {
	path := join(outer, w.fault.Path)
	w.fault.Path = path[:min(len(path), maxPath+1)] // one byte more says that it is too long
}

// enter begins an object or array, unless that is too deep or writing has
// failed.
func (w *Writer) enter(bracket byte) bool {
	if w.depth >= maxDepth {
		w.Fail(fmt.Sprintf("is nested more than %d deep", maxDepth), nil)
	}
	if w.fault != nil {
		return false
	}
	w.depth++
	w.buf = append(w.buf, bracket)
	return true
}

func (w *Writer) leave(bracket byte) {
	w.depth--
	w.buf = append(w.buf, bracket)
}

// separate begins a member or element.
func (w *Writer) separate() {
	if last := w.buf[len(w.buf)-1]; last != '{' && last != '[' {
		w.buf = append(w.buf, ',')
	}
}

// Object writes an object with the members that fields writes: [Writer.Field] or
// [Writer.Key], and a value for each.
func (w *Writer) Object(fields func()) {
	if !w.enter('{') {
		return
	}
	outer := w.at
	w.at = place{}
	if fields(); w.fault != nil {
		w.within(w.at.path())
	}
	w.at = outer
	w.leave('}')
}

// place is the member that is being written, in the innermost object.
type place struct {
	name string
	key  bool
}

func (p place) path() string {
	if p.key {
		return keyPath(p.name)
	}
	return p.name
}

// Field begins a member of an object. Write the value next.
func (w *Writer) Field(name string) *Writer { return w.begin(place{name, false}) }

// Key begins a member whose name is data: paths quote it. Write the value next.
func (w *Writer) Key(name string) *Writer { return w.begin(place{name, true}) }

func (w *Writer) begin(p place) *Writer {
	if w.fault == nil {
		w.at = p
		w.separate()
		w.String(p.name)
		w.buf = append(w.buf, ':')
	}
	return w
}

// Array writes an array of n elements; value writes one of them.
func (w *Writer) Array(n int, value func(i int)) {
	if !w.enter('[') {
		return
	}
	for i := range n {
		w.separate()
		if value(i); w.fault != nil {
			w.within(indexPath(i))
			break
		}
	}
	w.leave(']')
}

// Int writes an integer.
func (w *Writer) Int(n int) { w.buf = strconv.AppendInt(w.buf, int64(n), 10) }

// Bool writes a boolean.
func (w *Writer) Bool(v bool) { w.buf = strconv.AppendBool(w.buf, v) }

// Float writes the shortest number that reads back as f, in the form that the
// scorers of metadata compare (R12), and what is not finite as a string that
// [Reader.Float] reads.
func (w *Writer) Float(f float64) {
	if name := nonFinite(f); name != "" {
		w.String(name)
		return
	}
	w.buf = strconv.AppendFloat(w.buf, f, 'g', -1, 64)
}

func nonFinite(f float64) string {
	switch {
	case math.IsNaN(f):
		return "NaN"
	case math.IsInf(f, 1):
		return "Infinity"
	case math.IsInf(f, -1):
		return "-Infinity"
	}
	return ""
}

// String writes a string. It fails if s is not UTF-8. It does not escape HTML;
// encoding/json does, if asked.
func (w *Writer) String(s string) {
	const hex = "0123456789abcdef"
	if !utf8.ValidString(s) {
		w.Fail("is not valid UTF-8", nil)
		return
	}
	b := append(w.buf, '"')
	for {
		end := plainEnd(s, 0)
		b = append(b, s[:end]...)
		if end == len(s) {
			break
		}
		c := s[end]
		s = s[end+1:]
		switch c {
		case '"', '\\':
			b = append(b, '\\', c)
		case '\n':
			b = append(b, '\\', 'n')
		case '\r':
			b = append(b, '\\', 'r')
		case '\t':
			b = append(b, '\\', 't')
		default:
			b = append(b, '\\', 'u', '0', '0', hex[c>>4], hex[c&15])
		}
	}
	w.buf = append(b, '"')
}

// Raw writes text that is known to be JSON.
func (w *Writer) Raw(text []byte) { w.buf = append(w.buf, text...) }

// Any writes a value of any type: what [Reader.Any] returns and Go's own numbers
// losslessly, maps in the order of their keys, everything else as encoding/json
// writes it. What Any could not read back fails.
func (w *Writer) Any(v any) {
	if w.fault != nil {
		return
	}
	switch v := v.(type) {
	case nil:
		w.buf = append(w.buf, "null"...)
	case bool:
		w.Bool(v)
	case string:
		w.String(v)
	case int:
		w.Int(v)
	case float64:
		if name := nonFinite(v); name != "" {
			w.Fail("must be a finite number, got "+name, nil)
			return
		}
		w.Float(v)
	case json.Number:
		if strings.Trim(string(v), "+-.0123456789eE") != "" || !json.Valid([]byte(v)) {
			w.Fail(fmt.Sprintf("must be a JSON number, got the json.Number %q", shorten(string(v))), nil)
		}
		w.buf = append(w.buf, v...)
	case json.RawMessage:
		w.foreign(v)
	case []any:
		w.Array(len(v), func(i int) { w.Any(v[i]) })
	case map[string]any:
		w.AnyMap(v)
	default:
		w.marshal(v)
	}
}

// AnyMap writes a map of values of any type, in the order of its keys.
func (w *Writer) AnyMap(m map[string]any) {
	w.Object(func() {
		for _, key := range slices.Sorted(maps.Keys(m)) {
			w.Key(key).Any(m[key])
		}
	})
}

// foreign writes JSON text of unknown origin.
func (w *Writer) foreign(text []byte) {
	err := Check(text)
	if err == nil {
		_, err = Read(text, (*Reader).Any)
	}
	if err != nil {
		w.Fail("is not JSON that can be read back: "+err.Error(), err)
		return
	}
	w.Raw(Compact(text))
}

// marshal writes v as encoding/json does.
func (w *Writer) marshal(v any) {
	defer func() {
		if p := recover(); p != nil {
			err, _ := p.(error)
			w.Fail(fmt.Sprintf("panicked in the JSON encoding of %T: %v", v, p), err)
		}
	}()
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		w.Fail("cannot be encoded: "+err.Error(), err)
		return
	}
	if hasReplacement(buf.Bytes()) {
		w.Fail(fmt.Sprintf("is a %T with a string that is not valid UTF-8", v), nil)
		return
	}
	w.foreign(buf.Bytes())
}

// hasReplacement reports whether encoding/json replaced invalid UTF-8. It writes a
// replacement as the escape \ufffd, and a U+FFFD of the original string as three
// bytes.
func hasReplacement(text []byte) bool {
	escapes := bytes.ReplaceAll(text, []byte(`\\`), nil) // without those of backslashes
	return bytes.Contains(escapes, []byte(`\ufffd`))
}
