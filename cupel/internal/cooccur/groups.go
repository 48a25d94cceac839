package cooccur

import (
	"cmp"
	"context"
	"math/bits"
	"slices"
)

// groups counts a set's peers tag by tag: first those that share the set's most
// frequent tag, then those that share the second and not the first, and so on.
// The sets with a tag are its group. Within a group, every earlier tag is a row
// of bits, one for each set of the group, and the union of a set's rows holds
// the peers counted before.
//
// Going from frequent tags to rare ones saves both time and memory. Wide rows,
// those of large groups, are or-ed only for the few tags that are still more
// frequent. And there are never more rows than such tags, so all rows of a
// group take at most one bit for each tag in the list, and one more row.
type groups struct {
	order []uint32  // tag numbers, the most frequent one first
	sets  []counted // by bit
	done  []uint32  // the tags of each set handled before

	// The current group. Its long sets come first, and its short ones begin at
	// a new word.
	words, longWords int
	planes           int
	members          []member
	tags             []uint32 // of each member in turn: tags handled before, then their rows
	times            []uint32 // by tag number: how many members have it, then where its row begins
	used             []uint32 // the tags handled before in any of its sets
	rows             []uint64 // the first is scratch, the second is empty
	weights          []uint64 // plane p has the members with bit p in their weight
	union            []uint64
}

// counted is a set and what is known about it so far.
type counted struct {
	begin, next int // where its tags in done begin, and where its next one goes
	weight      int
	sharing     int
}

// member is a set in the current group.
type member struct {
	set, bit    uint32 // its bits in the list and in the group
	begin, next int    // as in counted
	end         int    // where its tags end
}

// unroll is how many rows are or-ed at a time.
const unroll = 4

// countGroups counts what compareWhole counts, for a list that layOut,
// listByTag and fillPlanes have prepared.
func (c *Counter) countGroups(ctx context.Context, longWords int) error {
	g, b := &c.groups, &c.bitSets
	c.orderTags()
	g.sets = sized(g.sets, len(b.weight))
	for i, bit := range b.bit {
		begin := c.begin(i)
		g.sets[bit] = counted{begin, begin, b.weight[bit], 0}
	}
	g.done = sized(g.done, c.begin(len(b.bit)))
	g.times = sized(g.times, len(g.order)+1) // one more for no tag
	clear(g.times)
	untilCheck := 0
	for _, tag := range g.order {
		group := b.lists[b.starts[tag]:b.starts[tag+1]]
		g.place(group, uint32(64*longWords))
		g.collect(tag)
		g.fillRows()
		from := 0
		for _, m := range g.members {
			n := g.words
			if m.bit >= uint32(64*g.longWords) {
				n = g.longWords // short sets are compared only with the long ones
			}
			if untilCheck -= n*(m.end-from+g.planes) + 1; untilCheck <= 0 {
				if ctx.Err() != nil {
					return ctx.Err()
				}
				untilCheck = 64 * checkEvery
			}
			g.sets[m.set].sharing += g.countNew(m, g.tags[from:m.end], n)
			from = m.end
		}
	}
	for i, bit := range b.bit {
		c.sharing[i] += g.sets[bit].sharing
	}
	return nil
}

// orderTags sorts the tags by the number of their sets, largest first.
func (c *Counter) orderTags() {
	g, b := &c.groups, &c.bitSets
	g.order = sized(g.order, c.tags.len())
	for id := range g.order {
		g.order[id] = uint32(id)
	}
	sets := func(id uint32) int { return b.starts[id+1] - b.starts[id] }
	slices.SortFunc(g.order, func(x, y uint32) int {
		return cmp.Or(cmp.Compare(sets(y), sets(x)), cmp.Compare(x, y))
	})
}

// place gives every member of a group its bit and writes the members' weights.
func (g *groups) place(group []uint32, shortFrom uint32) {
	g.members = sized(g.members, len(group))
	next, heaviest, short := 0, 0, false
	for i, bit := range group {
		if !short && bit >= shortFrom {
			short = true
			g.longWords = (next + 63) / 64
			next = 64 * g.longWords
		}
		set := &g.sets[bit]
		g.members[i] = member{bit, uint32(next), set.begin, set.next, 0}
		set.next++
		heaviest = max(heaviest, set.weight)
		next++
	}
	g.words = (next + 63) / 64
	if !short {
		g.longWords = g.words
	}
	g.planes = bits.Len(uint(heaviest))
	g.weights = sized(g.weights, g.planes*g.words)
	clear(g.weights)
	for i, bit := range group {
		at := g.members[i].bit
		for weight := g.sets[bit].weight; weight != 0; weight &= weight - 1 {
			p := bits.TrailingZeros(uint(weight))
			g.weights[p*g.words+int(at>>6)] |= 1 << (at & 63)
		}
	}
}

// collect gathers the tags of all members that were handled before, and then
// adds the current tag to them.
func (g *groups) collect(tag uint32) {
	// The sets are scattered over memory. Writing to all of them first lets the
	// processor fetch many at a time; copying one by one would wait for each.
	size := 0
	for i := range g.members {
		m := &g.members[i]
		g.done[m.next] = tag
		size += m.next - m.begin + unroll - 1
	}
	g.tags = sized(g.tags, size)
	none, n := uint32(len(g.order)), 0
	for i := range g.members {
		m := &g.members[i]
		n += copy(g.tags[n:], g.done[m.begin:m.next])
		for ; n%unroll != 0; n++ {
			g.tags[n] = none
		}
		m.end = n
	}
	g.tags = g.tags[:n]
}

// fillRows makes a row for each tag that was handled before and that at least
// two members have, and replaces the members' tags by their rows. A tag of only
// one member says nothing about the others.
func (g *groups) fillRows() {
	// Nothing here branches on how often a tag came: that cannot be predicted.
	times := g.times
	g.used = sized(g.used, len(g.tags)+1)
	used := 0
	for _, tag := range g.tags {
		g.used[used] = tag
		n := times[tag]
		if n == 0 {
			used++
		}
		times[tag] = n + 1
	}
	times[len(times)-1] = 0
	words := uint32(g.words)
	next := 2 * words
	for _, tag := range g.used[:used] {
		at := uint32(0)
		if times[tag] > 1 {
			at = next
			next += words
		}
		times[tag] = at
	}
	g.rows = sized(g.rows, int(next))
	rows := g.rows
	clear(rows)
	from, to := 0, 0
	for i := range g.members {
		m := &g.members[i]
		word, mask := m.bit>>6, uint64(1)<<(m.bit&63)
		for _, tag := range g.tags[from:m.end] {
			row := times[tag]
			rows[row+word] |= mask
			g.tags[to] = row
			if row != 0 {
				to++
			}
		}
		for to%unroll != 0 {
			g.tags[to] = words
			to++
		}
		from, m.end = m.end, to
	}
	for _, tag := range g.used[:used] {
		times[tag] = 0
	}
}

// countNew adds up the weights of the members in the first n words that are in
// none of a member's rows. The member itself is new only in the first of its
// groups.
func (g *groups) countNew(m member, rows []uint32, n int) int {
	g.union = sized(g.union, n)
	union := g.union
	clear(union)
	for ; len(rows) >= unroll; rows = rows[unroll:] {
		r0 := g.rows[rows[0]:][:len(union)]
		r1 := g.rows[rows[1]:][:len(union)]
		r2 := g.rows[rows[2]:][:len(union)]
		r3 := g.rows[rows[3]:][:len(union)]
		for w := range union {
			union[w] |= r0[w] | r1[w] | r2[w] | r3[w]
		}
	}
	if word := int(m.bit >> 6); m.next > m.begin && word < n {
		union[word] |= 1 << (m.bit & 63)
	}
	total := 0
	for p := range g.planes {
		count := 0
		plane := g.weights[p*g.words:][:len(union)]
		for w, seen := range union {
			count += bits.OnesCount64(plane[w] &^ seen)
		}
		total += count << p
	}
	return total
}
