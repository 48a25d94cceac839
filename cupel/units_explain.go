package cupel

import (
	"context"
	"slices"
)

// explainUnit is explain for candidates with units. An answer about a unit
// holds for each of its members.
func (r *run) explainUnit(ctx context.Context, candidate int) (Obstacle, error) {
	u := r.units
	at, wanted := -1, u.unitOf[candidate]
	for i := range u.sorted {
		if u.sorted[i].unit == wanted {
			at = i
		}
	}
	older := u.isOlder(candidate)
	if at < 0 && !older {
		return Obstacle{}, nil
	}
	if err := r.slice(ctx); err != nil {
		return Obstacle{}, err
	}
	for i, c := range u.chosen {
		switch {
		case c.unit == wanted, c.unit == none && c.candidate == candidate:
			return r.explainOverflowOfUnit(i)
		case c.unit == none && !older && u.sorted[at].offers(c.candidate):
			return Obstacle{"The slicer left it out, and an older version came back in its place.", []int{c.candidate}}, nil
		}
	}
	if older {
		return Obstacle{}, nil
	}
	if r.effective.TargetTokens == 0 {
		return r.explainNothingLeft(), nil
	}
	copy(r.sorted, r.prepared.sorted) // the slicer may have changed the list
	o, err := ExplainSlice(ctx, r.pipeline.config.Slicer, r.sorted, r.effective, at)
	var before []int
	for _, at := range o.Before {
		before = append(before, u.membersOf(&u.units[u.sorted[at].unit])...)
	}
	o.Before = before
	return o, err
}

// offers reports whether a candidate is an older version that may return in place
// of the unit.
func (s *sorted) offers(candidate int) bool {
	return slices.ContainsFunc(s.older, func(o olderVersion) bool { return o.candidate == candidate })
}

// explainOverflowOfUnit is explainOverflow for one of the chosen units.
func (r *run) explainOverflowOfUnit(at int) (Obstacle, error) {
	u := r.units
	if err := r.mergeUnitsWithinTarget(); err != nil {
		return Obstacle{}, err
	}
	rank := make(map[int]int, len(u.chosen)) // by place; 0 for pinned units
	for i := range u.chosen {
		rank[u.chosen[i].candidate] = i + 1
	}
	o := Obstacle{Rule: overflowRule}
	for i := range u.merged {
		c := &u.merged[i]
		if c.candidate == u.chosen[at].candidate {
			return Obstacle{}, nil
		}
		if rank[c.candidate] <= at {
			var one [1]int
			o.Before = append(o.Before, u.candidatesOf(c, &one)...)
		}
	}
	return o, nil
}
