package cupel_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/wollax/cupel-go/cupel"
)

func made(context.Context) (string, error) { return "made", nil }

func TestVariantsAreChecked(t *testing.T) {
	tests := []struct {
		why    string
		opt    cupel.ItemOption
		tokens int
		field  string // "" when the item is fine
	}{
		{"an empty group would join strangers", cupel.WithGroup(""), 10, "group"},
		{"an empty key would too", cupel.WithVersionOf(""), 10, "versionOf"},
		{"a variant needs a text", cupel.WithVariants(cupel.Variant{Tokens: 1, Worth: .5}), 10, "variants[0].content"},
		{"one text, not two", cupel.WithVariants(cupel.Variant{Content: "a", Make: made, Tokens: 1, Worth: .5}), 10, "variants[0].content"},
		{"tokens are at least 0", cupel.WithVariants(cupel.Variant{Content: "a", Tokens: -1, Worth: .5}), 10, "variants[0].tokens"},
		{"a variant is smaller", cupel.WithVariants(cupel.Variant{Content: "a", Tokens: 10, Worth: .5}), 10, "variants[0].tokens"},
		{"nothing is smaller than 0 tokens", cupel.WithVariants(cupel.Variant{Content: "a", Worth: .5}), 0, "variants[0].tokens"},
		{"worth 0 is worth nothing", cupel.WithVariants(cupel.Variant{Content: "a", Tokens: 1}), 10, "variants[0].worth"},
		{"worth 1 is the full form", cupel.WithVariants(cupel.Variant{Content: "a", Tokens: 1, Worth: 1}), 10, "variants[0].worth"},
		{"NaN is no share", cupel.WithVariants(cupel.Variant{Content: "a", Tokens: 1, Worth: math.NaN()}), 10, "variants[0].worth"},
		{"the second is wrong", cupel.WithGroupVariants(cupel.Variant{Content: "a", Tokens: 1, Worth: .5}, cupel.Variant{Content: "b", Tokens: 1}), 10, "groupVariants[1].worth"},
		{"a group variant may be larger than the item", cupel.WithGroupVariants(cupel.Variant{Content: "a", Tokens: 99, Worth: .5}), 10, ""},
		{"a function makes the text", cupel.WithVariants(cupel.Variant{Make: made, Tokens: 0, Worth: .5}), 10, ""},
		{"no variants", cupel.WithVariants(), 10, ""},
	}
	for _, tt := range tests {
		_, err := cupel.NewContextItem("full", tt.tokens, tt.opt)
		var invalid *cupel.InvalidItemError
		if errors.As(err, &invalid) != (tt.field != "") || invalid != nil && invalid.Field != tt.field {
			t.Errorf("%s: got %v, want field %q", tt.why, err, tt.field)
		}
	}
}

func TestVariantsAreCheckedAgainstCountedTokens(t *testing.T) {
	v := cupel.WithVariants(cupel.Variant{Content: "w", Tokens: 3, Worth: .5})
	if _, err := cupel.NewItemFrom(cupel.HeuristicCounter{}, "one two three four five", v); err != nil {
		t.Errorf("3 tokens are fewer than those counted: %v", err)
	}
	if _, err := cupel.NewItemFrom(cupel.HeuristicCounter{}, "one", v); !errors.Is(err, cupel.ErrInvalidItem) {
		t.Errorf("3 tokens are more than those counted: got %v", err)
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

func TestUnitsInWrongJSON(t *testing.T) {
	for text, path := range map[string]string{
		`{"content":"a","tokens":9,"group":""}`:                                               "group",
		`{"variants":[{"content":"b","tokens":9,"worth":0.5}],"content":"a","tokens":9}`:      "variants[0].tokens",
		`{"content":"a","tokens":9,"variants":[{"content":"","tokens":1,"worth":0.5}]}`:       "variants[0].content",
		`{"content":"a","tokens":9,"variants":[{"content":"b","tokens":1}]}`:                  "variants[0].worth",
		`{"content":"a","tokens":9,"groupVariants":[{"content":"b","tokens":1,"worth":1.5}]}`: "groupVariants[0].worth",
	} {
		var it cupel.ContextItem
		err := json.Unmarshal([]byte(text), &it)
		var wrong *cupel.DecodeError
		if !errors.As(err, &wrong) || wrong.Path != path || !errors.Is(err, cupel.ErrInvalidItem) {
			t.Errorf("%s: got %v, want a mistake at %s", text, err, path)
		}
	}
}

func TestEqualItemsHaveEqualUnits(t *testing.T) {
	v := cupel.Variant{Content: "b", Tokens: 1, Worth: .5}
	all := []*cupel.ContextItem{
		item(t, "a", 9),
		item(t, "a", 9, cupel.WithGroup("g")),
		item(t, "a", 9, cupel.WithVersionOf("g")),
		item(t, "a", 9, cupel.WithVariants(v)),
		item(t, "a", 9, cupel.WithGroupVariants(v)),
		item(t, "a", 9, cupel.WithVariants(cupel.Variant{Make: made, Tokens: 1, Worth: .5})),
		item(t, "a", 9, cupel.WithVariants(cupel.Variant{Content: "c", Tokens: 1, Worth: .5})),
		item(t, "a", 9, cupel.WithVariants(cupel.Variant{Content: "b", Tokens: 2, Worth: .5})),
		item(t, "a", 9, cupel.WithVariants(cupel.Variant{Content: "b", Tokens: 1, Worth: .25})),
	}
	for i, a := range all {
		if n := slices.IndexFunc(all, a.Equal); n != i {
			t.Errorf("item %d is equal to item %d", i, n)
		}
	}
	if !item(t, "a", 9, cupel.WithVariants(v), cupel.WithVariants()).Equal(all[0]) {
		t.Error("the last list of variants counts, and an empty one is none")
	}
}

func TestNewReasonsOfUnits(t *testing.T) {
	for _, text := range []string{
		`{"reason":"BudgetExceeded","item_tokens":5,"available_tokens":3,"group_tokens":40}`,
		`{"reason":"Superseded","superseded_by":"newer"}`,
	} {
		var r cupel.ExclusionReason
		if err := json.Unmarshal([]byte(text), &r); err != nil {
			t.Fatal(err)
		}
		if back, err := json.Marshal(r); err != nil || string(back) != text {
			t.Errorf("got %s, %v, want %s", back, err, text)
		}
	}
	r := cupel.NewExclusionReason(cupel.ExcludeBudgetExceeded, cupel.ReasonData{ItemTokens: 5, AvailableTokens: 3, GroupTokens: 40})
	if want := "BudgetExceeded: 5 tokens requested, 3 available (group_tokens=40)"; r.String() != want {
		t.Errorf("got %q, want %q", r, want)
	}
}

func TestWithKeepsUnits(t *testing.T) {
	it := item(t, "full", 100, cupel.WithGroup("g"), cupel.WithVariants(cupel.Variant{Content: "small", Tokens: 9, Worth: .5}))
	other, err := it.With(cupel.WithVersionOf("k"), cupel.WithVariants())
	if err != nil {
		t.Fatal(err)
	}
	if other.Group() != "g" || other.VersionOf() != "k" || len(other.Variants()) != 0 {
		t.Errorf("got group %q, key %q, variants %v", other.Group(), other.VersionOf(), other.Variants())
	}
	if it.VersionOf() != "" || len(it.Variants()) != 1 {
		t.Error("the copy has changed its original")
	}
	if _, err := it.With(cupel.WithContent("short", 5)); !errors.Is(err, cupel.ErrInvalidItem) {
		t.Errorf("got %v: the variant is larger than the shortened item", err)
	}
}
