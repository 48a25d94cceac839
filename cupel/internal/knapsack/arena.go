package knapsack

import "unsafe"

// arena hands out slices from chunks and takes them all back at once. It never
// copies to grow, so its size is what is in use plus one chunk.
type arena[T any] struct {
	chunks [][]T
	at     int // chunk in use
	used   int // elements of it that are taken
	taken  int // elements of chunks in use
}

const (
	smallestChunk = 1 << 9  // elements
	largestChunk  = 1 << 17 // unless more is asked for at once
)

// reserve returns n elements with unspecified contents. They stay reserved if
// keep is called before the next reserve.
func (a *arena[T]) reserve(n int) []T {
	for ; a.at < len(a.chunks); a.at, a.used = a.at+1, 0 {
		if c := a.chunks[a.at]; n <= len(c)-a.used {
			return c[a.used : a.used+n : a.used+n]
		}
		a.taken += len(a.chunks[a.at])
	}
	size := max(n, min(largestChunk, max(smallestChunk, a.taken)))
	a.chunks = append(a.chunks, make([]T, size))
	return a.chunks[a.at][:n:n]
}

// keep keeps the first n elements of the last reservation.
func (a *arena[T]) keep(n int) { a.used += n }

// bytes returns the size of what is in use.
func (a *arena[T]) bytes() int64 {
	var element T
	return int64(a.taken+a.used) * int64(unsafe.Sizeof(element))
}

// reset takes everything back.
func (a *arena[T]) reset() { a.at, a.used, a.taken = 0, 0, 0 }
