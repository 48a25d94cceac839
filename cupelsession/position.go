package cupelsession

import (
	"context"
	"math"
)

// later keeps what was sent before some place, and chooses again only after it, if a
// turn costs less that way. A break rewrites everything that it moves, and lasts until
// growth has filled the room that it frees. A large result near the end is therefore
// cheap to give up, and a few words at the beginning are not.
func (p *proposal) later(ctx context.Context, l limits, chosen *layout) (*layout, error) {
	if !p.cache.caches() || p.growth < 1 {
		return chosen, nil
	}
	start, end := samePrefix(p.window, chosen.window), samePrefix(p.window, p.before.window)
	before, last := make([]int, end+1), make([]int, end+1) // tokens of the first entries, and the last candidate in them
	for i, n := range p.at {
		if n >= 0 && int(n) < end {
			last[n+1] = i
		}
	}
	for n := range end {
		before[n+1], last[n+1] = before[n]+p.window[n].Tokens, max(last[n+1], last[n])
	}
	may := p.mayPart()
	place, target, least := 0, 0, math.Inf(1)
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
		tokens := before[n] + after
		if tokens >= l.most || n > start && (!may[last[n]] || p.window[n].first <= last[n]) {
			continue
		}
		cost := float64((p.cache.Write-p.cache.Read)*float64(moved)/p.turns(l.most-tokens)) + float64(p.cache.Read*float64(tokens))
		if cost <= least {
			place, target, least = n, tokens, cost
		}
	}
	if place <= start {
		return chosen, nil
	}
	to, _, err := p.chooseFor(ctx, target, place, last[place])
	if !isFull(err) {
		return nil, err
	}
	if to == nil || to.tokens > l.most {
		return chosen, nil
	}
	return to, nil
}

// mayPart reports, for each candidate, whether a break may begin after it, so
// that everything up to it stays as it was sent. No group may be cut. It takes
// linear time. A window that lacks something pinned is chosen from its beginning.
func (l *layout) mayPart() []bool {
	bad := make([]int, len(l.at)+1) // reasons against each candidate, as differences
	forbid := func(from, to int) { bad[from]++; bad[to]-- }
	groups := map[string]int{} // the last member so far
	for i, n := range l.at {
		if n == inTail {
			continue
		}
		if g := l.items[i].Group(); g != "" {
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
