package cooccur

import (
	"context"
	"math/bits"
)

// bitSets gives every set a bit. Long sets come first and short ones begin at a
// new word, so that the first words hold only long sets. A tag that many sets
// have is a row of their bits; a tag that few sets have is a list of them,
// which keeps memory linear in the number of tags given.
type bitSets struct {
	all    []uint32 // set numbers, of long sets and then of short ones
	bit    []uint32 // by set number, for the sets that are laid out
	words  int      // how many words their bits take
	starts []int    // by tag number: where its list begins; one more for the end
	lists  []uint32 // bits of the sets that have the tag, ascending
	row    []int32  // by tag number: which row it has, or -1
	rows   []uint64
	planes []uint64 // plane p has the bits of the sets with bit p in their weight
	union  []uint64

	weight []int    // by bit: the weight of its set
	seen   []uint32 // by bit: the number + 1 of the last set that it was counted with

	rest       []uint32 // the sets to count
	keys       []uint64
	parts      []part
	left       []uint32 // the sets that are not covered, of every open part
	untilCheck int
}

// countBits counts what countSubsets left: for sets of more than limit tags all
// members, and for the others the members of those longer sets. It compares
// whole sets, or tag by tag.
func (c *Counter) countBits(ctx context.Context, limit int, byTag bool) error {
	b := &c.bitSets
	b.all = sized(b.all, c.sets.len())[:0]
	for _, long := range [...]bool{true, false} {
		for i := range c.sets.len() {
			if (len(c.set(uint32(i))) > limit) == long {
				b.all = append(b.all, uint32(i))
			}
		}
	}
	if len(b.all) == 0 || len(c.set(b.all[0])) <= limit {
		return nil // no long sets
	}
	if byTag {
		_, longWords := c.layOut(limit, b.all)
		c.listByTag(b.all)
		c.fillPlanes(b.all)
		return c.countGroups(ctx, longWords)
	}
	b.rest = append(b.rest[:0], b.all...)
	b.parts = b.parts[:0]
	b.untilCheck = 0
	return c.cover(ctx, limit, b.rest, b.all, [2]int{})
}

// countListed adds up the weights of the sets below the given bit that have one
// of the tags, one set at a time.
func (b *bitSets) countListed(set uint32, ids []uint32, below int) int {
	total := 0
	for _, id := range ids {
		for _, bit := range b.lists[b.starts[id]:b.starts[id+1]] {
			if int(bit) >= below {
				break
			}
			if b.seen[bit] != set+1 {
				b.seen[bit] = set + 1
				total += b.weight[bit]
			}
		}
	}
	return total
}

// countUnion adds up the weights of the sets in the first n words that have one
// of the tags, 64 sets at a time.
func (b *bitSets) countUnion(ids []uint32, words, n, planes int) int {
	union := b.union[:n]
	clear(union)
	for _, id := range ids {
		if row := b.row[id]; row >= 0 {
			for w, word := range b.rows[int(row)*words:][:n] {
				union[w] |= word
			}
			continue
		}
		for _, bit := range b.lists[b.starts[id]:b.starts[id+1]] {
			if int(bit>>6) >= n {
				break
			}
			union[bit>>6] |= 1 << (bit & 63)
		}
	}
	total := 0
	for p := range planes {
		count := 0
		for w, word := range b.planes[p*words:][:n] {
			count += bits.OnesCount64(union[w] & word)
		}
		total += count << p
	}
	return total
}

// layOut gives each of these sets its bit, long ones first. It returns how many
// words all bits take, and how many of them the long sets take.
func (c *Counter) layOut(limit int, among []uint32) (words, longWords int) {
	b := &c.bitSets
	b.bit = sized(b.bit, c.sets.len())
	next, short := 0, false
	for _, set := range among {
		if !short && len(c.set(set)) <= limit {
			short = true
			longWords = (next + 63) / 64
			next = 64 * longWords
		}
		b.bit[set] = uint32(next)
		next++
	}
	words = (next + 63) / 64
	if !short {
		longWords = words
	}
	b.words = words
	return words, longWords
}

// listByTag lists for each tag the bits of these sets that have it, in ascending
// order.
func (c *Counter) listByTag(among []uint32) {
	b, tags := &c.bitSets, c.tags.len()
	b.starts = sized(b.starts, tags+1)
	clear(b.starts)
	for _, set := range among {
		for _, id := range c.set(set) {
			b.starts[id]++
		}
	}
	next := 0
	for id, n := range b.starts {
		b.starts[id] = next
		next += n
	}
	b.lists = sized(b.lists, next)
	for _, set := range among {
		bit := b.bit[set]
		for _, id := range c.set(set) {
			b.lists[b.starts[id]] = bit
			b.starts[id]++
		}
	}
	// Every start has moved to where the next list began.
	copy(b.starts[1:], b.starts[:tags])
	b.starts[0] = 0
}

// fillRows makes a row for each tag that is in at least as many sets as a row
// has words: or-ing the row is then no slower than setting bits one by one.
func (c *Counter) fillRows(words int) {
	b, tags := &c.bitSets, c.tags.len()
	b.row = sized(b.row, tags)
	rows := 0
	for id := range tags {
		b.row[id] = -1
		if b.starts[id+1]-b.starts[id] >= words {
			b.row[id] = int32(rows)
			rows++
		}
	}
	b.rows = sized(b.rows, rows*words)
	clear(b.rows)
	for id := range tags {
		if b.row[id] < 0 {
			continue
		}
		row := b.rows[int(b.row[id])*words:][:words]
		for _, bit := range b.lists[b.starts[id]:b.starts[id+1]] {
			row[bit>>6] |= 1 << (bit & 63)
		}
	}
}

// fillPlanes writes the weights of these sets in binary, by bit, with a plane
// for each binary digit. It returns the number of planes.
func (c *Counter) fillPlanes(among []uint32) int {
	b := &c.bitSets
	words, heaviest := b.words, 0
	for _, set := range among {
		heaviest = max(heaviest, c.weight[set])
	}
	planes := bits.Len(uint(heaviest))
	b.planes = sized(b.planes, planes*words)
	clear(b.planes)
	b.weight = sized(b.weight, 64*words)
	b.seen = sized(b.seen, 64*words)
	clear(b.seen)
	for _, set := range among {
		bit, weight := b.bit[set], c.weight[set]
		b.weight[bit] = weight
		for ; weight != 0; weight &= weight - 1 {
			p := bits.TrailingZeros(uint(weight))
			b.planes[p*words+int(bit>>6)] |= 1 << (bit & 63)
		}
	}
	return planes
}
