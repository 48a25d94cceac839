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

// candidates are the items of one turn, with their keys. They never change.
type candidates struct {
	items []*cupel.ContextItem // nil after reading from JSON
	keys  []string
	ends  []uint8 // bytes of each key after its base
	tail  []bool
	count map[string]int // items with each base key
	sum   sums
	same  int     // items at the beginning that the turn before had in the same places
	were  []int32 // where the turn before had each, or -1

	followed bool // all but a few are the same pointers, or say the same, in the same order
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

// identify finds the keys of items, and where the turn before had them. What that
// turn has found about the same pointers is taken over, so that a turn that appends
// costs what it appends and a copy, and only items that are new are hashed.
func (c *Config) identify(items []*cupel.ContextItem, before *candidates) *candidates {
	to := &candidates{items: slices.Clone(items)}
	if len(before.items) > 0 && c.follow(to, before) {
		return to
	}
	for to.same < min(len(items), len(before.items)) && items[to.same] == before.items[to.same] {
		to.same++
	}
	known := make(map[*cupel.ContextItem]int, len(before.items))
	for i, item := range before.items {
		known[item] = i
	}
	to.begin(new(candidates))
	for _, item := range items {
		if i, ok := known[item]; ok {
			to.add(item, before.base(i), before.tail[i])
		} else {
			to.add(item, c.base(item), c.Tail != nil && c.Tail(item))
		}
	}
	to.find(before)
	return to
}

// begin makes room for the keys, and takes over what the turn before counted.
func (c *candidates) begin(before *candidates) {
	n := len(c.items)
	c.keys, c.ends, c.tail = make([]string, 0, n), make([]uint8, 0, n), make([]bool, 0, n)
	c.count, c.sum = maps.Clone(before.count), before.sum
	if c.count == nil {
		c.count = make(map[string]int, n)
	}
}

// take adds the item that the turn before had at a position, with the same key.
func (c *candidates) take(before *candidates, i int) {
	c.keys, c.ends, c.tail = append(c.keys, before.keys[i]), append(c.ends, before.ends[i]), append(c.tail, before.tail[i])
}

// leave takes the item that the turn before had at a position out of the sums.
func (c *candidates) leave(before *candidates, i int) {
	base := before.base(i)
	if c.count[base]--; c.count[base] == 0 {
		delete(c.count, base) // so that a list that moves on stays small
	}
	c.sum.add(before.items[i], before.tail[i], -1)
}

// find finds by key where the turn before had each item that is not of the tail.
func (c *candidates) find(before *candidates) {
	places := make(map[string]int32, len(before.keys))
	for i, key := range before.keys {
		if !before.tail[i] {
			places[key] = int32(i)
		}
	}
	c.were = make([]int32, len(c.keys))
	for i, key := range c.keys {
		c.were[i] = -1
		if at, ok := places[key]; ok && !c.tail[i] {
			c.were[i] = at
		}
	}
}

// add adds an item that has not the same key as before.
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

// follow sets the candidates from those of the turn before, when few items came
// and went, the others are the same pointers or say the same in the same order, and no
// key changes hands. It reports false, and changes nothing, for all other lists.
func (c *Config) follow(to, before *candidates) bool {
	const few = 64
	from := make([]int32, len(to.items))
	var gone []int32
	at, last, added := 0, -1, 0
next:
	for i, item := range to.items {
		for k := at; k <= min(at+few, len(before.items)-1); k++ {
			if before.items[k] != item {
				continue
			}
			for ; at < k; at++ {
				gone = append(gone, int32(at))
			}
			from[i], last = int32(k), i
			at++
			continue next
		}
		if at < len(before.items) && c.stands(item, before, at) {
			from[i], last = int32(at), i
			at++
			continue
		}
		from[i] = -1
		if added++; added > few && at < len(before.items) {
			return false
		}
	}
	for ; at < len(before.items); at++ {
		if gone = append(gone, int32(at)); len(gone) > few {
			return false
		}
	}
	left := map[string]bool{} // keys that are free now
	for _, i := range gone {
		base := before.base(int(i))
		if before.count[base] > 1 {
			return false // the next of them gets the key
		}
		left[base] = true
	}
	bases := make([]string, 0, added)
	for i, item := range to.items {
		if from[i] >= 0 {
			continue
		}
		base := c.base(item)
		if left[base] || i < last && before.count[base] > 0 {
			return false
		}
		bases = append(bases, base)
	}
	to.begin(before)
	for _, i := range gone {
		to.leave(before, int(i))
	}
	for i, item := range to.items {
		if k := from[i]; k >= 0 {
			to.take(before, int(k))
			if was := before.items[k]; was != item {
				to.sum.add(was, before.tail[k], -1)
				to.sum.add(item, before.tail[k], 1)
			} else if to.same == i && int(k) == i {
				to.same++
			}
			continue
		}
		to.add(item, bases[0], c.Tail != nil && c.Tail(item))
		bases = bases[1:]
	}
	to.were, to.followed = from, true
	return true
}

// stands reports whether an item is one that the turn before had, with another pin, time
// or forms.
func (c *Config) stands(item *cupel.ContextItem, before *candidates, at int) bool {
	was := before.items[at]
	return item.Group() == was.Group() && item.Content() == was.Content() && c.base(item) == before.base(at) &&
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

// baseKey is a hash of what an item says.
func baseKey(item *cupel.ContextItem) string {
	h := sha256.New()
	h.Write([]byte(item.Kind()))
	h.Write([]byte{0})
	h.Write([]byte(item.Content()))
	return base64.RawURLEncoding.EncodeToString(h.Sum(nil)[:12])
}
