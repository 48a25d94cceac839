package scorer_test

import (
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupel/scorer"
	"github.com/wollax/cupel-go/cupel/strategy"
)

type settings = map[string]any

// build builds a scorer as a policy does, with a clock that stands still.
func build(t *testing.T, list []strategy.Descriptor, name string, given settings) (strategy.Descriptor, any, error) {
	t.Helper()
	d, ok := strategy.Find(list, name)
	if !ok {
		t.Fatalf("no descriptor of %s", name)
	}
	got, err := d.Build(strategy.Args{Given: given, Fields: d.Fields, Clock: now})
	return d, got, err
}

// curves returns the descriptors of a decay scorer's curves.
func curves(t *testing.T) []strategy.Descriptor {
	t.Helper()
	decay, _ := strategy.Find(scorer.Descriptors(), "decay")
	return decay.Fields[0].Variants
}

// TestDescriptorsBuild holds what descriptors build to what constructors return,
// by the scores of many items, and what they tell of it to what it was built
// with.
func TestDescriptorsBuild(t *testing.T) {
	weights := map[string]float64{"Memory": 0.5, "custom": 2}
	half := scorer.Must(scorer.Exponential(time.Hour))
	parts := []strategy.Part{{Strategy: scorer.Recency{}, Weight: 0.75}, {Strategy: scorer.Kind{}, Weight: 0.25}}
	tests := []struct {
		why   string
		name  string
		given settings
		want  strategy.Scorer
		told  settings // nil: given
	}{
		{"no weights are the default weights", "kind", nil, scorer.Kind{}, nil},
		{"weights are by kind", "kind", settings{"weights": weights},
			scorer.Must(scorer.NewKind(map[cupel.ContextKind]float64{"Memory": 0.5, "custom": 2})), nil},
		{"empty weights are weights", "kind", settings{"weights": map[string]float64{}},
			scorer.Must(scorer.NewKind(map[cupel.ContextKind]float64{})), nil},
		{"tags compare exactly by default", "tag", settings{"weights": map[string]float64{"Tag-1": 1, "tag-2": 2}},
			scorer.Must(scorer.NewTag(map[string]float64{"Tag-1": 1, "tag-2": 2})),
			settings{"weights": map[string]float64{"Tag-1": 1, "tag-2": 2}, "caseInsensitive": false}},
		{"tags without case are told in lower case", "tag", settings{"weights": map[string]float64{"Tag-1": 1, "tag-2": 2}, "caseInsensitive": true},
			scorer.Must(scorer.NewTag(map[string]float64{"Tag-1": 1, "tag-2": 2}, scorer.WithCaseInsensitiveTags())),
			settings{"weights": map[string]float64{"tag-1": 1, "tag-2": 2}, "caseInsensitive": true}},
		{"weights are told in their share", "composite",
			settings{"scorers": []strategy.Part{{Strategy: scorer.Recency{}, Weight: 3}, {Strategy: scorer.Kind{}, Weight: 1}}},
			composite(scorer.Weighted{Scorer: scorer.Recency{}, Weight: 3}, scorer.Weighted{Scorer: scorer.Kind{}, Weight: 1}),
			settings{"scorers": parts}},
		{"the scorer inside is the live one", "scaled", settings{"inner": scorer.Reflexive{}}, scaled(scorer.Reflexive{}), nil},
		{"a trust", "metadataTrust", settings{"defaultScore": 0.25}, scorer.Must(scorer.NewMetadataTrust(0.25)), nil},
		{"key, value and boost each have their place", "metadataKey", settings{"key": cupel.MetadataPriority, "value": "high", "boost": 1.5},
			scorer.Must(scorer.NewMetadataKey(cupel.MetadataPriority, "high", 1.5)), nil},
		{"half without a timestamp by default", "decay", settings{"curve": half}, scorer.Must(scorer.NewDecay(now, half)),
			settings{"curve": half, "nullTimestampScore": 0.5}},
		{"the score without a timestamp", "decay", settings{"curve": half, "nullTimestampScore": 0.125},
			scorer.Must(scorer.NewDecay(now, half, scorer.WithNullTimestampScore(0.125))), nil},
	}
	all := richItems(newRand(31), 200)
	for _, tt := range tests {
		d, got, err := build(t, scorer.Descriptors(), tt.name, tt.given)
		s, ok := got.(strategy.Scorer)
		if err != nil || !ok || reflect.TypeOf(got) != reflect.TypeOf(tt.want) && tt.name != "kind" {
			t.Errorf("%s with %v: %+v, %v, want %+v: %s", tt.name, tt.given, got, err, tt.want, tt.why)
			continue
		}
		if !slices.EqualFunc(scoreAll(t, s, all), scoreAll(t, tt.want, all), same) {
			t.Errorf("%s with %v scores items differently from %+v: %s", tt.name, tt.given, tt.want, tt.why)
		}
		want := tt.told
		if want == nil {
			want = tt.given
		}
		if told, ok := d.Settings(got); !ok || !reflect.DeepEqual(told, want) {
			t.Errorf("%s tells %v, %t, want %v: %s", tt.name, told, ok, want, tt.why)
		}
		if told, ok := d.Settings(rawHint); ok {
			t.Errorf("%s tells %v of a scorer of another type", tt.name, told)
		}
	}
}

func TestCurveDescriptorsBuild(t *testing.T) {
	windows := []strategy.Args{
		{Given: settings{"maxAge": time.Hour, "score": 0.75}},
		{Given: settings{"maxAge": 2 * time.Hour, "score": 0.25}},
	}
	for _, tt := range []struct {
		name        string
		given, told settings
		want        scorer.Curve
	}{
		{"exponential", settings{"halfLife": time.Hour}, settings{"halfLife": time.Hour}, scorer.Must(scorer.Exponential(time.Hour))},
		{"window", settings{"maxAge": time.Minute}, settings{"maxAge": time.Minute}, scorer.Must(scorer.Window(time.Minute))},
		{"step", settings{"windows": windows}, settings{"windows": []settings{windows[0].Given, windows[1].Given}},
			scorer.Must(scorer.Step(scorer.StepWindow{MaxAge: time.Hour, Score: 0.75}, scorer.StepWindow{MaxAge: 2 * time.Hour, Score: 0.25}))},
	} {
		d, got, err := build(t, curves(t), tt.name, tt.given)
		if err != nil || !reflect.DeepEqual(got, tt.want) {
			t.Errorf("%s with %v: %+v, %v, want %+v", tt.name, tt.given, got, err, tt.want)
		}
		if told, ok := d.Settings(got); !ok || !reflect.DeepEqual(told, tt.told) {
			t.Errorf("%s tells %v, %t, want %v", tt.name, told, ok, tt.told)
		}
	}
}
