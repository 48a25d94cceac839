package engine

import "hash/maphash"

// contentTable maps texts to numbers: a hash table with open addressing whose
// memory is reused from run to run, where a map would allocate again.
type contentTable struct {
	slots []contentSlot
	seed  maphash.Seed
}

// contentSlot stores part of the hash with the number, because in a long list
// reading the texts of others is what costs.
type contentSlot struct {
	hash uint32
	item int32 // or None
}

// reset empties the table and makes room for n texts.
func (t *contentTable) reset(n int) {
	size := 8
	for size < 2*n {
		size *= 2
	}
	if t.slots == nil {
		t.seed = maphash.MakeSeed()
	}
	t.slots = filled(t.slots, size, contentSlot{item: None})
}

// named returns the slot of a text, which is empty or holds the number of one with
// that text.
func (t *contentTable) named(text string, textOf func(item int32) string) *contentSlot {
	return &t.slots[t.find(t.hash(text), func(item int32) bool { return textOf(item) == text })]
}

func (t *contentTable) hash(text string) uint64 { return maphash.String(t.seed, text) }

// find returns the position of the slot for a hash, which is empty or holds a
// number that is the same.
func (t *contentTable) find(hash uint64, same func(item int32) bool) uint32 {
	short := uint32(hash >> 32)
	mask := uint64(len(t.slots) - 1)
	for at := hash & mask; ; at = (at + 1) & mask {
		slot := &t.slots[at]
		if slot.item == None {
			slot.hash = short
		} else if slot.hash != short || !same(slot.item) {
			continue
		}
		return uint32(at)
	}
}
