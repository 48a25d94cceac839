package cupelsession

import (
	"slices"

	"github.com/wollax/cupel-go/cupel"
)

// merge sorts entries by their candidates, and joins the entries of a group that
// one note replaces. The report has the note once for each member, with 0 tokens
// for all but one.
func merge(window []entry, items []*cupel.ContextItem) []entry {
	slices.SortStableFunc(window, byFirst)
	notes := map[string]int{}
	to := window[:0]
	for _, e := range window {
		group := items[e.first].Group()
		if !e.whole() && group != "" {
			at, ok := notes[group]
			if ok && to[at].Form == e.Form && (e.Tokens == 0 || to[at].Tokens == 0) {
				if e.Tokens > 0 {
					to[at].Tokens, to[at].Held = e.Tokens, e.Held
				}
				to[at].Keys = append(slices.Clip(to[at].Keys), e.Keys...)
				continue
			}
			if !ok {
				notes[group] = len(to)
			}
		}
		to = append(to, e)
	}
	return to
}

// samePrefix returns how many entries at the beginning of two windows are the same.
func samePrefix(a, b []entry) int {
	n := 0
	for n < min(len(a), len(b)) && same(&a[n], &b[n]) {
		n++
	}
	return n
}

// same reports whether entry a is sent as entry b was. Entries that were read from
// JSON have a hash in place of the item. Two forms with the same text are the same,
// even if their items have different kinds.
func same(a, b *entry) bool {
	switch {
	case a.Tokens != b.Tokens || a.Form != b.Form:
		return false
	case b.Held == a.Held || !b.whole():
		return true
	case b.Held != nil:
		return a.Held.Content() == b.Held.Content() && a.Held.Kind() == b.Held.Kind()
	}
	return b.Hash == baseKey(a.Held)
}
