package policy_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"reflect"
	"slices"
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

// everythingType has a field of each type. Its Build checks nothing.
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

// TestCustomSettings reads, writes, validates and builds a registered type, and
// compares its documents with the schema.
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
	schema := newJSONSchema(t, r)
	if problem := schema.check(t, schema.root, parse(t, string(text))); problem != "" {
		t.Errorf("the schema refuses what is written: %s", problem)
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

// TestCustomFieldsAreEnforced: a Build that checks nothing is not given what its
// fields do not allow, and each mistake has its path.
func TestCustomFieldsAreEnforced(t *testing.T) {
	r := everythingRegistry(t)
	tests := []struct{ name, field, text, want, why string }{
		{"number", "number", `0`, "number: must be above 0, got 0", "its range"},
		{"int", "int", `0`, "int: must be at least 1, got 0", "its range"},
		{"type", "int", `"3"`, "int: must be an integer, got a string", "its type"},
		{"switch", "bool", `true`, "bool: must not be set together with int; remove one of them", "one of them would not count"},
		{"kind", "kind", `" "`, "kind: must not be blank", "no item is of that kind"},
		{"enum", "enum", `"three"`, `enum: "three" is unknown; want one of one, two`, "the error lists the names"},
		{"duration", "duration", `"0s"`, "duration: must be positive, got 0s", "durations are positive"},
		{"kinds", "kinds", `{"a": -1, " ": 1}`, "kinds[\" \"]: must not be blank\nkinds[\"a\"]: must be at least 0, got -1", "each weight has its path"},
		{"no texts", "texts", `[]`, "texts: must have at least one element", "it is required"},
		{"texts", "texts", `["a", 1]`, "texts[1]: must be a string, got a number", "each text has its path"},
		{"object", "object", `{"score": 2, "scores": 1}`, "object.score: must be in [0, 1], got 2\nobject.scores: is unknown; want one of score, unit", "objects are as strict"},
		{"empty object", "object", `{}`, "object.score: is required", "it has no default"},
		{"list", "list", `[{"score": 0}, {}, {"score": -1}]`, "list[1].score: is required\nlist[2].score: must be in [0, 1], got -1", "elements are as strict"},
		{"no list", "list", `[]`, "list: must have at least one element", "it is required"},
		{"variant", "variant", `{"type": "tag", "score": 3}`, "variant.score: must be in [0, 1], got 3", "its fields belong to the type"},
		{"variant of another type", "variant", `{"type": "kind"}`, `variant.type: the variant type "kind" is unknown; want one of tag`, "scorers are not variants"},
		{"child", "child", `{"type": "metadataTrust", "defaultScore": 2}`, "child.defaultScore: defaultScore must be in [0.0, 1.0], got 2", "built-in types check themselves"},
		{"children", "children", `[{"type": "longest", "settings": {"max": 0}}]`, "children[0].settings.max: must be at least 1, got 0", "children are checked by their own fields"},
		{"parts", "parts", `[{"type": "recency", "weight": 0}]`, "parts[0].weight: must be above 0, got 0", "weights are positive"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			text, err := json.Marshal(with(of("everything", everySetting())))
			if err != nil {
				t.Fatal(err)
			}
			var values map[string]any
			if err := json.Unmarshal(text, &values); err != nil {
				t.Fatal(err)
			}
			values["scorers"].([]any)[0].(map[string]any)[tt.field] = json.RawMessage(tt.text)
			if text, err = json.Marshal(values); err != nil {
				t.Fatal(err)
			}
			_, err = policy.Decode(r, text)
			want := "scorers[0]." + strings.ReplaceAll(tt.want, "\n", "\nscorers[0].")
			if got := problemsOf(t, err); got != want {
				t.Errorf("problems:\n%s\nwant:\n%s\n%s", got, want, tt.why)
			}
			schema := newJSONSchema(t, r)
			if problem := schema.check(t, schema.root, parse(t, string(text))); problem == "" && tt.field != "duration" {
				t.Error("the schema takes it")
			}
		})
	}
	missing := everySetting()
	for _, name := range []string{"texts", "list", "object"} {
		delete(missing, name)
	}
	missing["any"], missing["number"] = math.Inf(1), math.NaN()
	err := with(of("everything", missing)).Validate(r)
	want := lines(`
		scorers[0].any: must be a finite number, got +Inf
		scorers[0].list: is required
		scorers[0].number: must be a finite number, got NaN
		scorers[0].object.score: is required
		scorers[0].texts: is required`)
	if got := problemsOf(t, err); got != want {
		t.Errorf("problems:\n%s\nwant:\n%s", got, want)
	}
}

func TestBuild(t *testing.T) {
	boom := errors.New("boom")
	many := []strategy.Field{{Name: "min", Type: strategy.Int, Doc: "The least."}, {Name: "max", Type: strategy.Int, Range: strategy.AtLeastOne, Doc: "The most."}}
	tests := []struct {
		name  string
		build func(strategy.Args) (any, error)
		given settings
		want  string
		why   string
	}{
		{"fails", func(strategy.Args) (any, error) { return nil, boom }, nil, "scorers[0]: boom", "what Build says"},
		{"panics", func(strategy.Args) (any, error) { panic("no") }, nil, "scorers[0]: building it panicked: no", "a policy cannot end the program"},
		{"panics with an error", func(strategy.Args) (any, error) { panic(boom) }, nil, "scorers[0]: building it panicked: boom", "the same"},
		{"panics without a setting", func(strategy.Args) (any, error) { panic("no") }, settings{"max": 0}, "scorers[0].max: must be at least 1, got 0", "the panic may come from what is missing"},
		{"fails without a setting", func(strategy.Args) (any, error) { return nil, boom }, settings{"max": 0}, "scorers[0].max: must be at least 1, got 0", "so may an error"},
		{"nothing", func(strategy.Args) (any, error) { return nil, nil }, nil, "scorers[0]: its Build must return a scorer, got <nil>", "no error and no scorer"},
		{"a nil pointer", func(strategy.Args) (any, error) { return (*scorer.Scaled)(nil), nil }, nil, "scorers[0]: scorer must not be nil", "it looks like a scorer, but is nil"},
		{"another role", func(strategy.Args) (any, error) { return firstOf{}, nil }, nil, "scorers[0]: its Build must return a scorer, got policy_test.firstOf", "a slicer does not score"},
		{"an invalid scorer", func(strategy.Args) (any, error) { return &scorer.Composite{}, nil }, nil, "scorers[0]: At least one scorer entry is required", "scorers validate themselves"},
		{"a nil error of a type", func(strategy.Args) (any, error) { return nil, (*cupel.InvalidConfigError)(nil) }, nil, "scorers[0]: <nil>", "it looks like an error, and is one"},
		{"an error that panics", func(strategy.Args) (any, error) { return nil, (*policy.ValidationError)(nil) }, nil, "scorers[0]: building it panicked: runtime error: invalid memory address or nil pointer dereference", "nor can an error"},
		{"a constructor's error", func(strategy.Args) (any, error) { return scorer.NewMetadataTrust(3) }, nil, "scorers[0]: defaultScore must be in [0.0, 1.0], got 3", "it names no setting of this type"},
		{"several", func(args strategy.Args) (any, error) {
			wrong := strategy.Problems{Component: "BetweenScorer"}
			wrong.Add("min", fmt.Sprint(strategy.Get[int](args, "min")), "min must be at most max")
			wrong.Add("max", "", "max is odd")
			wrong.Add("", "", "it does not work")
			return nil, wrong.Err()
		}, settings{"min": 4, "max": 3}, "scorers[0]: it does not work\nscorers[0].max: max is odd\nscorers[0].min: min must be at most max, got 4", "paths become whole"},
		{"several, one known", func(strategy.Args) (any, error) {
			wrong := strategy.Problems{Component: "BetweenScorer"}
			wrong.Add("min", "", "min is odd")
			wrong.Add("max", "", "max is odd")
			return nil, wrong.Err()
		}, settings{"max": -1}, "scorers[0].max: must be at least 1, got -1\nscorers[0].min: min is odd", "a path has one problem, the first"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var r policy.Registry
			if err := r.RegisterScorer(strategy.Descriptor{Name: "custom", Doc: "Custom.", Fields: many, Build: tt.build}); err != nil {
				t.Fatal(err)
			}
			err := with(of("custom", tt.given)).Validate(&r)
			if got := problemsOf(t, err); got != tt.want {
				t.Errorf("got\n%s\nwant\n%s\n%s", got, tt.want, tt.why)
			}
			if strings.Contains(tt.want, "boom") && !errors.Is(err, boom) {
				t.Errorf("%v does not wrap the cause", err)
			}
		})
	}
}

func TestBuildGetsAClock(t *testing.T) {
	var got strategy.Args
	d := strategy.Descriptor{Name: "custom", Doc: "Custom.", Build: func(args strategy.Args) (any, error) {
		got = args
		return scorer.Recency{}, nil
	}}
	var r policy.Registry
	if err := r.RegisterScorer(d); err != nil {
		t.Fatal(err)
	}
	d.Name, d.NeedsClock = "clocked", true
	if err := r.RegisterScorer(d); err != nil {
		t.Fatal(err)
	}
	if err := with(of("clocked")).Validate(&r); err != nil || got.Clock == nil || !got.Clock().IsZero() {
		t.Errorf("while a policy is validated, the clock does not stand still; %v", err)
	}
	if _, err := with(of("clocked")).Config(policy.Environment{Registry: &r, Clock: atNoon}); err != nil || got.Clock() != noon {
		t.Errorf("Build was given another clock; %v", err)
	}
	if _, err := with(of("custom")).Config(policy.Environment{Registry: &r}); err != nil || got.Clock != nil {
		t.Errorf("Build was given a clock that the environment does not have; %v", err)
	}
	_, err := with(of("clocked")).Config(policy.Environment{Registry: &r})
	if got, want := problemsOf(t, err), "scorers[0]: needs a clock: set Environment.Clock, to time.Now in production or to a fixed time in tests"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

// TestUnusableFields registers types whose fields policies could not use.
func TestUnusableFields(t *testing.T) {
	number := strategy.Field{Name: "a", Type: strategy.Number}
	build := func(strategy.Args) (any, error) { return scorer.Recency{}, nil }
	tests := []struct {
		field strategy.Field
		want  string
		why   string
	}{
		{strategy.Field{Name: "type", Type: strategy.Text}, `the field "type" needs a name of its own, of letters, digits, - and _, other than type and weight`, "it names the type"},
		{strategy.Field{Name: "weight", Type: strategy.Number}, `the field "weight" needs a name of its own, of letters, digits, - and _, other than type and weight`, "parts have one"},
		{number, `the field "a" needs a name of its own, of letters, digits, - and _, other than type and weight`, "there is one already"},
		{strategy.Field{Type: strategy.Number}, `the field "" needs a name of its own, of letters, digits, - and _, other than type and weight`, "it has no name"},
		{strategy.Field{Name: "a b", Type: strategy.Number}, `the field "a b" needs a name of its own, of letters, digits, - and _, other than type and weight`, "paths could not be read"},
		{strategy.Field{Name: "b"}, `the field "b" needs one of the types of package strategy`, "it has no type"},
		{strategy.Field{Name: "b", Type: 99}, `the field "b" needs one of the types of package strategy`, "there is no such type"},
		{strategy.Field{Name: "b", Type: strategy.Number, Default: "1"}, `the field "b" has a default that must be of type float64, got string`, "Get would return 0"},
		{strategy.Field{Name: "b", Type: strategy.Variant}, `the field "b" needs Variants`, "it could have no value"},
		{strategy.Field{Name: "b", Type: strategy.Variant, Variants: []strategy.Descriptor{{Name: "x"}}}, `the variant "x" needs a Build`, "it could not be built"},
		{strategy.Field{Name: "b", Type: strategy.Variant, Variants: []strategy.Descriptor{{Name: "x", Build: build, Fields: []strategy.Field{{Name: "c", Type: strategy.Child}}}}},
			`the field "c" must not be inside a variant`, "variants are no strategies"},
		{strategy.Field{Name: "b", Type: strategy.List, Fields: []strategy.Field{number, number}}, `the field "a" needs a name of its own, of letters, digits, - and _, other than type and weight`, "elements have names, too"},
	}
	for _, tt := range tests {
		err := new(policy.Registry).RegisterScorer(strategy.Descriptor{Name: "x", Fields: []strategy.Field{number, tt.field}, Build: build})
		var invalid *cupel.InvalidConfigError
		if !errors.As(err, &invalid) || invalid.Reason != tt.want || invalid.Field != "scorer" {
			t.Errorf("got %v, want %q: %s", err, tt.want, tt.why)
		}
	}
	err := new(policy.Registry).RegisterSlicer(strategy.Descriptor{Name: "x", Fields: []strategy.Field{{Name: "a", Type: strategy.Parts}}, Build: build})
	if err == nil || !strings.Contains(err.Error(), `the field "a" must not have weights, which only scorers have`) {
		t.Errorf("a slicer with weighted parts gives %v", err)
	}
}

// refusing is a placer that is never valid.
type refusing struct{ backwards }

func (refusing) Validate() error { return errors.New("never") }

func TestCustomPlacersAreValidated(t *testing.T) {
	var r policy.Registry
	if err := r.RegisterPlacer(strategy.Descriptor{Name: "refusing", Build: func(strategy.Args) (any, error) { return refusing{}, nil }}); err != nil {
		t.Fatal(err)
	}
	err := withPlacer(of("refusing")).Validate(&r)
	if got, want := problemsOf(t, err), "placer: placer is not valid: never"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestDescriptors(t *testing.T) {
	r := everythingRegistry(t)
	scorers, slicers, placers := r.Descriptors()
	if n := len(scorer.Descriptors()); len(scorers) != n+3 || scorers[n].Name != "longest" || scorers[n+2].Name != "everything" {
		t.Errorf("got %d scorers, want the built-in ones first", len(scorers))
	}
	if d, _, ok := strategy.Describe(slices.Concat(scorers, slicers, placers), longest{1}); ok {
		t.Errorf("a type without Settings describes a strategy as %s", d.Name)
	}
	if _, slicers, placers := (*policy.Registry)(nil).Descriptors(); len(slicers) == 0 || len(placers) == 0 {
		t.Error("no registry has no built-in types")
	}
}
