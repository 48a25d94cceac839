package cooccur

import (
	"context"
	"math/bits"
)

// subsets numbers the subsets of short sets. A subset of one tag has the tag's
// own number. A larger one is the subset without its greatest tag, plus that
// tag; the pair of numbers is an exact key of 64 bits. Its number comes after
// those of all tags.
type subsets struct {
	larger table
	count  []int // by subset number: the members that have all its tags
}

// numbers finds the number of every subset of ids, which are ascending and at
// most MaxSubsetTags. Bit i of an index of the result stands for ids[i].
func (s *subsets) numbers(ids []uint32, tags int, numbers *[1 << MaxSubsetTags]uint32) {
	for subset := 1; subset < 1<<len(ids); subset++ {
		greatest := bits.Len(uint(subset)) - 1
		rest := subset ^ 1<<greatest
		if rest == 0 {
			numbers[subset] = ids[greatest]
			continue
		}
		key := uint64(numbers[rest])<<32 | uint64(ids[greatest])
		number, isNew := s.larger.number(mix(key), nil)
		numbers[subset] = uint32(tags) + number
		if isNew {
			s.count = append(s.count, 0)
		}
	}
}

// countSubsets counts, for each set of at most limit tags, the members of such
// sets that share a tag with it, and adds them to its count. By inclusion and
// exclusion over its subsets, these are the members with one of its tags, minus
// those with two of them, plus those with three, and so on.
func (c *Counter) countSubsets(ctx context.Context, limit int) error {
	if limit == 0 {
		return nil
	}
	s, tags := &c.subsets, c.tags.len()
	s.larger.reset()
	s.count = sized(s.count, tags)
	clear(s.count)
	var numbers [1 << MaxSubsetTags]uint32
	for pass := range 2 {
		for i := range c.sharing {
			if i%checkEvery == 0 && ctx.Err() != nil {
				return ctx.Err()
			}
			ids := c.set(uint32(i))
			if len(ids) > limit {
				continue
			}
			s.numbers(ids, tags, &numbers)
			for subset := 1; subset < 1<<len(ids); subset++ {
				n := numbers[subset]
				switch {
				case pass == 0:
					s.count[n] += c.weight[i]
				case bits.OnesCount(uint(subset))%2 == 1:
					c.sharing[i] += s.count[n]
				default:
					c.sharing[i] -= s.count[n]
				}
			}
		}
	}
	return nil
}
