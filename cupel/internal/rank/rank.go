// Package rank turns keys and times into ranks with one sort.
package rank

import (
	"math"
	"slices"
	"time"

	"github.com/wollax/cupel-go/cupel/internal/order"
)

// Fractions writes to out[p.Index], for every pair p, how many of the pairs
// have a smaller key than p, divided by the number of pairs minus one. Equal
// keys get equal fractions, and a pair alone gets 1. It reorders the pairs and
// takes the time of one sort.
func Fractions(pairs []order.Pair, out []float64) {
	if len(pairs) == 1 {
		out[pairs[0].Index] = 1
		return
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

// ByTime appends a pair for each i below n that has a time. Keys order as the times do,
// over the whole range of [time.Time]: they are the nanoseconds since the earliest
// second, or ranks where 64 bits, 544 years, are too few for these. It takes linear
// time, or that of one sort, after which the pairs are in the order of their keys.
func ByTime(pairs []order.Pair, n int, at func(i int) (time.Time, bool)) []order.Pair {
	const year1 = -62135596800 // in Unix time; the seconds since then wrap for no time
	first, last := int64(math.MaxInt64), int64(math.MinInt64)
	for i := range n {
		if t, ok := at(i); ok {
			seconds := t.Unix() - year1
			first, last = min(first, seconds), max(last, seconds)
			pairs = append(pairs, order.Pair{Key: uint64(seconds)*1e9 + uint64(t.Nanosecond()), Index: i}) // modulo 2^64
		}
	}
	if uint64(last-first) < 1<<34 { // 544 years
		for i := range pairs {
			pairs[i].Key -= uint64(first) * 1e9
		}
		return pairs
	}
	compare := func(a, b order.Pair) int {
		t, _ := at(a.Index)
		u, _ := at(b.Index)
		return t.Compare(u)
	}
	slices.SortStableFunc(pairs, compare)
	rank := uint64(0)
	for i, p := range pairs {
		if i > 0 && compare(pairs[i-1], p) != 0 {
			rank++
		}
		pairs[i].Key = rank
	}
	return pairs
}
