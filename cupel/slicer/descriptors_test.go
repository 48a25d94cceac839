package slicer_test

import (
	"errors"
	"math"
	"reflect"
	"testing"

	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupel/slicer"
	"github.com/wollax/cupel-go/cupel/strategy"
)

// TestDescriptorsBuild holds what descriptors build to what constructors return,
// and what they tell of it to what it was built with.
func TestDescriptorsBuild(t *testing.T) {
	type settings = map[string]any
	limit := slicer.DefaultMemoryLimit
	one := []slicer.CountQuotaEntry{{Kind: "Memory", RequireCount: 1, CapCount: 3}, {Kind: "Message", CapCount: math.MaxInt}}
	counts := []settings{{"kind": "Memory", "requireCount": 1, "capCount": 3}, {"kind": "Message", "requireCount": 0}}
	throw := slicer.WithScarcity(slicer.ScarcityThrow)
	for _, tt := range []struct {
		why   string
		name  string
		given settings
		want  strategy.Slicer
		told  settings
	}{
		{"nothing is given", "knapsack", nil, slicer.Must(slicer.NewKnapsack(slicer.WithBucketSize(100), slicer.WithMemoryLimit(int64(limit)))),
			settings{"bucketSize": 100, "autoBucket": false, "memoryLimit": limit}},
		{"an auto bucket has no size", "knapsack", settings{"autoBucket": true, "memoryLimit": 5},
			slicer.Must(slicer.NewKnapsack(slicer.WithMemoryLimit(5), slicer.WithBucketSize(100), slicer.WithAutoBucket())),
			settings{"autoBucket": true, "memoryLimit": 5}},
		{"by default a kind may have nothing or everything", "quota", settings{"inner": slicer.Greedy{}, "entries": []settings{{"kind": "Memory"}}},
			slicer.Must(slicer.NewQuota(slicer.Greedy{}, slicer.Between("Memory", 0, 100))),
			settings{"inner": slicer.Greedy{}, "entries": []settings{{"kind": "Memory", "require": 0.0, "cap": 100.0}}}},
		{"no cap is no limit", "countQuota", settings{"inner": slicer.Greedy{}, "entries": counts, "scarcity": "Throw"},
			slicer.Must(slicer.NewCountQuota(slicer.Greedy{}, one, throw)),
			settings{"inner": slicer.Greedy{}, "entries": counts, "scarcity": "Throw"}},
		{"shortfalls are noted by default", "countQuota", settings{"inner": slicer.Greedy{}},
			slicer.Must(slicer.NewCountQuota(slicer.Greedy{}, nil)), settings{"inner": slicer.Greedy{}, "entries": []settings{}, "scarcity": "Degrade"}},
		{"not exact by default", "multipleChoice", nil, slicer.NewMultipleChoice(), settings{"exact": false}},
		{"exact", "multipleChoice", settings{"exact": true}, slicer.NewMultipleChoice(slicer.WithExact()), settings{"exact": true}},
		{"a knapsack with counts has the settings of both", "countConstrainedKnapsack", settings{"entries": counts, "scarcity": "Throw", "bucketSize": 7},
			slicer.Must(slicer.NewCountConstrainedKnapsack(slicer.Must(slicer.NewKnapsack(slicer.WithBucketSize(7), slicer.WithMemoryLimit(int64(limit)))), one, throw)),
			settings{"bucketSize": 7, "autoBucket": false, "memoryLimit": limit, "entries": counts, "scarcity": "Throw"}},
	} {
		d, ok := strategy.Find(slicer.Descriptors(), tt.name)
		if !ok {
			t.Fatalf("no descriptor of %s", tt.name)
		}
		got, err := d.Build(args(d.Fields, tt.given))
		if err != nil || !reflect.DeepEqual(got, tt.want) {
			t.Errorf("%s with %v: %+v, %v, want %+v: %s", tt.name, tt.given, got, err, tt.want, tt.why)
		}
		if told, ok := d.Settings(got); !ok || !reflect.DeepEqual(told, tt.told) {
			t.Errorf("%s tells %v, want %v: %s", tt.name, told, tt.told, tt.why)
		}
	}

	knapsack, _ := strategy.Find(slicer.Descriptors(), "knapsack")
	if told, ok := knapsack.Settings(slicer.Knapsack{}); !ok || told["bucketSize"] != 100 || told["memoryLimit"] != limit {
		t.Errorf("the zero knapsack tells %v", told)
	}
	if _, ok := knapsack.Settings((*slicer.Knapsack)(nil)); ok {
		t.Error("no knapsack has settings")
	}
	choice, _ := strategy.Find(slicer.Descriptors(), "multipleChoice")
	if told, ok := choice.Settings(slicer.MultipleChoice{}); !ok || told["exact"] != false {
		t.Errorf("the zero multiple choice tells %v, %t", told, ok)
	}
	if told, ok := choice.Settings((*slicer.MultipleChoice)(nil)); ok {
		t.Errorf("no multiple choice tells %v", told)
	}
	for name, given := range map[string]settings{
		"knapsack":                 {"autoBucket": true, "bucketSize": 0},
		"countConstrainedKnapsack": {"bucketSize": 0, "entries": []settings{{"kind": ""}}},
		"quota":                    {}, "countQuota": {},
	} {
		d, _ := strategy.Find(slicer.Descriptors(), name)
		got, err := d.Build(args(d.Fields, given))
		if got != nil || !errors.Is(err, cupel.ErrInvalidConfig) {
			t.Errorf("%s with %v: %v, %v", name, given, got, err)
		}
		if want := map[string]int{"knapsack": 2, "countConstrainedKnapsack": 2}[name]; want > 0 && len(strategy.All(err)) != want {
			t.Errorf("%s with %v: %v, want %d problems", name, given, err, want)
		}
	}
}

// args makes the settings of lists what Build expects.
func args(fields []strategy.Field, given map[string]any) strategy.Args {
	a := strategy.Args{Given: make(map[string]any), Fields: fields}
	for name, value := range given {
		list, ok := value.([]map[string]any)
		if !ok {
			a.Given[name] = value
			continue
		}
		for _, f := range fields {
			if f.Name == name {
				elements := []strategy.Args{}
				for _, element := range list {
					elements = append(elements, args(f.Fields, element))
				}
				a.Given[name] = elements
			}
		}
	}
	return a
}
