package policy_test

import (
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupel/policy"
	"github.com/wollax/cupel-go/cupel/strategy"
)

func TestLookup(t *testing.T) {
	r := policy.NewRegistry()
	const known = "chat, code-review, debugging, document-qa, long-running, rag, tool-use"
	for _, intent := range []string{"", "code_review", "code review", " chat", strings.Repeat("x", 1000)} {
		_, err := r.Lookup(intent)
		var invalid *cupel.InvalidConfigError
		if !errors.As(err, &invalid) || !errors.Is(err, cupel.ErrInvalidConfig) || invalid.Reason != "intent is unknown; want one of "+known || len(err.Error()) > 300 {
			t.Errorf("%q gives %v", intent, err)
		}
	}
	if err := r.Register("kelvin", policy.Chat()); err != nil {
		t.Fatal(err)
	}
	if _, err := r.Lookup("\u212aelvin"); err == nil {
		t.Error("the Kelvin sign is a K to Unicode, and none to ASCII")
	}
	var empty policy.Registry
	if _, err := empty.Lookup("chat"); err == nil || err.Error() != `cupel: intent is unknown; no names are defined here (Registry, intent = "chat")` {
		t.Errorf("the zero registry gives %v", err)
	}
}

func TestRegister(t *testing.T) {
	r := policy.NewRegistry()
	tests := []struct {
		intent, want, why string
	}{
		{"", `cupel: intent must not be blank (Registry, intent = "")`, "a blank name cannot be looked up"},
		{" \t", `cupel: intent must not be blank (Registry, intent = " \t")`, "a blank name cannot be looked up"},
		{"CHAT", `cupel: intent is registered already as "chat"; intents are case-insensitive (Registry, intent = "CHAT")`, "nor under another casing"},
		{"Summary", "", "a new intent"},
		{"summary", `cupel: intent is registered already as "Summary"; intents are case-insensitive (Registry, intent = "summary")`, "nor are others"},
		{"Ünder", "", "not only ASCII"},
		{"ünder", "", "letters beyond ASCII have their casing"},
	}
	for _, tt := range tests {
		err := r.Register(tt.intent, policy.Chat())
		if (err == nil) != (tt.want == "") || err != nil && (err.Error() != tt.want || !errors.Is(err, cupel.ErrInvalidConfig)) {
			t.Errorf("%q gives %v, want %q: %s", tt.intent, err, tt.want, tt.why)
		}
	}
	want := []string{"chat", "code-review", "debugging", "document-qa", "long-running", "rag", "Summary", "tool-use", "Ünder", "ünder"}
	if got := slices.Collect(keysOf(r)); !slices.Equal(got, want) {
		t.Errorf("intents are %q, want %q: as they were registered, in folded order", got, want)
	}
	for intent := range r.All() { // an iterator that is left early
		if intent != "chat" {
			t.Errorf("the first is %s", intent)
		}
		break
	}
	if err := r.Register("broken", policy.Policy{}); problemsOf(t, err) == "" {
		t.Error("a broken policy is registered")
	}
}

// TestRegistryCopies changes a policy after it was registered and after it was
// looked up.
func TestRegistryCopies(t *testing.T) {
	registry := customRegistry(t)
	for _, whole := range []func() policy.Policy{complete, customPolicy} {
		given := whole()
		intent := "own " + given.Name
		if err := registry.Register(intent, given); err != nil {
			t.Fatal(err)
		}
		given.Scorers[0].Weight, given.Scorers[1].Scorer.Type = 99, "priority"
		for range 2 {
			got, err := registry.Lookup(strings.ToUpper(intent))
			if err != nil || !reflect.DeepEqual(got, whole()) {
				t.Fatalf("the registry has %+v, %v", got, err)
			}
			got.Scorers[0].Weight = 99
			maps.Collect(registry.All())[intent].Scorers[0].Weight = 99
		}
	}
}

// named returns a descriptor with another name.
func named(d strategy.Descriptor, name string) strategy.Descriptor {
	d.Name = name
	return d
}

func TestRegisterTypes(t *testing.T) {
	r := customRegistry(t)
	const charset = `the name of a type must not be empty, and may contain only letters, digits, ".", "-", "_" and "/"`
	tests := []struct{ name, want, why string }{
		{"", charset, "no name"},
		{"a b", charset, "messages list names"},
		{"a\xff", charset, "JSON holds names"},
		{"RECENCY", `the name is taken by the scorer "recency"; registered names are case-insensitive`, "nor under another casing"},
		{"Longest", `the name is taken by the scorer "longest"; registered names are case-insensitive`, "a registered type is not replaced"},
		{"greedy", "", "a slicer's name is free for a scorer"},
		{"example.com/Ähnlich_2-x", "", "names may be paths"},
	}
	for _, tt := range tests {
		err := r.RegisterScorer(named(longestType(), tt.name))
		var invalid *cupel.InvalidConfigError
		if tt.want == "" != (err == nil) || err != nil && (!errors.As(err, &invalid) || invalid.Reason != tt.want || invalid.Field != "scorer") {
			t.Errorf("%q gives %v, want %q: %s", tt.name, err, tt.want, tt.why)
		}
	}
	var invalid *cupel.InvalidConfigError
	if err := r.RegisterScorer(strategy.Descriptor{Name: "nil"}); !errors.As(err, &invalid) || invalid.Reason != "Build must not be nil" {
		t.Errorf("a nil Build gives %v", err)
	}
	for what, err := range map[string]error{
		"slicer": r.RegisterSlicer(named(firstOfType(), "Quota")), "placer": r.RegisterPlacer(named(backwardsType(), "ushaped")),
	} {
		if !errors.As(err, &invalid) || invalid.Field != what || !strings.Contains(invalid.Reason, "is taken") {
			t.Errorf("a built-in %s gives %v", what, err)
		}
	}
	var zero policy.Registry
	if err := zero.RegisterScorer(longestType()); err != nil {
		t.Errorf("the zero registry is not ready: %v", err)
	}
	if err := zero.Register("x", with(of("longest", settings{"settings": settings{"max": 1}}))); err != nil {
		t.Errorf("the zero registry is not ready: %v", err)
	}
}

// TestRegistryConcurrently is for the race detector.
func TestRegistryConcurrently(t *testing.T) {
	r := customRegistry(t)
	var wg sync.WaitGroup
	var registered atomic.Int64
	for range 4 {
		wg.Add(1)
		go func() {
			defer wg.Done()
			for i := range 10 {
				_ = r.RegisterScorer(named(longestType(), fmt.Sprint("type", i)))
				if r.Register(fmt.Sprint("intent ", i), customPolicy()) == nil {
					registered.Add(1)
				}
				for intent, p := range r.All() {
					if _, err := p.Pipeline(policy.Environment{Registry: r}); err != nil {
						t.Errorf("%s: %v", intent, err)
					}
				}
			}
		}()
	}
	wg.Wait()
	if n := registered.Load(); n != 10 {
		t.Errorf("10 intents were registered %d times", n)
	}
}
