package cupelsession

import (
	"crypto/sha256"
	"encoding/base64"
	"maps"
	"slices"
	"strconv"

	"github.com/wollax/cupel-go/cupel"
)

// candidates are the items of one turn, with their keys. They never change.
type candidates struct {
	items []*cupel.ContextItem
	keys  []string
	tail  []bool
	count counts
	sum   sums
	same  int // items at the beginning that the turn before had in the same places
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

// counts says how many items have a base key. Turns share the large map and copy
// the small one.
type counts struct{ large, small map[string]int }

func (c counts) of(key string) int { return c.large[key] + c.small[key] }

// grown returns counts that the caller may add to, in small.
func (c counts) grown() counts {
	if len(c.small) <= 64+len(c.large)/8 {
		return counts{c.large, cloned(c.small)}
	}
	large := maps.Clone(c.large)
	if large == nil {
		large = make(map[string]int, len(c.small))
	}
	for key, n := range c.small {
		large[key] += n
	}
	return counts{large, map[string]int{}}
}

func cloned(m map[string]int) map[string]int {
	if m == nil {
		return map[string]int{}
	}
	return maps.Clone(m)
}

// identify finds the keys of items. What the turn before has found about the same
// pointers is taken over, so that a turn that appends costs what it appends and a
// copy.
func (c *Config) identify(items []*cupel.ContextItem, before *candidates) *candidates {
	to := &candidates{items: slices.Clone(items)}
	if before != nil {
		for to.same < min(len(items), len(before.items)) && items[to.same] == before.items[to.same] {
			to.same++
		}
		to.keys, to.tail = slices.Grow(to.keys, len(items)), slices.Grow(to.tail, len(items))
		to.keys, to.tail = append(to.keys, before.keys[:to.same]...), append(to.tail, before.tail[:to.same]...)
	}
	if before == nil {
		to.count.small = make(map[string]int, len(items))
	} else {
		to.count, to.sum = before.count.grown(), before.sum
		for i, item := range before.items[to.same:] {
			to.count.small[c.base(item)]--
			to.sum.add(item, before.tail[to.same+i], -1)
		}
	}
	for _, item := range items[to.same:] {
		key := c.base(item)
		n := to.count.of(key)
		to.count.small[key]++
		if n > 0 {
			key += "#" + strconv.Itoa(n)
		}
		to.keys = append(to.keys, key)
		tail := c.Tail != nil && c.Tail(item)
		to.tail = append(to.tail, tail)
		to.sum.add(item, tail, 1)
	}
	return to
}

func (c *Config) base(item *cupel.ContextItem) string {
	if c.Key != nil {
		return c.Key(item)
	}
	return baseKey(item)
}

// baseKey is a hash of what an item says.
func baseKey(item *cupel.ContextItem) string {
	h := sha256.New()
	h.Write([]byte(item.Kind()))
	h.Write([]byte{0})
	h.Write([]byte(item.Content()))
	return base64.RawURLEncoding.EncodeToString(h.Sum(nil)[:12])
}
