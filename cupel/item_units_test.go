package cupel_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"testing"
	"time"

	"github.com/wollax/cupel-go/cupel"
)

func made(context.Context) (string, error) { return "made", nil }

func TestVariantsAreChecked(t *testing.T) {
	of := func(content string, tokens int, worth float64) cupel.ItemOption {
		return cupel.WithVariants(cupel.Variant{Content: content, Tokens: tokens, Worth: worth})
	}
	tests := []struct {
		why    string
		opt    cupel.ItemOption
		tokens int
		field  string // "" when the item is fine
	}{
		{"one text, not two", cupel.WithVariants(cupel.Variant{Content: "a", Make: made, Tokens: 1, Worth: .5}), 10, "variants[0].content"},
		{"a variant is smaller", of("a", 10, .5), 10, "variants[0].tokens"},
		{"nothing is smaller than 0 tokens", of("a", 0, .5), 0, "variants[0].tokens"},
		{"worth 0 is worth nothing", of("a", 1, 0), 10, "variants[0].worth"},
		{"worth 1 is the full form", of("a", 1, 1), 10, "variants[0].worth"},
		{"NaN is no share", of("a", 1, math.NaN()), 10, "variants[0].worth"},
		{"a group variant may be larger than the item", cupel.WithGroupVariants(cupel.Variant{Content: "a", Tokens: 99, Worth: .5}), 10, ""},
		{"a function makes the text", cupel.WithVariants(cupel.Variant{Make: made, Tokens: 0, Worth: .5}), 10, ""},
		{"no variants", cupel.WithVariants(), 10, ""},
	}
	for _, tt := range tests {
		_, err := cupel.NewContextItem("full", tt.tokens, tt.opt)
		var invalid *cupel.InvalidItemError
		if errors.As(err, &invalid) != (tt.field != "") || invalid != nil && (invalid.Field != tt.field || invalid.Index != -1) {
			t.Errorf("%s: got %v, want field %q", tt.why, err, tt.field)
		}
	}
}

func TestVariantsAsUsed(t *testing.T) {
	of := func(tokens int, worth float64, name string) cupel.Variant {
		return cupel.Variant{Content: name, Tokens: tokens, Worth: worth}
	}
	tests := []struct {
		why  string
		list []cupel.Variant
		want string
	}{
		{"largest first", []cupel.Variant{of(10, .2, "a"), of(50, .8, "b"), of(30, .5, "c")}, "b c a"},
		{"one that is larger and worth no more is useless", []cupel.Variant{of(50, .5, "a"), of(30, .5, "b"), of(40, .4, "c")}, "b"},
		{"of equal tokens the one of greater worth", []cupel.Variant{of(30, .4, "a"), of(30, .5, "b")}, "b"},
		{"of equal tokens and worth the first", []cupel.Variant{of(30, .5, "a"), of(30, .5, "b")}, "a"},
		{"0 tokens are fine", []cupel.Variant{of(0, .1, "a"), of(30, .5, "b"), of(0, .2, "c")}, "b c"},
	}
	for _, tt := range tests {
		it := item(t, "full", 100, cupel.WithVariants(tt.list...))
		var names, forms []string
		for i, v := range it.Variants() {
			names = append(names, v.Content)
			if f := it.Forms()[i]; f.Tokens != v.Tokens || f.Worth != v.Worth {
				forms = append(forms, fmt.Sprint(f))
			}
		}
		if got := fmt.Sprint(names); got != "["+tt.want+"]" || len(forms) > 0 {
			t.Errorf("%s: got %s, want [%s]; forms that differ: %v", tt.why, got, tt.want, forms)
		}
	}
}

// What makes an item more than a plain one is named where only plain ones are taken,
// used or not.
func TestUnitFields(t *testing.T) {
	useless := cupel.Variant{Content: "a", Tokens: 1, Worth: 0.5}
	better := cupel.Variant{Content: "b", Tokens: 1, Worth: 0.6}
	for field, opt := range map[string]cupel.ItemOption{
		"group": cupel.WithGroup("g"), "variants": cupel.WithVariants(useless, better), "groupVariants": cupel.WithGroupVariants(useless), "versionOf": cupel.WithVersionOf("k"),
	} {
		it := item(t, "full", 10, opt)
		if it.Plain() {
			t.Errorf("an item with %s is plain", field)
		}
		source := func(yield func(*cupel.ContextItem, error) bool) { yield(it, nil) }
		_, err := greedy(t).RunStream(t.Context(), source, budgetOf(t, 20, 20))
		var invalid *cupel.InvalidItemError
		if !errors.As(err, &invalid) || invalid.Field != field {
			t.Errorf("with %s: got %v", field, err)
		}
	}
	plain := item(t, "full", 10, cupel.WithVariants())
	if !plain.Plain() || plain.Members() != nil {
		t.Error("an item without variants is not plain")
	}
	if _, err := greedy(t).RunStream(t.Context(), func(yield func(*cupel.ContextItem, error) bool) { yield(plain, nil) }, budgetOf(t, 20, 20)); err != nil {
		t.Errorf("a stream does not take it: %v", err)
	}
}

// Versions count by their times only if all have one.
func TestVersionsWithoutTimes(t *testing.T) {
	key, late, early := cupel.WithVersionOf("k"), cupel.WithTimestamp(time.Unix(9, 0)), cupel.WithTimestamp(time.Unix(1, 0))
	for _, tt := range []struct {
		second cupel.ItemOption
		want   string
		why    string
	}{
		{early, "first", "it is the newer one"},
		{nil, "second", "one of them has no time, so that the last one counts"},
	} {
		items := []*cupel.ContextItem{item(t, "first", 5, key, late), item(t, "second", 5, key, tt.second)}
		window, err := greedy(t).Run(t.Context(), items, budgetOf(t, 5, 5))
		if err != nil || len(window) != 1 || window[0].Content() != tt.want {
			t.Errorf("got %v, %v, want %s: %s", window, err, tt.want, tt.why)
		}
	}
}

func TestUnitsInJSON(t *testing.T) {
	const text = `{"content":"full","tokens":100,"kind":"Message","source":"Chat","group":"call_1","versionOf":"file:a","variants":[` +
		`{"content":"small","tokens":9,"worth":0.25},{"tokens":60,"worth":0.5,"note":1}],"groupVariants":[{"content":"all","tokens":5,"worth":0.125}]}`
	var it cupel.ContextItem
	if err := json.Unmarshal([]byte(text), &it); err != nil {
		t.Fatal(err)
	}
	if it.Group() != "call_1" || it.VersionOf() != "file:a" || len(it.GroupVariants()) != 1 {
		t.Errorf("got group %q, version of %q, group variants %v", it.Group(), it.VersionOf(), it.GroupVariants())
	}
	if v := it.Variants(); len(v) != 1 || v[0].Content != "small" {
		t.Errorf("got %v: a variant without content cannot be chosen", v)
	}
	back, err := json.Marshal(it)
	if err != nil || string(back) != text {
		t.Errorf("got\n%s, %v, want\n%s", back, err, text)
	}

	withFunction := item(t, "full", 100, cupel.WithVariants(cupel.Variant{Make: made, Tokens: 9, Worth: .25}))
	written, err := json.Marshal(withFunction)
	if want := `{"content":"full","tokens":100,"kind":"Message","source":"Chat","variants":[{"tokens":9,"worth":0.25}]}`; err != nil || string(written) != want {
		t.Errorf("got %s, %v, want %s: a function has no JSON", written, err, want)
	}
	if len(withFunction.Variants()) != 1 {
		t.Error("a variant with a function is used")
	}
}
