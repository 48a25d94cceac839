package cupelsession

import (
	"context"

	"github.com/wollax/cupel-go/cupel"
)

// later keeps what was sent before some place, and chooses again only after it, if a
// turn costs less that way. A break rewrites everything that it moves, and lasts until
// growth has filled the room that it frees. A large result near the end is therefore
// cheap to give up, and a few words at the beginning are not.
func (p *proposal) later(ctx context.Context, l limits, chosen *layout) (*layout, error) {
	place, last, tokens := p.place(l, chosen)
	if place == 0 {
		return chosen, nil
	}
	mark, err := p.markAfter(ctx, l, place, last)
	if err != nil {
		return nil, err
	}
	to, _, err := p.chooseFor(ctx, max(mark, tokens), place, last)
	switch {
	case err == nil && to.tokens <= l.most:
		return to, nil
	case err == nil || isTight(err):
		return chosen, nil
	}
	return nil, err
}

// place returns how many entries at the beginning stay as they were sent, if a turn costs
// less than with all of a new choice, the last candidate in them, and the tokens of the
// window. It returns 0 if the new choice keeps as many.
func (p *proposal) place(l limits, chosen *layout) (kept, through, tokens int) {
	if !p.cache.caches() || p.growth < 1 {
		return 0, 0, 0
	}
	start, end := samePrefix(p.window, chosen.window), samePrefix(p.window, p.before.window)
	before, last := make([]int, end+1), make([]int, end+1) // tokens of the first entries, and the last candidate in them
	last[0] = -1
	for i, n := range p.at {
		if n >= 0 && int(n) < end {
			last[n+1] = i
		}
	}
	for n := range end {
		before[n+1], last[n+1] = before[n]+p.window[n].Tokens, max(last[n+1], last[n])
	}
	may := p.mayPart()
	var least float64
	after, moved := 0, 0 // tokens of the new choice after the place, and how many of them were there before
	next := len(chosen.window)
	for n := end - 1; n >= start; n-- {
		for next > start && (n == start || chosen.window[next-1].first > last[n]) {
			next--
			after += chosen.window[next].Tokens
			if chosen.window[next].first <= last[end] {
				moved += chosen.window[next].Tokens
			}
		}
		sum := before[n] + after
		if sum >= l.most || n > start && (!may[last[n]] || p.window[n].first <= last[n]) {
			continue
		}
		cost := float64((p.cache.Write-p.cache.Read)*float64(moved)/p.turns(l.most-sum)) + float64(p.cache.Read*float64(sum))
		if tokens == 0 || cost <= least {
			kept, tokens, least = n, sum, cost
		}
	}
	if kept <= start {
		return 0, 0, 0
	}
	return kept, last[kept], tokens
}

// offered returns the chooser's input and the candidate of each item. The first kept
// entries are always in, as they were sent. The other items come after the candidate
// that these reach through.
func (p *proposal) offered(kept, through int) (items []*cupel.ContextItem, from []int, err error) {
	for n := range kept {
		e := &p.window[n]
		item, err := p.given(e).With(cupel.WithPinned(), cupel.WithVariants(), cupel.WithGroupVariants())
		if err != nil {
			return nil, nil, err
		}
		items, from = append(items, item), append(from, e.first)
	}
	more, candidates := p.stable(through)
	return append(items, more...), append(from, candidates...), nil
}

// mayPart reports, for each candidate, whether a break may begin after it, so
// that everything up to it stays as it was sent. No pinned item may be missing
// or smaller up to there, and no group may be cut. It takes linear time.
func (l *layout) mayPart() []bool {
	bad := make([]int, len(l.at)+1) // reasons against each candidate, as differences
	forbid := func(from, to int) { bad[from]++; bad[to]-- }
	groups := map[string]int{} // the last member so far
	for i, n := range l.at {
		if n == inTail {
			continue
		}
		item := l.items[i]
		if item.Pinned() && (n == out || !l.window[n].whole()) {
			forbid(i, len(l.at))
		}
		if g := item.Group(); g != "" {
			if was, ok := groups[g]; ok {
				forbid(was, i)
			}
			groups[g] = i
		}
	}
	may, against := make([]bool, len(l.at)), 0
	for i := range may {
		against += bad[i]
		may[i] = against == 0
	}
	return may
}
