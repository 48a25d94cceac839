package cupelsession

import (
	"time"

	"github.com/wollax/cupel-go/cupel"
)

// sent is what was sent with the last committed turn.
type sent struct {
	At         time.Time `json:"at"`
	Model      string    `json:"model,omitempty"`
	Held       []Prefix  `json:"held,omitempty"`       // in the cache
	Everything int       `json:"everything,omitempty"` // tokens of all items
}

// model returns the cache of the model that the turn is for.
func (p *proposal) model() CacheModel {
	name := p.before.sent.Model
	if p.turn.options.named {
		name = p.turn.options.model
	}
	return p.s.config.Cache.For(name)
}

// held returns what the cache has, or may have.
func (p *proposal) held(m CacheModel) []Prefix {
	if o := &p.turn.options; o.named && o.model != p.before.sent.Model {
		return nil
	}
	return m.alive(p.before.sent.Held, p.now)
}

// expired reports whether nothing that was sent is in the cache, and there is one.
func (p *proposal) expired() bool {
	m := p.model()
	return m.caches() && len(p.held(m)) == 0
}

// begins reports whether tool definitions or the system prompt changed: all that a
// new choice could move is lost with them.
func (p *proposal) begins() bool {
	if !p.model().caches() {
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

// use counts what the window costs, whose first same entries were sent before. It
// returns what the cache has afterwards.
func (p *proposal) use(same, tail int) (CacheUse, []Prefix) {
	m := p.model()
	r := Request{Tokens: make([]int, len(p.window)), Same: same, Tail: tail, At: p.now, Held: p.held(m)}
	for i := range p.window {
		r.Tokens[i] = p.window[i].Tokens
		if r.System == i && isFixed(p.items[p.window[i].first]) {
			r.System++
		}
	}
	if m.Breakpoints > 0 {
		l := p.limits()
		l.pin(p.pinnedWithGroups(), p.s.config.LowWater)
		r.Pinned = p.head(len(p.window), l)
	}
	if of := p.turn.options.blocks; of != nil {
		r.Blocks = make([]int, len(p.window))
		for i, n := range p.at {
			if n < 0 || i >= len(of) {
				continue
			}
			if e := &p.window[n]; e.whole() || len(e.Keys) == 1 {
				r.Blocks[n] += of[i]
			} else {
				r.Blocks[n] = 1 // a note, or a summary
			}
		}
	}
	u, held := m.Use(r)
	if u.Without = float64(p.sum.all); m.caches() {
		had := 0
		if len(r.Held) > 0 {
			had = m.cached(min(p.before.sent.Everything, p.sum.all))
		}
		whole := max(m.cached(p.sum.all), had)
		u.Without = float64(m.Read*float64(had)) + float64(m.Write*float64(whole-had)) + float64(p.sum.all-whole)
	}
	return u, held
}

// isFixed reports whether an item is definitions of tools or a system prompt,
// which stand before the conversation.
func isFixed(item *cupel.ContextItem) bool {
	return item.Kind() == cupel.KindSystemPrompt || item.Kind() == "ToolDefinitions"
}
