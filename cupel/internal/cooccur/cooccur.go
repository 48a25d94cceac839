// Package cooccur counts, for each member of a list, how many members share a
// tag with it. It knows nothing about what the members are.
//
// Tags compare under ASCII case folding; a tag that a member has twice counts
// once. Members with equal sets of tags share one count, so the work depends on
// the number of different sets:
//
//   - Sets of up to [MaxSubsetTags] tags are counted by inclusion and
//     exclusion over their subsets, in time linear in the number of sets.
//   - Sets with more tags, and short ones while the list is small, are compared
//     with the sets that have one of their tags: one by one, or 64 at a time as
//     bits, where a frequent tag leaves out all that have it; or tag by tag,
//     among the sets that have the tag. See [Counter.cover] and [groups].
//
// Each pass uses the cheapest way. For n different sets of k tags each, where a
// tag is in c sets on average, comparing takes at most on the order of the
// least of k·c, k·n/64 and k²·(1 + c/128) steps a set.
package cooccur

import (
	"context"
	"hash/maphash"
	"math/bits"
	"slices"
	"unsafe"

	"github.com/wollax/cupel-go/cupel/internal/ascii"
)

// MaxSubsetTags is the largest number of distinct tags for which a set may be
// counted through its subsets. Each further tag would double the work and the
// memory.
const MaxSubsetTags = 4

// checkEvery is the number of steps between two checks of the context.
const checkEvery = 1 << 10

// Counter counts one list after another and keeps its memory for the next.
// Start each list with Reset, pass each member's tags to Add and end the member
// with Next, then call Count. The list may have up to 2^32-2 members.
type Counter struct {
	names  []string // by tag number: a spelling of the tag
	tags   table
	recent []spelling // by a hash of where a tag's bytes are
	folded []byte     // the tag being looked up

	ids    []uint32 // tag numbers: those of every set, then of the current member
	ends   []int    // by set number: where its ids end; they begin where those of the set before end
	sets   table
	weight []int    // by set number: how many members have it
	member []uint32 // by member: the number of its set + 1, or 0 without tags

	sharing []int // by set number: how many members share a tag with it

	spread []int    // by tag number: how many sets have it
	parts  []int    // by tag number: of how many sets it is the most frequent tag
	most   []uint32 // by set number: its most frequent tag

	subsets subsets
	bitSets bitSets
	groups  groups
}

// spelling is a tag as given, with its number. Most tags are the same strings
// in memory over and over, and need no look at their bytes.
type spelling struct {
	tag    string
	number uint32
}

// mostRecent is how many spellings a Counter remembers for a long list.
const mostRecent = 1 << 13

// Reset forgets all members and drops every reference to their tags.
func (c *Counter) Reset() {
	clear(c.recent)
	c.recent = c.recent[:0]
	clear(c.names)
	c.names = c.names[:0]
	c.tags.reset()
	c.ids = c.ids[:0]
	c.ends = c.ends[:0]
	c.sets.reset()
	c.weight = c.weight[:0]
	c.member = c.member[:0]
}

// Expect makes room for n members. Call it before the first tag.
func (c *Counter) Expect(n int) {
	c.member = sized(c.member, n)[:0]
	clear(c.recent)
	c.recent = sized(c.recent, min(1<<bits.Len(uint(n)), mostRecent))
}

// Add gives the current member a tag.
func (c *Counter) Add(tag string) {
	if len(c.recent) == 0 {
		c.ids = append(c.ids, c.number(tag))
		return
	}
	at := unsafe.StringData(tag)
	// The upper half of the product has all bits of the address in it.
	hash := uint64(uintptr(unsafe.Pointer(at))) * 0x9e3779b97f4a7c15 >> 32
	recent := &c.recent[hash&uint64(len(c.recent)-1)]
	if at == nil || at != unsafe.StringData(recent.tag) || len(tag) != len(recent.tag) {
		*recent = spelling{tag, c.number(tag)}
	}
	c.ids = append(c.ids, recent.number)
}

// number returns the number of a tag, found by its bytes.
func (c *Counter) number(tag string) uint32 {
	c.folded = ascii.AppendLower(c.folded[:0], tag)
	number, isNew := c.tags.number(maphash.Bytes(seed, c.folded), func(number uint32) bool {
		return ascii.EqualFold(c.names[number], tag)
	})
	if isNew {
		c.names = append(c.names, tag)
	}
	return number
}

// Next ends the current member and begins another one.
func (c *Counter) Next() {
	begin := c.begin(c.sets.len())
	slices.Sort(c.ids[begin:])
	current := slices.Compact(c.ids[begin:])
	if len(current) == 0 {
		c.member = append(c.member, 0)
		return
	}
	hash := uint64(0)
	for _, id := range current {
		hash = mix(hash ^ uint64(id))
	}
	number, isNew := c.sets.number(hash, func(number uint32) bool {
		return slices.Equal(c.set(number), current)
	})
	if isNew {
		begin += len(current)
		c.ends = append(c.ends, begin)
		c.weight = append(c.weight, 0)
	}
	c.ids = c.ids[:begin]
	c.weight[number]++
	c.member = append(c.member, number+1)
}

// begin returns where the ids of a set begin.
func (c *Counter) begin(set int) int {
	if set == 0 {
		return 0
	}
	return c.ends[set-1]
}

// set returns the tags of a set, ascending.
func (c *Counter) set(number uint32) []uint32 {
	return c.ids[c.begin(int(number)):c.ends[number]]
}

// Count counts. It fails only when ctx is done.
func (c *Counter) Count(ctx context.Context) error {
	c.sharing = sized(c.sharing, c.sets.len())
	clear(c.sharing)
	limit, byTag, _ := c.plan()
	if err := c.countSubsets(ctx, limit); err != nil {
		return err
	}
	return c.countBits(ctx, limit, byTag)
}

// Sharing returns how many members share a tag with the given one, itself
// included, or 0 if it has no tags. Count must have succeeded.
func (c *Counter) Sharing(member int) int {
	if set := c.member[member]; set != 0 {
		return c.sharing[set-1]
	}
	return 0
}

// What steps cost, measured in words of a bit set.
const (
	lookupCost = 32  // finding a subset
	stepCost   = 4   // looking at one set in the list of a tag
	coverCost  = 10  // laying out a tag of a set
	memberCost = 120 // looking at a set in the group of a tag
	rowCost    = 16  // finding a row of a group and setting a bit in it
)

// plan returns the cheapest plan for this list: sets of up to limit tags are
// counted through their subsets (0 for none), and byTag says whether all others
// are compared tag by tag. The cost is in words of a bit set.
func (c *Counter) plan() (limit int, byTag bool, cost int) {
	n := c.sets.len()
	c.spread = sized(c.spread, c.tags.len())
	clear(c.spread)
	for _, id := range c.ids[:c.begin(n)] {
		c.spread[id]++
	}
	c.most = sized(c.most, n)
	c.parts = sized(c.parts, c.tags.len())
	clear(c.parts)
	for i := range n {
		ids := c.set(uint32(i))
		c.most[i] = ids[0]
		for _, id := range ids {
			if c.spread[id] > c.spread[c.most[i]] {
				c.most[i] = id
			}
		}
		c.parts[c.most[i]]++
	}
	// By number of tags, with all sizes beyond the limit as one: the number of
	// sets, and the cost of comparing them with all others.
	var sets, whole, groups [MaxSubsetTags + 2]int
	for i := range n {
		ids, listed := c.set(uint32(i)), 0
		for _, id := range ids {
			listed += c.spread[id]
		}
		size := min(len(ids), MaxSubsetTags+1)
		sets[size]++
		// What is left to compare with, without the most frequent tag.
		left, part := n, c.parts[c.most[i]]
		if some := c.spread[c.most[i]]; coverPays(part, some, n) {
			left -= some
			whole[size] += coverCost * len(c.ids) / n * left / part
		}
		whole[size] += min(listed*left/n*stepCost, (len(ids)+1)*(left/64+1))
		// A set's rows are as wide as its groups; half of its tags came before,
		// and these are no rarer.
		groups[size] += len(ids)*memberCost + (len(ids)-1)*(len(ids)*rowCost+listed/128)/2
	}
	least := -1
	long, wholeCost, groupCost := sets[MaxSubsetTags+1], whole[MaxSubsetTags+1], groups[MaxSubsetTags+1]
	for l := MaxSubsetTags; l >= 0; l-- {
		subsets, short, shortByTag := 0, 0, 0
		for size := 1; size <= l; size++ {
			subsets += sets[size] * 2 * lookupCost * (1<<size - size)
			short += whole[size]
			shortByTag += groups[size]
		}
		// Short sets are compared only with the long ones.
		share := float64(long) / float64(max(n, 1))
		compare := wholeCost + int(share*float64(short))
		compareByTag := groupCost + int(share*float64(shortByTag))
		if total := subsets + min(compare, compareByTag); least < 0 || total < least {
			limit, byTag, least = l, compareByTag < compare, total
		}
		long += sets[l]
		wholeCost += whole[l]
		groupCost += groups[l]
	}
	return limit, byTag, least
}
