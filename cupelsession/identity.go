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
	ends  []uint8 // bytes of each key behind its base
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
		if n += large[key]; n == 0 {
			delete(large, key) // so that a list that moves on stays small
		} else {
			large[key] = n
		}
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
// copy, and only items that are new are hashed.
func (c *Config) identify(items []*cupel.ContextItem, before *candidates) *candidates {
	to := &candidates{items: slices.Clone(items)}
	known := map[*cupel.ContextItem]int{} // that have moved
	if before == nil {
		to.count.small = make(map[string]int, len(items))
	} else {
		for to.same < min(len(items), len(before.items)) && items[to.same] == before.items[to.same] {
			to.same++
		}
		to.keys = append(slices.Grow(to.keys, len(items)), before.keys[:to.same]...)
		to.ends = append(slices.Grow(to.ends, len(items)), before.ends[:to.same]...)
		to.tail = append(slices.Grow(to.tail, len(items)), before.tail[:to.same]...)
		to.count, to.sum = before.count.grown(), before.sum
		for i := to.same; i < len(before.items); i++ {
			known[before.items[i]] = i
			to.count.small[before.base(i)]--
			to.sum.add(before.items[i], before.tail[i], -1)
		}
	}
	for _, item := range items[to.same:] {
		var key string
		var tail bool
		if i, ok := known[item]; ok {
			key, tail = before.base(i), before.tail[i]
		} else {
			key, tail = c.base(item), c.Tail != nil && c.Tail(item)
		}
		n := to.count.of(key)
		to.count.small[key]++
		end := ""
		if n > 0 {
			end = "#" + strconv.Itoa(n)
		}
		to.keys = append(to.keys, key+end)
		to.ends = append(to.ends, uint8(len(end)))
		to.tail = append(to.tail, tail)
		to.sum.add(item, tail, 1)
	}
	return to
}

// base returns the key of candidate i without its occurrence.
func (c *candidates) base(i int) string { return c.keys[i][:len(c.keys[i])-int(c.ends[i])] }

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
