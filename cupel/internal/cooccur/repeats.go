package cooccur

import "hash/maphash"

// Repeats counts how often each element of a list occurs in it. It keeps its
// memory for the next list, but no reference to the elements.
type Repeats[E comparable] struct {
	distinct table
	number   []uint32 // by position: the element's number
	first    []uint32 // by number: the position where the element comes first
	times    []uint32 // by number
}

// Find counts in a list of up to 2^32-2 elements.
func (r *Repeats[E]) Find(list []E) {
	// Usually all elements differ.
	r.distinct.resetFor(len(list))
	r.number, r.first, r.times = sized(r.number, len(list))[:0], sized(r.first, len(list))[:0], sized(r.times, len(list))[:0]
	for i, e := range list {
		number, isNew := r.distinct.number(maphash.Comparable(seed, e), func(number uint32) bool {
			return list[r.first[number]] == e
		})
		if isNew {
			r.first = append(r.first, uint32(i))
			r.times = append(r.times, 0)
		}
		r.number = append(r.number, number)
		r.times[number]++
	}
}

// Times returns how often the element at position i occurs.
func (r *Repeats[E]) Times(i int) int { return int(r.times[r.number[i]]) }
