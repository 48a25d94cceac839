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
// fail; it ignores later writes.
type Writer struct {
	buf   []byte
	depth int
	fault *Fault
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
	if w.fault != nil {
		return nil, w.fault
	}
	return bytes.Clone(w.buf), nil
}

// Fail records that the value at the current place cannot be written.
func (w *Writer) Fail(reason string, cause error) {
	if w.fault == nil {
		w.fault = &Fault{Reason: reason, Err: cause}
	}
}

// nest writes an object or array, unless that is too deep or writing has failed.
func (w *Writer) nest(open, closing byte, parts func()) {
	if w.depth >= maxDepth {
		w.Fail(fmt.Sprintf("is nested more than %d deep", maxDepth), nil)
	}
	if w.fault != nil {
		return
	}
	w.depth++
	w.buf = append(w.buf, open)
	parts()
	w.buf = append(w.buf, closing)
	w.depth--
}

// separate begins a member or element.
func (w *Writer) separate() {
	if last := w.buf[len(w.buf)-1]; last != '{' && last != '[' {
		w.buf = append(w.buf, ',')
	}
}

// name begins a member of an object.
func (w *Writer) name(name string) {
	w.separate()
	w.String(name)
	w.buf = append(w.buf, ':')
}

// Map writes an object whose names are data; value writes the value of one of
// them. If that fails, the path of the error begins with the name.
func (w *Writer) Map(names []string, value func(i int)) {
	w.nest('{', '}', func() {
		for i, name := range names {
			w.name(name)
			if value(i); w.fault != nil {
				w.fault.within(keyPath(name))
				return
			}
		}
	})
}

// Array writes an array of n elements; value writes one of them. If that fails,
// the path of the error begins with the index.
func (w *Writer) Array(n int, value func(i int)) {
	w.nest('[', ']', func() {
		for i := range n {
			w.separate()
			if value(i); w.fault != nil {
				w.fault.within(indexPath(i))
				return
			}
		}
	})
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
	written := 0
	for i := range len(s) {
		c := s[i]
		if c >= ' ' && c != '"' && c != '\\' {
			continue
		}
		b = append(append(b, s[written:i]...), '\\')
		written = i + 1
		switch c {
		case '"', '\\':
			b = append(b, c)
		case '\n':
			b = append(b, 'n')
		case '\r':
			b = append(b, 'r')
		case '\t':
			b = append(b, 't')
		default:
			b = append(b, 'u', '0', '0', hex[c>>4], hex[c&15])
		}
	}
	w.buf = append(append(b, s[written:]...), '"')
}

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
	keys := slices.Sorted(maps.Keys(m))
	w.Map(keys, func(i int) { w.Any(m[keys[i]]) })
}

// foreign writes JSON text of unknown origin.
func (w *Writer) foreign(text []byte) {
	const unreadable = "is not JSON that can be read back: "
	if fault := Check(text); fault != nil {
		w.Fail(unreadable+fault.Err.Error(), fault.Err)
		return
	}
	if fault := Read(text, func(r *Reader) { r.Any() }); fault != nil {
		w.Fail(unreadable+fault.Reason, nil)
		return
	}
	w.buf = append(w.buf, Compact(text)...)
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
	if escapedReplacements(buf.Bytes()) > 0 { // of invalid UTF-8: encoding/json writes a U+FFFD of the value as it is
		w.Fail(fmt.Sprintf("is a %T with a string that is not valid UTF-8", v), nil)
		return
	}
	w.foreign(buf.Bytes())
}
