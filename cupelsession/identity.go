package cupelsession

import (
	"crypto/sha256"
	"encoding/base64"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/wollax/cupel-go/cupel"
)

// candidates are the items of one turn, with their keys. They are immutable.
type candidates struct {
	items []*cupel.ContextItem // nil after reading from JSON
	keys  []string
	ends  []uint8 // bytes of each key after its base
	tail  []bool
	count map[string]int // items with each base key
	sum   sums
	were  []int32 // where the turn before had each, or -1

	followed bool // the items of the turn before are in the same order, except for a few that are gone
}

// sums are tokens of candidates.
type sums struct{ all, pinned, tailPinned int }

func (s *sums) add(item *cupel.ContextItem, tail bool, sign int) {
	n := sign * max(0, item.Tokens())
	s.all += n
	if item.Pinned() && tail {
		s.tailPinned += n
	} else if item.Pinned() {
		s.pinned += n
	}
}

// identify finds the keys of items, and where the turn before had them. Items at the
// beginning with the same pointers or contents keep the results of that turn, also if a
// few have gone, so that a turn that appends costs only a copy and the new items. Among
// the others, only new items are hashed.
func (c *Config) identify(items []*cupel.ContextItem, before *candidates) *candidates {
	n := len(items)
	to := &candidates{
		items: slices.Clone(items), keys: make([]string, 0, n), ends: make([]uint8, 0, n), tail: make([]bool, 0, n), were: make([]int32, 0, n),
		count: maps.Clone(before.count), sum: before.sum,
	}
	if to.count == nil {
		to.count = make(map[string]int, n)
	}
	gone := before.gone(items)
	first := 0 // whose predecessor differs from the turn before
	for first < min(n, len(before.items)-gone) && c.stands(items[first], before, gone+first) {
		to.take(before, gone+first)
		first++
	}
	to.followed = gone+first == len(before.keys)
	known := map[*cupel.ContextItem]int{}
	places := map[string]int32{}
	for i := range before.keys {
		if gone <= i && i < gone+first {
			continue
		}
		places[before.keys[i]] = int32(i)
		if i < len(before.items) {
			known[before.items[i]] = i
			to.leave(before, i)
		}
	}
	for i, item := range items[first:] {
		if k, ok := known[item]; ok {
			to.add(item, before.base(k), before.tail[k])
		} else {
			to.add(item, c.base(item), c.Tail != nil && c.Tail(item))
		}
		at, moved := places[to.keys[first+i]]
		to.followed = to.followed && !moved
		if !moved || to.tail[first+i] || before.tail[at] {
			at = -1
		}
		to.were = append(to.were, at)
	}
	return to
}

// gone returns how many items at the beginning have gone, if they are few and the keys
// of the others stay.
func (c *candidates) gone(items []*cupel.ContextItem) int {
	const few = 64
	if len(items) == 0 {
		return 0
	}
	n := max(0, slices.Index(c.items[:min(few, len(c.items))], items[0]))
	for i := range n {
		if c.count[c.base(i)] > 1 {
			return 0
		}
	}
	return n
}

// take adds the next item, which the turn before had at a position.
func (c *candidates) take(before *candidates, i int) {
	n := len(c.keys)
	c.keys, c.ends, c.tail, c.were = append(c.keys, before.keys[i]), append(c.ends, before.ends[i]), append(c.tail, before.tail[i]), append(c.were, int32(i))
	if was := before.items[i]; was != c.items[n] {
		c.sum.add(was, before.tail[i], -1)
		c.sum.add(c.items[n], before.tail[i], 1)
	}
}

// leave takes the item that the turn before had at a position out of the sums.
func (c *candidates) leave(before *candidates, i int) {
	base := before.base(i)
	if c.count[base]--; c.count[base] == 0 {
		delete(c.count, base) // so that a list that moves on stays small
	}
	c.sum.add(before.items[i], before.tail[i], -1)
}

// add adds an item whose key differs from before.
func (c *candidates) add(item *cupel.ContextItem, base string, tail bool) {
	end := ""
	// A key that has a # itself always gets a number: "a#1" is the second "a".
	if n := c.count[base]; n > 0 || strings.Contains(base, "#") {
		end = "#" + strconv.Itoa(n)
	}
	c.count[base]++
	c.keys, c.ends, c.tail = append(c.keys, base+end), append(c.ends, uint8(len(end))), append(c.tail, tail)
	c.sum.add(item, tail, 1)
}

// stands reports whether an item is one that the turn before had, maybe with another pin,
// time or forms.
func (c *Config) stands(item *cupel.ContextItem, before *candidates, at int) bool {
	was := before.items[at]
	return item == was || item.Group() == was.Group() && item.Content() == was.Content() && c.base(item) == before.base(at) &&
		(c.Tail != nil && c.Tail(item)) == before.tail[at]
}

// base returns the key of candidate i without its occurrence.
func (c *candidates) base(i int) string { return c.keys[i][:len(c.keys[i])-int(c.ends[i])] }

func (c *Config) base(item *cupel.ContextItem) string {
	if c.Key != nil {
		return c.Key(item)
	}
	return baseKey(item)
}

// baseKey is a hash of an item's contents.
func baseKey(item *cupel.ContextItem) string {
	h := sha256.New()
	h.Write([]byte(item.Kind()))
	h.Write([]byte{0})
	h.Write([]byte(item.Content()))
	return base64.RawURLEncoding.EncodeToString(h.Sum(nil)[:12])
}
