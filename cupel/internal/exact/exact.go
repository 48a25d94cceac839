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

// wide returns n in 128 bits, with its sign in the upper half.
func wide(n int) Sum { return Sum{hi: int64(n) >> 63, lo: uint64(n)} }

// Add adds n.
func (s *Sum) Add(n int) { *s = s.Plus(wide(n)) }

// Sub subtracts n.
func (s *Sum) Sub(n int) { *s = s.Minus(wide(n)) }

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
	more := s.Minus(wide(n))
	return more.hi > 0 || more.hi == 0 && more.lo > 0
}

// Int returns the sum clamped to the range of int.
func (s Sum) Int() int {
	switch n := int(s.lo); {
	case s == wide(n):
		return n
	case s.hi < 0:
		return math.MinInt
	}
	return math.MaxInt
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
