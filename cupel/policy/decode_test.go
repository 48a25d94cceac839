package policy_test

import (
	"encoding/json"
	"errors"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupel/pipeline"
	"github.com/wollax/cupel-go/cupel/placer"
	"github.com/wollax/cupel-go/cupel/policy"
	"github.com/wollax/cupel-go/cupel/scorer"
	"github.com/wollax/cupel-go/cupel/slicer"
	"github.com/wollax/cupel-go/cupel/strategy"
)

// document returns a policy as JSON with the given parts. Empty parts are those
// of Chat.
func document(scorer, slicer, placer, rest string) string {
	part := func(given, otherwise string) string {
		if given == "" {
			return otherwise
		}
		return given
	}
	return `{"scorers":[` + part(scorer, `{"type":"recency","weight":1}`) + `],"slicer":` + part(slicer, `{"type":"greedy"}`) +
		`,"placer":` + part(placer, `{"type":"chronological"}`) + rest + `}`
}

// wrongDocument is a document that Decode rejects.
type wrongDocument struct {
	name, text, want, why string
}

const knownFields = "name, description, scorers, slicer, placer, deduplicate, nearDuplicates, overflow"

var knownScorers, knownSlicers, knownPlacers = known(scorer.Descriptors()), known(slicer.Descriptors()), known(placer.Descriptors())

// known names strategies as problems list them.
func known(built []strategy.Descriptor, others ...string) string {
	names := slices.Clone(others)
	for _, d := range built {
		names = append(names, d.Name)
	}
	slices.Sort(names)
	return strings.Join(names, ", ")
}

var wrongDocuments = []wrongDocument{
	{"empty object", `{}`, `
		placer: is required
		scorers: At least one scorer entry is required
		slicer: is required`, "every strategy is required"},
	{"null", `null`, `policy: must be an object, got null`, "null is nothing"},
	{"everything at once", `{"name":1,"describe":"","scorers":[{"type":"recncy","weight":-1},{"weight":1},{"type":"kind","weight":"NaN","wheights":{}},7],
		"slicer":{"type":"knapsack","bucketSize":0},"placer":null,"deduplicate":"yes","overflow":"throw"}`, `
		deduplicate: must be true or false, got a string
		describe: is unknown; want one of ` + knownFields + `
		name: must be a string, got a number
		overflow: "throw" is unknown; want one of Throw, Truncate, Proceed
		placer: must be an object, got null
		scorers[0].type: the scorer type "recncy" is unknown; want one of ` + knownScorers + `
		scorers[0].weight: Weight must be positive, got -1
		scorers[1].type: is required; want one of ` + knownScorers + `
		scorers[2].weight: must be a number, got a string
		scorers[2].wheights: is unknown; want one of type, weight, weights
		scorers[3]: must be an object, got a number
		slicer.bucketSize: bucketSize must be a positive integer (> 0), got 0`, "mistakes of form and of sense, in one go, each once"},
	{"given twice", `{"name":"a","name":"b","scorers":[{"type":"recency","weight":1,"weight":2},{"type":"kind","weight":1,"weights":{"a":1,"\u0061":2}}],
		"slicer":{"type":"greedy"},"slicer":{"type":"knapsack"},"placer":{"type":"uShaped"}}`, `
		name: is given twice
		scorers[0].weight: is given twice
		scorers[1].weights["a"]: is given twice
		slicer: is given twice`, "a reader could keep only one"},
	{"strange names", document("", "", "", `,"":1,"a b":2,"a.b":3,"`+strings.Repeat("x", 100)+`":4,"ü":5`), `
		[""]: is unknown; want one of ` + knownFields + `
		["a b"]: is unknown; want one of ` + knownFields + `
		["a.b"]: is unknown; want one of ` + knownFields + `
		["` + strings.Repeat("x", 60) + `…"]: is unknown; want one of ` + knownFields + `
		["ü"]: is unknown; want one of ` + knownFields, "paths stay readable"},
	{"removed settings", document(`{"type":"recency","weight":1,"fullOnly":true}`, "", "", `,"fullOnly":false,"anyNumbers":true`), `
		anyNumbers: was removed from policies: delete the line
		fullOnly: was removed from policies: delete the line
		scorers[0].fullOnly: was removed from policies: delete the line`, "the error says what to do with a policy of an earlier version"},
	{"weight of an inner scorer", document(`{"type":"scaled","weight":1,"inner":{"type":"recency","weight":1}}`, "", "", ""),
		`scorers[0].inner.weight: is unknown; want one of type`, "an inner scorer has no weight"},
	{"weights", document(`{"type":"kind","weight":1,"weights":{"a":-1,"b":"1","c":1e999,"d":null," ":1}},{"type":"tag","weight":1,"weights":[1]},{"type":"tag","weight":1}`, "", "", ""), `
		scorers[0].weights[" "]: kind must not be blank
		scorers[0].weights["a"]: Weight for kind must be non-negative, got -1
		scorers[0].weights["b"]: must be a number, got a string
		scorers[0].weights["c"]: must be within the range of a float64, got 1e999
		scorers[0].weights["d"]: must be a number, got null
		scorers[1].weights: must be an object, got an array
		scorers[2].weights: is required`, "each weight is checked"},
	{"kinds in two casings", document(`{"type":"kind","weight":1,"weights":{"Note":1,"note":1}}`, "", "", ""),
		`scorers[0].weights["note"]: kind "note" repeats scorers[0].weights["Note"]; kinds are case-insensitive here`, "kinds are case-insensitive"},
	{"decay", document(`{"type":"decay","weight":1},
		{"type":"decay","weight":1,"curve":{"type":"linear","maxAge":"1h"}},
		{"type":"decay","weight":1,"curve":{"type":"window","maxAge":"1 day"},"nullTimestampScore":-0.1},
		{"type":"decay","weight":1,"curve":{"type":"step","windows":[{"maxAge":"1h"},{"score":2,"x":1},3]}}`, "", "", ""), `
		scorers[0].curve: is required
		scorers[1].curve.type: the curve type "linear" is unknown; want one of exponential, step, window
		scorers[2].curve.maxAge: must be a duration such as "90s", "1h30m" or "24h", of at most 292 years, got "1 day"
		scorers[2].nullTimestampScore: nullTimestampScore must be in [0.0, 1.0], got -0.1
		scorers[3].curve.windows[0].score: is required
		scorers[3].curve.windows[1].maxAge: is required
		scorers[3].curve.windows[1].score: score must be in [0.0, 1.0], got 2
		scorers[3].curve.windows[1].x: is unknown; want one of maxAge, score
		scorers[3].curve.windows[2]: must be an object, got a number`, "curves are as strict as the rest"},
	{"custom types without registry", document(`{"type":"longest","weight":1,"settings":{}}`, `{"type":"firstOf"}`, `{"type":"backwards"}`, ""), `
		placer.type: the placer type "backwards" is unknown; want one of ` + knownPlacers + `
		scorers[0].type: the scorer type "longest" is unknown; want one of ` + knownScorers + `
		slicer.type: the slicer type "firstOf" is unknown; want one of ` + knownSlicers, "only a registry knows them"},
}

func TestDecodeRefuses(t *testing.T) {
	for _, tt := range wrongDocuments {
		t.Run(tt.name, func(t *testing.T) {
			got, err := policy.Decode(nil, []byte(tt.text))
			if !reflect.DeepEqual(got, policy.Policy{}) {
				t.Errorf("Decode returns %+v along with its error", got)
			}
			if got, want := problemsOf(t, err), lines(tt.want); got != want {
				t.Errorf("problems:\n%s\nwant:\n%s\n%s", got, want, tt.why)
			}
		})
	}
}

// rightDocument is a document that Decode accepts.
type rightDocument struct {
	name, text string
	want       policy.Policy
	why        string
}

var rightDocuments = []rightDocument{
	{"least", document("", "", "", ""), plain(of("recency")), "everything else has a default"},
	{"escapes", document(`{"type":"recen\u0063y","weight":1}`, "", "", `,"\u006eame":"\ud83d\ude00"`),
		func() policy.Policy { p := plain(of("recency")); p.Name = "😀"; return p }(), "names are what they say, not how they are spelled"},
	{"integers as other tools write them", document("", `{"type":"knapsack","bucketSize":100.0,"memoryLimit":1e6}`, "", ""),
		func() policy.Policy {
			p := plain(of("recency"))
			p.Slicer = of("knapsack", settings{"bucketSize": 100, "memoryLimit": 1_000_000})
			return p
		}(), "JSON Schema counts them as integers"},
	{"rest", document("", "", "", `,"name":"n","description":"d","deduplicate":false,"overflow":"Truncate","nearDuplicates":0.75`),
		policy.Policy{Name: "n", Description: "d", NearDuplicates: 0.75, Scorers: plain(of("recency")).Scorers, Slicer: of("greedy"), Placer: of("chronological"), KeepDuplicates: true, Overflow: pipeline.OverflowTruncate}, "every other field"},
	{"absent and empty weights", document(`{"type":"kind","weight":1},{"type":"kind","weight":1,"weights":{}},{"type":"tag","weight":1,"weights":{}}`, "", "", ""),
		policy.Policy{Scorers: []policy.Weighted{{of("kind"), 1}, {of("kind", settings{"weights": map[string]float64{}}), 1}, {of("tag", settings{"weights": map[string]float64{}}), 1}},
			Slicer: of("greedy"), Placer: of("chronological")}, "no weights are the default ones, empty ones are none (R13)"},
}

// plain returns the policy of the document with one scorer.
func plain(s policy.Strategy) policy.Policy {
	p := with(s)
	p.Name, p.Description = "", ""
	return p
}

func TestDecode(t *testing.T) {
	for _, tt := range rightDocuments {
		t.Run(tt.name, func(t *testing.T) {
			got, err := policy.Decode(nil, []byte(tt.text))
			if err != nil || !reflect.DeepEqual(got, tt.want) {
				t.Fatalf("got %+v, %v\nwant %+v\n%s", got, err, tt.want, tt.why)
			}
			roundTrip(t, nil, got)
		})
	}
}

// roundTrip writes a policy and reads it back.
func roundTrip(t *testing.T, registry *policy.Registry, p policy.Policy) {
	t.Helper()
	text, err := json.Marshal(p)
	if err != nil {
		t.Fatal(err)
	}
	back, err := policy.Decode(registry, text)
	if err != nil {
		t.Fatalf("%s cannot be read back: %v", text, err)
	}
	if !reflect.DeepEqual(back, p) {
		t.Errorf("wrote %s of\n%+v\nread\n%+v", text, p, back)
	}
}

func TestRoundTrip(t *testing.T) {
	roundTrip(t, nil, complete())
	roundTrip(t, nil, withSlicer(of("countConstrainedKnapsack", settings{"bucketSize": 1, "memoryLimit": 1, "entries": []settings{{"kind": "a", "requireCount": 1, "capCount": 1}}})))
	for _, p := range policy.NewRegistry().All() {
		roundTrip(t, nil, p)
	}
	roundTrip(t, customRegistry(t), customPolicy())
}

// customPolicy uses custom strategies in every role, as wrappers too.
func customPolicy() policy.Policy {
	return policy.Policy{
		Scorers: []policy.Weighted{
			{of("longest", settings{"settings": settings{"max": 6}}), 2},
			{of("halved", settings{"children": []policy.Strategy{of("scaled", settings{"inner": of("halved", settings{"children": []policy.Strategy{of("reflexive")}})})}}), 1},
		},
		Slicer: of("firstOf", settings{"children": []policy.Strategy{of("firstOf"), of("knapsack")}}),
		Placer: of("backwards", settings{"children": []policy.Strategy{of("backwards", settings{"children": []policy.Strategy{of("uShaped")}})}}),
	}
}

func TestWrite(t *testing.T) {
	p := policy.DocumentQA()
	p.Description, p.NearDuplicates = `<"ä">`, 0.8
	text, err := p.MarshalJSON()
	want := `{"name":"DocumentQa","description":"<\"ä\">","scorers":[{"type":"kind","weight":2},{"type":"reflexive","weight":2},{"type":"priority","weight":1}],` +
		`"slicer":{"type":"knapsack","bucketSize":100},"placer":{"type":"uShaped"},"deduplicate":true,"nearDuplicates":0.8,"overflow":"Throw"}`
	if err != nil || string(text) != want {
		t.Errorf("wrote %s, %v\nwant %s", text, err, want)
	}
	text, err = with(of("kind", settings{"weights": map[string]float64(nil)})).MarshalJSON()
	if err != nil || strings.Contains(string(text), "weights") {
		t.Errorf("wrote %s, %v: nil weights are the default ones, an empty map gives everything 0", text, err)
	}
	text, err = with(of("x", settings{"b": slicer.ScarcityThrow, "a": cupel.ContextKind("K"), "c": time.Hour, "d": map[cupel.ContextKind]float64{"K": 1}})).MarshalJSON()
	if err != nil || !strings.Contains(string(text), `"weight":1,"a":"K","b":"Throw","c":"1h","d":{"K":1}}`) {
		t.Errorf("wrote %s, %v: settings of unknown types have the form of their values", text, err)
	}
	for d, want := range map[time.Duration]string{
		24 * time.Hour: `"24h"`, 90 * time.Minute: `"1h30m"`, time.Hour + time.Second: `"1h0m1s"`, 10 * time.Second: `"10s"`, 0: `"0s"`,
	} {
		text, err := with(of("decay", settings{"curve": of("window", settings{"maxAge": d})})).MarshalJSON()
		if err != nil || !strings.Contains(string(text), `"maxAge":`+want) {
			t.Errorf("wrote %s, %v; want %s", text, err, want)
		}
	}
}

func TestWriteFails(t *testing.T) {
	nan := func() float64 { var zero float64; return zero / zero }()
	tests := []struct {
		name   string
		policy policy.Policy
		want   string
		why    string
	}{
		{"nil curve", with(of("decay", settings{"curve": policy.Strategy{}})), "scorers[0].curve must be a curve with a type", "the same for curves"},
		{"NaN", policy.Policy{Scorers: []policy.Weighted{{of("recency"), nan}}}, "scorers[0].weight must be a finite number, got NaN", "JSON has no NaN, and no policy could have one"},
		{"another type", with(of("kind", settings{"weights": 1})), "scorers[0].weights must be of type map[string]float64, got int", "it would be lost"},
		{"overflow", func() policy.Policy { p := policy.Chat(); p.Overflow = 3; return p }(), `overflow "OverflowStrategy(3)" is unknown; want one of Throw, Truncate, Proceed`, "no name for it"},
		{"too long", func() policy.Policy { p := policy.Chat(); p.Name = strings.Repeat("x", policy.MaxBytes); return p }(), "value is longer than 1048576 bytes", "Decode would refuse it"},
		{"settings of a type that is not built in", with(of("x", settings{"a": settings{"b": []string{"c", "\xff"}}})), "scorers[0].a.b[1] is not valid UTF-8", "the path leads into them"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			text, err := tt.policy.MarshalJSON()
			var encode *cupel.EncodeError
			if !errors.As(err, &encode) || err.Error() != "cupel: cannot write JSON: "+tt.want {
				t.Errorf("wrote %s, %v; want %s: %s", text, err, tt.want, tt.why)
			}
		})
	}
}

func TestUnmarshal(t *testing.T) {
	var p policy.Policy
	if err := json.Unmarshal([]byte(document("", "", "", "")), &p); err != nil || !reflect.DeepEqual(p.Slicer, of("greedy")) {
		t.Errorf("got %+v, %v", p, err)
	}
	before := p
	if err := json.Unmarshal([]byte(`{"scorers":[]}`), &p); !errors.Is(err, cupel.ErrInvalidConfig) || !reflect.DeepEqual(p, before) {
		t.Errorf("a wrong document leaves %+v, %v", p, err)
	}
	if err := json.Unmarshal([]byte(`null`), &p); err != nil || !reflect.DeepEqual(p, before) {
		t.Errorf("null leaves %+v, %v", p, err)
	}
	var none *policy.Policy
	if err := none.UnmarshalJSON([]byte(`{}`)); !errors.Is(err, cupel.ErrInvalidJSON) {
		t.Errorf("a nil pointer gives %v", err)
	}
	// Inside a document of someone else.
	var file struct{ Policies map[string]policy.Policy }
	if err := json.Unmarshal([]byte(`{"Policies":{"a":`+document("", "", "", "")+`}}`), &file); err != nil || len(file.Policies["a"].Scorers) != 1 {
		t.Errorf("got %+v, %v", file, err)
	}
}

func TestDecodeWithRegistry(t *testing.T) {
	registry := customRegistry(t)
	_, err := with(of("halved", settings{"children": []policy.Strategy{of("decay", settings{"curve": of("window", settings{"maxAge": time.Hour})})}})).Pipeline(policy.Environment{Registry: registry})
	if got, want := problemsOf(t, err), "scorers[0].children[0]: needs a clock: set Environment.Clock, to time.Now in production or to a fixed time in tests"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}

	wrong := document(`{"type":"longest","weight":1,"settings":null,"max":6},{"type":"longest","weight":1,"settings":{"max":1.5,"a":1}},{"type":"halved","weight":2,"children":[{"type":"recency","weight":1},{}]},{"type":"halved","weight":1,"children":{}}`,
		`{"type":"firstOf","children":[1],"settings":{}}`, `{"type":"backwards"}`, "")
	_, err = policy.Decode(registry, []byte(wrong))
	want := lines(`
		placer: needs one child, got 0
		scorers[0].max: is unknown; want one of type, weight, settings
		scorers[0].settings: must be an object, got null
		scorers[1].settings.a: is unknown; want one of max
		scorers[1].settings.max: must be an integer, got 1.5
		scorers[2].children[0].weight: is unknown; want one of type
		scorers[2].children[1].type: is required; want one of ` + known(scorer.Descriptors(), "halved", "longest") + `
		scorers[3].children: must be an array, got an object
		slicer.children[0]: must be an object, got a number
		slicer.settings: is unknown; want one of type, children`)
	if got := problemsOf(t, err); got != want {
		t.Errorf("problems:\n%s\nwant:\n%s", got, want)
	}
}

func TestHash(t *testing.T) {
	p := policy.Chat()
	hash := p.Hash()
	if len(hash) != 16 {
		t.Fatalf("the hash is %q, want 16 digits", hash)
	}
	p.Name, p.Description = "other", "text"
	if p.Hash() != hash {
		t.Errorf("a name changes the hash")
	}
	p.KeepDuplicates = !p.KeepDuplicates
	if p.Hash() == hash {
		t.Errorf("a setting does not change the hash")
	}
	p.NearDuplicates = math.NaN()
	if got := p.Hash(); got != "" {
		t.Errorf("a policy that cannot be written has the hash %q", got)
	}
	config, err := policy.Chat().Config(policy.Environment{})
	if err != nil || config.PolicyHash != hash || config.Name != policy.Chat().Name {
		t.Errorf("the configuration has the name %q and the hash %q, want those of the policy (%v)", config.Name, config.PolicyHash, err)
	}
}
