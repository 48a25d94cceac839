package policy_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupel/internal/compat"
	"github.com/wollax/cupel-go/cupel/policy"
	"github.com/wollax/cupel-go/cupel/scorer"
)

func TestLookup(t *testing.T) {
	r := policy.NewRegistry()
	for _, intent := range []string{"code-review", "CODE-REVIEW", "Code-Review", "CodeReview", "codereview"} {
		if p, err := r.Lookup(intent); err != nil || p.Name != "CodeReview" {
			t.Errorf("%s leads to %q, %v", intent, p.Name, err)
		}
	}
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
		{"chat", `cupel: intent is registered already as "chat"; intents are case-insensitive (Registry, intent = "chat")`, "presets are not replaced"},
		{"CHAT", `cupel: intent is registered already as "chat"; intents are case-insensitive (Registry, intent = "CHAT")`, "nor under another casing"},
		{"codeREVIEW", `cupel: intent is taken: it is the name of the preset "code-review" (Registry, intent = "codeREVIEW")`, "nor under their names"},
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

// TestRegistryCopies changes everything that a policy is made of, after it was
// registered and after it was looked up.
func TestRegistryCopies(t *testing.T) {
	registry := customRegistry(t)
	whole := func() policy.Policy {
		p := complete()
		p.Scorers = append(p.Scorers, customPolicy().Scorers...)
		p.Slicer = of("firstOf", settings{"settings": json.RawMessage(`{"a":1}`), "children": []policy.Strategy{
			p.Slicer, of("knapsack", settings{"bucketSize": 5, "topUp": true, "memoryLimit": 6}), of("scoreGreedy"),
			of("countConstrainedKnapsack", settings{"bucketSize": 7, "entries": []settings{{"kind": "a", "capCount": 8}}}),
		}})
		p.Scorers = append(p.Scorers, policy.Weighted{Scorer: of("kind", settings{"weights": map[cupel.ContextKind]float64{cupel.KindMemory: 1}}), Weight: 1})
		p.Placer = customPolicy().Placer
		return p
	}
	given := whole()
	if err := registry.Register("all", given); err != nil {
		t.Fatal(err)
	}
	spoil(t, reflect.ValueOf(&given).Elem())
	if reflect.DeepEqual(given, whole()) {
		t.Fatal("nothing was spoilt")
	}
	for range 2 {
		got, err := registry.Lookup("ALL")
		if err != nil || !reflect.DeepEqual(got, whole()) {
			t.Fatalf("the registry has %+v, %v", got, err)
		}
		spoil(t, reflect.ValueOf(&got).Elem())
		listed := maps.Collect(registry.All())["all"]
		spoil(t, reflect.ValueOf(&listed).Elem())
	}
}

// spoil changes everything that can be reached through slices, maps and pointers.
func spoil(t *testing.T, v reflect.Value) {
	t.Helper()
	switch v.Kind() {
	case reflect.Interface, reflect.Pointer:
		if !v.IsNil() {
			spoil(t, v.Elem())
			if v.Kind() == reflect.Pointer {
				v.Elem().SetZero()
			}
		}
	case reflect.Struct:
		for i := range v.NumField() {
			spoil(t, v.Field(i))
		}
	case reflect.Slice:
		for i := range v.Len() {
			spoil(t, v.Index(i))
			v.Index(i).SetZero()
		}
	case reflect.Map:
		v.Clear()
	default: // numbers and strings are changed where they stand
	}
}

func TestRegisterTypes(t *testing.T) {
	r := customRegistry(t)
	never := func(policy.Args[cupel.Scorer]) (cupel.Scorer, error) { return scorer.Recency{}, nil }
	const charset = `the name of a type must not be empty, and may contain only letters, digits, ".", "-", "_" and "/"`
	tests := []struct{ name, want, why string }{
		{"", charset, "no name"},
		{"a b", charset, "messages list names"},
		{"a\xff", charset, "JSON holds names"},
		{"recency", `the name is taken by the scorer "recency"; registered names are case-insensitive`, "built-in types stay what they are"},
		{"RECENCY", `the name is taken by the scorer "recency"; registered names are case-insensitive`, "nor under another casing"},
		{"Longest", `the name is taken by the scorer "longest"; registered names are case-insensitive`, "a factory is not replaced"},
		{"greedy", "", "a slicer's name is free for a scorer"},
		{"example.com/Ähnlich_2-x", "", "names may be paths"},
	}
	for _, tt := range tests {
		err := r.RegisterScorer(tt.name, never)
		var invalid *cupel.InvalidConfigError
		if tt.want == "" != (err == nil) || err != nil && (!errors.As(err, &invalid) || invalid.Reason != tt.want || invalid.Field != "scorer") {
			t.Errorf("%q gives %v, want %q: %s", tt.name, err, tt.want, tt.why)
		}
	}
	for what, err := range map[string]error{
		"scorer": r.RegisterScorer("nil", nil), "slicer": r.RegisterSlicer("nil", nil), "placer": r.RegisterPlacer("nil", nil),
	} {
		var invalid *cupel.InvalidConfigError
		if !errors.As(err, &invalid) || invalid.Field != what || invalid.Reason != "the factory must not be nil" {
			t.Errorf("a nil factory gives %v", err)
		}
	}
	for what, err := range map[string]error{
		"slicer": r.RegisterSlicer("Quota", newFirstOf), "placer": r.RegisterPlacer("ushaped", newBackwards),
	} {
		var invalid *cupel.InvalidConfigError
		if !errors.As(err, &invalid) || invalid.Field != what || !strings.Contains(invalid.Reason, "is taken") {
			t.Errorf("a built-in %s gives %v", what, err)
		}
	}
	var zero policy.Registry
	if err := zero.RegisterScorer("longest", newLongest); err != nil {
		t.Errorf("the zero registry is not ready: %v", err)
	}
	if err := zero.Register("x", with(of("longest", settings{"settings": json.RawMessage(`{"max":1}`)}))); err != nil {
		t.Errorf("the zero registry is not ready: %v", err)
	}
}

// TestCustomPolicyRuns compares a policy of custom strategies with the same
// made by hand.
func TestCustomPolicyRuns(t *testing.T) {
	all := items(t)
	built, err := customPolicy().Pipeline(policy.Environment{Registry: customRegistry(t)})
	if err != nil {
		t.Fatal(err)
	}
	chat, err := plainSlicer(of("knapsack")).Config(policy.Environment{})
	if err != nil {
		t.Fatal(err)
	}
	uShaped, err := policy.Rag().Config(policy.Environment{})
	if err != nil {
		t.Fatal(err)
	}
	byHand := pipeline(t, cupel.Config{
		Scorer: scorer.Must(scorer.NewComposite(
			scorer.Weighted{Scorer: longest{6}, Weight: 2},
			scorer.Weighted{Scorer: halved{scorer.Must(scorer.NewScaled(halved{scorer.Reflexive{}}))}, Weight: 1})),
		Slicer: chat.Slicer,
		Placer: uShaped.Placer, // turned around twice
	})
	if got, want := report(t, built, all), report(t, byHand, all); got != want {
		t.Errorf("the policy reports\n%s\nby hand it is\n%s", got, want)
	}
}

// clocked shows the clock that its factory was given.
type clocked struct {
	scorer.Recency
	clock func() time.Time
}

func TestFactories(t *testing.T) {
	boom := errors.New("boom")
	var got policy.Args[cupel.Scorer]
	factories := map[string]policy.Factory[cupel.Scorer]{
		"fails":       func(policy.Args[cupel.Scorer]) (cupel.Scorer, error) { return nil, boom },
		"panics":      func(policy.Args[cupel.Scorer]) (cupel.Scorer, error) { panic("no") },
		"panicsError": func(policy.Args[cupel.Scorer]) (cupel.Scorer, error) { panic(boom) },
		"nothing":     func(policy.Args[cupel.Scorer]) (cupel.Scorer, error) { return nil, nil },
		"nilPointer":  func(policy.Args[cupel.Scorer]) (cupel.Scorer, error) { return (*scorer.Scaled)(nil), nil },
		"nilError":    func(policy.Args[cupel.Scorer]) (cupel.Scorer, error) { return nil, (*policy.ValidationError)(nil) },
		"noProblem":   func(policy.Args[cupel.Scorer]) (cupel.Scorer, error) { return nil, &policy.ValidationError{} },
		"invalid":     func(policy.Args[cupel.Scorer]) (cupel.Scorer, error) { return &scorer.Composite{}, nil },
		"config": func(policy.Args[cupel.Scorer]) (cupel.Scorer, error) {
			return scorer.NewMetadataTrust(3)
		},
		"several": func(policy.Args[cupel.Scorer]) (cupel.Scorer, error) {
			return nil, fmt.Errorf("wrapped: %w", policy.Invalid(policy.Problem{Path: "[0].a", Reason: "is bad"}, policy.Problem{Reason: "is odd"}, policy.Problem{Path: "b", Reason: "is sad", Err: boom}))
		},
		"fine": func(args policy.Args[cupel.Scorer]) (cupel.Scorer, error) {
			got = args
			return clocked{clock: args.Clock}, nil
		},
	}
	r := policy.NewRegistry()
	for name, build := range factories {
		if err := r.RegisterScorer(name, build); err != nil {
			t.Fatal(err)
		}
	}
	tests := []struct{ name, want, why string }{
		{"fails", "scorers[0]: boom", "what the factory says"},
		{"panics", "scorers[0]: the factory panicked: no", "a factory cannot end the program by a panic"},
		{"panicsError", "scorers[0]: the factory panicked: boom", "the same"},
		{"nothing", `scorers[0]: the factory of "nothing" returned no scorer`, "no error and no scorer"},
		{"nilPointer", `scorers[0]: the factory of "nilPointer" returned no scorer`, "it looks like a scorer, but is nil"},
		{"nilError", "scorers[0]: the factory failed with a nil *policy.ValidationError", "it looks like an error, but is nil"},
		{"noProblem", "scorers[0]: cupel: invalid policy: 0 problems", "an error is an error"},
		{"invalid", "scorers[0]: At least one scorer entry is required", "scorers validate themselves"},
		{"config", "scorers[0]: defaultScore must be in [0.0, 1.0], got 3", "a constructor's own words"},
		{"several", "scorers[0].settings: is odd\nscorers[0].settings.b: is sad\nscorers[0].settings[0].a: is bad", "paths become whole"},
	}
	for _, tt := range tests {
		err := with(of(tt.name)).Validate(r)
		if got := problemsOf(t, err); got != tt.want {
			t.Errorf("%s gives\n%s\nwant\n%s\n%s", tt.name, got, tt.want, tt.why)
		}
		if strings.Contains(tt.want, "boom") && !errors.Is(err, boom) {
			t.Errorf("%v does not wrap what the factory gave", err)
		}
	}

	settings := json.RawMessage(`{"a":1}`)
	p := with(of("fine", policy.Settings{"settings": settings, "children": []policy.Strategy{of("recency"), of("kind")}}))
	config, err := p.Config(policy.Environment{Registry: r, Clock: atNoon})
	if err != nil {
		t.Fatal(err)
	}
	if string(got.Settings) != `{"a":1}` || len(got.Children) != 2 || reflect.TypeOf(got.Children[1]) != reflect.TypeFor[*scorer.Kind]() {
		t.Errorf("the factory was given %+v", got)
	}
	if now := config.Scorer.(clocked).clock(); now != noon {
		t.Errorf("the clock says %s", now)
	}
	got.Settings[1] = 'X'
	if string(settings) != `{"a":1}` {
		t.Error("a factory can change the policy")
	}
	if _, err := p.Config(policy.Environment{Registry: r}); err != nil || got.Clock != nil {
		t.Errorf("without a clock a factory gets none; %v", err)
	}
	if err := p.Validate(r); err != nil || got.Clock == nil || !got.Clock().IsZero() {
		t.Errorf("while it is validated, the clock stands still; %v", err)
	}
}

// refusing is a placer that is never valid.
type refusing struct{ backwards }

func (refusing) Validate() error { return errors.New("never") }

func TestCustomPlacersAreValidated(t *testing.T) {
	var r policy.Registry
	if err := r.RegisterPlacer("refusing", func(policy.Args[cupel.Placer]) (cupel.Placer, error) { return refusing{}, nil }); err != nil {
		t.Fatal(err)
	}
	err := withPlacer(of("refusing")).Validate(&r)
	if got, want := problemsOf(t, err), "placer: placer is not valid: never"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestDecodeSettings(t *testing.T) {
	type inner struct {
		Deep int `json:"deep"`
	}
	type Shared struct {
		Number int `json:"shared"`
	}
	type settings struct {
		Name   string `json:"name,omitempty"`
		Count  *int
		List   []inner           `json:"list"`
		ByName map[string]*inner `json:"byName"`
		At     time.Time         `json:"at"`
		Shared
		Hidden  string `json:"-"`
		private int
	}
	_ = settings{private: 1}
	tests := []struct {
		name, text string
		want       settings
		problems   string
		why        string
	}{
		{"absent", "", settings{}, "", "no settings are the zero ones"},
		{"empty", "{}", settings{}, "", "so are empty ones"},
		{"all", `{"name":"a","Count":0,"list":[{"deep":1}]}`, settings{Name: "a", Count: compat.New(0), List: []inner{{1}}}, "", "0 is not absent"},
		{"unknown", `{"Name":"a","count":1,"Hidden":"","private":1,"list":[]}`, settings{}, `
			Hidden: is unknown; want one of name, Count, list, byName, at, shared
			Name: is unknown; want one of name, Count, list, byName, at, shared
			count: is unknown; want one of name, Count, list, byName, at, shared
			private: is unknown; want one of name, Count, list, byName, at, shared`, "names are exact, as encoding/json's are not"},
		{"types", `{"name":1,"Count":1.5,"list":[{"deep":"x"}]}`, settings{}, `
			Count: must be int, got a JSON number 1.5
			list.deep: must be int, got a JSON string
			name: must be string, got a JSON number`, "every mistake, each with its path"},
		{"unknown below", `{"list":[{"deep":1},{"depth":1}]}`, settings{}, `list[1].depth: is unknown; want one of deep`, "it lists the names known there"},
		{"exact below", `{"name":1,"list":[{"Deep":1}],"byName":{"a b":{"x":1}}}`, settings{}, `
			byName["a b"].x: is unknown; want one of deep
			list[0].Deep: is unknown; want one of deep
			name: must be string, got a JSON number`, "names are exact at any depth, and hide no other mistake"},
		{"embedded", `{"shared":2}`, settings{Shared: Shared{2}}, "", "fields of embedded structs are fields"},
		{"own reading", `{"at":"2026-01-02T03:04:05Z"}`, settings{At: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)}, "", "a time is no struct to JSON"},
		{"twice", `{"name":"a","name":"b"}`, settings{}, `policy: has the name "name" twice`, "only one could be kept"},
		{"no object", `[1]`, settings{}, `policy: must be an object, got an array`, "settings have names"},
		{"malformed", `{`, settings{}, `policy: is malformed: unexpected end of JSON input at byte 1`, "no JSON"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var raw json.RawMessage
			if tt.text != "" {
				raw = json.RawMessage(tt.text)
			}
			got, err := policy.DecodeSettings[settings](raw)
			if problems := problemsOf(t, err); problems != lines(tt.problems) || !reflect.DeepEqual(got, tt.want) {
				t.Errorf("got %+v, problems:\n%s\nwant %+v, problems:\n%s\n%s", got, problems, tt.want, lines(tt.problems), tt.why)
			}
		})
	}
	if got, err := policy.DecodeSettings[map[string]int](json.RawMessage(`{"a":1,"b c":2}`)); err != nil || !maps.Equal(got, map[string]int{"a": 1, "b c": 2}) {
		t.Errorf("got %v, %v", got, err)
	}
}

// The names that an error lists are those that encoding/json reads.
func TestDecodeSettingsOfEmbedded(t *testing.T) {
	type Promoted struct{ A, B int }
	type Named struct{ C int }
	type Text string
	type embedding struct {
		*Promoted
		Named `json:"named"`
		Text
		B int
	}
	const known = ": is unknown; want one of A, named, Text, B"
	for _, tt := range []struct{ name, text, problems, why string }{
		{"promoted", `{"A":1}`, "", "fields of an embedded pointer are fields"},
		{"named", `{"named":{"C":1}}`, "", "an embedded struct with a name is one field"},
		{"embedded text", `{"Text":"x"}`, "", "what is not a struct has no fields to promote"},
		{"the field of a named one", `{"C":1}`, "C", "it is inside named"},
		{"the name of a promoted one", `{"Promoted":{}}`, "Promoted", "its fields stand for it"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			want := tt.problems
			if want != "" {
				want += known
			}
			got, err := policy.DecodeSettings[embedding](json.RawMessage(tt.text))
			if problems := problemsOf(t, err); problems != want {
				t.Errorf("got %+v, problems %q, want %q: %s", got, problems, want, tt.why)
			}
		})
	}
}

func TestRegistryConcurrently(t *testing.T) {
	r := customRegistry(t)
	var wg sync.WaitGroup
	registered := make([]int, 8)
	for worker := range registered {
		wg.Add(1)
		go func() {
			defer wg.Done()
			for i := range 40 {
				if r.Register(fmt.Sprint("intent ", i), customPolicy()) == nil {
					registered[worker]++
				}
				_ = r.RegisterScorer(fmt.Sprint("type", i), newLongest)
				_ = r.RegisterSlicer(fmt.Sprint("type", i), newFirstOf)
				_ = r.RegisterPlacer(fmt.Sprint("type", i), newBackwards)
				p, err := r.Lookup("RAG")
				if err != nil {
					t.Error(err)
				}
				p.Scorers[0].Weight = float64(i + 1)
				for intent, p := range r.All() {
					if _, err := p.Pipeline(policy.Environment{Registry: r}); err != nil {
						t.Errorf("%s: %v", intent, err)
					}
				}
				text := document(fmt.Sprintf(`{"type":"type%d","weight":1,"settings":{"max":1}}`, i), "", "", "")
				if _, err := policy.Decode(r, []byte(text)); err != nil {
					t.Error(err)
				}
			}
		}()
	}
	wg.Wait()
	total := 0
	for _, n := range registered {
		total += n
	}
	if total != 40 {
		t.Errorf("40 intents were registered %d times", total)
	}
}
