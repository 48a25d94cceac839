package engine

import (
	"cmp"
	"slices"

	"github.com/wollax/cupel-go/cupel/internal/exact"
)

// shapeUnits gives units their smaller forms, and groups their tokens.
func (s *Set) shapeUnits() {
	s.shapes = filled(s.shapes, len(s.units), nil)
	for i := range s.units {
		u := &s.units[i]
		switch {
		case u.out:
		case u.group:
			var tokens exact.Sum
			shrinks := false
			for _, m := range s.Members(Unit(i)) {
				tokens.Add(s.tokensAt(m, s.start(m)))
				shrinks = shrinks || len(s.Links[m].Forms)+len(s.Links[m].GroupForms) > 0
			}
			u.tokens = tokens.Int()
			if shrinks {
				s.shapes[i] = s.chain(Unit(i))
			}
		case !u.pinned && len(s.Links[s.Place(Unit(i))].Forms) > 0:
			s.shapes[i] = &shape{forms: s.Links[s.Place(Unit(i))].Forms}
		}
	}
}

// start is the form that a candidate starts at: 0, or its smallest if it is a stale
// member of a group.
func (s *Set) start(c Candidate) int32 {
	if s.IsStale(c) && !s.units[s.unitOf[c]].pinned {
		return int32(len(s.Links[c].Forms))
	}
	return 0
}

// tokensAt returns the tokens of a candidate in one of its own forms.
func (s *Set) tokensAt(c Candidate, form int32) int {
	if form == 0 {
		return s.Tokens[c]
	}
	return s.Links[c].Forms[form-1].Tokens
}

// Forms returns the smaller forms of a unit, largest first. They must not be
// changed.
func (s *Set) Forms(u Unit) []Form {
	if len(s.shapes) == 0 || s.shapes[u] == nil {
		return nil
	}
	return s.shapes[u].forms
}

// form returns a form of a unit. Form 0 has worth 1.
func (s *Set) form(u Unit, form int32) Form {
	if form == 0 {
		return Form{s.units[u].tokens, 1}
	}
	return s.shapes[u].forms[form-1]
}

// chainMember is a member of a group that may still shrink.
type chainMember struct {
	forms  []Form // those that are left
	tokens int    // now
	worth  float64
	share  float64
	at     int32 // in the group
}

// loss is what the next step of the member costs the group in worth.
func (m *chainMember) loss() float64 {
	return float64(m.share * (m.worth - m.forms[0].Worth)) // rounded here, never fused
}

func (m *chainMember) rate() float64 { return m.loss() / float64(m.tokens-m.forms[0].Tokens) }

// chainForm is a form of a group and how it is made: by so many steps of the
// chain, or by a group form, counted from -1 downwards.
type chainForm struct {
	Form
	made int32
}

// chain is CHAIN of the Units chapter. It returns nil if the unit has no smaller form.
func (s *Set) chain(at Unit) *shape {
	u := &s.units[at]
	var members []chainMember
	var heap stepHeap
	sum := 0.0
	var tokens exact.Sum
	for i, m := range s.Members(at) {
		start := s.start(m)
		n := s.tokensAt(m, start)
		sum += float64(n)
		tokens.Add(n)
		if forms := s.Links[m].Forms; len(forms) > 0 && start == 0 && !s.Pinned[m] {
			members = append(members, chainMember{forms: forms, tokens: n, worth: 1, at: int32(i)})
		}
	}
	for i := range members {
		m := &members[i]
		m.share = float64(m.tokens) / sum // what has forms has tokens
		heap.push(step{m.rate(), int32(i)})
	}
	var forms []chainForm
	made := new(shape)
	worth := 1.0
	for len(heap) > 0 {
		i := heap.pop().at
		m := &members[i]
		worth = max(0, worth-m.loss())
		tokens.Sub(m.tokens)
		m.tokens, m.worth, m.forms = m.forms[0].Tokens, m.forms[0].Worth, m.forms[1:]
		tokens.Add(m.tokens)
		made.chain = append(made.chain, m.at)
		if n := tokens.Int(); n < u.tokens { // sums above the largest int are clamped to it
			forms = append(forms, chainForm{Form{n, worth}, int32(len(made.chain))})
		}
		if len(m.forms) > 0 {
			heap.push(step{m.rate(), i})
		}
	}
	if !u.pinned {
		forms = s.addGroupForms(forms, at)
	}
	// Without useless forms:
	for _, f := range WithoutUseless(forms, func(f chainForm) Form { return f.Form }) {
		made.forms, made.made = append(made.forms, f.Form), append(made.made, f.made)
	}
	if made.forms == nil {
		return nil
	}
	return made
}

// addGroupForms adds the forms that stand for the whole group, if they are smaller
// than it: those of the first member that has any.
func (s *Set) addGroupForms(forms []chainForm, at Unit) []chainForm {
	before := len(forms)
	if c := s.groupFormsOf(at); c != None {
		for i, f := range s.Links[c].GroupForms {
			if f.Tokens < s.units[at].tokens {
				forms = append(forms, chainForm{f, -1 - int32(i)})
			}
		}
	}
	if len(forms) > before { // otherwise they are in order already
		slices.SortStableFunc(forms, func(a, b chainForm) int {
			return cmp.Or(cmp.Compare(b.Tokens, a.Tokens), cmp.Compare(b.Worth, a.Worth))
		})
	}
	return forms
}

// WithoutUseless removes, in place, each form that another one makes useless by
// having at most its tokens and at least its worth. forms are largest first,
// and among equal tokens best first.
func WithoutUseless[T any](forms []T, of func(T) Form) []T {
	best, kept := -1.0, len(forms)
	for i := len(forms) - 1; i >= 0; i-- { // from the smallest: each must be worth more than every one before it
		for i > 0 && of(forms[i-1]).Tokens == of(forms[i]).Tokens {
			i-- // the first of equal tokens is the best of them
		}
		if f := forms[i]; of(f).Worth > best {
			best = of(f).Worth
			kept--
			forms[kept] = f
		}
	}
	return forms[kept:]
}

// groupFormsOf returns the first member with group forms, or None.
func (s *Set) groupFormsOf(at Unit) Candidate {
	for _, m := range s.Members(at) {
		if len(s.Links[m].GroupForms) > 0 {
			return m
		}
	}
	return None
}

// Made records what each member of a unit is in one of the unit's forms.
type Made struct {
	Forms []int32 // of the members, their own; nil when all are full
	// Group is the group form that stands for all members, counted from 1, or 0.
	Group int32
	// From is the member that the group form belongs to, if there is one.
	From Candidate
}

// Make returns how a form of a unit is made.
func (s *Set) Make(at Unit, form int32) Made {
	u := &s.units[at]
	if !u.group {
		if form <= 0 { // full, or an older version
			return Made{}
		}
		return Made{Forms: []int32{form}}
	}
	members := s.Members(at)
	if form == 0 && !slices.ContainsFunc(members, func(m Candidate) bool { return s.start(m) > 0 }) {
		return Made{}
	}
	forms := make([]int32, len(members))
	for i, m := range members {
		forms[i] = s.start(m)
	}
	if form == 0 {
		return Made{Forms: forms}
	}
	steps := s.shapes[at].made[form-1]
	if steps < 0 {
		return Made{Forms: forms, Group: -steps, From: s.groupFormsOf(at)}
	}
	for _, i := range s.shapes[at].chain[:steps] {
		forms[i]++
	}
	return Made{Forms: forms}
}

// step is the cost of making something smaller, and what it is.
type step struct {
	cost float64
	at   int32
}

// before orders by cost; among equal costs, later ones come first.
func (s step) before(other step) bool {
	return s.cost < other.cost || s.cost == other.cost && s.at > other.at
}

// stepHeap is a heap with the cheapest step on top.
type stepHeap []step

func (h *stepHeap) push(s step) {
	*h = append(*h, s)
	list := *h
	i := len(list) - 1
	for i > 0 && s.before(list[(i-1)/2]) {
		list[i] = list[(i-1)/2]
		i = (i - 1) / 2
	}
	list[i] = s
}

func (h *stepHeap) pop() step {
	list := *h
	top, last := list[0], list[len(list)-1]
	list = list[:len(list)-1]
	*h = list
	for i := 0; len(list) > 0; {
		child := 2*i + 1
		if child+1 < len(list) && list[child+1].before(list[child]) {
			child++
		}
		if child >= len(list) || !list[child].before(last) {
			list[i] = last
			break
		}
		list[i] = list[child]
		i = child
	}
	return top
}

// FormOf returns the own form of the i-th member, 0 for full.
func (m *Made) FormOf(i int) int32 {
	if m == nil || m.Forms == nil {
		return 0
	}
	return m.Forms[i]
}
