package cooccur

import (
	"fmt"
	"math/bits"
	"math/rand/v2"
	"slices"
	"testing"
)

// planByDefinition adds up what each way costs, set by set, as the comments of
// the costs have it.
func planByDefinition(c *Counter) (limit int, byTag bool, cost int) {
	n, spread := c.sets.len(), map[uint32]int{}
	for i := range n {
		for _, id := range c.set(uint32(i)) {
			spread[id]++
		}
	}
	most, parts, tags := make([]uint32, n), map[uint32]int{}, 0
	for i := range n {
		most[i] = slices.MaxFunc(c.set(uint32(i)), func(x, y uint32) int { return spread[x] - spread[y] })
		parts[most[i]]++
		tags += len(c.set(uint32(i)))
	}
	least := 0
	for l := MaxSubsetTags; l >= 0; l-- {
		subsets, long := 0, 0
		var whole, groups [2]int // of short sets and of long ones
		for i := range n {
			k, listed := len(c.set(uint32(i))), 0
			for _, id := range c.set(uint32(i)) {
				listed += spread[id]
			}
			isLong := 0
			if k > l {
				isLong = 1
				long++
			} else {
				subsets += 2 * 32 * (1<<k - k)
			}
			left, layOut := n, 0
			if some, part := spread[most[i]], parts[most[i]]; 8*some >= n && part*some > 640*n {
				left = n - some
				layOut = 10 * tags / n * left / part
			}
			whole[isLong] += layOut + min(listed*left/n*4, (k+1)*(left/64+1))
			groups[isLong] += 120*k + (k-1)*(16*k+listed/128)/2
		}
		share := float64(long) / float64(n)
		compare, compareByTag := whole[1]+int(share*float64(whole[0])), groups[1]+int(share*float64(groups[0]))
		if total := subsets + min(compare, compareByTag); l == MaxSubsetTags || total < least {
			limit, byTag, least = l, compareByTag < compare, total
		}
	}
	return limit, byTag, least
}

// TestPlanIsTheCheapest tries lists near the places where the ways cost the same.
func TestPlanIsTheCheapest(t *testing.T) {
	r := rand.New(rand.NewPCG(27, 28))
	c := new(Counter)
	chosen := map[string]int{}
	for i := range 700 {
		s := shape{members: 1 + r.IntN(700), least: 1, among: 2 + r.IntN(300)}
		s.most = s.least + r.IntN(12)
		if r.IntN(3) == 0 {
			s.least = s.most
		}
		members := s.random(r)
		if i >= 600 { // frequent tags, which may leave few to compare with
			members = crowded(r, 500+r.IntN(1500), r.IntN(9), 40+r.IntN(60), r.IntN(100))
		}
		c.Reset()
		for _, tags := range members {
			for _, tag := range tags {
				c.Add(tag)
			}
			c.Next()
		}
		limit, byTag, cost := c.plan()
		wantLimit, wantByTag, wantCost := planByDefinition(c)
		if limit != wantLimit || byTag != wantByTag || cost != wantCost {
			t.Fatalf("list %d, %d members with %d to %d of %d tags: subsets up to %d, by tag %t, cost %d, want %d, %t, %d",
				i, len(members), s.least, s.most, s.among, limit, byTag, cost, wantLimit, wantByTag, wantCost)
		}
		chosen[fmt.Sprint(limit, byTag)]++
	}
	if len(chosen) < 5 {
		t.Errorf("the lists are too much alike: %v", chosen)
	}
}

// TestStepsBetweenLooks counts how often each pass looks at the context: after
// as many steps as the pass before it took, not after as many sets.
func TestStepsBetweenLooks(t *testing.T) {
	r := rand.New(rand.NewPCG(29, 30))
	c := new(Counter)
	count(t, c, shape{"", 9000, 4, 9, 700, ""}.random(r))
	n := c.sets.len()

	ctx := &doneAfter{t.Context(), 0, 1 << 30}
	if err := c.countSubsets(ctx, MaxSubsetTags); err != nil || ctx.looks != 2*((n+checkEvery-1)/checkEvery) {
		t.Errorf("subsets of %d sets: %d looks, %v", n, ctx.looks, err)
	}

	for _, limit := range []int{0, 6} {
		all := &c.bitSets.all
		if err := c.countBits(t.Context(), limit, false); err != nil {
			t.Fatal(err)
		}
		words, longWords := c.layOut(limit, *all)
		c.divide(c.bitSets.rest)
		looks, left := 1, 64*checkEvery // the first is for laying out
		for _, key := range c.bitSets.keys {
			k := len(c.set(uint32(key)))
			width := words
			if k <= limit {
				width = longWords
			}
			if left -= width * k; left <= 0 {
				looks++
				left = 64 * checkEvery
			}
		}
		ctx = &doneAfter{t.Context(), 0, 1 << 30}
		if err := c.countBits(ctx, limit, false); err != nil || ctx.looks != looks {
			t.Errorf("whole sets of more than %d tags: %d looks, want %d, %v", limit, ctx.looks, looks, err)
		}
	}

	ctx = &doneAfter{t.Context(), 0, 1 << 30}
	if err := c.countBits(ctx, 0, true); err != nil {
		t.Fatal(err)
	}
	// All groups' members or at least one word, and at most all rows before them.
	least, most := 0, 0
	for i := range n {
		ids := c.set(uint32(i))
		for _, id := range ids {
			width := (len(c.bitSets.lists[c.bitSets.starts[id]:c.bitSets.starts[id+1]]) + 63) / 64
			least += width + 1
			most += width*(len(ids)+unroll) + 1
		}
	}
	if got := ctx.looks * 64 * checkEvery; got < least || got > most/2+64*checkEvery {
		t.Errorf("tag by tag: a look in %d steps, at least %d, at most half of %d", got, least, most)
	}
}

// TestRowsAndListsByDensity holds which tags have rows, and which sets are
// counted by lists: those leave their mark in seen.
func TestRowsAndListsByDensity(t *testing.T) {
	r := rand.New(rand.NewPCG(31, 32))
	for _, tt := range []struct {
		shape
		listed bool
	}{
		{shape{"frequent", 3000, 20, 20, 60, "a row has most sets"}, false},
		{shape{"rare", 3000, 8, 8, 50_000, "a list has one set"}, true},
	} {
		c := new(Counter)
		count(t, c, tt.random(r))
		if err := c.countBits(t.Context(), 0, false); err != nil {
			t.Fatal(err)
		}
		b := &c.bitSets
		words, rows := (c.sets.len()+63)/64, int32(0)
		for id := range c.tags.len() {
			want := int32(-1)
			if b.starts[id+1]-b.starts[id] >= words {
				want = rows
				rows++
			}
			if b.row[id] != want {
				t.Fatalf("%s: tag %d has row %d, want %d", tt.name, id, b.row[id], want)
			}
		}
		marks := 0
		for _, mark := range b.seen {
			if mark != 0 {
				marks++
			}
		}
		if tt.listed && marks != c.sets.len() || !tt.listed && marks != 0 {
			t.Errorf("%s: %d of %d sets were counted by lists: %s", tt.name, marks, c.sets.len(), tt.why)
		}
	}
}

func TestGroupsAreOrderedAndPacked(t *testing.T) {
	c := new(Counter)
	var members [][]string
	for i := range 70 {
		tags := []string{"all", fmt.Sprint("own", i)}
		if i < 64 {
			tags = append(tags, "most", fmt.Sprint("pair", i/2))
		}
		members = append(members, tags)
	}
	count(t, c, members)
	if err := c.countBits(t.Context(), 3, true); err != nil {
		t.Fatal(err)
	}
	g, b := &c.groups, &c.bitSets
	if !slices.IsSortedFunc(g.order, func(x, y uint32) int {
		return (b.starts[y+1] - b.starts[y]) - (b.starts[x+1] - b.starts[x])
	}) {
		t.Error("a rarer tag comes before a more frequent one")
	}
	if c.names[g.order[0]] != "all" || c.names[g.order[1]] != "most" {
		t.Errorf("the order begins with %s, %s", c.names[g.order[0]], c.names[g.order[1]])
	}
	for _, size := range []struct{ tag, words, long, rows int }{{0, 2, 1, 0}, {1, 1, 1, 1}} {
		tag := g.order[size.tag]
		for i, bit := range b.bit {
			begin := c.begin(i)
			g.sets[bit] = counted{begin, begin + size.tag, b.weight[bit], 0}
		}
		for i := range g.done {
			g.done[i] = g.order[0] // each set's first tag, where one came before
		}
		g.place(b.lists[b.starts[tag]:b.starts[tag+1]], 64)
		g.collect(tag)
		g.fillRows()
		if g.words != size.words || g.longWords != size.long {
			t.Errorf("group of %s: %d words, %d of long sets, want %d and %d", c.names[tag], g.words, g.longWords, size.words, size.long)
		}
		if got, want := len(g.rows), (2+size.rows)*size.words; got != want {
			t.Errorf("group of %s: %d words of rows, want %d", c.names[tag], got, want)
		}
	}
	// In the group of its pair a set has two rows; its own tag, which no other
	// set has, has none anywhere.
	last := g.order[len(g.order)-1]
	for i, bit := range b.bit {
		begin := c.begin(i)
		g.sets[bit] = counted{begin, begin + 1, b.weight[bit], 0}
		g.done[begin] = last - uint32(i)%20
	}
	tag := g.order[2]
	g.place(b.lists[b.starts[tag]:b.starts[tag+1]], 64)
	g.collect(tag)
	g.fillRows()
	if len(g.rows) != 2*g.words {
		t.Errorf("tags that one member alone has take %d words of rows", len(g.rows)-2*g.words)
	}
}

func TestTableGrowsAtHalf(t *testing.T) {
	var tab table
	tab.reset()
	for i := range 1000 {
		tab.number(mix(uint64(i)), nil)
		want := max(leastSlots, 1<<bits.Len(uint(2*(i+1)-1)))
		if len(tab.slots) != want {
			t.Fatalf("%d things have %d slots, want %d", i+1, len(tab.slots), want)
		}
	}
	tab.resetFor(1000)
	if len(tab.slots) != 2048 || tab.len() != 0 {
		t.Errorf("a table for 1000 things has %d slots, and %d things", len(tab.slots), tab.len())
	}
	for _, tt := range []struct{ n, want int }{{1, 1}, {2, 2}, {3, 4}, {64, 64}, {65, 128}} {
		if got := cap(sized[int](nil, tt.n)); got != tt.want {
			t.Errorf("room for %d, want %d for %d", got, tt.want, tt.n)
		}
	}
}

// TestMixSpreads flips each bit of a number and looks how often each bit of the
// hash changes: a table takes the low bits, and numbers are small.
func TestMixSpreads(t *testing.T) {
	r := rand.New(rand.NewPCG(33, 34))
	for in := range 64 {
		var flips [64]int
		const n = 400
		for range n {
			x := r.Uint64()
			for d := mix(x) ^ mix(x^1<<in); d != 0; d &= d - 1 {
				flips[bits.TrailingZeros64(d)]++
			}
		}
		for out, f := range flips {
			if f < n/4 || f > n*3/4 {
				t.Errorf("bit %d changes bit %d in %d of %d numbers", in, out, f, n)
			}
		}
	}
}

func TestSetsHaveHashesOfTheirOwn(t *testing.T) {
	c := new(Counter)
	members := [][]string{{}}
	for i := range 500 {
		members = append(members, []string{fmt.Sprint(i % 25), fmt.Sprint("x", i/25)}, nil)
	}
	count(t, c, members)
	hashes := slices.Clone(c.sets.hashes)
	slices.Sort(hashes)
	if n := len(slices.Compact(hashes)); n != 500 {
		t.Errorf("%d hashes for 500 sets with tags", n)
	}
}
