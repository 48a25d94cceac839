package jsonwire

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
	"unicode/utf8"
)

// maxDepth is how deep encoding/json reads, and so how deep this package
// writes.
const maxDepth = 10000

// Writer builds one JSON value. The first value that cannot be written makes it
// fail; it ignores later writes. The zero Writer is ready.
type Writer struct {
	buf  []byte
	open []level  // the objects and arrays around the current place
	keys []string // of the maps that are being written
	err  *Error
}

// level is an object or an array that is being written, and the place in it.
type level struct {
	name  string // of the member, in an object
	count int    // members or elements begun
	style style
}

type style uint8

const (
	styleField style = iota // an object with names that are known
	styleKey                // an object with names that are data
	styleArray
)

// Error says what cannot be written, and where.
type Error struct {
	Path   string // such as `included[3].item.metadata["key"]`; "" for the value as a whole; cut short where it is long
	Reason string
	Err    error // the cause, if another package gave one
}

func (e *Error) Error() string { return e.Path + ": " + e.Reason }

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// Result returns the text, or the first failure.
func (w *Writer) Result() ([]byte, *Error) {
	if w.err != nil {
		return nil, w.err
	}
	return w.buf, nil
}

var writers = sync.Pool{New: func() any { return new(Writer) }}

// Write returns the value that write writes, or the first failure. size is the
// expected number of bytes: a long text gets its own memory, and a short one is
// copied from reused memory.
func Write(size int, write func(w *Writer)) ([]byte, *Error) {
	const short = 1 << 14
	w := writers.Get().(*Writer)
	again := w.buf
	if size > short {
		w.buf = make([]byte, 0, size)
	}
	w.buf, w.open, w.keys, w.err = w.buf[:0], w.open[:0], w.keys[:0], nil
	write(w)
	text, err := w.Result()
	if cap(text) <= short {
		again, text = text, bytes.Clone(text)
	}
	w.buf = again
	clear(w.keys[:cap(w.keys)])
	writers.Put(w)
	return text, err
}

// Fail records that the value at the current place cannot be written.
func (w *Writer) Fail(reason string, cause error) {
	if w.err == nil {
		w.err = &Error{w.path(), reason, cause}
	}
}

// maxPath is how many bytes of a path errors show: the path of a value that
// contains itself is long.
const maxPath = 200

func (w *Writer) path() string {
	var b []byte
	for _, l := range w.open {
		if len(b) > maxPath {
			break
		}
		switch {
		case l.count == 0: // nothing is begun in it
		case l.style == styleArray:
			b = fmt.Appendf(b, "[%d]", l.count-1)
		case l.style == styleKey:
			b = fmt.Appendf(b, "[%q]", l.name)
		default:
			if len(b) > 0 {
				b = append(b, '.')
			}
			b = append(b, l.name...)
		}
	}
	if len(b) > maxPath {
		return strings.ToValidUTF8(string(b[:maxPath]), "") + "…" // the cut may split a character
	}
	return string(b)
}

// enter begins an object or array, unless that is too deep or writing has
// failed.
func (w *Writer) enter(s style, bracket byte) bool {
	if len(w.open) == maxDepth {
		w.Fail(fmt.Sprintf("is nested more than %d deep", maxDepth), nil)
	}
	if w.err != nil {
		return false
	}
	w.buf = append(w.buf, bracket)
	w.open = append(w.open, level{style: s})
	return true
}

func (w *Writer) leave(bracket byte) {
	w.buf = append(w.buf, bracket)
	w.open = w.open[:len(w.open)-1]
}

// begin separates a member or element from the one before.
func (w *Writer) begin(name string) {
	top := &w.open[len(w.open)-1]
	if top.count > 0 {
		w.buf = append(w.buf, ',')
	}
	top.count++
	top.name = name
}

// Object writes an object with the members that fields writes: [Writer.Field]
// and a value for each.
func (w *Writer) Object(fields func()) {
	if w.enter(styleField, '{') {
		fields()
		w.leave('}')
	}
}

// Field begins a member of an object. Its name must need no escapes. Write the
// value next.
func (w *Writer) Field(name string) *Writer {
	w.begin(name)
	w.buf = append(append(append(w.buf, '"'), name...), '"', ':')
	return w
}

// Key begins a member whose name is data. Write the value next.
func (w *Writer) Key(name string) *Writer {
	w.begin(name)
	w.String(name)
	w.buf = append(w.buf, ':')
	return w
}

// Map writes an object whose names are data, in the order of keys; value
// writes the value of one key.
func (w *Writer) Map(keys []string, value func(i int)) {
	if !w.enter(styleKey, '{') {
		return
	}
	for i := 0; i < len(keys) && w.err == nil; i++ {
		if w.Key(keys[i]); w.err == nil {
			value(i)
		}
	}
	w.leave('}')
}

// Array writes an array of n elements; value writes one of them.
func (w *Writer) Array(n int, value func(i int)) {
	if !w.enter(styleArray, '[') {
		return
	}
	for i := 0; i < n && w.err == nil; i++ {
		w.begin("")
		value(i)
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
	b := append(w.buf, '"')
	for checked := false; ; {
		end, high := plainText(s, 0)
		if high && !checked {
			if checked = true; !utf8.ValidString(s) {
				w.Fail("is not valid UTF-8", nil)
				return
			}
		}
		b = append(b, s[:end]...)
		if end == len(s) {
			break
		}
		switch c := s[end]; c {
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
		s = s[end+1:]
	}
	w.buf = append(b, '"')
}

// Time writes the text of a time, which must be in the years 0 to 9999, in RFC
// 3339 with nanoseconds.
func (w *Writer) Time(t time.Time) {
	w.buf = append(t.AppendFormat(append(w.buf, '"'), time.RFC3339Nano), '"')
}

// Raw writes text that is known to be JSON.
func (w *Writer) Raw(text []byte) { w.buf = append(w.buf, text...) }

// Any writes a value of any type: what [Reader.Any] returns and Go's own numbers
// losslessly, maps in the order of their keys, everything else as encoding/json
// writes it. What Any could not read back fails.
func (w *Writer) Any(v any) {
	if w.err != nil {
		return
	}
	switch v := v.(type) {
	case nil:
		w.Raw([]byte("null"))
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
		start := len(w.buf)
		w.buf = append(w.buf, v...)
		if !isNumber(w.buf[start:]) {
			w.Fail(fmt.Sprintf("must be a JSON number, got the json.Number %q", shorten(string(v))), nil)
		}
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
	from := len(w.keys)
	for key := range m {
		w.keys = append(w.keys, key)
	}
	keys := w.keys[from:]
	slices.Sort(keys)
	w.Map(keys, func(i int) { w.Any(m[keys[i]]) })
	w.keys = w.keys[:from]
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
	for i := 0; i < len(text); i++ {
		if text[i] == '\\' {
			if bytes.HasPrefix(text[i+1:], []byte("ufffd")) {
				return true
			}
			i++
		}
	}
	return false
}
