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
// Intents are compared without ASCII case. So are the names of types when they
// are registered, but policies must spell them exactly. A registry is safe for
// concurrent use.
//
// [NewRegistry] returns one with the presets. The zero Registry is ready to use;
// it has no policies and no custom strategies.
type Registry struct {
	mu       sync.RWMutex
	policies map[string]registered            // by folded intent; presets by folded name as well
	types    map[string][]strategy.Descriptor // custom ones, by role
}

// registered is a policy and the intent as it was spelled.
type registered struct {
	intent string
	policy Policy
}

// NewRegistry returns a registry with the presets, under the intents "chat",
// "code-review", "rag", "document-qa", "tool-use", "long-running" and
// "debugging". [Registry.Lookup] also finds them by their names, such as
// "CodeReview", so those names are taken.
func NewRegistry() *Registry {
	r := &Registry{policies: make(map[string]registered)}
	for _, preset := range []registered{
		{"chat", Chat()},
		{"code-review", CodeReview()},
		{"rag", Rag()},
		{"document-qa", DocumentQa()},
		{"tool-use", ToolUse()},
		{"long-running", LongRunning()},
		{"debugging", Debugging()},
	} {
		r.policies[preset.intent] = preset
		r.policies[ascii.Lower(preset.policy.Name)] = preset
	}
	return r
}

// Register adds a copy of a policy under an intent. It fails with a
// [ValidationError] when the policy is not valid in this registry, and with a
// [cupel.InvalidConfigError] when the intent is blank or taken, compared without
// ASCII case. It never replaces a policy.
func (r *Registry) Register(intent string, p Policy) error {
	if strings.TrimSpace(intent) == "" {
		return invalid("intent", intent, "intent must not be blank")
	}
	if err := p.Validate(r); err != nil {
		return err
	}
	p = clone(p)
	r.mu.Lock()
	defer r.mu.Unlock()
	folded := ascii.Lower(intent)
	if earlier, twice := r.policies[folded]; twice {
		if folded != ascii.Lower(earlier.intent) {
			return invalid("intent", intent, fmt.Sprintf("intent is taken: it is the name of the preset %q", earlier.intent))
		}
		return invalid("intent", intent, fmt.Sprintf("intent is registered already as %q; intents are case-insensitive", strategy.Shorten(earlier.intent)))
	}
	if r.policies == nil {
		r.policies = make(map[string]registered)
	}
	r.policies[folded] = registered{intent, p}
	return nil
}

// Lookup returns a copy of the policy registered under an intent, or of the
// preset with that name. It fails with a [cupel.InvalidConfigError] that lists
// the known intents.
func (r *Registry) Lookup(intent string) (Policy, error) {
	r.mu.RLock()
	found, ok := r.policies[ascii.Lower(intent)]
	r.mu.RUnlock()
	if !ok {
		var known []string
		for name := range r.All() {
			known = append(known, name)
		}
		return Policy{}, invalid("intent", intent, "intent "+isUnknown(known))
	}
	return clone(found.policy), nil
}

// All returns an iterator over the intents, spelled as they were registered, and
// copies of their policies. It sorts them by intent, without ASCII case, and may
// miss policies that are registered while it runs.
func (r *Registry) All() iter.Seq2[string, Policy] {
	return func(yield func(string, Policy) bool) {
		r.mu.RLock()
		snapshot := maps.Clone(r.policies)
		r.mu.RUnlock()
		for _, folded := range slices.Sorted(maps.Keys(snapshot)) {
			found := snapshot[folded]
			if folded != ascii.Lower(found.intent) {
				continue // the name of a preset, which is listed by its intent
			}
			if !yield(found.intent, clone(found.policy)) {
				return
			}
		}
	}
}

// RegisterScorer registers a factory under a name that policies then use as the
// type of a [Strategy]. It fails with a [cupel.InvalidConfigError] when build is
// nil, when the name is empty or has characters other than letters, digits and
// ".", "-", "_" and "/", and when a built-in scorer or another factory has the
// name, compared without ASCII case.
func (r *Registry) RegisterScorer(name string, build Factory[cupel.Scorer]) error {
	return register(r, scorers, name, build)
}

// RegisterSlicer registers a factory under a name that policies then use as the
// type of a [Strategy]. It fails as [Registry.RegisterScorer] does.
func (r *Registry) RegisterSlicer(name string, build Factory[cupel.Slicer]) error {
	return register(r, slicers, name, build)
}

// RegisterPlacer registers a factory under a name that policies then use as the
// type of a [Strategy]. It fails as [Registry.RegisterScorer] does.
func (r *Registry) RegisterPlacer(name string, build Factory[cupel.Placer]) error {
	return register(r, placers, name, build)
}

func register[S any](r *Registry, to *role, name string, build Factory[S]) error {
	if !isName(name) {
		return invalid(to.name, name, `the name of a type must not be empty, and may contain only letters, digits, ".", "-", "_" and "/"`)
	}
	if build == nil {
		return invalid(to.name, name, "the factory must not be nil")
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, taken := range slices.Concat(to.types, r.types[to.name]) {
		if ascii.EqualFold(taken.Name, name) {
			return invalid(to.name, name, fmt.Sprintf("the name is taken by the %s %q; registered names are case-insensitive", to.name, taken.Name))
		}
	}
	if r.types == nil {
		r.types = make(map[string][]strategy.Descriptor)
	}
	r.types[to.name] = append(r.types[to.name], described(to.name, name, build))
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

// custom returns the custom types of a role; a nil registry has none.
func (r *Registry) custom(role string) []strategy.Descriptor {
	if r == nil {
		return nil
	}
	r.mu.RLock()
	defer r.mu.RUnlock()
	return r.types[role] // which grows, but does not change
}
