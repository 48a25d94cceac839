package rawjson

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
)

// deepest is the maximum nesting of a value, as in encoding/json.
const deepest = 10_000

// The tokens that may come next in a text.
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

// plain are the bytes that mean themselves in a string, and do not end it.
var plain = func() (is [256]bool) {
	for c := range is {
		is[c] = c >= ' ' && c != '"' && c != '\\'
	}
	return is
}()

// closing returns the end of the string whose quote is before i, or -1 if the
// string is invalid.
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
			for end := i + 4; i < end; {
				if i++; i == len(text) || strings.IndexByte("0123456789abcdefABCDEF", text[i]) < 0 {
					return -1
				}
			}
			i++
		case unescaped[text[i]] == 0:
			return -1
		default:
			i++
		}
	}
	return -1
}

// unescaped are the characters for the letters after a backslash.
var unescaped = [256]byte{'"': '"', '\\': '\\', '/': '/', 'b': '\b', 'f': '\f', 'n': '\n', 'r': '\r', 't': '\t'}

// scalar returns the length of the number or the word that a text begins with, or 0.
func scalar[T ~string | ~[]byte](text T) int {
	n, digits := 0, true
	for n < len(text) && !ends(text[n]) {
		digits = digits && '0' <= text[n] && text[n] <= '9'
		n++
	}
	if digits && n > 0 && text[0] != '0' || json.Valid([]byte(text[:n])) {
		return n
	}
	return 0
}

// Unquote returns the decoded string, given the text between its quotes.
// Unpaired surrogates become U+FFFD.
func Unquote(inside []byte) string {
	var said string
	if bytes.Contains(inside, []byte(`\u`)) {
		_ = json.Unmarshal(slices.Concat([]byte{'"'}, inside, []byte{'"'}), &said) // it has been checked
		return said
	}
	out := make([]byte, 0, len(inside))
	for i := 0; i < len(inside); i++ {
		c := inside[i]
		if c == '\\' {
			i++
			c = unescaped[inside[i]]
		}
		out = append(out, c)
	}
	return string(out)
}
