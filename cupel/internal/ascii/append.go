package ascii

import "encoding/binary"

// AppendLower appends s to dst with the ASCII letters A to Z replaced by a to
// z. It does not allocate if dst has room, as in m[string(AppendLower(buf[:0],
// s))], which looks up a folded key.
func AppendLower(dst []byte, s string) []byte {
	begin := len(dst)
	dst = append(dst, s...)
	b := dst[begin:]
	for ; len(b) >= 8; b = b[8:] {
		binary.LittleEndian.PutUint64(b, lower8(binary.LittleEndian.Uint64(b)))
	}
	for i := range b {
		b[i] = lower(b[i])
	}
	return dst
}

// lower8 is lower for eight bytes at a time.
func lower8(x uint64) uint64 {
	const each = 0x0101010101010101
	// The sums have the high bit set for bytes from 'A' on, and beyond 'Z'. The
	// original high bits are cleared, so that no sum carries into the next byte.
	low := x &^ (0x80 * each)
	fromA, beyondZ := low+(0x80-'A')*each, low+(0x7f-'Z')*each
	return x | (fromA&^beyondZ&^x)>>2&(0x20*each)
}
