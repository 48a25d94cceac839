package policy_test

import (
	"errors"
	"math"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupel/policy"
	"github.com/wollax/cupel-go/cupel/scorer"
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

func withPlacer(s policy.Strategy) policy.Policy {
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
			placer: a placer is required here, for example policy.Strategy{Type: "chronological"}
			scorers: At least one scorer entry is required
			slicer: a slicer is required here, for example policy.Strategy{Type: "greedy"}`,
			"all three strategies are required, and the error names all of them"},
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
		{"weights", policy.Policy{
			Scorers: []policy.Weighted{{of("recency"), -1}, {of("recency"), inf}, {of("recency"), math.Inf(-1)}},
			Slicer:  of("greedy"), Placer: of("uShaped"),
		}, `
			scorers[0].weight: Weight must be positive, got -1
			scorers[1].weight: Weight must be finite, got +Inf
			scorers[2].weight: Weight must be positive, got -Inf`,
			"the rules of CompositeScorer hold for each weight"},
		{"infinite sum", policy.Policy{
			Scorers: []policy.Weighted{{of("recency"), math.MaxFloat64}, {of("recency"), math.MaxFloat64}},
			Slicer:  of("greedy"), Placer: of("uShaped"),
		}, `scorers: the sum of the weights must be finite; only ratios matter, so scale them down`, "each weight is right, their sum is not (R9)"},
		{"infinite sum and a broken part", policy.Policy{
			Scorers: []policy.Weighted{{of("scaled", settings{"inner": policy.Strategy{}}), math.MaxFloat64}, {of("recency"), math.MaxFloat64}},
			Slicer:  of("greedy"), Placer: of("uShaped"),
		}, `
			scorers: the sum of the weights must be finite; only ratios matter, so scale them down
			scorers[0].inner: a scorer is required here, for example policy.Strategy{Type: "recency"}`, "a broken part does not hide the sum"},
		{"one scorer's weight", policy.Policy{Scorers: []policy.Weighted{{of("recency"), 0}}, Slicer: of("greedy"), Placer: of("uShaped")},
			`scorers[0].weight: Weight must be positive, got 0`, "one scorer is used as it is, but its weight is still wrong"},
		{"order of paths", policy.Policy{
			Scorers: []policy.Weighted{{policy.Strategy{}, 1}, {policy.Strategy{}, 1}, {policy.Strategy{}, 1}, {policy.Strategy{}, 1}, {policy.Strategy{}, 1}, {policy.Strategy{}, 1}, {policy.Strategy{}, 1}, {policy.Strategy{}, 1}, {policy.Strategy{}, 1}, {policy.Strategy{}, 1}, {policy.Strategy{}, 1}},
			Slicer:  of("greedy"), Placer: of("uShaped"),
		}, `
			scorers[0]: a scorer is required here, for example policy.Strategy{Type: "recency"}
			scorers[1]: a scorer is required here, for example policy.Strategy{Type: "recency"}
			scorers[2]: a scorer is required here, for example policy.Strategy{Type: "recency"}
			scorers[3]: a scorer is required here, for example policy.Strategy{Type: "recency"}
			scorers[4]: a scorer is required here, for example policy.Strategy{Type: "recency"}
			scorers[5]: a scorer is required here, for example policy.Strategy{Type: "recency"}
			scorers[6]: a scorer is required here, for example policy.Strategy{Type: "recency"}
			scorers[7]: a scorer is required here, for example policy.Strategy{Type: "recency"}
			scorers[8]: a scorer is required here, for example policy.Strategy{Type: "recency"}
			scorers[9]: a scorer is required here, for example policy.Strategy{Type: "recency"}
			scorers[10]: a scorer is required here, for example policy.Strategy{Type: "recency"}`, "10 comes after 9, not after 1"},
		{"kind weights", with(of("kind", settings{"weights": map[string]float64{"a": -1, "b": nan, " ": 1, "Note": 1, "note": 2, "NOTE": inf}})), `
			scorers[0].weights[" "]: kind must not be blank
			scorers[0].weights["NOTE"]: Weight for kind must be finite, got +Inf
			scorers[0].weights["Note"]: kind "Note" repeats scorers[0].weights["NOTE"]; kinds are case-insensitive here
			scorers[0].weights["a"]: Weight for kind must be non-negative, got -1
			scorers[0].weights["b"]: Weight for kind must be finite, got NaN
			scorers[0].weights["note"]: kind "note" repeats scorers[0].weights["NOTE"]; kinds are case-insensitive here`,
			"each weight is checked, and each repeated kind is reported"},
		{"no kind weights", with(of("kind", settings{"weights": map[string]float64{}})), "", "an empty map gives everything 0 (R13)"},
		{"tag weights", with(of("tag", settings{"weights": map[string]float64{"a": -1, "A": 1, "b": inf}})), `
			scorers[0].weights["a"]: Tag weight must be non-negative, got -1
			scorers[0].weights["b"]: Tag weight must be finite, got +Inf`, "casing tells tags apart by default"},
		{"tags without case", with(of("tag", settings{"weights": map[string]float64{"a": 1, "A": 1, "Ä": 1, "ä": 1}, "caseInsensitive": true})), `
			scorers[0].weights["a"]: tag "a" repeats scorers[0].weights["A"]; tags are case-insensitive here`,
			"under ASCII folding a and A are one tag, Ä and ä are two"},
		{"tag sum", with(of("tag", settings{"weights": map[string]float64{"a": math.MaxFloat64, "b": math.MaxFloat64}})),
			`scorers[0].weights: the sum of the tag weights must be finite; scale them down`, "each weight is right, their sum is not (R9)"},
		{"no tags", with(of("tag", settings{"weights": map[string]float64{}})), "", "a TagScorer without tags scores everything 0"},
		{"metadata key", with(of("metadataKey", settings{"key": "k", "value": "v", "boost": 0.0})), `scorers[0].boost: boost must be greater than 0.0, got 0`, "the boost has no default"},
		{"composite in scaled in composite", with(of("composite", settings{"scorers": []policy.Weighted{
			{of("recency"), 1},
			{of("scaled", settings{"inner": of("composite", settings{"scorers": []policy.Weighted{{of("metadataTrust", settings{"defaultScore": nan}), -3}}})}), 2},
			{of("composite"), 1},
		}})), `
			scorers[0].scorers[1].inner.scorers[0].defaultScore: defaultScore must be in [0.0, 1.0], got NaN
			scorers[0].scorers[1].inner.scorers[0].weight: Weight must be positive, got -3
			scorers[0].scorers[2].scorers: At least one scorer entry is required`, "paths lead to any depth"},
		{"decay", with(of("decay", settings{"curve": policy.Strategy{}, "nullTimestampScore": 1.5})), `
			scorers[0].curve: a curve is required here, for example policy.Strategy{Type: "exponential"}
			scorers[0].nullTimestampScore: nullTimestampScore must be in [0.0, 1.0], got 1.5`, "a curve is required, and both mistakes are reported"},
		{"exponential", with(of("decay", settings{"curve": of("exponential", settings{"halfLife": time.Duration(0)})})), `scorers[0].curve.halfLife: halfLife must be greater than zero, got 0s`, "no default"},
		{"window", with(of("decay", settings{"curve": of("window", settings{"maxAge": time.Duration(-1)})})), `scorers[0].curve.maxAge: maxAge must be greater than zero, got -1ns`, "ages are positive"},
		{"step", with(of("decay", settings{"curve": of("step")})), `scorers[0].curve.windows: windows must contain at least one entry`, "a step curve without steps"},
		{"step windows", with(of("decay", settings{"curve": of("step", settings{"windows": []settings{
			{"maxAge": time.Duration(0), "score": 2.0}, {"maxAge": time.Hour, "score": nan}, {"maxAge": time.Hour, "score": 0.5}, {"maxAge": time.Minute, "score": -1.0}, {"maxAge": 2 * time.Hour, "score": 0.0},
		}})})), `
			scorers[0].curve.windows[0].maxAge: maxAge must be greater than zero, got 0s
			scorers[0].curve.windows[0].score: score must be in [0.0, 1.0], got 2
			scorers[0].curve.windows[1].score: score must be in [0.0, 1.0], got NaN
			scorers[0].curve.windows[2].maxAge: maxAge must be greater than that of the window before; give the youngest window first, got 1h0m0s
			scorers[0].curve.windows[3].maxAge: maxAge must be greater than that of the window before; give the youngest window first, got 1m0s
			scorers[0].curve.windows[3].score: score must be in [0.0, 1.0], got -1`, "each window is checked, alone and against the one before (R15)"},
		{"quota", withSlicer(of("quota", settings{"inner": policy.Strategy{}, "entries": []settings{
			{"kind": "", "require": -1.0, "cap": 101.0}, {"kind": "Note", "require": 30.0, "cap": 20.0}, {"kind": "NOTE", "require": nan}, {"kind": "Message", "cap": 0.0},
		}})), `
			slicer.entries[0].cap: cap must be from 0 to 100 percent, got 101
			slicer.entries[0].kind: kind must not be blank, got ""
			slicer.entries[0].require: require must be from 0 to 100 percent, got -1
			slicer.entries[1].require: require must be at most the cap of its kind (20), got 30
			slicer.entries[2].kind: kind "NOTE" repeats slicer.entries[1].kind; kinds are case-insensitive here
			slicer.entries[2].require: require must be from 0 to 100 percent, got NaN
			slicer.inner: a slicer is required here, for example policy.Strategy{Type: "greedy"}`, "everything that NewQuota refuses, at once"},
		{"no cap", withSlicer(of("quota", settings{"inner": of("countQuota", settings{"inner": of("greedy"), "entries": []settings{{"kind": "A", "requireCount": math.MaxInt}}}), "entries": []settings{{"kind": "A", "require": 100.0}}})), "", "without a cap a kind may have everything"},
		{"quota sum", withSlicer(of("quota", settings{"inner": of("knapsack", settings{"bucketSize": -1}), "entries": []settings{{"kind": "A", "require": 60.0}, {"kind": "B", "require": 60.0}}})), `
			slicer.entries: the sum of all require percentages must not exceed 100%, got 120
			slicer.inner.bucketSize: bucketSize must be a positive integer (> 0), got -1`, "each entry is right, their sum is not (R18)"},
		{"count quota", withSlicer(of("countQuota", settings{"scarcity": slicer.ScarcityBehavior(7), "inner": of("greedy"), "entries": []settings{
			{"kind": "\t", "requireCount": -1, "capCount": -2}, {"kind": "Note", "requireCount": 3, "capCount": 2}, {"kind": "note"}, {"kind": "Message", "requireCount": 1, "capCount": 0},
		}})), `
			slicer.entries[0].capCount: capCount must be at least 0, got -2
			slicer.entries[0].kind: kind must not be blank, got "\t"
			slicer.entries[0].requireCount: requireCount must be at least 0, got -1
			slicer.entries[1].requireCount: requireCount must be at most capCount (2), got 3
			slicer.entries[2].kind: kind "note" repeats slicer.entries[1].kind; kinds are case-insensitive here
			slicer.entries[3].capCount: a zero cap with a positive requirement can never be satisfied, got 0
			slicer.scarcity: "ScarcityBehavior(7)" is unknown; want one of Degrade, Throw`, "everything that NewCountQuota refuses, at once"},
		{"count quota around a knapsack", withSlicer(of("countQuota", settings{"inner": of("quota", settings{"inner": of("knapsack")}), "entries": []settings{{"kind": ""}}})), `
			slicer.entries[0].kind: kind must not be blank, got ""
			slicer.inner: CountQuotaSlice does not support KnapsackSlice as the inner slicer, at any depth: use GreedySlice as the inner slicer instead, or CountConstrainedKnapsackSlice in place of CountQuotaSlice, got *slicer.Knapsack`,
			"the guard looks through wrappers (R21), and past wrong entries"},
		{"count quota around nothing", withSlicer(of("countQuota", settings{"inner": policy.Strategy{}})), `slicer.inner: a slicer is required here, for example policy.Strategy{Type: "greedy"}`, "there is no default inner slicer"},
		{"count-constrained knapsack", withSlicer(of("countConstrainedKnapsack", settings{"bucketSize": 0, "scarcity": slicer.ScarcityBehavior(2), "entries": []settings{{"kind": ""}}})), `
			slicer.bucketSize: bucketSize must be a positive integer (> 0), got 0
			slicer.entries[0].kind: kind must not be blank, got ""
			slicer.scarcity: "ScarcityBehavior(2)" is unknown; want one of Degrade, Throw`, "the knapsack's settings are its own"},
		{"two bucket sizes", withSlicer(of("quota", settings{"inner": of("knapsack", settings{"bucketSize": 0, "autoBucket": true, "topUp": true, "memoryLimit": 0})})), `
			slicer.inner.autoBucket: must not be set together with bucketSize; remove one of them
			slicer.inner.bucketSize: bucketSize must be a positive integer (> 0), got 0
			slicer.inner.memoryLimit: memoryLimit must be a positive number of bytes, got 0`, "one mistake does not hide another"},
		{"count quota around a knapsack that uses its budget", withSlicer(of("countQuota", settings{"inner": of("knapsack", settings{"autoBucket": true})})),
			`slicer.inner: CountQuotaSlice does not support KnapsackSlice as the inner slicer, at any depth: use GreedySlice as the inner slicer instead, or CountConstrainedKnapsackSlice in place of CountQuotaSlice, got *slicer.Knapsack`,
			"it is a knapsack (R21)"},
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
		{"unknown custom types", policy.Policy{
			Scorers: []policy.Weighted{{of("shortest"), 1}, {of("Recency"), 1}},
			Slicer:  of("firstof"), Placer: of("Backwards"),
		}, `
			placer.type: the placer type "Backwards" is unknown; want one of backwards, chronological, uShaped
			scorers[0].type: the scorer type "shortest" is unknown; want one of composite, decay, frequency, halved, kind, longest, metadataKey, metadataTrust, priority, recency, reflexive, scaled, tag
			scorers[1].type: the scorer type "Recency" is unknown; want one of composite, decay, frequency, halved, kind, longest, metadataKey, metadataTrust, priority, recency, reflexive, scaled, tag
			slicer.type: the slicer type "firstof" is unknown; want one of countConstrainedKnapsack, countQuota, diverse, firstOf, greedy, knapsack, multipleChoice, quota, scoreGreedy`,
			"the error lists the known types, including custom ones, and names are exact"},
		{"custom settings", with(of("composite", settings{"scorers": []policy.Weighted{
			{of("longest", settings{"settings": settings{"max": "a", "mx": 1, "of it": 2}}), 1},
			{of("longest"), 1},
			{of("longest", settings{"settings": []any{}}), 1},
			{of("longest", settings{"settings": settings{"max": 0}}), 1},
		}})), `
			scorers[0].scorers[0].settings.max: must be of type int, got string
			scorers[0].scorers[0].settings.mx: is unknown; want one of max
			scorers[0].scorers[0].settings["of it"]: is unknown; want one of max
			scorers[0].scorers[1].settings.max: is required
			scorers[0].scorers[2].settings: must be of type policy.Settings, got []interface {}
			scorers[0].scorers[3].settings.max: must be at least 1, got 0`, "settings are checked as strictly as the rest, with full paths"},
		{"custom children", policy.Policy{
			Scorers: []policy.Weighted{
				{of("halved", settings{"children": []policy.Strategy{of("scaled", settings{"inner": policy.Strategy{}}), of("nope"), {}}}), 1},
				{of("halved"), 1},
			},
			Slicer: of("firstOf", settings{"children": []policy.Strategy{of("greedy"), of("knapsack", settings{"bucketSize": 0})}}),
			Placer: of("backwards", settings{"children": []policy.Strategy{of("backwards", settings{"children": []policy.Strategy{{}}})}}),
		}, `
			placer.children[0].children[0]: a placer is required here, for example policy.Strategy{Type: "chronological"}
			scorers[0].children[0].inner: a scorer is required here, for example policy.Strategy{Type: "recency"}
			scorers[0].children[1].type: the scorer type "nope" is unknown; want one of composite, decay, frequency, halved, kind, longest, metadataKey, metadataTrust, priority, recency, reflexive, scaled, tag
			scorers[0].children[2]: a scorer is required here, for example policy.Strategy{Type: "recency"}
			scorers[1]: needs one child, got 0
			slicer.children[1].bucketSize: bucketSize must be a positive integer (> 0), got 0`, "children are strategies like any other"},
		{"knapsack in a custom slicer", withSlicer(of("countQuota", settings{"inner": of("firstOf", settings{"children": []policy.Strategy{of("knapsack")}})})),
			`slicer.inner: CountQuotaSlice does not support KnapsackSlice as the inner slicer, at any depth: use GreedySlice as the inner slicer instead, or CountConstrainedKnapsackSlice in place of CountQuotaSlice, got *slicer.Knapsack`,
			"the guard looks through a custom wrapper that shows its children (R21)"},
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
			{of("kind"), 1},
			{of("kind", settings{"weights": map[string]float64{}}), 1},
			{of("kind", settings{"weights": map[string]float64{"message": 0, "a.b[c]": 3.25}}), 1},
			{of("tag", settings{"weights": map[string]float64{"": 1, "b": 0}, "caseInsensitive": true}), 1},
			{of("tag", settings{"weights": map[string]float64{"a": 1, "A": 2}}), 1},
			{of("composite", settings{"scorers": []policy.Weighted{
				{of("scaled", settings{"inner": of("composite", settings{"scorers": []policy.Weighted{{of("recency"), 3}}})}), 0.1},
				{of("composite", settings{"scorers": []policy.Weighted{{of("priority"), 1}}}), 2},
			}}), 4},
			{of("scaled", settings{"inner": of("scaled", settings{"inner": of("frequency")})}), 1},
			{of("metadataTrust", settings{"defaultScore": 0.0}), 1}, {of("metadataTrust", settings{"defaultScore": 0.5}), 1},
			{of("metadataKey", settings{"key": cupel.MetadataPriority, "value": "high", "boost": 1.5}), 1},
			{of("metadataKey", settings{"key": "", "value": "", "boost": 1.0}), 1},
			{of("decay", settings{"curve": of("exponential", settings{"halfLife": 24 * time.Hour})}), 1},
			{of("decay", settings{"curve": of("window", settings{"maxAge": time.Duration(math.MaxInt64)}), "nullTimestampScore": 0.0}), 1},
			{of("decay", settings{"curve": of("step", settings{"windows": []settings{
				{"maxAge": time.Duration(1), "score": 1.0}, {"maxAge": 90 * time.Minute, "score": 0.5}, {"maxAge": 100 * time.Hour, "score": 0.0},
			}}), "nullTimestampScore": 1.0}), 1},
		},
		Slicer: of("quota", settings{"inner": of("countQuota", settings{"inner": of("quota", settings{"inner": of("greedy")}), "entries": []settings{
			{"kind": "Message", "requireCount": 1}, {"kind": "toolOutput", "capCount": 0}, {"kind": "Note", "requireCount": 1, "capCount": 3},
		}, "scarcity": "Throw"}), "entries": []settings{{"kind": "Message", "require": 10.0}, {"kind": "Note", "cap": 0.0}, {"kind": "Document", "require": 5.5, "cap": 50.0}}}),
		Placer:         of("uShaped"),
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

func TestClockReachesDecay(t *testing.T) {
	all := items(t)
	p := with(of("decay", settings{"curve": of("window", settings{"maxAge": time.Hour})}))
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
		{"one scorer", with(of("recency")), cupel.Config{Scorer: scorer.Recency{}}, "one scorer is used as it is (R47)"},
		{"kind", with(of("kind", settings{"weights": map[string]float64{"note": 2, "MESSAGE": 0.5}})),
			cupel.Config{Scorer: scorer.Must(scorer.NewKind(map[cupel.ContextKind]float64{"note": 2, "MESSAGE": 0.5}))}, "weights and casing"},
		{"no kinds", with(of("kind", settings{"weights": map[string]float64{}})),
			cupel.Config{Scorer: scorer.Must(scorer.NewKind(map[cupel.ContextKind]float64{}))}, "empty is not nil"},
		{"tag", with(of("tag", settings{"weights": map[string]float64{"tag1": 2, "TAG2": 1}})),
			cupel.Config{Scorer: scorer.Must(scorer.NewTag(map[string]float64{"tag1": 2, "TAG2": 1}))}, "case-sensitive by default"},
		{"folded tag", with(of("tag", settings{"weights": map[string]float64{"tag1": 2, "TAG2": 1}, "caseInsensitive": true})),
			cupel.Config{Scorer: scorer.Must(scorer.NewTag(map[string]float64{"tag1": 2, "TAG2": 1}, scorer.WithCaseInsensitiveTags()))}, "the option reaches the scorer"},
		{"trust", with(of("metadataTrust", settings{"defaultScore": 0.25})), cupel.Config{Scorer: scorer.Must(scorer.NewMetadataTrust(0.25))}, "the default score"},
		{"key", with(of("metadataKey", settings{"key": cupel.MetadataPriority, "value": "high", "boost": 3.0})),
			cupel.Config{Scorer: scorer.Must(scorer.NewMetadataKey(cupel.MetadataPriority, "high", 3))}, "key, value and boost"},
		{"exponential", with(of("decay", settings{"curve": of("exponential", settings{"halfLife": 5 * time.Hour})})), cupel.Config{Scorer: scorer.Must(scorer.NewDecay(atNoon, half))}, "the half-life"},
		{"window", with(of("decay", settings{"curve": of("window", settings{"maxAge": 3 * time.Hour}), "nullTimestampScore": 0.0})),
			cupel.Config{Scorer: scorer.Must(scorer.NewDecay(atNoon, window, scorer.WithNullTimestampScore(0)))}, "0 is not the default"},
		{"step", with(of("decay", settings{"curve": of("step", settings{"windows": []settings{{"maxAge": time.Hour, "score": 1.0}, {"maxAge": 10 * time.Hour, "score": 0.25}}})})),
			cupel.Config{Scorer: scorer.Must(scorer.NewDecay(atNoon, step))}, "windows in order"},
		{"composite", with(of("composite", settings{"scorers": []policy.Weighted{{of("frequency"), 2}, {of("scaled", settings{"inner": of("reflexive")}), 1}}})),
			cupel.Config{Scorer: scorer.Must(scorer.NewComposite(scorer.Weighted{Scorer: scorer.Frequency{}, Weight: 2},
				scorer.Weighted{Scorer: scorer.Must(scorer.NewScaled(scorer.Reflexive{})), Weight: 1}))}, "nesting"},
		{"knapsack", withSlicer(of("knapsack")), cupel.Config{Slicer: slicer.Must(slicer.NewKnapsack())}, "the default bucket size"},
		{"fine knapsack", withSlicer(of("knapsack", settings{"bucketSize": 1, "memoryLimit": 1 << 20})),
			cupel.Config{Slicer: slicer.Must(slicer.NewKnapsack(slicer.WithBucketSize(1), slicer.WithMemoryLimit(1<<20)))}, "settings reach the slicer"},
		{"knapsack that uses its budget", withSlicer(of("knapsack", settings{"autoBucket": true})),
			cupel.Config{Slicer: slicer.Must(slicer.NewKnapsack(slicer.WithAutoBucket()))}, "the bucket size is chosen"},
		{"topped-up knapsack", withSlicer(of("knapsack", settings{"bucketSize": 130, "topUp": true})),
			cupel.Config{Slicer: slicer.Must(slicer.NewKnapsack(slicer.WithBucketSize(130), slicer.WithTopUp()))}, "tokens that the buckets leave are spent"},
		{"diverse", withSlicer(of("diverse", settings{"from": 0.5})), cupel.Config{Slicer: slicer.Diverse{From: 0.5}}, "it compares words"},
		{"score greedy", withSlicer(of("scoreGreedy")), cupel.Config{Slicer: slicer.ScoreGreedy{}}, "by score and not by density"},
		{"quota", withSlicer(of("quota", settings{"inner": of("greedy"), "entries": []settings{{"kind": "Note", "require": 20.0}, {"kind": "message", "require": 1.0, "cap": 2.0}}})),
			cupel.Config{Slicer: slicer.Must(slicer.NewQuota(slicer.Greedy{}, slicer.Require("Note", 20), slicer.Between("message", 1, 2)))}, "no cap is 100 percent"},
		{"count quota", withSlicer(of("countQuota", settings{"inner": of("greedy"), "entries": []settings{{"kind": "Note", "requireCount": 4}, {"kind": "Message", "capCount": 1}}})),
			cupel.Config{Slicer: slicer.Must(slicer.NewCountQuota(slicer.Greedy{}, []slicer.CountQuotaEntry{
				{Kind: "Note", RequireCount: 4, CapCount: math.MaxInt}, {Kind: "Message", CapCount: 1}}))}, "no cap is no limit"},
		{"count-constrained knapsack", withSlicer(of("countConstrainedKnapsack", settings{"bucketSize": 7, "entries": []settings{{"kind": "Note", "requireCount": 2, "capCount": 2}}, "scarcity": "Throw"})),
			cupel.Config{Slicer: slicer.Must(slicer.NewCountConstrainedKnapsack(slicer.Must(slicer.NewKnapsack(slicer.WithBucketSize(7))),
				[]slicer.CountQuotaEntry{{Kind: "Note", RequireCount: 2, CapCount: 2}}, slicer.WithScarcity(slicer.ScarcityThrow)))}, "every setting reaches the slicer"},
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
	p.KeepDuplicates, p.Overflow, p.Placer = true, cupel.OverflowTruncate, of("uShaped")
	config, err := p.Config(policy.Environment{Clock: atNoon})
	if err != nil || !config.KeepDuplicates || config.Overflow != cupel.OverflowTruncate || reflect.TypeOf(config.Placer).Name() != "UShaped" {
		t.Errorf("got %+v, %v", config, err)
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
	var invalid *policy.ValidationError
	if err := policy.Invalid(policy.Problem{Path: "a"}, policy.Problem{Path: "b", Err: cause}); !errors.As(err, &invalid) {
		t.Fatalf("got %v", err)
	}
	if causes := invalid.Unwrap(); !slices.Equal(causes, []error{cause}) {
		t.Errorf("got causes %v, want only %v", causes, cause)
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
		t.Errorf("got %q, want %q: numbers by value, of any size", got, want)
	}
	mixed := policy.Invalid(policy.Problem{Path: "a10"}, policy.Problem{Path: "a2.b"}, policy.Problem{Path: "a2b"}, policy.Problem{Path: "a2"})
	if got, want := mixed.Error(), "cupel: invalid policy: 4 problems\n\ta2: \n\ta2.b: \n\ta2b: \n\ta10: "; got != want {
		t.Errorf("got %q, want %q: a number ends where its digits end", got, want)
	}
	if err := policy.Invalid(); err != nil {
		t.Errorf("no problems are %v", err)
	}
}

// TestValidateNearDuplicates: Validate and Config find what [cupel.New] would.
func TestValidateNearDuplicates(t *testing.T) {
	for _, row := range []struct {
		threshold float64
		valid     bool
	}{{0, true}, {0.8, true}, {1, true}, {-0.1, false}, {1.1, false}, {math.Inf(1), false}, {math.NaN(), false}} {
		p := policy.Chat()
		p.NearDuplicates = row.threshold
		err := p.Validate(policy.NewRegistry())
		if (err == nil) != row.valid {
			t.Errorf("%v: got %v", row.threshold, err)
		}
		var invalid *policy.ValidationError
		if !row.valid && (!errors.As(err, &invalid) || len(invalid.Problems) != 1 || invalid.Problems[0].Path != "nearDuplicates") {
			t.Errorf("%v: got %v, want a problem of nearDuplicates", row.threshold, err)
		}
	}
}
