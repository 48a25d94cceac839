package slicer

import (
	"math"
	"slices"

	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupel/internal/exact"
)

// Sweep implements [cupel.SweepSlicer] if the inner slicer does, and returns
// nil otherwise. What the entries commit is the same for every target.
func (c *CountQuota) Sweep(items []cupel.ScoredItem) cupel.SliceSweep {
	if c.Validate() != nil {
		return nil
	}
	s := newScratch()
	defer s.free()
	c.numberEntries(s, items)
	spent, err := c.commit(s, items, new(cupel.Selection))
	if err != nil {
		return nil // Slice reports the error at every target
	}
	rest, places := s.rest(items)
	places.head = slices.Clone(places.head)
	following := cupel.Sweep(c.inner, slices.Clone(rest))
	if following == nil {
		return nil
	}
	return &countSweep{
		committed: slices.Clone(s.selected),
		spent:     spent,
		entries:   c.entries,
		counts:    slices.Clone(s.counts[:len(c.entries)]),
		numbers:   slices.Clone(s.numbers),
		places:    places,
		inner:     following,
	}
}

// countSweep follows CountQuota: first what is committed, then the inner
// slicer's list without what exceeds a cap. Whether a position exceeds its cap
// depends only on the positions before it, so what the inner slicer keeps stays
// kept.
type countSweep struct {
	committed []int
	spent     exact.Sum // tokens of what is committed
	entries   []CountQuotaEntry
	counts    []int   // selected by entry
	numbers   []int32 // entry of each item
	places    places  // positions in this slicer's list, of those of the inner slicer
	inner     cupel.SliceSweep

	target int
	list   []innerChoice // the inner slicer's
	kept   int           // how many of them are within their caps
	more   []int
}

type innerChoice struct {
	entry int32
	taken bool
}

// Advance implements [cupel.SliceSweep].
func (s *countSweep) Advance(target int) (keep int, more []int) {
	from := s.target
	s.target, s.more = max(target, 0), s.more[:0]
	if target <= 0 { // nothing is committed
		s.follow(0)
		return 0, nil
	}
	if from == 0 {
		s.more = append(s.more, s.committed...)
	} else {
		keep = len(s.committed)
	}
	keep += s.follow(max(0, exact.Of(target).Minus(s.spent).Int()))
	return keep, s.more
}

// follow lets the inner slicer choose for its own target, adds the new
// positions to s.more, and returns how much of its previous list stays.
func (s *countSweep) follow(target int) (kept int) {
	keep, more := s.inner.Advance(target)
	for _, c := range s.list[keep:] {
		if c.taken {
			s.kept--
			if c.entry != noEntry {
				s.counts[c.entry]--
			}
		}
	}
	s.list = s.list[:keep]
	kept = s.kept
	for _, i := range more {
		i = s.places.of(i)
		c := innerChoice{s.numbers[i], true}
		if c.entry != noEntry {
			if c.taken = s.counts[c.entry] < s.entries[c.entry].CapCount; c.taken {
				s.counts[c.entry]++
			}
		}
		s.list = append(s.list, c)
		if c.taken {
			s.kept++
			s.more = append(s.more, i)
		}
	}
	return kept
}

// Next implements [cupel.SliceSweep].
func (s *countSweep) Next() (int, bool) {
	if s.target == 0 {
		return 1, true
	}
	next, ok := s.inner.Next()
	if !ok {
		return 0, false
	}
	spent := s.spent
	spent.Add(next)
	if spent.Greater(math.MaxInt) {
		return 0, false
	}
	return spent.Int(), true
}
