package jsonwire

import (
	"bytes"
	"fmt"
	"math"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// String reads a string.
func (r *Reader) String() string {
	if !r.is('"', "a string") {
		return ""
	}
	return string(r.text())
}

// text reads a string. The result is valid until the next one is read.
func (r *Reader) text() []byte {
	quoted, escaped := r.quoted()
	if escaped {
		return r.unescape(quoted)
	}
	return quoted
}

// quoted skips a string and returns what is between the quotes, and whether it
// has escapes.
func (r *Reader) quoted() (text []byte, escaped bool) {
	if r.next() != '"' {
		r.syntax()
		return nil, false
	}
	start := r.pos + 1
	for i := start; i < len(r.data); i += 2 {
		i = plainEnd(r.data, i)
		if i == len(r.data) || r.data[i] < ' ' {
			break
		}
		if r.data[i] == '"' {
			r.pos = i + 1
			return r.data[start:i], escaped
		}
		escaped = true
	}
	r.syntax()
	return nil, false
}

// special has the characters that a string ends with or escapes.
var special = func() (set [256]bool) {
	for c := range ' ' {
		set[c] = true
	}
	set['"'], set['\\'] = true, true
	return set
}()

// plainEnd returns where the plain text that begins at i ends.
func plainEnd[T string | []byte](text T, i int) int {
	for i < len(text) && !special[text[i]] {
		i++
	}
	return i
}

// unescape returns what a string with escapes says.
func (r *Reader) unescape(quoted []byte) []byte {
	b := r.buf[:0]
	for r.Fault == nil {
		at := bytes.IndexByte(quoted, '\\')
		if at < 0 {
			r.buf = append(b, quoted...)
			return r.buf
		}
		b = append(b, quoted[:at]...)
		quoted = quoted[at+1:]
		if i := strings.IndexByte(`"\/bfnrt`, quoted[0]); i >= 0 {
			b = append(b, "\"\\/\b\f\n\r\t"[i])
			quoted = quoted[1:]
			continue
		}
		var char rune
		char, quoted = r.hex4(quoted)
		if utf16.IsSurrogate(char) {
			low := rune(0)
			if bytes.HasPrefix(quoted, []byte(`\u`)) {
				low, quoted = r.hex4(quoted[1:])
			}
			if char = utf16.DecodeRune(char, low); char == utf8.RuneError {
				r.Fail("", "has an escape that is one half of a surrogate pair")
			}
		}
		b = utf8.AppendRune(b, char)
	}
	return nil
}

// hex4 returns the value of a u and four hexadecimal digits, and the text after
// them.
func (r *Reader) hex4(text []byte) (rune, []byte) {
	if len(text) > 4 && text[0] == 'u' {
		if n, err := strconv.ParseUint(string(text[1:5]), 16, 16); err == nil {
			return rune(n), text[5:]
		}
	}
	r.syntax()
	return 0, nil
}

// Int reads an integer, however it is spelled.
func (r *Reader) Int() int {
	text := r.number("an integer")
	n, err := strconv.Atoi(string(text))
	if err == nil {
		return n
	}
	digits, whole := plainInteger(text)
	if !whole {
		r.Fail("", "must be an integer, got "+shorten(string(text)))
		return 0
	}
	if n, err = strconv.Atoi(digits); err != nil { // only the range is left to be wrong
		r.Fail("", fmt.Sprintf("must be from %d to %d, got %s", math.MinInt, math.MaxInt, shorten(string(text))))
		return 0
	}
	return n
}

// plainInteger returns a number without fraction and exponent, and false if it
// has no such form. Of a number that fits no int it returns another such number:
// writing out its zeros could take too much memory.
func plainInteger(text []byte) (string, bool) {
	const mostDigits = 19 // of an int of 64 bits
	mantissa, power := text, int64(0)
	if i := bytes.IndexAny(text, "eE"); i >= 0 {
		mantissa = text[:i]
		power, _ = strconv.ParseInt(string(text[i+1:]), 10, 62) // beyond 62 bits, the limit: there is room to add the number of digits
	}
	before, after, _ := bytes.Cut(mantissa, []byte("."))
	digits := append(bytes.Clone(before), after...)
	significant := bytes.TrimRight(digits, "0")
	power += int64(len(digits) - len(significant) - len(after))
	switch {
	case len(bytes.Trim(digits, "-0")) == 0:
		return "0", true
	case power < 0:
		return "", false
	}
	zeros := bytes.Repeat([]byte("0"), int(min(power, mostDigits)))
	return string(append(significant, zeros...)), true
}

// Float reads a number, or one of the strings that stand for what is not
// finite.
func (r *Reader) Float() float64 {
	if r.Fault == nil && r.next() == '"' {
		start := r.pos
		name, _ := r.quoted()
		if f, err := strconv.ParseFloat(string(name), 64); err == nil && nonFinite(f) == string(name) {
			return f
		}
		r.pos = start
	}
	return r.float(`a number, "NaN", "Infinity" or "-Infinity"`)
}

// Number reads a number.
func (r *Reader) Number() float64 { return r.float("a number") }

func (r *Reader) float(want string) float64 {
	text := r.number(want)
	f, err := strconv.ParseFloat(string(text), 64)
	if err != nil { // only the range is left to be wrong
		r.Fail("", "must be within the range of a float64, got "+shorten(string(text)))
		return 0
	}
	return f
}

// number skips a number and returns its text, or nil if there is none.
func (r *Reader) number(want string) []byte {
	if c := r.next(); c != '-' && (c < '0' || c > '9') {
		r.wrongType(want)
	}
	if r.Fault != nil {
		return nil
	}
	return r.word()
}

// shorten keeps the text of errors short, however long a number is.
func shorten(text string) string {
	const most = 40
	if len(text) <= most {
		return text
	}
	return text[:most] + "…"
}
