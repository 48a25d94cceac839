package cupelsession

import "slices"

// beginsLater is how much the cost of a break that begins at a later place has to
// be of that of the new choice as it is, at most: what stays before the place does
// not compete, and takes room from what comes.
const beginsLater = 0.9

// laterBreak keeps what was sent before some place, and the new choice only after
// it, if a turn costs less that way. A break writes what it moves, and lasts until
// growth has filled the room that it leaves: a large result near the end is cheap
// to give up, a few words at the beginning are not. sent and at are the window
// before the new choice.
func (p *proposal) laterBreak(l limits, sent []entry, at []int32) {
	m, growth := p.model(), p.growth()
	if p.reason != BreakForced || p.split || !m.caches() || growth < 1 {
		return
	}
	start, end := samePrefix(sent, p.window), samePrefix(sent, p.before.window)
	before, last := make([]int, end+1), make([]int, end+1) // tokens of the first entries, and the last candidate in them
	last[0] = -1
	for i, n := range at {
		if n >= 0 && int(n) < end {
			last[n+1] = i
		}
	}
	for n := range end {
		before[n+1], last[n+1] = before[n]+sent[n].Tokens, max(last[n+1], last[n])
	}
	may := p.mayPart(sent, at)
	place := -1
	var least float64
	behind, moved := 0, 0 // tokens of the new choice after the place, and of them of what was there before
	next := len(p.window)
	for n := end - 1; n >= start; n-- {
		for next > start && (n == start || p.window[next-1].first > last[n]) {
			next--
			behind += p.window[next].Tokens
			if p.window[next].first <= last[end] {
				moved += p.window[next].Tokens
			}
		}
		tokens := before[n] + behind
		if tokens >= l.most || n > start && (!may[last[n]] || sent[n].first <= last[n]) {
			continue
		}
		breaks := growth / float64(l.most-tokens) // a turn
		cost := float64((m.Write-m.Read)*float64(moved)*breaks) + float64(m.Read*float64(tokens))
		if n == start {
			cost *= beginsLater
		}
		if place < 0 || cost <= least {
			place, least = n, cost
		}
	}
	if place <= start {
		return
	}
	window := slices.Clone(sent[:place])
	for i := range p.window {
		if p.window[i].first > last[place] {
			window = append(window, p.window[i])
		}
	}
	p.replace(window)
}

// mayPart reports, for each candidate, whether what was sent may stay up to this
// one, and only what is after it is chosen again: nothing that is pinned is
// missing or smaller there, and no group is cut. It takes linear time.
func (p *proposal) mayPart(sent []entry, at []int32) []bool {
	bad := make([]int, len(at)+1) // reasons against each candidate, as differences
	forbid := func(from, to int) { bad[from]++; bad[to]-- }
	groups := map[string]int{} // the last member so far
	for i, n := range at {
		if n == inTail {
			continue
		}
		item := p.items[i]
		if item.Pinned() && (n == out || !sent[n].whole()) {
			forbid(i, len(at))
		}
		if g := item.Group(); g != "" {
			if was, ok := groups[g]; ok {
				forbid(was, i)
			}
			groups[g] = i
		}
	}
	may, against := make([]bool, len(at)), 0
	for i := range may {
		against += bad[i]
		may[i] = against == 0
	}
	return may
}
