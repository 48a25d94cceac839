package engine

import (
	"context"
	"slices"

	"github.com/wollax/cupel-go/cupel/internal/near"
)

// nearCopy says what a candidate is a near copy of.
type nearCopy struct {
	of            Candidate // or None
	shared, total int32     // of its shingles, those that the other has, and all
}

// sameText are the candidates with one text that take part.
type sameText struct {
	newest Candidate
	copyOf int32 // the sameText that it is a near copy of, or None
	shared int32
	total  int32
}

// resolveCopies finds the near duplicates: what leaves, and what is stale.
//
// It implements NEAR-DUPLICATES of the Units chapter.
func (s *Set) resolveCopies(ctx context.Context, threshold float64) error {
	list, textOf := s.sameTexts()
	if len(list) == 0 {
		return nil
	}
	newer := s.inTime(textOf)
	for i, at := range textOf {
		if at != None && newer(list[at].newest, Candidate(i)) {
			list[at].newest = Candidate(i)
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
		texts[i] = s.Contents[list[at].newest]
	}
	copies, err := near.Find(ctx, texts, threshold)
	if err != nil {
		return err
	}
	for i, at := range order {
		c := &copies[i]
		if list[at].copyOf = None; c.Of >= 0 {
			list[at].copyOf = order[c.Of]
		}
		list[at].shared, list[at].total = int32(c.Shared), int32(c.Total)
	}
	s.markCopies(list, textOf)
	return nil
}

// inTime returns a function that reports whether b, which comes after a, is newer:
// by time if all that take part have one, and by position otherwise.
func (s *Set) inTime(textOf []int32) func(a, b Candidate) bool {
	for i, at := range textOf {
		if at != None && !s.Links[i].Timed {
			return func(_, _ Candidate) bool { return true }
		}
	}
	return func(a, b Candidate) bool { return !s.Links[b].Time.Before(s.Links[a].Time) }
}

// sameTexts groups the candidates that take part by text. textOf is None for the
// others.
func (s *Set) sameTexts() (list []sameText, textOf []int32) {
	textOf = filled(textOf, len(s.Contents), int32(None))
	s.names.reset(len(s.Contents))
	for i, content := range s.Contents {
		if u := &s.units[s.unitOf[i]]; u.out || u.pinned || s.IsStale(Candidate(i)) || !near.Long(content) {
			continue
		}
		slot := s.names.named(content, func(at int32) string { return s.Contents[list[at].newest] })
		if slot.item == None {
			slot.item = int32(len(list))
			list = append(list, sameText{newest: Candidate(i)})
		}
		textOf[i] = slot.item
	}
	return list, textOf
}

// markCopies makes near copies leave if they are lone, and stale.
func (s *Set) markCopies(list []sameText, textOf []int32) {
	a, b, same := Unit(None), Unit(None), false // the last two units compared: groups have many members
	for i, at := range textOf {
		if at == None {
			continue
		}
		text := &list[at]
		of, shared := text.newest, text.total
		if text.copyOf != None {
			of, shared = list[text.copyOf].newest, text.shared
		} else {
			if x, y := s.unitOf[i], s.unitOf[of]; x != a || y != b {
				a, b, same = x, y, s.sameContents(x, y)
			}
			if same {
				continue // units with the same contents are left to deduplication
			}
		}
		if len(s.copies) == 0 {
			s.copies = filled(s.copies, len(s.Contents), nearCopy{of: None})
		}
		if len(s.stale) == 0 {
			s.stale = filled(s.stale, len(s.Contents), false)
		}
		s.stale[i] = true
		if !s.units[s.unitOf[i]].group {
			s.copies[i] = nearCopy{of, shared, text.total}
		}
	}
}

// sameContents reports whether two units are both groups or both lone, and have
// the same texts in the same order.
func (s *Set) sameContents(a, b Unit) bool {
	x, y := &s.units[a], &s.units[b]
	return x.group == y.group && slices.EqualFunc(s.membersOf(x), s.membersOf(y), func(a, b Candidate) bool {
		return s.Contents[a] == s.Contents[b]
	})
}
