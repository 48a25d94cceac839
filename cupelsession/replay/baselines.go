package replay

import (
	"context"
	"slices"
	"strconv"
	"strings"
)

// baseline is a strategy of the reference. It chooses units.
type baseline func(t *turn, budget int) window

func (b baseline) choose(_ context.Context, t *turn, budget int) (window, error) {
	return b(t, budget), nil
}

// whole returns unit i as a piece.
func (t *turn) whole(i int) piece {
	u := &t.units[i]
	return piece{id: u.id, text: u.text, tokens: u.tokens, role: u.role, blocks: u.blocks()}
}

// everything sends all units and ignores the budget.
func everything(t *turn, _ int) window {
	w := make(window, t.said)
	for i := range w {
		w[i] = t.whole(i)
	}
	return w
}

// newest sends the newest units that fit with the pinned ones.
func newest(t *turn, budget int) window {
	left := budget - t.fixed(t.said)
	var w window
	for i := t.said - 1; i >= 0; i-- {
		if n := t.units[i].tokens; t.pinned(i, t.said) {
			w = append(w, t.whole(i))
		} else if n <= left {
			w = append(w, t.whole(i))
			left -= n
		}
	}
	slices.Reverse(w)
	return w
}

// cleared replaces a result.
const cleared = "\n[cleared]"

// clearOld replaces the results of calls with a note, oldest first, and then
// leaves out the oldest units, until the rest fits.
func clearOld(t *turn, budget int) window {
	w := everything(t, budget)
	size := w.tokens()
	for i := range w {
		if size <= budget {
			return w
		}
		u := &t.units[i]
		if len(u.parts) == 1 || t.pinned(i, t.said) {
			continue
		}
		text := u.parts[0].text + strings.Repeat(cleared, len(u.parts)-1)
		n := tokens(text)
		size += n - w[i].tokens
		w[i] = piece{id: strconv.Itoa(i) + "\x00" + text, text: text, tokens: n, role: u.role, blocks: u.blocks()}
	}
	kept := w[:0]
	for i := range w {
		if size <= budget || t.pinned(i, t.said) {
			kept = append(kept, w[i])
			continue
		}
		size -= w[i].tokens
	}
	return kept
}
