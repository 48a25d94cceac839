package naive

import "math"

// sum adds token counts exactly (R5): hi counts units of 2^32, lo is what is
// left. Neither half can overflow before 2^31 terms.
type sum struct{ hi, lo int64 }

const lowHalf = 1<<32 - 1

func sumOf(terms ...int) sum {
	var s sum
	for _, n := range terms {
		s.add(n)
	}
	return s
}

func (s *sum) add(n int) {
	s.hi += int64(n) >> 32
	s.lo += int64(n) & lowHalf
}

func (s sum) plus(t sum) sum  { return sum{s.hi + t.hi, s.lo + t.lo} }
func (s sum) minus(t sum) sum { return sum{s.hi - t.hi, s.lo - t.lo} }

// normal carries lo over into hi, so that 0 <= lo < 2^32.
func (s sum) normal() sum { return sum{s.hi + s.lo>>32, s.lo & lowHalf} }

// tokens returns the sum clamped to the range of int.
func (s sum) tokens() int {
	s = s.normal()
	switch {
	case s.hi > math.MaxInt32:
		return math.MaxInt
	case s.hi < math.MinInt32:
		return math.MinInt
	}
	return int(s.hi<<32 | s.lo)
}

// exceeds reports whether the sum is greater than n.
func (s sum) exceeds(n int) bool {
	d := s.minus(sumOf(n)).normal()
	return d.hi > 0 || d.hi == 0 && d.lo > 0
}

// floor converts a product to whole tokens. The largest int is no float64: it
// rounds up to 2^63, which must not wrap.
func floor(x float64) int {
	x = math.Floor(x)
	if x >= math.MaxInt {
		return math.MaxInt
	}
	return int(x)
}
