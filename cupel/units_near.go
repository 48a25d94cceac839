package cupel

import (
	"context"
	"slices"

	"github.com/wollax/cupel-go/cupel/internal/near"
)

// nearCopy says what a candidate is a near copy of.
type nearCopy struct {
	of            int32 // candidate, or none
	shared, total int32 // of its shingles, those that the other has, and all
}

// looksForCopies reports whether near duplicates leave.
func (c *Config) looksForCopies() bool { return c.NearDuplicates > 0 }

// isCopy reports whether a candidate leaves before Deduplicate because a newer
// near copy exists.
func (s *unitSet) isCopy(candidate int) bool {
	return len(s.near) > 0 && s.near[candidate].of != none
}

// leaves reports whether a candidate leaves before Deduplicate.
func (s *unitSet) leaves(candidate int) bool { return s.isOlder(candidate) || s.isCopy(candidate) }

// sameText are the candidates with one content that take part.
type sameText struct {
	newest int32
	copyOf int32 // the sameText that it is a near copy of, or none
	shared int32
	total  int32
}

// resolveCopies finds the near duplicates: what leaves, and what is stale.
//
// It implements NEAR-DUPLICATES of the Units chapter.
func (s *unitSet) resolveCopies(ctx context.Context, config *Config, scratch *unitScratch) error {
	s.near = s.near[:0]
	list, textOf := s.sameTexts(scratch)
	if len(textOf) == 0 {
		return nil
	}
	timed := true
	for i, at := range textOf {
		timed = timed && (at == none || s.items[i].has&hasTimestamp != 0)
	}
	newer := func(a, b int32) bool { // b comes after a
		if !timed {
			return true
		}
		return !s.items[b].timestamp.Before(s.items[a].timestamp)
	}
	for i, at := range textOf {
		if at != none && newer(list[at].newest, int32(i)) {
			list[at].newest = int32(i)
		}
	}
	order := make([]int32, len(list)) // newest first
	for i := range order {
		order[i] = int32(i)
	}
	slices.SortFunc(order, func(a, b int32) int {
		x, y := list[a].newest, list[b].newest
		if (x > y) == newer(min(x, y), max(x, y)) {
			return -1
		}
		return 1
	})
	texts := make([]string, len(list))
	for i, at := range order {
		texts[i] = s.items[list[at].newest].content
	}
	copies, err := near.Find(ctx, texts, config.NearDuplicates, config.AnyNumbers)
	if err != nil {
		return err
	}
	for i, at := range order {
		c := &copies[i]
		if list[at].copyOf = none; c.Of >= 0 {
			list[at].copyOf = order[c.Of]
		}
		list[at].shared, list[at].total = int32(c.Shared), int32(c.Total)
	}
	s.markCopies(list, textOf)
	return nil
}

// sameTexts groups the candidates that take part by content. textOf is none for
// the others, and empty if none takes part.
func (s *unitSet) sameTexts(scratch *unitScratch) (list []sameText, textOf []int32) {
	for i, item := range s.items {
		u := &s.units[s.unitOf[i]]
		if u.out || u.pinned || s.isStale(i) {
			continue
		}
		if len(textOf) > 0 {
			slot := scratch.names.named(item.content, func(at int32) string { return s.items[list[at].newest].content })
			if slot.item == none && !near.Long(item.content) {
				continue
			}
			if slot.item == none {
				slot.item = int32(len(list))
				list = append(list, sameText{newest: int32(i)})
			}
			textOf[i] = slot.item
			continue
		}
		if !near.Long(item.content) {
			continue
		}
		scratch.names.reset(len(s.items))
		textOf = make([]int32, len(s.items))
		for n := range textOf {
			textOf[n] = none
		}
		scratch.names.named(item.content, nil).item = 0
		list, textOf[i] = append(list, sameText{newest: int32(i)}), 0
	}
	return list, textOf
}

// markCopies makes near copies leave if they are lone items, and stale.
func (s *unitSet) markCopies(list []sameText, textOf []int32) {
	unit, other, same := int32(none), int32(none), false // the last two units compared
	for i, at := range textOf {
		if at == none {
			continue
		}
		text := &list[at]
		of, shared := text.newest, text.total
		if text.copyOf != none {
			of, shared = list[text.copyOf].newest, text.shared
		} else {
			if of == int32(i) {
				continue
			}
			// Units with the same contents are left to deduplication.
			if a, b := s.unitOf[i], s.unitOf[of]; a != unit || b != other {
				unit, other, same = a, b, s.sameContents(int(a), int(b))
			}
			if same {
				continue
			}
		}
		if len(s.near) == 0 {
			s.near = resize(s.near, len(s.items))
			for n := range s.near {
				s.near[n] = nearCopy{of: none}
			}
		}
		if len(s.stale) == 0 {
			s.stale = resize(s.stale, len(s.items))
			clear(s.stale)
		}
		s.stale[i] = true
		if !s.units[s.unitOf[i]].group {
			s.near[i] = nearCopy{of, shared, text.total}
		}
	}
}
