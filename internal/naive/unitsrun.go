package naive

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupel/pipeline"
)

// Decision is what the Units chapter adds to an entry of the report. It is
// there only for a run with groups, variants or version keys.
type Decision struct {
	Candidate int
	Form      int // of an included item
	Stale     bool
}

// unitStages is the pipeline of the Units chapter.
func (r *run) unitStages(items []*item) error {
	f := r.Fault
	r.result.Report = r.totals(items)

	var pinned, units []*unit
	var scoreable []*item
	for _, u := range unitsOf(items, f) {
		negative := slices.IndexFunc(u.members, func(m *member) bool { return m.tokens < 0 })
		for _, m := range u.members {
			r.members[m.position] = m
		}
		switch {
		case negative >= 0 && f != FaultNegativeMemberAlone:
			for _, m := range u.members {
				data := cupel.ReasonData{Tokens: u.members[negative].tokens}
				if f == FaultNegativeGroupOwnTokens {
					data.Tokens = m.tokens
				}
				r.exclude(m.item, 0.0, classifyStage, cupel.NewExclusionReason(cupel.ExcludeNegativeTokens, data))
			}
		case negative >= 0: // the fault: only the member leaves
			m := u.members[negative]
			r.exclude(m.item, 0.0, classifyStage, cupel.NewExclusionReason(cupel.ExcludeNegativeTokens, cupel.ReasonData{Tokens: m.tokens}))
			if u.members = slices.Delete(u.members, negative, negative+1); len(u.members) > 0 {
				units = append(units, u)
			}
		case u.pinned:
			pinned = append(pinned, u)
		default:
			units = append(units, u)
		}
	}
	for _, it := range items {
		if slices.Contains(units, r.members[it.position].unit) && slices.Contains(r.members[it.position].unit.members, r.members[it.position]) {
			scoreable = append(scoreable, it)
		}
	}
	if err := r.fitPinned(pinned); err != nil {
		return err
	}
	pinnedItems := countMembers(pinned)
	r.stageEvent(cupel.StageClassify, pinnedItems+len(scoreable))

	r.candidates = scoreable
	r.result.Scores = scoreAll(r.scorer, scoreable, f)
	for i, it := range scoreable {
		r.members[it.position].score = r.result.Scores[i]
	}
	for _, u := range units {
		u.setScore(f)
	}
	r.stageEvent(cupel.StageScore, len(scoreable))

	older := resolveVersions(slices.Concat(units, pinned), f)
	newestOf := map[*unit]*member{}
	for _, u := range older {
		newestOf[u] = r.newestOf(u, units, pinned)
	}
	copies := r.markCopies(slices.DeleteFunc(slices.Clone(units), func(u *unit) bool { return slices.Contains(older, u) }))
	for _, u := range slices.Concat(units, pinned) {
		if t := copies[u]; t != nil {
			r.excludeCopy(u, t)
		}
		if !slices.Contains(older, u) {
			continue
		}
		newest := newestOf[u]
		r.exclude(u.members[0].item, u.score, deduplicateStage, cupel.NewExclusionReason(cupel.ExcludeSuperseded, cupel.ReasonData{
			SupersededBy: newest.ref.Content(), Survivor: newest.ref,
		}))
	}
	current := slices.DeleteFunc(units, func(u *unit) bool { return slices.Contains(older, u) || copies[u] != nil })
	if !r.KeepDuplicates {
		var dropped []*unit
		current, dropped = deduplicateUnits(current, f)
		for _, u := range dropped {
			for i, m := range u.members {
				survivor := u.survive.members[min(i, len(u.survive.members)-1)]
				if f == FaultDedupAgainstFirstMember {
					survivor = u.survive.members[0]
				}
				r.exclude(m.item, u.score, deduplicateStage, cupel.NewExclusionReason(cupel.ExcludeDeduplicated, cupel.ReasonData{
					DeduplicatedAgainst: survivor.ref.Content(), Survivor: survivor.ref,
				}))
			}
		}
	}
	r.stageEvent(cupel.StageDeduplicate, countMembers(current))

	slices.SortStableFunc(current, func(a, b *unit) int {
		if c := byScore(a.score, b.score); c != 0 {
			return c
		}
		return a.place() - b.place()
	})
	for _, u := range current {
		u.setChain(f)
	}
	for _, u := range older {
		u.members[0].variants = nil // it comes back as it is
		u.setChain(FaultNone)
	}
	selected, err := r.sliceUnits(current)
	if err != nil {
		return err
	}
	r.stageEvent(cupel.StageSlice, countMembers(selected))

	count, err := r.placeUnits(pinned, selected)
	if err != nil {
		return err
	}
	r.stageEvent(cupel.StagePlace, count)
	return nil
}

func countMembers(units []*unit) int {
	n := 0
	for _, u := range units {
		n += len(u.members)
	}
	return n
}

// newestOf returns the newest version of what an older unit is.
func (r *run) newestOf(older *unit, lists ...[]*unit) *member {
	for _, u := range slices.Concat(lists...) {
		if !slices.Contains(u.older, older) {
			continue
		}
		for _, m := range u.members {
			if m.ref.VersionOf() == older.members[0].ref.VersionOf() && !m.stale {
				return m
			}
		}
	}
	return older.members[0] // under a fault
}

// fitPinned is FIT-PINNED.
func (r *run) fitPinned(pinned []*unit) error {
	f := r.Fault
	ceiling := r.budget.MaxTokens() - r.budget.OutputReserve()
	wanted := min(ceiling, r.budget.TargetTokens())
	if f == FaultFitPinnedToCeiling {
		wanted = ceiling
	}
	if f == FaultFitPinnedNever {
		wanted = math.MaxInt
	}
	for _, u := range pinned {
		u.setChain(f)
	}
	for sumTokens(pinned).exceeds(wanted, f) {
		best, least := -1, 0.0
		for i, u := range pinned {
			if u.form+1 == len(u.chain) {
				continue
			}
			a, b := u.chain[u.form], u.chain[u.form+1]
			weight := float64(u.chain[0].tokens)
			if f == FaultFitPinnedUnweighted {
				weight = 1
			}
			loss := float64((a.worth-b.worth)*weight) / float64(a.tokens-b.tokens)
			if best < 0 || loss < least || loss == least && f != FaultFitPinnedTieFirst {
				best, least = i, loss
			}
		}
		if best < 0 {
			break
		}
		pinned[best].form++
	}
	r.pinnedTotal = sumTokens(pinned)
	for _, u := range pinned {
		for _, m := range u.members {
			r.pinned = append(r.pinned, m.item)
		}
	}
	if r.pinnedTotal.exceeds(ceiling, f) {
		return &Error{Class: ClassPinned, Text: fmt.Sprintf("Pinned items require %d tokens, but only %d are available",
			r.pinnedTotal.tokens(f), ceiling)}
	}
	return nil
}

// sumTokens is the sum of the units' tokens in their forms.
func sumTokens(units []*unit) sum {
	var total sum
	for _, u := range units {
		total.add(u.tokens())
	}
	return total
}

// entryOf returns a unit as slicers see it, and the older versions that may come
// back in its place.
func (r *run) entryOf(u *unit) (entry, []*unit) {
	f := r.Fault
	e := entry{ScoredItem: cupel.ScoredItem{Item: u.standIn(f), Score: u.score}, forms: u.chain[1:]}
	var back []*unit
	for _, o := range u.older {
		if u.grouped && f != FaultOlderOfMembers {
			continue
		}
		if o.chain[0].tokens < u.chain[0].tokens {
			e.older = append(e.older, oldEntry{o.chain[0].tokens, o.score})
			back = append(back, o)
		}
	}
	return e, back
}

// sliceUnits is the Slice chapter over units: it returns those selected, in
// their forms and in the order of merging.
func (r *run) sliceUnits(sorted []*unit) ([]*unit, error) {
	f := r.Fault
	adjusted := effectiveBudget(r.budget, r.pinnedTotal, f)
	withoutPinned := effectiveBudget(r.budget, sum{}, f)
	list := make([]entry, len(sorted))
	back := make([][]*unit, len(sorted))
	for i, u := range sorted {
		list[i], back[i] = r.entryOf(u)
	}
	selection, err := sliceAll(r.slicer, list, adjusted, f)
	if err != nil {
		return nil, err
	}
	r.result.Report.CountRequirementShortfalls = selection.Shortfalls

	var selected []*unit
	in := make([]bool, len(sorted))
	for _, i := range selection.Indices {
		in[i] = true
		selected = append(selected, sorted[i])
	}
	for _, s := range selection.Smaller {
		u := sorted[s.Index]
		if s.Form < len(u.chain) {
			in[s.Index] = true
			u.form = s.Form
			selected = append(selected, u)
			continue
		}
		o := back[s.Index][s.Form-len(u.chain)]
		r.excluded = slices.DeleteFunc(r.excluded, func(e excluded) bool { return e.it.position == o.place() })
		if f == FaultOlderAtNewestPlace {
			o.score = u.score
		}
		selected = append(selected, o)
	}
	slices.SortStableFunc(selected, func(a, b *unit) int {
		if c := byScore(a.score, b.score); c != 0 {
			return c
		}
		return a.place() - b.place()
	})

	dropped := make([]*cupel.ExclusionReason, len(sorted))
	for _, d := range selection.Drops {
		dropped[d.Index] = &d.Reason
	}
	available := sumOf(adjusted.TargetTokens).minus(sumTokens(selected)).tokens(f)
	for i, u := range sorted {
		switch {
		case in[i]:
		case dropped[i] != nil:
			for _, m := range u.members {
				r.exclude(m.item, u.score, sliceStage, *dropped[i])
			}
		default:
			tokens := u.chain[0].tokens
			override := r.pinnedTotal.exceeds(0, f) && tokens > adjusted.TargetTokens && tokens <= withoutPinned.TargetTokens
			r.excludeForBudget(u, sliceStage, override, available)
		}
	}
	return selected, nil
}

// excludeForBudget leaves out a unit that did not fit.
func (r *run) excludeForBudget(u *unit, stage int, override bool, available int) {
	for _, m := range u.members {
		data := cupel.ReasonData{ItemTokens: m.tokens, AvailableTokens: available}
		if u.grouped && r.Fault != FaultGroupTokensMissing {
			data.GroupTokens = u.chain[0].tokens
		}
		if r.Fault == FaultItemTokensOfGroup {
			data.ItemTokens = u.chain[0].tokens
		}
		if r.Fault == FaultOverrideByMember && stage == sliceStage {
			override = override && !u.grouped
		}
		reason := cupel.NewExclusionReason(cupel.ExcludeBudgetExceeded, data)
		if override {
			reason = r.pinnedOverride()
		}
		score := u.score
		if r.Fault == FaultMembersOwnScore {
			score = m.score
		}
		r.exclude(m.item, score, stage, reason)
	}
}

// placeUnits is the Place chapter over units. It returns the number of
// candidates in the window.
func (r *run) placeUnits(pinned, selected []*unit) (int, error) {
	f := r.Fault
	for _, u := range pinned {
		u.score = 1.0
	}
	merged := slices.Concat(pinned, selected)
	target := r.budget.TargetTokens()
	total := sumTokens(merged)
	over := total.exceeds(target, f)
	if over && r.Overflow == pipeline.OverflowThrow {
		return 0, &Error{Class: ClassOverflow, Text: fmt.Sprintf("Selected items require %d tokens, exceeding target budget of %d",
			total.tokens(f), target)}
	}
	if over && r.Overflow == pipeline.OverflowTruncate {
		merged = r.truncateUnits(merged, target)
	}

	windows := make([][]*cupel.ContextItem, len(merged))
	list := make([]cupel.ScoredItem, len(merged))
	var items []*cupel.ContextItem
	for i, u := range merged {
		var err error
		if windows[i], err = u.window(f); err != nil {
			return 0, err
		}
		items = append(items, windows[i]...)
		list[i] = cupel.ScoredItem{Item: u.standIn(f), Score: u.score}
	}
	if over && r.Overflow == pipeline.OverflowProceed {
		r.result.Report.Overflow = &cupel.OverflowEvent{
			TokensOverBudget: total.minus(sumOf(target)).tokens(f),
			OverflowingItems: items,
			Budget:           r.budget,
		}
	}
	r.result.Items = make([]*cupel.ContextItem, 0, len(items))
	for _, i := range r.Placer.place(list, f) {
		r.result.Items = append(r.result.Items, windows[i]...)
		r.include(merged[i], windows[i])
	}
	return len(r.result.Report.Included), nil
}

// include reports the members of a unit with their items in the window, or with
// the one that stands for all of them.
func (r *run) include(u *unit, window []*cupel.ContextItem) {
	f := r.Fault
	g := u.chain[u.form]
	for i, m := range u.members {
		in := cupel.IncludedItem{Score: u.score, Reason: cupel.IncludeScored}
		d := Decision{Candidate: m.position, Stale: m.stale}
		switch {
		case g.note > 0:
			in.Item = window[0]
			if i > 0 && f != FaultGroupVariantTokensTwice {
				in.Item = withTokens(window[0], 0)
			}
			d.Form = len(m.ref.Variants()) + g.note
			if f == FaultGroupVariantFormFromOne {
				d.Form = g.note
			}
		default:
			in.Item, d.Form = window[i], g.at[i]
		}
		if f == FaultFormIsOfUnit {
			d.Form = u.form
		}
		switch {
		case u.pinned:
			in.Reason = cupel.IncludePinned
			if f == FaultPinnedReasonOwnOnly && !m.ref.Pinned() {
				in.Reason = cupel.IncludeScored
			}
		case m.tokens == 0, f == FaultZeroTokenOfForm && in.Item.Tokens() == 0:
			in.Reason = cupel.IncludeZeroToken
		}
		if f == FaultMembersOwnScore && !u.pinned {
			in.Score = m.score
		}
		r.result.Report.Included = append(r.result.Report.Included, in)
		r.result.Included = append(r.result.Included, d)
	}
}

// withTokens returns the item with other tokens.
func withTokens(it *cupel.ContextItem, tokens int) *cupel.ContextItem {
	return must(cupel.NewContextItem(it.Content(), tokens, fields(it)...))
}

// truncateUnits is TRUNCATE-UNITS.
func (r *run) truncateUnits(merged []*unit, target int) []*unit {
	f := r.Fault
	for _, pinned := range []bool{f == FaultTruncateShrinksPinnedFirst, f != FaultTruncateShrinksPinnedFirst} {
		for i := range merged {
			u := merged[len(merged)-1-i]
			if f == FaultTruncateShrinksFromFront {
				u = merged[i]
			}
			for u.pinned == pinned && sumTokens(merged).exceeds(target, f) && u.form+1 < len(u.chain) && f != FaultTruncateDropsFirst {
				u.form++
				if f == FaultTruncateShrinksToSmallest {
					u.form = len(u.chain) - 1
				}
			}
		}
	}
	if !sumTokens(merged).exceeds(target, f) {
		return merged
	}
	var kept []*unit
	var current, pinnedTotal sum
	for _, u := range merged {
		if u.pinned {
			pinnedTotal.add(u.tokens())
		}
	}
	for _, u := range merged {
		withUnit := current.plus(sumOf(u.tokens()))
		if u.pinned || !withUnit.exceeds(target, f) {
			kept = append(kept, u)
			current = withUnit
			continue
		}
		override := pinnedTotal.exceeds(0, f) && !withUnit.minus(pinnedTotal).exceeds(target, f)
		r.excludeForBudget(u, placeStage, override, sumOf(target).minus(current).tokens(f))
	}
	return kept
}

// window returns the unit's items, each in its form.
func (u *unit) window(f Fault) ([]*cupel.ContextItem, error) {
	g := u.chain[u.form]
	first := u.members[0].ref
	if g.note > 0 {
		it, err := inForm(first, u.groupVariants()[g.note-1], u.full(f), f)
		return []*cupel.ContextItem{it}, err
	}
	var items []*cupel.ContextItem
	for i, m := range u.members {
		it := m.ref
		if n := g.at[i]; n > 0 {
			var err error
			if it, err = inForm(m.ref, withContent(m.ref.Variants())[n-1], m.tokens, f); err != nil {
				return nil, err
			}
		}
		items = append(items, it)
	}
	return items, nil
}

// inForm returns an item in a smaller form.
func inForm(it *cupel.ContextItem, v cupel.Variant, full int, f Fault) (*cupel.ContextItem, error) {
	content := v.Content
	if v.Make != nil {
		made, err := v.Make(context.Background())
		if err == nil && made == "" {
			err = errors.New("the text is empty")
		}
		if err != nil {
			return nil, &Error{Class: ClassContent, Text: err.Error()}
		}
		content = made
	}
	opts := fields(it)
	if _, own := it.OriginalTokens(); (!own || f == FaultOriginalTokensReplaced) && f != FaultOriginalTokensMissing {
		opts = append(opts, cupel.WithOriginalTokens(full))
	}
	return cupel.NewContextItem(content, v.Tokens, opts...)
}
