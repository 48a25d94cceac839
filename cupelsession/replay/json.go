package replay

import (
	"encoding/json"
	"errors"
	"io"
	"strconv"
	"strings"
	"unicode/utf8"
)

// object is a JSON object whose members keep their order. A name that is given
// twice has its first place and its last value.
type object []member

type member struct {
	name  string
	value any
}

func (o object) get(name string) any {
	for _, m := range o {
		if m.name == name {
			return m.value
		}
	}
	return nil
}

// text returns the string of a member, or "".
func (o object) text(name string) string {
	s, _ := o.get(name).(string)
	return s
}

// list returns the array of a member, or nil.
func (o object) list(name string) []any {
	l, _ := o.get(name).([]any)
	return l
}

// decode reads one JSON value: an object, []any, string, json.Number, bool or
// nil.
func decode(text string) (any, error) {
	d := json.NewDecoder(strings.NewReader(text))
	d.UseNumber()
	v, err := next(d, maxDepth)
	if err != nil {
		return nil, err
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("more than one JSON value")
	}
	return v, nil
}

// maxDepth is how deep encoding/json reads arrays and objects, but for its tokens.
const maxDepth = 10_000

var errTooDeep = errors.New("arrays and objects stand too deep inside of each other")

// next reads a value in which arrays and objects stand at most so deep.
func next(d *json.Decoder, depth int) (any, error) {
	token, err := d.Token()
	if err != nil {
		return nil, err
	}
	if _, opens := token.(json.Delim); opens && depth == 0 {
		return nil, errTooDeep
	}
	switch token {
	case json.Delim('['):
		list := []any{}
		for d.More() {
			v, err := next(d, depth-1)
			if err != nil {
				return nil, err
			}
			list = append(list, v)
		}
		_, err := d.Token()
		return list, err
	case json.Delim('{'):
		o := object{}
		at := map[string]int{}
		for d.More() {
			name, err := d.Token()
			if err != nil {
				return nil, err
			}
			v, err := next(d, depth-1)
			if err != nil {
				return nil, err
			}
			s, _ := name.(string)
			if i, twice := at[s]; twice {
				o[i].value = v
				continue
			}
			at[s] = len(o)
			o = append(o, member{s, v})
		}
		_, err := d.Token()
		return o, err
	default:
		return token, nil
	}
}

// The reference implementation is in Python. Texts and numbers are written as
// its json.dumps(x, ensure_ascii=False) and str(x) write them, since that is
// what the measure counts and searches.

// appendJSON appends the JSON of a value, with a space after each comma and
// colon. write writes numbers: as Python does, or as they were read.
func appendJSON(b []byte, v any, write func(json.Number) string) []byte {
	switch v := v.(type) {
	case object:
		b = append(b, '{')
		for i, m := range v {
			if i > 0 {
				b = append(b, ", "...)
			}
			b = append(appendString(b, m.name), ": "...)
			b = appendJSON(b, m.value, write)
		}
		return append(b, '}')
	case []any:
		b = append(b, '[')
		for i, e := range v {
			if i > 0 {
				b = append(b, ", "...)
			}
			b = appendJSON(b, e, write)
		}
		return append(b, ']')
	case string:
		return appendString(b, v)
	case bool:
		return strconv.AppendBool(b, v)
	case json.Number:
		return append(b, write(v)...)
	default:
		return append(b, "null"...)
	}
}

func appendString(b []byte, s string) []byte {
	b = append(b, '"')
	for i := range len(s) {
		switch c := s[i]; c {
		case '"', '\\':
			b = append(b, '\\', c)
		case '\n':
			b = append(b, `\n`...)
		case '\r':
			b = append(b, `\r`...)
		case '\t':
			b = append(b, `\t`...)
		case '\f':
			b = append(b, `\f`...)
		case '\b':
			b = append(b, `\b`...)
		default:
			if c < 0x20 {
				const hex = "0123456789abcdef"
				b = append(b, `\u00`...)
				b = append(b, hex[c>>4], hex[c&15])
				continue
			}
			b = append(b, c)
		}
	}
	return append(b, '"')
}

// number returns a number as Python writes it: integers with all their digits,
// other numbers with the fewest digits that give the same float.
func number(n json.Number) string {
	text := n.String()
	if !strings.ContainsAny(text, ".eE") {
		if text == "-0" {
			return "0"
		}
		return text
	}
	f, err := strconv.ParseFloat(text, 64)
	switch {
	case f > 0 && err != nil:
		return "Infinity" // out of range: JSON has no infinities
	case err != nil:
		return "-Infinity"
	}
	const fixed = 16 // digits before the point
	text = strconv.FormatFloat(f, 'e', -1, 64)
	_, exponent, _ := strings.Cut(text, "e")
	if e, _ := strconv.Atoi(exponent); e < -4 || e >= fixed {
		return text
	}
	text = strconv.FormatFloat(f, 'f', -1, 64)
	if !strings.Contains(text, ".") {
		text += ".0"
	}
	return text
}

// str returns a value that is not a list or an object as Python's str does.
func str(v any) string {
	switch v := v.(type) {
	case string:
		return v
	case json.Number:
		return number(v)
	case bool:
		if v {
			return "True"
		}
		return "False"
	default:
		return "None"
	}
}

func characters(s string) int { return utf8.RuneCountInString(s) }
