package engine

import (
	"context"
)

// Set is the candidates as units. Make it with [Set.Classify]; its memory is
// reused when it classifies again.
type Set struct {
	Columns
	// Scoreable are the candidates that go on to Score, ascending.
	Scoreable []Candidate
	// Left are the decisions of Classify.
	Left []Decision

	units   []unit
	unitOf  []Unit
	members []Candidate // unit by unit
	shapes  []*shape    // by unit, nil where it has one form alone; empty when all have
	pinned  []Unit      // by place
	stale   []bool      // by candidate; empty when none is
	newest  []Candidate // by candidate: the newest version of an older one; empty when none is older
	copies  []nearCopy  // by candidate; empty when none is a near copy

	names contentTable
}

// unit is a group, or a candidate without one.
type unit struct {
	tokens int       // of form 0
	place  Candidate // its first member
	from   int32     // where its members begin in Set.members
	size   int32     // members
	group  bool
	pinned bool // a member is
	out    bool // a member has negative tokens
}

// shape is the smaller forms of a unit and how those of a group are made.
type shape struct {
	forms []Form
	chain []int32 // the member that each step of a group's chain shrinks
	made  []int32 // by form: its number of steps, or below 0 for a group form; nil for a lone unit
}

// Classify makes units of the candidates, and finds what is pinned, what cannot
// take part, which versions and near copies are stale, and which forms units have.
// near is the threshold of near copies, 0 to keep them. It fails when ctx is done.
//
// It implements CLASSIFY-UNITS, RESOLVE-VERSIONS and NEAR-DUPLICATES of the Units
// chapter.
func (s *Set) Classify(ctx context.Context, columns Columns, near float64) error {
	s.Columns = columns
	s.Left, s.pinned = s.Left[:0], s.pinned[:0]
	s.stale, s.newest, s.copies, s.shapes = s.stale[:0], s.newest[:0], s.copies[:0], s.shapes[:0]
	s.collect()
	s.part()
	if s.Links == nil {
		return nil
	}
	s.resolveVersions()
	if near > 0 {
		if err := s.resolveCopies(ctx, near); err != nil {
			return err
		}
	}
	s.shapeUnits()
	return nil
}

// Free lets go of the caller's texts, and keeps the memory.
func (s *Set) Free() {
	clear(s.shapes)
	s.Columns = Columns{}
}

// collect groups the candidates into units, in the order of their first members.
func (s *Set) collect() {
	n := len(s.Tokens)
	units, unitOf, members := Resize(s.units, n), Resize(s.unitOf, n), Resize(s.members, n)
	grouped, next := false, Unit(0)
	for i, tokens := range s.Tokens {
		at := next
		if i < len(s.Links) && s.Links[i].Group != "" {
			if !grouped {
				s.names.reset(n)
				grouped = true
			}
			slot := s.names.named(s.Links[i].Group, func(first int32) string { return s.Links[first].Group })
			if slot.item == None {
				slot.item = int32(i)
			} else {
				at = unitOf[slot.item]
			}
		}
		unitOf[i], members[i] = at, Candidate(i)
		u := &units[at]
		if at == next { // field by field, since a whole unit would be made elsewhere and copied
			*u = unit{}
			u.tokens, u.place, u.from = tokens, Candidate(i), int32(i)
			next++
		}
		u.size++
		u.out = u.out || tokens < 0
		u.pinned = u.pinned || s.Pinned[i]
	}
	s.units, s.unitOf, s.members = units[:next], unitOf, members
	if grouped {
		s.gather()
	}
}

// gather lists the members of each unit one after the other.
func (s *Set) gather() {
	from := int32(0)
	for i := range s.units {
		u := &s.units[i]
		u.group = s.Links[u.place].Group != ""
		u.from, from = from, from+u.size
		u.size = 0 // counted again below
	}
	for i, at := range s.unitOf {
		u := &s.units[at]
		s.members[u.from+u.size] = Candidate(i)
		u.size++
	}
}

// part separates pinned units from scoreable candidates, and leaves out units with
// a negative count.
func (s *Set) part() {
	scoreable := Resize(s.Scoreable, len(s.Tokens))[:0]
	for i, at := range s.unitOf {
		c := Candidate(i)
		switch u := &s.units[at]; {
		case !u.out && !u.pinned:
			scoreable = append(scoreable, c)
		case c != u.place: // the first member has stood for the others
		case u.out: // before the look at pinned: a pinned candidate with a negative count is out
			s.leaveOutNegative(at)
		default:
			s.pinned = append(s.pinned, at)
		}
	}
	s.Scoreable = scoreable
}

// leaveOutNegative leaves out a whole unit because of its first member with a
// negative count.
func (s *Set) leaveOutNegative(at Unit) {
	n := 0
	for _, m := range s.Members(at) {
		if n = s.Tokens[m]; n < 0 {
			break
		}
	}
	for _, m := range s.Members(at) {
		s.Left = append(s.Left, Decision{Candidate: m, Code: NegativeTokens, Tokens: n})
	}
}

// Place returns the first member of a unit.
func (s *Set) Place(u Unit) Candidate { return s.units[u].place }

// Members returns the candidates of a unit, in their order.
func (s *Set) Members(u Unit) []Candidate {
	at := &s.units[u]
	return s.members[at.from : at.from+at.size]
}

// NumUnits returns the number of units.
func (s *Set) NumUnits() int { return len(s.units) }

// IsGroup reports whether a unit is a group.
func (s *Set) IsGroup(u Unit) bool { return s.units[u].group }

// IsPinned reports whether a member of the unit is pinned.
func (s *Set) IsPinned(u Unit) bool { return s.units[u].pinned }

// IsOut reports whether a unit takes no part because of a negative count.
func (s *Set) IsOut(u Unit) bool { return s.units[u].out }

// UnitOf returns the unit of a candidate.
func (s *Set) UnitOf(c Candidate) Unit { return s.unitOf[c] }

// TokensOf returns the tokens of a unit in form 0.
func (s *Set) TokensOf(u Unit) int { return s.units[u].tokens }

// NumPinned returns the number of pinned candidates.
func (s *Set) NumPinned() int {
	n := 0
	for _, at := range s.pinned {
		n += int(s.units[at].size)
	}
	return n
}

// FirstPinned returns the first member of the first pinned unit, or None.
func (s *Set) FirstPinned() Candidate {
	if len(s.pinned) == 0 {
		return None
	}
	return s.Place(s.pinned[0])
}

// Pins returns the candidates of pinned units, unit by unit.
func (s *Set) Pins() []Candidate {
	var pins []Candidate
	for _, at := range s.pinned {
		pins = append(pins, s.Members(at)...)
	}
	return pins
}

// IsStale reports whether a newer version or a newer near copy of the candidate
// exists.
func (s *Set) IsStale(c Candidate) bool { return len(s.stale) > 0 && s.stale[c] }

// IsOlder reports whether a candidate leaves before Deduplicate because a newer
// version exists.
func (s *Set) IsOlder(c Candidate) bool { return len(s.newest) > 0 && s.newest[c] != None }

// isCopy reports whether a candidate leaves before Deduplicate because a newer
// near copy exists.
func (s *Set) isCopy(c Candidate) bool { return len(s.copies) > 0 && s.copies[c].of != None }

// leaves reports whether a candidate leaves before Deduplicate.
func (s *Set) leaves(c Candidate) bool { return s.IsOlder(c) || s.isCopy(c) }
