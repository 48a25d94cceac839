package cupelsession_test

import (
	"slices"
	"testing"
	"time"

	"github.com/wollax/cupel-go/cupelsession"
)

// repeat returns n times the number.
func repeat(number, n int) []int {
	list := make([]int, n)
	for i := range list {
		list[i] = number
	}
	return list
}

// TestUseOfCaches sends ten items of 100 tokens, then a request of its own places or
// blocks, and compares what that costs. The model of a session has the others.
func TestUseOfCaches(t *testing.T) {
	marked := cupelsession.CacheModel{Read: .1, Write: 1.25, Likely: time.Minute, Breakpoints: 4, LookBack: 20}
	anything, one := marked, marked
	anything.Breakpoints, one.Breakpoints = 0, 1
	for _, test := range []struct {
		name          string
		model         cupelsession.CacheModel
		request       cupelsession.CacheRequest
		read, written int
		breakpoints   []int
		why           string
	}{
		{"any prefix", anything, cupelsession.CacheRequest{Tokens: repeat(100, 12), Same: 7, Breakpoints: []int{3}}, 700, 500, nil, "the provider finds what is the same"},
		{"blocks", one, cupelsession.CacheRequest{Tokens: repeat(100, 30), Blocks: append(repeat(1, 29), 2), Same: 10}, 0, 3000, []int{30}, "it is 21 blocks"},
		{"fewer blocks", one, cupelsession.CacheRequest{Tokens: repeat(100, 30), Blocks: repeat(1, 30), Same: 10}, 1000, 2000, []int{30}, "it is 20 blocks"},
		{"own places", marked, cupelsession.CacheRequest{Tokens: repeat(100, 12), Same: 10, Breakpoints: []int{11}}, 1000, 100, []int{11}, "what follows the last breakpoint is plain"},
		{"early places", marked, cupelsession.CacheRequest{Tokens: repeat(100, 12), Same: 10, Breakpoints: []int{5}}, 0, 500, []int{5}, "nothing ends where a prefix did, or later"},
		{"no marks", marked, cupelsession.CacheRequest{Tokens: repeat(100, 12), Same: 10, Breakpoints: []int{}}, 0, 0, nil, "nothing is read without a mark"},
	} {
		r := test.request
		_, r.Held = test.model.Use(cupelsession.CacheRequest{Tokens: repeat(100, 10)})
		u, _ := test.model.Use(r)
		plain := 100*len(r.Tokens) - test.read - test.written
		if u.Read != test.read || u.Written != test.written || u.Plain != plain || !slices.Equal(u.Breakpoints, test.breakpoints) {
			t.Errorf("%s: %+v, want %d read, %d written, %d plain, breakpoints %v (%s)", test.name, u, test.read, test.written, plain, test.breakpoints, test.why)
		}
	}
}

func TestMostPrefixes(t *testing.T) {
	m := cupelsession.CacheModel{Read: .1, Write: 1.25, Likely: time.Minute, Breakpoints: 2}
	var held []cupelsession.Prefix
	for n := 300; n < 600; n++ {
		_, held = m.Use(cupelsession.CacheRequest{Tokens: repeat(1, n), Same: n - 1, Held: held})
	}
	if len(held) != 80 || held[79].Items != 599 {
		t.Errorf("%d prefixes are remembered, want the 80 latest: %v", len(held), held)
	}
}

func TestModelsOfCaches(t *testing.T) {
	for _, test := range []struct {
		cache     cupelsession.CacheModel
		model     string
		read      float64
		minTokens int
		why       string
	}{
		{cupelsession.AnthropicCache, "", .1, 1024, "no model is named"},
		{cupelsession.AnthropicCache, "claude-sonnet-4-5-20250929", .1, 1024, "most models"},
		{cupelsession.AnthropicCache, "claude-opus-4-5-20251101", .1, 4096, "a longer name than claude-opus-4"},
		{cupelsession.AnthropicCache, "us.anthropic.claude-haiku-4-5-20251001-v1:0", .1, 4096, "Bedrock's name"},
		{cupelsession.AnthropicCacheHour, "claude-opus-5", .1, 512, "the shortest prefix"},
		{cupelsession.AnthropicCache, "claude-opus-5-5", .05, 1024, "not claude-opus-5"},
		{cupelsession.OpenAICache, "gpt-4o-2024-08-06", .5, 1024, "half"},
		{cupelsession.OpenAICache, "gpt-5.5", .1, 1024, "a tenth"},
		{cupelsession.GeminiCache, "gemini-2.5-pro", .1, 2048, "the older models"},
		{cupelsession.GeminiCache, "gemini-3.8-flash", .1, 4096, "the newer models"},
		{cupelsession.NoCache, "claude-opus-5", 0, 0, "nothing differs from nothing"},
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
