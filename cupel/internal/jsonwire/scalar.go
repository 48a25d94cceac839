package jsonwire

import (
	"math"
	"math/bits"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// String reads a string.
func (r *Reader) String() string { return string(r.string()) }

// Word reads a string that often recurs, and may return an earlier equal one.
func (r *Reader) Word() string { return r.word(r.string()) }

// string reads a string, which is valid until the next one.
func (r *Reader) string() []byte {
	if r.err != nil {
		return nil
	}
	if r.peek() != '"' {
		r.wrongType("a string")
		return nil
	}
	return r.str()
}

// word returns text as a string, an earlier equal one if possible.
func (r *Reader) word(text []byte) string {
	const long = 32
	n := len(text)
	if n == 0 || n > long {
		return string(text)
	}
	at := &r.words[(uint(n)*7+uint(text[0])*5+uint(text[n-1])*3+uint(text[n/2]))%uint(len(r.words))]
	if *at != string(text) {
		*at = string(text)
	}
	return *at
}

// str reads a string. The result is valid until the next string is read.
func (r *Reader) str() []byte {
	start := r.pos + 1
	end, high := plainText(r.data, start)
	if end == len(r.data) || r.data[end] < ' ' {
		r.syntax()
		return nil
	}
	text := r.data[start:end]
	r.pos = end
	if r.data[end] == '\\' {
		var more bool
		text, more = r.unescape(text)
		high = high || more
	} else {
		r.pos++
	}
	if high && !utf8.Valid(text) {
		r.syntax()
	}
	return text
}

// unescape reads the rest of a string, from its first escape on.
func (r *Reader) unescape(before []byte) (text []byte, high bool) {
	b := append(r.text[:0], before...)
	data, i := r.data, r.pos
	for {
		if i == len(data) || data[i] < ' ' {
			r.syntax()
			break
		}
		if data[i] == '"' {
			i++
			break
		}
		// A backslash: plain text ends with nothing else.
		if i+1 == len(data) {
			r.syntax()
			break
		}
		c := data[i+1]
		i += 2
		switch c {
		case '"', '\\', '/':
			b = append(b, c)
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
			char := hex4(data[i:])
			i += 4
			if utf16.IsSurrogate(char) {
				var low rune
				if len(data)-i > 2 && data[i] == '\\' && data[i+1] == 'u' {
					low = hex4(data[i+2:])
				}
				if char = utf16.DecodeRune(char, low); char == utf8.RuneError {
					r.Fail("", "has an escape that is one half of a surrogate pair", nil)
				}
				i += 6
			}
			if char < 0 {
				r.syntax()
			}
			b = utf8.AppendRune(b, char)
		default:
			r.syntax()
		}
		if r.err != nil {
			break
		}
		end, h := plainText(data, i)
		high = high || h
		b = append(b, data[i:end]...)
		i = end
	}
	r.text, r.pos = b, min(i, len(data))
	return b, high
}

// hex4 returns the value of four hexadecimal digits, or -1.
func hex4(text []byte) rune {
	if len(text) < 4 {
		return -1
	}
	n := rune(0)
	for _, c := range text[:4] {
		switch {
		case '0' <= c && c <= '9':
			n = n<<4 | rune(c-'0')
		case 'a' <= c|0x20 && c|0x20 <= 'f':
			n = n<<4 | rune(c|0x20-'a'+10)
		default:
			return -1
		}
	}
	return n
}

// plainText returns where the text that begins at i has its first quote,
// backslash or control character, or its end, and whether there may be bytes
// beyond ASCII before.
func plainText[T string | []byte](text T, i int) (end int, high bool) {
	const ones, tops = 0x0101010101010101, 0x8080808080808080
	all := uint64(0)
	for ; i+8 <= len(text); i += 8 {
		b := text[i : i+8]
		w := uint64(b[0]) | uint64(b[1])<<8 | uint64(b[2])<<16 | uint64(b[3])<<24 | // one load
			uint64(b[4])<<32 | uint64(b[5])<<40 | uint64(b[6])<<48 | uint64(b[7])<<56
		all |= w
		quote, slash := w^ones*'"', w^ones*'\\'
		// The lowest top bit that is set is that of the first such byte.
		if found := ((quote-ones)&^quote | (slash-ones)&^slash | (w-ones*' ')&^w) & tops; found != 0 {
			return i + bits.TrailingZeros64(found)/8, all&tops != 0
		}
	}
	high = all&tops != 0
	for ; i < len(text); i++ {
		c := text[i]
		if c == '"' || c == '\\' || c < ' ' {
			break
		}
		high = high || c >= utf8.RuneSelf
	}
	return i, high
}

// quoted skips a string without decoding it: its escapes may be halves of
// surrogate pairs.
func (r *Reader) quoted() {
	if r.peek() != '"' {
		r.syntax()
		return
	}
	data, start, all := r.data, r.pos+1, false
	for i := start; ; {
		end, high := plainText(data, i)
		all = all || high
		if end == len(data) || data[end] < ' ' {
			break
		}
		if data[end] == '"' {
			r.pos = end + 1
			if all && !utf8.Valid(data[start:end]) {
				break
			}
			return
		}
		if i = end + 2; i > len(data) {
			break
		}
		if c := data[end+1]; c == 'u' {
			if hex4(data[i:]) < 0 {
				break
			}
			i += 4
		} else if strings.IndexByte(`"\/bfnrt`, c) < 0 {
			break
		}
	}
	r.syntax()
}

// digits skips a number and returns its text, and whether it has neither fraction
// nor exponent.
func (r *Reader) digits(want string) (text []byte, whole bool) {
	if r.err != nil {
		return nil, false
	}
	c := r.peek()
	if c != '-' && (c < '0' || c > '9') {
		r.wrongType(want)
		return nil, false
	}
	data, start, i := r.data, r.pos, r.pos
	if c == '-' {
		i++
	}
	first := i
	i = behindDigits(data, i)
	ok := i > first && (data[first] != '0' || i == first+1)
	whole = true
	if i < len(data) && data[i] == '.' {
		whole, first = false, i+1
		i = behindDigits(data, first)
		ok = ok && i > first
	}
	if i < len(data) && data[i]|0x20 == 'e' {
		whole, first = false, i+1
		if first < len(data) && (data[first] == '+' || data[first] == '-') {
			first++
		}
		i = behindDigits(data, first)
		ok = ok && i > first
	}
	r.pos = i
	if !ok {
		r.syntax()
		return nil, false
	}
	return data[start:i], whole
}

// behindDigits returns where the decimal digits that begin at i end.
func behindDigits(data []byte, i int) int {
	for i < len(data) && '0' <= data[i] && data[i] <= '9' {
		i++
	}
	return i
}

// Int reads an integer, however it is spelled.
func (r *Reader) Int() int {
	const sure = 9 // bytes that fit into an int of 32 bits
	text, whole := r.digits("an integer")
	if r.err != nil {
		return 0
	}
	if whole && len(text) <= sure {
		n := 0
		for _, c := range text {
			if c != '-' {
				n = 10*n + int(c-'0')
			}
		}
		if text[0] == '-' {
			n = -n
		}
		return n
	}
	n, err := integer(text)
	if err != nil {
		r.Fail("", err.Error(), nil)
	}
	return n
}

// Float reads a number, or one of the strings that stand for what is not
// finite.
func (r *Reader) Float() float64 {
	const want = `a number, "NaN", "Infinity" or "-Infinity"`
	if r.err != nil || r.peek() != '"' {
		return r.float(want)
	}
	start := r.pos
	r.quoted()
	switch string(r.data[start:r.pos]) {
	case `"NaN"`:
		return math.NaN()
	case `"Infinity"`:
		return math.Inf(1)
	case `"-Infinity"`:
		return math.Inf(-1)
	}
	r.pos = start
	return r.float(want)
}

// Number reads a number.
func (r *Reader) Number() float64 { return r.float("a number") }

func (r *Reader) float(want string) float64 {
	text, _ := r.digits(want)
	if r.err != nil {
		return 0
	}
	f, err := strconv.ParseFloat(string(text), 64)
	if err != nil { // only the range is left to be wrong
		r.Fail("", "must be within the range of a float64, got "+shorten(string(text)), nil)
		return 0
	}
	return f
}

// anyNumber reads what can only be a number, and returns its text.
func (r *Reader) anyNumber() []byte {
	text, _ := r.digits("a value")
	return text
}
