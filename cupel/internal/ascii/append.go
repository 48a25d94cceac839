package ascii

import "encoding/binary"

// AppendLower appends s to dst with the ASCII letters A to Z replaced by a to
// z. With room in dst it does not allocate, which makes it the way to look up
// folded keys: m[string(AppendLower(buf[:0], s))].
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
	// Adding sets the high bit of bytes from 'A' on, and beyond 'Z'. The own high
	// bits are out of the way, so that no sum runs into the next byte.
	low := x &^ (0x80 * each)
	fromA, beyondZ := low+(0x80-'A')*each, low+(0x7f-'Z')*each
	return x | (fromA&^beyondZ&^x)>>2&(0x20*each)
}
