package cupel

import (
	"context"
	"hash/maphash"
)

// deduplicate is stage 3: among items with the same bytes, only the one with
// the best score stays, or the first of those.
//
// It implements the Deduplicate chapter of the specification.
func (r *run) deduplicate(context.Context) error {
	if r.units != nil {
		r.deduplicateUnits()
		return nil
	}
	r.unique = resize(r.unique, len(r.scoreable))
	for i := range r.unique {
		r.unique[i] = i
	}
	r.trace.count = len(r.unique)
	if r.pipeline.config.KeepDuplicates || len(r.unique) < 2 {
		return nil
	}

	best := &r.hashes
	best.reset(len(r.unique))
	duplicates := 0
	for i := range r.unique {
		slot := best.find(i, r)
		if slot.item == none {
			slot.item = int32(i)
			continue
		}
		duplicates++
		// This is the chapter's comparison: NaN beats nothing, and nothing
		// beats a NaN that came first.
		if r.scores[i] > r.scores[slot.item] {
			slot.item = int32(i)
		}
	}
	if duplicates == 0 {
		return nil
	}

	r.unique = r.unique[:0]
	for i, at := range best.slotOf {
		winner := int(best.slots[at].item)
		if winner == i {
			r.unique = append(r.unique, i)
			continue
		}
		r.exclude(r.scoreable[i], r.scores[i], deduplicated(r.items[r.scoreable[winner]]))
	}
	r.trace.count = len(r.unique)
	return nil
}

// content reads from the candidates, since a scorer may have changed its list.
func (r *run) content(i int) string { return r.items[r.scoreable[i]].content }

// contentTable maps contents to item numbers: a hash table with open
// addressing whose memory is reused from run to run, where a map would
// allocate again.
type contentTable struct {
	slots  []contentSlot
	slotOf []uint32 // by item: its content's slot
	seed   maphash.Seed
}

// contentSlot stores part of the hash with the item, because in a long list
// reading the contents of other items is what costs.
type contentSlot struct {
	hash uint32
	item int32 // or none
}

const none = -1

// reset empties the table and makes room for n contents.
func (t *contentTable) reset(n int) {
	size := 8
	for size < 2*n {
		size *= 2
	}
	if t.slots == nil {
		t.seed = maphash.MakeSeed()
	}
	t.slots = resize(t.slots, size)
	for i := range t.slots {
		t.slots[i] = contentSlot{item: none}
	}
	t.slotOf = resize(t.slotOf, n)
}

// find returns the slot of item i's content, which is empty or holds an item
// with the same content, and remembers it in slotOf.
func (t *contentTable) find(i int, r *run) *contentSlot {
	content := r.content(i)
	hash := maphash.String(t.seed, content)
	short := uint32(hash >> 32)
	mask := uint64(len(t.slots) - 1)
	for at := hash & mask; ; at = (at + 1) & mask {
		slot := &t.slots[at]
		if slot.item == none {
			slot.hash = short
		} else if slot.hash != short || r.content(int(slot.item)) != content {
			continue
		}
		t.slotOf[i] = uint32(at)
		return slot
	}
}

// named returns the slot of a name, which is empty or holds an item with that
// name.
func (t *contentTable) named(name string, nameOf func(item int32) string) *contentSlot {
	at := t.slotAt(maphash.String(t.seed, name), func(item int32) bool { return nameOf(item) == name })
	return &t.slots[at]
}

// slotAt returns the slot for a hash, which is empty or holds an item that is
// the same.
func (t *contentTable) slotAt(hash uint64, same func(item int32) bool) uint32 {
	short := uint32(hash >> 32)
	mask := uint64(len(t.slots) - 1)
	for at := hash & mask; ; at = (at + 1) & mask {
		slot := &t.slots[at]
		if slot.item == none {
			slot.hash = short
		} else if slot.hash != short || !same(slot.item) {
			continue
		}
		return uint32(at)
	}
}
