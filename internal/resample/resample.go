// Package resample says how far the figures of a sample of conversations can be
// trusted. What is drawn is always a whole conversation, since its questions or
// steps depend on each other. The same input gives the same bits.
package resample

import (
	"math"
	"math/rand/v2"
	"slices"
)

// draws is how often Interval draws as many conversations as there are.
const draws = 2000

// Interval returns the ends of the 95 % interval of a statistic of n
// conversations, at least one: a percentile bootstrap. The statistic is that of
// the n conversations whose positions at returns, called for 0 to n-1 in order.
// A few conversations say little, and one says nothing.
func Interval(n int, statistic func(at func(i int) int) float64) (low, high float64) {
	random := rand.New(rand.NewPCG(1, 2))
	drawn := make([]float64, draws)
	for k := range drawn {
		drawn[k] = statistic(func(int) int { return random.IntN(n) })
	}
	slices.Sort(drawn)
	return drawn[draws/40], drawn[draws-1-draws/40]
}

const (
	exactly = 14           // so many differences P tries with every combination of signs
	flips   = 1 << exactly // so many combinations it draws for more
)

// P returns the probability that the sum of differences is as far from 0 as it
// is, or farther, if each is as likely to have the other sign: a two-sided
// randomization test of pairs. It is in (0,1], exact for up to 14 differences
// other than 0, and beyond that found from 16,384 random combinations of signs.
func P(differences []float64) float64 {
	var moved []float64
	sum := 0.0
	for _, d := range differences {
		if d != 0 {
			moved = append(moved, d)
			sum += d
		}
	}
	// Sums of the same terms in another order may differ in their last bits.
	far := math.Abs(sum) * (1 - 1e-9)
	random := rand.New(rand.NewPCG(1, 2))
	exact := len(moved) <= exactly
	tried, reached := flips, 0
	if exact {
		tried = 1 << len(moved)
	}
	for k := range tried {
		signs := uint64(k)
		sum := 0.0
		for i, d := range moved {
			if !exact && i%64 == 0 {
				signs = random.Uint64()
			}
			if signs&1 == 1 {
				d = -d
			}
			signs >>= 1
			sum += d
		}
		if math.Abs(sum) >= far {
			reached++
		}
	}
	if exact {
		return float64(reached) / float64(tried)
	}
	// The signs that were found count as one more combination: no chance is 0.
	return float64(reached+1) / float64(tried+1)
}
