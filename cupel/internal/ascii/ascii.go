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

func lower(c byte) byte {
	if 'A' <= c && c <= 'Z' {
		return c + ('a' - 'A')
	}
	return c
}
