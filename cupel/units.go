package cupel

import (
	"sync"

	"github.com/wollax/cupel-go/cupel/internal/exact"
	"github.com/wollax/cupel-go/cupel/internal/order"
)

// unitSet holds the units that groups, variants and version keys make of the
// candidates. It does not depend on the budget and does not change after Score:
// a [Prepared] shares it between runs.
type unitSet struct {
	items    []*ContextItem // the candidates
	fullOnly bool
	units    []unit
	unitOf   []int32   // by candidate
	members  []int     // candidates, unit by unit
	pinned   []int32   // units, by place
	stale    []bool    // by candidate; empty when none is
	newest   []int32   // by candidate: the newest version of an older one, or none; empty when none is stale
	scores   []float64 // by unit, from Score on

	groups map[string]int32 // only while the set is built
}

// unit is a group, or an item without one.
type unit struct {
	item   *ContextItem // what slicers see of it
	tokens int          // of form 0
	from   int32        // where its members begin in unitSet.members
	size   int32        // members
	group  bool
	pinned bool // a member is
	out    bool // a member has negative tokens
}

// unitRun is what a run with units stores in addition to the set. Its zero
// value is ready.
type unitRun struct {
	*unitSet
	own unitSet // memory for a set

	forms    []int32      // by set.pinned: their forms
	taken    []int32      // by sorted: forms, while Slice runs
	sorted   []sorted     // parallel to the list that the slicer sees, and not to be changed by it
	chosen   []chosen     // by score
	returned int          // older versions among chosen
	merged   []chosen     // parallel to run.merged
	over     int          // tokens of merged above the target, under Proceed
	placed   []placedUnit // parallel to merged
	variants []int32      // of the members of placed, where any is smaller
	survivor []int32      // by unit: itself, unless it is a duplicate
}

// sorted is a unit that the slicer sees.
type sorted struct {
	unit  int32
	older []olderVersion // the forms behind those of the chain
	score float64
}

// olderVersion is a candidate that may return in place of a newer one.
type olderVersion struct {
	candidate int
	score     float64
}

// chosen is a unit in the window, in some form, or an older version.
type chosen struct {
	unit      int32 // none for an older version
	form      int32
	candidate int // its place
	score     float64
}

var unitRunPool = sync.Pool{New: func() any { return new(unitRun) }}

// free releases the memory for reuse. That memory must not keep the caller's
// items alive.
func (u *unitRun) free() {
	s := &u.own
	clear(s.units)
	clear(s.groups)
	clear(u.sorted)
	clear(u.placed)
	*u = unitRun{
		own: unitSet{
			units: s.units[:0], unitOf: s.unitOf[:0], members: s.members[:0], pinned: s.pinned[:0], stale: s.stale[:0],
			newest: s.newest[:0], scores: s.scores[:0], groups: s.groups,
		},
		forms: u.forms[:0], taken: u.taken[:0], sorted: u.sorted[:0], chosen: u.chosen[:0], merged: u.merged[:0], placed: u.placed[:0], variants: u.variants[:0], survivor: u.survivor[:0],
	}
	unitRunPool.Put(u)
}

// membersOf returns the candidates that a unit consists of.
func (s *unitSet) membersOf(u *unit) []int { return s.members[u.from : u.from+u.size] }

// place returns the position of the unit's first member.
func (s *unitSet) place(u *unit) int { return s.members[u.from] }

// isStale reports whether a newer version of the candidate exists.
func (s *unitSet) isStale(candidate int) bool { return len(s.stale) > 0 && s.stale[candidate] }

// isOlder reports whether a candidate leaves before Deduplicate because a newer
// version exists.
func (s *unitSet) isOlder(candidate int) bool {
	return len(s.newest) > 0 && s.newest[candidate] != none
}

// shrunk reports whether a candidate starts at its smallest variant.
func (s *unitSet) shrunk(candidate int) bool {
	return !s.fullOnly && s.isStale(candidate) && len(s.items[candidate].usedVariants()) > 0 && !s.units[s.unitOf[candidate]].pinned
}

// numForms returns the number of smaller forms of a unit.
func (s *unitSet) numForms(u *unit) int {
	if s.fullOnly || u.pinned && !u.group {
		return 0
	}
	return u.item.numForms()
}

// form returns a form of a unit. Form 0 has worth 1.
func (s *unitSet) form(u *unit, form int32) Form {
	if form == 0 {
		return Form{u.tokens, 1}
	}
	return u.item.form(int(form))
}

func (it *ContextItem) numForms() int {
	switch {
	case it == nil || it.units == nil:
		return 0
	case it.units.unit != nil:
		return len(it.units.unit.forms)
	}
	return len(it.units.variants.used)
}

// form returns a smaller form, counted from 1.
func (it *ContextItem) form(n int) Form {
	if it.units.unit != nil {
		return it.units.unit.forms[n-1]
	}
	v := &it.units.variants.used[n-1]
	return Form{v.Tokens, v.Worth}
}

// older returns the older versions that may return in place of the item.
func (it *ContextItem) older() []Form {
	if it == nil || it.units == nil || it.units.unit == nil {
		return nil
	}
	return it.units.unit.older
}

// partitionUnits is partition for candidates with units.
func (r *run) partitionUnits() error {
	if r.units == nil {
		r.units = unitRunPool.Get().(*unitRun)
	}
	s := &r.units.own
	r.units.unitSet = s
	s.items, s.fullOnly = r.items, r.pipeline.config.FullOnly
	if err := s.collect(); err != nil {
		return err
	}
	r.pinned, r.scoreable = r.pinned[:0], resize(r.scoreable, len(r.items))[:0]
	for i := range s.units {
		u := &s.units[i]
		switch {
		case u.out:
			r.excludeNegative(u)
		case u.pinned:
			s.pinned = append(s.pinned, int32(i))
			r.pinned = append(r.pinned, s.membersOf(u)...)
		}
	}
	for i, at := range s.unitOf {
		if u := &s.units[at]; !u.out && !u.pinned {
			r.scoreable = append(r.scoreable, i)
		}
	}
	s.resolveVersions()
	s.standIns()
	r.trace.count = len(r.pinned) + len(r.scoreable)
	return nil
}

// excludeNegative leaves out a whole unit because of its first member with a
// negative count.
func (r *run) excludeNegative(u *unit) {
	members := r.units.membersOf(u)
	n := 0
	for _, m := range members {
		if n = r.items[m].tokens; n < 0 {
			break
		}
	}
	for _, m := range members {
		r.exclude(m, 0, negativeTokens(n))
	}
}

// collect groups the candidates into units, ordered by place, with their
// members.
func (s *unitSet) collect() error {
	if s.groups == nil {
		s.groups = make(map[string]int32)
	}
	s.units, s.unitOf = s.units[:0], resize(s.unitOf, len(s.items))
	for i, item := range s.items {
		if item == nil || item.content == "" {
			return &InvalidItemError{i, "", "must come from NewContextItem, got nil or an empty item"}
		}
		at := int32(len(s.units))
		group := item.units != nil && item.units.group != ""
		if group {
			if known, ok := s.groups[item.units.group]; ok {
				at = known
			} else {
				s.groups[item.units.group] = at
			}
		}
		if int(at) == len(s.units) {
			s.units = append(s.units, unit{item: item, tokens: item.tokens, group: group})
		}
		u := &s.units[at]
		u.size++
		u.out = u.out || item.tokens < 0
		u.pinned = u.pinned || item.pinned
		s.unitOf[i] = at
	}
	const keep = 1 << 12 // clearing a map keeps its size, and takes time in proportion to it
	if len(s.groups) > keep {
		s.groups = nil
	}
	from := int32(0)
	for i := range s.units {
		s.units[i].from = from
		from += s.units[i].size
		s.units[i].size = 0 // counted again below
	}
	s.members = resize(s.members, len(s.items))
	for i, at := range s.unitOf {
		u := &s.units[at]
		s.members[u.from+u.size] = i
		u.size++
	}
	return nil
}

// scoreUnits gives each scoreable unit the greatest score of its members.
func (r *run) scoreUnits() {
	s := r.units.unitSet
	s.scores = resize(s.scores, len(s.units))
	known := newPositions(len(s.units))
	defer known.free()
	for i, candidate := range r.scoreable {
		at := s.unitOf[candidate]
		if known.take(int(at)) == "" || order.Key(r.scores[i]) > order.Key(s.scores[at]) {
			s.scores[at] = r.scores[i]
		}
	}
}

// sumOf returns the tokens of chosen units in their forms.
func (u *unitRun) sumOf(list []chosen) exact.Sum {
	var sum exact.Sum
	for i := range list {
		sum.Add(u.tokensOf(&list[i]))
	}
	return sum
}

func (u *unitRun) tokensOf(c *chosen) int {
	if c.unit == none {
		return u.items[c.candidate].tokens
	}
	return u.form(&u.units[c.unit], c.form).Tokens
}

// candidatesOf returns the candidates that a chosen unit stands for. one has
// room for a single result.
func (u *unitRun) candidatesOf(c *chosen, one *[1]int) []int {
	if c.unit == none {
		one[0] = c.candidate
		return one[:]
	}
	return u.membersOf(&u.units[c.unit])
}
