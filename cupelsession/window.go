package cupelsession

import (
	"cmp"
	"slices"

	"github.com/wollax/cupel-go/cupel"
)

// layout is the stable part of a window, and where each candidate is.
type layout struct {
	*candidates
	at     []int32 // the entry that each candidate is in, or out or inTail
	window []entry
	tokens int // of window
}

const (
	out    = -1
	inTail = -2
)

// entry is a piece of the window: an item as it is, or a smaller form that stands
// for an item or for all members of a group.
type entry struct {
	Keys    []string           `json:"keys"` // of the items that it stands for
	Summary bool               `json:"summary,omitempty"`
	Hash    string             `json:"hash,omitempty"` // of an item as it is, in JSON
	Form    string             `json:"form,omitempty"` // what was sent in their place
	Tokens  int                `json:"tokens"`         // as sent
	Held    *cupel.ContextItem `json:"-"`              // as sent

	first int // candidate of this turn; the others follow
}

// whole reports whether an entry is an item as it is.
func (e *entry) whole() bool { return e.Form == "" }

func byFirst(a, b entry) int { return cmp.Compare(a.first, b.first) }

func tokensOf(window []entry) int {
	tokens := 0
	for i := range window {
		tokens += window[i].Tokens
	}
	return tokens
}

// next returns the layout that keeps everything as it was sent, and appends the
// new items. fresh is their tokens. split reports whether something that is out,
// or in a smaller form, must come in.
func (l *layout) next(now *candidates) (to *layout, fresh int, split bool) {
	to = &layout{candidates: now}
	to.keep(l)
	groups := map[string]bool{} // that have changed
	for i, item := range to.items {
		switch n := to.at[i]; {
		case to.tail[i] || item.Tokens() < 0:
			continue
		case to.were[i] >= 0:
			split = split || item.Pinned() && (n == out || !to.window[n].whole())
			continue
		}
		fresh += item.Tokens()
		groups[item.Group()] = true
		to.at[i] = int32(len(to.window))
		to.window = append(to.window, entry{Keys: []string{to.keys[i]}, Tokens: item.Tokens(), Held: item, first: i})
	}
	delete(groups, "")
	split = to.splits(groups) || split
	if !slices.IsSortedFunc(to.window, byFirst) {
		slices.SortStableFunc(to.window, byFirst)
		to.number()
	}
	to.tokens = tokensOf(to.window)
	return to, fresh, split
}

// keep takes over the entries whose items are still there.
func (l *layout) keep(before *layout) {
	l.at = make([]int32, len(l.items))
	there, first := make([]int, len(before.window)), make([]int, len(before.window))
	parted := make([]bool, len(before.window)) // a new item in another group has the contents of a member that is gone
	for i, k := range l.were {
		switch {
		case l.tail[i]:
			l.at[i] = inTail
			continue
		case k < 0 || before.at[k] == out || l.items[i].Tokens() < 0:
			l.at[i] = out
			continue
		}
		n := before.at[k]
		l.at[i] = n
		if there[n] == 0 {
			first[n] = i
		}
		there[n]++
		parted[n] = parted[n] || l.items[i].Group() != l.items[first[n]].Group()
	}
	l.window = make([]entry, 0, len(before.window)+8)
	moved := make([]int32, len(before.window)) // to where, or out
	for n, e := range before.window {
		if e.Summary && there[n] < leastSummarized || !e.Summary && (there[n] < len(e.Keys) || parted[n]) {
			moved[n] = out // removed, or edited
			continue
		}
		if there[n] < len(e.Keys) {
			e.Keys = l.still(e.Keys)
		}
		e.first = first[n]
		if item := l.items[e.first]; e.whole() {
			e.Held, e.Tokens = item, item.Tokens()
		} else if e.Held == nil || !e.Summary && e.Held.Group() != item.Group() {
			e.Held = formOf(item, e.Form, e.Tokens)
		}
		moved[n] = int32(len(l.window))
		l.window = append(l.window, e)
	}
	for i, n := range l.at {
		if n >= 0 {
			l.at[i] = moved[n]
		}
	}
}

// still returns the keys of a summary whose items are still there. The summary
// no longer stands for items that are gone, or for new items that get their
// keys.
func (l *layout) still(keys []string) []string {
	there := map[string]bool{}
	for i, k := range l.were {
		there[l.keys[i]] = k >= 0
	}
	return slices.DeleteFunc(slices.Clone(keys), func(key string) bool { return !there[key] })
}

// splits reports whether a group would be in the window in part, or in full next to
// a note: a result of a call that was left out, or a member that was edited. If the
// list was followed, only groups that have changed can be.
func (l *layout) splits(changed map[string]bool) bool {
	type place struct {
		in, note bool
		entry    int32
	}
	places := map[string]place{}
	for i, item := range l.items {
		n, group := l.at[i], item.Group()
		if group == "" || n == inTail || l.followed && !changed[group] {
			continue
		}
		now := place{in: n >= 0 && !l.window[n].Summary} // a summary has no part of a group
		if now.in && !l.window[n].whole() && len(l.window[n].Keys) > 1 {
			now.note, now.entry = true, n
		}
		if was, ok := places[group]; ok && was != now {
			return true
		}
		places[group] = now
	}
	return false
}

// number writes the positions of the entries to their candidates.
func (l *layout) number() {
	places := make(map[string]int32, len(l.keys))
	for n := range l.window {
		for _, key := range l.window[n].Keys {
			places[key] = int32(n)
		}
	}
	for i, key := range l.keys {
		n, ok := places[key]
		switch {
		case l.at[i] == inTail:
		case ok:
			l.at[i] = n
		default:
			l.at[i] = out
		}
	}
}

// with returns the layout of another window for the same candidates.
func (l *layout) with(window []entry) *layout {
	to := &layout{candidates: l.candidates, at: slices.Clone(l.at), window: window, tokens: tokensOf(window)}
	to.number()
	return to
}

// lacks reports whether anything is out or in a smaller form.
func (l *layout) lacks() bool {
	return slices.Contains(l.at, out) || slices.ContainsFunc(l.window, func(e entry) bool { return !e.whole() })
}

// pinned returns the tokens of pinned items and of their groups.
func (l *layout) pinned() int {
	items, _ := l.stable(-1)
	groups := map[string]bool{}
	for _, item := range items {
		if item.Pinned() {
			groups[item.Group()] = true
		}
	}
	delete(groups, "")
	tokens := 0
	for _, item := range items {
		if item.Pinned() || groups[item.Group()] {
			tokens += max(0, item.Tokens())
		}
	}
	return tokens
}

// head returns how many entries at the beginning are pinned: a break keeps them.
func (l *layout) head() int {
	kept := 0
	for kept < len(l.window) && l.items[l.window[kept].first].Pinned() {
		kept++
	}
	// A group must not be cut.
	for kept > 0 && kept < len(l.window) {
		g := l.items[l.window[kept].first].Group()
		if g == "" || g != l.items[l.window[kept-1].first].Group() {
			break
		}
		kept--
	}
	return kept
}

// given returns an entry as the chooser gets it. The state has only the text of a
// summary, so that another process would give another kind and time.
func (l *layout) given(e *entry) *cupel.ContextItem {
	if e.Summary {
		return formOf(l.items[e.first], e.Form, e.Tokens)
	}
	return e.Held
}

// formOf is a smaller form of an item, as the window has it.
func formOf(item *cupel.ContextItem, text string, tokens int) *cupel.ContextItem {
	return changed(item, cupel.WithVariants(), cupel.WithGroupVariants(), cupel.WithContent(text, tokens), cupel.WithOriginalTokens(max(0, item.Tokens())))
}

// changed returns an item with options that no item refuses, or one that the chooser
// refuses as it is.
func changed(item *cupel.ContextItem, opts ...cupel.ItemOption) *cupel.ContextItem {
	to, err := item.With(opts...)
	if err != nil {
		return item
	}
	return to
}
