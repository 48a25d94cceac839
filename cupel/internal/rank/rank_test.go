package rank

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

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
	for _, n := range []int{2, 1000} {
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
		t.Run(name, func(t *testing.T) {
			pairs := make([]order.Pair, len(keys))
			for i, k := range keys {
				pairs[i] = order.Pair{Key: k, Index: i}
			}
			got := make([]float64, len(keys))
			Fractions(pairs, got)
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

func TestFractionsLeavesOtherPlacesAlone(t *testing.T) {
	out := []float64{-1, -1, -1, -1}
	Fractions([]order.Pair{{Key: 9, Index: 3}, {Key: 4, Index: 1}}, out)
	if out[0] != -1 || out[1] != 0 || out[2] != -1 || out[3] != 1 {
		t.Errorf("got %v, want [-1 0 -1 1]: only the indexes of the pairs are written", out)
	}
}

// TestByTime compares the order of keys with that of times, near each other and over
// the whole range of time.Time, in which Unix seconds wrap.
func TestByTime(t *testing.T) {
	now := time.Date(2025, time.January, 31, 12, 0, 0, 0, time.UTC)
	near := []time.Time{now, now.Add(1), now.Add(-1), now.AddDate(-270, 0, 0), now.AddDate(270, 0, 0), now}
	far := slices.Concat(near, []time.Time{{}, time.Time{}.Add(1), now.AddDate(545, 0, 0), time.Unix(math.MinInt64, 5), time.Unix(math.MaxInt64, 5), time.Unix(math.MaxInt64, 6)})
	year1 := []time.Time{{}, time.Time{}.Add(-time.Second), time.Time{}.Add(time.Second), time.Time{}.Add(time.Minute)} // their seconds change sign
	const latest = math.MaxInt64 - 62135596800                                                                          // one second later, those since year 1 wrap
	ends := []time.Time{time.Unix(latest, 0), time.Unix(latest+1, 0)}
	for name, times := range map[string][]time.Time{"none": nil, "one": near[:1], "near": near, "far": far, "tied": slices.Repeat(far, 3), "year 1": year1, "ends": ends} {
		pairs := ByTime(nil, len(times)+1, func(i int) (time.Time, bool) {
			if i == 0 {
				return time.Time{}, false
			}
			return times[i-1], true
		})
		if len(pairs) != len(times) {
			t.Errorf("%s: %d pairs of %d times", name, len(pairs), len(times))
		}
		for i, p := range pairs {
			if i > 0 && p.Key == pairs[i-1].Key && p.Index < pairs[i-1].Index {
				t.Errorf("%s: of equal times %d comes after %d", name, p.Index, pairs[i-1].Index)
			}
			for _, q := range pairs {
				if got, want := cmp.Compare(p.Key, q.Key), times[p.Index-1].Compare(times[q.Index-1]); got != want {
					t.Errorf("%s: keys of %s and %s compare as %d, want %d", name, times[p.Index-1], times[q.Index-1], got, want)
				}
				if apart := times[p.Index-1].Sub(times[q.Index-1]); (name == "near" || name == "year 1") && int64(p.Key-q.Key) != int64(apart) && apart.Abs() < math.MaxInt64 {
					t.Errorf("%s: keys of %s and %s are %d apart, want nanoseconds: ranks take a sort", name, times[p.Index-1], times[q.Index-1], p.Key-q.Key)
				}
			}
		}
	}
}
