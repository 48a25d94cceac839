package cupelsession

import (
	"context"
	"errors"

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
	var err error
	for _, target := range []int{l.low, l.most, l.raw} {
		var to *layout
		var said *choice
		to, said, err = b.chooseFor(ctx, max(0, target))
		last := target == l.raw
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

// chooseFor runs the chooser for a target.
func (b *breaking) chooseFor(ctx context.Context, target int) (*layout, *choice, error) {
	items := make([]*cupel.ContextItem, 0, len(b.items))
	from := make([]int, 0, len(b.items)) // candidates
	for i, item := range b.items {
		if b.at[i] != inTail {
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
