// Package tally adds up results of conversations, so that any order of the
// conversations, and any way of cutting them into parts, gives the same bits.
// Its memory does not grow with their number.
package tally

import (
	"encoding/json"
	"errors"
	"math"
)

// Sum is an exact sum of finite numbers, as long as it does not overflow. The
// zero Sum is 0.
//
// It keeps the partial sums of Shewchuk's algorithm: a few numbers that do not overlap
// and whose sum is exact. Equal sums may have different
// partial sums; [Sum.Value] is the same for all of them.
type Sum struct {
	partial []float64 // by increasing magnitude
}

// Add adds x. A number that is not finite is ignored.
func (s *Sum) Add(x float64) {
	if math.IsNaN(x) || math.IsInf(x, 0) {
		return
	}
	n := 0
	for _, y := range s.partial {
		if math.Abs(x) < math.Abs(y) {
			x, y = y, x
		}
		high := x + y
		low := y - (high - x)
		if low != 0 {
			s.partial[n] = low
			n++
		}
		x = high
	}
	s.partial = append(s.partial[:n], x)
}

// Merge adds another sum.
func (s *Sum) Merge(other *Sum) {
	for _, x := range other.partial {
		s.Add(x)
	}
}

// Value returns the number that is nearest to the exact sum; of two, the even one.
func (s *Sum) Value() float64 {
	n := len(s.partial)
	if n == 0 {
		return 0
	}
	n--
	high, low := s.partial[n], 0.0
	for n > 0 {
		n--
		x, y := high, s.partial[n]
		high = x + y
		if low = y - (high - x); low != 0 {
			break
		}
	}
	// Half-way cases go to the even number, unless the rest tips them.
	if n > 0 && (low < 0) == (s.partial[n-1] < 0) {
		if y := low * 2; y == high+y-high {
			high += y
		}
	}
	return high
}

// MarshalJSON writes the partial sums.
func (s Sum) MarshalJSON() ([]byte, error) { return json.Marshal(s.partial) }

// UnmarshalJSON reads the partial sums.
func (s *Sum) UnmarshalJSON(data []byte) error {
	var partial []float64
	if err := json.Unmarshal(data, &partial); err != nil {
		return errors.New("a sum must be a list of numbers")
	}
	*s = Sum{}
	for _, x := range partial {
		s.Add(x)
	}
	return nil
}
