package cupelrelevance

import (
	"encoding/binary"
	"hash/maphash"
	"math/bits"
)

// key is a term as two numbers, so that comparing and hashing one takes a few
// instructions and no loop. The key of a term of up to shortTerm bytes is
// unique: its bytes, the first one lowest, and zeros, which no term has. The
// key of a longer term is a hash and a high part that is not UTF-8.
type key struct{ low, high uint64 }

const (
	shortTerm = 16
	longTerm  = 1<<64 - 1
)

func keyOf(seed maphash.Seed, term []byte) (k key) {
	if len(term) > shortTerm {
		return key{maphash.Bytes(seed, term), longTerm}
	}
	for i := range min(len(term), 8) {
		k.low |= uint64(term[i]) << (8 * i)
	}
	for i := 8; i < len(term); i++ {
		k.high |= uint64(term[i]) << (8 * (i - 8))
	}
	return k
}

// hashing is a random hash of keys.
type hashing struct {
	seed      maphash.Seed
	low, high uint64 // of the seed
}

func newHashing() hashing {
	seed := maphash.MakeSeed()
	return hashing{seed, maphash.String(seed, "low"), maphash.String(seed, "high")}
}

// hash is the one Go's maps use on processors without hash instructions:
// without the seed, it is not possible to write a text whose words collide.
func (h *hashing) hash(k key) uint32 {
	high, low := bits.Mul64(k.low^h.low, k.high^h.high)
	high, low = bits.Mul64(high^low, h.low|1)
	return uint32(high ^ low)
}

// plainWord reads a plain word that begins at i with a byte of class c, and
// returns its key and its end. Most words are plain: small letters and digits,
// perhaps after a capital, and fewer than 16 bytes. The end is 0 for all others.
// It looks at 16 bytes at once, with zeros after the end of s. Processors predict
// the length of words badly, so it does not branch on it.
func plainWord(s string, i int, c class) (k key, end int) {
	if rest := s[i:]; len(rest) >= shortTerm {
		k.low, k.high = eightBytes(rest[:8]), eightBytes(rest[8:16])
	} else {
		var tail [shortTerm]byte
		copy(tail[:], rest)
		k.low, k.high = binary.LittleEndian.Uint64(tail[:8]), binary.LittleEndian.Uint64(tail[8:])
	}
	if c == upper {
		k.low |= 'a' - 'A'
	}
	if other := others(k.low); other != 0 {
		length := bits.TrailingZeros64(other) &^ 7
		k.low &= 1<<length - 1
		k.high = 0
		end = i + length/8
	} else {
		if other = others(k.high); other == 0 {
			return key{}, 0
		}
		length := bits.TrailingZeros64(other) &^ 7
		k.high &= 1<<length - 1
		end = i + 8 + length/8
	}
	if end < len(s) && classes[s[end]] != separator {
		return key{}, 0
	}
	return k, end
}

func eightBytes(s string) uint64 {
	_ = s[7]
	return uint64(s[0]) | uint64(s[1])<<8 | uint64(s[2])<<16 | uint64(s[3])<<24 |
		uint64(s[4])<<32 | uint64(s[5])<<40 | uint64(s[6])<<48 | uint64(s[7])<<56
}

// others marks the bytes of x, by their highest bits, that are neither small
// letters nor digits. Sums of two bytes below 128 show how they compare.
func others(x uint64) uint64 {
	const each = 0x0101010101010101
	ascii := x &^ (0x80 * each)
	letters := (ascii + (0x80-'a')*each) &^ (ascii + (0x80-'z'-1)*each)
	digits := (ascii + (0x80-'0')*each) &^ (ascii + (0x80-'9'-1)*each)
	return ^(letters|digits)&(0x80*each) | x&(0x80*each)
}
