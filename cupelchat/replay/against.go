package replay

import "github.com/wollax/cupel-go/internal/resample"

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

// compare compares the sums of two policies, which are by conversation. The same
// input gives the same interval.
func compare(mine, others []*sums) Against {
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
	against := Against{Difference: difference(func(i int) int { return i })}
	against.Low, against.High = resample.Interval(len(mine), difference)
	return against
}
