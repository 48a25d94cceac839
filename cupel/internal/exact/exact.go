// Package exact adds token counts without ever wrapping (R5).
package exact

import (
	"math"
	"math/big"
	"math/bits"
)

// Sum is an exact sum of up to 2^64 integers, kept in 128 bits. The zero Sum
// is 0.
type Sum struct {
	hi int64
	lo uint64
}

// Of returns the exact sum of the terms.
func Of(terms ...int) Sum {
	var s Sum
	for _, t := range terms {
		s.Add(t)
	}
	return s
}

// high is the upper half of n in 128 bits: its sign.
func high(n int) int64 { return int64(n) >> 63 }

// Add adds n.
func (s *Sum) Add(n int) {
	lo, carry := bits.Add64(s.lo, uint64(int64(n)), 0)
	s.lo = lo
	s.hi += high(n) + int64(carry)
}

// Sub subtracts n.
func (s *Sum) Sub(n int) {
	lo, borrow := bits.Sub64(s.lo, uint64(int64(n)), 0)
	s.lo = lo
	s.hi -= high(n) + int64(borrow)
}

// Minus returns s - t.
func (s Sum) Minus(t Sum) Sum {
	lo, borrow := bits.Sub64(s.lo, t.lo, 0)
	return Sum{hi: s.hi - t.hi - int64(borrow), lo: lo}
}

// Plus returns s + t.
func (s Sum) Plus(t Sum) Sum {
	lo, carry := bits.Add64(s.lo, t.lo, 0)
	return Sum{hi: s.hi + t.hi + int64(carry), lo: lo}
}

// Greater reports whether s > n.
func (s Sum) Greater(n int) bool {
	hi, lo := high(n), uint64(int64(n))
	return s.hi > hi || s.hi == hi && s.lo > lo
}

// Int returns the sum clamped to the range of int.
func (s Sum) Int() int {
	switch {
	case s.Greater(math.MaxInt):
		return math.MaxInt
	case !s.Greater(math.MinInt):
		return math.MinInt
	default:
		return int(int64(s.lo))
	}
}

// Share returns floor(n * s / total), or 0 if total is 0. n and s are at least 0, and
// s is at most total, so the result is at most n.
func (s Sum) Share(n int, total Sum) int {
	if total.hi == 0 {
		if total.lo == 0 {
			return 0
		}
		hi, lo := bits.Mul64(uint64(n), s.lo)
		quotient, _ := bits.Div64(hi, lo, total.lo)
		return int(quotient)
	}
	product := new(big.Int).Mul(big.NewInt(int64(n)), s.big())
	return int(product.Quo(product, total.big()).Int64())
}

func (s Sum) big() *big.Int {
	n := big.NewInt(s.hi)
	return n.Lsh(n, 64).Or(n, new(big.Int).SetUint64(s.lo))
}
