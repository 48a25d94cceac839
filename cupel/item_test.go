package cupel_test

import (
	"encoding/json"
	"errors"
	"math"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/wollax/cupel-go/cupel"
)

func TestWithChangesACopy(t *testing.T) {
	var original cupel.ContextItem
	const text = `{"content":"c","tokens":7,"kind":"Note","source":"Rag","priority":2,"tags":["a"],"metadata":{"k":1.50},` +
		`"timestamp":"2026-05-06T07:08:09Z","futureRelevanceHint":0.5,"pinned":true,"originalTokens":9,"mine":{"x":[1,2]}}`
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
				`"timestamp":"2026-05-06T07:08:09Z","futureRelevanceHint":0.5,"pinned":true,"originalTokens":7,"mine":{"x":[1,2]}}`,
			"content and size go together"},
		{"all others", []cupel.ItemOption{cupel.WithKind("MESSAGE"), cupel.WithSource("tool"), cupel.WithPriority(0), cupel.WithTags(),
			cupel.WithMetadata(nil), cupel.WithTimestamp(later), hint(0)},
			`{"content":"c","tokens":7,"kind":"Message","source":"Tool","priority":0,` +
				`"timestamp":"2026-05-06T07:08:10Z","futureRelevanceHint":0,"pinned":true,"originalTokens":9,"mine":{"x":[1,2]}}`,
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
	whole := item(t, "x", 1)
	tests := []struct {
		name  string
		of    *cupel.ContextItem
		opt   cupel.ItemOption
		field string
		why   string
	}{
		{"nil item", nil, cupel.WithPinned(), "", "there is nothing to copy"},
		{"empty item", new(cupel.ContextItem), cupel.WithContent("x", 1), "", "it has no kind either"},
		{"empty content", whole, cupel.WithContent("", 1), "content", "as NewContextItem"},
		{"blank kind", whole, cupel.WithKind(" "), "kind", "as NewContextItem"},
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
	type result struct {
		text  string
		hasT  bool
		n     int
		hasN  bool
		list  []float64
		hasFs bool
	}
	none := result{}
	text := func(s string) result { return result{text: s, hasT: true} }
	whole := func(n int) result { return result{n: n, hasN: true} }
	list := func(f ...float64) result { return result{list: f, hasFs: true} }
	tests := []struct {
		name  string
		value any
		want  result
		why   string
	}{
		{"nil", nil, none, "there is no value"},
		{"string", "a", text("a"), "the usual text"},
		{"string type", label("a"), text("a"), "a type of the caller's"},
		{"digits", "5", text("5"), "text is not a number"},
		{"int", 5, whole(5), "the usual number"},
		{"least", int64(math.MinInt), whole(math.MinInt), "the range of int"},
		{"uint8", uint8(5), whole(5), "any integer type"},
		{"too large", uint64(math.MaxInt) + 1, none, "beyond int"},
		{"duration", time.Second, whole(1e9), "its kind is an integer"},
		{"float", 5.0, whole(5), "whole"},
		{"fraction", 5.5, none, "not whole"},
		{"large float", -float64(math.MinInt), none, "one more than the largest int"},
		{"least float", float64(math.MinInt), whole(math.MinInt), "the least int is a float64"},
		{"infinity", math.Inf(1), none, "not whole"},
		{"NaN", math.NaN(), none, "not a number"},
		{"number", json.Number(strconv.Itoa(math.MaxInt)), whole(math.MaxInt), "every digit of it"},
		{"exponent", json.Number("1.5e1"), whole(15), "whole, however it is spelled"},
		{"fraction in JSON", json.Number("0.5"), none, "not whole, and no text either"},
		{"truth", true, none, "neither text nor number"},
		{"floats", []float64{1, math.Inf(1)}, list(1, math.Inf(1)), "as it is"},
		{"float32s", []float32{0.5}, list(0.5), "as libraries of models have them"},
		{"ints", [2]int{1, -2}, list(1, -2), "an array of integers"},
		{"anything", []any{json.Number("0.25"), 2, uint(3)}, list(0.25, 2, 3), "as read from JSON"},
		{"empty", []any{}, list(), "a list without elements is a list"},
		{"mixed", []any{1, "2"}, none, "text is not a number"},
		{"null inside", []any{nil}, none, "null is not a number"},
		{"huge", []any{json.Number("1e999")}, none, "beyond float64"},
		{"nested", [][]float64{{1}}, none, "a list of lists"},
		{"bytes", []byte{1}, list(1), "bytes are integers"},
		{"map", map[int]float64{0: 1}, none, "a map has no order"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			it := item(t, "c", 1, cupel.WithMetadata(map[string]any{"k": tt.value}))
			var got result
			got.text, got.hasT = it.MetadataText("k")
			got.n, got.hasN = it.MetadataInt("k")
			got.list, got.hasFs = it.MetadataFloats("k")
			if got.text != tt.want.text || got.hasT != tt.want.hasT || got.n != tt.want.n || got.hasN != tt.want.hasN ||
				got.hasFs != tt.want.hasFs || !slices.Equal(got.list, tt.want.list) {
				t.Errorf("got %+v, want %+v: %s", got, tt.want, tt.why)
			}
		})
	}
	var absent *cupel.ContextItem
	if _, ok := absent.MetadataText("k"); ok {
		t.Error("a nil item has text")
	}
	if _, ok := item(t, "c", 1).MetadataInt("k"); ok {
		t.Error("an item without metadata has a number")
	}
}

// TestEmbeddingsAreNotCopied: a scorer asks each item for its embedding.
func TestEmbeddingsAreNotCopied(t *testing.T) {
	embedding := make([]float64, 1000)
	it := item(t, "c", 1, cupel.WithMetadata(map[string]any{"embedding": embedding}))
	if n := testing.AllocsPerRun(100, func() { it.MetadataFloats("embedding") }); n != 0 {
		t.Errorf("MetadataFloats allocates %v times", n)
	}
	if got, _ := it.MetadataFloats("embedding"); &got[0] != &embedding[0] {
		t.Error("MetadataFloats copies a []float64")
	}
}
