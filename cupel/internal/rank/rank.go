// Package rank turns keys into ranks with one sort.
package rank

import (
	"slices"

	"github.com/wollax/cupel-go/cupel/internal/order"
)

// Fractions writes to out[p.Index], for every pair p, how many of the pairs
// have a smaller key than p, divided by the number of pairs minus one. Equal
// keys get equal fractions, and a pair alone gets 1. It reorders the pairs and
// changes their keys, and takes the time of one sort.
//
// Keys compare as their distances above base, modulo 2^64: base is at most the
// smallest key, and the keys may wrap around. The closer base is to the
// smallest key, the fewer bytes there are to sort by.
func Fractions(pairs []order.Pair, base uint64, out []float64) {
	if len(pairs) == 1 {
		out[pairs[0].Index] = 1
		return
	}
	for i := range pairs {
		pairs[i].Key -= base
	}
	order.SortDescending(pairs)
	others := float64(len(pairs) - 1)
	fraction := 0.0
	for i, p := range slices.Backward(pairs) {
		if i+1 < len(pairs) && p.Key != pairs[i+1].Key {
			fraction = float64(len(pairs)-1-i) / others
		}
		out[p.Index] = fraction
	}
}

// Dense replaces the keys by their ranks among the distinct keys: the smallest
// key becomes 0, the next one 1, and so on. It reorders the pairs.
func Dense(pairs []order.Pair) {
	order.SortDescending(pairs)
	var rank, previous uint64
	for i, p := range slices.Backward(pairs) {
		if i+1 < len(pairs) && p.Key != previous {
			rank++
		}
		previous = p.Key
		pairs[i].Key = rank
	}
}
