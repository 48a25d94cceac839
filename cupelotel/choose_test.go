package cupelotel

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/wollax/cupel-go/cupel"
)

// label tells lists of items apart in a comparison: scores and, as tokens,
// positions.
func label(s selection) string {
	var b strings.Builder
	for _, e := range s.excluded {
		fmt.Fprintf(&b, "-%d(%v) ", e.Reason.Data().Tokens, e.Score)
	}
	for _, i := range s.included {
		fmt.Fprintf(&b, "+%s(%v) ", i.Reason, i.Score)
	}
	return b.String()
}

// TestChooseAgainstSorting compares the heap with a full sort, on lists full of
// ties, NaN and zeros of both signs.
func TestChooseAgainstSorting(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	codes := []cupel.ExclusionCode{"a", "b", "b", "b", cupel.ExcludeBudgetExceeded}
	scores := []float64{0, math.Copysign(0, -1), 0.5, 0.5, 1, math.NaN(), math.Inf(1), math.Inf(-1)}
	for round := range 2000 {
		excluded, included := make([]cupel.ExcludedItem, rng.IntN(12)), make([]cupel.IncludedItem, rng.IntN(12))
		type entry struct {
			score float64
			in    bool
			at    int
		}
		var all []entry
		for i := range excluded {
			excluded[i] = cupel.ExcludedItem{Score: scores[rng.IntN(len(scores))], Reason: cupel.NewExclusionReason(codes[rng.IntN(len(codes))], cupel.ReasonData{Tokens: i})}
			all = append(all, entry{excluded[i].Score, false, i})
		}
		for i := range included {
			included[i] = cupel.IncludedItem{Score: scores[rng.IntN(len(scores))], Reason: cupel.InclusionReason(fmt.Sprint(i))}
			all = append(all, entry{included[i].Score, true, i})
		}
		limit := rng.IntN(27) - 1

		// The highest first; among equals exclusions, then the earlier one,
		// which is the order of the list.
		slices.SortStableFunc(all, func(a, b entry) int {
			switch {
			case math.IsNaN(a.score) && math.IsNaN(b.score):
				return 0
			case math.IsNaN(a.score):
				return 1
			case math.IsNaN(b.score):
				return -1
			default:
				return cmp.Compare(b.score, a.score)
			}
		})
		if limit >= 0 && len(all) > limit {
			// One of each reason goes before the rest.
			var firsts, rest []entry
			seen := make(map[cupel.ExclusionCode]bool)
			for _, e := range all {
				if !e.in && !seen[excluded[e.at].Reason.Code] {
					seen[excluded[e.at].Reason.Code] = true
					firsts = append(firsts, e)
				} else {
					rest = append(rest, e)
				}
			}
			all = slices.Concat(firsts, rest)
			all = all[:limit]
		}
		slices.SortStableFunc(all, func(a, b entry) int { return cmp.Or(cmp.Compare(b.score, a.score), cmp.Compare(a.at, b.at)) })
		var want selection
		for _, e := range all {
			if !e.in {
				want.excluded = append(want.excluded, excluded[e.at])
			}
		}
		slices.SortFunc(all, func(a, b entry) int { return a.at - b.at })
		for _, e := range all {
			if e.in {
				want.included = append(want.included, included[e.at])
			}
		}
		before := label(selection{excluded, included})
		if got := choose(excluded, included, limit); label(got) != label(want) {
			t.Fatalf("round %d, limit %d of %s:\n got %s\nwant %s", round, limit, before, label(got), label(want))
		}
		if after := label(selection{excluded, included}); after != before {
			t.Fatalf("round %d: the lists were changed from %s to %s", round, before, after)
		}
	}
}

func TestSameProvider(t *testing.T) {
	type uncomparable []int
	a, b := new(int), new(int)
	for _, tt := range []struct {
		name string
		a, b any
		want bool
		why  string
	}{
		{"one pointer", a, a, true, "the usual provider"},
		{"two pointers", a, b, false, "replaced by another"},
		{"two types", a, 1, false, "replaced by one of another kind"},
		{"values", struct{ n int }{1}, struct{ n int }{1}, true, "no-op providers are empty structs"},
		{"uncomparable", uncomparable{}, uncomparable{}, false, "comparing these would panic"},
		{"uncomparable inside", struct{ v any }{uncomparable{}}, struct{ v any }{uncomparable{}}, false, "comparable by type, but not by value"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := same(tt.a, tt.b); got != tt.want {
				t.Errorf("same() = %t, want %t: %s", got, tt.want, tt.why)
			}
		})
	}
}
