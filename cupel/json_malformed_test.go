package cupel

import (
	"cmp"
	"encoding/json"
	"errors"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"
)

// reader decodes text with a type's own UnmarshalJSON, into a value that is
// not zero where its type allows that, and reports whether that value changed.
type reader func(text string) (changed bool, err error)

func readerOf[T any, P interface {
	*T
	json.Unmarshaler
}](before func() T) reader {
	return func(text string) (bool, error) {
		target, want := before(), before()
		err := P(&target).UnmarshalJSON([]byte(text))
		return !reflect.DeepEqual(target, want), err
	}
}

var (
	itemReader   = readerOf[ContextItem](func() ContextItem { return ContextItem{} })
	budgetReader = readerOf[ContextBudget](func() ContextBudget { return ContextBudget{maxTokens: 7, slots: []reservedSlot{{"a", 1}}} })
	reportReader = readerOf[SelectionReport](func() SelectionReport {
		return SelectionReport{TotalCandidates: 3, Events: []TraceEvent{{Stage: StagePlace}}}
	})
	excludedReader = readerOf[ExcludedItem](func() ExcludedItem { return ExcludedItem{Score: 1} })
	reasonReader   = readerOf[ExclusionReason](func() ExclusionReason { return NewExclusionReason(ExcludeFiltered, ReasonData{FilterName: "f"}) })
	overflowReader = readerOf[OverflowEvent](func() OverflowEvent { return OverflowEvent{TokensOverBudget: 4} })
)

// The limits of int, which has 32 bits on some machines.

const (
	okItem   = `{"content": "a", "tokens": 1}`
	okReason = `{"reason": "NegativeTokens", "tokens": -1}`
)

// report returns the text of a report with one field replaced or added.
func report(field, value string) string {
	fields := map[string]string{"events": "[]", "included": "[]", "excluded": "[]", "total_candidates": "0", "total_tokens_considered": "0"}
	fields[field] = value
	var b strings.Builder
	for i, name := range slices.Sorted(maps.Keys(fields)) {
		if i > 0 {
			b.WriteString(", ")
		}
		b.WriteString(`"` + name + `": ` + fields[name])
	}
	return "{" + b.String() + "}"
}

var malformed = []struct {
	name string
	read reader
	text string
	path string
	want string // the beginning of the reason
	also error  // what errors.Is matches in addition to ErrInvalidJSON, or nil
	why  string
}{
	{"garbage behind", itemReader, okItem + "}", "", "is malformed: invalid character '}' after top-level value at byte 30", nil, "one value and nothing else"},
	{"content empty", itemReader, `{"content": "", "tokens": 1}`, "content", "must not be empty", ErrInvalidItem, "the ContextItem chapter's constraint 1"},
	{"kind empty", itemReader, `{"content": "a", "tokens": 1, "kind": ""}`, "kind", "must not be blank", ErrInvalidItem, "empty is not absent"},
	{"source blank", itemReader, `{"content": "a", "tokens": 1, "source": "\u00a0"}`, "source", "must not be blank", ErrInvalidItem, "a no-break space is white space (R2)"},
	{"tag null", itemReader, `{"content": "a", "tokens": 1, "tags": ["x", null]}`, "tags[1]", "must be a string, got null", ErrInvalidItem, "there is no absent tag"},
	{"metadata key twice", itemReader, `{"content": "a", "tokens": 1, "metadata": {"k": 1, "k": 1}}`, `metadata["k"]`, "is given twice", ErrInvalidItem, "one would be lost"},
	{"timestamp bad offset", itemReader, `{"content": "a", "tokens": 1, "timestamp": "2025-01-31T12:00:00+24:00"}`, "timestamp", "must be an RFC 3339 date-time", ErrInvalidItem, "offsets have 23 hours at most"},
	{"timestamp comma", itemReader, `{"content": "a", "tokens": 1, "timestamp": "2025-01-31T12:00:00,5Z"}`, "timestamp", "must be an RFC 3339 date-time", ErrInvalidItem, "ISO 8601 allows it, RFC 3339 does not"},
	{"timestamp bad offset minutes", itemReader, `{"content": "a", "tokens": 1, "timestamp": "2025-01-31T12:00:00-01:60"}`, "timestamp", "must be an RFC 3339 date-time", ErrInvalidItem, "offsets have 59 minutes at most"},
	{"timestamp short hour", itemReader, `{"content": "a", "tokens": 1, "timestamp": "2025-01-31T1:00:00.5Z"}`, "timestamp", "must be an RFC 3339 date-time", ErrInvalidItem, "hours have two digits"},
	{"timestamp 30 February", itemReader, `{"content": "a", "tokens": 1, "timestamp": "2025-02-30T12:00:00Z"}`, "timestamp", "must be an RFC 3339 date-time", ErrInvalidItem, "no such day"},
	{"timestamp after year 9999", itemReader, `{"content": "a", "tokens": 1, "timestamp": "9999-12-31T23:59:59-00:01"}`, "timestamp", "must be in the years 0 to 9999 in UTC", ErrInvalidItem, "00:00:59 UTC of the year 10000 could not be written back"},

	{"targetTokens null", budgetReader, `{"maxTokens": 1, "targetTokens": null}`, "targetTokens", "is required", ErrInvalidBudget, "null is absent"},
	{"maxTokens negative", budgetReader, `{"maxTokens": -1, "targetTokens": 0}`, "maxTokens", "must be at least 0, got -1", ErrInvalidBudget, "validation rule 1"},
	{"reserve above max", budgetReader, `{"maxTokens": 1, "targetTokens": 1, "outputReserve": 2}`, "outputReserve", "must be at most maxTokens (1), got 2", ErrInvalidBudget, "validation rule 5"},
	{"margin NaN", budgetReader, `{"maxTokens": 1, "targetTokens": 1, "estimationSafetyMarginPercent": "NaN"}`, "estimationSafetyMarginPercent", "must be from 0 to 100, got NaN", ErrInvalidBudget, "NaN is no percentage"},
	{"slot negative", budgetReader, `{"maxTokens": 1, "targetTokens": 1, "reservedSlots": {"a": 0, "b": -1}}`, `reservedSlots["b"]`, "must be at least 0, got -1", ErrInvalidBudget, "validation rule 7"},
	{"slot twice up to case", budgetReader, `{"maxTokens": 1, "targetTokens": 1, "reservedSlots": {"x": 1, "memory": 1, "MEMORY": 1}}`, `reservedSlots["Memory"]`, "is given twice", ErrInvalidBudget, "kinds are compared without ASCII case"},
	{"slot blank", budgetReader, `{"maxTokens": 1, "targetTokens": 1, "reservedSlots": {"": 1}}`, "reservedSlots", "must not have a blank kind", ErrInvalidBudget, "a kind is not blank"},

	{"reason missing", reasonReader, `{"tokens": 1}`, "reason", "is required", nil, "the discriminator is required"},
	{"data missing", reasonReader, `{"reason": "BudgetExceeded", "item_tokens": 1}`, "available_tokens", "is required", nil, "data-carrying fields MUST be present"},
	{"excluded without item", excludedReader, `{"item": null, "score": 1, "reason": ` + okReason + `}`, "item", "is required", nil, "null is absent"},
	{"overflow with a bad item", overflowReader, `{"tokens_over_budget": 1, "overflowing_items": [` + okItem + `, {}], "budget": {"maxTokens": 1, "targetTokens": 1}}`, "overflowing_items[1].content", "is required", ErrInvalidItem, "items are checked wherever they are"},

	{"metadata in a report", reportReader, report("excluded", `[{"item": {"content": "a", "tokens": 1, "metadata": {"a.b": {"c": 1, "c": 2}}}, "score": 1, "reason": `+okReason+`}]`), `excluded[0].item.metadata["a.b"]`, `has the name "c" twice`, ErrInvalidItem, "keys are quoted"},
}

func TestMalformedJSON(t *testing.T) {
	for _, tt := range malformed {
		t.Run(tt.name, func(t *testing.T) {
			changed, err := tt.read(tt.text)
			var e *DecodeError
			if !errors.As(err, &e) || !errors.Is(err, ErrInvalidJSON) || changed {
				t.Fatalf("error %v, want a DecodeError and the same target (changed: %t): %s", err, changed, tt.why)
			}
			if e.Path != tt.path || !strings.HasPrefix(e.Reason, tt.want) {
				t.Errorf("path %q, reason %q; want %q, %q: %s", e.Path, e.Reason, tt.path, tt.want, tt.why)
			}
			for _, sentinel := range []error{ErrInvalidItem, ErrInvalidBudget} {
				if got, want := errors.Is(err, sentinel), sentinel == tt.also; got != want {
					t.Errorf("errors.Is(err, %v) is %v, want %v", sentinel, got, want)
				}
			}
			if where := cmp.Or(tt.path, "value"); !strings.HasPrefix(err.Error(), "cupel: invalid JSON: "+where+" "+tt.want) {
				t.Errorf("error text %q does not say where and what", err)
			}
		})
	}
}

func TestReadingIntoNilPointers(t *testing.T) {
	for _, target := range []json.Unmarshaler{(*ContextItem)(nil), (*ContextBudget)(nil)} {
		if err := target.UnmarshalJSON([]byte("{}")); !errors.Is(err, ErrInvalidJSON) {
			t.Errorf("%T: reading into a nil pointer gives %v, want an error and no panic", target, err)
		}
	}
}

// What was read keeps nothing of the text it was read from.
func TestReadingCopies(t *testing.T) {
	text := []byte(`{"content": "abc", "tokens": 1, "tags": ["tag"], "metadata": {"k": "v", "n": 12}, "x": {"y": "z"}}`)
	var it ContextItem
	if err := it.UnmarshalJSON(text); err != nil {
		t.Fatal(err)
	}
	clear(text)
	got, err := it.MarshalJSON()
	want := `{"content":"abc","tokens":1,"kind":"Message","source":"Chat","tags":["tag"],"metadata":{"k":"v","n":12},"x":{"y":"z"}}`
	if err != nil || string(got) != want {
		t.Errorf("wrote %s, %v; want %s", got, err, want)
	}
}

func TestEncodeErrors(t *testing.T) {
	item := func(opts ...ItemOption) *ContextItem {
		it, err := NewContextItem("a", 1, opts...)
		if err != nil {
			t.Fatal(err)
		}
		return it
	}
	metadata := func(v any) *ContextItem { return item(WithMetadata(map[string]any{"fine": 1, "k\"": v})) }
	badContent, err := NewContextItem("a\xff", 1)
	if err != nil {
		t.Fatal(err)
	}
	badSlot, err := NewContextBudget(1, 1, WithReservedSlots(map[ContextKind]int{"\xff": 1}))
	if err != nil {
		t.Fatal(err)
	}
	tests := []struct {
		name  string
		value json.Marshaler
		path  string
		want  string // the beginning of the reason
		why   string
	}{
		{"zero item", &ContextItem{}, "", "must be an item that NewContextItem made", "it could not be read back"},
		{"content not UTF-8", badContent, "content", "is not valid UTF-8", "JSON is UTF-8; replacing the byte would lose it"},
		{"metadata channel", metadata(make(chan int)), `metadata["k\""]`, "cannot be encoded: json: unsupported type: chan int", "no JSON for it"},
		{"year 10000", item(WithTimestamp(time.Date(10000, 1, 1, 0, 0, 0, 0, time.UTC))), "timestamp", "must be in the years 0 to 9999 in UTC", "RFC 3339 has four digits"},
		{"year -1", item(WithTimestamp(time.Date(-1, 12, 31, 23, 59, 59, 0, time.UTC))), "timestamp", "must be in the years 0 to 9999 in UTC", "RFC 3339 has no sign"},
		{"slot not UTF-8", badSlot, `reservedSlots["\xff"]`, "is not valid UTF-8", "the same"},
		{"excluded zero item", ExcludedItem{Item: &ContextItem{}}, "item", "must be an item that NewContextItem made", "it could not be read back"},
		{"overflow", OverflowEvent{OverflowingItems: []*ContextItem{item(), nil}}, "overflowing_items[1]", "must be an item that NewContextItem made", "a list has no absent items"},
		{"deep in a report", SelectionReport{Excluded: []ExcludedItem{{Item: item()}, {Item: metadata("\xff")}}}, `excluded[1].item.metadata["k\""]`, "is not valid UTF-8", "the path leads to it"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			text, err := tt.value.MarshalJSON()
			var e *EncodeError
			if !errors.As(err, &e) || !errors.Is(err, ErrUnencodable) || text != nil {
				t.Fatalf("wrote %s, %v; want an EncodeError: %s", text, err, tt.why)
			}
			if e.Path != tt.path || !strings.HasPrefix(e.Reason, tt.want) {
				t.Errorf("path %q, reason %q; want %q, %q: %s", e.Path, e.Reason, tt.path, tt.want, tt.why)
			}
			if !strings.HasPrefix(err.Error(), "cupel: cannot write JSON: ") {
				t.Errorf("error text %q", err)
			}
		})
	}

	var unsupported *json.UnsupportedTypeError
	if _, err := metadata(func() {}).MarshalJSON(); !errors.As(err, &unsupported) {
		t.Errorf("%v does not wrap the error of encoding/json", err)
	}
}
