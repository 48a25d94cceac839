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
	known := 0 // candidates up to the last one that was sent
	before := make([]int, end+1)
	for i := range sent[:end] {
		known = max(known, sent[i].first+1)
		before[i+1] = before[i] + sent[i].Tokens
	}
	may := p.mayStay(sent, at)
	place, least := -1, 0.0
	behind, moved := 0, 0 // tokens of the new choice after the place, and of them of what was there before
	next := len(p.window)
	for n := end - 1; n >= start; n-- {
		for next > 0 && p.window[next-1].first >= sent[n].first {
			next--
			behind += p.window[next].Tokens
			if p.window[next].first < known {
				moved += p.window[next].Tokens
			}
		}
		tokens := before[n] + behind
		if tokens >= l.most || n > start && !may[n] {
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
		if p.window[i].first >= sent[place].first {
			window = append(window, p.window[i])
		}
	}
	p.replace(window)
}

// mayStay reports, for each number of entries at the beginning of a window, whether
// these may stay as they were sent: nothing that is pinned is missing among them or
// smaller, and neither a group nor what a note stands for is cut. It takes linear
// time.
func (p *proposal) mayStay(sent []entry, at []int32) []bool {
	bad := make([]int, len(sent)+2) // reasons against each number, as differences
	forbid := func(from, to int) {
		if to = min(to, len(sent)); from <= to {
			bad[from]++
			bad[to+1]--
		}
	}
	type span struct{ first, last int }
	groups := map[string]span{}
	behind := 0 // entries that begin before the item
	for i, n := range at {
		for behind < len(sent) && sent[behind].first < i {
			behind++
		}
		if n == inTail {
			continue
		}
		item, with := p.items[i], behind // the item is before the break if more entries than that stay
		if n >= 0 {
			with = int(n)
		}
		smaller := n >= 0 && !sent[n].whole()
		if item.Pinned() && (n == out || smaller) {
			forbid(with+1, len(sent))
		}
		if smaller {
			forbid(with+1, behind)
		}
		if g := item.Group(); g != "" {
			if s, ok := groups[g]; ok {
				groups[g] = span{min(s.first, with), max(s.last, with)}
			} else {
				groups[g] = span{with, with}
			}
		}
	}
	for _, s := range groups {
		forbid(s.first+1, s.last)
	}
	may, against := make([]bool, len(sent)+1), 0
	for n := range may {
		against += bad[n]
		may[n] = against == 0
	}
	return may
}
