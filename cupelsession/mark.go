package cupelsession

import (
	"context"

	"github.com/wollax/cupel-go/cupelchat/agent"
	"github.com/wollax/cupel-go/cupelreduce"
)

// The shares of the room that a break fills if the mark is not given. A full window breaks
// again at the next turn, and what seems to be worth little may be what the next turn
// asks for.
const (
	lowestMark  = 0.25
	highestMark = 0.7
)

// mark returns the limits of a break. If neither the caller gives the low water mark nor
// there is a reason for another one, it is [DefaultLowWater].
//
// A preset knows what windows of each size are worth. The mark is then where a window is
// worth most for what it costs until the next break. A higher one keeps more, sends more,
// and breaks sooner, which writes again what moves. In a small room, or one that soon
// fills up again, more is worth its cost; in a large one, the rest is worth little.
func (p *proposal) mark(ctx context.Context) (limits, error) {
	l := p.allowance.limits(p.tokens, p.pinned())
	if _, ok := p.choosing.chooser.(*agent.Preset); !ok || p.session.config.LowWater != 0 || !p.cache.caches() || p.before.Turns == 0 {
		return l, nil
	}
	items, _ := p.stable(-1)
	sizes, err := p.choosing.sizes(ctx, items, l.most)
	if err != nil || len(sizes) == 0 {
		return l, err
	}
	p.sizes = sizes
	l.low = p.best(l, cupelreduce.Size{Tokens: l.pinned}, sizes, p.head())
	return l, nil
}

// markAfter returns the mark of a break that keeps the first entries, up to a candidate, as
// they were sent. It is higher than that of a break that moves them. It returns 0
// if the mark is not chosen by worth.
func (p *proposal) markAfter(ctx context.Context, l limits, kept, through int) (int, error) {
	if len(p.sizes) == 0 {
		return 0, nil
	}
	items, _, err := p.offered(kept, through)
	if err != nil {
		return 0, err
	}
	sizes, err := p.choosing.sizes(ctx, items, l.most)
	if err != nil {
		return 0, err
	}
	// What is kept is worth as much as the best of its size.
	least := cupelreduce.Size{Tokens: pinnedIn(items)}
	for _, size := range p.sizes {
		if l.pinned+size.Tokens > least.Tokens {
			break
		}
		least.Worth = size.Worth
	}
	return p.best(l, least, sizes, kept), nil
}

// best returns the tokens of the window that is worth most for its cost, of those with
// one of the sizes in addition to the least. The first kept entries do not move.
func (p *proposal) best(l limits, least cupelreduce.Size, sizes []cupelreduce.Size, kept int) int {
	at := func(mark float64) int {
		a := p.allowance
		a.lowWater = mark
		return a.limits(p.tokens, l.pinned).low
	}
	lowest, highest := at(lowestMark), at(highestMark)
	all := p.sizes[len(p.sizes)-1]
	each := all.Worth / float64(max(1, all.Tokens))
	best, mark := 0.0, lowest
	for _, size := range sizes {
		tokens := least.Tokens + size.Tokens
		if tokens < lowest {
			continue
		}
		if tokens > highest {
			break
		}
		worth, cost := p.until(l.most, tokens, kept)
		if value := (least.Worth + size.Worth + float64(each*worth)) / cost; value > best {
			best, mark = value, tokens
		}
	}
	return mark
}

// until estimates what the turns until the next break have on average, if this one
// leaves low of most tokens and does not move the first kept entries: tokens that are
// new since the break, and the cost.
func (p *proposal) until(most, low, kept int) (fresh, cost float64) {
	growth, free := max(1, p.growth), most-low
	added := max(0, p.tokens-p.before.tokens)
	moved := max(0, low-added-tokensOf(p.window[:kept])) // that were sent before
	m := p.cache
	cost = float64(m.Read*float64(low+most)/2) + float64(m.Write*growth) + float64((m.Write-m.Read)*float64(moved)/p.turns(free))
	return growth + float64(free)/2, cost
}

// turns estimates how many turns a break lasts that leaves so many tokens free.
func (p *proposal) turns(free int) float64 { return 1 + float64(free)/max(1, p.growth) }
