// Package jsonwire reads and writes JSON text without losing anything: names
// are compared exactly, numbers keep their digits, a name that is given twice
// is seen, and no string is repaired in silence. It knows no Cupel types.
//
// The errors of this package complete a sentence whose subject is the value:
// "must be an integer, got a string".
package jsonwire

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// A Member is one name and value of a JSON object. The value has no white
// space around it.
type Member struct {
	Name  string
	Value []byte
}

// Check says why data is not exactly one JSON value in UTF-8, nested at most
// 10,000 deep, or returns nil. All other readers of this package take text
// that passed it, or a part of such text.
func Check(data []byte) error {
	if !utf8.Valid(data) {
		return errors.New("is not valid UTF-8")
	}
	if json.Valid(data) {
		return nil
	}
	var raw json.RawMessage
	err := json.Unmarshal(data, &raw)
	if syntax, ok := errors.AsType[*json.SyntaxError](err); ok {
		return fmt.Errorf("%w at byte %d", err, syntax.Offset)
	}
	return err
}

// Compact returns a copy of raw without white space between its parts.
func Compact(raw []byte) []byte {
	var b bytes.Buffer
	_ = json.Compact(&b, raw) // it fails only on what Check has ruled out
	return b.Bytes()
}

// IsNull reports whether raw is null.
func IsNull(raw []byte) bool { return first(raw) == 'n' }

// Members returns the members of an object in the order of the text; a name
// may occur twice.
func Members(raw []byte) ([]Member, error) {
	p := parser{data: raw}
	if p.peek() != '{' {
		return nil, wrongType("an object", raw)
	}
	var members []Member
	err := p.object(func(name string) error {
		members = append(members, Member{name, p.skip()})
		return nil
	})
	return members, err
}

// Elements returns the elements of an array.
func Elements(raw []byte) ([][]byte, error) {
	p := parser{data: raw}
	if p.peek() != '[' {
		return nil, wrongType("an array", raw)
	}
	var elements [][]byte
	err := p.array(func() error {
		elements = append(elements, p.skip())
		return nil
	})
	return elements, err
}

// Any returns a value of any type: nil, bool, string, [json.Number], []any or
// map[string]any.
func Any(raw []byte) (any, error) {
	p := parser{data: raw}
	return p.value()
}

// String returns a string.
func String(raw []byte) (string, error) {
	if first(raw) != '"' {
		return "", wrongType("a string", raw)
	}
	p := parser{data: raw}
	return p.str()
}

// Bool returns a boolean.
func Bool(raw []byte) (bool, error) {
	switch first(raw) {
	case 't':
		return true, nil
	case 'f':
		return false, nil
	}
	return false, wrongType("true or false", raw)
}

// Int returns an integer, however it is spelled: 128, 128.0 and 1.28e2 are one
// number, as they are for JSON Schema.
func Int(raw []byte) (int, error) {
	if !isNumber(raw) {
		return 0, wrongType("an integer", raw)
	}
	return integer(trim(raw))
}

// integer returns the integer that the text of a number is.
func integer(text []byte) (int, error) {
	digits := text
	if bytes.ContainsAny(text, ".eE") {
		var whole bool
		if digits, whole = plainInteger(text); !whole {
			return 0, errors.New("must be an integer, got " + shorten(string(text)))
		}
	}
	n, err := strconv.Atoi(string(digits))
	if err != nil { // only the range is left to be wrong
		return 0, fmt.Errorf("must be from %d to %d, got %s", math.MinInt, math.MaxInt, shorten(string(text)))
	}
	return n, nil
}

// plainInteger returns a number without fraction and exponent, and false if it
// has no such form. One that is out of the range of every int stays as it is:
// its zeros may be too many to write.
func plainInteger(text []byte) ([]byte, bool) {
	const mostDigits = 19 // of an int of 64 bits
	mantissa, power := text, int64(0)
	if i := bytes.IndexAny(text, "eE"); i >= 0 {
		mantissa, power = text[:i], exponent(text[i+1:])
	}
	sign := len(mantissa) - len(bytes.TrimPrefix(mantissa, []byte("-")))
	before, after, _ := bytes.Cut(mantissa[sign:], []byte("."))
	digits := append(append([]byte(nil), before...), after...)
	power -= int64(len(after))
	significant := bytes.TrimRight(digits, "0")
	power += int64(len(digits) - len(significant))
	significant = bytes.TrimLeft(significant, "0")
	switch {
	case len(significant) == 0:
		return []byte("0"), true
	case power < 0:
		return nil, false
	case power > mostDigits:
		return text, true
	}
	plain := append(mantissa[:sign:sign], significant...)
	return append(plain, bytes.Repeat([]byte("0"), int(power))...), true
}

// exponent returns the value of an exponent, cut short where no text has as many
// digits.
func exponent(text []byte) int64 {
	const most = 1 << 62 // there is room to add the number of digits
	n, _ := strconv.ParseInt(string(text), 10, 64)
	return min(max(n, -most), most)
}

// Float returns the nearest float64 of a number, or what one of the strings
// "NaN", "Infinity" and "-Infinity" stands for. A number too large for a
// float64 is an error, not an infinity.
func Float(raw []byte) (float64, error) {
	const want = `a number, "NaN", "Infinity" or "-Infinity"`
	text := string(trim(raw))
	switch text {
	case `"NaN"`:
		return math.NaN(), nil
	case `"Infinity"`:
		return math.Inf(1), nil
	case `"-Infinity"`:
		return math.Inf(-1), nil
	}
	if !isNumber(raw) {
		return 0, wrongType(want, raw)
	}
	f, err := strconv.ParseFloat(text, 64)
	if err != nil { // only the range is left to be wrong
		return 0, errors.New("must be within the range of a float64, got " + shorten(text))
	}
	return f, nil
}

// Number returns the nearest float64 of a number, and takes no words as [Float]
// does.
func Number(raw []byte) (float64, error) {
	if !isNumber(raw) {
		return 0, wrongType("a number", raw)
	}
	return Float(raw)
}

func wrongType(want string, raw []byte) error {
	got := "a number"
	switch first(raw) {
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
	return fmt.Errorf("must be %s, got %s", want, got)
}

// shorten keeps the text of errors short, however long a number is.
func shorten(text string) string {
	const most = 40
	if len(text) <= most {
		return text
	}
	return text[:most] + "…"
}

func isNumber(raw []byte) bool {
	c := first(raw)
	return c == '-' || '0' <= c && c <= '9'
}

func first(raw []byte) byte {
	p := parser{data: raw}
	return p.peek()
}

func trim(raw []byte) []byte {
	p := parser{data: raw}
	p.peek()
	return p.skip()
}

// parser walks over text that passed [Check]; it looks for nothing that Check
// has ruled out.
type parser struct {
	data []byte
	pos  int
}

// peek skips white space and returns the byte that follows, 0 at the end.
func (p *parser) peek() byte {
	for ; p.pos < len(p.data); p.pos++ {
		switch c := p.data[p.pos]; c {
		case ' ', '\t', '\r', '\n':
		default:
			return c
		}
	}
	return 0
}

// next moves behind the byte that peek returns.
func (p *parser) next() {
	p.peek()
	p.pos++
}

// object calls visit behind the colon of each member; visit moves behind the
// value.
func (p *parser) object(visit func(name string) error) error {
	p.next()
	for p.peek() != '}' {
		name, err := p.str()
		if err != nil {
			return fmt.Errorf("has a name that %w", err)
		}
		p.next() // the colon
		p.peek()
		if err := visit(name); err != nil {
			return err
		}
		if p.peek() == ',' {
			p.pos++
		}
	}
	p.pos++
	return nil
}

// array calls visit at each element; visit moves behind it.
func (p *parser) array(visit func() error) error {
	p.next()
	for p.peek() != ']' {
		if err := visit(); err != nil {
			return err
		}
		if p.peek() == ',' {
			p.pos++
		}
	}
	p.pos++
	return nil
}

// skip moves behind a value and returns its text. It is not recursive.
func (p *parser) skip() []byte {
	start, depth := p.pos, 0
	for p.pos < len(p.data) {
		switch p.data[p.pos] {
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
			for p.pos < len(p.data) && !strings.ContainsRune(",:]} \t\r\n", rune(p.data[p.pos])) {
				p.pos++
			}
		}
		if depth == 0 {
			break
		}
	}
	return p.data[start:p.pos]
}

// quoted moves behind a string and returns its text with the quotes.
func (p *parser) quoted() []byte {
	start := p.pos
	for p.pos++; p.data[p.pos] != '"'; p.pos++ {
		if p.data[p.pos] == '\\' {
			p.pos++
		}
	}
	p.pos++
	return p.data[start:p.pos]
}

// str moves behind a string and returns what it says.
func (p *parser) str() (string, error) {
	p.peek()
	text := p.quoted()
	text = text[1 : len(text)-1]
	if bytes.IndexByte(text, '\\') < 0 {
		return string(text), nil
	}
	b := make([]byte, 0, len(text))
	for i := 0; i < len(text); {
		c := text[i]
		if c != '\\' {
			b = append(b, c)
			i++
			continue
		}
		c = text[i+1]
		i += 2
		switch c {
		case 'b':
			b = append(b, '\b')
		case 'f':
			b = append(b, '\f')
		case 'n':
			b = append(b, '\n')
		case 'r':
			b = append(b, '\r')
		case 't':
			b = append(b, '\t')
		case 'u':
			r := hex4(text[i:])
			i += 4
			if utf16.IsSurrogate(r) {
				low := rune(-1)
				if len(text) >= i+6 && text[i] == '\\' && text[i+1] == 'u' {
					low = hex4(text[i+2:])
				}
				if r = utf16.DecodeRune(r, low); r == utf8.RuneError {
					return "", errors.New("has an escape that is one half of a surrogate pair")
				}
				i += 6
			}
			b = utf8.AppendRune(b, r)
		default: // a quote, a slash or a backslash
			b = append(b, c)
		}
	}
	return string(b), nil
}

// hex4 returns the value of four hexadecimal digits.
func hex4(text []byte) rune {
	n, _ := strconv.ParseUint(string(text[:4]), 16, 16) // Check has seen the digits
	return rune(n)
}

// value moves behind a value of any type and returns it. It recurses as deep
// as Check allows, and looks at each byte once: reading level by level would
// be quadratic in the depth.
func (p *parser) value() (any, error) {
	switch p.peek() {
	case '{':
		m := make(map[string]any)
		err := p.object(func(name string) error {
			if _, ok := m[name]; ok {
				return fmt.Errorf("has the name %q twice", name)
			}
			v, err := p.value()
			m[name] = v
			return err
		})
		return m, err
	case '[':
		list := []any{}
		err := p.array(func() error {
			v, err := p.value()
			list = append(list, v)
			return err
		})
		return list, err
	case '"':
		return p.str()
	case 't', 'f':
		return p.skip()[0] == 't', nil
	case 'n':
		p.skip()
		return nil, nil
	}
	return json.Number(p.skip()), nil
}
