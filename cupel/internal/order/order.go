// Package order sorts positions by score the way every stage of the pipeline
// does: highest score first, ties by position, NaN last (R8).
package order

import (
	"cmp"
	"math"
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

// SortDescending sorts by Key, largest first, and equal keys by Index,
// smallest first. It is linear in len(pairs) when they come in order of Index,
// as a list's own positions do, and O(n log n) otherwise.
func SortDescending(pairs []Pair) {
	if len(pairs) < radixFrom {
		slices.SortFunc(pairs, compare)
		return
	}
	byIndex, sorted := true, true
	for i := 1; i < len(pairs) && (byIndex || sorted); i++ {
		byIndex = byIndex && pairs[i-1].Index <= pairs[i].Index
		sorted = sorted && compare(pairs[i-1], pairs[i]) <= 0
	}
	switch {
	case sorted:
	case byIndex:
		radixSort(pairs)
	default:
		slices.SortFunc(pairs, compare)
	}
}

func compare(a, b Pair) int {
	if a.Key != b.Key {
		return cmp.Compare(b.Key, a.Key)
	}
	return cmp.Compare(a.Index, b.Index)
}

// radixFrom is the length from which counting digits is faster than comparing.
const radixFrom = 128

// radixSort is a stable sort by Key, one byte at a time from the least
// significant. Bytes that all keys share cost nothing, and scores share most
// of their exponent.
func radixSort(pairs []Pair) {
	var counts [8][256]int
	for _, p := range pairs {
		k := ^p.Key // ascending order of the complement is descending order
		for d := range counts {
			counts[d][byte(k>>(8*d))]++
		}
	}
	scratch := Borrow(len(pairs))
	defer scratch.Return()
	from, to := pairs, scratch.Pairs
	for d := range counts {
		count := &counts[d]
		shift := 8 * d
		if count[byte(^from[0].Key>>shift)] == len(from) {
			continue
		}
		next := 0
		for b, n := range count {
			count[b] = next
			next += n
		}
		for _, p := range from {
			b := byte(^p.Key >> shift)
			to[count[b]] = p
			count[b]++
		}
		from, to = to, from
	}
	if &from[0] != &pairs[0] {
		copy(pairs, from)
	}
}

// Buffer is a list of pairs in pooled memory.
type Buffer struct {
	Pairs []Pair
}

var pool = sync.Pool{New: func() any { return new(Buffer) }}

// Borrow returns a buffer of n pairs with unspecified contents. It belongs to
// the caller until its Return.
func Borrow(n int) *Buffer {
	b := pool.Get().(*Buffer)
	if cap(b.Pairs) < n {
		b.Pairs = make([]Pair, n)
	}
	b.Pairs = b.Pairs[:n]
	return b
}

// Return gives the buffer back; it must not be used afterwards.
func (b *Buffer) Return() { pool.Put(b) }
