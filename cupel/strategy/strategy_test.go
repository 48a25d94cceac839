package strategy_test

import (
	"errors"
	"fmt"
	"math"
	"testing"

	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupel/slicer"
	"github.com/wollax/cupel-go/cupel/strategy"
)

func TestTypeString(t *testing.T) {
	for typ, want := range map[strategy.Type]string{
		strategy.Number: "number", strategy.Int: "integer", strategy.Bool: "boolean", strategy.Text: "text", strategy.Kind: "kind",
		strategy.Enum: "name", strategy.Duration: "duration", strategy.Weights: "weights", strategy.Texts: "list of texts", strategy.Object: "object", strategy.List: "list", strategy.Variant: "object",
		strategy.Child: "strategy", strategy.Children: "list of strategies", strategy.Parts: "list of weighted strategies",
		0: "", strategy.Parts + 1: "Type(16)", 255: "Type(255)",
	} {
		if got := typ.String(); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

// TestRanges states the bounds that most settings share.
func TestRanges(t *testing.T) {
	inf := math.Inf(1)
	for name, pair := range map[string][2]strategy.Range{
		"Unit":        {*strategy.Unit, {Min: 0, Max: 1}},
		"Percent":     {*strategy.Percent, {Min: 0, Max: 100}},
		"Positive":    {*strategy.Positive, {Min: 0, Max: inf, Above: true}},
		"NonNegative": {*strategy.NonNegative, {Min: 0, Max: inf}},
		"AtLeastOne":  {*strategy.AtLeastOne, {Min: 1, Max: inf}},
	} {
		if pair[0] != pair[1] {
			t.Errorf("%s is %+v, want %+v", name, pair[0], pair[1])
		}
	}
	for want, r := range map[string]strategy.Range{
		"at least -0.125": {Min: -0.125, Max: inf}, "above 0.1": {Min: 0.1, Max: inf, Above: true}, "in [0.1, 1e+300]": {Min: 0.1, Max: 1e300}, "in (0, 2]": {Max: 2, Above: true},
	} {
		if got := r.String(); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

func TestFind(t *testing.T) {
	list := []strategy.Descriptor{{Name: "a", Doc: "first"}, {Name: "b"}, {Name: "a", Doc: "second"}}
	for name, want := range map[string]string{"a": "first true", "b": " true", "c": " false", "": " false"} {
		d, ok := strategy.Find(list, name)
		if got := fmt.Sprint(d.Doc, " ", ok); got != want || ok && d.Name != name {
			t.Errorf("%q: got %q, want %q", name, got, want)
		}
	}
	if _, ok := strategy.Find(nil, "a"); ok {
		t.Error("found in nothing")
	}
}

func TestGet(t *testing.T) {
	a := strategy.Args{
		Given:  map[string]any{"given": 3, "nil": nil, "other": "text"},
		Fields: []strategy.Field{{Name: "given", Default: 5}, {Name: "absent", Default: 7}, {Name: "nil", Default: 8}, {Name: "other", Default: 9}, {Name: "undecided"}},
	}
	for name, want := range map[string]int{
		"given":     3,
		"absent":    7, // the default
		"nil":       0, // a strategy that could not be built, and no default
		"other":     0, // of another type
		"undecided": 0, // Build decides
		"unknown":   0,
	} {
		if got := strategy.Get[int](a, name); got != want {
			t.Errorf("%s: got %d, want %d", name, got, want)
		}
		if got, want := a.Has(name), name == "given" || name == "nil" || name == "other"; got != want {
			t.Errorf("%s: given is %t", name, got)
		}
	}
}

func TestBuiltAndDescribed(t *testing.T) {
	broken := errors.New("broken")
	if got, err := strategy.Built((*slicer.Knapsack)(nil), broken); got != nil || err != broken {
		t.Errorf("got %v, %v; want a plain nil", got, err)
	}
	if got, err := strategy.Built(slicer.Greedy{}, nil); got != (slicer.Greedy{}) || err != nil {
		t.Errorf("got %v, %v", got, err)
	}
	greedy := strategy.Plain[slicer.Greedy]("greedy", "GreedySlice", "Doc.")
	if s, err := greedy.Build(strategy.Args{}); s != (slicer.Greedy{}) || err != nil || greedy.Name != "greedy" || greedy.Component != "GreedySlice" || greedy.Doc != "Doc." {
		t.Errorf("got %v, %v of %+v", s, err, greedy)
	}
	list := []strategy.Descriptor{greedy, {Name: "number", Settings: strategy.Only(func(n int) map[string]any { return map[string]any{"n": n} })}}
	for _, tt := range []struct {
		strategy any
		want     string
	}{{slicer.Greedy{}, "greedy map[] true"}, {4, "number map[n:4] true"}, {"text", " map[] false"}, {nil, " map[] false"}} {
		d, settings, ok := strategy.Describe(list, tt.strategy)
		if got := fmt.Sprint(d.Name, " ", settings, " ", ok); got != tt.want {
			t.Errorf("%v: got %q, want %q", tt.strategy, got, tt.want)
		}
	}
}

// nothingJoined is an error that joins no others.
type nothingJoined struct{ joined []error }

func (nothingJoined) Error() string     { return "nothing" }
func (n nothingJoined) Unwrap() []error { return n.joined }

func TestProblems(t *testing.T) {
	var wrong strategy.Problems
	wrong.AddError(nil)
	if wrong.Len() != 0 || wrong.Err() != nil {
		t.Errorf("no error is %d problems: %v", wrong.Len(), wrong.Err())
	}
	one := &cupel.InvalidConfigError{Field: "one"}
	wrong.AddError(one)
	if wrong.Len() != 1 || wrong.Err() != error(one) {
		t.Errorf("one problem is %d: %#v, want the error itself", wrong.Len(), wrong.Err())
	}
	wrong.AddError(errors.Join(one, one))
	if wrong.Len() != 3 || len(strategy.All(wrong.Err())) != 3 {
		t.Errorf("three problems are %d: %v", wrong.Len(), wrong.Err())
	}
	if got := strategy.All(&nothingJoined{[]error{one}}); len(got) != 1 || got[0] != error(one) {
		t.Errorf("one joined problem is %v", got)
	}
}
