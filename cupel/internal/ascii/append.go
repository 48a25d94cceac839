package ascii

// AppendLower appends s to dst with the ASCII letters A to Z replaced by a to
// z. With room in dst it does not allocate, which makes it the way to look up
// folded keys: m[string(AppendLower(buf[:0], s))].
func AppendLower(dst []byte, s string) []byte {
	for i := range len(s) {
		dst = append(dst, lower(s[i]))
	}
	return dst
}
