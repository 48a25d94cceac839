package cupelsession

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/wollax/cupel-go/cupelchat"
)

// CacheFor returns the cache of the provider of an API, with the values of
// most models.
func CacheFor(f cupelchat.Format) CacheModel {
	switch f {
	case cupelchat.Anthropic, cupelchat.Bedrock:
		return AnthropicCache
	case cupelchat.OpenAI, cupelchat.Responses:
		return OpenAICache
	case cupelchat.Gemini:
		return GeminiCache
	default:
		return NoCache
	}
}

// The caches of providers as their documentation describes them. Prices and limits
// change, and differ between models: copy one of these and change it where your
// model differs.
var (
	// NoCache is a provider without a cache: the zero model.
	NoCache = CacheModel{}

	// AnthropicCache is Anthropic's cache of 5 minutes. Writing costs a quarter
	// more than plain input; reading costs a tenth of it, and less with the latest
	// models. The shortest prefix has 512 to 4,096 tokens. A request has at most
	// four breakpoints; each finds an earlier one up to 20 content blocks before
	// it. A prefix that is used stays for another 5 minutes.
	//
	// Breakpoints, look-back and lengths are from
	// platform.claude.com/docs/en/build-with-claude/prompt-caching, prices from
	// platform.claude.com/docs/en/about-claude/pricing, both November 2026. The
	// shortest prefix of the models 5.1 and 5.5 was not found there; 1,024 is
	// assumed.
	AnthropicCache = CacheModel{
		Name: "anthropic", Read: 0.1, Write: 1.25, Sure: 5 * time.Minute, Likely: 10 * time.Minute, MinTokens: 1024, Breakpoints: 4, LookBack: 20,
		Models: anthropicModels,
	}

	// AnthropicCacheHour is Anthropic's cache of one hour, which costs twice the
	// price of plain input to write. Breakpoints in bodies ask for it.
	//
	// From the same pages.
	AnthropicCacheHour = CacheModel{
		Name: "anthropic-1h", Read: 0.1, Write: 2, Sure: time.Hour, Likely: 2 * time.Hour, MinTokens: 1024, Breakpoints: 4, LookBack: 20, TTL: "1h",
		Models: anthropicModels,
	}

	// OpenAICache is the automatic cache of OpenAI's models before GPT-5.6:
	// prefixes of 1,024 tokens and more, in steps of 128. Writing costs nothing
	// extra. A prefix expires after 5 to 10 minutes without use, and after an
	// hour at the latest. Models before GPT-5 charge a quarter or a half of the
	// price for reading.
	//
	// From developers.openai.com/api/docs/guides/prompt-caching and
	// developers.openai.com/api/docs/pricing, November 2026.
	OpenAICache = CacheModel{
		Name: "openai", Read: 0.1, Write: 1, Sure: 5 * time.Minute, Likely: time.Hour, MinTokens: 1024, Step: 128,
		Models: []ModelCache{{Name: "gpt-4.1", Read: 0.25}, {Name: "gpt-4o", Read: 0.5}, {Name: "o4-mini", Read: 0.25}, {Name: "o3", Read: 0.25}, {Name: "o3-mini", Read: 0.5}},
	}

	// OpenAIBreakpointCache is the cache of GPT-5.6 and later models of OpenAI:
	// prefixes of 1,024 tokens and more that end at a breakpoint. The API sets
	// one at the latest message by itself. A request writes at most four and
	// finds the latest 80, however far back they are. Writing costs a quarter
	// more than plain input. A prefix stays for at least 30 minutes; how much
	// longer is not documented.
	//
	// [Session.Body] leaves the breakpoint to the API. To set others, set Breakpoints
	// to 4, put prompt_cache_breakpoint at the places in [CacheUse], and set the mode
	// to explicit. This is needed if the window has a tail: the API's own breakpoint
	// is after it.
	//
	// From the same pages.
	OpenAIBreakpointCache = CacheModel{
		Name: "openai-breakpoints", Read: 0.1, Write: 1.25, Sure: 30 * time.Minute, Likely: time.Hour, MinTokens: 1024, Breakpoints: 1, Latest: 80,
		Models: []ModelCache{{Name: "gpt-6.1", Read: 0.05}},
	}

	// GeminiCache is Gemini's implicit cache, which is not guaranteed: prefixes of
	// 4,096 tokens and more, and of 2,048 with Gemini 2.5.
	//
	// From ai.google.dev/gemini-api/docs/caching and
	// ai.google.dev/gemini-api/docs/pricing, November 2026. How long it lasts is not
	// documented.
	GeminiCache = CacheModel{
		Name: "gemini", Read: 0.1, Write: 1, Likely: time.Hour, MinTokens: 4096,
		Models: []ModelCache{{Name: "gemini-2.5", MinTokens: 2048}, {Name: "gemini-4-argon", Read: 0.05}},
	}
)

// Caches returns these models by name, and "none" for a provider without a
// cache.
func Caches() map[string]CacheModel {
	known := map[string]CacheModel{"none": {Name: "none"}}
	for _, m := range []CacheModel{AnthropicCache, AnthropicCacheHour, OpenAICache, OpenAIBreakpointCache, GeminiCache} {
		known[m.Name] = m
	}
	return known
}

// CacheNamed returns the model of [Caches] with a name.
func CacheNamed(name string) (CacheModel, error) {
	known := Caches()
	model, ok := known[name]
	if !ok {
		return model, fmt.Errorf("cupelsession: %.40q is unknown; want one of %s", name, strings.Join(slices.Sorted(maps.Keys(known)), ", "))
	}
	return model, nil
}

// anthropicModels are the models with another price of reading than a tenth,
// or another shortest prefix than 1,024 tokens.
var anthropicModels = []ModelCache{
	{Name: "claude-fable-5", MinTokens: 512},
	{Name: "claude-mythos-5", MinTokens: 512},
	{Name: "claude-opus-5", MinTokens: 512},
	{Name: "claude-fable-5-1", Read: 0.025},
	{Name: "claude-mythos-5-1", Read: 0.025},
	{Name: "claude-opus-5-5", Read: 0.05},
	{Name: "claude-sonnet-5-5", Read: 0.05},
	{Name: "claude-opus-4-5", MinTokens: 4096},
	{Name: "claude-opus-4-6", MinTokens: 4096},
	{Name: "claude-haiku-4-5", MinTokens: 4096},
	{Name: "claude-opus-4-7", MinTokens: 2048},
	{Name: "claude-3-5-haiku", MinTokens: 2048},
	{Name: "claude-3-haiku", MinTokens: 2048},
}
