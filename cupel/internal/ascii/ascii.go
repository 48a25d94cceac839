// Package ascii folds the case of ASCII letters and of nothing else.
//
// The specification compares kinds, sources and FrequencyScorer's tags this
// way; strings.EqualFold would also make 'K' equal to the Kelvin sign and 's'
// equal to the long s (R2).
package ascii

import "strings"

// EqualFold reports whether a and b are equal when the ASCII letters A to Z
// count as a to z. Every other byte must match exactly.
func EqualFold(a, b string) bool {
	if len(a) != len(b) {
		return false
	}
	if a == b { // far faster than folding, and the usual case
		return true
	}
	for i := range len(a) {
		if lower(a[i]) != lower(b[i]) {
			return false
		}
	}
	return true
}

// Lower returns s with the ASCII letters A to Z replaced by a to z. It does
// not allocate when s has none of them.
func Lower(s string) string {
	if !strings.ContainsFunc(s, func(r rune) bool { return 'A' <= r && r <= 'Z' }) {
		return s
	}
	return string(AppendLower(nil, s))
}

// AppendLower appends s to dst with the ASCII letters A to Z replaced by a to
// z. It does not allocate if dst has room, as in m[string(AppendLower(buf[:0],
// s))], which looks up a folded key.
func AppendLower(dst []byte, s string) []byte {
	for i := range len(s) {
		dst = append(dst, lower(s[i]))
	}
	return dst
}

func lower(c byte) byte {
	if 'A' <= c && c <= 'Z' {
		return c + ('a' - 'A')
	}
	return c
}
