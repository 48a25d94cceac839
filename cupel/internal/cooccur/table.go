package cooccur

import (
	"hash/maphash"
	"math/bits"
)

// Hashes are seeded, so that an attacker cannot choose tags that collide. The
// seed affects where numbers lie in a table, never the numbers themselves.
var (
	seed   = maphash.MakeSeed()
	secret = maphash.String(seed, "cooccur")
)

// mix hashes a number; different numbers have different hashes.
func mix(x uint64) uint64 {
	x ^= secret
	x ^= x >> 33
	x *= 0xff51afd7ed558ccd
	x ^= x >> 33
	x *= 0xc4ceb9fe1a85ec53
	return x ^ x>>33
}

// table numbers things in the order in which they first come, and finds the
// number of a known thing by its hash. It holds no reference to the things.
// Reset it before its first use.
type table struct {
	slots  []uint32 // number + 1, or 0 where free; a power of two of them
	hashes []uint64 // by number
}

// leastSlots is the size of an empty table, a power of two.
const leastSlots = 64

// reset empties the table and keeps its memory, in time independent of its
// former size.
func (t *table) reset() {
	t.hashes = t.hashes[:0]
	t.size(leastSlots)
}

// resetFor empties the table and makes room for n things.
func (t *table) resetFor(n int) {
	t.hashes = sized(t.hashes, n)[:0]
	t.size(max(leastSlots, 1<<bits.Len(uint(2*n))))
}

func (t *table) len() int { return len(t.hashes) }

// number returns the number of the thing with this hash for which same holds,
// and gives a new thing the next number. If same is nil, things with equal
// hashes are equal.
func (t *table) number(hash uint64, same func(number uint32) bool) (number uint32, isNew bool) {
	mask := uint64(len(t.slots) - 1)
	for i := hash & mask; ; i = (i + 1) & mask {
		slot := t.slots[i]
		if slot == 0 {
			number = uint32(len(t.hashes))
			t.slots[i] = number + 1
			t.hashes = append(t.hashes, hash)
			if 2*len(t.hashes) > len(t.slots) {
				t.grow()
			}
			return number, true
		}
		if t.hashes[slot-1] == hash && (same == nil || same(slot-1)) {
			return slot - 1, false
		}
	}
}

// grow doubles the slots and moves every number to its new slot.
func (t *table) grow() {
	t.size(2 * len(t.slots))
	mask := uint64(len(t.slots) - 1)
	for number, hash := range t.hashes {
		i := hash & mask
		for t.slots[i] != 0 {
			i = (i + 1) & mask
		}
		t.slots[i] = uint32(number) + 1
	}
}

func (t *table) size(n int) {
	t.slots = sized(t.slots, n)
	clear(t.slots)
}

// sized returns s with length n, its contents unspecified.
func sized[E any](s []E, n int) []E {
	if cap(s) < n {
		// A power of two, so that lists that grow little by little soon stop
		// reallocating.
		return make([]E, n, 1<<bits.Len(uint(n-1)))
	}
	return s[:n]
}
