// Package order sorts positions by score the way every stage of the pipeline
// does: highest score first, ties by position, NaN last (R8).
package order

import (
	"cmp"
	"math"
	"math/bits"
	"slices"
	"sync"
)

// Pair is a position in some list and the key of its score.
type Pair struct {
	Key   uint64 // see [Key]
	Index int
}

// Key maps a score to an integer that orders as scores do: NaN is least and
// equal to every other NaN, then -Inf up to +Inf; -0 and +0 are equal (R8).
func Key(score float64) uint64 {
	if score != score {
		return 0
	}
	b := math.Float64bits(score + 0) // -0 + 0 is +0
	if b>>63 != 0 {
		return ^b
	}
	return b | 1<<63
}

// SortDescending sorts by Key, largest first. Equal keys keep their order, which is
// that of a list's own positions where the pairs came in it. It is linear in len(pairs).
func SortDescending(pairs []Pair) {
	if slices.IsSortedFunc(pairs, func(a, b Pair) int { return cmp.Compare(b.Key, a.Key) }) {
		return
	}
	if len(pairs) > insertionUpTo {
		scratch := Borrow(len(pairs))
		scratch.spread(pairs, scratch.Pairs)
		scratch.Return()
	}
	insertionSort(pairs)
}

// insertionSort is stable.
func insertionSort(pairs []Pair) {
	for i, p := range pairs {
		j := i
		for ; j > 0 && pairs[j-1].Key < p.Key; j-- {
			pairs[j] = pairs[j-1]
		}
		pairs[j] = p
	}
}

// insertionUpTo is the length up to which moving pairs one by one is faster
// than counting.
const insertionUpTo = 16

// spread almost sorts pairs, and is stable: no pair has more than insertionUpTo
// others to pass. It divides the range of their keys into about as many buckets as
// there are pairs, and spreads those of the larger buckets again. Each level removes
// some bits from the range, so there are few levels for any keys. room has the length
// of pairs; spread overwrites it.
func (b *Buffer) spread(pairs, room []Pair) {
	least, greatest := uint64(math.MaxUint64), uint64(0)
	for _, p := range pairs {
		least, greatest = min(least, p.Key), max(greatest, p.Key)
	}
	width := min(bits.Len(uint(len(pairs))), mostBucketBits)
	shift := max(bits.Len64(greatest-least)-width, 0) & 63 // the compiler does not know that it is below 64
	start := len(b.counts)
	b.counts = slices.Grow(b.counts, 1<<width)[:start+1<<width]
	ends := b.counts[start:]
	clear(ends)
	for _, p := range pairs {
		ends[(greatest-p.Key)>>shift]++
	}
	next, largest := uint32(0), uint32(0)
	for i, n := range ends {
		ends[i] = next // where the bucket begins, until it is filled
		next += n
		largest = max(largest, n)
	}
	copy(room, pairs)
	for _, p := range room {
		end := &ends[(greatest-p.Key)>>shift]
		pairs[*end] = p
		*end++
	}
	if shift > 0 && largest > insertionUpTo { // without shift all keys of a bucket are equal
		begin := uint32(0)
		for i := range 1 << width {
			end := b.counts[start+i] // deeper levels may have moved the counts
			if end-begin > insertionUpTo {
				b.spread(pairs[begin:end], room[begin:end])
			}
			begin = end
		}
	}
	b.counts = b.counts[:start]
}

// mostBucketBits keeps the ends of the buckets in the fastest cache.
const mostBucketBits = 12

// Buffer is a list of pairs in pooled memory.
type Buffer struct {
	Pairs []Pair

	counts []uint32 // of buckets, for all levels of a sort
}

var pool = sync.Pool{New: func() any { return new(Buffer) }}

// Borrow returns a buffer of n pairs with unspecified contents. It belongs to
// the caller until its Return.
func Borrow(n int) *Buffer {
	b := pool.Get().(*Buffer)
	b.Pairs = slices.Grow(b.Pairs[:0], n)[:n]
	return b
}

// Return gives the buffer back; it must not be used afterwards.
func (b *Buffer) Return() { pool.Put(b) }
