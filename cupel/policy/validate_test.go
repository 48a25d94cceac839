package policy_test

import (
	"errors"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupel/pipeline"
	"github.com/wollax/cupel-go/cupel/policy"
	"github.com/wollax/cupel-go/cupel/slicer"
)

// with returns the Chat preset with one scorer.
func with(s policy.Strategy) policy.Policy {
	p := policy.Chat()
	p.Scorers = []policy.Weighted{{Scorer: s, Weight: 1}}
	return p
}

func withSlicer(s policy.Strategy) policy.Policy {
	p := policy.Chat()
	p.Slicer = s
	return p
}

func TestValidate(t *testing.T) {
	nan := math.NaN()
	tests := []struct {
		name   string
		policy policy.Policy
		want   string // problems
		why    string
	}{
		{"everything wrong", policy.Policy{
			Scorers: []policy.Weighted{
				{Scorer: of("recency"), Weight: 0},
				{Scorer: of("metadataTrust", settings{"defaultScore": 2.0}), Weight: nan},
				{Weight: 1},
			},
			Slicer:   of("knapsack", settings{"bucketSize": 0, "memoryLimit": -1}),
			Overflow: 9,
		}, `
			overflow: "OverflowStrategy(9)" is unknown; want one of Throw, Truncate, Proceed
			placer: a placer is required here, for example policy.Strategy{Type: "chronological"}
			scorers[0].weight: Weight must be positive, got 0
			scorers[1].defaultScore: defaultScore must be in [0.0, 1.0], got 2
			scorers[1].weight: Weight must be finite, got NaN
			scorers[2]: a scorer is required here, for example policy.Strategy{Type: "recency"}
			slicer.bucketSize: bucketSize must be a positive integer (> 0), got 0
			slicer.memoryLimit: memoryLimit must be a positive number of bytes, got -1`,
			"one mistake does not hide another, and none is reported twice"},
		{"values of other Go types", policy.Policy{
			Scorers: []policy.Weighted{
				{of("kind", settings{"weights": map[string]int{"a": 1}, "wheights": 1}), 1},
				{of("metadataKey", settings{"key": 1, "value": nil, "boost": "3"}), 1},
				{of("decay", settings{"curve": &policy.Strategy{Type: "step"}, "nullTimestampScore": float32(1)}), 1},
				{of("decay", settings{"curve": of("window", settings{"maxAge": 3600})}), 1},
				{of("composite", settings{"scorers": []policy.Strategy{of("recency")}}), 1},
			},
			Slicer: of("countQuota", settings{"inner": "greedy", "entries": []settings{{"kind": 1, "requireCount": 1.0}, {"of it": 1}}, "scarcity": 1}),
			Placer: of("uShaped", settings{"x": nil}),
		}, `
			placer.x: is unknown; no names are defined here
			scorers[0].weights: must be of type map[string]float64, got map[string]int
			scorers[0].wheights: is unknown; want one of weights
			scorers[1].boost: must be of type float64, got string
			scorers[1].key: must be of type string, got int
			scorers[1].value: must be of type string, got <nil>
			scorers[2].curve: must be of type policy.Strategy, got *policy.Strategy
			scorers[2].nullTimestampScore: must be of type float64, got float32
			scorers[3].curve.maxAge: must be of type time.Duration, got int
			scorers[4].scorers: must be of type []policy.Weighted, got []policy.Strategy
			slicer.entries[0].kind: must be of type string, got int
			slicer.entries[0].requireCount: must be of type int, got float64
			slicer.entries[1].kind: is required
			slicer.entries[1]["of it"]: is unknown; want one of kind, requireCount, capCount
			slicer.inner: must be of type policy.Strategy, got string
			slicer.scarcity: must be of type string, got int`, "mistakes in a literal are reported as clearly as those in a document"},
		{"values that stand for others", policy.Policy{
			Scorers: []policy.Weighted{
				{of("kind", settings{"weights": map[cupel.ContextKind]float64{cupel.KindMemory: 1}}), 1},
				{of("kind", settings{"weights": map[string]float64(nil)}), 1},
				{of("metadataTrust", settings{"defaultScore": 1}), 1},
			},
			Slicer: of("countQuota", settings{"inner": of("greedy"), "entries": []settings{{"kind": cupel.KindMemory}}, "scarcity": slicer.ScarcityThrow}),
			Placer: of("uShaped"),
		}, "", "kinds, whole numbers and scarcity behaviours are what they are in Go"},
		{"custom settings", with(of("composite", settings{"scorers": []policy.Weighted{
			{of("longest", settings{"settings": settings{"max": "a", "mx": 1, "of it": 2}}), 1},
			{of("longest"), 1},
			{of("longest", settings{"settings": []any{}}), 1},
		}})), `
			scorers[0].scorers[0].settings.max: must be of type int, got string
			scorers[0].scorers[0].settings.mx: is unknown; want one of max
			scorers[0].scorers[0].settings["of it"]: is unknown; want one of max
			scorers[0].scorers[1].settings.max: is required
			scorers[0].scorers[2].settings: must be of type policy.Settings, got []interface {}`, "settings are checked as strictly as the rest, with full paths"},
	}
	registry := customRegistry(t)
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			err := tt.policy.Validate(registry)
			if got, want := problemsOf(t, err), lines(tt.want); got != want {
				t.Errorf("problems:\n%s\nwant:\n%s\n%s", got, want, tt.why)
			}
			_, buildErr := tt.policy.Pipeline(policy.Environment{Registry: registry, Clock: atNoon})
			if got, want := problemsOf(t, buildErr), lines(tt.want); got != want {
				t.Errorf("building says:\n%s\nwant the same as validation:\n%s", got, want)
			}
			if tt.want != "" && registry.Register("new intent", tt.policy) == nil {
				t.Error("a registry takes the policy")
			}
		})
	}
}

// complete uses every built-in strategy and every setting.
func complete() policy.Policy {
	return policy.Policy{
		Name:        "Complete",
		Description: "Everything, <&> \"quoted\".",
		Scorers: []policy.Weighted{
			{of("recency"), 1}, {of("priority"), 0.5}, {of("frequency"), 2}, {of("reflexive"), 1e-3},
			{of("kind", settings{"weights": map[string]float64{}}), 1},
			{of("kind", settings{"weights": map[string]float64{"message": 0, "a.b[c]": 3.25}}), 1},
			{of("tag", settings{"weights": map[string]float64{"": 1, "b": 0}, "caseInsensitive": true}), 1},
			{of("composite", settings{"scorers": []policy.Weighted{
				{of("scaled", settings{"inner": of("composite", settings{"scorers": []policy.Weighted{{of("recency"), 3}}})}), 0.1},
			}}), 4},
			{of("metadataTrust", settings{"defaultScore": 0.0}), 1},
			{of("metadataKey", settings{"key": cupel.MetadataPriority, "value": "high", "boost": 1.5}), 1},
			{of("decay", settings{"curve": of("exponential", settings{"halfLife": 24 * time.Hour})}), 1},
			{of("decay", settings{"curve": of("window", settings{"maxAge": time.Duration(math.MaxInt64)}), "nullTimestampScore": 0.0}), 1},
			{of("decay", settings{"curve": of("step", settings{"windows": []settings{
				{"maxAge": time.Duration(1), "score": 1.0}, {"maxAge": 90 * time.Minute, "score": 0.5},
			}})}), 1},
		},
		Slicer: of("quota", settings{"inner": of("countQuota", settings{"inner": of("greedy"), "entries": []settings{
			{"kind": "Message", "requireCount": 1}, {"kind": "Note", "requireCount": 1, "capCount": 3},
		}, "scarcity": "Throw"}), "entries": []settings{{"kind": "Message", "require": 10.0}, {"kind": "Document", "require": 5.5, "cap": 50.0}}}),
		Placer:         of("uShaped"),
		KeepDuplicates: true,
		Overflow:       pipeline.OverflowProceed,
	}
}

func TestDecayNeedsAClock(t *testing.T) {
	p := with(of("composite", settings{"scorers": []policy.Weighted{
		{of("scaled", settings{"inner": of("decay", settings{"curve": of("window", settings{"maxAge": time.Hour})})}), 1},
		{of("decay", settings{"curve": policy.Strategy{}}), 1},
	}}))
	want := lines(`
		scorers[0].scorers[0].inner: needs a clock: set Environment.Clock, to time.Now in production or to a fixed time in tests
		scorers[0].scorers[1]: needs a clock: set Environment.Clock, to time.Now in production or to a fixed time in tests
		scorers[0].scorers[1].curve: a curve is required here, for example policy.Strategy{Type: "exponential"}`)
	_, err := p.Config(policy.Environment{})
	if got := problemsOf(t, err); got != want {
		t.Errorf("problems:\n%s\nwant:\n%s", got, want)
	}
	if config, err := policy.Chat().Config(policy.Environment{}); err != nil || config.Clock != nil {
		t.Errorf("a policy without decay needs no clock, and leaves that of the pipeline alone; got %v", err)
	}
	if err := with(of("decay", settings{"curve": of("window", settings{"maxAge": time.Hour})})).Validate(nil); err != nil {
		t.Errorf("a policy is valid without a clock: %v", err)
	}
}

func TestCausesAreKept(t *testing.T) {
	err := with(of("metadataKey", settings{"key": "", "value": "", "boost": -1.0})).Validate(nil)
	var invalid *cupel.InvalidConfigError
	if !errors.As(err, &invalid) || invalid.Component != "MetadataKeyScorer" || invalid.Field != "boost" {
		t.Errorf("%v does not lead to the constructor's own error", err)
	}
}

// Only problems with a cause have one to unwrap: a nil error among the causes
// would panic where a caller asks each for its text.
func TestCausesAreNotNil(t *testing.T) {
	cause := errors.New("out of memory")
	invalid := policy.ValidationError{Problems: []policy.Problem{{Path: "a"}, {Path: "b", Err: cause}}}
	if causes := invalid.Unwrap(); !slices.Equal(causes, []error{cause}) {
		t.Errorf("got causes %v, want only %v", causes, cause)
	}
}

// TestProblemsAreOrdered: numbers in paths count by value, of any size.
func TestProblemsAreOrdered(t *testing.T) {
	names := []string{"a", "a02", "a2", "a2-b", "a2b", "a10", "a99999999999999999999999"}
	text := document("", "", "", `,"`+strings.Join(names, `":0,"`)+`":0`)
	_, err := policy.Decode(nil, []byte(text))
	var invalid *policy.ValidationError
	if !errors.As(err, &invalid) {
		t.Fatal(err)
	}
	var got []string
	for _, p := range invalid.Problems {
		got = append(got, p.Path)
	}
	if !slices.Equal(got, names) {
		t.Errorf("got %q, want %q", got, names)
	}
}

// TestValidateNearDuplicates: Validate and Config find what [pipeline.New] would.
func TestValidateNearDuplicates(t *testing.T) {
	for _, threshold := range []float64{-0.1, 1.1, math.NaN()} {
		p := policy.Chat()
		p.NearDuplicates = threshold
		if got := problemsOf(t, p.Validate(nil)); !strings.HasPrefix(got, "nearDuplicates: must be at least 0 and at most 1, got ") {
			t.Errorf("%v: got %s", threshold, got)
		}
	}
	p := policy.Chat()
	p.NearDuplicates = 1
	if err := p.Validate(nil); err != nil {
		t.Error(err)
	}
}
