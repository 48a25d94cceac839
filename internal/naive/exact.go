package naive

import (
	"math"
	"math/big"
)

// sum adds token counts exactly (R5).
type sum struct{ value big.Int }

func sumOf(terms ...int) sum {
	var s sum
	for _, n := range terms {
		s.add(n)
	}
	return s
}

func (s *sum) add(n int) { *s = s.plus(sum{*number(n)}) }

func (s sum) plus(t sum) (total sum) {
	total.value.Add(&s.value, &t.value)
	return total
}

func (s sum) minus(t sum) (left sum) {
	left.value.Sub(&s.value, &t.value)
	return left
}

// tokens returns the sum clamped to the range of int.
func (s sum) tokens() int {
	switch {
	case s.value.IsInt64():
		return int(s.value.Int64())
	case s.value.Sign() < 0:
		return math.MinInt
	}
	return math.MaxInt
}

// exceeds reports whether the sum is greater than n.
func (s sum) exceeds(n int) bool { return s.value.Cmp(number(n)) > 0 }

// floor converts a product to whole tokens. The largest int is no float64: it
// rounds up to 2^63, which must not wrap.
func floor(x float64) int {
	x = math.Floor(x)
	if x >= math.MaxInt {
		return math.MaxInt
	}
	return int(x)
}
