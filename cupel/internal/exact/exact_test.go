package exact

import (
	"math"
	"math/big"
	"math/rand/v2"
	"testing"
)

// TestAgainstBig compares every operation with math/big on random terms near
// the limits of the integer range.
func TestAgainstBig(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	near := func() int {
		switch r.IntN(4) {
		case 0:
			return math.MaxInt - r.IntN(3)
		case 1:
			return math.MinInt + r.IntN(3)
		case 2:
			return r.IntN(7) - 3
		default:
			return int(r.Uint64())
		}
	}
	for range 20_000 {
		var s, u Sum
		want, wantU := new(big.Int), new(big.Int)
		for range r.IntN(6) {
			n := near()
			if r.IntN(2) == 0 {
				s.Add(n)
				want.Add(want, big.NewInt(int64(n)))
			} else {
				s.Sub(n)
				want.Sub(want, big.NewInt(int64(n)))
			}
		}
		var terms []int
		for range r.IntN(3) {
			n := near()
			terms = append(terms, n)
			u.Add(n)
			wantU.Add(wantU, big.NewInt(int64(n)))
		}
		check(t, s, want)
		check(t, Of(terms...), wantU)
		check(t, s.Minus(u), new(big.Int).Sub(want, wantU))
		check(t, s.Plus(u), new(big.Int).Add(want, wantU))
		n := near()
		if got, w := s.Greater(n), want.Cmp(big.NewInt(int64(n))) > 0; got != w {
			t.Fatalf("(%v).Greater(%d) = %v, want %v", want, n, got, w)
		}
	}
}

func check(t *testing.T, s Sum, want *big.Int) {
	t.Helper()
	var clamped int
	switch {
	case want.Cmp(big.NewInt(math.MaxInt)) > 0:
		clamped = math.MaxInt
	case want.Cmp(big.NewInt(math.MinInt)) < 0:
		clamped = math.MinInt
	default:
		clamped = int(want.Int64())
	}
	if got := s.Int(); got != clamped {
		t.Fatalf("sum %v: got %d, want %d", want, got, clamped)
	}
}

// TestShareAgainstBig holds shares to arithmetic of any size,
// with masses on both sides of 2^64.
func TestShareAgainstBig(t *testing.T) {
	r := rand.New(rand.NewPCG(6, 6))
	tokens := func() uint64 { return r.Uint64() >> (1 + r.IntN(63)) }
	for range 20_000 {
		var part, total Sum
		wantPart, wantTotal := new(big.Int), new(big.Int)
		for range r.IntN(6) {
			n := tokens()
			part.Add(int(n))
			wantPart.Add(wantPart, new(big.Int).SetUint64(n))
		}
		total = total.Plus(part)
		wantTotal.Set(wantPart)
		for range r.IntN(6) {
			n := tokens()
			total.Add(int(n))
			wantTotal.Add(wantTotal, new(big.Int).SetUint64(n))
		}
		budget := int(tokens() & math.MaxInt)
		want := new(big.Int)
		if wantTotal.Sign() > 0 {
			want.Mul(big.NewInt(int64(budget)), wantPart).Quo(want, wantTotal)
		}
		if got := part.Share(budget, total); big.NewInt(int64(got)).Cmp(want) != 0 {
			t.Fatalf("%d * %v / %v: got %d, want %v", budget, wantPart, wantTotal, got, want)
		}
	}
}
