package cupeltest_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupel/pipeline"
	"github.com/wollax/cupel-go/cupel/placer"
	"github.com/wollax/cupel-go/cupeltest"
)

// The count in the message is how many have to move, whichever of those that tie are
// chosen; if it is none, the assertion holds.
func TestPlaceTopNScoredAtEdgesCountsTheFewest(t *testing.T) {
	random := rand.New(rand.NewPCG(13, 4))
	values := []float64{math.Inf(-1), -1, 0, math.Copysign(0, -1), 0.5, 0.5, 1, math.Inf(1)}
	held := 0
	for range 4000 {
		scores := make([]float64, random.IntN(7))
		for i := range scores {
			scores[i] = values[random.IntN(len(values))]
		}
		n := random.IntN(len(scores) + 1)
		left, right := (n+1)/2, len(scores)-n/2

		// The best n, as a multiset: each value may be taken from an edge as often
		// as it occurs there.
		best := slices.Sorted(slices.Values(scores))[len(scores)-n:]
		atEdges := slices.Concat(scores[:left], scores[right:])
		missing := 0
		for _, value := range best {
			if i := slices.Index(atEdges, value); i >= 0 {
				atEdges = slices.Delete(atEdges, i, i+1)
			} else {
				missing++
			}
		}

		r := placed(scores...)
		err := errOf(&r, func(c *chain) *chain { return c.PlaceTopNScoredAtEdges(n) })
		want := fmt.Sprintf("PlaceTopNScoredAtEdges(%d) failed: %d of the top-%d ", n, missing, n)
		if missing == 0 {
			held++
			require.NoError(t, err)
		} else {
			require.ErrorContains(t, err, want, "n = %d of %v", n, scores)
		}
	}
	require.True(t, held > 200 && held < 3_800, "%d of 4000 held", held)
}

// What the specification says of every report is so: excluded items are sorted,
// NaN scores or not, and the UShapedPlacer puts the best at the edges.
func TestReportsOfPipelinesPassTheConformanceAssertions(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 3))
	values := []float64{math.NaN(), math.Inf(1), math.Inf(-1), 0, math.Copysign(0, -1), 0.25, 0.5, 1}
	pipeline := newPipeline(t, pipeline.Config{Placer: placer.UShaped{}, KeepDuplicates: true})
	for range 500 {
		var items []*cupel.ContextItem
		for i := range random.IntN(12) {
			items = append(items, cupeltest.Item(fmt.Sprint(i), random.IntN(40)-2, cupel.WithFutureRelevanceHint(values[random.IntN(len(values))])))
		}
		report := dryRun(t, pipeline, items, cupeltest.Budget(100, 60))
		cupeltest.Should(t, report).
			ExcludedItemsAreSortedByScoreDescending().
			PlaceTopNScoredAtEdges(random.IntN(len(report.Included) + 1)).
			PlaceTopNScoredAtEdges(len(report.Included)).
			HaveTokensAtMost(60)
	}
}
