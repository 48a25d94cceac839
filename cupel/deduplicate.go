package cupel

import (
	"context"
	"hash/maphash"
)

// deduplicate is stage 3: of items with the same bytes only the best scored
// goes on, of equal scores the first.
//
// It implements the Deduplicate chapter of the specification.
func (r *run) deduplicate(context.Context) error {
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
	content := func(i int) string { return r.items[r.scoreable[i]].content }
	duplicates := 0
	for i := range r.unique {
		slot := best.find(i, content)
		if *slot == none {
			*slot = int32(i)
			continue
		}
		duplicates++
		// The chapter's comparison: NaN beats nothing, and nothing beats it when
		// it came first.
		if r.scores[i] > r.scores[*slot] {
			*slot = int32(i)
		}
	}
	if duplicates == 0 {
		return nil
	}

	r.unique = r.unique[:0]
	for i := range r.scoreable {
		winner := int(*best.find(i, content))
		if winner == i {
			r.unique = append(r.unique, i)
			continue
		}
		survivor := r.items[r.scoreable[winner]]
		r.exclude(r.scoreable[i], StageDeduplicate, r.scores[i], ExclusionReason{
			Code: Deduplicated, DeduplicatedAgainst: survivor.content, Survivor: survivor,
		})
	}
	r.trace.count = len(r.unique)
	return nil
}

// contentTable maps contents to item numbers: a hash table with open
// addressing whose memory is reused from run to run, where a map would
// allocate anew.
type contentTable struct {
	slots []int32
	seed  maphash.Seed
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
		t.slots[i] = none
	}
}

// find returns the slot of item i's content: empty, or holding an item with
// the same content.
func (t *contentTable) find(i int, content func(int) string) *int32 {
	want := content(i)
	mask := uint64(len(t.slots) - 1)
	for at := maphash.String(t.seed, want) & mask; ; at = (at + 1) & mask {
		slot := &t.slots[at]
		if *slot == none || content(int(*slot)) == want {
			return slot
		}
	}
}
