package cupelsession

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/wollax/cupel-go/internal/breakpoint"
)

// CacheModel describes how a provider's prompt cache works and what it costs.
// Prices are per token, relative to the price of an uncached input token. The
// zero model is [NoCache].
type CacheModel struct {
	Name string
	// Read is the price of a token that is read from the cache, and Write the
	// price of a token that is written to it. Both are 1 without a cache.
	Read, Write float64
	// Sure is the least time that a prefix stays in the cache after it was written
	// or read. After Likely it is gone. A Likely of 0 disables the cache.
	Sure, Likely time.Duration
	// MinTokens is the length of the shortest prefix that is cached.
	MinTokens int
	// Step divides every cached length. 0 allows any length.
	Step int
	// Breakpoints is how many places a request may mark as ends of cached prefixes.
	// The provider reads only prefixes that end at such a place. 0 means that the
	// provider finds any prefix by itself.
	Breakpoints int
	// LookBack is how many content blocks the provider searches before a
	// breakpoint for an earlier one. 0 means no limit.
	LookBack int
	// Latest limits the provider's search to this many of the breakpoints
	// written last. 0 means no limit.
	Latest int
	// TTL is the time to live that breakpoints in request bodies ask for, "5m" or
	// "1h". "" is the provider's default.
	TTL string
	// Models lists how individual models of the provider differ. See
	// [CacheModel.For].
	Models []ModelCache
}

// ModelCache describes how the cache of some of a provider's models differs.
type ModelCache struct {
	// Name is a part of the names of these models, such as "claude-opus-5-5".
	Name string
	// Read is the price of a token that is read. 0 takes the price from the
	// CacheModel.
	Read float64
	// MinTokens is the length of the shortest prefix that is cached. 0 takes the
	// length from the CacheModel.
	MinTokens int
}

// For returns the cache of one model of the provider. It applies the entry of
// Models with the longest name that the given name contains. [WithModel] does
// this for a turn.
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

// CacheUse is the cost of a turn, in estimated tokens and relative to the price
// of an uncached input token.
type CacheUse struct {
	// Read, Written and Plain are the tokens of the window that are read from the
	// cache, written to it, and neither.
	Read, Written, Plain int
	// Cost is the cost of the window.
	Cost float64
	// Without is the cost of sending everything at this turn if the prefix
	// that was sent before is in the cache.
	Without float64
	// Breakpoints are the ends of cached prefixes to mark, as numbers of items of
	// the stable part, ascending. Empty if the provider finds prefixes by itself.
	Breakpoints []int
}

// CacheRequest is a request as a provider's cache sees it.
type CacheRequest struct {
	// Tokens has the tokens of each item of the stable part.
	Tokens []int
	// Blocks has the number of content blocks of each item. nil counts one for
	// each.
	Blocks []int
	// Same is how many items at the beginning are the same as in the previous
	// request.
	Same int
	// System counts the tool definitions and system prompts at the beginning.
	// Pinned counts the items at the beginning, these included, that a new choice
	// does not change.
	System, Pinned int
	// Breakpoints are the places that the request marks, as in [CacheUse]. nil lets
	// Use choose them.
	Breakpoints []int
	// Tail is the number of tokens after the stable part.
	Tail int
	// At is when the request is sent.
	At time.Time
	// Held are the prefixes in the cache, as Use returned them for the
	// previous request. nil is an empty cache.
	Held []Prefix
}

// Prefix is a prefix that a provider's cache holds.
type Prefix struct {
	Items int       `json:"items"` // at the beginning of the stable part
	At    time.Time `json:"at"`    // when it was written or read
}

// mostHeld is how many prefixes are remembered.
const mostHeld = 80

// Use returns the cost of a request, with a Without of 0, and the prefixes that
// are in the cache afterwards, ascending. If r.At is before the time of a prefix,
// the prefix counts as cached. Use takes time linear in the items.
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

// there returns the probability, in [0,1], that a prefix is still in the cache some
// time after it was sent. It is 1 until Sure, and falls to 0 at Likely.
func (m CacheModel) there(age time.Duration) float64 {
	if age <= m.Sure {
		return 1
	}
	return max(0, float64(m.Likely-age)/float64(m.Likely-m.Sure))
}

// alive returns the prefixes that have not expired.
func (m CacheModel) alive(held []Prefix, now time.Time) []Prefix {
	var list []Prefix
	for _, h := range held {
		// A clock that goes back proves nothing.
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

// found returns the longest prefix that the provider finds in its cache. With
// breakpoints, an earlier request must have marked it, close enough to a new
// mark.
func (m CacheModel) found(r *CacheRequest, held []Prefix, ends []int) int {
	blocks := r.blocks()
	if m.Latest > 0 {
		held = held[max(0, len(held)-m.Latest):]
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
	return tokens - tokens%max(1, m.Step)
}
