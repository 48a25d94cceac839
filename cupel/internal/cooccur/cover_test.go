package cooccur

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
)

// crowded returns members with a few tags that most have, each given with the
// same probability in percent, and others that few have.
func crowded(r *rand.Rand, members, rare int, percents ...int) [][]string {
	list := make([][]string, members)
	for i := range list {
		for j, percent := range percents {
			if r.IntN(100) < percent {
				list[i] = append(list[i], fmt.Sprint("frequent", j))
			}
		}
		for range r.IntN(rare + 1) {
			list[i] = append(list[i], fmt.Sprint("rare", r.IntN(300)))
		}
	}
	return list
}

// laidOut returns how many sets there were at most in what was left by a part.
func laidOut(c *Counter) int { return cap(c.bitSets.left) }

func TestCoverCountsEveryPeer(t *testing.T) {
	r := rand.New(rand.NewPCG(35, 36))
	c := new(Counter)
	halves := crowded(r, 4000, 9)
	for i := range halves {
		halves[i] = append(halves[i], fmt.Sprint("half", i%2))
	}
	for _, tt := range []struct {
		name    string
		members [][]string
		parts   bool
		why     string
	}{
		{"one tag in most", crowded(r, 2500, 9, 90), true, "one part, and a rest that has none of its tag"},
		{"two halves", halves, true, "two parts side by side"},
		{"several tags", crowded(r, 4000, 9, 70, 60, 50), true, "parts of what a part leaves, and their weights add up"},
		{"one tag in all", crowded(r, 2000, 9, 100), true, "nothing is left"},
		{"few members", crowded(r, 500, 9, 90), false, "laying out costs more than it saves"},
		{"rare tags", crowded(r, 3000, 20, 9), false, "a tag in less than an eighth leaves too much"},
		{"weights", append(crowded(r, 2500, 9, 80, 50), crowded(r, 4000, 1, 80, 50)...), true, "sets that many members have, short and long"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c.bitSets.left = nil
			want := bruteForce(tt.members)
			count(t, c, tt.members)
			for limit := range MaxSubsetTags + 1 {
				clear(c.sharing)
				if err := errors.Join(c.countSubsets(t.Context(), limit), c.countBits(t.Context(), limit, false)); err != nil {
					t.Fatal(err)
				}
				for i := range want {
					if got := c.Sharing(i); got != want[i] {
						t.Fatalf("subsets up to %d tags: member %d has %d, want %d: %s", limit, i, got, want[i], tt.why)
					}
				}
				if limit == 0 && (laidOut(c) > 0 || tt.name == "one tag in all") != tt.parts {
					t.Errorf("parts left %d sets: %s", laidOut(c), tt.why)
				}
			}
		})
	}
}

// TestCoverSavesSteps counts them by the looks at the context.
func TestCoverSavesSteps(t *testing.T) {
	r := rand.New(rand.NewPCG(37, 38))
	c := new(Counter)
	looks := func(percents ...int) int {
		members := crowded(r, 6000, 0, percents...)
		for i := range members {
			for j := range 20 {
				members[i] = append(members[i], fmt.Sprint("rare", j*100+r.IntN(100)))
			}
		}
		count(t, c, members)
		ctx := &doneAfter{t.Context(), 0, 1 << 30}
		if err := c.countBits(ctx, 0, false); err != nil {
			t.Fatal(err)
		}
		return ctx.looks
	}
	whole, most, some := looks(), looks(95), looks(60, 60, 60)
	if most*4 > whole {
		t.Errorf("a tag in 95 %%: %d looks, %d without it, want at most a quarter", most, whole)
	}
	if some*2 > whole {
		t.Errorf("three tags in 60 %%: %d looks, %d without them, want at most half", some, whole)
	}
	if got, n := laidOut(c), c.sets.len(); got > 8*n {
		t.Errorf("%d sets laid out for %d, want at most eight times as many", got, n)
	}
}

func TestCoverStopsInMidPass(t *testing.T) {
	r := rand.New(rand.NewPCG(39, 40))
	c := new(Counter)
	count(t, c, crowded(r, 6000, 20, 60, 60, 60))
	all := &doneAfter{t.Context(), 0, 1 << 30}
	if err := c.countBits(all, 0, false); err != nil || all.looks < 5 {
		t.Fatalf("%v after %d looks", err, all.looks)
	}
	for most := range all.looks {
		ctx := &doneAfter{t.Context(), 0, most}
		if err := c.countBits(ctx, 0, false); !errors.Is(err, context.Canceled) || ctx.looks != most+1 {
			t.Errorf("done at look %d: %v after %d looks, want to stop there", most+1, err, ctx.looks)
		}
	}
	// What a stopped pass leaves behind must not reach the next.
	members := crowded(r, 3000, 9, 80, 50)
	if got, want := count(t, c, members), bruteForce(members); !slices.Equal(got, want) {
		t.Error("counts differ from brute force after a pass that stopped")
	}
}

func TestCoverPays(t *testing.T) {
	for _, tt := range []struct {
		members, some, n int
		want             bool
		why              string
	}{
		{100_000, 12_500, 100_000, true, "an eighth goes"},
		{100_000, 12_499, 100_000, false, "less than an eighth goes"},
		{5121, 1000, 8000, true, "a word less for each member, and ten for each set"},
		{5120, 1000, 8000, false, "as much as laying out costs"},
	} {
		if got := coverPays(tt.members, tt.some, tt.n); got != tt.want {
			t.Errorf("%d members with a tag in %d of %d sets: %t: %s", tt.members, tt.some, tt.n, got, tt.why)
		}
	}
}
