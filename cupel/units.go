package cupel

import (
	"context"
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
	unitOf   []int32    // by candidate
	members  []int      // candidates, unit by unit
	pinned   []int32    // units, by place
	stale    []bool     // by candidate; empty when none is
	newest   []int32    // by candidate: the newest version of an older one, or none; empty when none is older
	near     []nearCopy // by candidate; empty when none is a near copy
	scores   []float64  // by unit, from Score on

	groups, grouped, forms int // groups, their members, and the forms that those may have at most
}

// unit is a group, or an item without one.
type unit struct {
	item    *ContextItem // what slicers see of it
	tokens  int          // of form 0
	from    int32        // where its members begin in unitSet.members
	size    int32        // members
	forms   int32        // smaller ones
	group   bool
	pinned  bool // a member is
	out     bool // a member has negative tokens
	shrinks bool // a member has variants or group variants
}

// unitRun is what a run with units stores in addition to the set. Its zero
// value is ready.
type unitRun struct {
	*unitSet
	own     unitSet // memory for a set
	scratch unitScratch

	forms    []int32        // by set.pinned: their forms
	taken    []int32        // by sorted: forms, while Slice runs
	sorted   []sorted       // parallel to the list that the slicer sees, and not to be changed by it
	chosen   []chosen       // by score
	returned []chosen       // older versions among chosen
	merged   []chosen       // parallel to run.merged
	over     int            // tokens of merged above the target, under Proceed
	placed   []placedUnit   // parallel to merged
	variants []int32        // of the members of placed, where any is smaller
	windowed []*ContextItem // items of placed, where any is smaller
	made     madeItems
	offers   []int32 // by unit: older versions that may return
	survivor []int32 // by unit: itself, unless it is a duplicate
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
	tokens    int // of the form
}

// unitScratch is the memory that making a set takes.
type unitScratch struct {
	names    contentTable // of groups, or of version keys
	versions []versions   // by key
	chain    chainBuilder
}

var unitRunPool = sync.Pool{New: func() any { return new(unitRun) }}

// free releases the memory for reuse. That memory must not keep the caller's
// items alive.
func (u *unitRun) free() {
	s := &u.own
	clear(s.units)
	clear(u.scratch.chain.members[:cap(u.scratch.chain.members)])
	clear(u.sorted)
	clear(u.placed)
	clear(u.windowed)
	*u = unitRun{
		own: unitSet{
			units: s.units[:0], unitOf: s.unitOf[:0], members: s.members[:0], pinned: s.pinned[:0], stale: s.stale[:0],
			newest: s.newest[:0], near: s.near[:0], scores: s.scores[:0],
		},
		scratch: u.scratch,
		forms:   u.forms[:0], taken: u.taken[:0], sorted: u.sorted[:0], chosen: u.chosen[:0], returned: u.returned[:0], merged: u.merged[:0], placed: u.placed[:0], variants: u.variants[:0], windowed: u.windowed[:0], offers: u.offers[:0], survivor: u.survivor[:0],
	}
	unitRunPool.Put(u)
}

// membersOf returns the candidates that a unit consists of.
func (s *unitSet) membersOf(u *unit) []int { return s.members[u.from : u.from+u.size] }

// place returns the position of the unit's first member.
func (s *unitSet) place(u *unit) int { return s.members[u.from] }

// isStale reports whether a newer version or a newer near copy of the candidate
// exists.
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

// form returns a form of a unit. Form 0 has worth 1.
func (s *unitSet) form(u *unit, form int32) Form {
	if form == 0 {
		return Form{u.tokens, 1}
	}
	return u.item.form(int(form))
}

func (it *ContextItem) numForms() int {
	if it == nil || it.units == nil {
		return 0
	}
	return len(it.units.forms)
}

// form returns a smaller form, counted from 1.
func (it *ContextItem) form(n int) Form { return it.units.forms[n-1] }

// ownForms returns the sizes of the variants in use, even if the item is a
// stand-in that a caller has kept.
func (it *ContextItem) ownForms() []Form {
	if it.units == nil {
		return nil
	}
	if it.units.unit != nil {
		return sizesOf(it.usedVariants())
	}
	return it.units.forms
}

// older returns the older versions that may return in place of the item.
func (it *ContextItem) older() []Form {
	if it == nil || it.units == nil || it.units.unit == nil {
		return nil
	}
	return it.units.unit.older
}

// partitionUnits is partition for candidates with units.
func (r *run) partitionUnits(ctx context.Context) error {
	if r.units == nil {
		r.units = unitRunPool.Get().(*unitRun)
	}
	s := &r.units.own
	r.units.unitSet = s
	s.items, s.fullOnly = r.items, r.pipeline.config.FullOnly
	scratch := &r.units.scratch
	if err := s.collect(&scratch.names); err != nil {
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
	if err := s.resolve(ctx, &r.pipeline.config, scratch); err != nil {
		return err
	}
	r.trace.count = len(r.pinned) + len(r.scoreable)
	return nil
}

// resolve finds what is stale, and gives units their forms.
func (s *unitSet) resolve(ctx context.Context, config *Config, scratch *unitScratch) error {
	s.resolveVersions(scratch)
	if config.looksForCopies() {
		if err := s.resolveCopies(ctx, config, scratch); err != nil {
			return err
		}
	}
	s.standIns(&scratch.chain)
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
// members. names is memory that it may use.
func (s *unitSet) collect(names *contentTable) error {
	s.units, s.unitOf = s.units[:0], resize(s.unitOf, len(s.items))
	s.groups, s.grouped, s.forms = 0, 0, 0
	var last *itemUnits // of the item before
	for i, item := range s.items {
		if item == nil || item.content == "" {
			return &InvalidItemError{i, "", "must come from NewContextItem, got nil or an empty item"}
		}
		at := int32(len(s.units))
		units := item.units
		group := units != nil && units.group != ""
		if group {
			if last != nil && last.group == units.group { // as usual
				at = s.unitOf[i-1]
			} else {
				if s.groups == 0 {
					names.reset(len(s.items))
				}
				slot := names.named(units.group, func(unit int32) string { return s.units[unit].item.units.group })
				if slot.item == none {
					slot.item = at
				}
				at = slot.item
			}
			s.grouped++
			s.forms += len(units.forms)
		}
		if int(at) == len(s.units) {
			s.units = append(s.units, unit{item: item, tokens: item.tokens, group: group})
			if group {
				s.groups++
			} else if units != nil && !item.pinned {
				s.units[at].forms = int32(len(units.forms))
			}
		}
		u := &s.units[at]
		u.size++
		u.out = u.out || item.tokens < 0
		u.pinned = u.pinned || item.pinned
		if group && units.lists != nil {
			u.shrinks = true
			s.forms += len(units.lists.groupVariants)
		}
		s.unitOf[i] = at
		last = units
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
func sumOf(list []chosen) exact.Sum {
	var sum exact.Sum
	for i := range list {
		sum.Add(list[i].tokens)
	}
	return sum
}

// take returns a unit in one of its forms.
func (s *unitSet) take(unit, form int32, score float64) chosen {
	u := &s.units[unit]
	return chosen{unit, form, s.place(u), score, s.form(u, form).Tokens}
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
