package replay

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/wollax/cupel-go/internal/rawjson"
)

// object is a JSON object whose members keep their order. A duplicate name has
// its first place and its last value.
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
// nil. It replaces invalid UTF-8, as encoding/json does.
func decode(text string) (any, error) {
	if !utf8.ValidString(text) {
		text = string([]rune(text))
	}
	v, err := rawjson.Text(text).Value()
	if err != nil {
		return nil, err
	}
	return decoded(v), nil
}

func decoded(v rawjson.Value) any {
	switch {
	case v.IsObject():
		o := object{}
		at := map[string]int{}
		for _, m := range v.Members() {
			if i, twice := at[m.Name]; twice {
				o[i].value = decoded(m.Value)
				continue
			}
			at[m.Name] = len(o)
			o = append(o, member{m.Name, decoded(m.Value)})
		}
		return o
	case v.IsArray():
		list := []any{}
		for _, e := range v.Elements() {
			list = append(list, decoded(e.Value))
		}
		return list
	case v.IsString():
		return v.String()
	case v.IsNumber():
		return json.Number(v.Raw())
	case v.IsNull():
		return nil
	}
	return string(v.Raw()) == "true"
}

// The reference implementation is in Python. Texts and numbers are written as
// its json.dumps(x, ensure_ascii=False) and str(x) write them, since the
// measure counts and searches these texts.

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

// escapes writes characters that JSON does not allow in strings.
var escapes = func() *strings.Replacer {
	pairs := []string{`"`, `\"`, `\`, `\\`, "\n", `\n`, "\r", `\r`, "\t", `\t`, "\f", `\f`, "\b", `\b`}
	for c := range rune(' ') {
		pairs = append(pairs, string(c), fmt.Sprintf(`\u%04x`, c)) // the first pair of a character counts
	}
	return strings.NewReplacer(pairs...)
}()

func appendString(b []byte, s string) []byte {
	return append(append(append(b, '"'), escapes.Replace(s)...), '"')
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
