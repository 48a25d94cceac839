package tally

import (
	"math"
	"slices"
)

// exactly is how many differences [Signs.P] tries with every combination of
// signs.
const exactly = 14

// Signs finds how likely a sum of differences is if each was as likely to have the
// other sign, by a two-sided randomization test of pairs. The zero Signs has no
// differences.
type Signs struct {
	n      int       // differences other than 0
	few    []float64 // the first of them, ascending
	sum    Sum       // of the differences
	square Sum       // of their squares
}

// Add adds a difference. It ignores 0.
func (s *Signs) Add(d float64) {
	if d == 0 {
		return
	}
	s.n++
	s.sum.Add(d)
	s.square.Add(d * d)
	if s.n <= exactly {
		s.few = append(s.few, d)
		slices.Sort(s.few)
	}
}

// P returns the probability that the sum is as far from 0 as it is, or farther. It
// is in [0,1]: exact for up to 14 differences, and from the normal distribution
// for more.
func (s *Signs) P() float64 {
	sum := math.Abs(s.sum.Value())
	if s.n > exactly {
		return math.Erfc(sum / math.Sqrt(2*s.square.Value()))
	}
	sum *= 1 - 1e-9 // sums of the same terms with other signs may differ in their last bits
	tried, reached := 1<<len(s.few), 0
	for signs := range tried {
		other := 0.0
		for i, d := range s.few {
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
