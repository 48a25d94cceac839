package cupeltiktoken

import (
	"maps"
	"slices"
)

// sameAs are encodings that differ from others only in their special tokens.
var sameAs = map[Encoding]Encoding{
	"gpt2":          EncodingR50kBase,
	"p50k_edit":     EncodingP50kBase,
	"o200k_harmony": EncodingO200kBase,
}

// models and prefixes are from tiktoken/model.py.
var models = map[string]Encoding{
	"o1":      EncodingO200kBase,
	"o3":      EncodingO200kBase,
	"o4-mini": EncodingO200kBase,
	"gpt-5":   EncodingO200kBase,
	"gpt-4.1": EncodingO200kBase,
	"gpt-4o":  EncodingO200kBase,

	"gpt-4":                  EncodingCl100kBase,
	"gpt-3.5-turbo":          EncodingCl100kBase,
	"gpt-3.5":                EncodingCl100kBase,
	"gpt-35-turbo":           EncodingCl100kBase,
	"davinci-002":            EncodingCl100kBase,
	"babbage-002":            EncodingCl100kBase,
	"text-embedding-ada-002": EncodingCl100kBase,
	"text-embedding-3-small": EncodingCl100kBase,
	"text-embedding-3-large": EncodingCl100kBase,

	"text-davinci-003":      EncodingP50kBase,
	"text-davinci-002":      EncodingP50kBase,
	"code-davinci-002":      EncodingP50kBase,
	"code-davinci-001":      EncodingP50kBase,
	"code-cushman-002":      EncodingP50kBase,
	"code-cushman-001":      EncodingP50kBase,
	"davinci-codex":         EncodingP50kBase,
	"cushman-codex":         EncodingP50kBase,
	"text-davinci-edit-001": EncodingP50kBase,
	"code-davinci-edit-001": EncodingP50kBase,

	"text-davinci-001":             EncodingR50kBase,
	"text-curie-001":               EncodingR50kBase,
	"text-babbage-001":             EncodingR50kBase,
	"text-ada-001":                 EncodingR50kBase,
	"davinci":                      EncodingR50kBase,
	"curie":                        EncodingR50kBase,
	"babbage":                      EncodingR50kBase,
	"ada":                          EncodingR50kBase,
	"text-similarity-davinci-001":  EncodingR50kBase,
	"text-similarity-curie-001":    EncodingR50kBase,
	"text-similarity-babbage-001":  EncodingR50kBase,
	"text-similarity-ada-001":      EncodingR50kBase,
	"text-search-davinci-doc-001":  EncodingR50kBase,
	"text-search-curie-doc-001":    EncodingR50kBase,
	"text-search-babbage-doc-001":  EncodingR50kBase,
	"text-search-ada-doc-001":      EncodingR50kBase,
	"code-search-babbage-code-001": EncodingR50kBase,
	"code-search-ada-code-001":     EncodingR50kBase,
	"gpt2":                         EncodingR50kBase,
	"gpt-2":                        EncodingR50kBase,
}

var prefixes = map[string]Encoding{
	"o1-":         EncodingO200kBase,
	"o3-":         EncodingO200kBase,
	"o4-mini-":    EncodingO200kBase,
	"gpt-5-":      EncodingO200kBase,
	"gpt-4.5-":    EncodingO200kBase,
	"gpt-4.1-":    EncodingO200kBase,
	"chatgpt-4o-": EncodingO200kBase,
	"gpt-4o-":     EncodingO200kBase,
	"gpt-oss-":    EncodingO200kBase,
	"ft:gpt-4o":   EncodingO200kBase,

	"gpt-4-":           EncodingCl100kBase,
	"gpt-3.5-turbo-":   EncodingCl100kBase,
	"gpt-35-turbo-":    EncodingCl100kBase,
	"ft:gpt-4":         EncodingCl100kBase,
	"ft:gpt-3.5-turbo": EncodingCl100kBase,
	"ft:davinci-002":   EncodingCl100kBase,
	"ft:babbage-002":   EncodingCl100kBase,
}

func knownEncodings() []string {
	names := []string{string(EncodingO200kBase), string(EncodingCl100kBase), string(EncodingP50kBase), string(EncodingR50kBase)}
	for name := range sameAs {
		names = append(names, string(name))
	}
	slices.Sort(names)
	return names
}

func knownModels() []string {
	names := slices.Collect(maps.Keys(models))
	for prefix := range prefixes {
		names = append(names, prefix+"*")
	}
	slices.Sort(names)
	return names
}
