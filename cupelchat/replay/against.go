package replay

import (
	"math/rand/v2"
	"slices"
)

// Against compares the grounded support of a row with that of another policy at
// the same share.
type Against struct {
	Policy     string  `json:"policy"`
	Difference float64 `json:"difference"` // in [-1,1], positive if the row has more
	// Low and High are the ends of the 95 % interval of the difference: a paired
	// bootstrap over conversations. A few say little, and one says nothing.
	Low  float64 `json:"low"`
	High float64 `json:"high"`
}

// draws is how often the bootstrap draws as many conversations as there are.
const draws = 2000

// bootstrap compares the sums of two policies, which are by conversation. The same
// input gives the same interval.
func bootstrap(mine, others []*sums) Against {
	difference := func(at func(i int) int) float64 {
		values, ground, other := 0, 0, 0
		for i := range mine {
			n := at(i)
			values += mine[n].values
			ground += mine[n].ground
			other += others[n].ground
		}
		return ratio(ground-other, values)
	}
	random := rand.New(rand.NewPCG(1, 2))
	drawn := make([]float64, draws)
	for k := range drawn {
		drawn[k] = difference(func(int) int { return random.IntN(len(mine)) })
	}
	slices.Sort(drawn)
	return Against{
		Difference: difference(func(i int) int { return i }),
		Low:        drawn[draws/40],
		High:       drawn[draws-1-draws/40],
	}
}
