package cupelsession

import (
	"context"
	"errors"
	"slices"

	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupel/pipeline"
)

// reason returns why the turn breaks, or "" if what was sent stays.
func (p *proposal) reason() BreakReason {
	l := p.allowance.limits(p.tokens, p.sum.pinned)
	switch {
	case p.tokens > l.most || p.split:
		return BreakForced
	case len(p.before.window) == 0 || !p.lacks():
		return ""
	case p.cache.expired() || p.begins():
		return BreakFree
	case p.worth(l):
		return BreakWorth
	}
	return ""
}

// begins reports whether tool definitions or the system prompt changed. The cache
// then loses everything that a new choice could move.
func (p *proposal) begins() bool {
	if !p.cache.caches() {
		return false
	}
	for i := range p.window {
		if !isFixed(p.items[p.window[i].first]) {
			return false
		}
		if i == len(p.before.window) || !same(&p.window[i], &p.before.window[i]) {
			return true
		}
	}
	return false
}

// worth reports whether choosing again saves more than it costs over the horizon.
func (p *proposal) worth(l limits) bool {
	m, horizon := p.cache, float64(p.session.config.Horizon)
	if horizon < 0 || !m.caches() {
		return false
	}
	if horizon == 0 {
		// A window that fills up breaks anyway, which ends the horizon.
		if p.before.Growth < 1 {
			return false
		}
		horizon = float64(l.most-p.tokens) / p.before.Growth
	}
	// If the prefix is gone, the whole window is written anyway.
	there := m.there(m.now.Sub(m.sent.At))
	rest := float64(p.tokens - l.low)
	saved := float64(rest*m.Read*horizon) + float64((1-there)*rest*(m.Write-m.Read))
	rewrite := float64(there * float64(l.low) * (m.Write - m.Read))
	return saved > rewrite
}

// choose fills the stable part up to the low water mark, or higher if the pinned
// items need more.
func (p *proposal) choose(ctx context.Context, reason BreakReason) (to *layout, said *choice, err error) {
	p.choosing.remember()
	l, err := p.mark(ctx)
	if err != nil {
		return nil, nil, err
	}
	for _, target := range []int{l.low, l.most, l.raw} {
		to, said, err = p.chooseFor(ctx, target, 0, -1)
		last := target == l.raw
		switch {
		case err == nil && (to.tokens <= l.most || last):
			if reason == BreakForced && !p.split {
				to, err = p.later(ctx, l, to)
			}
			return to, said, err
		case last || !isFull(err):
			return nil, nil, err
		}
	}
	return nil, nil, err
}

// isFull reports whether a choice failed only because something has no room.
func isFull(err error) bool {
	return err == nil || errors.Is(err, pipeline.ErrPinnedExceedsBudget) || errors.Is(err, pipeline.ErrOverflow)
}

// chooseFor runs the chooser for a target. The first kept entries stay as they were
// sent, and the chooser sees them pinned. The others come from the candidates after the
// one that these reach through.
func (p *proposal) chooseFor(ctx context.Context, target, kept, through int) (*layout, *choice, error) {
	var items []*cupel.ContextItem
	for _, e := range p.window[:kept] {
		items = append(items, changed(p.given(&e), cupel.WithPinned()))
	}
	more, from := p.stable(through)
	from = append(make([]int, kept), from...)
	said, err := p.choosing.run(ctx, append(items, more...), from, target)
	if err != nil {
		return nil, nil, err
	}
	window := slices.Clone(p.window[:kept])
	for _, e := range said.Included {
		if e.Candidate < kept {
			continue
		}
		i := from[e.Candidate]
		to := entry{Keys: []string{p.keys[i]}, Held: p.items[i], first: i}
		if e.Form != 0 {
			to.Form, to.Held = e.Item.Content(), e.Item
		}
		to.Tokens = to.Held.Tokens()
		window = append(window, to)
	}
	return p.with(merge(window, p.items)), said, nil
}

// stable returns the items outside of the tail after a candidate, and their candidates.
func (l *layout) stable(after int) (items []*cupel.ContextItem, from []int) {
	items, from = make([]*cupel.ContextItem, 0, len(l.items)), make([]int, 0, len(l.items))
	for i, item := range l.items {
		if i > after && l.at[i] != inTail {
			items, from = append(items, item), append(from, i)
		}
	}
	return items, from
}
