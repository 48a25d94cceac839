package cupeltoml_test

import (
	"encoding/json"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/BurntSushi/toml"
	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupel/pipeline"
	"github.com/wollax/cupel-go/cupel/policy"
	"github.com/wollax/cupel-go/cupel/scorer"
	"github.com/wollax/cupel-go/cupel/strategy"
	"github.com/wollax/cupel-go/cupeltoml"
)

// complete has every built-in strategy and every setting.
const complete = `
name = "Complete" # a comment
description = """
Two
lines"""
deduplicate = false
overflow = "Proceed"
placer.type = "uShaped"

[[scorers]]
type = "recency"
weight = 1
[[scorers]]
type = "kind"
weight = 0.5
[[scorers]]
type = "kind"
weight = 1e2
weights = {}
[[scorers]]
type = "kind"
weight = 1
[scorers.weights]
Message = 0
"a.b[c]" = 2.5
[[scorers]]
type = "tag"
weight = 1
weights = { a = 1, "" = 0x10 }
caseInsensitive = true
[[scorers]]
type = "composite"
weight = 1
[[scorers.scorers]]
type = "scaled"
weight = 2
inner = { type = "frequency" }
[[scorers.scorers]]
type = "reflexive"
weight = 1
[[scorers]]
type = "metadataTrust"
weight = 1
defaultScore = 0
[[scorers]]
type = "metadataKey"
weight = 1
key = 'cupel:priority'
value = "high"
boost = 1_0
[[scorers]]
type = "decay"
weight = 1
nullTimestampScore = 0.0
curve = { type = "step", windows = [{ maxAge = "1h", score = 1 }, { maxAge = "24h", score = 0.25 }] }

[slicer]
type = "quota"
entries = [{ kind = "Note", require = 5, cap = 50.5 }, { kind = "Memory", cap = 0 }]
[slicer.inner]
type = "countQuota"
scarcity = "Throw"
inner = { type = "greedy" }
entries = [{ kind = "Note", requireCount = 1 }, { kind = "Memory", capCount = 0 }]
`

func completePolicy() policy.Policy {
	return policy.Policy{
		Name: "Complete", Description: "Two\nlines", KeepDuplicates: true, Overflow: pipeline.OverflowProceed, Placer: policy.Strategy{Type: "uShaped"},
		Scorers: []policy.Weighted{
			{Scorer: policy.Strategy{Type: "recency"}, Weight: 1},
			{Scorer: policy.Strategy{Type: "kind"}, Weight: 0.5},
			{Scorer: policy.Strategy{Type: "kind", Settings: policy.Settings{"weights": map[string]float64{}}}, Weight: 100},
			{Scorer: policy.Strategy{Type: "kind", Settings: policy.Settings{"weights": map[string]float64{"Message": 0, "a.b[c]": 2.5}}}, Weight: 1},
			{Scorer: policy.Strategy{Type: "tag", Settings: policy.Settings{"weights": map[string]float64{"a": 1, "": 16}, "caseInsensitive": true}}, Weight: 1},
			{Scorer: policy.Strategy{Type: "composite", Settings: policy.Settings{"scorers": []policy.Weighted{
				{Scorer: policy.Strategy{Type: "scaled", Settings: policy.Settings{"inner": policy.Strategy{Type: "frequency"}}}, Weight: 2}, {Scorer: policy.Strategy{Type: "reflexive"}, Weight: 1},
			}}}, Weight: 1},
			{Scorer: policy.Strategy{Type: "metadataTrust", Settings: policy.Settings{"defaultScore": 0.0}}, Weight: 1},
			{Scorer: policy.Strategy{Type: "metadataKey", Settings: policy.Settings{"key": "cupel:priority", "value": "high", "boost": 10.0}}, Weight: 1},
			{Scorer: policy.Strategy{Type: "decay", Settings: policy.Settings{"nullTimestampScore": 0.0, "curve": policy.Strategy{Type: "step", Settings: policy.Settings{"windows": []policy.Settings{
				{"maxAge": time.Hour, "score": 1.0}, {"maxAge": 24 * time.Hour, "score": 0.25},
			}}}}}, Weight: 1},
		},
		Slicer: policy.Strategy{Type: "quota", Settings: policy.Settings{"inner": policy.Strategy{Type: "countQuota", Settings: policy.Settings{"inner": policy.Strategy{Type: "greedy"}, "scarcity": "Throw", "entries": []policy.Settings{{"kind": "Note", "requireCount": 1}, {"kind": "Memory", "capCount": 0}}}}, "entries": []policy.Settings{{"kind": "Note", "require": 5.0, "cap": 50.5}, {"kind": "Memory", "cap": 0.0}}}},
	}
}

func TestDecodePolicy(t *testing.T) {
	got, err := cupeltoml.DecodePolicy(nil, []byte(complete))
	require.NoError(t, err)
	require.Equal(t, completePolicy(), got)
}

// TestSameAsJSON turns documents from JSON into TOML: both are read as the same
// policy, or as the same mistakes.
func TestSameAsJSON(t *testing.T) {
	var texts []string
	useBudget := policy.Policy{Scorers: []policy.Weighted{{Scorer: policy.Strategy{Type: "recency"}, Weight: 1}}, Placer: policy.Strategy{Type: "uShaped"}, Slicer: policy.Strategy{Type: "quota", Settings: policy.Settings{"inner": policy.Strategy{Type: "scoreGreedy"}}}}
	policies := []policy.Policy{completePolicy(), useBudget}
	useBudget.Slicer = policy.Strategy{Type: "knapsack", Settings: policy.Settings{"autoBucket": true, "memoryLimit": 5}}
	policies = append(policies, useBudget)
	for _, p := range policy.NewRegistry().All() {
		policies = append(policies, p)
	}
	for _, p := range policies {
		text, err := json.Marshal(p)
		require.NoError(t, err)
		texts = append(texts, string(text))
	}
	right := len(texts)
	texts = append(texts,
		`{}`,
		`{"name":1,"describe":"","scorers":[{"type":"recncy","weight":-1},{"weight":1},{"type":"kind","weight":"x","wheights":{}}],"slicer":{"type":"knapsack","bucketSize":0},"placer":[],"deduplicate":"yes","overflow":"throw"}`,
		`{"scorers":[{"type":"kind","weight":1,"weights":{"a b":-1,"c":"1","Note":1,"NOTE":2}}],"slicer":{"type":"quota","inner":{"type":"nope"},"entries":[{"require":101},{"kind":"a","x y":1}]},"placer":{"type":"uShaped"}}`,
		`{"scorers":[{"type":"decay","weight":1,"curve":{"type":"step","windows":[{"maxAge":5,"score":2},{}]}}],"slicer":{"type":"knapsack","bucketSize":1.5},"placer":"uShaped"}`,
		`{"scorers":[{"type":"recency","weight":1}],"slicer":{"type":"knapsack","bucketSize":5,"autoBucket":"yes","memoryLimit":"5"},"placer":{"type":"uShaped"}}`,
	)
	for i, text := range texts {
		var values map[string]any
		decoder := json.NewDecoder(strings.NewReader(text))
		decoder.UseNumber()
		require.NoError(t, decoder.Decode(&values))
		inTOML, err := toml.Marshal(values)
		require.NoError(t, err)
		want, wantErr := policy.Decode(nil, []byte(text))
		got, err := cupeltoml.DecodePolicy(nil, inTOML)
		assert.Equal(t, want, got, "%s\nis in TOML\n%s", text, inTOML)
		assert.Equal(t, problems(t, wantErr), problems(t, err), text)
		assert.Equal(t, i < right, err == nil, text)
	}
}

// problems returns the problems of an error as lines, "" for none.
func problems(t *testing.T, err error) string {
	t.Helper()
	if err == nil {
		return ""
	}
	var invalid *policy.ValidationError
	require.ErrorAs(t, err, &invalid)
	require.ErrorIs(t, err, cupel.ErrInvalidConfig)
	var lines []string
	for _, p := range invalid.Problems {
		lines = append(lines, p.String())
	}
	return strings.Join(lines, "\n")
}

// lines removes the indentation of a raw string.
func lines(s string) string {
	var out []string
	for line := range strings.Lines(s) {
		if line = strings.TrimSpace(line); line != "" {
			out = append(out, line)
		}
	}
	return strings.Join(out, "\n")
}

const rest = "\n[slicer]\ntype = \"greedy\"\n[placer]\ntype = \"chronological\"\n"

func TestDecodePolicyRefuses(t *testing.T) {
	const knownFields = "name, description, scorers, slicer, placer, deduplicate, nearDuplicates, overflow"
	tests := []struct {
		name, text, want string // want is the problems; with … at its end their beginning
		why              string
	}{
		{"empty", "", `
			placer: is required
			scorers: At least one scorer entry is required
			slicer: is required`, "TOML takes it, a policy does not"},
		{"not TOML", "name = ", "policy: is not TOML: toml: line 1 (last key \"name\"): unexpected EOF; expected value", "where it is, in the library's words"},
		{"JSON", "{}", "policy: is not TOML: toml: line 1: …", "another format"},
		{"not UTF-8", "name = \"\xff\"", "policy: is not TOML: …", "TOML is UTF-8"},
		{"key twice", "name = \"a\"\nname = \"b\"", "policy: is not TOML: toml: line 2 (last key \"name\"): Key 'name' has already been defined.", "only one could be kept"},
		{"unknown keys", "Name = \"a\"\nbucket_size = 1\n\"a b\" = 1\nscorers = [{ type = \"recency\", weight = 1 }]" + rest, `
			Name: is unknown; want one of ` + knownFields + `
			["a b"]: is unknown; want one of ` + knownFields + `
			bucket_size: is unknown; want one of ` + knownFields, "names are those of the JSON document, exactly"},
		{"removed settings", "fullOnly = true\nanyNumbers = nan\nscorers = [{ type = \"recency\", weight = 1 }]" + rest, `
			anyNumbers: was removed from policies: delete the line
			fullOnly: was removed from policies: delete the line`, "the error says what to do with a policy of an earlier version"},
		{"not finite", `scorers = [{ type = "recency", weight = nan }, { type = "recency", weight = -inf },
			{ type = "kind", weight = 1, weights = { "a b" = inf, c = nan, d = 1.0 } }, { type = nan, weight = 1 }]` + rest, `
			scorers[0].weight: must be a number, got nan
			scorers[1].weight: must be a number, got -inf
			scorers[2].weights["a b"]: must be a number, got inf
			scorers[2].weights["c"]: must be a number, got nan
			scorers[3].type: must be a string, got nan`, "TOML has them, policies do not"},
		{"dates", `name = 2025-01-31
			description = 2025-01-31T12:00:00Z
			deduplicate = 12:00:00
			overflow = 2025-01-31T12:00:00.5
			scorers = [{ type = "decay", weight = 1, curve = { type = "window", maxAge = 01:00:00 } }]` + rest, `
			deduplicate: must be true or false, got the date or time 12:00:00
			description: must be a string, got the date or time 2025-01-31T12:00:00Z
			name: must be a string, got the date or time 2025-01-31
			overflow: must be a string, got the date or time 2025-01-31T12:00:00.5
			scorers[0].curve.maxAge: must be a string, got the date or time 01:00:00`, "a date is not a string"},
		{"a long key", `scorers = [{ type = "kind", weight = 1, weights = { ` + strings.Repeat("x", 100) + ` = nan } }]` + rest,
			`scorers[0].weights["` + strings.Repeat("x", 60) + `…"]: must be a number, got nan, inf, or a date or time`, "paths are cut short"},
		{"floats for integers", `scorers = [{ type = "recency", weight = 1 }]
			slicer = { type = "knapsack", bucketSize = 100.0, memoryLimit = 1e9 }
			placer = { type = "chronological" }`, `
			slicer.bucketSize: must be an integer, got the float 100.0
			slicer.memoryLimit: must be an integer, got the float 1e+09`, "TOML has integers, and these are floats"},
		{"arrays", "scorers = [1, [2], [nan]]\nslicer = []\n[[placer]]\ntype = \"uShaped\"", `
			placer: must be an object, got an array
			scorers[0]: must be an object, got a number
			scorers[1]: must be an object, got an array
			scorers[2]: must be an object, got an array
			slicer: must be an object, got an array`, "arrays of any type"},
		{"tables below an array", "scorers = [1]\n[slicer]\ntype = \"quota\"\n[[slicer.inner]]\ntype = nan" + "\n[placer]\ntype = \"uShaped\"", `
			scorers[0]: must be an object, got a number
			slicer.inner: must be an object, got an array`, "what is below is not looked at"},
		{"tables in an array", "scorers = []\n[slicer]\ntype = \"quota\"\ninner = { type = \"greedy\" }\n[[slicer.entries]]\nkind = nan\n[[slicer.entries]]\nkind = \"a\"\ncap = inf\n[placer]\ntype = \"uShaped\"", `
			scorers: At least one scorer entry is required
			slicer.entries[0].kind: must be a string, got nan
			slicer.entries[1].cap: must be a number, got inf`, "paths lead into arrays of tables"},
		{"deep arrays", "name = " + strings.Repeat("[", 600_000), "policy: is nested more than 500 deep", "no stack is exhausted"},
		{"deep inline tables", "a = " + strings.Repeat("{a=", 300_000), "policy: is nested more than 500 deep", "nor by tables"},
		{"deep header", "[" + strings.Repeat("a.", 400_000) + "a]", "policy: is nested more than 500 deep", "nor by dots"},
		{"long paths", strings.Repeat("["+strings.Repeat("a.", 400)+"a]\n", 1000), "policy: has keys whose paths have more than 4194304 bytes together", "memory is not exhausted either"},
		{"many keys below one long name", "[" + strings.Repeat("a", 500_000) + "]\n" + strings.Repeat("b = 1\n", 80_000), "policy: has keys whose paths have more than 4194304 bytes together", "the name would be written out for each"},
		{"deep arrays behind a text of several lines", "name = [\"\"\"\n\"\"\", " + strings.Repeat("[", 600_000), "policy: is nested more than 500 deep", "brackets after the text count"},
		{"too long", "# " + strings.Repeat("x", policy.MaxBytes), "policy: is longer than 1048576 bytes", "no real policy is that long"},
		{"too long as JSON", `name = """` + strings.Repeat("\n", policy.MaxBytes-100) + `"""`, "policy: is longer than 1048576 bytes", "line breaks have two bytes there"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := cupeltoml.DecodePolicy(nil, []byte(tt.text))
			found, want := problems(t, err), lines(tt.want)
			if start, cut := strings.CutSuffix(want, "…"); cut {
				found, want = found[:min(len(start), len(found))], start
			}
			require.Equal(t, want, found, tt.why)
			require.Equal(t, policy.Policy{}, got, tt.why)
		})
	}
	var syntax toml.ParseError
	_, err := cupeltoml.DecodePolicy(nil, []byte("\n\nname"))
	require.ErrorAs(t, err, &syntax)
	require.Equal(t, 3, syntax.Position.Line)
}

// length is a scorer with settings.
type length struct {
	scorer.Recency
	most  int
	scale float64
	texts []string
}

func lengthRegistry(t testing.TB) *policy.Registry {
	t.Helper()
	r := policy.NewRegistry()
	err := r.RegisterScorer(strategy.Descriptor{
		Name: "length", Doc: "Scores an item by its length.",
		Fields: []strategy.Field{
			{Name: "most", Type: strategy.Int, Range: strategy.AtLeastOne, Doc: "The length that scores 1."},
			{Name: "settings", Type: strategy.Object, Doc: "More settings.", Fields: []strategy.Field{
				{Name: "scale", Type: strategy.Number, Doc: "A factor."},
				{Name: "texts", Type: strategy.Texts, Doc: "Texts."},
				{Name: "bucketSize", Type: strategy.Number, Doc: "An integer elsewhere."},
			}},
		},
		Build: func(args strategy.Args) (any, error) {
			if most := strategy.Get[int](args, "most"); most < 1 {
				return nil, &cupel.InvalidConfigError{Component: "Length", Field: "most", Value: strconv.Itoa(most), Reason: "must be at least 1"}
			}
			inner := strategy.Get[strategy.Args](args, "settings")
			return length{most: strategy.Get[int](args, "most"), scale: strategy.Get[float64](inner, "scale"), texts: strategy.Get[[]string](inner, "texts")}, nil
		},
	})
	require.NoError(t, err)
	return r
}

func TestRegisteredTypes(t *testing.T) {
	registry := lengthRegistry(t)
	p, err := cupeltoml.DecodePolicy(registry, []byte(`
		[[scorers]]
		type = "length"
		weight = 1
		most = 5
		[scorers.settings]
		scale = 2
		bucketSize = 1.0
		texts = ["<ä\u0000>"]
	`+rest))
	require.NoError(t, err)
	config, err := p.Config(policy.Environment{Registry: registry})
	require.NoError(t, err)
	require.Equal(t, length{most: 5, scale: 2, texts: []string{"<ä\x00>"}}, config.Scorer)

	_, err = cupeltoml.DecodePolicy(registry, []byte(`
		[[scorers]]
		type = "length"
		weight = 0
		most = 5.0
		settings = { scale = nan, texts = ["a", 2025-01-31], mix = 1 }
		[[scorers]]
		type = "length"
		weight = 1
		most = 0
	`+rest))
	require.Equal(t, lines(`
		scorers[0].most: must be an integer, got the float 5.0
		scorers[0].settings.mix: is unknown; want one of scale, texts, bucketSize
		scorers[0].settings.scale: must be a number, got nan
		scorers[0].settings.texts[1]: must be a string, got the date or time 2025-01-31
		scorers[0].weight: Weight must be positive, got 0
		scorers[1].most: must be at least 1, got 0`), problems(t, err))
}

// FuzzDecodePolicy checks that every text is refused with a ValidationError or
// is a policy that survives JSON.
func FuzzDecodePolicy(f *testing.F) {
	for _, seed := range []string{
		complete, "", rest, "scorers = [{ type = \"recency\", weight = 1 }]" + rest, "scorers = [{ type = \"length\", weight = 1, most = 1, settings = { scale = 1.5, texts = [] } }]" + rest,
		"name = nan", "[a.b]\nc = [[1,2],[{}]]", "\"a.[\" = inf", "weights = { 'x' = 07:00:00 }", "name = '''\n''", "\xff", "[[[",
	} {
		f.Add([]byte(seed))
	}
	registry := lengthRegistry(f)
	f.Fuzz(func(t *testing.T, data []byte) {
		p, err := cupeltoml.DecodePolicy(registry, data)
		if err != nil {
			require.NotContains(t, problems(t, err), "got null")
			return
		}
		text, err := json.Marshal(p)
		require.NoError(t, err)
		back, err := policy.Decode(registry, text)
		require.NoError(t, err, "%s", text)
		require.Equal(t, p, back, "%s", text)
	})
}
