package cupel_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/wollax/cupel-go/cupel"
)

func TestWithChangesACopy(t *testing.T) {
	var original cupel.ContextItem
	const text = `{"content":"c","tokens":7,"kind":"Note","source":"Rag","priority":2,"tags":["a"],"metadata":{"k":1.50},` +
		`"timestamp":"2026-05-06T07:08:09Z","futureRelevanceHint":0.5,"pinned":true,"originalTokens":9,"group":"g","versionOf":"k","mine":{"x":[1,2]}}`
	if err := json.Unmarshal([]byte(text), &original); err != nil {
		t.Fatal(err)
	}
	later := time.Date(2026, 5, 6, 7, 8, 10, 0, time.UTC)
	tests := []struct {
		name string
		opts []cupel.ItemOption
		want string
		why  string
	}{
		{"nothing", nil, text, "a copy has every field, unknown ones included"},
		{"nil option", []cupel.ItemOption{nil}, text, "nil options are skipped, as by NewContextItem"},
		{"content", []cupel.ItemOption{cupel.WithContent("short", 3), cupel.WithOriginalTokens(7)},
			`{"content":"short","tokens":3,"kind":"Note","source":"Rag","priority":2,"tags":["a"],"metadata":{"k":1.50},` +
				`"timestamp":"2026-05-06T07:08:09Z","futureRelevanceHint":0.5,"pinned":true,"originalTokens":7,"group":"g","versionOf":"k","mine":{"x":[1,2]}}`,
			"content and size go together"},
		{"all others", []cupel.ItemOption{cupel.WithKind("MESSAGE"), cupel.WithSource("tool"), cupel.WithPriority(0), cupel.WithTags(),
			cupel.WithMetadata(nil), cupel.WithTimestamp(later), hint(0), cupel.WithGroup("h"), cupel.WithVersionOf("l")},
			`{"content":"c","tokens":7,"kind":"Message","source":"Tool","priority":0,` +
				`"timestamp":"2026-05-06T07:08:10Z","futureRelevanceHint":0,"pinned":true,"originalTokens":9,"group":"h","versionOf":"l","mine":{"x":[1,2]}}`,
			"options replace what was there"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			changed, err := original.With(tt.opts...)
			if err != nil || changed == &original {
				t.Fatalf("got %p, %v, want an item of its own: %s", changed, err, tt.why)
			}
			if got, err := json.Marshal(changed); err != nil || string(got) != tt.want {
				t.Errorf("got %s, %v, want %s: %s", got, err, tt.want, tt.why)
			}
			if got, err := json.Marshal(original); err != nil || string(got) != text {
				t.Errorf("the original is now %s, %v", got, err)
			}
		})
	}
}

func TestWithFails(t *testing.T) {
	tests := []struct {
		name  string
		of    *cupel.ContextItem
		opt   cupel.ItemOption
		field string
		why   string
	}{
		{"nil item", nil, cupel.WithPinned(), "", "there is nothing to copy"},
		{"empty item", new(cupel.ContextItem), cupel.WithContent("x", 1), "", "it has no kind either"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := tt.of.With(tt.opt)
			var invalid *cupel.InvalidItemError
			if got != nil || !errors.As(err, &invalid) || invalid.Field != tt.field {
				t.Errorf("got %v, %v, want an InvalidItemError for %q: %s", got, err, tt.field, tt.why)
			}
		})
	}
}

func TestTypedMetadata(t *testing.T) {
	type label string
	tests := []struct {
		value any
		want  string // as text or as an integer; "" for neither
		why   string
	}{
		{nil, "", "nil: there is no value"},
		{"a", "text a", "string: the usual text"},
		{label("a"), "text a", "string type: a type of the caller's"},
		{"5", "text 5", "digits: text is not a number"},
		{5, "integer 5", "int: the usual number"},
		{int64(math.MinInt), "integer " + strconv.Itoa(math.MinInt), "least: the range of int"},
		{uint8(5), "integer 5", "uint8: any integer type"},
		{uint64(math.MaxInt), "integer " + strconv.Itoa(math.MaxInt), "largest: the range of int"},
		{uint64(math.MaxInt) + 1, "", "too large: beyond int"},
		{time.Second, "integer 1000000000", "duration: its kind is an integer"},
		{5.0, "integer 5", "float: whole"},
		{5.5, "", "fraction: not whole"},
		{-float64(math.MinInt), "", "large float: one more than the largest int"},
		{float64(math.MinInt), "integer " + strconv.Itoa(math.MinInt), "least float: the least int is a float64"},
		{math.Inf(1), "", "infinity: not whole"},
		{math.NaN(), "", "NaN: not a number"},
		{json.Number(strconv.Itoa(math.MaxInt)), "integer " + strconv.Itoa(math.MaxInt), "number: every digit of it"},
		{json.Number("1.5e1"), "integer 15", "exponent: whole, however it is spelled"},
		{true, "", "truth: neither text nor number"},
	}
	for _, tt := range tests {
		it := item(t, "c", 1, cupel.WithMetadata(map[string]any{"k": tt.value}))
		var got []string
		if text, ok := it.MetadataText("k"); ok {
			got = append(got, "text "+text)
		}
		if n, ok := it.MetadataInt("k"); ok {
			got = append(got, fmt.Sprint("integer ", n))
		}
		equal(t, tt.why, strings.Join(got, ", "), tt.want)
	}
	var absent *cupel.ContextItem
	if _, ok := absent.MetadataText("k"); ok {
		t.Error("a nil item has text")
	}
	if n, ok := item(t, "c", 1).MetadataInt("k"); ok || n != 0 {
		t.Error("an item without metadata has a number")
	}
}
