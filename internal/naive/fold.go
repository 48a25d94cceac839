package naive

import "strings"

// equalFold compares with ASCII case folding (R2).
func equalFold(a, b string) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range len(a) {
		if a[i] != b[i] && lower(a[i]) != lower(b[i]) {
			return false
		}
	}
	return true
}

func lower(c byte) byte {
	if c >= 'A' && c <= 'Z' {
		return c + ('a' - 'A')
	}
	return c
}

// sameName compares with ASCII case folding, or makes one of the two mistakes
// that can be made with it.
func sameName(a, b string, f, caseSensitive, unicode Fault) bool {
	if f != FaultNone {
		switch f {
		case caseSensitive:
			return a == b
		case unicode:
			return strings.EqualFold(a, b)
		}
	}
	return equalFold(a, b)
}

// foldCase returns the spelling that all equal names share.
func foldCase(s string) string {
	return strings.Map(func(r rune) rune {
		if r >= 'A' && r <= 'Z' {
			return r + ('a' - 'A')
		}
		return r
	}, s)
}
