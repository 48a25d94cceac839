package policy_test

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/wollax/cupel-go/cupel/pipeline"
	"github.com/wollax/cupel-go/cupel/placer"
	"github.com/wollax/cupel-go/cupel/policy"
	"github.com/wollax/cupel-go/cupel/scorer"
	"github.com/wollax/cupel-go/cupel/slicer"
	"github.com/wollax/cupel-go/cupel/strategy"
)

// presets are the policies as the field knows them, and what they are by hand.
var presets = []struct {
	intent string
	preset func() policy.Policy
	name   string
	parts  []scorer.Weighted
	slicer strategy.Slicer
	placer strategy.Placer
}{
	{"chat", policy.Chat, "Chat", []scorer.Weighted{{Scorer: scorer.Recency{}, Weight: 3}, {Scorer: scorer.Kind{}, Weight: 1}},
		slicer.Greedy{}, placer.Chronological{}},
	{"code-review", policy.CodeReview, "CodeReview", []scorer.Weighted{{Scorer: scorer.Kind{}, Weight: 2}, {Scorer: scorer.Priority{}, Weight: 2}, {Scorer: scorer.Recency{}, Weight: 1}},
		slicer.Greedy{}, placer.Chronological{}},
	{"debugging", policy.Debugging, "Debugging", []scorer.Weighted{{Scorer: scorer.Priority{}, Weight: 3}, {Scorer: scorer.Kind{}, Weight: 2}, {Scorer: scorer.Recency{}, Weight: 1}},
		slicer.Greedy{}, placer.Chronological{}},
	{"document-qa", policy.DocumentQA, "DocumentQa", []scorer.Weighted{{Scorer: scorer.Kind{}, Weight: 2}, {Scorer: scorer.Reflexive{}, Weight: 2}, {Scorer: scorer.Priority{}, Weight: 1}},
		slicer.Must(slicer.NewKnapsack(slicer.WithBucketSize(100))), placer.UShaped{}},
	{"long-running", policy.LongRunning, "LongRunning", []scorer.Weighted{{Scorer: scorer.Recency{}, Weight: 3}, {Scorer: scorer.Frequency{}, Weight: 1}, {Scorer: scorer.Kind{}, Weight: 1}},
		slicer.Greedy{}, placer.Chronological{}},
	{"rag", policy.RAG, "Rag", []scorer.Weighted{{Scorer: scorer.Reflexive{}, Weight: 3}, {Scorer: scorer.Kind{}, Weight: 1}},
		slicer.Greedy{}, placer.UShaped{}},
	{"tool-use", policy.ToolUse, "ToolUse", []scorer.Weighted{{Scorer: scorer.Kind{}, Weight: 2}, {Scorer: scorer.Recency{}, Weight: 2}, {Scorer: scorer.Priority{}, Weight: 1}},
		slicer.Greedy{}, placer.Chronological{}},
}

// TestPresets compares each preset with a pipeline that is built by hand: every
// score, every reason and the order of the prompt.
func TestPresets(t *testing.T) {
	all := items(t)
	registry := policy.NewRegistry()
	seen := make(map[string]string)
	for _, tt := range presets {
		t.Run(tt.name, func(t *testing.T) {
			p := tt.preset()
			if p.Name != tt.name || p.Description == "" {
				t.Errorf("the preset is called %q: %q", p.Name, p.Description)
			}
			byHand := build(t, pipeline.Config{Scorer: scorer.Must(scorer.NewComposite(tt.parts...)), Slicer: tt.slicer, Placer: tt.placer})
			want := report(t, byHand, all)
			built, err := p.Pipeline(policy.Environment{})
			if err != nil {
				t.Fatal(err)
			}
			if got := report(t, built, all); got != want {
				t.Errorf("the preset reports\n%s\nby hand it is\n%s", got, want)
			}
			if same, ok := seen[want]; ok {
				t.Errorf("the items do not tell it from %s", same)
			}
			seen[want] = tt.name

			for _, spelled := range []string{tt.intent, strings.ToUpper(tt.intent), tt.name, strings.ToLower(tt.name)} {
				if registered, err := registry.Lookup(spelled); err != nil || !reflect.DeepEqual(registered, p) {
					t.Errorf("the registry has %+v, %v for %q", registered, err, spelled)
				}
			}
			if config, err := p.Config(policy.Environment{}); err != nil || config.KeepDuplicates || config.Overflow != pipeline.OverflowThrow {
				t.Errorf("deduplication is on and overflow fails; got %+v, %v", config, err)
			}
		})
	}
	var intents []string
	for _, tt := range presets {
		intents = append(intents, tt.intent)
	}
	if got := slices.Collect(keysOf(registry)); !slices.Equal(got, intents) {
		t.Errorf("a new registry has %q, want %q", got, intents)
	}
}

func keysOf(r *policy.Registry) func(func(string) bool) {
	return func(yield func(string) bool) {
		for intent := range r.All() {
			if !yield(intent) {
				return
			}
		}
	}
}
