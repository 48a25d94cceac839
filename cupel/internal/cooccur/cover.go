package cooccur

import (
	"context"
	"slices"
)

// part is a run of the sets to count, by their most frequent tag.
type part struct {
	tag      uint32
	from, to int
}

// cover counts the peers of some sets among others, 64 at a time. All sets with
// a given tag are peers of each other and need no comparing. So the sets that
// share a set's most frequent tag are covered: their weights are given, for all
// sets and for the long ones, and the set is compared only with the rest. cover
// works part by part, for tags frequent enough to pay for laying out the rest,
// and may divide a part by another tag again. If one tag, or one of a few, is
// in nearly all sets, almost nothing is left to compare.
func (c *Counter) cover(ctx context.Context, limit int, members, among []uint32, covered [2]int) error {
	b := &c.bitSets
	words, longWords := c.layOut(limit, among)
	c.listByTag(among)
	planes := c.fillPlanes(among)
	b.union = sized(b.union, words)
	if err := b.spend(ctx, len(b.lists)*coverCost); err != nil {
		return err
	}
	c.divide(members)
	first, filled := len(b.parts), false
	for from, to := 0, 0; from < len(members); from = to {
		tag := b.keys[from] >> 32
		for to < len(members) && b.keys[to]>>32 == tag {
			members[to] = uint32(b.keys[to])
			to++
		}
		if n := b.starts[tag+1] - b.starts[tag]; coverPays(to-from, n, len(among)) {
			b.parts = append(b.parts, part{uint32(tag), from, to})
			continue
		}
		if !filled {
			filled = true
			c.fillRows(words)
		}
		for _, set := range members[from:to] {
			n, known := words, covered[0]
			if len(c.set(set)) <= limit {
				n, known = longWords, covered[1]
			}
			if err := b.spend(ctx, n*len(c.set(set))); err != nil {
				return err
			}
			c.sharing[set] += known + b.countPeers(set, c.set(set), n, planes)
		}
	}
	// From here on the lists belong to a smaller part.
	for len(b.parts) > first {
		p := b.parts[len(b.parts)-1]
		b.parts = b.parts[:len(b.parts)-1]
		begin, known := len(b.left), covered
		for _, set := range among {
			if _, has := slices.BinarySearch(c.set(set), p.tag); !has {
				b.left = append(b.left, set)
				continue
			}
			known[0] += c.weight[set]
			if len(c.set(set)) > limit {
				known[1] += c.weight[set]
			}
		}
		err := c.cover(ctx, limit, members[p.from:p.to], b.left[begin:], known)
		b.left = b.left[:begin]
		if err != nil {
			return err
		}
	}
	return nil
}

// divide sorts the sets by their most frequent tag among those laid out, as
// keys with the tag above the set.
func (c *Counter) divide(members []uint32) {
	b := &c.bitSets
	b.keys = sized(b.keys, len(members))
	for i, set := range members {
		most, tag := -1, uint32(0)
		for _, id := range c.set(set) {
			if n := b.starts[id+1] - b.starts[id]; n > most {
				most, tag = n, id
			}
		}
		b.keys[i] = uint64(tag)<<32 | uint64(set)
	}
	slices.Sort(b.keys)
}

// coverPays reports whether laying out the sets without a tag is cheaper, for
// members that have the tag, than comparing these members with all n sets, of
// which some have the tag. The tag must remove an eighth, so that all lists
// laid out at a time are at most eight times the first.
func coverPays(members, some, n int) bool {
	return some*8 >= n && members*some > 64*coverCost*n
}

// spend checks the context once every so many steps.
func (b *bitSets) spend(ctx context.Context, steps int) error {
	if b.untilCheck -= steps; b.untilCheck <= 0 {
		b.untilCheck = 64 * checkEvery
		return ctx.Err()
	}
	return nil
}

// countPeers adds up the weights of the sets in the first n words that have one
// of a set's tags. It picks the cheaper of two ways.
func (b *bitSets) countPeers(set uint32, ids []uint32, n, planes int) int {
	listed := 0
	for _, id := range ids {
		listed += b.starts[id+1] - b.starts[id]
	}
	if listed*stepCost < n*(len(ids)+planes) {
		return b.countListed(set, ids, n*64)
	}
	return b.countUnion(ids, b.words, n, planes)
}
