package naive

import (
	"cmp"
	"slices"

	"github.com/wollax/cupel-go/cupel"
)

// unit is a group, or an item without one.
type unit struct {
	members []*member // in the order of the candidates
	grouped bool
	pinned  bool // a member is pinned by the caller
	score   float64
	chain   []form // form 0 first
	form    int    // the position in chain that was chosen
	older   []*unit
	survive *unit // the unit that this one duplicates
}

// member is an item as a part of its unit.
type member struct {
	*item
	unit     *unit
	score    float64
	size     int             // tokens in form 0 of the unit
	start    int             // its variant in form 0 of the unit, from 1; 0 is full
	variants []cupel.Variant // what it may become, largest first
	stale    bool
}

// form is a form of a unit.
type form struct {
	tokens int
	worth  float64
	at     []int // the variant of each member, from 1; 0 is full
	note   int   // the group variant that stands for all members, from 1; 0 is none
}

// hasUnits reports whether a candidate has a group, variants or a version key.
func hasUnits(items []*item) bool {
	return slices.ContainsFunc(items, func(it *item) bool {
		return it.ref.Group() != "" || it.ref.VersionOf() != "" || len(it.ref.Variants()) > 0 || len(it.ref.GroupVariants()) > 0
	})
}

// unitsOf returns the units of a list by place.
func unitsOf(items []*item, f Fault) []*unit {
	var units []*unit
	for _, it := range items {
		group := it.ref.Group()
		i := slices.IndexFunc(units, func(u *unit) bool { return group != "" && u.members[0].ref.Group() == group })
		if i < 0 || f == FaultGroupsIgnored {
			units = append(units, &unit{grouped: group != ""})
			i = len(units) - 1
		}
		u := units[i]
		m := &member{item: it, unit: u, size: it.tokens}
		if !it.ref.Pinned() || f == FaultPinnedMembersShrink {
			m.variants = withContent(it.ref.Variants())
		}
		u.members = append(u.members, m)
		u.pinned = u.pinned || it.ref.Pinned()
	}
	return units
}

// withContent leaves out the variants that were read without their content.
func withContent(variants []cupel.Variant) []cupel.Variant {
	return slices.DeleteFunc(slices.Clone(variants), func(v cupel.Variant) bool { return v.Content == "" && v.Make == nil })
}

func (u *unit) place() int  { return u.members[0].position }
func (u *unit) tokens() int { return u.chain[u.form].tokens }
func (u *unit) lone() bool  { return !u.grouped }

// full is the sum of the members' tokens as given.
func (u *unit) full(f Fault) int {
	var total sum
	for _, m := range u.members {
		total.add(m.tokens)
	}
	return total.tokens(f)
}

// score is the greatest of the members' scores; NaN is the least.
func (u *unit) setScore(f Fault) {
	u.score = u.members[0].score
	for _, m := range u.members[1:] {
		if byScore(m.score, u.score) < 0 && f != FaultUnitScoreOfFirst || f == FaultUnitScoreLeast && byScore(m.score, u.score) > 0 {
			u.score = m.score
		}
	}
}

// kind is the kind of most of the tokens of the members in full.
func (u *unit) kind(f Fault) cupel.ContextKind {
	if f == FaultUnitKindOfFirst {
		return u.members[0].ref.Kind()
	}
	var best cupel.ContextKind
	var most sum
	for i, m := range u.members {
		var tokens sum
		for _, other := range u.members {
			if equalFold(other.kind, m.kind) {
				tokens.add(other.tokens)
				if f == FaultUnitKindCountsMembers {
					tokens = tokens.minus(sumOf(other.tokens)).plus(sumOf(1))
				}
			}
		}
		if i == 0 || tokens.minus(most).exceeds(0, f) || f == FaultUnitKindTieLast && !most.minus(tokens).exceeds(0, f) {
			best, most = m.ref.Kind(), tokens
		}
	}
	return best
}

// groupVariants are those of the first member that has any.
func (u *unit) groupVariants() []cupel.Variant {
	if u.lone() {
		return nil
	}
	for _, m := range u.members {
		if variants := m.ref.GroupVariants(); len(variants) > 0 {
			return variants
		}
	}
	return nil
}

// setChain is CHAIN, with form 0 before it.
func (u *unit) setChain(f Fault) {
	var total sum
	sizes := 0.0
	at := make([]int, len(u.members))
	for i, m := range u.members {
		total.add(m.size)
		sizes += float64(m.size)
		at[i] = m.start
	}
	size := total.tokens(f)
	u.chain = []form{{tokens: size, worth: 1, at: slices.Clone(at)}}
	var forms []form
	worth := 1.0
	for {
		best, leastRate, bestLoss := -1, 0.0, 0.0
		for i, m := range u.members {
			if at[i] == len(m.variants) {
				continue
			}
			tokens, kept := m.size, 1.0
			if at[i] > 0 && m.start == 0 {
				tokens, kept = m.variants[at[i]-1].Tokens, m.variants[at[i]-1].Worth
			}
			next := m.variants[at[i]]
			share := float64(m.size) / sizes
			if sizes == 0 || f == FaultChainSharesEqual {
				share = 1 / float64(len(u.members))
			}
			loss := float64(share * (kept - next.Worth))
			rate := loss / float64(tokens-next.Tokens)
			if f == FaultChainByLoss {
				rate = loss
			}
			if best < 0 || rate < leastRate || rate == leastRate && f != FaultChainTieFirst {
				best, leastRate, bestLoss = i, rate, loss
			}
		}
		if best < 0 {
			break
		}
		worth = max(0, worth-bestLoss)
		if u.lone() {
			worth = u.members[0].variants[at[0]].Worth
		}
		at[best]++
		total = sum{}
		for i, m := range u.members {
			switch at[i] {
			case m.start:
				total.add(m.size)
			default:
				total.add(m.variants[at[i]-1].Tokens)
			}
		}
		forms = append(forms, form{tokens: total.tokens(f), worth: worth, at: slices.Clone(at)})
	}
	if !u.pinned || f == FaultPinnedGroupVariant {
		for i, v := range u.groupVariants() {
			if f != FaultGroupVariantIgnored && (v.Content != "" || v.Make != nil) {
				forms = append(forms, form{tokens: v.Tokens, worth: v.Worth, note: i + 1})
			}
		}
	}
	forms = slices.DeleteFunc(forms, func(g form) bool { return g.tokens >= size && f != FaultGroupVariantNotSmaller })
	if f != FaultUselessKept {
		forms = useful(forms)
	}
	slices.SortStableFunc(forms, func(a, b form) int {
		if f == FaultChainUnsorted {
			return 0
		}
		return b.tokens - a.tokens
	})
	u.chain = append(u.chain, forms...)
}

// useful is USEFUL.
func useful(forms []form) []form {
	var list []form
	for i, g := range forms {
		useless := false
		for j, other := range forms {
			equal := other.tokens == g.tokens && other.worth == g.worth
			if other.tokens <= g.tokens && other.worth >= g.worth && (!equal || j < i) {
				useless = true
			}
		}
		if !useless {
			list = append(list, g)
		}
	}
	return list
}

// shrink makes a stale member its smallest variant.
func (m *member) shrink() {
	if n := len(m.variants); n > 0 {
		m.start, m.size = n, m.variants[n-1].Tokens
	}
}

// standIn is what slicers and placers see of a unit.
func (u *unit) standIn(f Fault) *cupel.ContextItem {
	first := u.members[0].ref
	if u.lone() && u.form == 0 && u.members[0].start == 0 {
		return first
	}
	opts := append(fields(first), cupel.WithKind(u.kind(f)))
	return must(cupel.NewContextItem(first.Content(), u.tokens(), opts...))
}

// fields are the fields of an item without content, tokens and forms.
func fields(it *cupel.ContextItem) []cupel.ItemOption {
	opts := []cupel.ItemOption{cupel.WithKind(it.Kind()), cupel.WithSource(it.Source()), cupel.WithTags(it.Tags()...), cupel.WithMetadata(it.Metadata())}
	if priority, ok := it.Priority(); ok {
		opts = append(opts, cupel.WithPriority(priority))
	}
	if timestamp, ok := it.Timestamp(); ok {
		opts = append(opts, cupel.WithTimestamp(timestamp))
	}
	if hint, ok := it.FutureRelevanceHint(); ok {
		opts = append(opts, cupel.WithFutureRelevanceHint(hint))
	}
	if tokens, ok := it.OriginalTokens(); ok {
		opts = append(opts, cupel.WithOriginalTokens(tokens))
	}
	if it.Pinned() {
		opts = append(opts, cupel.WithPinned())
	}
	if it.Group() != "" {
		opts = append(opts, cupel.WithGroup(it.Group()))
	}
	if it.VersionOf() != "" {
		opts = append(opts, cupel.WithVersionOf(it.VersionOf()))
	}
	return opts
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

// resolveVersions is RESOLVE-VERSIONS. It returns the units that are older
// versions, by place.
func resolveVersions(units []*unit, f Fault) []*unit {
	var all []*member
	for _, u := range units {
		all = append(all, u.members...)
	}
	slices.SortFunc(all, func(a, b *member) int { return a.position - b.position })

	var older []*unit
	done := map[string]bool{}
	for _, m := range all {
		key := m.ref.VersionOf()
		if key == "" || done[key] || f == FaultVersionsIgnored {
			continue
		}
		done[key] = true
		var list []*member
		timed := true
		for _, v := range all {
			if v.ref.VersionOf() == key {
				list = append(list, v)
				timed = timed && v.hasTimestamp
			}
		}
		newest := list[0]
		for _, v := range list[1:] {
			switch {
			case f == FaultNewestIsFirst:
			case !timed && f != FaultVersionTimestampsMixed || f == FaultVersionTimestampsIgnored:
				newest = v
			case f == FaultVersionTieFirst && v.timestamp.Equal(newest.timestamp):
			case !v.timestamp.Before(newest.timestamp):
				newest = v
			}
		}
		for _, v := range list {
			if v == newest {
				continue
			}
			v.stale = f != FaultStaleUnmarked
			switch {
			case v.unit.lone() && (!v.unit.pinned || f == FaultVersionsRemovePinned), f == FaultVersionsRemoveMembers && !v.unit.pinned:
				older = append(older, v.unit)
				newest.unit.older = append(newest.unit.older, v.unit)
			case !v.unit.pinned && f != FaultStaleMemberStaysFull:
				v.shrink()
			}
		}
	}
	slices.SortFunc(older, func(a, b *unit) int { return a.place() - b.place() })
	return older
}

// deduplicateUnits is the Deduplicate chapter over units: it returns those that
// stay and those that are dropped, which have their survivor.
func deduplicateUnits(units []*unit, f Fault) (stay, dropped []*unit) {
	same := func(a, b *unit) bool {
		if f == FaultDedupLoneWithGroup {
			return a.members[0].ref.Content() == b.members[0].ref.Content() && len(a.members) == len(b.members)
		}
		if f == FaultDedupGroupsByFirst && a.grouped && b.grouped {
			return a.members[0].ref.Content() == b.members[0].ref.Content()
		}
		return a.grouped == b.grouped && (a.lone() || f != FaultDedupGroupsNever) &&
			slices.EqualFunc(a.members, b.members, func(a, b *member) bool { return a.ref.Content() == b.ref.Content() })
	}
	for i, u := range units {
		best := -1
		for j, other := range units {
			if (j == i || same(u, other)) && (best < 0 || other.score > units[best].score) {
				best = j
			}
		}
		if best == i {
			stay = append(stay, u)
			continue
		}
		u.survive = units[best]
		dropped = append(dropped, u)
	}
	for _, u := range dropped {
		if f != FaultOlderOfDuplicateLost {
			u.survive.older = append(u.survive.older, u.older...)
		}
	}
	for _, u := range stay {
		slices.SortFunc(u.older, func(a, b *unit) int { return cmp.Compare(a.place(), b.place()) })
	}
	return stay, dropped
}
