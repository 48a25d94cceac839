package cupel_test

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
)

// wholeReport is a report in JSON with every field that there is, and with an
// unknown one in each object.
const wholeReport = `{"events":[{"stage":"Classify","duration_ms":1.5,"item_count":3,"x":1},{"stage":"Slice","duration_ms":0,"item_count":1,"message":"text","x":[2]}],
"included":[{"item":{"content":"in","tokens":3,"kind":"Message","source":"Chat","priority":2,"tags":["t"],"metadata":{"k":"v"},"timestamp":"2025-01-02T03:04:05Z","futureRelevanceHint":0.5,"pinned":true,"originalTokens":9,"group":"g","versionOf":"k",
"variants":[{"content":"v","tokens":1,"worth":0.5,"x":1}],"groupVariants":[{"content":"w","tokens":7,"worth":0.5,"x":1}],"x":3},"score":0.5,"reason":{"reason":"Scored","x":[3]},"candidate":7,"form":2,"stale":true,"x":4}],
"excluded":[{"item":{"content":"out","tokens":4,"kind":"Message","source":"Chat"},"score":0.25,"reason":{"reason":"BudgetExceeded","item_tokens":4,"available_tokens":1,"x":5},"candidate":9,"stale":true,"x":6}],
"total_candidates":2,"total_tokens_considered":7,
"count_requirement_shortfalls":[{"kind":"Memory","required_count":2,"satisfied_count":1,"x":7}],
"overflow_event":{"tokens_over_budget":1,"overflowing_items":[{"content":"out","tokens":4}],"budget":{"maxTokens":20,"targetTokens":10,"outputReserve":8,"reservedSlots":{"A":6},"estimationSafetyMarginPercent":2.5,"x":8},"x":9},
"x":8,"y":9}`

func readReport(t *testing.T, text string) (cupel.SelectionReport, error) {
	t.Helper()
	var r cupel.SelectionReport
	err := json.Unmarshal([]byte(text), &r)
	return r, err
}

// TestEqualSeesEveryField changes each value of a report in turn, wherever it is:
// then the report is another one, and it is written as it was read.
func TestEqualSeesEveryField(t *testing.T) {
	original, err := readReport(t, wholeReport)
	if err != nil {
		t.Fatal(err)
	}
	if twice, err := readReport(t, wholeReport); err != nil || !original.Equal(twice) {
		t.Fatalf("a report that is read twice differs: %v", err)
	}
	if swapped, err := readReport(t, strings.Replace(wholeReport, `"x":8,"y":9`, `"y":9,"x":8`, 1)); err != nil || !original.Equal(swapped) {
		t.Errorf("the order of unknown fields counts: %v", err)
	}

	var tree any
	if err := json.Unmarshal([]byte(wholeReport), &tree); err != nil {
		t.Fatal(err)
	}
	changed := 0
	try := func(path string) {
		text, err := json.Marshal(tree)
		if err != nil {
			t.Fatal(err)
		}
		r, err := readReport(t, string(text))
		if err != nil {
			return // not one that there can be
		}
		changed++
		blind := strings.HasSuffix(path, ".duration_ms") || strings.HasSuffix(path, ".candidate")
		if r.Equal(original) != blind || original.Equal(r) != blind {
			t.Errorf("%s: with another value the reports are equal: %t, want %t", path, !blind, blind)
		}
		again, err := json.Marshal(r)
		if err != nil {
			t.Fatal(err)
		}
		var got any
		if err := json.Unmarshal(again, &got); err != nil || !contains(got, tree) {
			t.Errorf("%s: read %s, written %s", path, text, again)
		}
	}
	walk(tree, "report", func(path string, value any, set func(any)) {
		switch v := value.(type) {
		case float64:
			set(v + 1)
		case string:
			set(v + "x")
		case bool:
			set(!v)
		default:
			return
		}
		try(path)
		set(value)
	})
	if changed < 45 {
		t.Errorf("only %d values could be changed", changed)
	}
}

// contains reports whether all of part is in whole, which may have more fields
// and may lack those that are false.
func contains(whole, part any) bool {
	switch part := part.(type) {
	case map[string]any:
		m, ok := whole.(map[string]any)
		for name := range part {
			if value, has := m[name]; !ok || !has && part[name] != false || has && !contains(value, part[name]) {
				return false
			}
		}
		return ok
	case []any:
		list, ok := whole.([]any)
		return ok && slices.EqualFunc(list, part, contains)
	}
	return reflect.DeepEqual(whole, part)
}

func walk(tree any, path string, visit func(path string, value any, set func(any))) {
	switch tree := tree.(type) {
	case map[string]any:
		for name, value := range tree {
			visit(path+"."+name, value, func(v any) { tree[name] = v })
			walk(value, path+"."+name, visit)
		}
	case []any:
		for i, value := range tree {
			visit(fmt.Sprint(path, ".", i), value, func(v any) { tree[i] = v })
			walk(value, fmt.Sprint(path, ".", i), visit)
		}
	}
}

func TestEqualOfNothing(t *testing.T) {
	plain, grouped := item(t, "a", 1), item(t, "a", 1, cupel.WithGroup("g"))
	for _, tt := range []struct {
		a, b *cupel.ContextItem
		want bool
		why  string
	}{
		{nil, nil, true, "no item is no item"},
		{nil, plain, false, "and no other"},
		{plain, nil, false, "the other way round"},
		{plain, item(t, "a", 1), true, "pointers do not count"},
		{plain, grouped, false, "one has a group"},
		{plain, item(t, "a", 1, cupel.WithMetadata(map[string]any{"k": 1})), false, "one has metadata"},
		{grouped, plain, false, "the other way round"},
	} {
		if got := tt.a.Equal(tt.b); got != tt.want {
			t.Errorf("%v equals %v: %t, but %s", tt.a, tt.b, got, tt.why)
		}
	}
}

// What cannot be read is an error, of each type, and not an empty value.
func TestMalformedValues(t *testing.T) {
	for _, value := range []json.Unmarshaler{
		new(cupel.ContextItem), new(cupel.ContextBudget), new(cupel.ExclusionReason), new(cupel.SelectionReport), new(cupel.IncludedItem),
		new(cupel.ExcludedItem), new(cupel.TraceEvent), new(cupel.OverflowEvent), new(cupel.CountRequirementShortfall),
	} {
		if err := value.UnmarshalJSON([]byte("[]")); !errors.Is(err, cupel.ErrInvalidJSON) {
			t.Errorf("%T of a list: %v", value, err)
		}
	}
	one := item(t, "a", 1)
	if err := one.UnmarshalJSON([]byte(`{"content":"b","tokens":1}`)); !errors.Is(err, cupel.ErrInvalidJSON) || one.Content() != "a" {
		t.Errorf("an item that exists is read into: %v, %v", one.Content(), err)
	}
	if text, err := json.Marshal(cupel.CountRequirementShortfall{Kind: "Memory", RequiredCount: 2, SatisfiedCount: 1}); err != nil || string(text) != `{"kind":"Memory","required_count":2,"satisfied_count":1}` {
		t.Errorf("a shortfall is written as %s, %v", text, err)
	}
	var shortfall cupel.CountRequirementShortfall
	if err := shortfall.UnmarshalJSON([]byte(`{"kind":"memory","required_count":2,"satisfied_count":1}`)); err != nil || shortfall.Kind != cupel.KindMemory {
		t.Errorf("got %v, %v: well-known kinds have one spelling", shortfall, err)
	}
}

// Entries have a place among the candidates if there are units.
func TestPlacesInJSON(t *testing.T) {
	for fields, want := range map[string]string{
		`"candidate":0`: `"candidate":0,"form":0,"stale":false`, `"x":1,"stale":true,"candidate":5`: `"candidate":5,"form":0,"stale":true,"x":1`, `"form":3`: `"form":3,"stale":false`,
		`"candidate":-1`: "", `"form":-1`: "", `"stale":1`: "", `"x":2`: `"x":2`,
	} {
		var i cupel.IncludedItem
		err := json.Unmarshal([]byte(`{"item":{"content":"in","tokens":3},"score":0.5,"reason":{"reason":"Scored"},`+fields+`}`), &i)
		if want == "" {
			if !errors.Is(err, cupel.ErrInvalidJSON) {
				t.Errorf("%s: %v", fields, err)
			}
			continue
		}
		written, err2 := json.Marshal(i)
		if err != nil || err2 != nil || !strings.HasSuffix(string(written), `,"reason":{"reason":"Scored"},`+want+`}`) {
			t.Errorf("%s: written as %s, %v, %v", fields, written, err, err2)
		}
	}
}

// TestMetadataEqualThroughJSON compares items with themselves after a round
// trip, which gives their metadata other Go types.
func TestMetadataEqualThroughJSON(t *testing.T) {
	of := func(value any) *cupel.ContextItem {
		return item(t, "a", 1, cupel.WithMetadata(map[string]any{"k": value}))
	}
	type point struct{ Y, X int }
	for name, value := range map[string]any{
		"integer": 7, "small integer": int8(7), "number": 0.25, "text": "t", "list": []string{"a"}, "numbers": []float64{1, 2},
		"struct": point{1, 2}, "map": map[string]int{"b": 1, "a": 2}, "nothing": nil, "time": time.Unix(0, 0),
	} {
		before := of(value)
		data, err := json.Marshal(before)
		var after cupel.ContextItem
		if err == nil {
			err = json.Unmarshal(data, &after)
		}
		if err != nil || !before.Equal(&after) || !after.Equal(before) {
			t.Errorf("%s: %s is not equal to what was written: %v", name, data, err)
		}
		if other := of([]any{value}); other.Equal(before) || other.Equal(&after) {
			t.Errorf("%s: equal to a list of it", name)
		}
	}
	wire := make(chan int)
	for _, tt := range []struct {
		a, b any
		want bool
		why  string
	}{
		{wire, wire, true, "JSON cannot hold a channel, and it is the same one"},
		{wire, make(chan int), false, "another channel"},
		{wire, 1, false, "JSON can hold one of them"},
		{math.NaN(), math.NaN(), false, "as reflect.DeepEqual has it"},
		{point{1, 2}, map[string]int{"X": 2, "Y": 1}, true, "JSON has the same fields"},
		{1, "1", false, "a number is no text"},
	} {
		if got := of(tt.a).Equal(of(tt.b)); got != tt.want || of(tt.b).Equal(of(tt.a)) != tt.want {
			t.Errorf("%T and %T are equal: %t, want %t: %s", tt.a, tt.b, got, tt.want, tt.why)
		}
	}
	if of(1).Equal(item(t, "a", 1, cupel.WithMetadata(map[string]any{"other": 1}))) {
		t.Error("another key is equal")
	}
}
