package policy_test

import (
	"encoding/json"
	"errors"
	"math"
	"reflect"
	"testing"
	"time"

	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupel/internal/compat"
	"github.com/wollax/cupel-go/cupel/policy"
	"github.com/wollax/cupel-go/cupel/scorer"
	"github.com/wollax/cupel-go/cupel/slicer"
)

// with returns the Chat preset with one scorer.
func with(s policy.Scorer) policy.Policy {
	p := policy.Chat()
	p.Scorers = []policy.Weighted{{Scorer: s, Weight: 1}}
	return p
}

func withSlicer(s policy.Slicer) policy.Policy {
	p := policy.Chat()
	p.Slicer = s
	return p
}

func withPlacer(s policy.Placer) policy.Policy {
	p := policy.Chat()
	p.Placer = s
	return p
}

func TestValidate(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	tests := []struct {
		name   string
		policy policy.Policy
		want   string // problems
		why    string
	}{
		{"zero", policy.Policy{}, `
			placer: a placer is required here, for example policy.Chronological{}
			scorers: At least one scorer entry is required
			slicer: a slicer is required here, for example policy.Greedy{}`,
			"all three strategies are required, and all of them are said to be"},
		{"everything wrong", policy.Policy{
			Scorers: []policy.Weighted{
				{Scorer: policy.Recency{}, Weight: 0},
				{Scorer: policy.MetadataTrust{DefaultScore: 2}, Weight: nan},
				{Weight: 1},
			},
			Slicer:   policy.Knapsack{BucketSize: compat.New(0), MemoryLimit: compat.New(-1)},
			Placer:   nil,
			Overflow: 9,
		}, `
			overflow: must be Throw, Truncate or Proceed, got OverflowStrategy(9)
			placer: a placer is required here, for example policy.Chronological{}
			scorers[0].weight: Weight must be positive, got 0
			scorers[1].defaultScore: defaultScore must be in [0.0, 1.0], got 2
			scorers[1].weight: Weight must be finite, got NaN
			scorers[2]: a scorer is required here, for example policy.Recency{}
			slicer.bucketSize: bucketSize must be a positive integer (> 0), got 0
			slicer.memoryLimit: memoryLimit must be a positive number of bytes, got -1`,
			"one mistake does not hide another, and none is said twice"},
		{"weights", policy.Policy{
			Scorers: []policy.Weighted{{policy.Recency{}, -1}, {policy.Recency{}, inf}, {policy.Recency{}, math.Inf(-1)}},
			Slicer:  policy.Greedy{}, Placer: policy.UShaped{},
		}, `
			scorers[0].weight: Weight must be positive, got -1
			scorers[1].weight: Weight must be finite, got +Inf
			scorers[2].weight: Weight must be positive, got -Inf`,
			"the rules of CompositeScorer hold for each weight"},
		{"infinite sum", policy.Policy{
			Scorers: []policy.Weighted{{policy.Recency{}, math.MaxFloat64}, {policy.Recency{}, math.MaxFloat64}},
			Slicer:  policy.Greedy{}, Placer: policy.UShaped{},
		}, `scorers: the sum of the weights must be finite; only ratios matter, so scale them down`, "each weight is right, their sum is not (R9)"},
		{"infinite sum beside a broken part", policy.Policy{
			Scorers: []policy.Weighted{{policy.Scaled{}, math.MaxFloat64}, {policy.Recency{}, math.MaxFloat64}},
			Slicer:  policy.Greedy{}, Placer: policy.UShaped{},
		}, `
			scorers: the sum of the weights must be finite; only ratios matter, so scale them down
			scorers[0].inner: a scorer is required here, for example policy.Recency{}`, "a broken part does not hide the sum"},
		{"one scorer's weight", policy.Policy{Scorers: []policy.Weighted{{policy.Recency{}, 0}}, Slicer: policy.Greedy{}, Placer: policy.UShaped{}},
			`scorers[0].weight: Weight must be positive, got 0`, "one scorer is used as it is, but its weight is still wrong"},
		{"order of paths", policy.Policy{
			Scorers: []policy.Weighted{{nil, 1}, {nil, 1}, {nil, 1}, {nil, 1}, {nil, 1}, {nil, 1}, {nil, 1}, {nil, 1}, {nil, 1}, {nil, 1}, {nil, 1}},
			Slicer:  policy.Greedy{}, Placer: policy.UShaped{},
		}, `
			scorers[0]: a scorer is required here, for example policy.Recency{}
			scorers[1]: a scorer is required here, for example policy.Recency{}
			scorers[2]: a scorer is required here, for example policy.Recency{}
			scorers[3]: a scorer is required here, for example policy.Recency{}
			scorers[4]: a scorer is required here, for example policy.Recency{}
			scorers[5]: a scorer is required here, for example policy.Recency{}
			scorers[6]: a scorer is required here, for example policy.Recency{}
			scorers[7]: a scorer is required here, for example policy.Recency{}
			scorers[8]: a scorer is required here, for example policy.Recency{}
			scorers[9]: a scorer is required here, for example policy.Recency{}
			scorers[10]: a scorer is required here, for example policy.Recency{}`, "10 comes after 9, not after 1"},
		{"kind weights", with(policy.Kind{Weights: map[cupel.ContextKind]float64{"a": -1, "b": nan, " ": 1, "Note": 1, "note": 2, "NOTE": inf}}), `
			scorers[0].weights[" "]: kind must not be blank
			scorers[0].weights["NOTE"]: Weight for kind must be finite, got +Inf
			scorers[0].weights["Note"]: kind "Note" is given already at scorers[0].weights["NOTE"]; casing does not tell kinds apart here
			scorers[0].weights["a"]: Weight for kind must be non-negative, got -1
			scorers[0].weights["b"]: Weight for kind must be finite, got NaN
			scorers[0].weights["note"]: kind "note" is given already at scorers[0].weights["NOTE"]; casing does not tell kinds apart here`,
			"each weight is looked at, and each kind that comes twice"},
		{"no kind weights", with(policy.Kind{Weights: map[cupel.ContextKind]float64{}}), "", "an empty map gives everything 0 (R13)"},
		{"tag weights", with(policy.Tag{Weights: map[string]float64{"a": -1, "A": 1, "b": inf}}), `
			scorers[0].weights["a"]: Tag weight must be non-negative, got -1
			scorers[0].weights["b"]: Tag weight must be finite, got +Inf`, "casing tells tags apart by default"},
		{"tags without case", with(policy.Tag{Weights: map[string]float64{"a": 1, "A": 1, "Ä": 1, "ä": 1}, CaseInsensitive: true}), `
			scorers[0].weights["a"]: tag "a" is given already at scorers[0].weights["A"]; casing does not tell tags apart here`,
			"under ASCII folding a and A are one tag, Ä and ä are two"},
		{"tag sum", with(policy.Tag{Weights: map[string]float64{"a": math.MaxFloat64, "b": math.MaxFloat64}}),
			`scorers[0].weights: the sum of the tag weights must be finite; scale them down`, "each weight is right, their sum is not (R9)"},
		{"no tags", with(policy.Tag{}), "", "a TagScorer without tags scores everything 0"},
		{"metadata key", with(policy.MetadataKey{Key: "k", Value: "v"}), `scorers[0].boost: boost must be greater than 0.0, got 0`, "the boost has no default"},
		{"composite in scaled in composite", with(policy.Composite{Scorers: []policy.Weighted{
			{policy.Recency{}, 1},
			{policy.Scaled{Inner: policy.Composite{Scorers: []policy.Weighted{{policy.MetadataTrust{DefaultScore: nan}, -3}}}}, 2},
			{policy.Composite{}, 1},
		}}), `
			scorers[0].scorers[1].inner.scorers[0].defaultScore: defaultScore must be in [0.0, 1.0], got NaN
			scorers[0].scorers[1].inner.scorers[0].weight: Weight must be positive, got -3
			scorers[0].scorers[2].scorers: At least one scorer entry is required`, "paths lead to any depth"},
		{"decay", with(policy.Decay{NullTimestampScore: compat.New(1.5)}), `
			scorers[0].curve: a curve is required here, for example policy.Window{MaxAge: 24 * time.Hour}
			scorers[0].nullTimestampScore: nullTimestampScore must be in [0.0, 1.0], got 1.5`, "a curve is required, and both mistakes are told"},
		{"exponential", with(policy.Decay{Curve: policy.Exponential{}}), `scorers[0].curve.halfLife: halfLife must be greater than zero, got 0s`, "no default"},
		{"window", with(policy.Decay{Curve: policy.Window{MaxAge: -1}}), `scorers[0].curve.maxAge: maxAge must be greater than zero, got -1ns`, "ages are positive"},
		{"step", with(policy.Decay{Curve: policy.Step{}}), `scorers[0].curve.windows: windows must contain at least one entry`, "a step curve without steps"},
		{"step windows", with(policy.Decay{Curve: policy.Step{Windows: []scorer.StepWindow{
			{MaxAge: 0, Score: 2}, {MaxAge: time.Hour, Score: nan}, {MaxAge: time.Hour, Score: 0.5}, {MaxAge: time.Minute, Score: -1}, {MaxAge: 2 * time.Hour},
		}}}), `
			scorers[0].curve.windows[0].maxAge: maxAge must be greater than zero, got 0s
			scorers[0].curve.windows[0].score: score must be in [0.0, 1.0], got 2
			scorers[0].curve.windows[1].score: score must be in [0.0, 1.0], got NaN
			scorers[0].curve.windows[2].maxAge: maxAge must be greater than that of the window before; give the youngest window first, got 1h0m0s
			scorers[0].curve.windows[3].maxAge: maxAge must be greater than that of the window before; give the youngest window first, got 1m0s
			scorers[0].curve.windows[3].score: score must be in [0.0, 1.0], got -1`, "each window is looked at, alone and beside the one before (R15)"},
		{"quota", withSlicer(policy.Quota{Entries: []policy.QuotaEntry{
			{Kind: "", Require: -1, Cap: compat.New(101.0)}, {Kind: "Note", Require: 30, Cap: compat.New(20.0)}, {Kind: "NOTE", Require: nan}, {Kind: "Message", Cap: compat.New(0.0)},
		}}), `
			slicer.entries[0].cap: cap must be from 0 to 100 percent, got 101
			slicer.entries[0].kind: kind must not be blank, got ""
			slicer.entries[0].require: require must be from 0 to 100 percent, got -1
			slicer.entries[1].require: require must be at most the cap of its kind (20), got 30
			slicer.entries[2].kind: kind "NOTE" is given already at slicer.entries[1].kind; casing does not tell kinds apart here
			slicer.entries[2].require: require must be from 0 to 100 percent, got NaN
			slicer.inner: a slicer is required here, for example policy.Greedy{}`, "everything that NewQuota refuses, at once"},
		{"no cap", withSlicer(policy.Quota{Inner: policy.CountQuota{Inner: policy.Greedy{}, Entries: []policy.CountEntry{{Kind: "A", RequireCount: math.MaxInt}}},
			Entries: []policy.QuotaEntry{{Kind: "A", Require: 100}}}), "", "without a cap a kind may have everything"},
		{"quota sum", withSlicer(policy.Quota{Inner: policy.Knapsack{BucketSize: compat.New(-1)}, Entries: []policy.QuotaEntry{{Kind: "A", Require: 60}, {Kind: "B", Require: 60}}}), `
			slicer.entries: the sum of all require percentages must not exceed 100%, got 120
			slicer.inner.bucketSize: bucketSize must be a positive integer (> 0), got -1`, "each entry is right, their sum is not (R18)"},
		{"count quota", withSlicer(policy.CountQuota{Scarcity: 7, Inner: policy.Greedy{}, Entries: []policy.CountEntry{
			{Kind: "\t", RequireCount: -1, CapCount: compat.New(-2)}, {Kind: "Note", RequireCount: 3, CapCount: compat.New(2)}, {Kind: "note"}, {Kind: "Message", RequireCount: 1, CapCount: compat.New(0)},
		}}), `
			slicer.entries[0].capCount: capCount must be at least 0, got -2
			slicer.entries[0].kind: kind must not be blank, got "\t"
			slicer.entries[0].requireCount: requireCount must be at least 0, got -1
			slicer.entries[1].requireCount: requireCount must be at most capCount (2), got 3
			slicer.entries[2].kind: kind "note" is given already at slicer.entries[1].kind; casing does not tell kinds apart here
			slicer.entries[3].requireCount: a zero cap with a positive requirement can never be satisfied, got 0
			slicer.scarcity: scarcityBehavior must be Degrade or Throw, got ScarcityBehavior(7)`, "everything that NewCountQuota refuses, at once"},
		{"count quota around a knapsack", withSlicer(policy.CountQuota{Inner: policy.Quota{Inner: policy.Knapsack{}}, Entries: []policy.CountEntry{{}}}), `
			slicer.entries[0].kind: kind must not be blank, got ""
			slicer.inner: CountQuotaSlice does not support KnapsackSlice as the inner slicer, at any depth: use GreedySlice as the inner slicer instead, or CountConstrainedKnapsackSlice in place of CountQuotaSlice, got *slicer.Knapsack`,
			"the guard looks through wrappers (R21), and past wrong entries"},
		{"count quota around nothing", withSlicer(policy.CountQuota{}), `slicer.inner: a slicer is required here, for example policy.Greedy{}`, "there is no default inner slicer"},
		{"count-constrained knapsack", withSlicer(policy.CountConstrainedKnapsack{Knapsack: policy.Knapsack{BucketSize: compat.New(0)}, Scarcity: 2, Entries: []policy.CountEntry{{}}}), `
			slicer.bucketSize: bucketSize must be a positive integer (> 0), got 0
			slicer.entries[0].kind: kind must not be blank, got ""
			slicer.scarcity: scarcityBehavior must be Degrade or Throw, got ScarcityBehavior(2)`, "the knapsack's settings are its own"},
		{"two bucket sizes", withSlicer(policy.Quota{Inner: policy.Knapsack{BucketSize: compat.New(0), AutoBucket: true, TopUp: true, MemoryLimit: compat.New(0)}}), `
			slicer.inner.autoBucket: chooses the bucket size, and bucketSize gives one; give one of the two
			slicer.inner.bucketSize: bucketSize must be a positive integer (> 0), got 0
			slicer.inner.memoryLimit: memoryLimit must be a positive number of bytes, got 0`, "one mistake does not hide another"},
		{"count quota around a knapsack that uses its budget", withSlicer(policy.CountQuota{Inner: policy.Knapsack{AutoBucket: true}}),
			`slicer.inner: CountQuotaSlice does not support KnapsackSlice as the inner slicer, at any depth: use GreedySlice as the inner slicer instead, or CountConstrainedKnapsackSlice in place of CountQuotaSlice, got *slicer.Knapsack`,
			"it is a knapsack (R21)"},
		{"pointer", with(&policy.Recency{}), `scorers[0]: must be a scorer of this package, as a value such as policy.Recency{}, got a *policy.Recency`, "a pointer would satisfy the interface, too"},
		{"nil pointers", policy.Policy{
			Scorers: []policy.Weighted{{(*policy.Scaled)(nil), 1}, {policy.Decay{Curve: (*policy.Step)(nil)}, 1}},
			Slicer:  (*policy.Greedy)(nil), Placer: (*policy.UShaped)(nil),
		}, `
			placer: must be a placer of this package, as a value such as policy.Chronological{}, got a *policy.UShaped
			scorers[0]: must be a scorer of this package, as a value such as policy.Recency{}, got a *policy.Scaled
			scorers[1].curve: must be a curve of this package, as a value such as policy.Window{MaxAge: 24 * time.Hour}, got a *policy.Step
			slicer: must be a slicer of this package, as a value such as policy.Greedy{}, got a *policy.Greedy`, "nil pointers are no panic"},
		{"disguise", with(struct{ policy.Scorer }{}), `scorers[0]: must be a scorer of this package, as a value such as policy.Recency{}, got a struct { policy.Scorer }`, "embedding does not make a scorer of this package"},
		{"unknown custom types", policy.Policy{
			Scorers: []policy.Weighted{{policy.CustomScorer{Type: "shortest"}, 1}, {policy.CustomScorer{Type: "recency"}, 1}},
			Slicer:  policy.CustomSlicer{}, Placer: policy.CustomPlacer{Type: "Backwards"},
		}, `
			placer.type: the placer type "Backwards" is unknown; known are backwards, chronological, uShaped
			scorers[0].type: the scorer type "shortest" is unknown; known are composite, decay, frequency, halved, kind, longest, metadataKey, metadataTrust, priority, recency, reflexive, scaled, tag
			scorers[1].type: "recency" is built in: use its own Go type instead of a custom one
			slicer.type: the slicer type "" is unknown; known are countConstrainedKnapsack, countQuota, firstOf, greedy, knapsack, quota, scoreGreedy`,
			"what is known is listed, custom types among them, and names are exact"},
		{"custom settings", with(policy.Composite{Scorers: []policy.Weighted{
			{policy.CustomScorer{Type: "longest", Settings: json.RawMessage(`{"max": "a", "mx": 1, "of it": 2}`)}, 1},
			{policy.CustomScorer{Type: "longest"}, 1},
			{policy.CustomScorer{Type: "longest", Settings: json.RawMessage(`[]`)}, 1},
			{policy.CustomScorer{Type: "longest", Settings: json.RawMessage(`{`)}, 1},
			{policy.CustomScorer{Type: "longest", Settings: json.RawMessage(`{"max":1,"max":2}`)}, 1},
		}}), `
			scorers[0].scorers[0].settings.max: must be int, got a JSON string
			scorers[0].scorers[0].settings.mx: is unknown; known are max
			scorers[0].scorers[0].settings["of it"]: is unknown; known are max
			scorers[0].scorers[1].settings.max: must be positive, got 0
			scorers[0].scorers[2].settings: must be an object, got an array
			scorers[0].scorers[3].settings: is malformed: unexpected end of JSON input at byte 1
			scorers[0].scorers[4].settings: has the name "max" twice`, "settings are looked at as strictly as the rest, with whole paths"},
		{"custom children", policy.Policy{
			Scorers: []policy.Weighted{
				{policy.CustomScorer{Type: "halved", Children: []policy.Scorer{policy.Scaled{}, policy.CustomScorer{Type: "nope"}, nil}}, 1},
				{policy.CustomScorer{Type: "halved"}, 1},
			},
			Slicer: policy.CustomSlicer{Type: "firstOf", Children: []policy.Slicer{policy.Greedy{}, policy.Knapsack{BucketSize: compat.New(0)}}},
			Placer: policy.CustomPlacer{Type: "backwards", Children: []policy.Placer{policy.CustomPlacer{Type: "backwards", Children: []policy.Placer{nil}}}},
		}, `
			placer.children[0].children[0]: a placer is required here, for example policy.Chronological{}
			scorers[0].children[0].inner: a scorer is required here, for example policy.Recency{}
			scorers[0].children[1].type: the scorer type "nope" is unknown; known are composite, decay, frequency, halved, kind, longest, metadataKey, metadataTrust, priority, recency, reflexive, scaled, tag
			scorers[0].children[2]: a scorer is required here, for example policy.Recency{}
			scorers[1]: needs one child, got 0
			slicer.children[1].bucketSize: bucketSize must be a positive integer (> 0), got 0`, "children are strategies like any other"},
		{"knapsack in a custom slicer", withSlicer(policy.CountQuota{Inner: policy.CustomSlicer{Type: "firstOf", Children: []policy.Slicer{policy.Knapsack{}}}}),
			`slicer.inner: CountQuotaSlice does not support KnapsackSlice as the inner slicer, at any depth: use GreedySlice as the inner slicer instead, or CountConstrainedKnapsackSlice in place of CountQuotaSlice, got *slicer.Knapsack`,
			"a custom wrapper that shows its children is seen through (R21)"},
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
			{policy.Recency{}, 1}, {policy.Priority{}, 0.5}, {policy.Frequency{}, 2}, {policy.Reflexive{}, 1e-3},
			{policy.Kind{}, 1},
			{policy.Kind{Weights: map[cupel.ContextKind]float64{}}, 1},
			{policy.Kind{Weights: map[cupel.ContextKind]float64{"message": 0, "a.b[c]": 3.25}}, 1},
			{policy.Tag{Weights: map[string]float64{"": 1, "b": 0}, CaseInsensitive: true}, 1},
			{policy.Tag{Weights: map[string]float64{"a": 1, "A": 2}}, 1},
			{policy.Composite{Scorers: []policy.Weighted{
				{policy.Scaled{Inner: policy.Composite{Scorers: []policy.Weighted{{policy.Recency{}, 3}}}}, 0.1},
				{policy.Composite{Scorers: []policy.Weighted{{policy.Priority{}, 1}}}, 2},
			}}, 4},
			{policy.Scaled{Inner: policy.Scaled{Inner: policy.Frequency{}}}, 1},
			{policy.MetadataTrust{}, 1}, {policy.MetadataTrust{DefaultScore: 0.5}, 1},
			{policy.MetadataKey{Key: cupel.MetadataPriority, Value: "high", Boost: 1.5}, 1},
			{policy.MetadataKey{Boost: 1}, 1},
			{policy.Decay{Curve: policy.Exponential{HalfLife: 24 * time.Hour}}, 1},
			{policy.Decay{Curve: policy.Window{MaxAge: math.MaxInt64}, NullTimestampScore: compat.New(0.0)}, 1},
			{policy.Decay{Curve: policy.Step{Windows: []scorer.StepWindow{
				{MaxAge: 1, Score: 1}, {MaxAge: 90 * time.Minute, Score: 0.5}, {MaxAge: 100 * time.Hour},
			}}, NullTimestampScore: compat.New(1.0)}, 1},
		},
		Slicer: policy.Quota{
			Inner: policy.CountQuota{
				Inner: policy.Quota{Inner: policy.Greedy{}},
				Entries: []policy.CountEntry{
					{Kind: "Message", RequireCount: 1}, {Kind: "toolOutput", CapCount: compat.New(0)}, {Kind: "Note", RequireCount: 1, CapCount: compat.New(3)},
				},
				Scarcity: slicer.ScarcityThrow,
			},
			Entries: []policy.QuotaEntry{{Kind: "Message", Require: 10}, {Kind: "Note", Cap: compat.New(0.0)}, {Kind: "Document", Require: 5.5, Cap: compat.New(50.0)}},
		},
		Placer:         policy.UShaped{},
		KeepDuplicates: true,
		Overflow:       cupel.OverflowProceed,
	}
}

func TestCompletePolicyIsValid(t *testing.T) {
	if err := complete().Validate(nil); err != nil {
		t.Error(err)
	}
	if _, err := complete().Pipeline(policy.Environment{Clock: atNoon}); err != nil {
		t.Error(err)
	}
}

func TestDecayNeedsAClock(t *testing.T) {
	p := with(policy.Composite{Scorers: []policy.Weighted{
		{policy.Scaled{Inner: policy.Decay{Curve: policy.Window{MaxAge: time.Hour}}}, 1},
		{policy.Decay{}, 1},
	}})
	want := lines(`
		scorers[0].scorers[0].inner: needs a clock: set Environment.Clock, to time.Now in production or to a fixed time in tests
		scorers[0].scorers[1]: needs a clock: set Environment.Clock, to time.Now in production or to a fixed time in tests
		scorers[0].scorers[1].curve: a curve is required here, for example policy.Window{MaxAge: 24 * time.Hour}`)
	_, err := p.Config(policy.Environment{})
	if got := problemsOf(t, err); got != want {
		t.Errorf("problems:\n%s\nwant:\n%s", got, want)
	}
	if config, err := policy.Chat().Config(policy.Environment{}); err != nil || config.Clock != nil {
		t.Errorf("a policy without decay needs no clock, and leaves that of the pipeline alone; got %v", err)
	}
	if err := with(policy.Decay{Curve: policy.Window{MaxAge: time.Hour}}).Validate(nil); err != nil {
		t.Errorf("a policy is valid without a clock: %v", err)
	}
}

func TestClockReachesDecay(t *testing.T) {
	all := items(t)
	p := with(policy.Decay{Curve: policy.Window{MaxAge: time.Hour}})
	for _, at := range []time.Time{noon, noon.Add(48 * time.Hour)} {
		clock := func() time.Time { return at }
		config, err := p.Config(policy.Environment{Clock: clock})
		if err != nil {
			t.Fatal(err)
		}
		want := scorer.Must(scorer.NewDecay(clock, scorer.Must(scorer.Window(time.Hour))))
		for _, item := range all {
			if got := config.Scorer.Score(item, all); got != want.Score(item, all) {
				t.Fatalf("at %s the score is %v, want %v", at, got, want.Score(item, all))
			}
		}
	}
}

// TestBuiltAsByHand compares what policies build with what the constructors
// build.
func TestBuiltAsByHand(t *testing.T) {
	window := scorer.Must(scorer.Window(3 * time.Hour))
	step := scorer.Must(scorer.Step(scorer.StepWindow{MaxAge: time.Hour, Score: 1}, scorer.StepWindow{MaxAge: 10 * time.Hour, Score: 0.25}))
	half := scorer.Must(scorer.Exponential(5 * time.Hour))
	tests := []struct {
		name   string
		policy policy.Policy
		want   cupel.Config // its scorer, slicer and placer default to those of policy.Chat
		why    string
	}{
		{"one scorer", with(policy.Recency{}), cupel.Config{Scorer: scorer.Recency{}}, "one scorer is used as it is (R47)"},
		{"kind", with(policy.Kind{Weights: map[cupel.ContextKind]float64{"note": 2, "MESSAGE": 0.5}}),
			cupel.Config{Scorer: scorer.Must(scorer.NewKind(map[cupel.ContextKind]float64{"note": 2, "MESSAGE": 0.5}))}, "weights and casing"},
		{"no kinds", with(policy.Kind{Weights: map[cupel.ContextKind]float64{}}),
			cupel.Config{Scorer: scorer.Must(scorer.NewKind(map[cupel.ContextKind]float64{}))}, "empty is not nil"},
		{"tag", with(policy.Tag{Weights: map[string]float64{"tag1": 2, "TAG2": 1}}),
			cupel.Config{Scorer: scorer.Must(scorer.NewTag(map[string]float64{"tag1": 2, "TAG2": 1}))}, "case-sensitive by default"},
		{"folded tag", with(policy.Tag{Weights: map[string]float64{"tag1": 2, "TAG2": 1}, CaseInsensitive: true}),
			cupel.Config{Scorer: scorer.Must(scorer.NewTag(map[string]float64{"tag1": 2, "TAG2": 1}, scorer.WithCaseInsensitiveTags()))}, "the option reaches the scorer"},
		{"trust", with(policy.MetadataTrust{DefaultScore: 0.25}), cupel.Config{Scorer: scorer.Must(scorer.NewMetadataTrust(0.25))}, "the default score"},
		{"key", with(policy.MetadataKey{Key: cupel.MetadataPriority, Value: "high", Boost: 3}),
			cupel.Config{Scorer: scorer.Must(scorer.NewMetadataKey(cupel.MetadataPriority, "high", 3))}, "key, value and boost"},
		{"exponential", with(policy.Decay{Curve: policy.Exponential{HalfLife: 5 * time.Hour}}), cupel.Config{Scorer: scorer.Must(scorer.NewDecay(atNoon, half))}, "the half-life"},
		{"window", with(policy.Decay{Curve: policy.Window{MaxAge: 3 * time.Hour}, NullTimestampScore: compat.New(0.0)}),
			cupel.Config{Scorer: scorer.Must(scorer.NewDecay(atNoon, window, scorer.WithNullTimestampScore(0)))}, "0 is not the default"},
		{"step", with(policy.Decay{Curve: policy.Step{Windows: []scorer.StepWindow{{MaxAge: time.Hour, Score: 1}, {MaxAge: 10 * time.Hour, Score: 0.25}}}}),
			cupel.Config{Scorer: scorer.Must(scorer.NewDecay(atNoon, step))}, "windows in order"},
		{"composite", with(policy.Composite{Scorers: []policy.Weighted{{policy.Frequency{}, 2}, {policy.Scaled{Inner: policy.Reflexive{}}, 1}}}),
			cupel.Config{Scorer: scorer.Must(scorer.NewComposite(scorer.Weighted{Scorer: scorer.Frequency{}, Weight: 2},
				scorer.Weighted{Scorer: scorer.Must(scorer.NewScaled(scorer.Reflexive{})), Weight: 1}))}, "nesting"},
		{"knapsack", withSlicer(policy.Knapsack{}), cupel.Config{Slicer: slicer.Must(slicer.NewKnapsack())}, "the default bucket size"},
		{"fine knapsack", withSlicer(policy.Knapsack{BucketSize: compat.New(1), MemoryLimit: compat.New(1 << 20)}),
			cupel.Config{Slicer: slicer.Must(slicer.NewKnapsack(slicer.WithBucketSize(1), slicer.WithMemoryLimit(1<<20)))}, "settings reach the slicer"},
		{"knapsack that uses its budget", withSlicer(policy.Knapsack{AutoBucket: true}),
			cupel.Config{Slicer: slicer.Must(slicer.NewKnapsack(slicer.WithAutoBucket()))}, "the bucket size is chosen"},
		{"topped-up knapsack", withSlicer(policy.Knapsack{BucketSize: compat.New(130), TopUp: true}),
			cupel.Config{Slicer: slicer.Must(slicer.NewKnapsack(slicer.WithBucketSize(130), slicer.WithTopUp()))}, "what the buckets leave is spent"},
		{"score greedy", withSlicer(policy.ScoreGreedy{}), cupel.Config{Slicer: slicer.ScoreGreedy{}}, "by score and not by density"},
		{"quota", withSlicer(policy.Quota{Inner: policy.Greedy{}, Entries: []policy.QuotaEntry{{Kind: "Note", Require: 20}, {Kind: "message", Require: 1, Cap: compat.New(2.0)}}}),
			cupel.Config{Slicer: slicer.Must(slicer.NewQuota(slicer.Greedy{}, slicer.Require("Note", 20), slicer.Between("message", 1, 2)))}, "no cap is 100 percent"},
		{"count quota", withSlicer(policy.CountQuota{Inner: policy.Greedy{}, Entries: []policy.CountEntry{{Kind: "Note", RequireCount: 4}, {Kind: "Message", CapCount: compat.New(1)}}}),
			cupel.Config{Slicer: slicer.Must(slicer.NewCountQuota(slicer.Greedy{}, []slicer.CountQuotaEntry{
				{Kind: "Note", RequireCount: 4, CapCount: math.MaxInt}, {Kind: "Message", CapCount: 1},
			}))}, "no cap is no limit"},
		{"count-constrained knapsack", withSlicer(policy.CountConstrainedKnapsack{Knapsack: policy.Knapsack{BucketSize: compat.New(7)},
			Entries: []policy.CountEntry{{Kind: "Note", RequireCount: 2, CapCount: compat.New(2)}}, Scarcity: slicer.ScarcityThrow}),
			cupel.Config{Slicer: slicer.Must(slicer.NewCountConstrainedKnapsack(slicer.Must(slicer.NewKnapsack(slicer.WithBucketSize(7))), []slicer.CountQuotaEntry{
				{Kind: "Note", RequireCount: 2, CapCount: 2},
			}, slicer.WithScarcity(slicer.ScarcityThrow)))}, "every setting reaches the slicer"},
	}
	all := items(t)
	chat, err := policy.Chat().Config(policy.Environment{})
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			config, err := tt.policy.Config(policy.Environment{Clock: atNoon})
			if err != nil {
				t.Fatal(err)
			}
			want := tt.want
			if want.Scorer == nil {
				want.Scorer = chat.Scorer
			}
			if want.Slicer == nil {
				want.Slicer = chat.Slicer
			}
			want.Placer = chat.Placer
			if reflect.TypeOf(config.Scorer) != reflect.TypeOf(want.Scorer) || reflect.TypeOf(config.Slicer) != reflect.TypeOf(want.Slicer) {
				t.Errorf("got a %T and a %T, want a %T and a %T: %s", config.Scorer, config.Slicer, want.Scorer, want.Slicer, tt.why)
			}
			if got, want := report(t, pipeline(t, config), all), report(t, pipeline(t, want), all); got != want {
				t.Errorf("the policy reports\n%s\nits counterpart\n%s\n%s", got, want, tt.why)
			}
		})
	}
}

func pipeline(t *testing.T, config cupel.Config) *cupel.Pipeline {
	t.Helper()
	p, err := cupel.New(config)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestConfigTakesTheRest(t *testing.T) {
	p := policy.Chat()
	p.KeepDuplicates, p.Overflow, p.Placer = true, cupel.OverflowTruncate, policy.UShaped{}
	config, err := p.Config(policy.Environment{Clock: atNoon})
	if err != nil || !config.KeepDuplicates || config.Overflow != cupel.OverflowTruncate || reflect.TypeOf(config.Placer).Name() != "UShaped" {
		t.Errorf("got %+v, %v", config, err)
	}
}

func TestCausesAreKept(t *testing.T) {
	err := with(policy.MetadataKey{Boost: -1}).Validate(nil)
	var invalid *cupel.InvalidConfigError
	if !errors.As(err, &invalid) || invalid.Component != "MetadataKeyScorer" || invalid.Field != "boost" {
		t.Errorf("%v does not lead to the constructor's own error", err)
	}
}

func TestErrorText(t *testing.T) {
	one := policy.Invalid(policy.Problem{Path: "max", Reason: "must be positive"})
	if got, want := one.Error(), "cupel: invalid policy: max: must be positive"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	two := policy.Invalid(policy.Problem{Path: "b", Reason: "is wrong"}, policy.Problem{Reason: "is bad"}, policy.Problem{Path: "b", Reason: "is worse"})
	if got, want := two.Error(), "cupel: invalid policy: 2 problems\n\tpolicy: is bad\n\tb: is wrong"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	same := policy.Invalid(policy.Problem{Path: "a[10]"}, policy.Problem{Path: "a[02]"}, policy.Problem{Path: "a[2]"}, policy.Problem{Path: "a"}, policy.Problem{Path: "a[2].b"}, policy.Problem{Path: "a[99999999999999999999999]"})
	if got, want := same.Error(), "cupel: invalid policy: 6 problems\n\ta: \n\ta[02]: \n\ta[2]: \n\ta[2].b: \n\ta[10]: \n\ta[99999999999999999999999]: "; got != want {
		t.Errorf("got %q, want %q: numbers by value, whatever their size", got, want)
	}
	if err := policy.Invalid(); err != nil {
		t.Errorf("no problems are %v", err)
	}
}
