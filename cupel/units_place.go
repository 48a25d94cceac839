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
		u.merged = append(u.merged, chosen{at, u.forms[i], u.place(&u.units[at]), pinnedScore})
	}
	u.merged = append(u.merged, u.chosen...)
	tokens := u.sumOf(u.merged)
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
		for n := u.numForms(unit); tokens.Greater(target) && int(c.form) < n; {
			tokens.Sub(u.tokensOf(c))
			c.form++
			tokens.Add(u.tokensOf(c))
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
	pinnedTokens := u.sumOf(u.merged[:pinned])
	running, kept := pinnedTokens, pinned
	for i := pinned; i < len(u.merged); i++ {
		c := &u.merged[i]
		total := running
		total.Add(u.tokensOf(c))
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
	u.variants = u.variants[:0]
	u.placed, r.merged = resize(u.placed, n), resize(r.merged, n)
	windowed := 0
	for i := range u.merged {
		c := &u.merged[i]
		placed, item, err := r.materialise(ctx, c)
		if err != nil {
			return err
		}
		u.placed[i], r.merged[i] = placed, ScoredItem{Item: item, Score: c.score}
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

// materialise makes the items of a chosen unit, and what the placer sees of it.
func (r *run) materialise(ctx context.Context, c *chosen) (placed placedUnit, standIn *ContextItem, err error) {
	u := r.units
	if c.unit == none {
		item := r.items[c.candidate]
		return placedUnit{items: r.items[c.candidate : c.candidate+1 : c.candidate+1]}, item, nil
	}
	unit := &u.units[c.unit]
	if !unit.group && c.form == 0 { // the usual case
		item := r.items[c.candidate]
		return placedUnit{items: r.items[c.candidate : c.candidate+1 : c.candidate+1]}, item, nil
	}
	members := u.membersOf(unit)
	if unit.group && c.form == 0 && (len(u.stale) == 0 || !slices.ContainsFunc(members, u.shrunk)) {
		return placedUnit{items: unit.item.units.unit.members}, unit.item, nil
	}
	from := len(u.variants)
	u.variants = slices.Grow(u.variants, len(members))
	at, groupVariant := u.variantsAt(unit, c.form, u.variants[from:from])
	u.variants = u.variants[:from+len(members)]
	placed = placedUnit{variants: at, groupVariant: groupVariant}
	if groupVariant > 0 {
		var full exact.Sum
		for _, m := range members {
			full.Add(r.items[m].tokens)
		}
		item, err := smaller(ctx, r.items[members[0]], members[0], &u.groupVariants(unit)[groupVariant-1], full.Int(), "groupVariants", groupVariant)
		if err != nil {
			return placedUnit{}, nil, err
		}
		placed.items = []*ContextItem{item}
	} else {
		placed.items = make([]*ContextItem, len(members))
		for i, m := range members {
			item := r.items[m]
			if at[i] > 0 {
				if item, err = smaller(ctx, item, m, &item.units.variants.used[at[i]-1], item.tokens, "variants", at[i]); err != nil {
					return placedUnit{}, nil, err
				}
			}
			placed.items[i] = item
		}
	}
	if !unit.group {
		return placed, placed.items[0], nil
	}
	return placed, standInAs(unit.item, placed.items[0], u.tokensOf(c)), nil
}

// standInAs returns a stand-in with the fields of its first item in the window.
func standInAs(standIn, first *ContextItem, tokens int) *ContextItem {
	stand := *first
	stand.kind, stand.pinned, stand.units, stand.tokens = standIn.kind, standIn.pinned, standIn.units, tokens
	return &stand
}

// smaller returns a smaller form of a candidate. full is the tokens of what the
// form stands for.
func smaller(ctx context.Context, whole *ContextItem, candidate int, v *Variant, full int, field string, n int32) (*ContextItem, error) {
	item := *whole
	item.content, item.tokens = v.Content, v.Tokens
	if v.Make != nil {
		var err error
		if item.content, err = makeContent(ctx, v.Make); err != nil {
			return nil, &ContentError{Index: candidate, Field: fmt.Sprintf("%s[%d]", field, n-1), Err: err}
		}
		if item.content == "" {
			return nil, &ContentError{Index: candidate, Field: fmt.Sprintf("%s[%d]", field, n-1)}
		}
	}
	if item.has&hasOriginalTokens == 0 {
		item.originalTokens, item.has = full, item.has|hasOriginalTokens
	}
	group, versionOf := item.units.group, item.units.versionOf
	item.units = nil
	if group != "" || versionOf != "" {
		item.units = &itemUnits{group: group, versionOf: versionOf}
	}
	return &item, nil
}

// explainIncludedUnits lists the members of the units in the window, each with
// its own entry.
func (r *run) explainIncludedUnits() {
	u, t := r.units, &r.trace
	t.included = make([]IncludedItem, 0, t.count)
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
