package cupel

import (
	"cmp"
	"context"
	"hash/maphash"
	"slices"

	"github.com/wollax/cupel-go/cupel/internal/exact"
	"github.com/wollax/cupel-go/cupel/internal/order"
)

// fitPinnedUnits shrinks pinned units until they fit, as far as it can, and
// adds up their tokens. It is FIT-PINNED of the Units chapter.
func (r *run) fitPinnedUnits() {
	u := r.units
	u.forms = resize(u.forms, len(u.pinned))
	clear(u.forms)
	r.pinnedTokens = exact.Sum{}
	for _, at := range u.pinned {
		r.pinnedTokens.Add(u.units[at].tokens)
	}
	wanted := min(r.budget.availableToPinned(), r.budget.targetTokens)
	if !r.pinnedTokens.Greater(wanted) {
		return
	}
	var heap rateHeap
	push := func(i int) {
		unit := &u.units[u.pinned[i]]
		if u.forms[i] < unit.forms {
			from, to := u.form(unit, u.forms[i]), u.form(unit, u.forms[i]+1)
			heap.push(rate{(from.Worth - to.Worth) * float64(unit.tokens) / float64(from.Tokens-to.Tokens), int32(i)})
		}
	}
	for i := range u.pinned {
		push(i)
	}
	for r.pinnedTokens.Greater(wanted) && len(heap) > 0 {
		i := int(heap.pop().at)
		unit := &u.units[u.pinned[i]]
		r.pinnedTokens.Sub(u.form(unit, u.forms[i]).Tokens)
		u.forms[i]++
		r.pinnedTokens.Add(u.form(unit, u.forms[i]).Tokens)
		push(i)
	}
}

// deduplicateUnits is stage 3 for candidates with units: older versions and near
// copies leave, and among units with the same contents only the one with the best score
// stays.
func (r *run) deduplicateUnits() {
	u := r.units
	for i, candidate := range r.scoreable {
		switch {
		case u.isOlder(candidate):
			r.exclude(candidate, r.scores[i], superseded(r.items[u.newest[candidate]]))
		case u.isCopy(candidate):
			c := &u.near[candidate]
			r.exclude(candidate, r.scores[i], nearDuplicate(r.items[c.of], int(c.shared), int(c.total)))
		}
	}
	u.survivor = resize(u.survivor, len(u.units))
	for i := range u.survivor {
		u.survivor[i] = int32(i)
	}
	if !r.pipeline.config.KeepDuplicates {
		r.findDuplicates()
	}
	r.unique = resize(r.unique, len(r.scoreable))[:0]
	for i, candidate := range r.scoreable {
		at := u.unitOf[candidate]
		winner := u.survivor[at]
		switch {
		case u.leaves(candidate), u.units[at].out: // a stream has kept its contents
		case winner == at:
			r.unique = append(r.unique, i)
		default:
			members := u.membersOf(&u.units[at])
			n, _ := slices.BinarySearch(members, candidate)
			against := u.membersOf(&u.units[winner])[n]
			r.exclude(candidate, u.scores[at], deduplicated(r.items[against]))
		}
	}
	r.trace.count = len(r.unique)
}

// findDuplicates finds the survivor of each scoreable unit.
func (r *run) findDuplicates() {
	u := r.units
	best := &r.hashes
	best.reset(len(u.units))
	for i := range u.units {
		unit := &u.units[i]
		if unit.out || unit.pinned || u.leaves(u.place(unit)) {
			best.slotOf[i] = uint32(len(best.slots)) // none
			continue
		}
		slot := best.findUnit(i, u.unitSet)
		if slot.item == none || u.scores[i] > u.scores[slot.item] { // as deduplicate does
			slot.item = int32(i)
		}
	}
	for i, at := range best.slotOf {
		if int(at) < len(best.slots) {
			u.survivor[i] = best.slots[at].item
		}
	}
}

// findUnit is find for the contents of a unit.
func (t *contentTable) findUnit(i int, s *unitSet) *contentSlot {
	members := s.membersOf(&s.units[i])
	hash := uint64(0)
	if s.units[i].group {
		for _, m := range members {
			hash = (hash + maphash.String(t.seed, s.items[m].content)) * 0x9E3779B97F4A7C15
			hash ^= hash >> 29
		}
	} else {
		hash = maphash.String(t.seed, s.items[members[0]].content)
	}
	at := t.slotAt(hash, func(item int32) bool { return s.sameContents(int(item), i) })
	t.slotOf[i] = at
	return &t.slots[at]
}

func (s *unitSet) sameContents(a, b int) bool {
	x, y := &s.units[a], &s.units[b]
	return x.group == y.group && slices.EqualFunc(s.membersOf(x), s.membersOf(y), func(a, b int) bool {
		return s.items[a].content == s.items[b].content
	})
}

// sortUnits is stage 4 for units. The list that the slicer sees has a stand-in
// for each unit.
func (r *run) sortUnits() {
	u := r.units
	r.keys = r.keys[:0]
	for i, unit := range u.units {
		if !unit.out && !unit.pinned && u.survivor[i] == int32(i) && !u.leaves(u.place(&unit)) {
			r.keys = append(r.keys, order.Pair{Key: order.Key(u.scores[i]), Index: i})
		}
	}
	order.SortDescending(r.keys)
	r.sorted, u.sorted = resize(r.sorted, len(r.keys)), resize(u.sorted, len(r.keys))
	for i, k := range r.keys {
		u.sorted[i] = sorted{unit: int32(k.Index), score: u.scores[k.Index]}
		r.sorted[i] = ScoredItem{Item: u.units[k.Index].item, Score: u.scores[k.Index]}
	}
	if len(u.newest) > 0 && !u.fullOnly && r.stream == nil {
		r.offerOlder()
	}
}

// offerOlder adds to the stand-ins the older versions that may return in their
// place.
func (r *run) offerOlder() {
	u := r.units
	// By unit: first its number of older versions, then where the next of them
	// goes in the lists below.
	next := resize(u.offers, len(u.units)+1)
	u.offers = next
	clear(next)
	offered := func(do func(unit int32, older olderVersion)) {
		for i, candidate := range r.scoreable {
			if !u.isOlder(candidate) {
				continue
			}
			at := u.survivor[u.unitOf[u.newest[candidate]]]
			if unit := &u.units[at]; !unit.group && !unit.pinned && r.items[candidate].tokens < unit.tokens {
				do(at, olderVersion{candidate, r.scores[i]})
			}
		}
	}
	units := 0
	offered(func(unit int32, _ olderVersion) {
		if next[unit+1] == 0 {
			units++
		}
		next[unit+1]++
	})
	if units == 0 {
		return
	}
	for i := range u.units {
		next[i+1] += next[i]
	}
	// A Prepared keeps these lists, and reports keep the stand-ins.
	total := next[len(u.units)]
	list, forms, made := make([]olderVersion, total), make([]Form, total), make([]madeStandIn, 0, units)
	offered(func(unit int32, older olderVersion) {
		list[next[unit]], forms[next[unit]] = older, Form{r.items[older.candidate].tokens, older.score}
		next[unit]++
	})
	for i := range u.sorted {
		unit := u.sorted[i].unit
		from, to := int32(0), next[unit] // next has moved on by one unit
		if unit > 0 {
			from = next[unit-1]
		}
		if from == to {
			continue
		}
		item := u.units[unit].item
		made = append(made, madeStandIn{item: *item, unit: standIn{older: forms[from:to:to]}})
		m := &made[len(made)-1]
		if item.units != nil {
			m.units = *item.units
		}
		m.units.unit, m.item.units = &m.unit, &m.units
		m.item.findLeast()
		u.sorted[i].older, r.sorted[i].Item = list[from:to:to], &m.item
	}
}

// sliceUnits is stage 5 for units.
func (r *run) sliceUnits(ctx context.Context) error {
	selection, err := Slice(ctx, r.pipeline.config.Slicer, r.sorted, r.effective)
	if err != nil {
		return err
	}
	r.shortfalls = selection.Shortfalls
	return r.chooseUnits(selection)
}

// chooseUnits takes a slicer's selection, and finds the reasons for what it
// left out.
func (r *run) chooseUnits(selection Selection) error {
	u := r.units
	forms := resize(u.taken, len(u.sorted))
	u.taken = forms
	for i := range forms {
		forms[i] = none
	}
	for _, at := range selection.Indices {
		forms[at] = 0
	}
	for _, s := range selection.Smaller {
		forms[s.Index] = int32(s.Form)
	}
	u.chosen, u.returned = u.chosen[:0], u.returned[:0]
	r.trace.count = 0
	for at, form := range forms {
		if form == none {
			continue
		}
		s := &u.sorted[at]
		unit := &u.units[s.unit]
		switch n := form - unit.forms; {
		case n <= 0:
			u.chosen = append(u.chosen, u.take(s.unit, form, s.score))
			r.trace.count += int(unit.size)
		case int(n) > len(s.older): // it has put another item there
			return contractError("slicer", r.pipeline.config.Slicer, "changed the list that it was given")
		default:
			older := s.older[n-1]
			u.returned = append(u.returned, chosen{none, 0, older.candidate, older.score, r.items[older.candidate].tokens})
			r.trace.count++
			forms[at] = none // the unit itself is out
		}
	}
	if len(u.returned) > 0 {
		u.chosen = mergeChosen(u.chosen, u.returned)
		r.takeBackReturned()
	}
	if r.trace.why() || r.stream != nil {
		r.excludeUnselectedUnits(selection, forms)
	}
	return nil
}

// mergeChosen adds returned to chosen, which is in order. Both are by score,
// and of equal scores by place, in the end.
func mergeChosen(chosenUnits, returned []chosen) []chosen {
	compare := func(a, b chosen) int {
		if x, y := order.Key(a.score), order.Key(b.score); x != y {
			return cmp.Compare(y, x)
		}
		return cmp.Compare(a.candidate, b.candidate)
	}
	slices.SortFunc(returned, compare)
	i, n := len(chosenUnits)-1, len(returned)
	all := slices.Grow(chosenUnits, n)[:len(chosenUnits)+n]
	for to := len(all) - 1; n > 0; to-- { // from the back, so that no unit is overwritten
		if i >= 0 && compare(returned[n-1], all[i]) < 0 {
			all[to] = all[i]
			i--
		} else {
			n--
			all[to] = returned[n]
		}
	}
	return all
}

// takeBackReturned removes the exclusions of older versions that have returned.
func (r *run) takeBackReturned() {
	t := &r.trace
	if !t.items {
		return
	}
	returned := newPositions(len(r.items))
	defer returned.free()
	for _, c := range r.units.chosen {
		if c.unit == none {
			returned.take(c.candidate)
		}
	}
	n := 0
	for i, e := range t.excluded {
		if returned.has(e.Candidate()) {
			continue
		}
		t.excluded[n], t.stages[n] = e, t.stages[i]
		n++
	}
	t.stageFrom -= len(t.excluded) - n
	clear(t.excluded[n:])
	t.excluded, t.stages = t.excluded[:n], t.stages[:n]
}

// excludeUnselectedUnits finds the reason for each member of each unit that was
// not chosen.
func (r *run) excludeUnselectedUnits(selection Selection, forms []int32) {
	u := r.units
	for _, d := range selection.Drops {
		forms[d.Index] = dropped
		s := &u.sorted[d.Index]
		for _, m := range u.membersOf(&u.units[s.unit]) {
			r.exclude(m, s.score, d.Reason)
		}
	}
	available := exact.Of(r.effective.TargetTokens).Minus(sumOf(u.chosen)).Int()
	target := r.budget.effective(r.pinnedTokens).TargetTokens
	withoutPinned := r.budget.effective(exact.Sum{}).TargetTokens
	for at, form := range forms {
		if form != none {
			continue
		}
		s := &u.sorted[at]
		unit := &u.units[s.unit]
		overridden := r.pinnedTokens.Greater(0) && unit.tokens > target && unit.tokens <= withoutPinned
		for _, m := range u.membersOf(unit) {
			reason := r.unitExceeds(unit, m, available)
			if overridden {
				reason = r.pinnedOverride()
			}
			r.exclude(m, s.score, reason)
		}
	}
}

// unitExceeds is BudgetExceeded for a member of a unit.
func (r *run) unitExceeds(u *unit, member, available int) ExclusionReason {
	reason := budgetExceeded(r.items[member].tokens, available)
	if u.group {
		reason.other = u.item // its tokens are those of the group
	}
	return reason
}

// numMembers returns the number of candidates that a chosen unit stands for.
func (u *unitRun) numMembers(c *chosen) int {
	if c.unit == none {
		return 1
	}
	return int(u.units[c.unit].size)
}

// numSelected returns the number of candidates that Slice chose.
func (r *run) numSelected() int {
	if r.units == nil {
		return len(r.selected)
	}
	n := 0
	for i := range r.units.chosen {
		n += r.units.numMembers(&r.units.chosen[i])
	}
	return n
}
