package rawjson

import (
	"unicode/utf16"
	"unicode/utf8"
)

// deepest is how deep the nesting of a value may be, as in encoding/json.
const deepest = 10_000

// What may come next in a text.
type expected uint8

const (
	aValue expected = iota
	firstValue
	aKey
	firstKey
	aColon
	aComma // or the end
)

// Walk reports whether a text is one JSON value, and visits its tokens on the way:
// brackets, strings as '"', names of members as ':', and everything else as '0'.
// Visited tokens of a text that is not JSON mean nothing. It takes one pass.
func Walk[T ~string | ~[]byte](text T, visit func(token byte, from, to int)) bool {
	var open []byte // brackets
	next := aValue
	for i := 0; i < len(text); {
		c, from := text[i], i
		inside, value := byte(0), next == aValue || next == firstValue
		if len(open) > 0 {
			inside = open[len(open)-1]
		}
		switch c {
		case ' ', '\t', '\r', '\n':
			i++
			continue
		case ',':
			if next != aComma || inside == 0 {
				return false
			}
			next = aValue
			if inside == '{' {
				next = aKey
			}
			i++
			continue
		case ':':
			if next != aColon {
				return false
			}
			next = aValue
			i++
			continue
		case '{', '[':
			if open = append(open, c); !value || len(open) > deepest {
				return false
			}
			next = firstValue
			if c == '{' {
				next = firstKey
			}
			i++
		case '}', ']':
			if inside != c-2 || next != aComma && next != firstValue && next != firstKey {
				return false
			}
			open, next = open[:len(open)-1], aComma
			i++
		case '"':
			if i = closing(text, i+1); i < 0 || next >= aColon {
				return false
			}
			next = aComma
			if !value {
				c, next = ':', aColon
			}
		default:
			c, next = '0', aComma
			if i += scalar(text[i:]); !value || i == from {
				return false
			}
		}
		if visit != nil {
			visit(c, from, i)
		}
	}
	return next == aComma && len(open) == 0
}

// plain are the bytes that stand in a string for themselves, and do not end it.
var plain = func() (is [256]bool) {
	for c := range is {
		is[c] = c >= ' ' && c != '"' && c != '\\'
	}
	return is
}()

// closing returns where the string ends that has its quote before i, or -1 if it is
// none.
func closing[T ~string | ~[]byte](text T, i int) int {
	for i < len(text) {
		c := text[i]
		i++
		switch {
		case plain[c]:
		case c == '"':
			return i
		case c != '\\' || i == len(text):
			return -1
		case text[i] == 'u':
			if _, ok := hex(text[i+1:]); !ok {
				return -1
			}
			i += 5
		case unescaped(text[i]) == 0:
			return -1
		default:
			i++
		}
	}
	return -1
}

// unescaped returns the character for which a letter stands after a backslash, or 0.
func unescaped(c byte) byte {
	switch c {
	case '"', '\\', '/':
		return c
	case 'b':
		return '\b'
	case 'f':
		return '\f'
	case 'n':
		return '\n'
	case 'r':
		return '\r'
	case 't':
		return '\t'
	}
	return 0
}

// hex reads four digits.
func hex[T ~string | ~[]byte](text T) (r rune, ok bool) {
	if len(text) < 4 {
		return 0, false
	}
	for i := range 4 {
		c := text[i]
		switch {
		case '0' <= c && c <= '9':
			c -= '0'
		case 'a' <= c|0x20 && c|0x20 <= 'f':
			c = c | 0x20 - 'a' + 10
		default:
			return 0, false
		}
		r = r<<4 | rune(c)
	}
	return r, true
}

// scalar returns the length of the number or the word that a text begins with, or 0.
func scalar[T ~string | ~[]byte](text T) int {
	for _, word := range []string{"true", "false", "null"} {
		if len(text) >= len(word) && string(text[:len(word)]) == word {
			return len(word)
		}
	}
	i := 0
	digits := func() bool {
		from := i
		for i < len(text) && '0' <= text[i] && text[i] <= '9' {
			i++
		}
		return i > from
	}
	is := func(one, other byte) bool {
		if i < len(text) && (text[i] == one || text[i] == other) {
			i++
			return true
		}
		return false
	}
	is('-', '-')
	if !is('0', '0') && !digits() || is('.', '.') && !digits() {
		return 0
	}
	if is('e', 'E') {
		is('+', '-')
		if !digits() {
			return 0
		}
	}
	return i
}

// Unquote returns what a string says, given what is between its quotes. Unpaired
// surrogates become U+FFFD.
func Unquote(inside []byte) string {
	out := make([]byte, 0, len(inside))
	for i := 0; i < len(inside); {
		from := i
		for i < len(inside) && inside[i] != '\\' {
			i++
		}
		out = append(out, inside[from:i]...)
		if i == len(inside) {
			break
		}
		if c := inside[i+1]; c != 'u' {
			out = append(out, unescaped(c))
			i += 2
			continue
		}
		r, _ := hex(inside[i+2:])
		i += 6
		if utf16.IsSurrogate(r) {
			low, ok := rune(0), false
			if i+1 < len(inside) && inside[i] == '\\' && inside[i+1] == 'u' {
				low, ok = hex(inside[i+2:])
			}
			if r = utf16.DecodeRune(r, low); ok && r != utf8.RuneError {
				i += 6
			}
		}
		out = utf8.AppendRune(out, r)
	}
	return string(out)
}
