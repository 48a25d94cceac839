package cupel

import (
	"cmp"
	"math"
	"slices"

	"github.com/wollax/cupel-go/cupel/internal/exact"
)

// standIns makes what slicers see of units other than single plain items, and
// their chains.
func (s *unitSet) standIns(b *chainBuilder) {
	if s.fullOnly {
		s.forms = 0
	}
	// Reports keep stand-ins, so their memory is never reused.
	made := madeStandIns{
		list: make([]madeStandIn, 0, s.groups), members: make([]*ContextItem, 0, s.grouped),
		forms: make([]Form, 0, s.forms),
	}
	for i := range s.units {
		u := &s.units[i]
		switch {
		case u.out:
		case u.group:
			s.standInOf(u, &made, b)
		case s.fullOnly && u.forms > 0:
			u.forms = 0
			hidden := *u.item
			hidden.units, hidden.least = &itemUnits{versionOf: hidden.units.versionOf}, 0
			u.item = &hidden
		}
	}
}

// madeStandIns holds the stand-ins of all groups in few allocations.
type madeStandIns struct {
	list    []madeStandIn
	members []*ContextItem
	forms   []Form

	chains      []chain
	made, steps []int32 // of chains
}

// madeStandIn is a stand-in and what it points to.
type madeStandIn struct {
	item  ContextItem
	units itemUnits
	unit  standIn
}

// standInOf makes the stand-in of a group.
func (s *unitSet) standInOf(u *unit, to *madeStandIns, b *chainBuilder) {
	candidates := s.membersOf(u)
	from := len(to.members)
	var tokens exact.Sum
	for _, m := range candidates {
		to.members = append(to.members, s.items[m])
		tokens.Add(s.tokensAt(m, s.start(m)))
	}
	members := to.members[from:len(to.members):len(to.members)]
	to.list = to.list[:len(to.list)+1] // written in place, since it is large
	made := &to.list[len(to.list)-1]
	made.unit.members = members
	made.units.group, made.units.unit = members[0].units.group, &made.unit
	made.item = *members[0]
	made.item.units, made.item.kind, made.item.pinned, made.item.tokens, made.item.least = &made.units, kindOf(members), u.pinned, tokens.Int(), 0
	u.item, u.tokens = &made.item, made.item.tokens
	if u.shrinks && !s.fullOnly {
		if !b.chainOfOne(s, u, to, made) {
			b.chain(s, u)
			b.store(to, made)
		}
		u.forms = int32(len(made.units.forms))
		made.item.findLeast()
	}
}

// start is the variant that a candidate starts at: 0, or its smallest.
func (s *unitSet) start(candidate int) int32 {
	if s.shrunk(candidate) {
		return int32(len(s.items[candidate].usedVariants()))
	}
	return 0
}

// tokensAt returns the tokens of a candidate as one of its variants.
func (s *unitSet) tokensAt(candidate int, variant int32) int {
	if variant == 0 {
		return s.items[candidate].tokens
	}
	return s.items[candidate].usedVariants()[variant-1].Tokens
}

// kindOf returns the kind of most of the tokens, of equal ones the first.
func kindOf(members []*ContextItem) ContextKind {
	first := members[0].kind
	if !slices.ContainsFunc(members, func(m *ContextItem) bool { return m.kind != first }) {
		return first
	}
	type share struct {
		kind   ContextKind
		tokens exact.Sum
	}
	var few [4]share
	shares := few[:0]
	var at map[string]int // where there are more kinds than fit into few
	for _, m := range members {
		i := -1
		if at == nil {
			i = slices.IndexFunc(shares, func(s share) bool { return s.kind.Equal(m.kind) })
		} else if known, ok := at[m.kind.Key()]; ok {
			i = known
		}
		if i < 0 {
			i = len(shares)
			shares = append(shares, share{kind: m.kind})
			if at == nil && len(shares) > len(few) {
				at = make(map[string]int)
				for n := range shares {
					at[shares[n].kind.Key()] = n
				}
			} else if at != nil {
				at[m.kind.Key()] = i
			}
		}
		shares[i].tokens.Add(m.tokens)
	}
	best := 0
	for i := range shares {
		if shares[i].tokens.Minus(shares[best].tokens).Greater(0) {
			best = i
		}
	}
	return shares[best].kind
}

// chainBuilder makes chains, reusing its memory from one to the next.
type chainBuilder struct {
	members []chainMember
	heap    rateHeap
	forms   []chainForm
	steps   []int32
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
// chain, or by a group variant, counted from -1 downwards.
type chainForm struct {
	Form
	made int32
}

// chainOfOne makes the chain of a group in which only one member shrinks, such
// as a call and its result, where each step leads to a form. It reports whether
// it could.
func (b *chainBuilder) chainOfOne(s *unitSet, u *unit, to *madeStandIns, made *madeStandIn) bool {
	shrinks := none
	sum := 0.0
	for i, it := range made.unit.members {
		sum += float64(it.tokens)
		if it.units == nil || it.units.lists == nil {
			continue
		}
		if shrinks != none || it.pinned || it.units.unit != nil || len(it.units.lists.groupVariants) > 0 || s.isStale(s.members[int(u.from)+i]) {
			return false
		}
		shrinks = i
	}
	if shrinks == none || sum == 0 || made.item.tokens == math.MaxInt { // where a sum may be clamped
		return false
	}
	it := made.unit.members[shrinks]
	share := float64(it.tokens) / sum
	from, worth, before := len(to.forms), 1.0, 1.0
	for _, f := range it.units.forms {
		after := max(0, worth-float64(share*(before-f.Worth)))
		if after == worth { // the form before is useless
			to.forms = to.forms[:from]
			return false
		}
		worth, before = after, f.Worth
		to.forms = append(to.forms, Form{made.item.tokens - it.tokens + f.Tokens, worth})
	}
	made.units.forms, made.unit.shrinks = to.forms[from:len(to.forms):len(to.forms)], int32(shrinks)
	return true
}

// chain is CHAIN of the Units chapter.
func (b *chainBuilder) chain(s *unitSet, u *unit) {
	candidates := s.membersOf(u)
	b.members, b.heap, b.forms, b.steps = b.members[:0], b.heap[:0], b.forms[:0], b.steps[:0]
	sum := 0.0
	var tokens exact.Sum
	for i, m := range candidates {
		item, start := s.items[m], s.start(m)
		n := s.tokensAt(m, start)
		sum += float64(n)
		tokens.Add(n)
		if forms := item.ownForms(); len(forms) > 0 && start == 0 && !item.pinned {
			b.members = append(b.members, chainMember{forms: forms, tokens: n, worth: 1, at: int32(i)})
		}
	}
	for i := range b.members {
		m := &b.members[i]
		m.share = 1 / float64(len(candidates))
		if sum != 0 {
			m.share = float64(m.tokens) / sum
		}
		b.heap.push(rate{m.rate(), int32(i)})
	}
	worth := 1.0
	for len(b.heap) > 0 {
		i := b.heap[0].at
		m := &b.members[i]
		worth = max(0, worth-m.loss())
		tokens.Sub(m.tokens)
		m.tokens, m.worth, m.forms = m.forms[0].Tokens, m.forms[0].Worth, m.forms[1:]
		tokens.Add(m.tokens)
		b.steps = append(b.steps, m.at)
		if n := tokens.Int(); n < u.tokens { // sums above the largest int are clamped to it
			b.forms = append(b.forms, chainForm{Form{n, worth}, int32(len(b.steps))})
		}
		if len(m.forms) > 0 {
			b.heap.replace(rate{m.rate(), i})
		} else {
			b.heap.pop()
		}
	}
	if u.pinned {
		return
	}
	before := len(b.forms)
	for i, v := range s.groupVariants(u) {
		if v.Tokens < u.tokens {
			b.forms = append(b.forms, chainForm{Form{v.Tokens, v.Worth}, -1 - int32(i)})
		}
	}
	if len(b.forms) > before { // otherwise they are in order already
		slices.SortStableFunc(b.forms, func(a, b chainForm) int {
			return cmp.Or(cmp.Compare(b.Tokens, a.Tokens), cmp.Compare(b.Worth, a.Worth))
		})
	}
}

// store puts the chain into a stand-in. When the memory for all of them grows,
// what has been stored stays where it is.
func (b *chainBuilder) store(memory *madeStandIns, to *madeStandIn) {
	useful := withoutUseless(b.forms, func(f chainForm) Form { return f.Form })
	if len(useful) == 0 {
		return
	}
	forms, made, steps := len(memory.forms), len(memory.made), len(memory.steps)
	for _, f := range useful {
		memory.forms, memory.made = append(memory.forms, f.Form), append(memory.made, f.made)
	}
	memory.steps = append(memory.steps, b.steps...)
	memory.chains = append(memory.chains, chain{
		steps: memory.steps[steps:len(memory.steps):len(memory.steps)], made: memory.made[made:len(memory.made):len(memory.made)],
	})
	to.units.forms, to.unit.chain = memory.forms[forms:len(memory.forms):len(memory.forms)], &memory.chains[len(memory.chains)-1]
}

// groupVariants returns the group variants of the first member that has any.
func (s *unitSet) groupVariants(u *unit) []Variant {
	for _, m := range s.membersOf(u) {
		if v := s.items[m].usedGroupVariants(); len(v) > 0 {
			return v
		}
	}
	return nil
}

// variantsAt returns the variant of each member of a group in one of its forms,
// or the group variant that stands for all, counted from 1.
func (s *unitSet) variantsAt(u *unit, form int32, at []int32) (members []int32, groupVariant int32) {
	candidates := s.membersOf(u)
	at = resize(at, len(candidates))
	for i, m := range candidates {
		at[i] = s.start(m)
	}
	if form == 0 {
		return at, 0
	}
	if !u.group {
		at[0] = form
		return at, 0
	}
	unit := u.item.units.unit
	if unit.chain == nil {
		at[unit.shrinks] = form
		return at, 0
	}
	made := unit.chain.made[form-1]
	if made < 0 {
		return at, -made
	}
	for _, i := range unit.chain.steps[:made] {
		at[i]++
	}
	return at, 0
}

// rate is the cost of a step, and the member that takes it.
type rate struct {
	cost float64
	at   int32
}

// before orders by cost; among equal costs, later members come first.
func (r rate) before(other rate) bool {
	return r.cost < other.cost || r.cost == other.cost && r.at > other.at
}

// rateHeap is a heap with the least rate on top.
type rateHeap []rate

func (h *rateHeap) push(r rate) {
	*h = append(*h, r)
	list := *h
	i := len(list) - 1
	for i > 0 && r.before(list[(i-1)/2]) {
		list[i] = list[(i-1)/2]
		i = (i - 1) / 2
	}
	list[i] = r
}

// replace puts r in the place of the top.
func (h rateHeap) replace(r rate) {
	for i := 0; ; {
		child := 2*i + 1
		if child+1 < len(h) && h[child+1].before(h[child]) {
			child++
		}
		if child >= len(h) || !h[child].before(r) {
			h[i] = r
			return
		}
		h[i] = h[child]
		i = child
	}
}

func (h *rateHeap) pop() rate {
	list := *h
	top, last := list[0], list[len(list)-1]
	*h = list[:len(list)-1]
	if len(*h) > 0 {
		h.replace(last)
	}
	return top
}
