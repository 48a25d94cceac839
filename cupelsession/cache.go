package cupelsession

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/wollax/cupel-go/internal/breakpoint"
)

// CacheModel is how a provider's prompt cache works and what it costs. Prices are
// for one token, in units of the price of a token of plain input. The zero model
// is [NoCache].
type CacheModel struct {
	Name string
	// Read is the price of a token that is read from the cache, Write that of one
	// that is written to it. Both are 1 without a cache.
	Read, Write float64
	// Sure is how long a prefix stays in the cache at least after it was written or
	// read. After Likely it is gone. A Likely of 0 disables the cache.
	Sure, Likely time.Duration
	// MinTokens is the length of the shortest prefix that is cached.
	MinTokens int
	// Step is what cached lengths are multiples of, 0 for any.
	Step int
	// Breakpoints is how many places a request may mark as ends of cached
	// prefixes; only prefixes that end at such a place are read again. 0 means that
	// the provider finds any prefix by itself.
	Breakpoints int
	// LookBack is how many content blocks before a breakpoint the provider looks
	// for an earlier one, 0 for any number.
	LookBack int
	// Latest is how many of the breakpoints that were written the provider looks
	// for, the latest ones, 0 for any number.
	Latest int
	// TTL is the time to live that breakpoints in bodies ask for, "5m" or "1h". "" is
	// the provider's default.
	TTL string
	// Models are differences between the provider's models. See [CacheModel.For].
	Models []ModelCache
}

// ModelCache is how the cache of some of a provider's models differs.
type ModelCache struct {
	// Name is what the names of these models contain, such as "claude-opus-5-5".
	Name string
	// Read is the price of a token that is read, 0 for that of the CacheModel.
	Read float64
	// MinTokens is the length of the shortest prefix that is cached, 0 for that of
	// the CacheModel.
	MinTokens int
}

// For returns the cache of one model of the provider: with the differences of the
// longest name in Models that the given name contains. [WithModel] does this for
// a turn.
func (m CacheModel) For(model string) CacheModel {
	longest := 0
	base := m
	for _, d := range base.Models {
		if len(d.Name) <= longest || !strings.Contains(model, d.Name) {
			continue
		}
		longest = len(d.Name)
		m.Read, m.MinTokens = cmp.Or(d.Read, base.Read), cmp.Or(d.MinTokens, base.MinTokens)
	}
	return m
}

// Validate returns a [ConfigError] that names a field with an invalid value, or nil.
func (m CacheModel) Validate() error {
	err := cmp.Or(validPrice("Read", m.Read), validPrice("Write", m.Write), notNegative("MinTokens", m.MinTokens), notNegative("Step", m.Step),
		notNegative("Breakpoints", m.Breakpoints), notNegative("LookBack", m.LookBack), notNegative("Latest", m.Latest), notNegative("Sure", m.Sure))
	if err != nil {
		return err
	}
	for i, d := range m.Models {
		at := fmt.Sprintf("Models[%d].", i)
		if d.Name == "" {
			return &ConfigError{"Cache." + at + "Name", "is required: a part of the names of the models"}
		}
		if err := cmp.Or(validPrice(at+"Read", d.Read), notNegative(at+"MinTokens", d.MinTokens)); err != nil {
			return err
		}
	}
	if m.TTL != "" && m.TTL != "5m" && m.TTL != "1h" {
		return &ConfigError{"Cache.TTL", fmt.Sprintf("must be 5m, 1h or empty, got %.20q", m.TTL)}
	}
	if m.Likely < m.Sure {
		return &ConfigError{"Cache.Likely", fmt.Sprintf("must be at least Sure, %v, got %v", m.Sure, m.Likely)}
	}
	return nil
}

func validPrice(field string, price float64) error {
	if price >= 0 && price <= 1e6 {
		return nil
	}
	return &ConfigError{"Cache." + field, fmt.Sprintf("must be a price in units of plain input, from 0 to 1e6, got %v", price)}
}

func notNegative[N int | time.Duration](field string, n N) error {
	if n >= 0 {
		return nil
	}
	return &ConfigError{"Cache." + field, fmt.Sprintf("must be at least 0, got %v", n)}
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

// CacheRequest is a request as a provider's cache sees it.
type CacheRequest struct {
	// Tokens are those of each item of the stable part.
	Tokens []int
	// Blocks are the content blocks of each item. nil counts one for each.
	Blocks []int
	// Same is how many items at the beginning are as they were in the request
	// before.
	Same int
	// System is how many items at the beginning are definitions of tools and system
	// prompts, and Pinned how many, these included, a new choice does not change.
	System, Pinned int
	// Breakpoints are the places that the request marks, as in [CacheUse]. nil lets
	// Use choose them.
	Breakpoints []int
	// Tail is the number of tokens after the stable part.
	Tail int
	// At is when the request is sent.
	At time.Time
	// Held are the prefixes in the cache, as Use returned them for the request
	// before. nil is an empty cache.
	Held []Prefix
}

// Prefix is a prefix that a provider's cache holds.
type Prefix struct {
	Items int       `json:"items"` // at the beginning of the stable part
	At    time.Time `json:"at"`    // when it was written or read
}

// mostHeld is how many prefixes are remembered.
const mostHeld = 80

// Use returns what a request costs, with a Without of 0, and the prefixes that are
// in the cache afterwards, ascending. If r.At is before the time of a prefix, the
// prefix counts as cached. Use takes time linear in the items.
func (m CacheModel) Use(r CacheRequest) (CacheUse, []Prefix) {
	total := r.Tail
	for _, n := range r.Tokens {
		total += n
	}
	if !m.caches() {
		return CacheUse{Plain: total, Cost: float64(total)}, nil
	}
	held := m.alive(r.Held, r.At)
	ends := r.Breakpoints
	switch {
	case m.Breakpoints == 0:
		ends = []int{len(r.Tokens)}
	case ends == nil:
		ends = m.marks(&r, held)
	}
	readable, last := m.found(&r, held, ends), 0
	if len(ends) > 0 {
		last = ends[len(ends)-1]
	}
	read, written := 0, 0
	for i, n := range r.Tokens {
		if i < readable {
			read += n
		}
		if i < last {
			written += n
		}
	}
	read = m.cached(read)
	written = max(m.cached(written), read)
	u := CacheUse{Read: read, Written: written - read, Plain: total - written}
	if m.Breakpoints > 0 {
		u.Breakpoints = ends
	}
	u.Cost = float64(m.Read*float64(u.Read)) + float64(m.Write*float64(u.Written)) + float64(u.Plain)
	return u, m.hold(&r, held, ends, readable)
}

// there returns how likely a prefix is in the cache still, in [0,1], some time after
// it was sent: for sure until Sure, and then less and less until Likely.
func (m CacheModel) there(age time.Duration) float64 {
	switch {
	case age <= m.Sure:
		return 1
	case age > m.Likely:
		return 0
	}
	return float64(m.Likely-age) / float64(m.Likely-m.Sure)
}

// alive returns the prefixes that have not expired.
func (m CacheModel) alive(held []Prefix, now time.Time) []Prefix {
	var list []Prefix
	for _, h := range held {
		// A clock that goes back says nothing.
		if now.Sub(h.At) <= m.Likely {
			list = append(list, h)
		}
	}
	return list
}

// marks chooses where a request marks the ends of cached prefixes.
func (m CacheModel) marks(r *CacheRequest, held []Prefix) []int {
	sent := 0
	for _, h := range held {
		if h.Items <= r.Same {
			sent = max(sent, h.Items)
		}
	}
	return breakpoint.Prompt{End: len(r.Tokens), Sent: sent, System: r.System, Pinned: r.Pinned, Most: m.Breakpoints, LookBack: m.LookBack, Blocks: r.blocks()}.Places()
}

// blocks returns a function that adds up the content blocks of the first n items.
func (r *CacheRequest) blocks() func(n int) int {
	if r.Blocks == nil {
		return func(n int) int { return n }
	}
	sums := make([]int, len(r.Blocks)+1)
	for i, n := range r.Blocks {
		sums[i+1] = sums[i] + n
	}
	return func(n int) int { return sums[min(n, len(r.Blocks))] }
}

// found returns the longest prefix that the provider finds in its cache: one that
// was marked, and that a new mark is close enough to, or any without breakpoints.
func (m CacheModel) found(r *CacheRequest, held []Prefix, ends []int) int {
	blocks := r.blocks()
	if m.Latest > 0 && len(held) > m.Latest {
		held = held[len(held)-m.Latest:]
	}
	longest := 0
	for _, h := range held {
		if m.Breakpoints == 0 {
			longest = max(longest, min(h.Items, r.Same))
			continue
		}
		reached := slices.ContainsFunc(ends, func(end int) bool {
			return end >= h.Items && (m.LookBack == 0 || blocks(end)-blocks(h.Items) <= m.LookBack)
		})
		if h.Items <= r.Same && reached {
			longest = max(longest, h.Items)
		}
	}
	return longest
}

// hold returns the prefixes that are in the cache after a request.
func (m CacheModel) hold(r *CacheRequest, held []Prefix, ends []int, readable int) []Prefix {
	if m.Breakpoints == 0 {
		held = nil
	}
	var list []Prefix
	for _, h := range held {
		if h.Items <= r.Same && h.Items != readable && !slices.Contains(ends, h.Items) {
			list = append(list, h)
		}
	}
	if readable > 0 && m.Breakpoints > 0 && !slices.Contains(ends, readable) {
		list = append(list, Prefix{readable, r.At})
	}
	for _, end := range ends {
		if end > 0 {
			list = append(list, Prefix{end, r.At})
		}
	}
	slices.SortFunc(list, func(a, b Prefix) int { return a.Items - b.Items })
	return list[max(0, len(list)-mostHeld):]
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
