package cli

import "strings"

// model is the length of a model's context in tokens, input and answer together
// unless the provider states otherwise.
type model struct {
	name    string
	context int
}

// modelsAsOf is when the table of models was last compared with the providers'
// documentation.
const modelsAsOf = "November 2026"

// models are the models of the providers.
//
// Anthropic: platform.claude.com/docs/en/models/overview and the page of each
// model. OpenAI: developers.openai.com/api/docs/models and the page of each
// model; for GPT-5.4 and later, as quoted in catalogs of gateways. Google:
// ai.google.dev/gemini-api/docs/models, and docs.cloud.google.com on Gemini 4.
// Models without a length there are left out.
var models = []model{
	{"claude-fable-5-1", 1_000_000},
	{"claude-fable-5", 1_000_000},
	{"claude-mythos-5", 1_000_000},
	{"claude-opus-5-5", 1_000_000},
	{"claude-opus-5", 1_000_000},
	{"claude-sonnet-5-5", 1_000_000},
	{"claude-sonnet-5", 1_000_000},
	{"claude-haiku-5-5", 1_000_000},
	{"claude-opus-4-8", 1_000_000},
	{"claude-opus-4-7", 1_000_000},
	{"claude-opus-4-6", 1_000_000},
	{"claude-sonnet-4-6", 1_000_000},
	{"claude-opus-4-5", 200_000},
	{"claude-sonnet-4-5", 200_000},
	{"claude-haiku-4-5", 200_000},
	{"claude-opus-4-1", 200_000},
	{"gpt-6.2-sol", 1_050_000},
	{"gpt-6.1-sol", 1_050_000},
	{"gpt-6-sol", 1_050_000},
	{"gpt-5.6-sol", 1_050_000},
	{"gpt-5.4", 1_050_000},
	{"gpt-5.4-mini", 400_000},
	{"gpt-5.1", 400_000},
	{"gpt-5", 400_000},
	{"gpt-5-mini", 400_000},
	{"gpt-5-nano", 400_000},
	{"gpt-4.1", 1_047_576},
	{"gpt-4.1-mini", 1_047_576},
	{"gpt-4o", 128_000},
	{"gpt-4o-mini", 128_000},
	{"gpt-4-turbo", 128_000},
	{"gpt-4", 8_192},
	{"gpt-3.5-turbo", 16_385},
	{"o4-mini", 200_000},
	{"o3", 200_000},
	{"o3-mini", 200_000},
	{"o1", 200_000},
	{"gemini-4-argon", 1_048_576},
	{"gemini-2.5-pro", 1_048_576},
	{"gemini-2.5-flash", 1_048_576},
	{"gemini-2.0-flash", 1_048_576},
}

// findModel returns the model with a name. The name may have a date or a version after
// it, and a provider before it, as gateways write it. Variants such as gpt-4o-mini have
// names of their own.
func findModel(name string) (model, bool) {
	name = strings.ToLower(name[strings.LastIndexByte(name, '/')+1:])
	for _, vendor := range []string{"anthropic.", "openai."} {
		if _, rest, ok := strings.Cut(name, vendor); ok { // us.anthropic.claude-opus-4-6-v1:0
			name = rest
		}
	}
	if strings.HasPrefix(name, "claude-") {
		name = strings.ReplaceAll(name, ".", "-") // gateways write claude-opus-4.5
	}
	for _, m := range models {
		rest, begins := strings.CutPrefix(name, m.name)
		version := strings.TrimLeft(rest, "-@:v")
		if begins && (rest == "" || len(version) < len(rest) && (rest == "-latest" || strings.HasPrefix(version, "20") || strings.HasPrefix(version, "1:"))) {
			return m, true
		}
	}
	return model{}, false
}
