package cooccur

import (
	"context"
	"math/bits"
	"slices"
)

// bitSets gives every set a bit. Long sets come first and short ones begin at a
// new word, so that the long ones alone are the first words. A tag that many
// sets have is a row with their bits; a tag that few have is a list of them,
// so that memory stays linear in the number of tags given.
type bitSets struct {
	bit    []uint32 // by set number
	starts []int    // by tag number: where its list begins; one more for the end
	lists  []uint32 // bits of the sets that have the tag, ascending
	row    []int32  // by tag number: which row it has, or -1
	rows   []uint64
	planes []uint64 // plane p has the bits of the sets with bit p in their weight
	union  []uint64

	weight []int    // by bit: the weight of its set
	seen   []uint32 // by bit: the number + 1 of the last set that was counted with it
}

// countBits counts what countSubsets left: for sets of more than limit tags
// all members, and for the others the members of the former sets. It compares
// whole sets, or tag by tag.
func (c *Counter) countBits(ctx context.Context, limit int, byTag bool) error {
	words, longWords := c.layOut(limit)
	if longWords == 0 {
		return nil
	}
	c.listByTag(limit)
	planes := c.fillPlanes(words)
	if byTag {
		return c.countGroups(ctx, longWords)
	}
	c.fillRows(words)
	return c.compareWhole(ctx, limit, words, longWords, planes)
}

// compareWhole compares each set with all others at a time.
func (c *Counter) compareWhole(ctx context.Context, limit, words, longWords, planes int) error {
	b := &c.bitSets
	b.union = sized(b.union, words)
	untilCheck := 0
	for i := range c.sharing {
		ids, n := c.set(uint32(i)), words
		if len(ids) <= limit {
			n = longWords
		}
		if untilCheck -= n * len(ids); untilCheck <= 0 {
			if ctx.Err() != nil {
				return ctx.Err()
			}
			untilCheck = 64 * checkEvery
		}
		listed := 0
		for _, id := range ids {
			listed += b.starts[id+1] - b.starts[id]
		}
		if listed*stepCost < n*(len(ids)+planes) {
			c.sharing[i] += b.countListed(uint32(i), ids, n*64)
		} else {
			c.sharing[i] += b.countUnion(ids, words, n, planes)
		}
	}
	return nil
}

// countListed adds up the weights of the sets below the given bit that have
// one of the tags, by looking at each.
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

// layOut gives every set its bit and returns how many words all bits take, and
// how many the long sets alone take.
func (c *Counter) layOut(limit int) (words, longWords int) {
	b := &c.bitSets
	b.bit = sized(b.bit, c.sets.len())
	next := 0
	for i := range b.bit {
		if len(c.set(uint32(i))) > limit {
			b.bit[i] = uint32(next)
			next++
		}
	}
	longWords = (next + 63) / 64
	next = longWords * 64
	for i := range b.bit {
		if len(c.set(uint32(i))) <= limit {
			b.bit[i] = uint32(next)
			next++
		}
	}
	return (next + 63) / 64, longWords
}

// listByTag lists for each tag the bits of the sets that have it: long sets
// first, then short ones, which is in ascending order.
func (c *Counter) listByTag(limit int) {
	b, tags := &c.bitSets, c.tags.len()
	b.starts = sized(b.starts, tags+1)
	clear(b.starts)
	total := c.begin(c.sets.len())
	for _, id := range c.ids[:total] {
		b.starts[id]++
	}
	next := 0
	for id, n := range b.starts {
		b.starts[id] = next
		next += n
	}
	b.lists = sized(b.lists, total)
	for _, long := range [...]bool{true, false} {
		for i, bit := range b.bit {
			ids := c.set(uint32(i))
			if (len(ids) > limit) != long {
				continue
			}
			for _, id := range ids {
				b.lists[b.starts[id]] = bit
				b.starts[id]++
			}
		}
	}
	// Every start has moved on to where the next one began.
	copy(b.starts[1:], b.starts[:tags])
	b.starts[0] = 0
}

// fillRows makes a row for each tag that at least as many sets have as a row
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

// fillPlanes writes the weights of all sets, by bit and in binary with a plane
// for each binary digit, and returns how many planes there are.
func (c *Counter) fillPlanes(words int) int {
	b := &c.bitSets
	planes := bits.Len(uint(slices.Max(c.weight)))
	b.planes = sized(b.planes, planes*words)
	clear(b.planes)
	b.weight = sized(b.weight, 64*words)
	b.seen = sized(b.seen, 64*words)
	clear(b.seen)
	for i, weight := range c.weight {
		bit := b.bit[i]
		b.weight[bit] = weight
		for ; weight != 0; weight &= weight - 1 {
			p := bits.TrailingZeros(uint(weight))
			b.planes[p*words+int(bit>>6)] |= 1 << (bit & 63)
		}
	}
	return planes
}
