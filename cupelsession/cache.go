package cupelsession

import (
	"fmt"
	"slices"
	"time"

	"github.com/wollax/cupel-go/cupel"
)

// CacheModel is how a provider's prompt cache works and what it costs. Prices are
// for one token, in units of the price of a token of plain input. The zero model
// is [NoCache].
type CacheModel struct {
	Name string
	// Read is the price of a token that is read from the cache, Write that of one
	// that is written to it. Both are 1 without a cache.
	Read, Write float64
	// Sure is how long a prefix stays in the cache at least after it was sent. After
	// Likely it is gone. A Likely of 0 disables the cache.
	Sure, Likely time.Duration
	// MinTokens is the length of the shortest prefix that is cached.
	MinTokens int
	// Step is what cached lengths are multiples of, 0 for any.
	Step int
	// Breakpoints is how many places a request may mark as ends of cached
	// prefixes. 0 means that the provider finds any prefix by itself.
	Breakpoints int
	// LookBack is how many items before a breakpoint the provider looks for an
	// earlier one, 0 for any number.
	LookBack int
}

func (m CacheModel) validate() error {
	if m == (CacheModel{}) {
		return nil
	}
	for _, p := range []struct {
		field string
		price float64
	}{{"Read", m.Read}, {"Write", m.Write}} {
		if !(p.price >= 0 && p.price <= 1e6) {
			return &ConfigError{"Cache." + p.field, fmt.Sprintf("must be a price in units of plain input, from 0 to 1e6, got %v", p.price)}
		}
	}
	for _, n := range []struct {
		field string
		n     int64
	}{{"MinTokens", int64(m.MinTokens)}, {"Step", int64(m.Step)}, {"Breakpoints", int64(m.Breakpoints)}, {"LookBack", int64(m.LookBack)}, {"Sure", int64(m.Sure)}, {"Likely", int64(m.Likely)}} {
		if n.n < 0 {
			return &ConfigError{"Cache." + n.field, fmt.Sprintf("must be at least 0, got %d", n.n)}
		}
	}
	if m.Likely < m.Sure {
		return &ConfigError{"Cache.Likely", fmt.Sprintf("must be at least Sure, %v, got %v", m.Sure, m.Likely)}
	}
	return nil
}

// caches reports whether the model has a cache at all.
func (m CacheModel) caches() bool { return m.Likely > 0 }

// CacheUse is what a turn costs, in tokens as they are estimated and in units of
// the price of a token of plain input.
type CacheUse struct {
	// Read, Written and Plain are the tokens of the window that are read from the
	// cache, written to it, and neither.
	Read, Written, Plain int
	// Cost is that of the window.
	Cost float64
	// Without is what it would cost to send everything at this turn, with the
	// prefix that was sent before in the cache.
	Without float64
	// Breakpoints are the ends of cached prefixes to mark, as numbers of items of
	// the stable part, ascending. Empty if the provider finds prefixes by itself.
	Breakpoints []int
}

// sent is what was sent with the last committed turn.
type sent struct {
	At          time.Time `json:"at"`
	Model       string    `json:"model,omitempty"`
	Breakpoints []int     `json:"breakpoints,omitempty"` // in entries
	Everything  int       `json:"everything,omitempty"`  // tokens of all items
	Lost        bool      `json:"lost,omitempty"`        // the provider did not find it
}

// gone reports whether nothing that was sent is in the cache at a time.
func (m CacheModel) gone(s *sent, now time.Time, model string, named bool) bool {
	if !m.caches() || s.At.IsZero() || s.Lost || named && s.Model != model {
		return true
	}
	// A clock that goes back says nothing; the prefix counts as there.
	return now.Sub(s.At) > m.Likely
}

// expired reports whether nothing is in the cache, and there is one.
func (p *proposal) expired() bool {
	m := p.s.config.Cache
	return m.caches() && m.gone(&p.before.sent, p.now, p.turn.options.model, p.turn.options.named)
}

// use counts what a window costs whose first same entries were sent before.
func (p *proposal) use(window []entry, same, tail int) CacheUse {
	m := p.s.config.Cache
	if !m.caches() {
		total := tail
		for i := range window {
			total += window[i].Tokens
		}
		return CacheUse{Plain: total, Cost: float64(total), Without: float64(p.sum.all)}
	}
	before := &p.before.sent
	gone := p.expired()
	ends := m.marks(window, same, before.Breakpoints, p.items)
	read, total, written := 0, 0, 0
	readable := 0 // entries
	if !gone {
		readable = same
		if m.Breakpoints > 0 {
			readable = 0
			for _, b := range before.Breakpoints {
				if b <= same && reaches(ends, b, m.LookBack) {
					readable = max(readable, b)
				}
			}
		}
	}
	last := len(window)
	if m.Breakpoints > 0 {
		last = 0
		if len(ends) > 0 {
			last = ends[len(ends)-1]
		}
	}
	for i := range window {
		n := window[i].Tokens
		total += n
		if i < readable {
			read += n
		}
		if i < last {
			written += n
		}
	}
	read = m.cached(read)
	written = max(m.cached(written), read)
	u := CacheUse{Read: read, Written: written - read, Plain: total - written + tail, Breakpoints: ends}
	u.Cost = m.Read*float64(u.Read) + m.Write*float64(u.Written) + float64(u.Plain)
	whole := p.sum.all
	had := 0
	if !gone {
		had = min(before.Everything, whole)
	}
	u.Without = m.Read*float64(had) + m.Write*float64(whole-had)
	return u
}

// cached is how many of the tokens at the beginning of a request are cached.
func (m CacheModel) cached(tokens int) int {
	if tokens < m.MinTokens {
		return 0
	}
	if m.Step > 0 {
		tokens -= tokens % m.Step
	}
	return tokens
}

// reaches reports whether a provider that looks back from one of the ends finds a
// prefix of n entries.
func reaches(ends []int, n, lookBack int) bool {
	for _, end := range ends {
		if end >= n && (lookBack == 0 || end-n <= lookBack) {
			return true
		}
	}
	return false
}

// marks chooses where a request marks the ends of cached prefixes: the new end,
// the last one that was sent and still stands, the end of what comes before the
// conversation, and one between where the new end is too far from the old one.
func (m CacheModel) marks(window []entry, same int, before []int, items []*cupel.ContextItem) []int {
	if m.Breakpoints == 0 || len(window) == 0 {
		return nil
	}
	end := len(window)
	ends := []int{end}
	add := func(n int) {
		if n > 0 && n < end && len(ends) < m.Breakpoints && !slices.Contains(ends, n) {
			ends = append(ends, n)
		}
	}
	stands := 0
	for _, b := range before {
		if b <= same {
			stands = max(stands, b)
		}
	}
	add(stands)
	fixed := 0
	for fixed < end && isFixed(items[window[fixed].first]) {
		fixed++
	}
	add(fixed)
	if m.LookBack > 0 && end-stands > m.LookBack {
		add(end - m.LookBack)
		add(stands + m.LookBack)
	}
	slices.Sort(ends)
	return ends
}

// isFixed reports whether an item is definitions of tools or a system prompt,
// which stand before the conversation.
func isFixed(item *cupel.ContextItem) bool {
	return item.Kind() == cupel.KindSystemPrompt || item.Kind() == "ToolDefinitions"
}
