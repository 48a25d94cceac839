package knapsack

import (
	"cmp"
	"math"
	"math/bits"
)

// wide is an unsigned integer of 128 bits. Products of a weight and a value
// have up to 103 bits, so sums of them do not wrap.
type wide struct{ hi, lo uint64 }

// mul returns a*b; neither may be negative.
func mul(a, b int64) wide {
	hi, lo := bits.Mul64(uint64(a), uint64(b))
	return wide{hi, lo}
}

// minus returns a-b, which must not be negative.
func (a wide) minus(b wide) wide {
	lo, borrow := bits.Sub64(a.lo, b.lo, 0)
	hi, _ := bits.Sub64(a.hi, b.hi, borrow)
	return wide{hi, lo}
}

func (a wide) less(b wide) bool {
	return a.hi < b.hi || a.hi == b.hi && a.lo < b.lo
}

func (a wide) compare(b wide) int {
	if c := cmp.Compare(a.hi, b.hi); c != 0 {
		return c
	}
	return cmp.Compare(a.lo, b.lo)
}

// bitLen returns the number of bits of a.
func (a wide) bitLen() int {
	if a.hi != 0 {
		return 64 + bits.Len64(a.hi)
	}
	return bits.Len64(a.lo)
}

// shifted returns a>>n, which must fit 64 bits.
func (a wide) shifted(n uint) uint64 {
	if n >= 64 {
		return a.hi >> (n - 64)
	}
	return a.hi<<(64-n) | a.lo>>n
}

// over returns a/b rounded down, or the largest int64 if that is less. b must
// be positive.
func (a wide) over(b int64) int64 {
	if a.hi >= uint64(b) {
		return math.MaxInt64
	}
	quotient, _ := bits.Div64(a.hi, a.lo, uint64(b))
	return int64(min(quotient, math.MaxInt64))
}

// saturatingMul returns a*b, or the largest uint64 if that is less.
func saturatingMul(a, b uint64) uint64 {
	hi, lo := bits.Mul64(a, b)
	if hi != 0 {
		return math.MaxUint64
	}
	return lo
}

// saturatingAdd returns a+b, or the largest int64 if that is less; neither may
// be negative.
func saturatingAdd(a, b int64) int64 {
	if a > math.MaxInt64-b {
		return math.MaxInt64
	}
	return a + b
}
