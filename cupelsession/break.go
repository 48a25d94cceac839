package cupelsession

import (
	"context"
	"errors"
	"slices"

	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupel/pipeline"
)

// breaking decides whether a turn breaks, and what is in the window then.
type breaking struct {
	*layout   // before the choice
	before    *state
	config    *Config
	cache     *caching
	choosing  *choosing
	allowance *allowance
	growth    float64 // tokens that a turn appends on average, with this one
	split     bool    // something must come in
}

// reason returns why the turn breaks, or "" if what was sent stays.
func (b *breaking) reason() BreakReason {
	l := b.allowance.limits(b.tokens, b.sum.pinned)
	switch {
	case b.tokens > l.most || b.split:
		return BreakForced
	case len(b.before.window) == 0 || !b.lacks():
		return ""
	case b.cache.expired() || b.begins():
		return BreakFree
	case b.tokens > l.low && b.worth(l):
		return BreakWorth
	}
	return ""
}

// begins reports whether tool definitions or the system prompt changed: all that a
// new choice could move is lost with them.
func (b *breaking) begins() bool {
	if !b.cache.caches() {
		return false
	}
	for i := range b.window {
		if !isFixed(b.items[b.window[i].first]) {
			return false
		}
		if i == len(b.before.window) || !same(&b.window[i], &b.before.window[i]) {
			return true
		}
	}
	return false
}

// worth reports whether choosing again saves more than it costs over the horizon.
func (b *breaking) worth(l limits) bool {
	m, horizon := b.cache, float64(b.config.Horizon)
	if horizon < 0 || !m.caches() {
		return false
	}
	if horizon == 0 {
		// A window that fills up breaks anyway; then is the end of the horizon.
		if b.before.growth < 1 || b.before.turns < 2 {
			return false
		}
		horizon = float64(l.most-b.tokens) / b.before.growth
	}
	// If the prefix is gone, all of the window is written anyway.
	there := m.there(m.now.Sub(m.sent.At))
	rest := float64(b.tokens - l.low)
	saved := float64(rest*m.Read*horizon) + float64((1-there)*rest*(m.Write-m.Read))
	rewrite := float64(there * float64(l.low) * (m.Write - m.Read))
	return saved > rewrite
}

// choose fills the stable part up to the low water mark, or to more if that is too
// little for what is pinned.
func (b *breaking) choose(ctx context.Context, reason BreakReason) (*layout, *choice, error) {
	l := b.allowance.limits(b.tokens, b.pinned())
	type try struct{ kept, target int }
	tries := []try{{0, l.low}, {0, l.most}, {0, l.raw}}
	if reason == BreakForced {
		if kept := b.keepable(l); kept > 0 {
			tries = slices.Insert(tries, 0, try{kept, l.low})
		}
	}
	var err error
	for _, try := range tries {
		var to *layout
		var said *choice
		to, said, err = b.chooseFor(ctx, try.kept, max(0, try.target))
		last := try.target == l.raw
		switch {
		case err == nil && (to.tokens <= l.most || last):
			if reason == BreakForced && !b.split {
				to = b.later(l, to)
			}
			return to, said, nil
		case last, err != nil && !errors.Is(err, pipeline.ErrPinnedExceedsBudget) && !errors.Is(err, pipeline.ErrOverflow):
			return nil, nil, err
		}
	}
	return nil, nil, err
}

// Outlines stay as they are while they take this share of the low water mark.
const keepShare = 0.7

// Whole items of up to this many tokens stay between outlines.
const keepWhole = 40

// keepable returns how many entries at the beginning stay as they were sent: what
// is pinned, and outlines that an earlier break has made.
func (b *breaking) keepable(l limits) int {
	kept := b.head(samePrefix(b.window, b.before.window), l)
	if !slices.ContainsFunc(b.window[:kept], func(e entry) bool { return !e.whole() }) {
		return 0
	}
	// What is pinned must be whole, and may not have to come in between these. Nor
	// may a group that is out have members on both sides.
	last := b.window[kept-1].first
	groups := map[string]bool{}
	for i, n := range b.at {
		item := b.items[i]
		if n == inTail {
			continue
		}
		if item.Pinned() && (n == out && i < last || n >= 0 && int(n) < kept && !b.window[n].whole()) {
			return 0
		}
		switch group := item.Group(); {
		case group == "":
		case i < last:
			groups[group] = groups[group] || n == out
		case groups[group]:
			return 0
		}
	}
	return kept
}

// chooseFor runs the chooser for a target, on the first kept entries as they were
// sent and all items after them.
func (b *breaking) chooseFor(ctx context.Context, kept, target int) (*layout, *choice, error) {
	items := make([]*cupel.ContextItem, 0, kept+len(b.items))
	from := make([]int, 0, kept+len(b.items)) // candidates, or ^entry
	last := -1
	for n := range b.window[:kept] {
		e := &b.window[n]
		last = e.first
		held, err := b.given(e).With(cupel.WithPinned(), cupel.WithVariants(), cupel.WithGroupVariants())
		if err != nil {
			return nil, nil, err
		}
		items, from = append(items, held), append(from, ^n)
	}
	for i, item := range b.items {
		n := b.at[i]
		if inKept := n >= 0 && int(n) < kept; i > last && n != inTail && !inKept {
			items, from = append(items, item), append(from, i)
		}
	}
	said, err := b.choosing.run(ctx, items, from, target)
	if err != nil {
		return nil, nil, err
	}
	window := make([]entry, 0, len(said.Included))
	keys := make([]string, len(said.Included)) // not those of all candidates, which the window would keep
	for n, e := range said.Included {
		i := from[e.Candidate]
		if i < 0 {
			window = append(window, b.window[^i])
			continue
		}
		keys[n] = b.keys[i]
		to := entry{Keys: keys[n : n+1 : n+1], Tokens: e.Item.Tokens(), Held: e.Item, first: i}
		if e.Form != 0 {
			to.Form = e.Item.Content()
		} else {
			to.Tokens, to.Held = b.items[i].Tokens(), b.items[i]
		}
		window = append(window, to)
	}
	return b.with(merge(window, b.items)), said, nil
}
