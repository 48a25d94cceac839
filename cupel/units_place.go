package cupel

import (
	"context"
	"fmt"
	"slices"

	"github.com/wollax/cupel-go/cupel/internal/exact"
)

// mergeUnitsWithinTarget is mergeWithinTarget for units. Under Proceed, an
// overflow is reported only once there is a window.
func (r *run) mergeUnitsWithinTarget() error {
	u := r.units
	u.merged = u.merged[:0]
	for i, at := range u.pinned {
		u.merged = append(u.merged, u.take(at, u.forms[i], pinnedScore))
	}
	u.merged = append(u.merged, u.chosen...)
	tokens := sumOf(u.merged)
	target := r.budget.targetTokens
	u.over = 0
	if !tokens.Greater(target) {
		return nil
	}
	switch r.pipeline.config.Overflow {
	case OverflowTruncate:
		r.truncateUnits(tokens)
		return nil
	case OverflowProceed:
		u.over = tokens.Minus(exact.Of(target)).Int()
		return nil
	default:
		return &OverflowError{MergedTokens: tokens.Int(), TargetTokens: target}
	}
}

// truncateUnits is TRUNCATE-UNITS of the Units chapter.
func (r *run) truncateUnits(tokens exact.Sum) {
	u := r.units
	target := r.budget.targetTokens
	shrink := func(c *chosen) {
		if c.unit == none {
			return
		}
		unit := &u.units[c.unit]
		for tokens.Greater(target) && c.form < unit.forms {
			tokens.Sub(c.tokens)
			c.form++
			c.tokens = u.form(unit, c.form).Tokens
			tokens.Add(c.tokens)
		}
	}
	pinned := len(u.pinned)
	for i := len(u.merged) - 1; i >= pinned; i-- {
		shrink(&u.merged[i])
	}
	for i := pinned - 1; i >= 0; i-- {
		shrink(&u.merged[i])
	}
	if !tokens.Greater(target) {
		return
	}
	pinnedTokens := sumOf(u.merged[:pinned])
	running, kept := pinnedTokens, pinned
	for i := pinned; i < len(u.merged); i++ {
		c := &u.merged[i]
		total := running
		total.Add(c.tokens)
		if total.Greater(target) {
			r.excludeTruncatedUnit(c, pinnedTokens, running, total)
			continue
		}
		running = total
		u.merged[kept] = *c
		kept++
	}
	u.merged = u.merged[:kept]
}

func (r *run) excludeTruncatedUnit(c *chosen, pinned, running, total exact.Sum) {
	if !r.trace.why() {
		return
	}
	u := r.units
	target := r.budget.targetTokens
	available := exact.Of(target).Minus(running).Int()
	overridden := pinned.Greater(0) && !total.Minus(pinned).Greater(target)
	var one [1]int
	for _, m := range u.candidatesOf(c, &one) {
		reason := budgetExceeded(r.items[m].tokens, available)
		if c.unit != none {
			reason = r.unitExceeds(&u.units[c.unit], m, available)
		}
		if overridden {
			reason = r.pinnedOverride()
		}
		r.exclude(m, c.score, reason)
	}
}

// mergedCandidates returns the candidates that merged stands for, in its order.
func (u *unitRun) mergedCandidates() []int {
	var candidates []int
	for i := range u.merged {
		var one [1]int
		candidates = append(candidates, u.candidatesOf(&u.merged[i], &one)...)
	}
	return candidates
}

// mergedForms returns the forms of mergedCandidates, as reports have them.
func (u *unitRun) mergedForms() []int32 {
	var forms []int32
	for i := range u.merged {
		c := &u.merged[i]
		if c.unit == none {
			forms = append(forms, 0)
			continue
		}
		unit := &u.units[c.unit]
		at, groupVariant := u.variantsAt(unit, c.form, nil)
		for n, m := range u.membersOf(unit) {
			if groupVariant > 0 {
				at[n] = int32(len(u.items[m].usedVariants())) + groupVariant
			}
		}
		forms = append(forms, at...)
	}
	return forms
}

// placedUnit is a unit as it appears in the window.
type placedUnit struct {
	items        []*ContextItem // of the window
	variants     []int32        // of its members; nil when all are full
	groupVariant int32          // that stands for all members, counted from 1
	empty        *ContextItem   // the group variant without tokens
}

// placeUnits is stage 6 for units.
func (r *run) placeUnits(ctx context.Context) error {
	u := r.units
	if err := r.mergeUnitsWithinTarget(); err != nil {
		return err
	}
	n := len(u.merged)
	u.variants, u.windowed = u.variants[:0], u.windowed[:0]
	u.placed, r.merged = resize(u.placed, n), resize(r.merged, n)
	windowed := 0
	for i := range u.merged {
		c := &u.merged[i]
		placed := &u.placed[i]
		*placed = placedUnit{}
		item, err := r.materialise(ctx, c, placed)
		if err != nil {
			return err
		}
		r.merged[i] = ScoredItem{Item: item, Score: c.score}
		windowed += len(placed.items)
	}
	r.tellOverflowOfUnits()
	order, err := place(ctx, r.pipeline.config.Placer, r.order, r.merged)
	if err != nil {
		return err
	}
	if _, appended := appends(r.pipeline.config.Placer); appended {
		r.order = order
	}
	r.window = make([]*ContextItem, 0, windowed)
	r.trace.count = 0
	for _, at := range order {
		r.window = append(r.window, u.placed[at].items...)
		r.trace.count += u.numMembers(&u.merged[at])
	}
	r.trace.placed = order
	return nil
}

// tellOverflowOfUnits is reportOverflow for units.
func (r *run) tellOverflowOfUnits() {
	u := r.units
	r.over = u.over
	observer := r.pipeline.config.OnOverflow
	if r.dry {
		observer = nil
	}
	if u.over == 0 || observer == nil && !r.trace.report {
		return
	}
	event := OverflowEvent{TokensOverBudget: u.over, Budget: r.budget}
	for _, p := range u.placed {
		event.OverflowingItems = append(event.OverflowingItems, p.items...)
	}
	if r.trace.report {
		r.overflow = event.clone()
	}
	if observer != nil {
		observer(event)
	}
}

// materialise makes the items of a chosen unit, and returns what the placer sees
// of it.
func (r *run) materialise(ctx context.Context, c *chosen, placed *placedUnit) (*ContextItem, error) {
	u := r.units
	if c.unit == none || c.form == 0 && !u.units[c.unit].group { // the usual case
		placed.items = r.items[c.candidate : c.candidate+1 : c.candidate+1]
		return placed.items[0], nil
	}
	unit := &u.units[c.unit]
	members := u.membersOf(unit)
	if c.form == 0 && (len(u.stale) == 0 || !slices.ContainsFunc(members, u.shrunk)) {
		placed.items = unit.item.units.unit.members
		return unit.item, nil
	}
	from := len(u.variants)
	u.variants = slices.Grow(u.variants, len(members))
	placed.variants, placed.groupVariant = u.variantsAt(unit, c.form, u.variants[from:from])
	u.variants = u.variants[:from+len(members)]
	first := len(u.windowed)
	if placed.groupVariant > 0 {
		var full exact.Sum
		for _, m := range members {
			full.Add(r.items[m].tokens)
		}
		item, err := u.made.smaller(ctx, r.items[members[0]], members[0], &u.groupVariants(unit)[placed.groupVariant-1], full.Int(), "groupVariants", placed.groupVariant)
		if err != nil {
			return nil, err
		}
		u.windowed = append(u.windowed, item)
	} else {
		for i, m := range members {
			item := r.items[m]
			if n := placed.variants[i]; n > 0 {
				var err error
				if item, err = u.made.smaller(ctx, item, m, &item.usedVariants()[n-1], item.tokens, "variants", n); err != nil {
					return nil, err
				}
			}
			u.windowed = append(u.windowed, item)
		}
	}
	placed.items = u.windowed[first:len(u.windowed):len(u.windowed)]
	if !unit.group {
		return placed.items[0], nil
	}
	return u.made.standInAs(unit.item, placed.items[0], c.tokens), nil
}

// madeItems holds the items that a run makes. Several are allocated at once.
type madeItems struct {
	items slab[ContextItem]
	units slab[itemUnits]
}

// slab hands out new values from arrays, each twice as long as the one before.
// It is meant for values that are kept and dropped together: as long as one is
// in use, so is the memory of its neighbours.
type slab[T any] struct {
	free []T
	last int // length of the last array
}

func (s *slab[T]) next() *T {
	const least, most = 2, 64
	if len(s.free) == 0 {
		s.last = min(max(least, 2*s.last), most)
		s.free = make([]T, s.last)
	}
	next := &s.free[0]
	s.free = s.free[1:]
	return next
}

// standInAs returns a stand-in with the fields of its first item in the window.
func (made *madeItems) standInAs(standIn, first *ContextItem, tokens int) *ContextItem {
	stand := made.items.next()
	*stand = *first
	stand.kind, stand.pinned, stand.units, stand.tokens, stand.least = standIn.kind, standIn.pinned, standIn.units, tokens, standIn.least
	return stand
}

// smaller returns a smaller form of a candidate. full is the tokens of what the
// form stands for.
func (made *madeItems) smaller(ctx context.Context, whole *ContextItem, candidate int, v *Variant, full int, field string, n int32) (*ContextItem, error) {
	content := v.Content
	if v.Make != nil {
		var err error
		if content, err = makeContent(ctx, v.Make); err != nil {
			return nil, &ContentError{Index: candidate, Field: fmt.Sprintf("%s[%d]", field, n-1), Err: err}
		}
		if content == "" {
			return nil, &ContentError{Index: candidate, Field: fmt.Sprintf("%s[%d]", field, n-1)}
		}
	}
	item := made.items.next()
	*item = *whole
	item.content, item.tokens, item.units, item.least = content, v.Tokens, nil, 0
	if item.has&hasOriginalTokens == 0 {
		item.originalTokens, item.has = full, item.has|hasOriginalTokens
	}
	if whole.units.group != "" || whole.units.versionOf != "" {
		item.units = made.units.next()
		item.units.group, item.units.versionOf = whole.units.group, whole.units.versionOf
	}
	return item, nil
}

// explainIncludedUnits lists the members of the units in the window, each with
// its own entry.
func (r *run) explainIncludedUnits() {
	u, t := r.units, &r.trace
	t.included = slices.Grow(t.included[:0], t.count)
	for _, at := range t.placed {
		c, placed := &u.merged[at], &u.placed[at]
		var one [1]int
		for i, m := range u.candidatesOf(c, &one) {
			e := placed.entry(i, r.items[m], u.units[u.unitOf[m]].pinned, c.score)
			e.at = (e.at | originOf(m) | originHasAt).withStale(u.isStale(m))
			t.included = append(t.included, e)
		}
	}
}

// entry returns the entry of a member; full is the member as it was given. The
// entry's origin has only the form.
func (p *placedUnit) entry(member int, full *ContextItem, pinned bool, score float64) IncludedItem {
	e := IncludedItem{Score: score, Reason: IncludeScored}
	shared := origin(0)
	switch {
	case pinned: // before the tokens are checked (R26)
		e.Reason = IncludePinned
	case full.tokens == 0:
		e.Reason = IncludeZeroToken
	}
	form := 0
	switch p.groupVariant {
	case 0:
		e.Item = p.items[member]
		if p.variants != nil {
			form = int(p.variants[member])
		}
	default:
		form = len(full.usedVariants()) + int(p.groupVariant)
		e.Item = p.items[0]
		if member > 0 {
			e.Item, shared = p.withoutTokens(), originShared
		}
	}
	e.at = shared.withForm(form)
	return e
}

// withoutTokens returns the group variant with 0 tokens, for the entries of all
// members but the first.
func (p *placedUnit) withoutTokens() *ContextItem {
	if p.empty == nil {
		item := *p.items[0]
		item.tokens = 0
		p.empty = &item
	}
	return p.empty
}
