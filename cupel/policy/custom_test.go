package policy_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupel/policy"
	"github.com/wollax/cupel-go/cupel/scorer"
	"github.com/wollax/cupel-go/cupel/strategy"
)

// everything is a scorer with a setting of each type, which shows what its Build
// was given.
type everything struct {
	scorer.Recency
	args strategy.Args
}

// everythingType has a field of each type.
func everythingType() strategy.Descriptor {
	inner := []strategy.Field{
		{Name: "score", Type: strategy.Number, Required: true, Range: strategy.Unit, Doc: "A score."},
		{Name: "unit", Type: strategy.Text, Default: "tokens", Doc: "A unit."},
	}
	return strategy.Descriptor{
		Name: "everything", Doc: "Has a setting of each type.",
		Fields: []strategy.Field{
			{Name: "number", Type: strategy.Number, Range: strategy.Positive, Doc: "A number."},
			{Name: "any", Type: strategy.Number, Doc: "A number without bounds."},
			{Name: "int", Type: strategy.Int, Range: strategy.AtLeastOne, Default: 7, Doc: "An integer."},
			{Name: "bool", Type: strategy.Bool, Excludes: "int", Doc: "A switch."},
			{Name: "text", Type: strategy.Text, Doc: "A text."},
			{Name: "kind", Type: strategy.Kind, Doc: "A kind."},
			{Name: "enum", Type: strategy.Enum, Values: []string{"one", "two"}, Doc: "A name."},
			{Name: "duration", Type: strategy.Duration, Default: 90 * time.Minute, Doc: "A duration."},
			{Name: "kinds", Type: strategy.Weights, Keys: strategy.Kind, Doc: "Weights of kinds."},
			{Name: "tags", Type: strategy.Weights, Keys: strategy.Text, Doc: "Weights of tags."},
			{Name: "texts", Type: strategy.Texts, Required: true, Doc: "Texts."},
			{Name: "object", Type: strategy.Object, Fields: inner, Doc: "An object."},
			{Name: "list", Type: strategy.List, Fields: inner, Required: true, Doc: "A list."},
			{Name: "variant", Type: strategy.Variant, Variants: []strategy.Descriptor{{
				Name: "tag", Doc: "Has the name of a scorer.", Fields: inner,
				Build: func(args strategy.Args) (any, error) { return strategy.Get[float64](args, "score"), nil },
			}}, Doc: "A variant."},
			{Name: "child", Type: strategy.Child, Doc: "A scorer."},
			{Name: "children", Type: strategy.Children, Doc: "Scorers."},
			{Name: "parts", Type: strategy.Parts, Doc: "Scorers with weights."},
		},
		Build: func(args strategy.Args) (any, error) { return everything{args: args}, nil },
	}
}

// everySetting has a right value for each setting, except the switch, which does
// not go with the integer.
func everySetting() settings {
	return settings{
		"number": 0.5, "any": -1e300, "int": 3, "bool": false, "text": "", "kind": "Note", "enum": "two", "duration": time.Hour,
		"kinds": map[string]float64{"Note": 1}, "tags": map[string]float64{"": 0}, "texts": []string{"a", ""},
		"object": settings{"score": 1.0}, "list": []settings{{"score": 0.0, "unit": "bytes"}},
		"variant": of("tag", settings{"score": 0.25}), "child": of("recency"), "children": []policy.Strategy{of("longest", settings{"settings": settings{"max": 2}}), of("kind")},
		"parts": []policy.Weighted{{Scorer: of("tag", settings{"weights": map[string]float64{"x": 1}}), Weight: 2}},
	}
}

func everythingRegistry(t *testing.T) *policy.Registry {
	t.Helper()
	r := customRegistry(t)
	if err := r.RegisterScorer(everythingType()); err != nil {
		t.Fatal(err)
	}
	return r
}

// TestRefusedInner: an inner strategy that could be built may still be refused.
func TestRefusedInner(t *testing.T) {
	r := policy.NewRegistry()
	if err := r.RegisterScorer(strategy.Descriptor{
		Name: "picky", Doc: "Takes no inner scorer.", Fields: []strategy.Field{{Name: "inner", Type: strategy.Child, Doc: "A scorer."}},
		Build: func(strategy.Args) (any, error) {
			return nil, &cupel.InvalidConfigError{Component: "Picky", Field: "inner", Reason: "is not taken"}
		},
	}); err != nil {
		t.Fatal(err)
	}
	err := with(of("picky", settings{"inner": of("recency")})).Validate(r)
	if got := problemsOf(t, err); got != "scorers[0].inner: is not taken" {
		t.Errorf("got %s", got)
	}
}

// TestCustomSettings reads, writes, validates and builds a registered type.
func TestCustomSettings(t *testing.T) {
	r := everythingRegistry(t)
	p := with(of("everything", everySetting()))
	roundTrip(t, r, p)
	text, err := json.Marshal(p)
	const want = `{"type":"everything","weight":1,"any":-1e+300,"bool":false,"child":{"type":"recency"},"children":[{"type":"longest","settings":{"max":2}},{"type":"kind"}],` +
		`"duration":"1h","enum":"two","int":3,"kind":"Note","kinds":{"Note":1},"list":[{"score":0,"unit":"bytes"}],"number":0.5,"object":{"score":1},` +
		`"parts":[{"type":"tag","weight":2,"weights":{"x":1}}],"tags":{"":0},"text":"","texts":["a",""],"variant":{"type":"tag","score":0.25}}`
	if err != nil || !strings.Contains(string(text), want) {
		t.Errorf("wrote %s, %v\nwant %s", text, err, want)
	}
	config, err := p.Config(policy.Environment{Registry: r, Clock: atNoon})
	if err != nil {
		t.Fatal(err)
	}
	args := config.Scorer.(everything).args
	if now := args.Clock(); now != noon {
		t.Errorf("the clock says %s", now)
	}
	if children := strategy.Get[[]any](args, "children"); len(children) != 2 || children[0] != (longest{2}) {
		t.Errorf("Build was given the children %v", children)
	}
	if parts := strategy.Get[[]strategy.Part](args, "parts"); len(parts) != 1 || parts[0].Weight != 2 || reflect.TypeOf(parts[0].Strategy) != reflect.TypeFor[*scorer.Tag]() {
		t.Errorf("Build was given the parts %v", parts)
	}
	if got := strategy.Get[string](strategy.Get[[]strategy.Args](args, "list")[0], "unit"); got != "bytes" {
		t.Errorf("Build was given the unit %q in the list", got)
	}
	if got := strategy.Get[string](strategy.Get[strategy.Args](args, "object"), "unit"); got != "tokens" {
		t.Errorf("Build was given the unit %q in the object, want its default", got)
	}
	if got := strategy.Get[float64](args, "variant"); got != 0.25 {
		t.Errorf("Build was given the variant %v", got)
	}
	strategy.Get[[]string](args, "texts")[0] = "changed"
	if !reflect.DeepEqual(p, with(of("everything", everySetting()))) {
		t.Error("Build can change the policy")
	}
	if _, err := p.Config(policy.Environment{Registry: r}); err != nil {
		t.Errorf("the type does not need a clock: %v", err)
	}
	if got := strategy.Get[time.Duration](args, "duration"); got != time.Hour {
		t.Errorf("got %s", got)
	}
}

func TestBuild(t *testing.T) {
	boom := errors.New("boom")
	tests := []struct {
		name  string
		build func(strategy.Args) (any, error)
		want  string
		why   string
	}{
		{"fails", func(strategy.Args) (any, error) { return nil, boom }, "scorers[0]: boom", "what Build says"},
		{"panics", func(strategy.Args) (any, error) { panic("no") }, "scorers[0]: building it panicked: no", "a policy cannot end the program"},
		{"nothing", func(strategy.Args) (any, error) { return nil, nil }, "scorers[0]: its Build must return a scorer, got <nil>", "no error and no scorer"},
		{"a nil pointer", func(strategy.Args) (any, error) { return (*scorer.Scaled)(nil), nil }, "scorers[0]: scorer must not be nil", "it looks like a scorer, but is nil"},
		{"an invalid scorer", func(strategy.Args) (any, error) { return &scorer.Composite{}, nil }, "scorers[0]: At least one scorer entry is required", "scorers validate themselves"},
		{"a nil error of a type", func(strategy.Args) (any, error) { return nil, (*cupel.InvalidConfigError)(nil) }, "scorers[0]: <nil>", "it looks like an error, and is one"},
		{"an error that panics", func(strategy.Args) (any, error) { return nil, (*policy.ValidationError)(nil) }, "scorers[0]: building it panicked: runtime error: invalid memory address or nil pointer dereference", "nor can an error"},
		{"a constructor's error", func(strategy.Args) (any, error) { return scorer.NewMetadataTrust(3) }, "scorers[0]: defaultScore must be in [0.0, 1.0], got 3", "it names no setting of this type"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var r policy.Registry
			if err := r.RegisterScorer(strategy.Descriptor{Name: "custom", Doc: "Custom.", Build: tt.build}); err != nil {
				t.Fatal(err)
			}
			err := with(of("custom")).Validate(&r)
			if got := problemsOf(t, err); got != tt.want {
				t.Errorf("got\n%s\nwant\n%s\n%s", got, tt.want, tt.why)
			}
			if strings.Contains(tt.want, "boom") && !errors.Is(err, boom) {
				t.Errorf("%v does not wrap the cause", err)
			}
		})
	}
}

// TestUnusableFields registers types whose fields policies could not use.
func TestUnusableFields(t *testing.T) {
	number := strategy.Field{Name: "a", Type: strategy.Number}
	twice := []strategy.Field{number, number}
	const name = "needs a name of its own, of letters, digits, - and _, other than type and weight"
	tests := []struct {
		field  strategy.Field
		name   string
		reason string
		why    string
	}{
		{strategy.Field{Name: "type", Type: strategy.Text}, "type", name, "it names the type"},
		{strategy.Field{Name: "weight", Type: strategy.Number}, "weight", name, "parts have one"},
		{number, "a", name, "there is one already"},
		{strategy.Field{Type: strategy.Number}, "", name, "it has no name"},
		{strategy.Field{Name: "a b", Type: strategy.Number}, "a b", name, "paths could not be read"},
		{strategy.Field{Name: "b", Type: 99}, "b", "needs one of the types of package strategy", "there is no such type"},
		{strategy.Field{Name: "b", Type: strategy.Variant}, "b", "needs Variants", "it could have no value"},
		{strategy.Field{Name: "b", Type: strategy.Variant, Variants: []strategy.Descriptor{{Name: "x", Fields: twice}}}, "a", name, "variants have fields, too"},
		{strategy.Field{Name: "b", Type: strategy.List, Fields: twice}, "a", name, "elements have names, too"},
	}
	for _, tt := range tests {
		d := longestType()
		d.Fields = []strategy.Field{number, tt.field}
		err := new(policy.Registry).RegisterScorer(d)
		var invalid *cupel.InvalidConfigError
		if want := fmt.Sprintf("the field %q %s", tt.name, tt.reason); !errors.As(err, &invalid) || invalid.Reason != want || invalid.Field != "scorer" {
			t.Errorf("got %v, want %q: %s", err, want, tt.why)
		}
	}
}

func TestDescriptors(t *testing.T) {
	r := everythingRegistry(t)
	scorers, _, _ := r.Descriptors()
	if n := len(scorer.Descriptors()); len(scorers) != n+3 || scorers[n].Name != "longest" || scorers[n+2].Name != "everything" {
		t.Errorf("got %d scorers, want the built-in ones first", len(scorers))
	}
	if _, slicers, placers := (*policy.Registry)(nil).Descriptors(); len(slicers) == 0 || len(placers) == 0 {
		t.Error("no registry has no built-in types")
	}
}
