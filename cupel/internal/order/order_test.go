package order

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"sort"
	"testing"
)

// ladder holds scores from the last to the first in R8's order; the scores of
// one rung are equal.
var ladder = [][]float64{
	{math.NaN(), math.Float64frombits(0xfff8_0000_0000_0001), math.Float64frombits(0x7ff0_0000_0000_0001)},
	{math.Inf(-1)},
	{-math.MaxFloat64},
	{-1},
	{-math.SmallestNonzeroFloat64},
	{math.Copysign(0, -1), 0},
	{math.SmallestNonzeroFloat64},
	{0.5},
	{math.Nextafter(0.5, 1)},
	{1},
	{math.MaxFloat64},
	{math.Inf(1)},
}

func TestKeyFollowsTheOrderOfScores(t *testing.T) {
	for i, low := range ladder {
		for j, high := range ladder {
			for _, a := range low {
				for _, b := range high {
					if got, want := Key(a) < Key(b), i < j; got != want {
						t.Errorf("Key(%v) < Key(%v) = %v, want %v", a, b, got, want)
					}
				}
			}
		}
	}
}

// TestSortDescending compares with a stable sort that looks at floats alone.
func TestSortDescending(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	pick := map[string]func() float64{
		"continuous": r.Float64,
		"ties":       func() float64 { return float64(r.IntN(4)) / 4 },
		"all equal":  func() float64 { return 0.25 },
		"strange": func() float64 {
			rung := ladder[r.IntN(len(ladder))]
			return rung[r.IntN(len(rung))]
		},
		"crowded":  func() float64 { return 1 + math.Exp(-64*r.Float64()) }, // each level finds most pairs in one bucket
		"any bits": func() float64 { return math.Float64frombits(r.Uint64()) },
	}
	for name, score := range pick {
		for _, n := range []int{0, 1, 2, 17, insertionUpTo, insertionUpTo + 1, 200, 3000} {
			for _, shuffled := range []bool{false, true} {
				t.Run(fmt.Sprintf("%s/%d/shuffled=%v", name, n, shuffled), func(t *testing.T) {
					scores := make([]float64, n)
					pairs := make([]Pair, n)
					want := make([]int, n)
					for i := range n {
						scores[i] = score()
						pairs[i] = Pair{Key(scores[i]), i}
					}
					if shuffled {
						r.Shuffle(n, func(i, j int) { pairs[i], pairs[j] = pairs[j], pairs[i] })
					}
					for i, p := range pairs {
						want[i] = p.Index
					}
					sort.SliceStable(want, func(i, j int) bool {
						a, b := scores[want[i]], scores[want[j]]
						return a > b || !math.IsNaN(a) && math.IsNaN(b)
					})
					SortDescending(pairs)
					for i, p := range pairs {
						if p.Index != want[i] || p.Key != Key(scores[p.Index]) {
							t.Fatalf("place %d has position %d (score %v), want %d (score %v)", i, p.Index, scores[p.Index], want[i], scores[want[i]])
						}
					}
					before := slices.Clone(pairs)
					SortDescending(pairs)
					if !slices.Equal(pairs, before) {
						t.Error("sorting a sorted list changed it")
					}
				})
			}
		}
	}
}

func TestNaNHasTheLeastKey(t *testing.T) {
	if got := Key(math.NaN()); got != 0 {
		t.Errorf("got %d, want 0, below which there is no key", got)
	}
}

// TestSortDescendingOfOutliers has keys so far from the others that all of these
// share a bucket, at each level again. Moving them one by one would take
// billions of steps.
func TestSortDescendingOfOutliers(t *testing.T) {
	const n = 1 << 19
	outliers := []uint64{math.MaxUint64, 0, 1 << 60, 1, 1 << 40, 2, 1 << 30}
	for _, front := range []bool{true, false} {
		pairs := make([]Pair, n)
		for i := range pairs {
			pairs[i] = Pair{1<<20 + uint64(i), i}
		}
		for i, key := range outliers {
			at := i
			if !front {
				at = n - len(outliers) + i
			}
			pairs[at].Key = key
		}
		want := slices.Clone(pairs)
		slices.SortStableFunc(want, func(a, b Pair) int { return cmp.Compare(b.Key, a.Key) })
		SortDescending(pairs)
		if !slices.Equal(pairs, want) {
			t.Errorf("outliers in front %t: wrong order", front)
		}
	}
	// Within a bucket any key may be the least or the greatest of all.
	for i, outlier := range []uint64{0, 999_999, 0, 999_999, 0, 999_999} {
		pairs := make([]Pair, 200)
		for i := range pairs {
			pairs[i] = Pair{500_000 + uint64(i*7919)%64, i}
		}
		pairs[i/2].Key = outlier
		want := slices.Clone(pairs)
		slices.SortStableFunc(want, func(a, b Pair) int { return cmp.Compare(b.Key, a.Key) })
		b := Borrow(len(pairs))
		b.counts = b.counts[:0]
		b.spread(pairs, b.Pairs)
		if len(b.counts) != 0 {
			t.Errorf("%d counts are left in the buffer", len(b.counts))
		}
		insertionSort(pairs)
		if !slices.Equal(pairs, want) {
			t.Errorf("key %d at %d: wrong order", outlier, i/2)
		}
		b.Return()
	}
}

func TestSortDescendingReusesItsMemory(t *testing.T) {
	if raceEnabled() {
		t.Skip("the race detector empties pools at random")
	}
	r := rand.New(rand.NewPCG(5, 6))
	scores := make([]float64, 4096)
	for i := range scores {
		scores[i] = r.Float64()
	}
	allocs := testing.AllocsPerRun(20, func() {
		b := Borrow(len(scores))
		defer b.Return()
		for i, s := range scores {
			b.Pairs[i] = Pair{Key(s), i}
		}
		SortDescending(b.Pairs)
	})
	if allocs >= 1 {
		t.Errorf("a warm sort allocated %v times", allocs)
	}
}
