package jsonwire

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"strconv"
	"strings"
)

// String reads a string.
func (r *Reader) String() string {
	if !r.is(`"`, "a string") {
		return ""
	}
	return r.text()
}

func (r *Reader) text() string {
	quoted := r.quoted()
	if bytes.IndexByte(quoted, '\\') < 0 {
		return string(quoted[1 : len(quoted)-1])
	}
	if !bytes.Contains(quoted, []byte(`\u`)) { // a third of the time to read a report
		return unescape(quoted[1 : len(quoted)-1])
	}
	var s string
	_ = json.Unmarshal(quoted, &s) // a string does not fail
	if n := strings.Count(s, "\uFFFD"); n > 0 && n > bytes.Count(quoted, []byte("\uFFFD"))+escapedReplacements(quoted) {
		r.Fail("", "has an escape that is one half of a surrogate pair")
	}
	return s
}

// unescape replaces the escapes of a string that has none by a number.
func unescape(text []byte) string {
	var b strings.Builder
	b.Grow(len(text))
	for {
		before, after, found := bytes.Cut(text, []byte(`\`))
		b.Write(before)
		if !found {
			return b.String()
		}
		c := after[0]
		if at := strings.IndexByte("bfnrt", c); at >= 0 {
			c = "\b\f\n\r\t"[at]
		}
		b.WriteByte(c)
		text = after[1:]
	}
}

// escapedReplacements counts how often text has U+FFFD as an escape.
func escapedReplacements(text []byte) int {
	escapes := bytes.ReplaceAll(text, []byte(`\\`), nil) // without those of backslashes
	return bytes.Count(bytes.ToLower(escapes), []byte(`\ufffd`))
}

// quoted skips a string and returns it with its quotes.
func (r *Reader) quoted() []byte {
	r.next()
	start := r.pos
	for r.pos++; ; {
		r.pos += bytes.IndexByte(r.data[r.pos:], '"')
		before := r.data[start:r.pos]
		r.pos++
		if backslashes := len(before) - len(bytes.TrimRight(before, `\`)); backslashes%2 == 0 {
			return r.data[start:r.pos]
		}
	}
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
		switch string(r.quoted()) {
		case `"NaN"`:
			return math.NaN()
		case `"Infinity"`:
			return math.Inf(1)
		case `"-Infinity"`:
			return math.Inf(-1)
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
	if !r.is("-0123456789", want) {
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
