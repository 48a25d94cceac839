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
	for ; len(a) >= 8; a, b = a[8:], b[8:] {
		if lower8(word(a)) != lower8(word(b)) {
			return false
		}
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
	first := strings.IndexFunc(s, func(r rune) bool { return 'A' <= r && r <= 'Z' })
	if first < 0 {
		return s
	}
	b := []byte(s)
	for i := first; i < len(b); i++ {
		b[i] = lower(b[i])
	}
	return string(b)
}

// word returns the first eight bytes as a number. The compiler makes it one load.
func word(s string) uint64 {
	_ = s[7]
	return uint64(s[0]) | uint64(s[1])<<8 | uint64(s[2])<<16 | uint64(s[3])<<24 |
		uint64(s[4])<<32 | uint64(s[5])<<40 | uint64(s[6])<<48 | uint64(s[7])<<56
}

func lower(c byte) byte {
	if 'A' <= c && c <= 'Z' {
		return c + ('a' - 'A')
	}
	return c
}
