package cupelsession

import (
	"context"

	"github.com/wollax/cupel-go/cupelchat/agent"
)

// highestMark is the largest share of the room that a break fills if the mark is not
// given, and leaves free: a full window breaks again at the next turn, and what seems to be
// worth little may be what the next turn asks for.
const highestMark = 0.75

// mark returns the limits of a break. If neither the caller gives the low water mark nor
// there is a reason for another one, it is [DefaultLowWater].
//
// A preset knows what windows of each size are worth. The mark is then where a window is
// worth most for what it costs until the next break. A higher one keeps more, sends more,
// and breaks sooner, which writes again what moves. In a small room, or one that soon
// fills up again, more is worth its cost; in a large one, the rest is worth little.
func (p *proposal) mark(ctx context.Context) (limits, error) {
	l := p.allowance.limits(p.tokens, p.pinned())
	preset, ok := p.choosing.chooser.(*agent.Preset)
	if !ok || p.session.config.LowWater != 0 || !p.cache.caches() || p.before.Turns == 0 {
		return l, nil
	}
	items, _ := p.stable(-1)
	sizes, err := preset.Sizes(ctx, items, p.choosing.sized(l.most))
	if len(sizes) == 0 {
		return l, err
	}
	at := func(mark float64) int {
		a := p.allowance
		a.lowWater = mark
		return a.limits(p.tokens, l.pinned).low
	}
	lowest, highest := at(1-highestMark), at(highestMark)
	l.low = lowest
	best := 0.0
	all := sizes[len(sizes)-1]
	each := all.Worth / float64(max(1, all.Tokens))
	for _, size := range sizes {
		low := l.pinned + size.Tokens
		if low < lowest || low > highest {
			continue
		}
		worth, cost := p.until(l.most, low)
		if value := (size.Worth + float64(each*worth)) / cost; value > best {
			best, l.low = value, low
		}
	}
	return l, nil
}

// until estimates what the turns until the next break have on average, if this one
// leaves low of most tokens: tokens that are new since the break, and the cost.
func (p *proposal) until(most, low int) (fresh, cost float64) {
	growth, free := max(1, p.growth), most-low
	added := max(0, p.tokens-p.before.tokens)
	moved := max(0, low-added-tokensOf(p.window[:p.head()])) // that were sent before
	m := p.cache
	cost = float64(m.Read*float64(low+most)/2) + float64(m.Write*growth) + float64((m.Write-m.Read)*float64(moved)/p.turns(free))
	return growth + float64(float64(free)/2), cost
}

// turns estimates how many turns a break lasts that leaves so many tokens free.
func (p *proposal) turns(free int) float64 { return 1 + float64(free)/max(1, p.growth) }
