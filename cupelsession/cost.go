package cupelsession

import (
	"cmp"
	"time"

	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupelchat"
)

// sent is what was sent with the last committed turn.
type sent struct {
	At         time.Time `json:"at"`
	Model      string    `json:"model,omitempty"`
	Held       []Prefix  `json:"held,omitempty"`       // in the cache
	Everything int       `json:"everything,omitempty"` // tokens of all items
}

// caching holds the state of the provider's cache for a turn, and the cost of
// the turn.
type caching struct {
	CacheModel // of the turn's model
	sent       sent
	model      string
	held       []Prefix // that the cache has, or may have
	now        time.Time
}

// caching returns what the cache has of what was sent.
func (s sent) caching(cache CacheModel, o *turnOptions, now time.Time) caching {
	c := caching{sent: s, model: cmp.Or(o.model, s.Model), now: now}
	c.CacheModel = cache.For(c.model)
	if c.model == s.Model { // another one has a cache of its own
		c.held = c.alive(s.Held, now)
	}
	return c
}

// expired reports whether there is a cache and it holds nothing that was sent.
func (c *caching) expired() bool { return c.caches() && len(c.held) == 0 }

// price counts what a layout costs, with a tail of so many tokens. The first kept
// entries are as they were sent, and a break would keep the first pinned ones. blocks
// are the content blocks of each candidate. It returns what the cache has afterwards.
func (c *caching) price(l *layout, kept, pinned, tail int, blocks []int) (CacheUse, []Prefix) {
	r := CacheRequest{Tokens: make([]int, len(l.window)), Same: kept, Pinned: pinned, Tail: tail, At: c.now, Held: c.held}
	for i := range l.window {
		r.Tokens[i] = l.window[i].Tokens
		if r.System == i && isFixed(l.items[l.window[i].first]) {
			r.System++
		}
	}
	if blocks != nil {
		r.Blocks = l.blocks(blocks)
	}
	u, held := c.Use(r)
	u.Without = c.everything(l.sum.all)
	return u, held
}

// everything returns the cost of sending all items.
func (c *caching) everything(tokens int) float64 {
	if !c.caches() {
		return float64(tokens)
	}
	had := 0
	if len(c.held) > 0 {
		had = c.cached(min(c.sent.Everything, tokens))
	}
	whole := max(c.cached(tokens), had)
	return float64(c.Read*float64(had)) + float64(c.Write*float64(whole-had)) + float64(tokens-whole)
}

// blocks returns the content blocks of each entry, from those of each candidate.
func (l *layout) blocks(of []int) []int {
	blocks := make([]int, len(l.window))
	for i, n := range l.at {
		if n < 0 || i >= len(of) {
			continue
		}
		if e := &l.window[n]; e.whole() || len(e.Keys) == 1 {
			blocks[n] += of[i]
		} else {
			blocks[n] = 1 // a note, or a summary
		}
	}
	return blocks
}

// isFixed reports whether an item is definitions of tools or a system prompt,
// which stand before the conversation.
func isFixed(item *cupel.ContextItem) bool {
	return item.Kind() == cupel.KindSystemPrompt || item.Kind() == cupelchat.KindTools
}
