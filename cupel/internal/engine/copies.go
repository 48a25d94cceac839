package engine

import (
	"context"
	"slices"

	"github.com/wollax/cupel-go/cupel/internal/near"
)

// nearCopy records what a candidate is a near copy of.
type nearCopy struct {
	of            Candidate // or None
	shared, total int32     // of its shingles, those that the other has, and all
}

// sameText are the candidates with one text that take part.
type sameText struct {
	newest        Candidate
	copyOf        *sameText // what it is a near copy of, or nil
	shared, total int32
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
	for i, text := range textOf {
		if text != nil && newer(text.newest, Candidate(i)) {
			text.newest = Candidate(i)
		}
	}
	slices.SortFunc(list, func(a, b *sameText) int { // newest first
		x, y := a.newest, b.newest
		if (x > y) == newer(min(x, y), max(x, y)) {
			return -1
		}
		return 1
	})
	texts := make([]string, len(list))
	for i, text := range list {
		texts[i] = s.Contents[text.newest]
	}
	copies, err := near.Find(ctx, texts, threshold)
	if err != nil {
		return err
	}
	for i, c := range copies {
		if c.Of >= 0 {
			list[i].copyOf = list[c.Of]
		}
		list[i].shared, list[i].total = int32(c.Shared), int32(c.Total)
	}
	s.markCopies(textOf)
	return nil
}

// inTime returns a function that reports whether b, which comes after a, is newer:
// by time if all that take part have one, and by position otherwise.
func (s *Set) inTime(textOf []*sameText) func(a, b Candidate) bool {
	for i, text := range textOf {
		if text != nil && !s.Links[i].Timed {
			return func(_, _ Candidate) bool { return true }
		}
	}
	return func(a, b Candidate) bool { return !s.Links[b].Time.Before(s.Links[a].Time) }
}

// sameTexts groups the candidates that take part by text. textOf is nil for the
// others.
func (s *Set) sameTexts() (list, textOf []*sameText) {
	textOf = make([]*sameText, len(s.Contents))
	s.names.reset(len(s.Contents))
	for i, content := range s.Contents {
		if u := &s.units[s.unitOf[i]]; u.out || u.pinned || s.IsStale(Candidate(i)) || !near.Long(content) {
			continue
		}
		slot := s.names.named(content, func(at int32) string { return s.Contents[list[at].newest] })
		if slot.item == None {
			slot.item = int32(len(list))
			list = append(list, &sameText{newest: Candidate(i)})
		}
		textOf[i] = list[slot.item]
	}
	return list, textOf
}

// markCopies makes near copies leave if they are lone, and stale.
func (s *Set) markCopies(textOf []*sameText) {
	a, b, same := Unit(None), Unit(None), false // the last two units compared: groups have many members
	for i, text := range textOf {
		if text == nil {
			continue
		}
		of, shared := text.newest, text.total
		if text.copyOf != nil {
			of, shared = text.copyOf.newest, text.shared
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
	return s.IsGroup(a) == s.IsGroup(b) && slices.EqualFunc(s.Members(a), s.Members(b), func(a, b Candidate) bool {
		return s.Contents[a] == s.Contents[b]
	})
}
