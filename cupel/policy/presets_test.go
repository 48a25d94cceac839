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
)

// TestPresets looks up each preset by its intents. The examples have what they say.
func TestPresets(t *testing.T) {
	presets := []struct {
		intent string
		preset func() policy.Policy
		name   string
	}{
		{"chat", policy.Chat, "Chat"},
		{"code-review", policy.CodeReview, "CodeReview"},
		{"debugging", policy.Debugging, "Debugging"},
		{"document-qa", policy.DocumentQA, "DocumentQa"},
		{"long-running", policy.LongRunning, "LongRunning"},
		{"rag", policy.RAG, "Rag"},
		{"tool-use", policy.ToolUse, "ToolUse"},
	}
	registry := policy.NewRegistry()
	var intents []string
	for _, tt := range presets {
		p := tt.preset()
		if p.Name != tt.name || p.Description == "" {
			t.Errorf("the preset of %s is called %q: %q", tt.intent, p.Name, p.Description)
		}
		for _, spelled := range []string{tt.intent, strings.ToUpper(tt.intent), tt.name, strings.ToLower(tt.name)} {
			if registered, err := registry.Lookup(spelled); err != nil || !reflect.DeepEqual(registered, p) {
				t.Errorf("the registry has %+v, %v for %q", registered, err, spelled)
			}
		}
		if err := p.Validate(nil); err != nil {
			t.Error(err)
		}
		intents = append(intents, tt.intent)
	}
	if got := slices.Collect(keysOf(registry)); !slices.Equal(got, intents) {
		t.Errorf("a new registry has %q, want %q", got, intents)
	}
}

// TestConfigByHand compares what a policy builds with what it says.
func TestConfigByHand(t *testing.T) {
	want := pipeline.Config{
		Scorer: scorer.Must(scorer.NewComposite(
			scorer.Weighted{Scorer: scorer.Kind{}, Weight: 2}, scorer.Weighted{Scorer: scorer.Reflexive{}, Weight: 2}, scorer.Weighted{Scorer: scorer.Priority{}, Weight: 1})),
		Slicer:         slicer.Must(slicer.NewKnapsack(slicer.WithBucketSize(100))),
		Placer:         placer.UShaped{},
		Name:           "DocumentQa",
		KeepDuplicates: true,
		NearDuplicates: 0.5,
		Overflow:       pipeline.OverflowTruncate,
	}
	p := policy.DocumentQA()
	p.KeepDuplicates, p.NearDuplicates, p.Overflow = true, 0.5, pipeline.OverflowTruncate
	got, err := p.Config(policy.Environment{})
	got.PolicyHash = ""
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("built %+v, %v, want %+v", got, err, want)
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
