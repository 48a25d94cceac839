package naive

// equalFold compares with ASCII case folding (R2).
func equalFold[T ~string](a, b T) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range len(a) {
		if fold(a[i]) != fold(b[i]) {
			return false
		}
	}
	return true
}

func fold(c byte) byte {
	if c >= 'A' && c <= 'Z' {
		c += 'a' - 'A'
	}
	return c
}

// foldCase returns the spelling that all equal names share.
func foldCase(s string) string {
	folded := []byte(s)
	for i, c := range folded {
		folded[i] = fold(c)
	}
	return string(folded)
}
