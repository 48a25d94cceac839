package cli

import "strings"

// modelsAsOf is when the table of models was last compared with what providers say.
const modelsAsOf = "November 2026"

// contexts are the lengths of the contexts of models in tokens, input and answer
// together as far as the provider says.
//
// Anthropic: platform.claude.com/docs/en/models/overview and the page of each
// model. OpenAI: developers.openai.com/api/docs/models and the page of each
// model; for GPT-5.4 and later as catalogs of gateways quote them. Google:
// ai.google.dev/gemini-api/docs/models, and docs.cloud.google.com on Gemini 4. A
// model whose length was not found there is left out.
var contexts = map[string]int{
	"claude-fable-5-1":  1_000_000,
	"claude-fable-5":    1_000_000,
	"claude-mythos-5":   1_000_000,
	"claude-opus-5-5":   1_000_000,
	"claude-opus-5":     1_000_000,
	"claude-sonnet-5-5": 1_000_000,
	"claude-sonnet-5":   1_000_000,
	"claude-haiku-5-5":  1_000_000,
	"claude-opus-4-8":   1_000_000,
	"claude-opus-4-7":   1_000_000,
	"claude-opus-4-6":   1_000_000,
	"claude-sonnet-4-6": 1_000_000,
	"claude-opus-4-5":   200_000,
	"claude-sonnet-4-5": 200_000,
	"claude-haiku-4-5":  200_000,
	"claude-opus-4-1":   200_000,
	"gpt-6.2-sol":       1_050_000,
	"gpt-6.1-sol":       1_050_000,
	"gpt-6-sol":         1_050_000,
	"gpt-5.6-sol":       1_050_000,
	"gpt-5.4":           1_050_000,
	"gpt-5.4-mini":      400_000,
	"gpt-5.1":           400_000,
	"gpt-5":             400_000,
	"gpt-5-mini":        400_000,
	"gpt-5-nano":        400_000,
	"gpt-4.1":           1_047_576,
	"gpt-4.1-mini":      1_047_576,
	"gpt-4o":            128_000,
	"gpt-4o-mini":       128_000,
	"gpt-4-turbo":       128_000,
	"gpt-4":             8_192,
	"gpt-3.5-turbo":     16_385,
	"o4-mini":           200_000,
	"o3":                200_000,
	"o3-mini":           200_000,
	"o1":                200_000,
	"gemini-4-argon":    1_048_576,
	"gemini-2.5-pro":    1_048_576,
	"gemini-2.5-flash":  1_048_576,
	"gemini-2.0-flash":  1_048_576,
}

// findModel returns the model that a name stands for, or "" for an unknown name: the
// model's own, or one with a date or a version after it, and with a provider before it,
// as gateways write it. Variants such as gpt-4o-mini have names of their own.
func findModel(name string) string {
	name = strings.ToLower(name[strings.LastIndexByte(name, '/')+1:])
	for _, vendor := range []string{"anthropic.", "openai."} {
		if _, rest, ok := strings.Cut(name, vendor); ok { // us.anthropic.claude-opus-4-6-v1:0
			name = rest
		}
	}
	if strings.HasPrefix(name, "claude-") {
		name = strings.ReplaceAll(name, ".", "-") // gateways write claude-opus-4.5
	}
	for model := range contexts {
		rest, begins := strings.CutPrefix(name, model)
		version := strings.TrimLeft(rest, "-@:v")
		if begins && (rest == "" || len(version) < len(rest) && (rest == "-latest" || strings.HasPrefix(version, "20") || strings.HasPrefix(version, "1:"))) {
			return model
		}
	}
	return ""
}
