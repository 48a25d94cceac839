package slicer

import (
	"math"
	"slices"

	"github.com/wollax/cupel-go/cupel"
)

// Sweep implements [cupel.SweepSlicer] if the inner slicer does for every kind,
// and returns nil otherwise. It works out the shares for each target.
func (q *Quota) Sweep(items []cupel.ScoredItem) cupel.SliceSweep {
	if q.Validate() != nil {
		return nil
	}
	s := newScratch()
	defer s.free()
	s.partition(items)
	sweep := &quotaSweep{quota: q, groups: slices.Clone(s.groups), swept: make([]sweptGroup, len(s.groups))}
	for i, g := range sweep.groups {
		following := cupel.Sweep(narrow(q.inner, g.kind), slices.Clone(s.items[g.start:g.start+g.size]))
		if following == nil {
			return nil
		}
		sweep.swept[i] = sweptGroup{inner: following, positions: slices.Clone(s.positions[g.start : g.start+g.size])}
	}
	return sweep
}

// quotaSweep follows Quota: the lists of the kinds, one after another.
type quotaSweep struct {
	quota  *Quota
	groups []group
	swept  []sweptGroup // parallel to groups
	target int
	more   []int
}

// sweptGroup is the choice of the inner slicer for one kind.
type sweptGroup struct {
	inner     cupel.SliceSweep
	positions []int // in the list of the Quota
	share     int   // the inner target
	list      []int // positions in the list of the Quota
}

// Advance implements [cupel.SliceSweep].
func (s *quotaSweep) Advance(target int) (keep int, more []int) {
	s.target, s.more = max(target, 0), s.more[:0]
	s.quota.distribute(s.groups, s.target)
	changed := false
	for i := range s.swept {
		g := &s.swept[i]
		if changed { // everything after a change moves, and is reported again
			g.advance(s.groups[i].budget.TargetTokens)
			s.more = append(s.more, g.list...)
			continue
		}
		before := len(g.list)
		kept := g.advance(s.groups[i].budget.TargetTokens)
		keep += kept
		s.more = append(s.more, g.list[kept:]...)
		changed = kept < before || kept < len(g.list)
	}
	return keep, s.more
}

// advance moves to a share of the target and returns how much of the list
// stays.
func (g *sweptGroup) advance(share int) (kept int) {
	if share = max(0, share); share == g.share {
		return len(g.list)
	}
	g.share = share
	kept, more := g.inner.Advance(share)
	g.list = g.list[:kept]
	for _, i := range more {
		g.list = append(g.list, g.positions[i])
	}
	return kept
}

// Next implements [cupel.SliceSweep]. Any token more may change a share.
func (s *quotaSweep) Next() (int, bool) { return s.target + 1, s.target < math.MaxInt }
