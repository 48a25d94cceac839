package cupelsession

import "time"

// The caches of providers as their documentation describes them. Prices and limits
// change and differ between models: copy a model and change it where yours does.
var (
	// NoCache is a provider without a cache: the zero model.
	NoCache = CacheModel{}

	// AnthropicCache is Anthropic's cache of 5 minutes: breakpoints cost a quarter
	// more than plain input, what is read a tenth of it. Models have a minimum of
	// 1,024 to 4,096 tokens.
	//
	// From platform.claude.com/docs/en/build-with-claude/prompt-caching, November 2026.
	AnthropicCache = CacheModel{
		Name: "anthropic", Read: 0.1, Write: 1.25, Sure: 5 * time.Minute, Likely: 10 * time.Minute, MinTokens: 1024, Breakpoints: 4, LookBack: 20,
	}

	// AnthropicCacheHour is Anthropic's cache of one hour, which costs twice the
	// price of plain input to write.
	//
	// From the same page.
	AnthropicCacheHour = CacheModel{
		Name: "anthropic-1h", Read: 0.1, Write: 2, Sure: time.Hour, Likely: 2 * time.Hour, MinTokens: 1024, Breakpoints: 4, LookBack: 20,
	}

	// OpenAICache is the automatic cache of OpenAI's recent models: prefixes of
	// 1,024 tokens and more, in steps of 128. It is gone after 5 to 10 minutes
	// without use, and after an hour for sure. Older models charge a quarter or a
	// half for what is read.
	//
	// From developers.openai.com/api/docs/guides/prompt-caching, November 2026.
	OpenAICache = CacheModel{Name: "openai", Read: 0.1, Write: 1, Sure: 5 * time.Minute, Likely: time.Hour, MinTokens: 1024, Step: 128}

	// GeminiCache is Gemini's implicit cache, which is not guaranteed: prefixes of
	// 1,024 (Flash) or 2,048 tokens (Pro) and more.
	//
	// From ai.google.dev/gemini-api/docs/caching, November 2026. How long it lasts
	// is not documented.
	GeminiCache = CacheModel{Name: "gemini", Read: 0.25, Write: 1, Likely: time.Hour, MinTokens: 2048}
)
