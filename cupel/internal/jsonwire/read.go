// Package jsonwire reads and writes JSON text without losing anything: names
// are compared exactly, numbers keep their digits, and duplicate names and
// invalid UTF-8 are errors. It knows no Cupel types.
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

	"unicode/utf8"

	"github.com/wollax/cupel-go/cupel/internal/compat"
)

// A Member is one name and value of a JSON object. The value has no white
// space around it.
type Member struct {
	Name  string
	Value []byte
}

// Check says why data is not exactly one JSON value in UTF-8, nested at most
// 10,000 deep, or returns nil. All other functions that read expect text that
// passed Check, or a part of such text.
func Check(data []byte) error {
	if !utf8.Valid(data) {
		return errors.New("is not valid UTF-8")
	}
	if json.Valid(data) {
		return nil
	}
	var raw json.RawMessage
	err := json.Unmarshal(data, &raw)
	if syntax, ok := compat.AsType[*json.SyntaxError](err); ok {
		return fmt.Errorf("%w at byte %d", err, syntax.Offset)
	}
	return err
}

// Compact returns a copy of raw without white space between its parts.
func Compact(raw []byte) []byte {
	var b bytes.Buffer
	_ = json.Compact(&b, raw) // it fails only on text that Check rejects
	return b.Bytes()
}

// IsNull reports whether raw is null.
func IsNull(raw []byte) bool {
	r := Reader{data: raw}
	return r.peek() == 'n'
}

// Read reads one value, for example with [Reader.Int]. It is zero where there is
// a mistake.
func Read[T any](raw []byte, value func(*Reader) T) (T, error) {
	r := NewReader(raw)
	v := value(r)
	if err := r.Close(); err != nil {
		var zero T
		return zero, errors.New(err.Reason)
	}
	return v, nil
}

// Members returns the members of an object in the order of the text; a name
// may occur twice.
func Members(raw []byte) ([]Member, error) {
	return Read(raw, func(r *Reader) (members []Member) {
		for o := r.Object(nil); o.Next(); {
			members = append(members, Member{o.Name, r.Value()})
		}
		return members
	})
}

// Elements returns the elements of an array.
func Elements(raw []byte) ([][]byte, error) {
	return Read(raw, func(r *Reader) (elements [][]byte) {
		for a := r.Array(); a.Next(); {
			elements = append(elements, r.Value())
		}
		return elements
	})
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
// has no such form. It returns a number that fits no int unchanged: writing out
// its zeros could take too much memory.
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

// exponent returns the value of an exponent, limited to more than the digits of
// any text.
func exponent(text []byte) int64 {
	const most = 1 << 62 // there is room to add the number of digits
	n, _ := strconv.ParseInt(string(text), 10, 64)
	return min(max(n, -most), most)
}

// isNumber reports whether text is a JSON number and nothing else.
func isNumber(text []byte) bool {
	r := NewReader(text)
	number := r.anyNumber()
	return r.Close() == nil && len(number) == len(text)
}

// wrongType says that the value at the beginning of text is of another type.
func wrongType(want string, text []byte) string {
	got := "a number"
	switch text[0] {
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
	return "must be " + want + ", got " + got
}

// shorten keeps the text of errors short, however long a number is.
func shorten(text string) string {
	const most = 40
	if len(text) <= most {
		return text
	}
	return text[:most] + "…"
}
