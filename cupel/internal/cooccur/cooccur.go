// Package cooccur counts, for each member of a list, how many members share a
// tag with it. It knows nothing about what the members are.
//
// Tags compare under ASCII case folding; a tag that a member has twice counts
// once. Members with equal sets of tags share one count, so the work depends on
// the number of different sets. A plain version, which marks all members in the
// list of each tag, takes 4 times as long for 1,000 members with 3 of 50 tags, 13
// times for 10,000 of them, and 64 times for 10,000 with 8 of 50.
package cooccur

import (
	"context"
	"hash/maphash"
	"math/bits"
	"slices"

	"github.com/wollax/cupel-go/cupel/internal/ascii"
)

// Counter counts one list after another and keeps its memory for the next.
// Start each list with Reset, pass each member's tags to Add and end the member
// with Next, then call Count. The list may have up to 2^32-2 members.
type Counter struct {
	recent   []uint32 // by a hash of its spelling: the number of a tag + 1, or 0
	folded   []byte   // the tag being looked up
	names    []string // by tag number: a spelling of the tag
	tagTable table
	ids      []uint32   // tag numbers: those of every set, then of the current member
	begin    int        // where those of the current member begin
	sets     [][]uint32 // by set number: its tags, ascending
	setTable table
	weight   []int    // by set number: how many members have it
	member   []uint32 // by member: the number of its set
	sharing  []int    // by set number: how many members share a tag with it

	bits        bitSets
	subsets     int64    // how many the sets have, those of several counted again
	subsetTable table    // of the larger ones
	count       []int    // by subset number: how many members have all its tags
	current     []uint32 // the subsets of the current set
}

const (
	mostRoom    = 1 << 12 // limits what Reset makes room for, since it clears all of that
	listCost    = 4       // how many words of a row are joined in the time of a set in a list
	subsetCost  = 24      // how many of them in the time of a subset
	mostSubsets = 6       // for each tag, which keeps memory linear; sets of four tags have 4
)

// Reset forgets all members, drops every reference to their tags and makes room
// for n members.
func (c *Counter) Reset(n int) {
	n = min(n, mostRoom)
	c.recent = zeroed(c.recent, 2<<bits.Len(uint(n)))
	clear(c.names)
	c.names, c.ids, c.sets = c.names[:0], c.ids[:0], c.sets[:0]
	c.weight, c.member = c.weight[:0], c.member[:0]
	c.tagTable.reset(n, nil)
	c.setTable.reset(n, nil)
	c.begin, c.subsets = 0, 0
}

// Add gives the current member a tag. Most tags are spelled alike over and over,
// and need no folding.
func (c *Counter) Add(tag string) {
	recent := &c.recent[maphash.String(seed, tag)&uint64(len(c.recent)-1)]
	if *recent == 0 || c.names[*recent-1] != tag {
		c.folded = ascii.AppendLower(c.folded[:0], tag)
		number, isNew := c.tagTable.number(maphash.Bytes(seed, c.folded), func(number uint32) bool {
			return ascii.EqualFold(c.names[number], tag)
		})
		if isNew {
			c.names = append(c.names, tag)
		}
		*recent = number + 1
	}
	c.ids = append(c.ids, *recent-1)
}

// Next ends the current member and begins another one.
func (c *Counter) Next() {
	slices.Sort(c.ids[c.begin:])
	set, hash := slices.Compact(c.ids[c.begin:]), uint64(0)
	for _, tag := range set {
		hash += c.tagTable.hashes[tag]
	}
	number, isNew := c.setTable.number(hash, func(number uint32) bool {
		return slices.Equal(c.sets[number], set)
	})
	if isNew {
		c.sets = append(c.sets, set)
		c.weight = append(c.weight, 0)
		c.begin += len(set)
		c.subsets += 1 << min(len(set), 30)
	}
	c.ids = c.ids[:c.begin]
	c.weight[number] += min(len(set), 1) // members without tags share none
	c.member = append(c.member, number)
}

// Count counts. It fails only when ctx is done.
//
// It compares each set with all others, in at most k·n/64 and at most k·c steps
// for a set of k tags among n different sets, where a tag is in c sets. Or it
// looks at all subsets of each set, in about 2^k steps, if that is faster.
func (c *Counter) Count(ctx context.Context) error {
	c.sharing = zeroed(c.sharing, len(c.sets))
	passes := []func(set int){c.compare}
	if c.layOut() > subsetCost*c.subsets && c.subsets <= mostSubsets*int64(len(c.ids)) {
		c.subsetTable.reset(0, nil)
		c.count = zeroed(c.count, len(c.names)+1)
		passes = []func(set int){c.countSubsets, c.addSubsets}
	}
	for _, pass := range passes {
		for set := range c.sets {
			if set%64 == 0 {
				if err := ctx.Err(); err != nil {
					return err
				}
			}
			pass(set)
		}
	}
	return nil
}

// Sharing returns how many members share a tag with the given one, itself
// included, or 0 if it has no tags. Count must have succeeded.
func (c *Counter) Sharing(member int) int { return c.sharing[c.member[member]] }

// bitSets has every set as a bit. A tag that many sets have is a row of bits; a
// tag that few have is a shorter list of set numbers, which keeps the memory
// linear in the number of tags given.
type bitSets struct {
	words  int      // how many words a row has
	times  []int    // by tag number: how many sets have it
	begin  []int    // by tag number: where its row or list begins
	rows   []uint64 // and lists
	planes []uint64 // plane p has the sets with bit p in their weight
	union  []uint64 // of the current set's rows and lists; otherwise empty
	open   []int    // where the current set's rows begin
}

func (b *bitSets) hasRow(tag uint32) bool   { return b.times[tag]*listCost >= b.words }
func (b *bitSets) list(tag uint32) []uint64 { return b.rows[b.begin[tag]:][:b.times[tag]] }

// layOut makes the rows, lists and planes. It returns how many steps it takes to
// compare all sets with each other.
func (c *Counter) layOut() (steps int64) {
	b, end := &c.bits, 0
	b.words = (len(c.sets) + 63) / 64
	b.times = zeroed(b.times, len(c.names))
	for _, tag := range c.ids {
		b.times[tag]++
	}
	b.begin = b.begin[:0]
	for tag, n := range b.times {
		b.begin = append(b.begin, end)
		size := b.words
		if !b.hasRow(uint32(tag)) {
			size, b.times[tag] = n, 0 // counted again as the list fills
		}
		end += size
		steps += int64(n) * int64(size)
	}
	planes := bits.Len(uint(slices.Max(append(c.weight, 0))))
	b.rows, b.planes = zeroed(b.rows, end), zeroed(b.planes, planes*b.words)
	b.union = zeroed(b.union, b.words)
	for set, tags := range c.sets {
		word, shift := set/64, set%64
		for _, tag := range tags {
			if b.hasRow(tag) {
				b.rows[b.begin[tag]+word] |= 1 << shift
			} else {
				b.rows[b.begin[tag]+b.times[tag]] = uint64(set)
				b.times[tag]++
			}
		}
		for p := range planes {
			b.planes[p*b.words+word] |= uint64(c.weight[set]>>p&1) << shift
		}
	}
	return steps
}

// compare counts the members that share a tag with a set: the weights of all
// sets in its rows and lists.
func (c *Counter) compare(set int) {
	b, tags := &c.bits, c.sets[set]
	b.open = b.open[:0]
	for _, tag := range tags {
		if b.hasRow(tag) {
			b.open = append(b.open, b.begin[tag])
			continue
		}
		for _, other := range b.list(tag) {
			if word, bit := &b.union[other/64], uint64(1)<<(other%64); *word&bit == 0 {
				*word |= bit
				c.sharing[set] += c.weight[other]
			}
		}
	}
	if len(b.open) > 0 {
		c.sharing[set] = b.join()
		clear(b.union)
		return
	}
	for _, tag := range tags {
		for _, other := range b.list(tag) {
			b.union[other/64] = 0
		}
	}
}

// join adds the open rows to the union, four at a time, and adds up the weights
// of all sets in it.
func (b *bitSets) join() (total int) {
	union, last := b.union, len(b.open)-1
	row := func(i int) []uint64 { return b.rows[b.open[min(i, last)]:][:len(union)] }
	for i := 0; i <= last; i += 4 {
		r0, r1, r2, r3 := row(i), row(i+1), row(i+2), row(i+3)
		for w := range union {
			union[w] |= r0[w] | r1[w] | r2[w] | r3[w]
		}
	}
	for p := 0; p*len(union) < len(b.planes); p++ {
		plane, count := b.planes[p*len(union):][:len(union)], 0
		for w, word := range union {
			count += bits.OnesCount64(word & plane[w])
		}
		total += count << p
	}
	return total
}

// subsetsOf returns the numbers of a set's subsets. Bit i of an index stands for
// tag i of the set. The empty subset is 0, and that of one tag has the tag's
// number + 1. A larger one is known by the subset without its greatest tag and
// that tag: different pairs have different hashes.
func (c *Counter) subsetsOf(set int) []uint32 {
	c.current = append(c.current[:0], 0)
	for _, tag := range c.sets[set] {
		for _, rest := range c.current {
			number := tag + 1
			if rest != 0 {
				hash := (uint64(rest)<<32 | uint64(tag)) * secret
				larger, isNew := c.subsetTable.number((hash^hash>>32)*0xc4ceb9fe1a85ec53, nil)
				if isNew {
					c.count = append(c.count, 0)
				}
				number = uint32(1+len(c.names)) + larger
			}
			c.current = append(c.current, number)
		}
	}
	return c.current
}

// countSubsets counts the members with this set in each of its subsets.
func (c *Counter) countSubsets(set int) {
	for _, subset := range c.subsetsOf(set) {
		c.count[subset] += c.weight[set]
	}
}

// addSubsets counts the members that share a tag with this set: those with one
// of its tags, minus those with two of them, plus those with three, and so on.
func (c *Counter) addSubsets(set int) {
	for i, subset := range c.subsetsOf(set)[1:] {
		c.sharing[set] += c.count[subset] * (bits.OnesCount(uint(i+1))%2*2 - 1)
	}
}

// Hashes are seeded, so that an attacker cannot choose tags that collide. The
// seed affects where numbers lie in a table, never the numbers themselves.
var (
	seed   = maphash.MakeSeed()
	secret = maphash.String(seed, "cooccur") | 1
)

// table numbers things in the order in which they first come, and finds the
// number of a known thing by its hash. It holds no reference to the things.
type table struct {
	slots  []uint32 // number + 1, or 0 where free; a power of two of them
	shift  int      // leaves the bits of a hash that choose a slot
	hashes []uint64 // by number
}

// reset makes room for n things, of which those with these hashes come first.
func (t *table) reset(n int, hashes []uint64) {
	log := max(6, bits.Len(uint(2*n)))
	t.shift = 64 - log
	t.slots = zeroed(t.slots, 1<<log)
	t.hashes = t.hashes[:0]
	for _, hash := range hashes {
		t.number(hash, func(uint32) bool { return false })
	}
}

// number returns the number of the thing with this hash for which same holds,
// and gives a new thing the next number. If same is nil, things with equal
// hashes are equal.
func (t *table) number(hash uint64, same func(number uint32) bool) (number uint32, isNew bool) {
	if 2*len(t.hashes) >= len(t.slots) {
		t.reset(2*len(t.hashes)+1, t.hashes)
	}
	i := hash >> t.shift
	for ; t.slots[i] != 0; i = (i + 1) & uint64(len(t.slots)-1) {
		number = t.slots[i] - 1
		if t.hashes[number] == hash && (same == nil || same(number)) {
			return number, false
		}
	}
	t.hashes = append(t.hashes, hash)
	t.slots[i] = uint32(len(t.hashes))
	return t.slots[i] - 1, true
}

// zeroed returns s with length n and only zeros in it.
func zeroed[E any](s []E, n int) []E {
	s = slices.Grow(s[:0], n)[:n]
	clear(s)
	return s
}

// Repeats counts how often each pointer of a list occurs in it. It keeps its
// memory for the next list, but no pointers.
type Repeats[E any] struct {
	slots []uint32 // the last position of a pointer + 1, or 0 where free
	times []uint32 // by slot
	slot  []uint32 // by position
}

// Find counts in a list of up to 2^31 pointers.
func (r *Repeats[E]) Find(list []*E) {
	size := 2 << bits.Len(uint(len(list)))
	r.slots, r.times, r.slot = zeroed(r.slots, size), zeroed(r.times, size), r.slot[:0]
	for i, e := range list {
		slot := maphash.Comparable(seed, e) & uint64(size-1)
		for r.slots[slot] != 0 && list[r.slots[slot]-1] != e {
			slot = (slot + 1) & uint64(size-1)
		}
		r.slots[slot] = uint32(i) + 1
		r.slot = append(r.slot, uint32(slot))
		r.times[slot]++
	}
}

// Times returns how often the pointer at position i occurs.
func (r *Repeats[E]) Times(i int) int { return int(r.times[r.slot[i]]) }
