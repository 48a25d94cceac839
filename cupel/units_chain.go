package cupel

import (
	"cmp"
	"slices"

	"github.com/wollax/cupel-go/cupel/internal/exact"
)

// standIns makes what slicers see of units other than single plain items, and
// their chains.
func (s *unitSet) standIns() {
	groups, members := 0, 0
	for i := range s.units {
		if u := &s.units[i]; u.group && !u.out {
			groups++
			members += int(u.size)
		}
	}
	// Reports keep stand-ins, so their memory is never reused.
	made := &standInMemory{
		items: make([]ContextItem, 0, groups), units: make([]itemUnits, 0, groups), standIns: make([]standIn, 0, groups), members: make([]*ContextItem, 0, members),
	}
	var b chainBuilder
	for i := range s.units {
		u := &s.units[i]
		switch {
		case u.out:
		case u.group:
			s.standInOf(u, made, &b)
		case s.fullOnly && u.item.numForms() > 0:
			hidden := *u.item
			hidden.units = &itemUnits{versionOf: hidden.units.versionOf, unit: &standIn{}}
			u.item = &hidden
		}
	}
}

// standInMemory holds the stand-ins of all groups in few allocations.
type standInMemory struct {
	items    []ContextItem
	units    []itemUnits
	standIns []standIn
	members  []*ContextItem
}

// standInOf makes the stand-in of a group.
func (s *unitSet) standInOf(u *unit, made *standInMemory, b *chainBuilder) {
	candidates := s.membersOf(u)
	first := s.items[candidates[0]]
	from := len(made.members)
	for _, m := range candidates {
		made.members = append(made.members, s.items[m])
	}
	made.standIns = append(made.standIns, standIn{members: made.members[from:len(made.members):len(made.members)]})
	made.units = append(made.units, itemUnits{group: first.units.group, unit: &made.standIns[len(made.standIns)-1]})
	made.items = append(made.items, *first)
	it := &made.items[len(made.items)-1]
	it.units = &made.units[len(made.units)-1]
	it.kind, it.pinned = s.kindOf(candidates), u.pinned

	var tokens exact.Sum
	shrinks := false
	for _, m := range candidates {
		tokens.Add(s.tokensAt(m, s.start(m)))
		shrinks = shrinks || len(s.items[m].usedVariants()) > 0 || len(s.items[m].usedGroupVariants()) > 0
	}
	it.tokens = tokens.Int()
	u.item, u.tokens = it, it.tokens
	if shrinks && !s.fullOnly {
		b.chain(s, u, it.units.unit)
	}
}

// start is the variant that a candidate starts at: 0, or its smallest.
func (s *unitSet) start(candidate int) int32 {
	if s.shrunk(candidate) {
		return int32(len(s.items[candidate].units.variants.used))
	}
	return 0
}

// tokensAt returns the tokens of a candidate as one of its variants.
func (s *unitSet) tokensAt(candidate int, variant int32) int {
	if variant == 0 {
		return s.items[candidate].tokens
	}
	return s.items[candidate].units.variants.used[variant-1].Tokens
}

// kindOf returns the kind of most of the tokens, of equal ones the first.
func (s *unitSet) kindOf(candidates []int) ContextKind {
	first := s.items[candidates[0]].kind
	if !slices.ContainsFunc(candidates, func(m int) bool { return s.items[m].kind != first }) {
		return first
	}
	type share struct {
		kind   ContextKind
		tokens exact.Sum
	}
	var shares []share
	at := make(map[string]int)
	for _, m := range candidates {
		key := s.items[m].kind.Key()
		i, ok := at[key]
		if !ok {
			i = len(shares)
			at[key] = i
			shares = append(shares, share{kind: s.items[m].kind})
		}
		shares[i].tokens.Add(s.items[m].tokens)
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
	at    []int32 // by member: its variant
	heap  rateHeap
	forms []chainForm
	steps []int32

	allSteps []int32 // the steps of all chains, one after another
	allMade  []chainForm
	allForms []Form
}

// slab returns a copy of list in memory that other copies share. When that
// memory grows, earlier copies stay in the old one.
func slab[T any](memory *[]T, list []T) []T {
	from := len(*memory)
	*memory = append(*memory, list...)
	return (*memory)[from:len(*memory):len(*memory)]
}

// chainForm is a form of a group and how it is made: by the first steps of the
// chain, or by a group variant, counted from 1.
type chainForm struct {
	Form
	steps        int32
	groupVariant int32
}

// chain is CHAIN of the Units chapter.
func (b *chainBuilder) chain(s *unitSet, u *unit, to *standIn) {
	candidates := s.membersOf(u)
	b.forms, b.steps, b.heap = b.forms[:0], b.steps[:0], b.heap[:0]
	b.at = resize(b.at, len(candidates))
	sum := 0.0
	var tokens exact.Sum
	for i, m := range candidates {
		b.at[i] = s.start(m)
		n := s.tokensAt(m, b.at[i])
		sum += float64(n)
		tokens.Add(n)
	}
	loss := func(i int) float64 {
		item := s.items[candidates[i]]
		before := 1.0
		if b.at[i] > 0 {
			before = item.units.variants.used[b.at[i]-1].Worth
		}
		share := 1 / float64(len(candidates))
		if sum != 0 {
			share = float64(item.tokens) / sum
		}
		return float64(share * (before - item.units.variants.used[b.at[i]].Worth)) // rounded here, never fused
	}
	push := func(i int) {
		m := candidates[i]
		if item := s.items[m]; !item.pinned && !s.shrunk(m) && int(b.at[i]) < len(item.usedVariants()) {
			b.heap.push(rate{loss(i) / float64(s.tokensAt(m, b.at[i])-s.tokensAt(m, b.at[i]+1)), int32(i)})
		}
	}
	for i := range candidates {
		push(i)
	}
	worth := 1.0
	for len(b.heap) > 0 {
		i := int(b.heap.pop().at)
		m := candidates[i]
		worth = max(0, worth-loss(i))
		tokens.Sub(s.tokensAt(m, b.at[i]))
		b.at[i]++
		tokens.Add(s.tokensAt(m, b.at[i]))
		b.steps = append(b.steps, int32(i))
		if n := tokens.Int(); n < u.tokens { // sums above the largest int are clamped to it
			b.forms = append(b.forms, chainForm{Form: Form{n, worth}, steps: int32(len(b.steps))})
		}
		push(i)
	}
	if !u.pinned {
		for i, v := range s.groupVariants(u) {
			if v.Tokens < u.tokens {
				b.forms = append(b.forms, chainForm{Form: Form{v.Tokens, v.Worth}, groupVariant: int32(i) + 1})
			}
		}
	}
	slices.SortStableFunc(b.forms, func(a, b chainForm) int {
		return cmp.Or(cmp.Compare(b.Tokens, a.Tokens), cmp.Compare(b.Worth, a.Worth))
	})
	useful := withoutUseless(b.forms, func(f chainForm) Form { return f.Form })
	if len(useful) == 0 {
		return
	}
	to.steps, to.made = slab(&b.allSteps, b.steps), slab(&b.allMade, useful)
	from := len(b.allForms)
	for _, f := range useful {
		b.allForms = append(b.allForms, f.Form)
	}
	to.forms = b.allForms[from:len(b.allForms):len(b.allForms)]
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
	made := &unit.made[form-1]
	if made.groupVariant > 0 {
		return at, made.groupVariant
	}
	for _, i := range unit.steps[:made.steps] {
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

func (h *rateHeap) pop() rate {
	list := *h
	top, last := list[0], list[len(list)-1]
	list = list[:len(list)-1]
	*h = list
	for i := 0; i < len(list); {
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
