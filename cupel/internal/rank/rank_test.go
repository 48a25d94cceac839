package rank

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/wollax/cupel-go/cupel/internal/order"
)

// keySets are keys as distances above a base, from none to enough for every
// way of sorting.
func keySets() map[string][]uint64 {
	r := rand.New(rand.NewPCG(1, 2))
	sets := map[string][]uint64{
		"none":     {},
		"one":      {7},
		"equal":    {5, 5, 5},
		"extremes": {0, 1<<64 - 1, 1 << 63, 0, 1<<64 - 1},
	}
	for _, n := range []int{2, 10, 127, 128, 129, 1000} {
		few, many := make([]uint64, n), make([]uint64, n)
		for i := range n {
			few[i], many[i] = r.Uint64N(7), r.Uint64()
		}
		sets[fmt.Sprintf("%d keys, ties", n)] = few
		sets[fmt.Sprintf("%d keys, any", n)] = many
	}
	return sets
}

func TestFractionsCountsSmallerKeys(t *testing.T) {
	for name, keys := range keySets() {
		for _, base := range []uint64{0, 1, 1 << 63, 1<<64 - 3} {
			t.Run(fmt.Sprintf("%s/base=%d", name, base), func(t *testing.T) {
				pairs := make([]order.Pair, len(keys))
				for i, k := range keys {
					pairs[i] = order.Pair{Key: k + base, Index: i}
				}
				got := make([]float64, len(keys))
				Fractions(pairs, base, got)
				for i, k := range keys {
					smaller := 0
					for _, other := range keys {
						if other < k {
							smaller++
						}
					}
					want := 1.0
					if len(keys) > 1 {
						want = float64(smaller) / float64(len(keys)-1)
					}
					if got[i] != want {
						t.Errorf("key %d of %d: got %v, want %v for %d smaller keys", i, len(keys), got[i], want, smaller)
					}
				}
			})
		}
	}
}

func TestFractionsLeavesOtherPlacesAlone(t *testing.T) {
	out := []float64{-1, -1, -1, -1}
	Fractions([]order.Pair{{Key: 9, Index: 3}, {Key: 4, Index: 1}}, 0, out)
	if out[0] != -1 || out[1] != 0 || out[2] != -1 || out[3] != 1 {
		t.Errorf("got %v, want [-1 0 -1 1]: only the indexes of the pairs are written", out)
	}
}

func TestDenseNumbersDistinctKeys(t *testing.T) {
	for name, keys := range keySets() {
		t.Run(name, func(t *testing.T) {
			pairs := make([]order.Pair, len(keys))
			for i, k := range keys {
				pairs[i] = order.Pair{Key: k, Index: i}
			}
			Dense(pairs)
			for _, p := range pairs {
				smaller := map[uint64]bool{}
				for _, other := range keys {
					if other < keys[p.Index] {
						smaller[other] = true
					}
				}
				if p.Key != uint64(len(smaller)) {
					t.Errorf("key %d got rank %d, want %d: as many distinct keys are smaller", keys[p.Index], p.Key, len(smaller))
				}
			}
		})
	}
}
