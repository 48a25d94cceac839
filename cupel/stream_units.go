package cupel

import (
	"cmp"
	"context"
	"slices"
	"strconv"
	"strings"

	"github.com/wollax/cupel-go/cupel/internal/exact"
	"github.com/wollax/cupel-go/cupel/internal/order"
)

// streamUnits is what a stream keeps once it has seen an item with a group,
// variants or a version key.
type streamUnits struct {
	open     []*ContextItem // the members of the current group
	arrivals []int          // of open
	closed   map[string]bool
	versions map[string][]*bool // by key: whether each kept item is stale
	contents map[string][]*ContextItem
	always   []keptUnit // pinned, in order of arrival
	kept     []keptUnit
}

// keptUnit is a unit that is in the window, in a form that does not change,
// unless an overflow drops it.
type keptUnit struct {
	standIn      *ContextItem
	members      []*ContextItem
	arrivals     []int
	stale        []*bool
	variants     []int32
	groupVariant int32
	all          []Variant // the group's
	tokens       int       // of the form
	group        bool
	pinned       bool
	score        float64
}

// takeUnit is take for streams with units. The item has been counted already.
func (s *stream) takeUnit(item *ContextItem, arrival int) error {
	u := s.groups
	group := item.Group()
	if len(u.open) > 0 && group != u.open[0].Group() {
		if err := s.closeGroup(); err != nil {
			return err
		}
	}
	if group == "" {
		return s.takeMembers([]*ContextItem{item}, []int{arrival})
	}
	if u.closed[group] {
		return s.fail(StageClassify, &InvalidItemError{arrival, "group",
			"is " + strconv.Quote(group) + ", which other items have ended: in a stream the members of a group come one after the other"})
	}
	u.open, u.arrivals = append(u.open, item), append(u.arrivals, arrival)
	return nil
}

// closeGroup classifies the current group.
func (s *stream) closeGroup() error {
	u := s.groups
	if u == nil || len(u.open) == 0 {
		return nil
	}
	members, arrivals := u.open, u.arrivals
	u.open, u.arrivals = nil, nil
	u.closed[members[0].Group()] = true
	return s.takeMembers(members, arrivals)
}

// takeMembers classifies a unit, and processes the batch once it is complete.
func (s *stream) takeMembers(members []*ContextItem, arrivals []int) error {
	if i := slices.IndexFunc(members, func(it *ContextItem) bool { return it.tokens < 0 }); i >= 0 {
		for n, it := range members {
			s.excludeNegative(it, members[i].tokens, arrivals[n])
		}
		return nil
	}
	if slices.ContainsFunc(members, (*ContextItem).Pinned) {
		return s.takePinned(members, arrivals)
	}
	s.batch, s.arrivals = append(s.batch, members...), append(s.arrivals, arrivals...)
	return s.processIfComplete()
}

// takePinned keeps a pinned unit in its full form: a stream never changes the
// form of what it has kept.
func (s *stream) takePinned(members []*ContextItem, arrivals []int) error {
	set, scratch := &unitSet{items: members}, new(unitScratch)
	if err := set.collect(&scratch.names); err != nil {
		return s.fail(StageClassify, err)
	}
	set.standIns(&scratch.chain)
	u := &set.units[0]
	s.groups.always = append(s.groups.always, s.keepUnit(keptUnit{
		standIn: u.item, members: members, arrivals: arrivals, tokens: u.tokens, group: u.group, pinned: true, score: pinnedScore,
	}))
	s.pinnedTokens.Add(u.tokens)
	if err := s.budget.checkPinned(s.pinnedTokens); err != nil {
		return s.fail(StageClassify, err)
	}
	s.full = s.left() <= 0
	return nil
}

// keepUnit marks what the unit makes stale, and records its keys.
func (s *stream) keepUnit(k keptUnit) keptUnit {
	for _, it := range k.members {
		stale := new(bool)
		k.stale = append(k.stale, stale)
		if key := it.VersionOf(); key != "" {
			for _, older := range s.groups.versions[key] {
				*older = true
			}
			s.groups.versions[key] = append(s.groups.versions[key], stale)
		}
	}
	return k
}

// beginUnits makes units of the batch.
func (s *stream) beginUnits() error {
	s.units = new(unitRun)
	set := &s.units.own
	s.units.unitSet = set
	set.items, set.fullOnly = s.items, s.pipeline.config.FullOnly
	scratch := &s.units.scratch
	if err := set.collect(&scratch.names); err != nil {
		return err
	}
	return set.resolve(s.ctx, &s.pipeline.config, scratch)
}

// contentKey returns a key that units with the same contents share.
func contentKey(members []*ContextItem, group bool) string {
	if !group {
		return members[0].content
	}
	var b strings.Builder
	for _, it := range members {
		b.WriteString(strconv.Itoa(len(it.content)) + "\x00" + it.content)
	}
	return "\x00" + b.String()
}

// leaveOutKept leaves out the units of the batch whose contents were kept
// before.
func (s *stream) leaveOutKept() {
	u := s.units
	if s.pipeline.config.KeepDuplicates {
		return
	}
	for i := range u.units {
		unit := &u.units[i]
		if u.leaves(u.place(unit)) {
			continue
		}
		candidates := u.membersOf(unit)
		kept, ok := s.groups.contents[contentKey(s.items[candidates[0]:candidates[0]+len(candidates)], unit.group)]
		if !ok {
			continue
		}
		unit.out = true
		for n, m := range candidates {
			s.exclude(m, u.scores[i], deduplicated(kept[n]))
		}
	}
}

// sliceUnitsOfBatch selects what fits from the batch, densest units first, and
// fills the rest with smaller forms.
func (s *stream) sliceUnitsOfBatch() error {
	s.sort()
	var sel Selection
	left := s.left()
	remaining := left
	if left > 0 {
		for _, d := range s.byDensity() {
			if tokens := s.sorted[d.Index].Item.tokens; tokens <= remaining {
				remaining -= tokens
				sel.Indices = append(sel.Indices, d.Index)
			}
		}
		if anyFillable(s.sorted) {
			sel = leftOver(s.sorted, left, sel)
		}
	}
	s.effective = SliceBudget{MaxTokens: max(0, left), TargetTokens: left}
	if err := s.chooseUnits(sel); err != nil {
		return err
	}
	u := s.units
	for i := range u.chosen {
		c := &u.chosen[i]
		unit := &u.units[c.unit]
		candidates := u.membersOf(unit)
		k := keptUnit{standIn: unit.item, tokens: c.tokens, group: unit.group, score: c.score}
		k.variants, k.groupVariant = u.variantsAt(unit, c.form, nil)
		if k.groupVariant > 0 {
			k.all = u.groupVariants(unit)
		}
		for _, m := range candidates {
			k.members, k.arrivals = append(k.members, s.items[m]), append(k.arrivals, s.arrivals[m])
		}
		k = s.keepUnit(k)
		for n, m := range candidates { // a newer one may have come in this batch
			*k.stale[n] = *k.stale[n] || u.isStale(m)
		}
		s.groups.kept = append(s.groups.kept, k)
		s.spent.Add(k.tokens)
		s.groups.contents[contentKey(k.members, k.group)] = k.members
	}
	return nil
}

// placeKeptUnits is placeKept for streams with units.
func (s *stream) placeKeptUnits(ctx context.Context) error {
	kept := s.groups.kept
	slices.SortFunc(kept, func(a, b keptUnit) int {
		return cmp.Or(cmp.Compare(order.Key(b.score), order.Key(a.score)), cmp.Compare(a.arrivals[0], b.arrivals[0]))
	})
	list := slices.Concat(s.groups.always, kept)
	set := &unitSet{}
	s.items, s.arrivals = nil, nil
	var tokens exact.Sum
	for _, k := range list {
		tokens.Add(k.tokens)
		for n := range k.members {
			s.items, s.arrivals, set.stale = append(s.items, k.members[n]), append(s.arrivals, k.arrivals[n]), append(set.stale, *k.stale[n])
		}
	}
	set.items = s.items
	s.units = &unitRun{unitSet: set}
	target := s.budget.targetTokens
	if tokens.Greater(target) {
		switch s.pipeline.config.Overflow {
		case OverflowTruncate:
			list = s.truncateKept(list)
		case OverflowProceed:
			s.units.over = tokens.Minus(exact.Of(target)).Int()
		default:
			return &OverflowError{MergedTokens: tokens.Int(), TargetTokens: target}
		}
	}
	for i := range list {
		placed, standIn, err := s.materialiseKept(ctx, &list[i])
		if err != nil {
			return err
		}
		s.units.placed = append(s.units.placed, placed)
		s.merged = append(s.merged, ScoredItem{Item: standIn, Score: list[i].score})
	}
	s.tellOverflowOfUnits()
	placed, err := place(ctx, s.pipeline.config.Placer, nil, s.merged)
	if err != nil {
		return err
	}
	s.trace.count = 0
	for _, at := range placed {
		s.window = append(s.window, s.units.placed[at].items...)
		s.trace.count += len(list[at].members)
		s.explainKept(&list[at], &s.units.placed[at])
	}
	return nil
}

// truncateKept is TRUNCATE over units in their current forms.
func (s *stream) truncateKept(list []keptUnit) []keptUnit {
	target := s.budget.targetTokens
	running, from := exact.Sum{}, 0
	kept := list[:0]
	for _, k := range list {
		total := running
		total.Add(k.tokens)
		if k.pinned || !total.Greater(target) {
			running = total
			kept = append(kept, k)
		} else {
			available := exact.Of(target).Minus(running).Int()
			overridden := s.pinnedTokens.Greater(0) && !total.Minus(s.pinnedTokens).Greater(target)
			for n, it := range k.members {
				reason := budgetExceeded(it.tokens, available)
				if k.group {
					reason.other = k.standIn
				}
				if overridden {
					reason = s.pinnedOverride()
				}
				s.exclude(from+n, k.score, reason)
			}
		}
		from += len(k.members)
	}
	return kept
}

func (s *stream) materialiseKept(ctx context.Context, k *keptUnit) (placed placedUnit, standIn *ContextItem, err error) {
	placed = placedUnit{variants: k.variants, groupVariant: k.groupVariant}
	full := exact.Sum{}
	for _, it := range k.members {
		full.Add(it.tokens)
	}
	if k.groupVariant > 0 {
		item, err := s.units.made.smaller(ctx, k.members[0], k.arrivals[0], &k.all[k.groupVariant-1], full.Int(), "groupVariants", k.groupVariant)
		if err != nil {
			return placedUnit{}, nil, err
		}
		placed.items = []*ContextItem{item}
	} else {
		for n, it := range k.members {
			if len(k.variants) > 0 && k.variants[n] > 0 {
				if it, err = s.units.made.smaller(ctx, it, k.arrivals[n], &it.usedVariants()[k.variants[n]-1], it.tokens, "variants", k.variants[n]); err != nil {
					return placedUnit{}, nil, err
				}
			}
			placed.items = append(placed.items, it)
		}
	}
	if !k.group {
		return placed, placed.items[0], nil
	}
	return placed, s.units.made.standInAs(k.standIn, placed.items[0], k.tokens), nil
}

// explainKept adds the entries of a unit that is in the window.
func (s *stream) explainKept(k *keptUnit, placed *placedUnit) {
	for n, full := range k.members {
		e := placed.entry(n, full, k.pinned, k.score)
		e.at = (e.at | originOf(k.arrivals[n]) | originHasAt).withStale(*k.stale[n])
		s.trace.included = append(s.trace.included, e)
	}
}

func (s *stream) newGroups() {
	s.groups = &streamUnits{closed: make(map[string]bool), versions: make(map[string][]*bool), contents: make(map[string][]*ContextItem)}
	for _, k := range s.always { // from earlier batches
		s.groups.always = append(s.groups.always, s.keepUnit(keptUnit{
			standIn: k.item, members: []*ContextItem{k.item}, arrivals: []int{k.arrival}, tokens: k.item.tokens, pinned: true, score: k.score,
		}))
	}
	for _, k := range s.kept {
		s.groups.kept = append(s.groups.kept, s.keepUnit(keptUnit{
			standIn: k.item, members: []*ContextItem{k.item}, arrivals: []int{k.arrival}, tokens: k.item.tokens, score: k.score,
		}))
		s.groups.contents[k.item.content] = []*ContextItem{k.item}
	}
}
