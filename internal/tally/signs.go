package tally

import (
	"math"
	"slices"
)

// exactly is how many differences [Signs.P] tries with every combination of
// signs.
const exactly = 14

// Signs tells how likely a sum of differences is if each was as likely to have the
// other sign: a two-sided randomization test of pairs. The zero Signs has none.
type Signs struct {
	N      int       `json:"n"`             // differences other than 0
	Few    []float64 `json:"few,omitempty"` // they, while they are few, ascending
	Sum    Sum       `json:"sum"`           // of the differences
	Square Sum       `json:"square"`        // of their squares
}

// Add adds a difference. 0 says nothing.
func (s *Signs) Add(d float64) {
	if d == 0 {
		return
	}
	s.Sum.Add(d)
	s.Square.Add(d * d)
	s.keep(s.N+1, d)
}

// Merge adds other differences.
func (s *Signs) Merge(other *Signs) {
	s.Sum.Merge(&other.Sum)
	s.Square.Merge(&other.Square)
	s.keep(s.N+other.N, other.Few...)
}

// keep keeps differences if they are few: n with those that are kept already.
func (s *Signs) keep(n int, differences ...float64) {
	s.N = n
	if n > exactly {
		s.Few = nil
		return
	}
	s.Few = append(s.Few, differences...)
	slices.Sort(s.Few)
}

// P returns the probability that the sum is as far from 0 as it is, or farther. It
// is in [0,1]: exact for up to 14 differences, and that of the normal distribution
// for more.
func (s *Signs) P() float64 {
	sum := math.Abs(s.Sum.Value())
	if s.N > exactly {
		return math.Erfc(sum / math.Sqrt(2*s.Square.Value()))
	}
	sum *= 1 - 1e-9 // sums of the same terms with other signs may differ in their last bits
	tried, reached := 1<<len(s.Few), 0
	for signs := range tried {
		other := 0.0
		for i, d := range s.Few {
			if signs>>i&1 == 1 {
				d = -d
			}
			other += d
		}
		if math.Abs(other) >= sum {
			reached++
		}
	}
	return float64(reached) / float64(tried)
}
