package cupelsession_test

import (
	"errors"
	"math"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupel/pipeline"
	"github.com/wollax/cupel-go/cupelchat/agent"
	"github.com/wollax/cupel-go/cupelsession"
)

// breaks chooses the window again.
func (m *model) breaks(t *testing.T, d *draft, target int) error {
	t.Helper()
	low, limit := m.mark(t, d, target), greatest(d.budget)-d.pins
	before := d.window
	for _, room := range []int{low, target, limit} {
		chosen, err := m.choose(t, d, room, nil)
		if err != nil && (room == limit || !errors.Is(err, pipeline.ErrPinnedExceedsBudget) && !errors.Is(err, pipeline.ErrOverflow)) {
			return err
		}
		if err == nil && (tokensOf(chosen) <= target || room == limit) {
			d.window = m.later(t, d, before, chosen, target)
			return nil
		}
	}
	return nil
}

// mark is how full the chapter's MARK leaves the window.
func (m *model) mark(t *testing.T, d *draft, target int) int {
	t.Helper()
	at := func(mark float64) int {
		return d.low(target, &cupelsession.Config{LowWater: mark, ClearAtLeast: m.config.ClearAtLeast}, true)
	}
	preset, ok := m.chooser.(*agent.Preset)
	if !ok || m.config.LowWater > 0 || d.cache.Likely == 0 || m.turns == 0 {
		return at(m.config.LowWater)
	}
	var items []*cupel.ContextItem
	for i, it := range d.items {
		if !d.tail[i] {
			items = append(items, it)
		}
	}
	b, err := d.budget.Resize(d.budget.MaxTokens(), max(0, min(target, d.budget.MaxTokens())))
	require.NoError(t, err)
	sizes, err := preset.Sizes(t.Context(), items, b)
	require.NoError(t, err)
	if len(sizes) == 0 {
		return at(0)
	}
	low, best, all, growth := at(.25), 0., sizes[len(sizes)-1], max(1, d.growth)
	for _, size := range sizes {
		tokens := d.pinned(true) + size.Tokens
		if tokens < at(.25) || tokens > at(.75) {
			continue
		}
		free := float64(target - tokens)
		moved := max(0, tokens-max(0, tokensOf(d.window)-tokensOf(m.sent))-tokensOf(d.window[:d.head()]))
		cost := d.cache.Read*float64(tokens+target)/2 + d.cache.Write*growth + (d.cache.Write-d.cache.Read)*float64(moved)/(1+free/growth)
		if value := (size.Worth + all.Worth/float64(max(1, all.Tokens))*(growth+free/2)) / cost; value > best {
			low, best = tokens, value
		}
	}
	return low
}

// head returns how many entries at the beginning of the window are pinned.
func (d *draft) head() int {
	kept := 0
	for kept < len(d.window) && d.items[d.window[kept].first].Pinned() {
		kept++
	}
	group := func(n int) string { return d.items[d.window[n].first].Group() }
	for kept > 0 && kept < len(d.window) && group(kept) != "" && group(kept) == group(kept-1) {
		kept-- // a group is not cut
	}
	return kept
}

// choose lets the chooser choose from all items but those of the tail. What is kept stays
// as it was sent, and the others come after it.
func (m *model) choose(t *testing.T, d *draft, target int, kept []piece) ([]piece, error) {
	t.Helper()
	var items []*cupel.ContextItem
	for _, p := range kept {
		it, err := p.item.With(cupel.WithPinned(), cupel.WithVariants(), cupel.WithGroupVariants())
		require.NoError(t, err)
		items = append(items, it)
	}
	from := slices.Clone(kept)
	for i, it := range d.items {
		if !d.tail[i] && i > d.last(kept) {
			items, from = append(items, it), append(from, piece{keys: d.keys[i : i+1], item: it, first: i})
		}
	}
	b, err := d.budget.Resize(d.budget.MaxTokens(), max(0, min(target, d.budget.MaxTokens())))
	require.NoError(t, err)
	_, report, err := m.chooser.RunReport(t.Context(), items, b)
	if err != nil {
		return nil, err
	}
	window := []piece{}
	for _, e := range report.Included {
		p := from[e.Candidate]
		if e.Form > 0 {
			p.smaller, p.item = true, e.Item
		}
		if e.Candidate >= len(kept) {
			window = append(window, p)
		}
	}
	slices.SortStableFunc(window, func(a, b piece) int { return a.first - b.first })
	// The report has a note once for each member of its group, without tokens but for one.
	notes := map[string]int{}
	merged := []piece{}
	for _, p := range window {
		group := d.items[p.first].Group()
		n, ok := notes[group]
		if !p.smaller || group == "" || !ok || merged[n].item.Content() != p.item.Content() || min(merged[n].item.Tokens(), p.item.Tokens()) > 0 {
			if p.smaller && group != "" && !ok {
				notes[group] = len(merged)
			}
			merged = append(merged, p)
			continue
		}
		if p.item.Tokens() > 0 {
			merged[n].item = p.item
		}
		merged[n].keys = append(slices.Clone(merged[n].keys), p.keys...)
	}
	return append(slices.Clone(kept), merged...), nil
}

// same returns how many entries at the beginning of a window are as they were sent.
func (m *model) same(window []piece) int {
	n := 0
	for n < min(len(window), len(m.sent)) && samePiece(window[n], m.sent[n]) {
		n++
	}
	return n
}

// later is LATER of the chapter.
func (m *model) later(t *testing.T, d *draft, before, chosen []piece, target int) []piece {
	t.Helper()
	if d.reason != cupelsession.BreakForced || d.must || d.cache.Likely == 0 || d.growth < 1 {
		return chosen
	}
	start, end := 0, m.same(before)
	for start < min(len(before), len(chosen)) && samePiece(before[start], chosen[start]) {
		start++
	}
	known := d.last(before[:end])
	best, place, room := math.Inf(1), start, 0
	for n := start; n < end; n++ {
		tokens, moved, last := tokensOf(before[:n]), 0, d.last(before[:n])
		for k, p := range chosen {
			if n == start && k >= n || n > start && p.first > last {
				tokens += p.item.Tokens()
				if p.first <= known {
					moved += p.item.Tokens()
				}
			}
		}
		if tokens >= target || n > start && !d.mayBreak(before, n) {
			continue
		}
		cost := float64(moved)*(d.cache.Write-d.cache.Read)/(1+float64(target-tokens)/d.growth) + float64(tokens)*d.cache.Read
		if cost < best {
			best, place, room = cost, n, tokens
		}
	}
	if place == start {
		return chosen
	}
	window, err := m.choose(t, d, room, before[:place])
	if err != nil || tokensOf(window) > target {
		return chosen
	}
	return window
}

// last returns the last candidate in a window, or -1.
func (d *draft) last(window []piece) int {
	last := -1
	for i := range d.items {
		if d.place(window, i) >= 0 {
			last = i
		}
	}
	return last
}

// mayBreak reports whether the first n entries may stay: neither a
// group nor what a note stands for is cut.
func (d *draft) mayBreak(before []piece, n int) bool {
	last := d.last(before[:n])
	if before[n].first < last {
		return false
	}
	groups := map[string]bool{}
	for i, it := range d.items {
		if d.tail[i] {
			continue
		}
		stays := i <= last
		if was, ok := groups[it.Group()]; ok && it.Group() != "" && was != stays {
			return false
		}
		groups[it.Group()] = stays
	}
	return true
}

// chooseTail chooses the tail, and quotes what is out. What stands in the window
// takes part without tokens.
func (m *model) chooseTail(t *testing.T, d *draft) error {
	t.Helper()
	if !slices.Contains(d.tail, true) {
		return nil
	}
	bare := func(it *cupel.ContextItem, content string, tokens int) *cupel.ContextItem {
		made, err := it.With(cupel.WithVariants(), cupel.WithGroupVariants(), cupel.WithContent(content, tokens))
		require.NoError(t, err)
		return made
	}
	quotable := func(i int) bool { return !d.tail[i] && d.place(d.window, i) < 0 && d.items[i].Group() == "" }
	quotes := false
	for i := range d.items {
		quotes = quotes || quotable(i)
	}
	same := map[*cupel.ContextItem]*cupel.ContextItem{}
	var items []*cupel.ContextItem
	var from []int
	for i, it := range d.items {
		switch n := d.place(d.window, i); {
		case d.tail[i]:
			items, from = append(items, it), append(from, i)
		case quotable(i):
			if same[it] == nil { // one pointer twice stays one
				same[it] = bare(it, it.Content(), it.Tokens())
			}
			items, from = append(items, same[it]), append(from, i)
		case quotes && n >= 0 && d.window[n].first == i:
			items, from = append(items, bare(d.window[n].item, d.window[n].item.Content(), 0)), append(from, -1)
		}
	}
	tokens := tokensOf(d.window)
	room := max(d.pins, min(d.budget.TargetTokens(), m.target(d.budget, tokens+d.pins))-tokens)
	b, err := d.budget.Resize(d.budget.MaxTokens(), min(room, d.budget.MaxTokens()))
	require.NoError(t, err)
	_, report, err := m.chooser.RunReport(t.Context(), items, b)
	if err != nil {
		return err
	}
	chosen := slices.DeleteFunc(slices.Clone(report.Included), func(e cupel.IncludedItem) bool { return from[e.Candidate] < 0 })
	for {
		d.quotes = nil
		worst, before := -1, false
		for n, e := range chosen {
			i := from[e.Candidate]
			p := piece{keys: d.keys[i : i+1], item: e.Item, first: i}
			if p.smaller = !d.tail[i]; p.smaller {
				if !before {
					p.item = bare(e.Item, "[quoted from earlier] "+e.Item.Content(), e.Item.Tokens()+6)
				}
				if worst < 0 || e.Score <= chosen[worst].Score {
					worst = n
				}
			}
			before = p.smaller
			d.quotes = append(d.quotes, p)
		}
		if worst < 0 || tokensOf(d.quotes) <= room {
			return nil
		}
		chosen = slices.Delete(chosen, worst, worst+1)
	}
}
