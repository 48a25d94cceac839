package naive

// equalFold compares with ASCII case folding (R2).
func equalFold[T ~string](a, b T) bool {
	return a == b || len(a) == len(b) && foldCase(string(a)) == foldCase(string(b))
}

// foldCase returns the spelling that all equal names share.
func foldCase(s string) string {
	folded := []byte(s)
	for i, c := range folded {
		if c >= 'A' && c <= 'Z' {
			folded[i] = c + ('a' - 'A')
		}
	}
	return string(folded)
}
