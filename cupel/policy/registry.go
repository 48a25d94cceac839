package policy

import (
	"fmt"
	"iter"
	"maps"
	"slices"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupel/internal/ascii"
	"github.com/wollax/cupel-go/cupel/strategy"
)

// Registry finds policies by intent, and strategies by the name of their type.
// Intents are compared without ASCII case and hyphens, so that the names of the
// presets, such as "CodeReview", are intents as well. Names of types are compared
// without ASCII case when they are registered, but policies must spell them exactly.
// A registry is safe for concurrent use.
//
// [NewRegistry] returns one with the presets. The zero Registry is ready to use;
// it has no policies and no registered types.
type Registry struct {
	mu       sync.RWMutex
	policies map[string]registered           // by folded intent
	types    map[*role][]strategy.Descriptor // registered ones
}

// registered makes copies of a policy, under the intent as it was spelled.
type registered struct {
	intent string
	policy func() Policy
}

// folded returns what equal intents share.
func folded(intent string) string { return ascii.Lower(strings.ReplaceAll(intent, "-", "")) }

// NewRegistry returns a registry with the presets, under the intents "chat",
// "code-review", "rag", "document-qa", "tool-use", "long-running" and
// "debugging".
func NewRegistry() *Registry {
	r := &Registry{policies: make(map[string]registered)}
	for _, preset := range []registered{
		{"chat", Chat},
		{"code-review", CodeReview},
		{"rag", RAG},
		{"document-qa", DocumentQA},
		{"tool-use", ToolUse},
		{"long-running", LongRunning},
		{"debugging", Debugging},
	} {
		r.policies[folded(preset.intent)] = preset
	}
	return r
}

// Register adds a policy under an intent, and keeps the JSON that
// [Policy.MarshalJSON] writes. It fails with a [ValidationError] when the policy is
// not valid in this registry, with a [cupel.EncodeError] when it cannot be written,
// and with a [cupel.InvalidConfigError] when the intent is blank or taken, compared
// without ASCII case and hyphens. It never replaces a policy.
func (r *Registry) Register(intent string, p Policy) error {
	if strings.TrimSpace(intent) == "" {
		return invalid("intent", intent, "intent must not be blank")
	}
	if err := p.Validate(r); err != nil {
		return err
	}
	text, err := p.MarshalJSON()
	if err != nil {
		return err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if earlier, twice := r.policies[folded(intent)]; twice {
		return invalid("intent", intent, fmt.Sprintf("intent is registered already as %q; intents are case-insensitive", strategy.Shorten(earlier.intent)))
	}
	if r.policies == nil {
		r.policies = make(map[string]registered)
	}
	r.policies[folded(intent)] = registered{intent, func() Policy {
		p, _ := Decode(r, text) // it was valid, and types stay
		return p
	}}
	return nil
}

// Lookup returns the policy registered under an intent, as [Decode] reads it. It fails with a
// [cupel.InvalidConfigError] that lists the known intents.
func (r *Registry) Lookup(intent string) (Policy, error) {
	r.mu.RLock()
	found, ok := r.policies[folded(intent)]
	r.mu.RUnlock()
	if !ok {
		var known []string
		for name := range r.All() {
			known = append(known, name)
		}
		return Policy{}, invalid("intent", intent, "intent "+isUnknown(known))
	}
	return found.policy(), nil
}

// All returns an iterator over the intents, spelled as they were registered, and
// copies of their policies. It sorts them as it compares them, and may miss
// policies that are registered while it runs.
func (r *Registry) All() iter.Seq2[string, Policy] {
	return func(yield func(string, Policy) bool) {
		r.mu.RLock()
		snapshot := maps.Clone(r.policies)
		r.mu.RUnlock()
		for _, key := range slices.Sorted(maps.Keys(snapshot)) {
			found := snapshot[key]
			if !yield(found.intent, found.policy()) {
				return
			}
		}
	}
}

// RegisterScorer makes a type of scorers of your own available to policies.
// They read, validate and write its settings like the settings of built-in types.
// Do not change the descriptor afterwards.
//
// Before Build runs, the names and types of the settings are checked, and the presence
// of required ones; faulty settings are reported and absent from [strategy.Args]. Build
// checks the values and reports mistakes with [strategy.Problems], whose paths are
// relative to the strategy; the range of a [strategy.Field] documents the values that
// Build allows. Build runs whenever a policy is
// read, validated or built, possibly in several goroutines at once, and with a stopped
// clock unless the policy is built; it should only check and build. A panic becomes a
// problem of the policy, and so does a result that is nil or fails
// [strategy.ValidateScorer].
//
// Component and Settings are optional. RegisterScorer fails with a
// [cupel.InvalidConfigError] when Build is nil; when the name is empty or has
// characters other than letters, digits and ".", "-", "_" and "/"; when a built-in or
// registered scorer has the name, compared without ASCII case; and when a field cannot
// be used, for example because two have the same name.
func (r *Registry) RegisterScorer(d strategy.Descriptor) error { return r.register(scorers, d) }

// RegisterSlicer makes a type of slicers of your own available to policies, as
// [Registry.RegisterScorer] does for scorers.
func (r *Registry) RegisterSlicer(d strategy.Descriptor) error { return r.register(slicers, d) }

// RegisterPlacer makes a type of placers of your own available to policies, as
// [Registry.RegisterScorer] does for scorers.
func (r *Registry) RegisterPlacer(d strategy.Descriptor) error { return r.register(placers, d) }

// Descriptors returns the descriptions of the scorers, slicers and placers that
// policies may use: the built-in ones, followed by the registered ones. A nil
// registry has no registered ones.
func (r *Registry) Descriptors() (scorerTypes, slicerTypes, placerTypes []strategy.Descriptor) {
	return scorers.all(r), slicers.all(r), placers.all(r)
}

func (r *Registry) register(to *role, d strategy.Descriptor) error {
	if !isName(d.Name) {
		return invalid(to.name, d.Name, `the name of a type must not be empty, and may contain only letters, digits, ".", "-", "_" and "/"`)
	}
	if d.Build == nil {
		return invalid(to.name, d.Name, "Build must not be nil")
	}
	if err := checkFields(d.Fields); err != nil {
		return invalid(to.name, d.Name, err.Error())
	}
	if d.Settings == nil {
		d.Settings = func(any) (map[string]any, bool) { return nil, false }
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, taken := range slices.Concat(to.types, r.types[to]) {
		if ascii.EqualFold(taken.Name, d.Name) {
			return invalid(to.name, d.Name, fmt.Sprintf("the name is taken by the %s %q; registered names are case-insensitive", to.name, taken.Name))
		}
	}
	if r.types == nil {
		r.types = make(map[*role][]strategy.Descriptor)
	}
	r.types[to] = append(r.types[to], d)
	return nil
}

// isName reports whether s can be the name of a type.
func isName(s string) bool {
	for _, c := range s {
		if !unicode.IsLetter(c) && !unicode.IsDigit(c) && !strings.ContainsRune(".-_/", c) {
			return false
		}
	}
	return s != "" && utf8.ValidString(s)
}

func invalid(setting, value, reason string) error {
	return &cupel.InvalidConfigError{Component: "Registry", Field: setting, Value: fmt.Sprintf("%q", strategy.Shorten(value)), Reason: reason}
}
