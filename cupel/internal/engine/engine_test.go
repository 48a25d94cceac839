package engine

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
)

func TestRankings(t *testing.T) {
	tests := []struct{ why, items, want string }{
		// Units and their scores
		{"units come by score, ties by place", "a 1 .25; b 2 .5 g=g; c 3 .5; d 4 .25 g=g; e 5 .5", " | b+d 6@0.5; c 3@0.5; e 5@0.5; a 1@0.25"},
		{"NaN is the least score, of members too", "a 1 NaN; b 1 NaN g=g; c 1 -.5 g=g; d 1 NaN g=g; e 1 -Inf", " | b+c+d 3@-0.5; e 1@-Inf; a 1@NaN"},
		{"pinned units are not ranked", "p 5 .5 p g=g; q 5 .5 g=g; r 1 .5 p; a 1 .5", " | a 1@0.5"},
		{"a later member may be the pinned one", "p 5 .5 g=g; q 5 .5 g=g p; a 1 .5", " | a 1@0.5"},
		{"a negative count takes out its unit, pinned or not", "n -1 .5 p; a 0 .5 g=g; b -3 .5 g=g; c -4 .5 g=g; d 0 .5; e 5 .5 g=g", "n@0 negative -1, a@0 negative -3, b@0 negative -3, c@0 negative -3, e@0 negative -3 | d 0@0.5"},
		{"tokens of members are clamped", "a max .5 g=g; b max .5 g=g v=1:.5", " | a+b MAX@0.5"},

		// Versions
		{"the last version is the newest", "a 9 .9 k=f; b 8 .8 k=f; c 9 .7 k=f", "a@0.9 older than c, b@0.8 older than c | c 9@0.7 or b"},
		{"with times the latest, of equal times the last", "a 9 .9 k=f t=2; b 9 .8 k=f t=9; c 9 .7 k=f t=9; d 9 .6 k=f t=1", "a@0.9 older than c, b@0.8 older than c, d@0.6 older than c | c 9@0.7"},
		{"one missing time makes all useless", "a 9 .9 k=f t=5; b 9 .8 k=f; c 9 .7 k=f t=1", "a@0.9 older than c, b@0.8 older than c | c 9@0.7"},
		{"the first may lack it", "a 9 .9 k=f; b 9 .8 k=f t=9; c 9 .7 k=f t=1", "a@0.9 older than c, b@0.8 older than c | c 9@0.7"},
		{"keys are separate, and one version is no version", "a 9 .9 k=f; b 9 .8 k=h; c 9 .7 k=f; d 9 .6 k=h; e 9 .5 k=i", "a@0.9 older than c, b@0.8 older than d | c 9@0.7; d 9@0.6; e 9@0.5"},
		{"one with a negative count is no version", "a 9 .9 k=f; b -1 .8 k=f", "b@0 negative -1 | a 9@0.9"},
		{"pinned and grouped ones stay, stale", "a 9 .9 k=f p; b 9 .8 k=f g=g v=4:.5,2:.25; c 9 .7 k=f", " | b 2@0.8; c 9@0.7"},
		{"smaller ones may come back, by place", "a 5 .9 k=f; b 9 .8 k=f; c 4 .7 k=f; d 0 .6 k=f; e 9 .5 k=f", "a@0.9 older than e, b@0.8 older than e, c@0.7 older than e, d@0.6 older than e | e 9@0.5 or a+c+d"},
		{"in place of the survivor of the newest", "o 5 .9 k=f; x/1 9 .8; x/2 9 .7 k=f", "o@0.9 older than x/2, x/2@0.7 is x/1 | x/1 9@0.8 or o"},
		{"not of a group, nor of what is pinned", "a 5 .9 k=f; b 9 .8 k=f g=g; c 5 .7 k=h; d 9 .6 k=h p", "a@0.9 older than b, c@0.7 older than d | b 9@0.8"},

		// Duplicates
		{"of the same contents the best stays, of equal scores the first", "a/1 1 .5; a/2 2 .7; b/1 1 .5; b/2 2 .5; a/3 3 .6", "a/1@0.5 is a/2, b/2@0.5 is b/1, a/3@0.6 is a/2 | a/2 2@0.7; b/1 1@0.5"},
		{"NaN neither beats nor is beaten", "a/1 1 NaN; a/2 2 .7; b/1 1 .7; b/2 2 NaN", "a/2@0.7 is a/1, b/2@NaN is b/1 | b/1 1@0.7; a/1 1@NaN"},
		{"of groups member by member", "a/1 1 .5 g=g; b/1 2 .2 g=g; a/2 3 .6 g=h; b/2 4 .1 g=h", "a/1@0.5 is a/2, b/1@0.5 is b/2 | a/2+b/2 7@0.6"},
		{"another order, a longer group and a lone item are others", "a/1 1 .9 g=g; b/1 1 .9 g=g; b/2 1 .8 g=h; a/2 1 .8 g=h; a/3 1 .7 g=i; a/4 1 .6; a/5 1 .5 g=j; b/5 1 .5 g=j; c 1 .5 g=j", " | a/1+b/1 2@0.9; b/2+a/2 2@0.8; a/3 1@0.7; a/4 1@0.6; a/5+b/5+c 3@0.5"},
		{"pinned ones and older versions take no part", "a/1 1 .5 p; a/2 1 .6; a/3 1 .9 k=f; b 1 .5 k=f", "a/3@0.9 older than b | a/2 1@0.6; b 1@0.5"},

		// Forms
		{"a lone unit has its forms, and none of a group", "a 90 .5 v=60:.75,30:.5; b 60 .5 gv=30:.5; p 9 .5 v=3:.5 p", " | a 90@0.5 60:0.75 30:0.5; b 60@0.5"},
		{"the step that loses least per token comes first", "a 60 .5 g=g v=40:.8,20:.1; b 40 .25 g=g v=30:.9,10:.3", " | a+b 100@0.5 90:0.96 70:0.84 50:0.6 30:0.18"},
		{"of steps that lose the same the later member's", "a 40 .5 g=g v=20:.5; b 40 .5 g=g v=10:.25", " | a+b 80@0.5 50:0.625 30:0.375"},
		{"many steps come in order", "a 64 .5 g=g v=32:.9,16:.7,8:.4,4:.1; b 64 .5 g=g v=48:.85,24:.8,2:.3; c 64 .5 g=g v=60:.99,1:.01; d 64 .5 g=g v=20:.6,19:.59; e 64 .5 g=g v=40:.3", " | a+b+c+d+e 320@0.5 316:0.998 284:0.978 240:0.898 224:0.868 200:0.858 199:0.856 183:0.816 124:0.62 102:0.52 78:0.38 70:0.32 66:0.26"},
		{"a member without forms stays as it is, and so does a pinned one's unit", "a 60 .5 g=g; b 40 .5 g=g v=10:.5; p 60 .5 g=h p v=3:.5; q 40 .5 g=h v=10:.5 gv=9:.9", " | a+b 100@0.5 70:0.8"},
		{"a form of the group takes its place", "a 60 .5 g=g v=20:.5; b 40 .5 g=g gv=70:.9,30:.6", " | a+b 100@0.5 70:0.9 60:0.7 30:0.6"},
		{"if it is smaller, and of the first member that has any", "a 60 .5 g=g; b 40 .5 g=g gv=100:.9,99:.8; c 0 .5 g=g gv=40:.9", " | a+b+c 100@0.5 99:0.8"},
		{"a form that is larger and worth no more is useless", "a 60 .5 g=g v=20:.5; b 40 .5 g=g gv=50:.9", " | a+b 100@0.5 50:0.9"},
		{"of equal forms the members' come first", "a 50 .5 g=g v=0:.5; b 50 .5 g=g gv=50:.75; c 50 .5 g=h v=0:.5; d 50 .5 g=h gv=50:.5", " | a+b 100@0.5 50:0.75; c+d 100@0.5 50:0.75"},
		{"a group without tokens has no smaller form", "a 0 .5 g=g; b 0 .75 g=g gv=0:.5", " | a+b 0@0.75"},
		{"a stale member starts at its smallest form", "a 50 .5 g=g k=f v=30:.5,10:.25; b 50 .5 g=g v=20:.5; n 1 .1 k=f", " | a+b 60@0.5 30:0.5833; n 1@0.1"},
		{"sums above the largest int are no forms", "a max .5 g=g v=9:.5; b max .5 g=g v=8:.25", " | a+b MAX@0.5 17:0.375"},
	}
	var used Ranking
	for _, tt := range tests {
		c := read(t, tt.items)
		rank(t, c, 0, false, &used) // with the memory of others
		var fresh Ranking
		rank(t, c, 0, false, &fresh)
		for _, r := range []*Ranking{&used, &fresh} {
			got := c.left(append(r.Set.Left, r.Left...), nil) + " | " + c.ranking(r)
			if got = strings.ReplaceAll(got, fmt.Sprint(math.MaxInt), "MAX"); got != tt.want {
				t.Errorf("%s: %s\n got %s\nwant %s", tt.why, tt.items, got, tt.want)
				break
			}
			counts := 0
			for _, u := range r.Sorted() {
				if m := r.Members(u); r.Place(u) != m[0] || r.UnitOf(m[len(m)-1]) != u || r.IsPinned(u) || r.IsOut(u) || r.IsGroup(u) != (c.Links[m[0]].Group != "") {
					t.Errorf("%s: unit %d is of others", tt.why, u)
				}
				for _, older := range r.Older(u) {
					if r.ScoreOfCandidate(older) != c.scores[older] {
						t.Errorf("%s: %s has the score %v", tt.why, c.names[older], r.ScoreOfCandidate(older))
					}
				}
				counts += len(r.Members(u))
			}
			if pins := r.Pins(); len(pins) != r.NumPinned() || len(pins) > 0 && pins[0] != r.FirstPinned() || len(pins) == 0 && r.FirstPinned() != None {
				t.Errorf("%s: %v are pinned, counted are %d, the first is %d", tt.why, pins, r.NumPinned(), r.FirstPinned())
			}
			if r.Unique != counts {
				t.Errorf("%s: %d candidates are left, counted are %d", tt.why, counts, r.Unique)
			}
		}
	}
}

func TestChoices(t *testing.T) {
	tests := []struct {
		why, items, take string
		budget, without  int
		want             string
	}{
		{"all fits", "a 60 .9; b 40 .8", "all", 100, 100, "a 60; b 40 |  | "},
		{"what is left", "a 60 .9; b 40 .8; c 9 .7 g=g; d 9 .5 g=g", "0", 70, 70, "a 60 | b@0.8 40/10, c@0.7 9/10 of 18, d@0.7 9/10 of 18 | "},
		{"drops come first, in their order", "a 6 .9; b 4 .8; c 9 .7; d 3 .6", "!2 !0 3", 5, 5, "d 3 | c@0.7 drop 0, a@0.9 drop 1, b@0.8 4/2 | "},
		{"a smaller form", "a 60 .9 v=30:.5,10:.2; b 40 .8 g=g v=20:.5; c 40 .7 g=g gv=5:.1", "0=2 1=2", 100, 100, "a#2 10; c*1 5 |  | "},
		{"a stale member is in its smallest form", "a 50 .5 g=g k=f v=30:.5,10:.25; b 50 .5 g=g v=20:.5; n 1 .1 k=f", "all", 100, 0, "a#2~+b 60; n 1 |  | "},
		{"in each form of its group", "a 50 .5 g=g k=f v=30:.5,10:.25; b 50 .5 g=g v=20:.5; n 1 .1 k=f", "0=1 1", 100, 0, "a#2~+b#1 30; n 1 |  | "},
		{"a form that there is not", "a 60 .9 v=30:.5", "0=2", 100, 100, ""},
		{"nor an older version", "a 6 .9 k=f; b 60 .8 k=f", "0=2", 100, 100, ""},
		{"an older version comes back, by its own score, ties by place", "a 10 .2 k=f; o 10 .5; p 10 .2; n 60 .9 k=f; q 9 .2", "0=1 1 2 3", 39, 39, "o 10; a~ 10; p 10; q 9 | n@0.9 60/0 | "},
		{"the second that is offered", "a 10 .2 k=f; b 20 .3 k=f; n 60 .9 k=f v=30:.5", "0=3", 39, 39, "b~ 20 | n@0.9 60/19 | "},
		{"pinned units are the reason where they are", "p 40 .5 p; x 10 .9; a 60 .5; b 61 .5 g=h; c 100 .4 g=i; d 101 .3", "0", 100, 100, "p 40; x 10 | a@0.5 60/50, b@0.5 for p, c@0.4 for p, d@0.3 101/50 | "},
		{"pinned ones without tokens are not", "p 0 .5 p; a 60 .5", "", 50, 60, "p 0 | a@0.5 60/50 | "},
		{"those of one token are", "p 1 .5 p; a 50 .5", "", 50, 50, "p 1 | a@0.5 for p | "},
		{"a lone pinned unit does not shrink", "p 50 .5 p v=10:.5; a 50 .5", "all", 90, 0, "p 50 |  | a@0.5 for p"},
		{"pinned units shrink, the cheapest step first", "p 50 .5 p g=g; q 50 .5 g=g v=30:.9,10:.5; r 50 .5 p g=h; s 50 .5 g=h v=20:.5", "", 150, 0, "p+q#1 80; r+s#1 70 |  | "},
		{"as far as they must", "p 50 .5 p g=g; q 50 .5 g=g v=30:.9,10:.5; r 50 .5 p g=h; s 50 .5 g=h v=20:.5", "", 180, 0, "p+q#1 80; r+s 100 |  | "},
		{"by what the whole unit loses", "p 10 .5 p g=g; q 10 .5 g=g v=5:.5; r 90 .5 p g=h; s 90 .5 g=h v=85:.97", "", 195, 0, "p+q 20; r+s#1 175 |  | "},
		{"in tokens, not as a share of it", "p 10 .5 p g=g; q 10 .5 g=g v=5:.8; r 100 .5 p g=h; s 100 .5 g=h v=95:.9", "", 215, 0, "p+q#1 15; r+s 200 |  | "},
		{"as far as they can", "p 50 .5 p g=g; q 50 .5 g=g v=10:.5", "", 50, 0, "p+q#1 60 |  | "},
		{"not at all if they fit", "p 50 .5 p g=g; q 50 .5 g=g v=10:.5", "", 100, 0, "p+q 100 |  | "},
		{"truncation shrinks from the last to the first", "a 60 .9 v=30:.5; b 60 .8 v=40:.6,20:.3; c 30 .7", "all", 120, 0, "a 60; b#2 20; c 30 |  | "},
		{"only as far as it must", "a 60 .9 v=30:.5; b 60 .8 v=40:.6,20:.3; c 30 .7", "all", 130, 0, "a 60; b#1 40; c 30 |  | "},
		{"pinned ones after the others", "p 50 .5 g=g p; q 50 .5 g=g v=10:.5; a 60 .9 v=30:.5", "all", 110, 0, "p+q#1 60; a#1 30 |  | "},
		{"then it drops, and the best stay", "a 60 .9 v=30:.5; b 60 .8 g=g v=40:.6,20:.3; d 9 .2 g=g; c 30 .7; e 5 .1", "all", 70, 0, "a#1 30; b#2+d 29; e 5 |  | c@0.7 30/11"},
		{"what pinned units push out", "p 50 .5 p; a 60 .9 v=55:.5; b 60 .8 g=g v=40:.6; d 9 .2 g=g; e 5 .1", "all", 100, 0, "p 50; b#1+d 49 |  | a@0.9 for p, e@0.1 for p"},
		{"what would not fit alone", "p 40 .5 p; a 50 .9; b 95 .8 v=70:.6; z 0 .1", "all", 100, 0, "p 40; a 50; z 0 |  | b@0.8 95/10"},
		{"older versions do not shrink, and leave with what they are", "a 10 .9 k=f v=5:.5; n 60 .5 k=f; o 30 .6", "0=0 1=1", 39, 0, "a~ 10 | n@0.5 60/-1 | o@0.6 30/29"},
		{"though they have a unit of their own", "o 35 .95; a 10 .9 k=f; n 60 .5 k=f", "0 1=1", 39, 0, "o 35 | n@0.5 60/-6 | a@0.9 10/4"},
		{"the largest numbers", "a max .9 g=g; b max .9 g=g; c max .5; p max .1 p", "all", math.MaxInt, math.MaxInt, "p MAX |  | a@0.9 for p, b@0.9 for p, c@0.5 for p"},
	}
	var choice Choice // with the memory of others
	for _, tt := range tests {
		c := read(t, tt.items)
		var r Ranking
		rank(t, c, 0, false, &r)
		for _, choice.Why = range []bool{true, false} {
			if ok := choose(t, &choice, &r, tt.take, tt.budget, tt.without); ok != (tt.want != "") {
				t.Errorf("%s: the forms exist: %t", tt.why, ok)
			} else if !ok {
				continue
			}
			sum := choice.MergedTokens()
			if sum.Greater(tt.budget) {
				choice.Truncate(tt.budget)
			}
			unit := func(u Unit) string { return fmt.Sprint(r.TokensOf(u)) }
			got := c.window(&choice) + " | " + c.left(choice.Decisions[:choice.Truncated], unit) + " | " + c.left(choice.Decisions[choice.Truncated:], unit)
			want := tt.want
			if !choice.Why {
				want, _, _ = strings.Cut(want, " | ")
				want += " |  | "
			}
			if got = strings.ReplaceAll(got, fmt.Sprint(math.MaxInt), "MAX"); got != want {
				t.Errorf("%s: %s\n got %s\nwant %s", tt.why, tt.items, got, want)
			}
		}
	}
}

func TestNearCopies(t *testing.T) {
	tests := []struct{ why, items, want string }{
		{"the older one leaves", "a 9 .9 w=30; b 9 .8 w=31", "a@0.9 near b 52/57 | b 9@0.8 | a"},
		{"and so do several of one text", "a/1 9 .9 w=30; a/2 9 .9 w=30; b 9 .8 w=31", "a/1@0.9 near b 52/58, a/2@0.9 near b 52/58 | b 9@0.8 | a/1 a/2"},
		{"by time, if all have one", "a 9 .9 w=30 t=5; b 9 .8 w=31 t=3; c 9 .8", "b@0.8 near a 52/57 | a 9@0.9; c 9@0.8 | b"},
		{"by place, if one has none", "a 9 .9 w=30 t=5; b 9 .8 w=31", "a@0.9 near b 52/57 | b 9@0.8 | a"},
		{"short and other texts stay", "a 9 .9; a/2 9 .8; b 9 .7 w=0", "a/2@0.8 is a | a 9@0.9; b 9@0.7 | "},
		{"equal texts are left to deduplication", "a 9 .9 w=30; a 9 .8 w=30", "a@0.8 is a | a 9@0.9 | "},
		{"unless their units differ", "a 9 .9 w=30; a 9 .8 w=30 g=g; c 9 .1 g=g", "a@0.9 near a 57/57 | a+c 18@0.8 | a"},
		{"members of groups stay, stale", "a 9 .9 w=30 g=g v=3:.5; c 9 .9 g=g; b 9 .8 w=31", " | a+c 12@0.9; b 9@0.8 | a"},
		{"pinned, older and negative ones take no part", "a 9 .9 w=30 p; b 9 .8 w=31 k=f; c 9 .7 w=32; d 9 .6 k=f; e -1 .6 w=33", "b@0.8 older than d | c 9@0.7; d 9@0.6 | b"},
	}
	for _, tt := range tests {
		c := read(t, tt.items)
		var r Ranking
		rank(t, c, 0.7, false, &r)
		var stale []string
		for i := range c.names {
			if r.IsStale(Candidate(i)) {
				stale = append(stale, c.names[i])
			}
		}
		if got := c.left(r.Left, nil) + " | " + c.ranking(&r) + " | " + strings.Join(stale, " "); got != tt.want {
			t.Errorf("%s: %s\n got %s\nwant %s", tt.why, tt.items, got, tt.want)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := new(Set).Classify(ctx, read(t, "a 9 .9 w=30").Columns, .7); err != context.Canceled {
		t.Errorf("got %v after the end of the context", err)
	}
}

// TestUnitsOfOne: candidates without links, with empty ones, and in groups of their
// own are selected alike.
func TestUnitsOfOne(t *testing.T) {
	used := [3]*Choice{{Ranking: new(Ranking)}, {Ranking: new(Ranking)}, {Ranking: new(Ranking)}}
	for seed := range uint64(500) {
		r := rand.New(rand.NewPCG(seed, 3))
		n := r.IntN(40)
		var c table
		for i := range n {
			c.names = append(c.names, fmt.Sprint(i))
			c.Contents = append(c.Contents, fmt.Sprint(r.IntN(1+n)))
			c.Tokens = append(c.Tokens, r.IntN(20)-r.IntN(2))
			c.Pinned = append(c.Pinned, r.IntN(9) == 0)
			c.scores = append(c.scores, []float64{float64(r.IntN(5)), math.NaN(), math.Inf(1), -1}[max(0, r.IntN(12)-8)])
		}
		keep, budget := r.IntN(3) == 0, r.IntN(100)
		without := budget + r.IntN(2)
		var got [3]string
		for i, choice := range used {
			if i > 0 {
				c.Links = make([]Link, n)
			}
			for j := range c.Links {
				c.Links[j].Group = []string{"", "", fmt.Sprint("g", j)}[i]
			}
			ranking := choice.Ranking
			rank(t, c, 0, keep, ranking)
			choice.Why = true
			choose(t, choice, ranking, "all", budget, without)
			if choice.MergedTokens().Greater(budget) {
				choice.Truncate(budget)
			}
			for d := range choice.Decisions {
				choice.Decisions[d].Unit = None // only groups have one
			}
			got[i] = strings.Join([]string{c.left(choice.Set.Left, nil), c.left(ranking.Left, nil), c.ranking(ranking), c.window(choice), c.left(choice.Decisions, nil)}, "\n")
			ranking.Free()
			if ranking.Contents != nil || ranking.Links != nil {
				t.Fatal("the caller's texts are kept")
			}
		}
		if got[0] != got[1] || got[0] != got[2] {
			t.Fatalf("seed %d: plain\n%s\nwith links\n%s\nin groups\n%s", seed, got[0], got[1], got[2])
		}
	}
}
