package cupelsession_test

import (
	"cmp"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/wollax/cupel-go/cupelsession"
	"github.com/wollax/cupel-go/internal/breakpoint"
)

func TestModelsOfCaches(t *testing.T) {
	own := cupelsession.CacheModel{MinTokens: 7, Models: []cupelsession.ModelCache{{Name: "a-z", Read: .2}, {Name: "a", Read: .3}, {Name: "z", Read: .4}}}
	for _, test := range []struct {
		cache     cupelsession.CacheModel
		model     string
		read      float64
		minTokens int
		why       string
	}{
		{cupelsession.AnthropicCache, "", .1, 1024, "no model is named"},
		{cupelsession.AnthropicCache, "us.anthropic.claude-haiku-4-5-20251001-v1:0", .1, 4096, "Bedrock's name"},
		{cupelsession.AnthropicCacheHour, "claude-opus-5", .1, 512, "the shortest prefix"},
		{cupelsession.AnthropicCache, "claude-opus-5-5", .05, 1024, "not claude-opus-5"},
		{cupelsession.GeminiCache, "gemini-2.5-pro", .1, 2048, "the older models"},
		{cupelsession.NoCache, "claude-opus-5", 0, 0, "nothing differs from nothing"},
		{own, "a-z", .2, 7, "the longest part, wherever it stands"},
		{own, "z", .4, 7, "a name of one character"},
		{own, "za", .3, 7, "the first of equal length"},
	} {
		if m := test.cache.For(test.model); m.Read != test.read || m.MinTokens != test.minTokens || m.Write != test.cache.Write {
			t.Errorf("%s, %q: read %v from %d tokens on, want %v from %d (%s)", test.cache.Name, test.model, m.Read, m.MinTokens, test.read, test.minTokens, test.why)
		}
	}
	for _, m := range []cupelsession.CacheModel{cupelsession.NoCache, cupelsession.AnthropicCache, cupelsession.AnthropicCacheHour, cupelsession.OpenAICache, cupelsession.OpenAIBreakpointCache, cupelsession.GeminiCache} {
		if _, err := cupelsession.New(newest(t), cupelsession.Config{Cache: m}); err != nil {
			t.Errorf("%s: %v", m.Name, err)
		}
	}
}

// use is what a provider's cache does with a request.
func use(c cupelsession.CacheModel, r cupelsession.CacheRequest) (cupelsession.CacheUse, []cupelsession.Prefix) {
	sum := func(n int) int {
		tokens := 0
		for _, k := range r.Tokens[:n] {
			tokens += k
		}
		return tokens
	}
	end := len(r.Tokens)
	all := sum(end) + r.Tail
	if c.Likely == 0 {
		return cupelsession.CacheUse{Plain: all, Cost: float64(all)}, nil
	}
	var u cupelsession.CacheUse
	read, last, has := 0, end, map[int]time.Time{end: r.At}
	blocks := func(n int) int {
		sum := 0
		for _, k := range r.Blocks[:min(n, len(r.Blocks))] {
			sum += k
		}
		return sum + n*(1-min(1, len(r.Blocks)))
	}
	if c.Breakpoints == 0 {
		for _, h := range r.Held {
			read = max(read, min(h.Items, r.Same))
		}
	} else {
		there := map[int]time.Time{} // of what the provider has, what is the same
		sent := 0
		for _, h := range r.Held {
			if h.Items <= r.Same {
				there[h.Items], sent = h.At, h.Items
			}
		}
		if u.Breakpoints = r.Breakpoints; u.Breakpoints == nil {
			u.Breakpoints = breakpoint.Prompt{End: end, Sent: sent, System: r.System, Pinned: r.Pinned, Most: c.Breakpoints, LookBack: c.LookBack, Blocks: blocks}.Places()
		}
		last = 0
		for _, place := range u.Breakpoints {
			last, there[place] = place, r.At
			for _, h := range r.Held[max(0, len(r.Held)-cmp.Or(c.Latest, len(r.Held))):] {
				if h.Items <= min(place, r.Same) && (c.LookBack == 0 || blocks(place)-blocks(h.Items) <= c.LookBack) {
					read = max(read, h.Items)
				}
			}
		}
		there[read] = r.At
		has = there
	}
	delete(has, 0)
	var held []cupelsession.Prefix
	for _, n := range slices.Sorted(maps.Keys(has)) {
		held = append(held, cupelsession.Prefix{Items: n, At: has[n]})
	}
	held = held[max(0, len(held)-80):]
	u.Read = caches(c, sum(read))
	u.Written = max(0, caches(c, sum(last))-u.Read)
	u.Plain = all - u.Read - u.Written
	u.Cost = c.Read*float64(u.Read) + c.Write*float64(u.Written) + float64(u.Plain)
	return u, held
}

// TestUseOfCaches compares what each of some requests in a row costs with what the
// reference says, and what the cache has afterwards.
func TestUseOfCaches(t *testing.T) {
	seeds := uint64(4000)
	if testing.Short() {
		seeds = 1500
	}
	for seed := range seeds {
		rng := rand.New(rand.NewPCG(seed, 7))
		c := cupelsession.CacheModel{
			Read: .1, Write: 1.25, Likely: time.Duration(rng.IntN(4)), MinTokens: rng.IntN(12), Step: rng.IntN(4),
			Breakpoints: rng.IntN(5), LookBack: rng.IntN(9), Latest: rng.IntN(4),
		}
		most := 10
		if seed%100 == 0 { // more prefixes than are remembered
			most, c.Breakpoints, c.Likely = 120, 100, time.Minute
		}
		var held []cupelsession.Prefix
		for n := range 9 {
			if rng.IntN(3) == 0 {
				held = append(held, cupelsession.Prefix{Items: n + 1, At: time.Unix(0, 1)})
			}
		}
		for turn := range 6 {
			r := cupelsession.CacheRequest{Tail: rng.IntN(5), At: time.Unix(0, int64(turn+rng.IntN(3))), Held: held}
			for i := range rng.IntN(most) {
				r.Tokens = append(r.Tokens, rng.IntN(5))
				if seed%3 == 0 {
					r.Blocks = append(r.Blocks, rng.IntN(4))
				}
				if own := seed%4 == 0 || most > 10; own && rng.IntN(4) > 0 {
					r.Breakpoints = append(r.Breakpoints, i+1)
				} else if own && i == 0 {
					r.Breakpoints = []int{}
				}
			}
			end := len(r.Tokens)
			r.Same, r.System, r.Pinned = rng.IntN(end+1), rng.IntN(end+1), rng.IntN(end+1)
			got, has := c.Use(r)
			r.Held = slices.DeleteFunc(slices.Clone(held), func(p cupelsession.Prefix) bool { return r.At.Sub(p.At) > c.Likely })
			want, wantHas := use(c, r)
			require.Equal(t, want, got, "seed %d turn %d: %+v of %+v", seed, turn, c, r)
			require.Equal(t, wantHas, has, "seed %d turn %d: %+v of %+v", seed, turn, c, r)
			held = has
		}
	}
}
