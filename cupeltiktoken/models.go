package cupeltiktoken

import (
	"maps"
	"slices"
)

// sameAs are encodings that differ from others in their special tokens only.
var sameAs = map[Encoding]Encoding{
	"gpt2":          R50kBase,
	"p50k_edit":     P50kBase,
	"o200k_harmony": O200kBase,
}

// models and prefixes are those of tiktoken/model.py.
var models = map[string]Encoding{
	"o1":      O200kBase,
	"o3":      O200kBase,
	"o4-mini": O200kBase,
	"gpt-5":   O200kBase,
	"gpt-4.1": O200kBase,
	"gpt-4o":  O200kBase,

	"gpt-4":                  Cl100kBase,
	"gpt-3.5-turbo":          Cl100kBase,
	"gpt-3.5":                Cl100kBase,
	"gpt-35-turbo":           Cl100kBase,
	"davinci-002":            Cl100kBase,
	"babbage-002":            Cl100kBase,
	"text-embedding-ada-002": Cl100kBase,
	"text-embedding-3-small": Cl100kBase,
	"text-embedding-3-large": Cl100kBase,

	"text-davinci-003":      P50kBase,
	"text-davinci-002":      P50kBase,
	"code-davinci-002":      P50kBase,
	"code-davinci-001":      P50kBase,
	"code-cushman-002":      P50kBase,
	"code-cushman-001":      P50kBase,
	"davinci-codex":         P50kBase,
	"cushman-codex":         P50kBase,
	"text-davinci-edit-001": P50kBase,
	"code-davinci-edit-001": P50kBase,

	"text-davinci-001":             R50kBase,
	"text-curie-001":               R50kBase,
	"text-babbage-001":             R50kBase,
	"text-ada-001":                 R50kBase,
	"davinci":                      R50kBase,
	"curie":                        R50kBase,
	"babbage":                      R50kBase,
	"ada":                          R50kBase,
	"text-similarity-davinci-001":  R50kBase,
	"text-similarity-curie-001":    R50kBase,
	"text-similarity-babbage-001":  R50kBase,
	"text-similarity-ada-001":      R50kBase,
	"text-search-davinci-doc-001":  R50kBase,
	"text-search-curie-doc-001":    R50kBase,
	"text-search-babbage-doc-001":  R50kBase,
	"text-search-ada-doc-001":      R50kBase,
	"code-search-babbage-code-001": R50kBase,
	"code-search-ada-code-001":     R50kBase,
	"gpt2":                         R50kBase,
	"gpt-2":                        R50kBase,
}

var prefixes = map[string]Encoding{
	"o1-":         O200kBase,
	"o3-":         O200kBase,
	"o4-mini-":    O200kBase,
	"gpt-5-":      O200kBase,
	"gpt-4.5-":    O200kBase,
	"gpt-4.1-":    O200kBase,
	"chatgpt-4o-": O200kBase,
	"gpt-4o-":     O200kBase,
	"gpt-oss-":    O200kBase,
	"ft:gpt-4o":   O200kBase,

	"gpt-4-":           Cl100kBase,
	"gpt-3.5-turbo-":   Cl100kBase,
	"gpt-35-turbo-":    Cl100kBase,
	"ft:gpt-4":         Cl100kBase,
	"ft:gpt-3.5-turbo": Cl100kBase,
	"ft:davinci-002":   Cl100kBase,
	"ft:babbage-002":   Cl100kBase,
}

func knownEncodings() []string {
	names := []string{string(O200kBase), string(Cl100kBase), string(P50kBase), string(R50kBase)}
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
