package cupel_test

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"math"
	"reflect"
	"strings"
	"testing"

	"github.com/wollax/cupel-go/cupel"
)

// Each field of a report and of an overflow tells two of them apart.
func TestReportsDifferInOneField(t *testing.T) {
	a, b := item(t, "a", 1), item(t, "b", 1)
	budget, other := budgetOf(t, 9, 9), budgetOf(t, 9, 8)
	event := cupel.OverflowEvent{TokensOverBudget: 1, OverflowingItems: []*cupel.ContextItem{a}, Budget: budget}
	equal(t, "event and itself", event.Equal(event), true)
	for why, e := range map[string]cupel.OverflowEvent{
		"tokens": {TokensOverBudget: 2, OverflowingItems: []*cupel.ContextItem{a}, Budget: budget},
		"items":  {TokensOverBudget: 1, OverflowingItems: []*cupel.ContextItem{b}, Budget: budget},
		"budget": {TokensOverBudget: 1, OverflowingItems: []*cupel.ContextItem{a}, Budget: other},
	} {
		if event.Equal(e) || e.Equal(event) {
			t.Errorf("events that differ in their %s are equal", why)
		}
	}

	in := []cupel.IncludedItem{{Item: a}}
	out := []cupel.ExcludedItem{{Item: a}}
	report := cupel.SelectionReport{Included: in, Excluded: out, TotalCandidates: 2, TotalTokensConsidered: 2, Overflow: &event}
	equal(t, "report and itself", report.Equal(report), true)
	for why, change := range map[string]func(*cupel.SelectionReport){
		"events":     func(r *cupel.SelectionReport) { r.Events = []cupel.TraceEvent{{Stage: cupel.StageScore}} },
		"included":   func(r *cupel.SelectionReport) { r.Included = []cupel.IncludedItem{{Item: b}} },
		"excluded":   func(r *cupel.SelectionReport) { r.Excluded = []cupel.ExcludedItem{{Item: b}} },
		"candidates": func(r *cupel.SelectionReport) { r.TotalCandidates++ },
		"tokens":     func(r *cupel.SelectionReport) { r.TotalTokensConsidered++ },
		"overflow":   func(r *cupel.SelectionReport) { r.Overflow = nil },
	} {
		changed := report
		change(&changed)
		if report.Equal(changed) || changed.Equal(report) {
			t.Errorf("reports that differ in their %s are equal", why)
		}
	}

	m := item(t, "m", 1, cupel.WithMetadata(map[string]any{"k": 1}))
	if m.Equal(item(t, "m", 1, cupel.WithMetadata(map[string]any{"k": 2}))) || m.Equal(item(t, "m", 1)) {
		t.Error("items that differ in their metadata are equal")
	}
	equal(t, "items with the same metadata", m.Equal(item(t, "m", 1, cupel.WithMetadata(map[string]any{"k": 1}))), true)
	made := func(v cupel.Variant) *cupel.ContextItem { return item(t, "v", 9, cupel.WithVariants(v)) }
	function := func(context.Context) (string, error) { return "text", nil }
	if !made(cupel.Variant{Make: function, Tokens: 1, Worth: .5}).Equal(made(cupel.Variant{Make: function, Tokens: 1, Worth: .5})) {
		t.Error("functions cannot be compared: two variants that have one are equal")
	}
}

// What a caller hands over by mistake is an error that says so.
func TestMistakesAreNamed(t *testing.T) {
	a := item(t, "a", 5, hint(.5))
	list := []*cupel.ContextItem{a}
	failing := sliceFunc(func(context.Context, []cupel.ScoredItem, cupel.SliceBudget) (cupel.Selection, error) {
		return cupel.Selection{}, errors.New("slicer is broken")
	})
	explain := func(change func(*cupel.Config), tokens int) error {
		prepared, err := pipeline(t, change).Prepare(t.Context(), list)
		if err != nil {
			t.Fatal(err)
		}
		_, err = prepared.Explain(t.Context(), budgetOf(t, tokens, tokens), 0)
		return err
	}
	_, placed := cupel.Place(t.Context(), nil, nil)
	var nilItem *cupel.ContextItem
	var nilBudget *cupel.ContextBudget
	tests := []struct {
		why  string
		err  error
		want string
	}{
		{"a nil placer", placed, "is nil"},
		{"room for too few scores", cupel.ScoreAll(t.Context(), byHint{}, list, nil), "room for 0 scores of 1 items"},
		{"room for too many", cupel.ScoreAll(t.Context(), byHint{}, list, make([]float64, 2)), "room for 2 scores of 1 items"},
		{"JSON into a nil item", nilItem.UnmarshalJSON([]byte(`{"content":"a","tokens":1}`)), "nil pointer"},
		{"JSON into a nil budget", nilBudget.UnmarshalJSON([]byte(`{}`)), "nil pointer"},
		{"an explanation of a run whose slicer fails", explain(func(c *cupel.Config) { c.Slicer = failing }, 9), "slicer is broken"},
		{"an explanation of a run that overflows", explain(func(c *cupel.Config) { c.Slicer = everything }, 4), "exceeding target budget of 4"},
	}
	for _, tt := range tests {
		if tt.err == nil || !strings.Contains(tt.err.Error(), tt.want) {
			t.Errorf("%s: got %v, want %q", tt.why, tt.err, tt.want)
		}
	}
	var invalid *cupel.InvalidItemError
	_, err := cupel.NewContextItem("a", 5, cupel.WithVariants(cupel.Variant{Content: "b", Tokens: 5, Worth: .5}))
	if !errors.As(err, &invalid) || invalid.Index != -1 {
		t.Errorf("got %#v: an item that is not in a list has no position", err)
	}
	if o, err := preparedOf(t, list).Explain(t.Context(), budgetOf(t, 4, 4), 0); err != nil || o.Rule == "" {
		t.Errorf("the first candidate is out, and explained by %+v, %v", o, err)
	}
}

func preparedOf(t *testing.T, items []*cupel.ContextItem) *cupel.Prepared {
	t.Helper()
	prepared, err := pipeline(t).Prepare(t.Context(), items)
	if err != nil {
		t.Fatal(err)
	}
	return prepared
}

// Logs have the size and worth of a variant, and no text.
func TestVariantsInLogs(t *testing.T) {
	var b strings.Builder
	logger := slog.New(slog.NewJSONHandler(&b, &slog.HandlerOptions{ReplaceAttr: func(groups []string, a slog.Attr) slog.Attr {
		if len(groups) == 0 && a.Key == slog.TimeKey {
			return slog.Attr{}
		}
		return a
	}}))
	logger.Info("v", "variant", cupel.Variant{Content: "secret", Tokens: 7, Worth: .25}, "entry", cupel.IncludedItem{Reason: cupel.IncludeScored})
	var got struct {
		Variant map[string]any
		Entry   map[string]any
	}
	if err := json.Unmarshal([]byte(b.String()), &got); err != nil {
		t.Fatal(err)
	}
	if len(got.Variant) != 2 || got.Variant["tokens"] != 7.0 || got.Variant["worth"] != .25 || strings.Contains(b.String(), "secret") {
		t.Errorf("the log has %s", b.String())
	}
	if _, ok := got.Entry["item"]; !ok || got.Entry["item"] != nil {
		t.Errorf("the log of an entry without an item has %v", got.Entry)
	}
}

// A pinned unit that takes all of the budget ends a stream.
func TestPinnedUnitEndsStream(t *testing.T) {
	for tokens, pulled := range map[int]int{9: 2, 10: 2, 11: 3, 12: 4} { // a group is known when the next item is there
		result, err := pipeline(t).RunStream(t.Context(), streamed(unitItems(t, "p 9 1 pin g=g; a 1 1; b 1 1; c 1 1")), budgetOf(t, tokens, tokens), cupel.WithBatchSize(1))
		if err != nil {
			t.Fatal(err)
		}
		equal(t, "candidates", result.TotalCandidates, pulled)
	}
}

// Stand-ins have members, in the order of the candidates.
func TestStandInsHaveMembers(t *testing.T) {
	items := unitItems(t, "a 1 .9 g=g; b 2 .5; c 3 .1 g=g")
	seen := 0
	p := pipeline(t, func(c *cupel.Config) {
		c.Slicer = sliceFunc(func(_ context.Context, list []cupel.ScoredItem, _ cupel.SliceBudget) (cupel.Selection, error) {
			for _, it := range list {
				seen++
				if got, want := contents(it.Item.Members()), map[bool]string{true: "a c"}[it.Item.Group() == "g"]; got != want {
					t.Errorf("%s has members %q, want %q", it.Item.Content(), got, want)
				}
			}
			return cupel.Selection{}, nil
		})
	})
	if _, err := p.Run(t.Context(), items, budgetOf(t, 9, 9)); err != nil {
		t.Fatal(err)
	}
	equal(t, "units", seen, 2)
}

// TestDataCanBeCompared wants an Equal method wherever data have fields that
// packages like go-cmp cannot read, and would panic at.
func TestDataCanBeCompared(t *testing.T) {
	seen := make(map[reflect.Type]bool)
	var look func(at reflect.Type)
	look = func(at reflect.Type) {
		if seen[at] {
			return
		}
		seen[at] = true
		if equal, ok := at.MethodByName("Equal"); ok {
			if f := equal.Type; f.NumIn() != 2 || f.In(1) != at || f.NumOut() != 1 || f.Out(0).Kind() != reflect.Bool {
				t.Errorf("%v.Equal is %v, which does not compare two of its type", at, f)
			}
			return
		}
		if kind := at.Kind(); kind == reflect.Slice || kind == reflect.Pointer {
			look(at.Elem())
		} else if kind == reflect.Struct {
			for i := range at.NumField() {
				if f := at.Field(i); f.IsExported() {
					look(f.Type)
				} else {
					t.Errorf("%v has the field %s and no method Equal", at, f.Name)
				}
			}
		}
	}
	for _, root := range []reflect.Type{
		reflect.TypeFor[cupel.SelectionReport](), reflect.TypeFor[cupel.Selection](), reflect.TypeFor[*cupel.ContextItem](), reflect.TypeFor[cupel.Variant](),
		reflect.TypeFor[cupel.Form](), reflect.TypeFor[cupel.ReasonData](), reflect.TypeFor[cupel.ScoredItem](), reflect.TypeFor[cupel.Obstacle](), reflect.TypeFor[cupel.SliceBudget](),
	} {
		look(root)
	}
	a, b := cupel.ReasonData{Score: math.NaN(), Survivor: item(t, "a", 1)}, cupel.ReasonData{Score: math.NaN()}
	equal(t, "data with NaN, and another survivor", a.Equal(b), true)
	b.GroupTokens = 1
	equal(t, "data of another group", a.Equal(b), false)
	v := cupel.Variant{Content: "v", Tokens: 1, Worth: math.NaN()}
	equal(t, "a variant and itself", v.Equal(v), true)
	for _, other := range []cupel.Variant{{Tokens: 1, Worth: v.Worth}, {Content: "v", Worth: v.Worth}, {Content: "v", Tokens: 1, Worth: .5}, {Content: "v", Tokens: 1, Worth: v.Worth, Make: func(context.Context) (string, error) { return "v", nil }}} {
		if v.Equal(other) || other.Equal(v) {
			t.Errorf("%+v equals %+v", v, other)
		}
	}
}
