package cupelsession_test

import (
	"testing"

	"github.com/wollax/cupel-go/cupelsession"
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
