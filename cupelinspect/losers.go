package cupelinspect

import (
	"cmp"
	"slices"

	"github.com/wollax/cupel-go/cupel/analysis"
)

// Losers returns the positions of the candidates that have fewer tokens in a second window
// from the same candidates than in the one now, those that lose most first. If a candidate is
// pinned for the second window, they have its room in the first. Other members of its
// group are left out, since they stay or go with it. If there is no such candidate, or the
// second ledger has others, there are no losers.
func Losers(now, after *analysis.Ledger, candidate int) []int {
	if candidate < 0 || candidate >= len(now.Entries) || len(after.Entries) != len(now.Entries) {
		return nil
	}
	group := now.Entries[candidate].Item.Group()
	loss := func(i int) int {
		left := 0
		if e := &after.Entries[i]; e.Place > 0 {
			left = e.Tokens
		}
		return now.Entries[i].Tokens - left
	}
	lose := slices.DeleteFunc(slices.Clone(now.Window), func(i int) bool {
		return loss(i) <= 0 || i == candidate || group != "" && now.Entries[i].Item.Group() == group
	})
	slices.SortStableFunc(lose, func(i, j int) int { return cmp.Compare(loss(j), loss(i)) })
	return lose
}
