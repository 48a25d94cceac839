// Package breakpoint decides where a request marks the ends of prefixes for a
// provider's prompt cache.
package breakpoint

import "slices"

// Prompt describes a request by numbers of its units: blocks of a body, or
// items. Each number counts units from the beginning; 0 means that there is no
// such place.
type Prompt struct {
	End    int // of the part that is marked at all
	Sent   int // end of the part that is the same as sent before
	System int // after the system prompt
	Pinned int // after the pinned units at the beginning
	// Most is how many marks a request may have, including the one at the end.
	Most int
	// LookBack is how many blocks the provider searches before a mark for an
	// earlier one. 0 means no limit.
	LookBack int
	// Blocks returns how many blocks the first n units have.
	Blocks func(n int) int
}

// Places returns the places of the marks, ascending: at the end, at the end of
// what was sent before, after the system prompt, in between if more blocks came
// than the provider looks back, and after the pinned units. If there are too many,
// the first of these win.
func (p Prompt) Places() []int {
	var places []int
	for _, n := range []int{p.End, p.Sent, p.System, p.between(), p.Pinned} {
		if n > 0 && n <= p.End && len(places) < p.Most && !slices.Contains(places, n) {
			places = append(places, n)
		}
	}
	slices.Sort(places)
	return places
}

// between returns the first place from which the end is within reach, or 0 if the
// end of what was sent before is close enough.
func (p Prompt) between() int {
	if p.LookBack == 0 {
		return 0
	}
	sent := p.Sent
	if sent >= p.End {
		sent = 0 // it is not known what was sent
	}
	least := p.Blocks(p.End) - p.LookBack
	if p.Blocks(sent) >= least {
		return 0
	}
	n := p.End
	for p.Blocks(n-1) >= least { // false at what was sent, at the latest
		n--
	}
	return n
}
