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

// models and prefixes are those of tiktoken/model.py, without models that OpenAI has
// shut down.
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

	"gpt2":  EncodingR50kBase,
	"gpt-2": EncodingR50kBase,
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
