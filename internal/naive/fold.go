package naive

// equalFold compares with ASCII case folding (R2).
func equalFold[T ~string](a, b T) bool {
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

// foldCase returns the spelling that all equal names share.
func foldCase(s string) string {
	folded := []byte(s)
	for i, c := range folded {
		folded[i] = lower(c)
	}
	return string(folded)
}
