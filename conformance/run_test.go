package conformance_test

import (
	"context"
	"io/fs"
	"math"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/wollax/cupel-go/conformance"
	"github.com/wollax/cupel-go/cupel"
)

// TestVectors runs this project's vectors against its engine.
func TestVectors(t *testing.T) {
	results, err := conformance.Run(t.Context(), conformance.Vectors(), conformance.WithStrict())
	require.NoError(t, err)
	counts := map[string]int{}
	names := map[string]string{}
	for _, r := range results {
		level, _, _ := strings.Cut(r.Path, "/")
		counts[level+" "+r.Stage]++
		assert.Empty(t, r.Failures, r.Path)
		assert.Empty(t, names[r.Name], "%s has the same name", r.Path)
		names[r.Name] = r.Path
	}
	// The counts of the specification's own suite, 1.0.0.
	for stage, least := range map[string]int{
		"required scoring": 13, "required slicing": 6, "required placing": 4, "required pipeline": 5,
		"optional scoring": 4, "optional slicing": 1, "optional pipeline": 4,
	} {
		assert.GreaterOrEqual(t, counts[stage], least, stage)
	}
}

const (
	head  = "[test]\nname = \"n\"\n"
	items = `
[[items]]
content = "a"
tokens = 10
futureRelevanceHint = 0.5
[[items]]
content = "b"
tokens = 20
futureRelevanceHint = 0.25
`
	scoring = head + "stage = \"scoring\"\nscorer = \"reflexive\"\n" + items
	slicing = head + `stage = "slicing"
slicer = "greedy"
[budget]
target_tokens = 10
[[scored_items]]
content = "a"
tokens = 10
score = 0.9
[[scored_items]]
content = "b"
tokens = 10
score = 0.5
`
	placing = head + `stage = "placing"
placer = "u-shaped"
[[items]]
content = "a"
tokens = 1
score = 0.1
[[items]]
content = "b"
tokens = 1
score = 0.2
[[items]]
content = "c"
tokens = 1
score = 0.3
`
	pipelineHead = head + `stage = "pipeline"
[budget]
max_tokens = 100
target_tokens = 10
`
	config = `
[config]
slicer = "greedy"
placer = "chronological"
[[config.scorers]]
type = "reflexive"
`
	pipeline = pipelineHead + config + items
	putsA    = pipeline + "[[expected_output]]\ncontent = \"a\"\n"
	counted  = head + `stage = "slicing"
slicer = "count_quota"
[config]
entries = [{kind = "Message", require_count = 2, cap_count = 2}]
[budget]
target_tokens = 100
[[scored_items]]
content = "a"
tokens = 10
score = 0.9
`
)

// TestOutcomes runs vectors written for this test. want is a part of the first
// failure, or "" for a vector that passes.
func TestOutcomes(t *testing.T) {
	tests := []struct {
		name, vector, want, why string
	}{
		{"score is off", scoring + "[[expected]]\ncontent = \"a\"\nscore_approx = 0.500000002\n", `score of "a": got 0.5, want 0.500000002`, "beyond the default tolerance of 1e-9"},
		{"own tolerance", scoring + "[[expected]]\ncontent = \"a\"\nscore_approx = 0.6\n[tolerance]\nscore_epsilon = 0.2\n", "", "0.1 is within 0.2"},
		{"tolerance is exclusive", scoring + "[[expected]]\ncontent = \"a\"\nscore_approx = 1.5\n[tolerance]\nscore_epsilon = 1.0\n", `score of "a"`, "abs(actual - expected) < epsilon is strict"},
		{"scores as a wrong list", scoring + "[expected]\nscores = [0.5, 0.5]\n", "scores[1]: got 0.25, want 0.5", "every item counts"},
		{"too few scores", scoring + "[expected]\nscores = [0.5]\n", "scores: got 2, want 1", "every item counts"},
		{"items with one content", with(scoring, `"b"`, `"a"`) + "[[expected]]\ncontent = \"a\"\nscore_approx = 0.5\n[[expected]]\ncontent = \"a\"\nscore_approx = 0.25\n[[expected]]\ncontent = \"a\"\nscore_approx = 0.5\n", "", "rows stand for their occurrences in order, and then again from the first"},
		{"row without a score", scoring + "[[expected]]\ncontent = \"a\"\n", "expected[0].score_approx: is required", "it would say nothing"},
		{"row without a content", scoring + "[[expected]]\ncontent = \"a\"\nscore_approx = 0.5\n[[expected]]\nscore_approx = 0.5\n", "expected[1].content: is required", "it would be of no item"},
		{"expected is a number", "expected = 5\n" + scoring, "(last key \"expected\"): incompatible types", "it is a table or an array of them"},
		{"scored items of scoring", scoring + "[[scored_items]]\ncontent = \"z\"\ntokens = 1\nscore = 1\n[[expected]]\ncontent = \"a\"\nscore_approx = 0.5\n", "", "only slicers have them"},
		{"no rows", "expected = []\n" + scoring, "scores: got 2, want none", "an empty list asserts emptiness (R47)"},
		{"no rows for no items", "expected = []\n" + strings.TrimSuffix(scoring, items), "", "they are all of them"},
		{"no scorer of scores", with(scoring, "scorer =", "description ="), "test.scorer: is required, here or as config.scorer", "nothing gives scores"},
		{"output of scoring", scoring + "[[expected_output]]\ncontent = \"z\"\n", "expected: is required", "a stage without results cannot have an expectation"},
		{"score of a missing item", scoring + "[[expected]]\ncontent = \"z\"\nscore_approx = 0\n", "invalid vector: expected a score for \"z\"", "a vector that checks nothing must not pass"},
		{"no expectation", scoring, "expected: is required", "a scoring vector must expect something (R47)"},

		{"selected both", alike + "[expected]\nselected_contents = [\"a\", \"a\"]\n", "", "and here there are two"},
		{"selected both of one content", alike + "[expected]\nselected_contents = [\"a\"]\n", "", "a set that names it once does not count"},
		{"selected rows", slicing + "[[expected]]\ncontent = \"a\"\n[[expected]]\ncontent = \"b\"\n", `selected: got ["a"], want ["a" "b"]`, "an array of tables makes sense here as well (R47)"},
		{"items of slicing", strings.ReplaceAll(slicing, "scored_items", "items") + "[expected]\nselected_contents = [\"a\"]\n", "", "they may have scores as well"},
		{"other positions", slicing + "[expected]\nselected_indices = [1]\n", `selected positions: got ["0"], want ["1"]`, "for contents that repeat"},
		{"smaller forms", slicing + "[expected]\nselected_contents = [\"a\"]\nsmaller = [{index = 0, form = 1}]\n", `smaller forms: got [], want ["{Index:0 Form:1}"]`, "the form counts"},
		{"no smaller forms", slicing + "[expected]\nselected_contents = [\"a\"]\nsmaller = []\n", "", "an empty list asserts emptiness (R47)"},
		{"smaller forms without a word", strings.ReplaceAll(slicing, "tokens = 10\nscore", "tokens = 20\nvariants = [{made = \"s\", tokens = 1, worth = 0.5}]\nscore") + "[expected]\nselected_contents = []\n", "", "an absent key asserts nothing"},
		{"empty expectation", slicing + "[expected]\nselected_contents = []\n", `selected: got ["a"], want []`, "an empty list asserts emptiness"},
		{"nothing about the selection", slicing + "[expected]\n", "expected: is required", "an empty table says nothing (R47)"},
		{"both kinds of positions", slicing + "[expected]\nselected_indices = [0]\nordered_indices = [1]\n", "expected.selected_indices: cannot be combined with ordered_indices", "only one could be compared"},
		{"no shortfalls", counted + "[expected]\nshortfall_count = 0\n", "shortfalls: got 1, want 0", "0 is not absent"},
		{"shortfall rows", counted + "[[expected.diagnostics.shortfalls]]\nkind = \"Message\"\nrequired_count = 2\nsatisfied_count = 0\n", "shortfalls[0]: satisfied_count is 1, want 0", "every field counts"},
		{"capped in a pipeline", strings.NewReplacer("target_tokens = 10", "target_tokens = 100", "\"greedy\"", "\"count_quota\"\nentries = [{kind = \"Message\", cap_count = 1}]").Replace(pipeline) + "[expected]\nordered_contents = [\"a\"]\ncap_excluded_count = 0\n", "items excluded by a cap: got 1, want 0", "its report has them"},

		{"placed positions", placing + "[expected]\nordered_indices = [0, 1, 2]\n", `placed positions: got ["2" "0" "1"], want ["0" "1" "2"]`, "for contents that repeat"},
		{"placed rows", placing + "[[expected]]\ncontent = \"c\"\n[[expected]]\ncontent = \"a\"\n[[expected]]\ncontent = \"b\"\n", "", "an array of tables makes sense here as well (R47)"},
		{"placed output", placing + "[[expected_output]]\ncontent = \"a\"\n", `placed: got ["c" "a" "b"], want ["a"]`, "a placer has an output"},

		{"placing with a selection", placing + "[expected]\nselected_contents = [\"z\"]\nshortfall_count = 7\n", "expected: is required", "a stage without results cannot have an expectation"},

		{"output given twice", putsA + "[expected]\nordered_contents = [\"a\"]\n", "", "both say the same"},
		{"contradicting outputs", pipeline + "[[expected_output]]\ncontent = \"b\"\n[expected]\nordered_contents = [\"a\"]\n", `expected.ordered_contents: is ["a"], expected_output is ["b"]`, "one would be ignored"},
		{"excluded by the budget", putsA + "[expected]\ncap_excluded_count = 0\n", "", "no cap excludes b"},
		{"silence means empty", pipeline, `output: got ["a"], want []`, "R47"},
		{"silence with a total", pipeline + "[expected.diagnostics.summary]\ntotal_candidates = 2\n", `output: got ["a"], want []`, "a total is no expectation of output (R47)"},
		{"included without output", pipeline + "[[expected.diagnostics.included]]\ncontent = \"a\"\nscore_approx = 0.5\ninclusion_reason = \"Scored\"\n", "", "what is included is the output"},
		{"output positions", pipeline + "[expected]\nordered_indices = [1]\n", `output positions: got ["0"], want ["1"]`, "it replaces the comparison by content"},
		{"scores of a pipeline", putsA + "[expected]\nscores = [0.5, 0.5]\n", "scores[1]: got 0.25", "of every scoreable item"},
		{"scores of what is scored", strings.NewReplacer("tokens = 10\nf", "tokens = 0\nf", "tokens = 20", "tokens = -1").Replace(putsA) + "[expected]\nscores = [0.5]\n", "", "an item of no tokens is, one of fewer is not"},
		{"wrong total", putsA + "[expected.diagnostics.summary]\ntotal_tokens_considered = 31\n", "total_tokens_considered is 30, want 31", "totals count"},
		{"included score within the tolerance", pipeline + "[[expected.diagnostics.included]]\ncontent = \"a\"\nscore_approx = 0.5000000001\n", "", "scores of a report are approximate too"},
		{"included score off", pipeline + "[[expected.diagnostics.included]]\ncontent = \"a\"\nscore_approx = 0.50000001\n", "score_approx is 0.5, want 0.50000001", "but not more"},
		{"included score of 1", with(pipeline, "0.5", "1") + "[[expected.diagnostics.included]]\ncontent = \"a\"\nscore_approx = 1\n", "", "integers may stand for floats (R47)"},
		{"included score as a text", with(pipeline, "0.5", "0") + "[[expected.diagnostics.included]]\ncontent = \"a\"\nscore_approx = \"0\"\n", `score_approx is 0, want "0"`, "texts may not"},
		{"form between two", pipeline + "[[expected.diagnostics.included]]\nform = 0.5\n", `included[0] "a": form is 0, want 0.5`, "only scores are approximate"},
		{"nothing included", pipeline + "[expected.diagnostics]\nincluded = []\n", "included: got 1, want 0", "an empty list asserts emptiness (R47)"},
		{"no shortfalls in a report", putsA + "[[expected.diagnostics.shortfalls]]\nkind = \"Message\"\n", "shortfalls: got 0, want 1", "they are in pipelines too"},
		{"wrong excluded field", putsA + excludedB + "available_tokens = 1\n", "available_tokens is 0, want 1", "fields count"},
		{"foreign field of zero", putsA + excludedB + "tokens = 0\n", "there is no tokens, want 0", "absent is not zero"},
		{"events", putsA + "[[expected.diagnostics.events]]\nstage = \"Classify\"\nitem_count = 2\n", "events: got 5, want 1", "the whole list is compared"},

		{"error", pipeline + failing, "got no error, want one of class overflow", "success is not an error"},
		{"error of a placer", placing + failing + "ordered_contents = [\"z\"]\n", "got no error, want one of class overflow", "there is nothing more to compare"},
		{"failure of a slicer", scarce + "[expected]\nselected_contents = [\"z\"]\n", "want none", "there is nothing more to compare"},
		{"other error", with(pipeline, "content = \"a\"", "content = \"\"") + "[expected]\nerror = \"overflow\"\n", "must not be empty\", want one of class overflow", "the class counts"},
		{"items that cannot be built", strings.NewReplacer("\"a\"", "\"\"", "\"b\"", "\"\"").Replace(pipeline), "got error \"item 0:", "the first is named"},
		{"text that cannot be made", with(pipeline, "tokens = 10\nf", "tokens = 20\nvariants = [{made = \"\", tokens = 1, worth = 0.5}]\nf") + "[expected]\nerror = \"content\"\n", "", "an empty one fails"},
		{"budget that cannot be built", with(pipeline, "max_tokens = 100", "max_tokens = -1"), "want none", "no error was expected"},
		{"slicing with a target below 0", with(slicing, "= 10\n[[scored", "= -5\n[[scored") + "[expected]\nselected_contents = []\n", "", "the slicers' own rule"},
		{"slicing with an invalid budget", with(slicing, "= 10\n[[scored", "= -5\n[[scored") + "[expected]\nerror = \"invalid_budget\"\n", "", "unless an error is expected"},
		{"no scorer", unscored + "[expected]\nerror = \"invalid_config\"\n", "", "a strategy is missing"},
		{"report of a failure", unscored + "[expected]\nerror = \"invalid_config\"\n[expected.diagnostics.summary]\ntotal_candidates = 2\n", "the run has no report", "what is expected of it is not there"},
		{"construction error", head + "stage = \"slicing\"\nslicer = \"knapsack\"\nexpect_construction_error = true\n[config]\nbucket_size = 0\n", "", "0 is not absent (R47)"},

		{"not TOML", "test = [", "is not TOML: toml:", "the parser's own words"},
		{"empty file", "", "test.name: is required", "an empty file is not a vector"},
		{"unknown stage", head + "stage = \"sorting\"\n", `test.stage: unknown stage "sorting"`, "the issue's list"},
		{"unknown scorer", with(scoring, "reflexive", "psychic"), `unknown scorer "psychic"`, "the issue's list"},
		{"unknown placer", with(placing, "u-shaped", "w-shaped"), `unknown placer "w-shaped"`, "the issue's list"},
		{"unknown error class", pipeline + "[expected]\nerror = \"bad_luck\"\n", `expected.error: unknown error class "bad_luck"`, "the issue's list"},
		{"empty overflow strategy", with(pipeline, "[config]", "[config]\noverflow_strategy = \"\""), `unknown overflow strategy ""`, "empty is not absent (R47)"},
		{"empty scarcity behavior", with(counted, "entries", "scarcity_behavior = \"\"\nentries"), `config.scarcity_behavior: "" is unknown; want one of degrade, throw`, "empty is not absent (R47)"},
		{"scorer without a type", scorerOf + "key = \"k\"\n" + items + "[expected]\nscores = [0, 0]\n", "config.scorer.type: is required, as a string", "nothing says what it is"},
		{"switch that is no boolean", knapsack + "auto_bucket = \"yes\"\n", "config.auto_bucket: yes is not of type", "text is no truth value"},
		{"size that is no integer", knapsack + "bucket_size = 1.5\n", "config.bucket_size: 1.5 is not of type", "it is between two"},
		{"key that is no text", scorerOf + "type = \"metadata_key\"\nkey = 5\n", "config.scorer.key: 5 is not of type", "a number is no name"},
		{"children that are no list", scorerOf + "type = \"composite\"\nchildren = 5\n", "config.scorer.children: must be an array, is 5", "nor does it name a part"},
		{"weights without numbers", scorerOf + "type = \"kind\"\nweights = [{kind = \"Message\"}]\n", "config.scorer.weights[0].weight: is required", "it has no default"},
		{"time that is a number", decay + "reference_time = 5\n", "config.scorer.reference_time: must be a date-time, got 5", "it is no instant"},
		{"half-life that is a text", decay + "curve = {type = \"exponential\", half_life_secs = \"1\"}\n", "curve.half_life_secs: must be a number, is 1", "it is no duration"},
		{"half-life beyond all", decay + "curve = {type = \"exponential\", half_life_secs = 9223372036.854775807}\n[expected]\nscores = [0]\n", "must be a number of seconds up to 292 years", "it would be below 0"},
		{"no windows of a step", with(decay, "[config", "expect_construction_error = true\n[config") + "curve = {type = \"step\"}\n", "", "a list of none is the curve's own mistake"},
		{"scorer that is no table", with(scorerOf, "[config.scorer]", "[config]\nscorer = 5"), "config.scorer: must be a table, is 5", "it has no type"},
		{"unknown deduplication", with(pipeline, "[config]", "[config]\ndeduplication = \"yes\""), "config.deduplication: must be a boolean", "text is no truth value"},
		{"no budget where nothing is built", with(unscored, "[budget]\nmax_tokens = 100\ntarget_tokens = 10\n", "") + "[expected]\nerror = \"invalid_config\"\n", "", "it would not be looked at"},
		{"unknown curve", scorerOf + "type = \"decay\"\ncurve = {type = \"cliff\"}\n", `config.scorer.curve: unknown curve "cliff"`, "curves are strategies too"},
		{"time without a date", with(scoring, "tokens = 10", "tokens = 10\ntimestamp = 10:00:00"), `must be a date-time, got 0000-01-01`, "it is no instant"},
		{"no budget", with(slicing, "[budget]\ntarget_tokens = 10\n", "") + "[expected]\nselected_contents = []\n", "budget: is required", "there is nothing to slice by"},
		{"no budget of a pipeline", with(pipeline, "[budget]\nmax_tokens = 100\ntarget_tokens = 10\n", ""), "budget: is required", "nor for a window"},
		{"empty budget", with(slicing, "target_tokens = 10\n", "") + "[expected]\nselected_contents = []\n", "budget.target_tokens: is required", "a ceiling or a target must be there"},
		{"ceiling alone", with(slicing, "target_tokens = 10\n", "max_tokens = 10\n") + "[expected]\nselected_contents = [\"a\"]\n", "", "the target defaults to it"},
		{"no score", with(slicing, "score = 0.9\n", "") + "[expected]\nselected_contents = []\n", "scored_items[0].score: is required", "slicers see scores"},
		{"scaled around scaled by name", with(scoring, "scorer = \"reflexive\"\n", "scorer = \"scaled\"\n[config]\ninner_scorer = \"scaled\"\n") + "[expected]\nscores = [0, 0]\n", "scorers[0].inner.inner: is required", "the flat form cannot say what is inside"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r := conformance.RunVector(t.Context(), "v.toml", []byte(tt.vector))
			require.Len(t, r.Failures, min(len(tt.want), 1), tt.why)
			require.Contains(t, strings.Join(r.Failures, ""), tt.want, tt.why)
		})
	}
}

const (
	failing  = "[expected]\nerror = \"overflow\"\n"
	scorerOf = head + "stage = \"scoring\"\n[config.scorer]\n"
	decay    = scorerOf + "type = \"decay\"\n"
	knapsack = head + "stage = \"slicing\"\nslicer = \"knapsack\"\n[config]\n"
)

var (
	alike    = strings.NewReplacer("\"b\"", "\"a\"", "target_tokens = 10", "target_tokens = 20").Replace(slicing)
	scarce   = with(counted, "entries", "scarcity_behavior = \"throw\"\nentries")
	unscored = with(pipeline, "[[config.scorers]]\ntype = \"reflexive\"\n", "")
)

const excludedB = "[[expected.diagnostics.excluded]]\ncontent = \"b\"\nscore_approx = 0.25\nexclusion_reason = \"BudgetExceeded\"\n"

// with returns a vector with another text in place of the first old one.
func with(vector, old, text string) string { return strings.Replace(vector, old, text, 1) }

// nested is a scaled scorer n levels deep.
func nested(n int) string {
	return "[config]\nscorer = " + strings.Repeat(`{type = "scaled", inner = `, n) + `{type = "recency"}` + strings.Repeat("}", n) + "\n"
}

// TestSchema runs vectors in the forms that the schema allows; all pass.
func TestSchema(t *testing.T) {
	timed := head + `stage = "scoring"
[[items]]
content = "old"
tokens = 1
timestamp = 2025-01-01T11:00Z
[[items]]
content = "new"
tokens = 1
timestamp = 2025-01-01T12:00:00.123456789Z
[[items]]
content = "local"
tokens = 1
timestamp = 2025-01-01T11:30:00
`
	scored := func(scores string) string { return "[expected]\nscores = [" + scores + "]\n" }
	scorerTable := func(s string) string { return timed + "[config.scorer]\n" + s }
	named := func(scorer string) string { return with(timed, "stage =", "scorer = \""+scorer+"\"\nstage =") }
	tests := []struct{ name, vector, why string }{
		{"date-times", scorerTable("type = \"recency\"\n") + scored("0, 1, 0.5"), "without seconds (R48), with nanoseconds, and without an offset, which is UTC"},
		{"nested composite of R47", named("composite") +
			"[[config.scorers]]\ntype = \"composite\"\nweight = 1.0\nchildren = [{type = \"recency\", weight = 1.0}]\n[[config.scorers]]\ntype = \"reflexive\"\n" + scored("0, 0.5, 0.25"), "children of a scorer of config.scorers"},
		{"weights of a part against a default of config", named("composite") +
			"[config]\nuse_default_weights = true\n[[config.scorers]]\ntype = \"kind\"\nweight = 1.0\nweights = [{kind = \"Message\", weight = 0.9}]\n" + scored("0.9, 0.9, 0.9"), "its own settings come first"},
		{"expected as one row", scoring + "[expected]\ncontent = \"b\"\nscore_approx = 0.25\n", "a table where an array makes sense (R47)"},
		{"expected as an array of one", slicing + "[[expected]]\nselected_contents = [\"a\"]\n", "an array where a table makes sense (R47)"},
		{"default weights in place of others", named("kind") + "[config]\nuse_default_weights = true\nweights = [{kind = \"Message\", weight = 0.9}]\n" + scored("0.2, 0.2, 0.2"), "the key says so"},
		{"kind settings of a flat composite", named("composite") +
			"[[config.scorers]]\ntype = \"kind\"\nweight = 1.0\n[[config.weights]]\nkind = \"message\"\nweight = 0.7\n" + scored("0.7, 0.7, 0.7"), "settings of parts may stand in config"},
		{"default weights of a flat composite", named("composite") +
			"[config]\nuse_default_weights = true\nweights = [{kind = \"message\", weight = 0.7}]\n[[config.scorers]]\ntype = \"kind\"\nweight = 1.0\n" + scored("0.2, 0.2, 0.2"), "the parts' weights are in config, and so is what replaces them"},
		{"trust at a time", scorerTable("type = \"metadata_trust\"\nreference_time = 2025-01-01T12:00:00Z\n") + scored("0.5, 0.5, 0.5"), "a key of other scorers changes nothing"},
		{"tags by default", scorerTable("type = \"tag\"\nuse_default_weights = true\ntag_weights = [{tag = \"x\", weight = 1}]\n") + scored("0, 0, 0"), "this is for kinds"},
		{"children of its own", scorerTable("type = \"composite\"\nchildren = [{type = \"recency\"}]\n[[config.scorers]]\ntype = \"reflexive\"\n") + scored("0, 1, 0.5"), "they come first"},
		{"inner scorer of a part", named("composite") + "[config]\ninner_scorer = \"recency\"\n[[config.scorers]]\ntype = \"scaled\"\n" + scored("0, 1, 0.5"), "settings of parts may stand in config"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			require.Empty(t, conformance.RunVector(t.Context(), "v.toml", []byte(tt.vector)).Failures, tt.why)
		})
	}
}

func TestStrict(t *testing.T) {
	good := scoring + "[[expected]]\ncontent = \"a\"\nscore_approx = 0.5\n"
	tests := []struct{ name, vector, want string }{
		{"at the top", "mood = 1\n" + good, "mood: unknown key"},
		{"in a list", with(good, "tokens = 10", "tokens = 10\ncolour = 1"), "items.colour: unknown key"},
		{"in the configuration", good + "[config]\nmood = 1\n", "config.mood: unknown key"},
		{"of another stage", slicing + "[expected]\nselected_contents = [\"a\"]\nscores = [1]\n", "expected.scores: unknown key"},
		{"output of another stage", "expected_output = []\n" + slicing + "[expected]\nselected_contents = [\"a\"]\n", "expected_output: unknown key"},
		{"diagnostics of another stage", slicing + "[expected]\nselected_contents = [\"a\"]\n[expected.diagnostics.summary]\n", "expected.diagnostics.summary: unknown key"},
		{"in a row of a report", pipeline + "[[expected.diagnostics.included]]\ncontent = \"a\"\ncolour = 1\n", "expected.diagnostics.colour: unknown key"},
		{"in an entry", scorerOf + "type = \"kind\"\nweights = [{kind = \"Message\", weight = 1.0, colour = 1}]\n" + items + "[expected]\nscores = [1, 1]\n", "config.scorer.weights[0].colour: unknown key"},
		{"in a nested scorer", head + "stage = \"scoring\"\nexpect_construction_error = true\n[config.scorer]\ntype = \"composite\"\nchildrens = []\n", "config.scorer.childrens: unknown key"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			require.Empty(t, conformance.RunVector(t.Context(), "v.toml", []byte(tt.vector)).Failures, "not strict")
			r := conformance.RunVector(t.Context(), "v.toml", []byte(tt.vector), conformance.WithStrict())
			require.Contains(t, strings.Join(r.Failures, "; "), tt.want)
		})
	}
}

func TestRun(t *testing.T) {
	good := scoring + "[[expected]]\ncontent = \"a\"\nscore_approx = 0.5\n"
	fsys := fstest.MapFS{
		"b/two.toml":  {Data: []byte(with(good, "name = \"n\"", "name = \"second\""))},
		"a/one.toml":  {Data: []byte(good)},
		"bad.toml":    {Data: []byte(scoring + "[expected]\nscores = []\n")},
		"readme.md":   {Data: []byte("no vector")},
		"a/more.json": {Data: []byte("no vector")},
	}
	results, err := conformance.Run(t.Context(), fsys)
	require.NoError(t, err)
	var paths []string
	for _, r := range results {
		paths = append(paths, r.Path)
	}
	require.Equal(t, []string{"a/one.toml", "b/two.toml", "bad.toml"}, paths)
	require.True(t, results[0].Passed() && results[1].Passed() && !results[2].Passed())

	_, err = conformance.Run(t.Context(), fstest.MapFS{})
	require.ErrorIs(t, err, conformance.ErrNoVectors, "an empty file system")
	_, err = conformance.Run(t.Context(), closed{fsys, []string{"."}})
	require.EqualError(t, err, "conformance: file already closed")
	unread := []string{"a", "b/two.toml"}
	some, err := conformance.Run(t.Context(), closed{fsys, unread})
	require.NoError(t, err)
	for i, path := range unread {
		require.Equal(t, conformance.Result{Path: path, Failures: []string{"file already closed"}}, some[i])
	}
	require.Equal(t, results[2:], some[2:], "the others are run")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	results, err = conformance.Run(ctx, fsys)
	require.ErrorIs(t, err, context.Canceled)
	require.Empty(t, results)
}

// closed is a file system with files and directories that cannot be read.
type closed struct {
	fs.FS
	names []string
}

func (c closed) Open(name string) (fs.File, error) {
	if slices.Contains(c.names, name) {
		return nil, fs.ErrClosed
	}
	return c.FS.Open(name)
}

// broken is an implementation that panics, or has no report.
type broken struct{ conformance.Engine }

func (broken) Score(context.Context, conformance.Pipeline, []*cupel.ContextItem) ([]float64, error) {
	panic("oh")
}

func (b broken) Run(ctx context.Context, p conformance.Pipeline, items []*cupel.ContextItem, budget cupel.ContextBudget) (conformance.Outcome, error) {
	out, err := b.Engine.Run(ctx, p, items, budget)
	out.Report = nil
	return out, err
}

func TestBrokenImplementations(t *testing.T) {
	for vector, want := range map[string]string{
		scoring + "[expected]\nscores = [0.5, 0.25]\n": "the implementation panicked: oh",
		putsA: "the run has no report",
	} {
		r := conformance.RunVector(t.Context(), "v.toml", []byte(vector), conformance.WithImplementation(broken{}))
		require.Equal(t, []string{want}, r.Failures)
	}
	var engine conformance.Engine
	_, err := engine.Place(t.Context(), conformance.Pipeline{}, nil)
	require.ErrorIs(t, err, cupel.ErrInvalidConfig, "no placer")
}

// fixed is an implementation that answers with given scores and positions.
type fixed struct {
	conformance.Engine
	scores    []float64
	positions []int
	err       error
}

func (i fixed) Score(context.Context, conformance.Pipeline, []*cupel.ContextItem) ([]float64, error) {
	return i.scores, i.err
}

func (i fixed) Place(context.Context, conformance.Pipeline, []cupel.ScoredItem) ([]int, error) {
	return i.positions, nil
}

func TestOtherImplementations(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	placed := placing + "[expected]\nordered_contents = [\"a\", \"b\", \"c\"]\n"
	for _, row := range []struct {
		vector string
		answer fixed
		want   []string
		why    string
	}{
		{scoring + "[expected]\nscores = [nan, -inf]\n", fixed{scores: []float64{nan, -inf}}, nil, "what has no distance is the same or not"},
		{scoring + "[expected]\nscores = [nan, inf]\n", fixed{scores: []float64{inf, nan}}, []string{"scores[0]: got +Inf, want NaN within 1e-09", "scores[1]: got NaN, want +Inf within 1e-09"}, "here it is not"},
		{scoring + "[expected]\nscores = [-inf, 1]\n", fixed{scores: []float64{inf, nan}}, []string{"scores[0]: got +Inf, want -Inf within 1e-09", "scores[1]: got NaN, want 1 within 1e-09"}, "nor a sign"},
		{scoring + "[expected]\nscores = [1]\n", fixed{scores: []float64{1}}, []string{"got 1 scores for 2 items"}, "each has one"},
		{putsA, fixed{err: fs.ErrClosed}, nil, "scores that are not expected are not asked for"},
		{putsA + "[expected]\nscores = [1]\n", fixed{err: fs.ErrClosed}, []string{`scores: got error "file already closed"`}, "these are"},
		{placed, fixed{positions: []int{0, 1, 2}}, nil, "all positions"},
		{placed, fixed{positions: []int{0, 1, 2, 3}}, []string{"position 3 is out of range or given twice"}, "there are three"},
		{placed, fixed{positions: []int{0, -1, 1, 2}}, []string{"position -1 is out of range or given twice"}, "from 0"},
		{placed, fixed{positions: []int{0, 1, 1, 2}}, []string{"position 1 is out of range or given twice"}, "each is one"},
		{placed, fixed{positions: []int{0, 1}}, []string{"got 2 positions for 3 items", `placed: got ["a" "b"], want ["a" "b" "c"]`}, "none is left out"},
	} {
		r := conformance.RunVector(t.Context(), "v.toml", []byte(row.vector), conformance.WithImplementation(row.answer))
		assert.Equal(t, row.want, r.Failures, row.why)
	}
}

func FuzzRunVector(f *testing.F) {
	for _, seed := range []string{scoring, slicing, placing, pipeline, counted, nested(5), "x = [[[", "[test]\nstage = \"pipeline\"\nname = \"\"\n"} {
		f.Add([]byte(seed))
	}
	_ = fs.WalkDir(conformance.Vectors(), ".", func(file string, entry fs.DirEntry, _ error) error {
		if !entry.IsDir() && len(file)%5 == 0 { // a fifth of them is seed enough
			data, err := fs.ReadFile(conformance.Vectors(), file)
			require.NoError(f, err)
			f.Add(data)
		}
		return nil
	})
	f.Fuzz(func(t *testing.T, data []byte) {
		for _, opts := range [][]conformance.Option{nil, {conformance.WithStrict()}} {
			r := conformance.RunVector(t.Context(), "v.toml", data, opts...)
			assert.NotContains(t, strings.Join(r.Failures, "; "), "panicked")
		}
	})
}
