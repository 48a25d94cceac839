package cupel

import (
	"encoding/json"
	"errors"
	"maps"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/wollax/cupel-go/cupel/internal/compat"
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
	includedReader  = readerOf[IncludedItem](func() IncludedItem { return IncludedItem{Score: 1, Reason: IncludePinned} })
	excludedReader  = readerOf[ExcludedItem](func() ExcludedItem { return ExcludedItem{Score: 1} })
	reasonReader    = readerOf[ExclusionReason](func() ExclusionReason { return NewExclusionReason(ExcludeFiltered, ReasonData{FilterName: "f"}) })
	eventReader     = readerOf[TraceEvent](func() TraceEvent { return TraceEvent{Stage: StageScore, Message: "m"} })
	overflowReader  = readerOf[OverflowEvent](func() OverflowEvent { return OverflowEvent{TokensOverBudget: 4} })
	shortfallReader = readerOf[CountRequirementShortfall](func() CountRequirementShortfall { return CountRequirementShortfall{Kind: "k"} })
)

// The limits of int, which has 32 bits on some machines.
var least, largest = strconv.Itoa(math.MinInt), strconv.Itoa(math.MaxInt)

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
	{"no text", itemReader, "", "", "is malformed: unexpected end of JSON input", nil, "nothing is no item"},
	{"truncated", itemReader, `{"content": "a", "tok`, "", "is malformed: unexpected end of JSON input", nil, "half an item is no item"},
	{"truncated report", reportReader, report("total_candidates", "1")[:60], "", "is malformed: unexpected end", nil, "half a report is no report"},
	{"garbage behind", itemReader, okItem + "}", "", "is malformed: invalid character '}' after top-level value at byte 30", nil, "one value and nothing else"},
	{"comment", budgetReader, `{"maxTokens": 1, "targetTokens": 1} // all`, "", "is malformed: invalid character '/'", nil, "JSON has no comments"},
	{"single quotes", budgetReader, `{'maxTokens': 1}`, "", "is malformed: invalid character '\\''", nil, "JSON has one kind of quotes"},
	{"not UTF-8", itemReader, "{\"content\": \"a\xff\", \"tokens\": 1}", "", "is malformed: is not valid UTF-8", nil, "encoding/json would replace the byte in silence"},
	{"very deep", itemReader, `{"metadata":{"a":` + strings.Repeat("[", 1_000_000), "", "is malformed: invalid character '[' exceeded max depth", nil, "depth never exhausts the stack"},
	{"deep and complete", itemReader, `{"x":` + strings.Repeat("[", 20_000) + strings.Repeat("]", 20_000) + `}`, "", "is malformed: invalid character '[' exceeded max depth", nil, "nor in an unknown field"},

	{"array for an item", itemReader, `[]`, "", "must be an object, got an array", nil, "wrong type"},
	{"string for an item", itemReader, `"a"`, "", "must be an object, got a string", nil, "wrong type"},
	{"number for a budget", budgetReader, `8192`, "", "must be an object, got a number", nil, "wrong type"},
	{"boolean for a report", reportReader, `true`, "", "must be an object, got a boolean", nil, "wrong type"},
	{"string for a reason", reasonReader, `"Filtered"`, "", "must be an object, got a string", nil, "the envelope is an object"},
	{"array for an event", eventReader, `[]`, "", "must be an object, got an array", nil, "wrong type"},
	{"array for a shortfall", shortfallReader, `[]`, "", "must be an object, got an array", nil, "wrong type"},

	{"content missing", itemReader, `{"tokens": 1}`, "content", "is required", ErrInvalidItem, "an item has content"},
	{"content null", itemReader, `{"content": null, "tokens": 1}`, "content", "is required", ErrInvalidItem, "null is absent"},
	{"content empty", itemReader, `{"content": "", "tokens": 1}`, "content", "must not be empty", ErrInvalidItem, "the ContextItem chapter's constraint 1"},
	{"content number", itemReader, `{"content": 1, "tokens": 1}`, "content", "must be a string, got a number", ErrInvalidItem, "wrong type"},
	{"content of other case", itemReader, `{"Content": "a", "tokens": 1}`, "content", "is required", ErrInvalidItem, "names are compared exactly"},
	{"half a surrogate pair", itemReader, `{"content": "\ud800", "tokens": 1}`, "content", "has an escape that is one half of a surrogate pair", ErrInvalidItem, "encoding/json would replace it in silence"},
	{"tokens missing", itemReader, `{"content": "a"}`, "tokens", "is required", ErrInvalidItem, "0 tokens are not guessed"},
	{"tokens string", itemReader, `{"content": "a", "tokens": "1"}`, "tokens", "must be an integer, got a string", ErrInvalidItem, "wrong type"},
	{"tokens with a fraction", itemReader, `{"content": "a", "tokens": 1.5}`, "tokens", "must be an integer, got 1.5", ErrInvalidItem, "no half tokens"},
	{"tokens with a huge exponent", itemReader, `{"content": "a", "tokens": 1e999999999}`, "tokens", "must be from " + least + " to " + largest + ", got 1e999999999", ErrInvalidItem, "a thousand million zeros are not written out"},
	{"tokens beyond int", itemReader, `{"content": "a", "tokens": 9223372036854775808}`, "tokens", "must be from " + least + " to " + largest + ", got 9223372036854775808", ErrInvalidItem, "2^63 would wrap"},
	{"tokens twice", itemReader, `{"content": "a", "tokens": 1, "tokens": 1}`, `["tokens"]`, "is given twice", ErrInvalidItem, "which one is meant?"},
	{"tokens twice, escaped", itemReader, `{"content": "a", "tokens": 1, "\u0074okens": 2}`, `["tokens"]`, "is given twice", ErrInvalidItem, "escapes do not hide a name"},
	{"unknown field twice", itemReader, `{"x": 1, "content": "a", "x": 2, "tokens": 1}`, `["x"]`, "is given twice", ErrInvalidItem, "one could be lost on the way"},
	{"name with half a surrogate pair", itemReader, `{"content": "a", "tokens": 1, "\udc00": 2}`, "", "has a name that has an escape", nil, "it could not be written back"},
	{"kind blank", itemReader, `{"content": "a", "tokens": 1, "kind": " \t"}`, "kind", "must not be blank", ErrInvalidItem, "a kind is not blank"},
	{"kind empty", itemReader, `{"content": "a", "tokens": 1, "kind": ""}`, "kind", "must not be blank", ErrInvalidItem, "empty is not absent"},
	{"kind number", itemReader, `{"content": "a", "tokens": 1, "kind": 5}`, "kind", "must be a string, got a number", ErrInvalidItem, "wrong type"},
	{"source blank", itemReader, `{"content": "a", "tokens": 1, "source": "\u00a0"}`, "source", "must not be blank", ErrInvalidItem, "a no-break space is white space (R2)"},
	{"source boolean", itemReader, `{"content": "a", "tokens": 1, "source": true}`, "source", "must be a string, got a boolean", ErrInvalidItem, "wrong type"},
	{"priority float", itemReader, `{"content": "a", "tokens": 1, "priority": 0.5}`, "priority", "must be an integer", ErrInvalidItem, "wrong type"},
	{"tags string", itemReader, `{"content": "a", "tokens": 1, "tags": "x"}`, "tags", "must be an array, got a string", ErrInvalidItem, "wrong type"},
	{"tag null", itemReader, `{"content": "a", "tokens": 1, "tags": ["x", null]}`, "tags[1]", "must be a string, got null", ErrInvalidItem, "there is no absent tag"},
	{"metadata array", itemReader, `{"content": "a", "tokens": 1, "metadata": []}`, "metadata", "must be an object, got an array", ErrInvalidItem, "wrong type"},
	{"metadata key twice", itemReader, `{"content": "a", "tokens": 1, "metadata": {"k": 1, "k": 1}}`, `metadata["k"]`, "is given twice", ErrInvalidItem, "one would be lost"},
	{"metadata nested key twice", itemReader, `{"content": "a", "tokens": 1, "metadata": {"k": [{"b": 1, "b": 2}]}}`, `metadata["k"]`, `has the name "b" twice`, ErrInvalidItem, "one would be lost"},
	{"metadata half a surrogate pair", itemReader, `{"content": "a", "tokens": 1, "metadata": {"k": "\udead"}}`, `metadata["k"]`, "has an escape that is one half", ErrInvalidItem, "it would be replaced"},
	{"timestamp number", itemReader, `{"content": "a", "tokens": 1, "timestamp": 1738324800}`, "timestamp", "must be a string, got a number", ErrInvalidItem, "RFC 3339 is text"},
	{"timestamp date only", itemReader, `{"content": "a", "tokens": 1, "timestamp": "2025-01-31"}`, "timestamp", "must be an RFC 3339 date-time", ErrInvalidItem, "a day is no instant"},
	{"timestamp without offset", itemReader, `{"content": "a", "tokens": 1, "timestamp": "2025-01-31T12:00:00"}`, "timestamp", "must be an RFC 3339 date-time", ErrInvalidItem, "no instant without an offset"},
	{"timestamp bad offset", itemReader, `{"content": "a", "tokens": 1, "timestamp": "2025-01-31T12:00:00+24:00"}`, "timestamp", "must be an RFC 3339 date-time", ErrInvalidItem, "offsets have 23 hours at most"},
	{"timestamp comma", itemReader, `{"content": "a", "tokens": 1, "timestamp": "2025-01-31T12:00:00,5Z"}`, "timestamp", "must be an RFC 3339 date-time", ErrInvalidItem, "ISO 8601 allows it, RFC 3339 does not"},
	{"timestamp bad offset minutes", itemReader, `{"content": "a", "tokens": 1, "timestamp": "2025-01-31T12:00:00-01:60"}`, "timestamp", "must be an RFC 3339 date-time", ErrInvalidItem, "offsets have 59 minutes at most"},
	{"timestamp short hour", itemReader, `{"content": "a", "tokens": 1, "timestamp": "2025-01-31T1:00:00.5Z"}`, "timestamp", "must be an RFC 3339 date-time", ErrInvalidItem, "hours have two digits"},
	{"timestamp short", itemReader, `{"content": "a", "tokens": 1, "timestamp": "2025-01-31T1:00:00Z"}`, "timestamp", "must be an RFC 3339 date-time", ErrInvalidItem, "hours have two digits"},
	{"timestamp 30 February", itemReader, `{"content": "a", "tokens": 1, "timestamp": "2025-02-30T12:00:00Z"}`, "timestamp", "must be an RFC 3339 date-time", ErrInvalidItem, "no such day"},
	{"timestamp before year 0", itemReader, `{"content": "a", "tokens": 1, "timestamp": "0000-01-01T00:00:00+01:00"}`, "timestamp", "must be in the years 0 to 9999 in UTC", ErrInvalidItem, "23:00 UTC of the year -1 could not be written back"},
	{"timestamp after year 9999", itemReader, `{"content": "a", "tokens": 1, "timestamp": "9999-12-31T23:59:59-00:01"}`, "timestamp", "must be in the years 0 to 9999 in UTC", ErrInvalidItem, "00:00:59 UTC of the year 10000 could not be written back"},
	{"hint boolean", itemReader, `{"content": "a", "tokens": 1, "futureRelevanceHint": true}`, "futureRelevanceHint", `must be a number, "NaN", "Infinity" or "-Infinity", got a boolean`, ErrInvalidItem, "wrong type"},
	{"hint too large", itemReader, `{"content": "a", "tokens": 1, "futureRelevanceHint": 1e309}`, "futureRelevanceHint", "must be within the range of a float64, got 1e309", ErrInvalidItem, "not silently an infinity"},
	{"pinned number", itemReader, `{"content": "a", "tokens": 1, "pinned": 1}`, "pinned", "must be true or false, got a number", ErrInvalidItem, "wrong type"},
	{"originalTokens object", itemReader, `{"content": "a", "tokens": 1, "originalTokens": {}}`, "originalTokens", "must be an integer, got an object", ErrInvalidItem, "wrong type"},

	{"maxTokens missing", budgetReader, `{"targetTokens": 1}`, "maxTokens", "is required", ErrInvalidBudget, "a budget has a ceiling"},
	{"targetTokens null", budgetReader, `{"maxTokens": 1, "targetTokens": null}`, "targetTokens", "is required", ErrInvalidBudget, "null is absent"},
	{"maxTokens negative", budgetReader, `{"maxTokens": -1, "targetTokens": 0}`, "maxTokens", "must be at least 0, got -1", ErrInvalidBudget, "validation rule 1"},
	{"targetTokens negative", budgetReader, `{"maxTokens": 1, "targetTokens": -1}`, "targetTokens", "must be at least 0, got -1", ErrInvalidBudget, "validation rule 2"},
	{"target above max", budgetReader, `{"maxTokens": 1, "targetTokens": 2}`, "targetTokens", "must be at most maxTokens (1), got 2", ErrInvalidBudget, "validation rule 3"},
	{"reserve negative", budgetReader, `{"maxTokens": 1, "targetTokens": 1, "outputReserve": -1}`, "outputReserve", "must be at least 0, got -1", ErrInvalidBudget, "validation rule 4"},
	{"target above a max of 0", budgetReader, `{"maxTokens": 0, "targetTokens": 1}`, "targetTokens", "must be at most maxTokens (0), got 1", ErrInvalidBudget, "validation rule 3"},
	{"reserve above max", budgetReader, `{"maxTokens": 1, "targetTokens": 1, "outputReserve": 2}`, "outputReserve", "must be at most maxTokens (1), got 2", ErrInvalidBudget, "validation rule 5"},
	{"margin above 100", budgetReader, `{"maxTokens": 1, "targetTokens": 1, "estimationSafetyMarginPercent": 100.5}`, "estimationSafetyMarginPercent", "must be from 0 to 100, got 100.5", ErrInvalidBudget, "validation rule 6"},
	{"margin NaN", budgetReader, `{"maxTokens": 1, "targetTokens": 1, "estimationSafetyMarginPercent": "NaN"}`, "estimationSafetyMarginPercent", "must be from 0 to 100, got NaN", ErrInvalidBudget, "NaN is no percentage"},
	{"slot negative", budgetReader, `{"maxTokens": 1, "targetTokens": 1, "reservedSlots": {"a": 0, "b": -1}}`, `reservedSlots["b"]`, "must be at least 0, got -1", ErrInvalidBudget, "validation rule 7"},
	{"slot twice", budgetReader, `{"maxTokens": 1, "targetTokens": 1, "reservedSlots": {"a": 1, "a": 1}}`, `reservedSlots["a"]`, "is given twice", ErrInvalidBudget, "exactly the same kind"},
	{"slot twice up to case", budgetReader, `{"maxTokens": 1, "targetTokens": 1, "reservedSlots": {"x": 1, "memory": 1, "MEMORY": 1}}`, `reservedSlots["Memory"]`, "is given twice", ErrInvalidBudget, "kinds are compared without ASCII case"},
	{"slot blank", budgetReader, `{"maxTokens": 1, "targetTokens": 1, "reservedSlots": {"": 1}}`, "reservedSlots", "must not have a blank kind", ErrInvalidBudget, "a kind is not blank"},
	{"slot null", budgetReader, `{"maxTokens": 1, "targetTokens": 1, "reservedSlots": {"a": null}}`, `reservedSlots["a"]`, "must be an integer, got null", ErrInvalidBudget, "a kind without tokens means nothing"},
	{"slots array", budgetReader, `{"maxTokens": 1, "targetTokens": 1, "reservedSlots": [1]}`, "reservedSlots", "must be an object, got an array", ErrInvalidBudget, "wrong type"},
	{"slots half a surrogate pair", budgetReader, `{"maxTokens": 1, "targetTokens": 1, "reservedSlots": {"\ud800": 1}}`, "reservedSlots", "has a name that has an escape", ErrInvalidBudget, "no kind has such a name"},
	{"maxTokens twice", budgetReader, `{"maxTokens": 1, "maxTokens": 1, "targetTokens": 1}`, `["maxTokens"]`, "is given twice", ErrInvalidBudget, "which one is meant?"},

	{"reason missing", reasonReader, `{"tokens": 1}`, "reason", "is required", nil, "the discriminator is required"},
	{"reason number", reasonReader, `{"reason": 3}`, "reason", "must be a string, got a number", nil, "not an integer code"},
	{"data missing", reasonReader, `{"reason": "BudgetExceeded", "item_tokens": 1}`, "available_tokens", "is required", nil, "data-carrying fields MUST be present"},
	{"data null", reasonReader, `{"reason": "Filtered", "filter_name": null}`, "filter_name", "is required", nil, "null is absent"},
	{"data string", reasonReader, `{"reason": "Deduplicated", "deduplicated_against": 1}`, "deduplicated_against", "must be a string, got a number", nil, "wrong type"},
	{"data float", reasonReader, `{"reason": "ScoredTooLow", "score": "low", "threshold": 1}`, "score", `must be a number, "NaN"`, nil, "wrong type"},
	{"data kind", reasonReader, `{"reason": "QuotaRequireDisplaced", "displaced_by_kind": []}`, "displaced_by_kind", "must be a string, got an array", nil, "wrong type"},
	{"data integer", reasonReader, `{"reason": "NegativeTokens", "tokens": -1.1}`, "tokens", "must be an integer, got -1.1", nil, "wrong type"},

	{"stage missing", eventReader, `{"duration_ms": 0, "item_count": 1}`, "stage", "is required", nil, "required"},
	{"duration missing", eventReader, `{"stage": "Score", "item_count": 1}`, "duration_ms", "is required", nil, "required"},
	{"count missing", eventReader, `{"stage": "Score", "duration_ms": 0}`, "item_count", "is required", nil, "required"},
	{"message number", eventReader, `{"stage": "Score", "duration_ms": 0, "item_count": 1, "message": 0}`, "message", "must be a string, got a number", nil, "wrong type"},
	{"shortfall kind", shortfallReader, `{"kind": 1, "required_count": 1, "satisfied_count": 0}`, "kind", "must be a string, got a number", nil, "wrong type"},
	{"shortfall count", shortfallReader, `{"kind": "a", "required_count": 1}`, "satisfied_count", "is required", nil, "required"},

	{"included without score", includedReader, `{"item": ` + okItem + `, "reason": {"reason": "Scored"}}`, "score", "is required", nil, "required"},
	{"included without reason", includedReader, `{"item": ` + okItem + `, "score": 1}`, "reason", "is required", nil, "required"},
	{"included with a bare reason", includedReader, `{"item": ` + okItem + `, "score": 1, "reason": "Scored"}`, "reason", "must be an object, got a string", nil, "the envelope is an object"},
	{"included with an empty envelope", includedReader, `{"item": ` + okItem + `, "score": 1, "reason": {}}`, "reason.reason", "is required", nil, "the discriminator is required"},
	{"excluded without item", excludedReader, `{"item": null, "score": 1, "reason": ` + okReason + `}`, "item", "is required", nil, "null is absent"},
	{"excluded with a bad item", excludedReader, `{"item": {"content": "a", "tokens": 1, "kind": ""}, "score": 1, "reason": ` + okReason + `}`, "item.kind", "must not be blank", ErrInvalidItem, "items are checked wherever they are"},
	{"overflow with a bad item", overflowReader, `{"tokens_over_budget": 1, "overflowing_items": [` + okItem + `, {}], "budget": {"maxTokens": 1, "targetTokens": 1}}`, "overflowing_items[1].content", "is required", ErrInvalidItem, "items are checked wherever they are"},
	{"overflow with a null item", overflowReader, `{"tokens_over_budget": 1, "overflowing_items": [null], "budget": {"maxTokens": 1, "targetTokens": 1}}`, "overflowing_items[0]", "must be an object, got null", nil, "a list has no absent items"},
	{"overflow with a bad budget", overflowReader, `{"tokens_over_budget": 1, "overflowing_items": [], "budget": {"maxTokens": 1, "targetTokens": 2}}`, "budget.targetTokens", "must be at most maxTokens (1), got 2", ErrInvalidBudget, "budgets are checked wherever they are"},

	{"events missing", reportReader, `{"included": [], "excluded": [], "total_candidates": 0, "total_tokens_considered": 0}`, "events", "is required", nil, "an empty list is written as one"},
	{"included null", reportReader, report("included", "null"), "included", "is required", nil, "null is absent"},
	{"excluded object", reportReader, report("excluded", "{}"), "excluded", "must be an array, got an object", nil, "wrong type"},
	{"total string", reportReader, report("total_candidates", `"5"`), "total_candidates", "must be an integer, got a string", nil, "wrong type"},
	{"total tokens missing", reportReader, report("total_tokens_considered", "null"), "total_tokens_considered", "is required", nil, "null is absent"},
	{"event in a report", reportReader, report("events", `[{"stage": "Score", "duration_ms": 1, "item_count": 1}, 5]`), "events[1]", "must be an object, got a number", nil, "wrong type"},
	{"item in a report", reportReader, report("included", `[{"item": {"content": "a", "tokens": "x"}, "score": 1, "reason": {"reason": "Scored"}}]`), "included[0].item.tokens", "must be an integer, got a string", ErrInvalidItem, "the path leads to the field"},
	{"metadata in a report", reportReader, report("excluded", `[{"item": {"content": "a", "tokens": 1, "metadata": {"a.b": {"c": 1, "c": 2}}}, "score": 1, "reason": `+okReason+`}]`), `excluded[0].item.metadata["a.b"]`, `has the name "c" twice`, ErrInvalidItem, "keys are quoted"},
	{"reason in a report", reportReader, report("excluded", `[{"item": `+okItem+`, "score": 1, "reason": {"reason": "NegativeTokens"}}]`), "excluded[0].reason.tokens", "is required", nil, "the path leads to the field"},
	{"shortfall in a report", reportReader, report("count_requirement_shortfalls", `[{"kind": "a", "required_count": 1, "satisfied_count": 0, "kind": "b"}]`), `count_requirement_shortfalls[0]["kind"]`, "is given twice", nil, "which one is meant?"},
	{"overflow in a report", reportReader, report("overflow_event", `{"tokens_over_budget": 0, "overflowing_items": [], "budget": {"maxTokens": 1, "targetTokens": 1, "reservedSlots": {"a": 1.5}}}`), `overflow_event.budget.reservedSlots["a"]`, "must be an integer, got 1.5", ErrInvalidBudget, "the path leads to the field"},
	{"field twice in a report", reportReader, `{"events": [], "events": []}`, `["events"]`, "is given twice", nil, "which one is meant?"},
}

func TestMalformedJSON(t *testing.T) {
	names := make(map[string]bool)
	for _, tt := range malformed {
		t.Run(tt.name, func(t *testing.T) {
			if names[tt.name] || tt.why == "" {
				t.Fatal("a row needs a name of its own and a reason")
			}
			names[tt.name] = true
			changed, err := tt.read(tt.text)
			var e *DecodeError
			if !errors.As(err, &e) || !errors.Is(err, ErrInvalidJSON) {
				t.Fatalf("error %v, want a DecodeError: %s", err, tt.why)
			}
			if changed {
				t.Error("the target changed, although reading failed")
			}
			if e.Path != tt.path || !strings.HasPrefix(e.Reason, tt.want) {
				t.Errorf("path %q, reason %q; want %q, %q: %s", e.Path, e.Reason, tt.path, tt.want, tt.why)
			}
			for _, sentinel := range []error{ErrInvalidItem, ErrInvalidBudget} {
				if got, want := errors.Is(err, sentinel), sentinel == tt.also; got != want {
					t.Errorf("errors.Is(err, %v) is %v, want %v", sentinel, got, want)
				}
			}
			where := tt.path
			if where == "" {
				where = "value"
			}
			if text := err.Error(); !strings.HasPrefix(text, "cupel: invalid JSON: "+where+" "+tt.want) {
				t.Errorf("error text %q does not say where and what", text)
			}
		})
	}
}

func TestDecodeErrorCauses(t *testing.T) {
	_, err := itemReader(`{"content": "a"`)
	if _, ok := compat.AsType[*json.SyntaxError](err); !ok {
		t.Errorf("%v does not wrap a json.SyntaxError", err)
	}

	_, err = reportReader(report("included", `[{"item": {"content": "a", "tokens": 1, "kind": " "}}]`))
	var item *InvalidItemError
	if !errors.As(err, &item) || *item != (InvalidItemError{-1, "kind", "must not be blank"}) {
		t.Errorf("%v carries %+v, want the item's own error", err, item)
	}

	_, err = overflowReader(`{"tokens_over_budget": 1, "overflowing_items": [], "budget": {"maxTokens": "1"}}`)
	var budget *InvalidBudgetError
	if !errors.As(err, &budget) || *budget != (InvalidBudgetError{"maxTokens", "must be an integer, got a string"}) {
		t.Errorf("%v carries %+v, want the budget's own error", err, budget)
	}
}

func TestErrorsComeThroughEncodingJSON(t *testing.T) {
	var r SelectionReport
	err := json.Unmarshal([]byte(report("total_candidates", "1.5")), &r)
	var e *DecodeError
	if !errors.As(err, &e) || e.Path != "total_candidates" {
		t.Errorf("json.Unmarshal fails with %v, want the DecodeError", err)
	}
	_, err = json.Marshal(map[string]any{"x": SelectionReport{Included: []IncludedItem{{}}}})
	var enc *EncodeError
	if !errors.As(err, &enc) || enc.Path != "included[0].item" {
		t.Errorf("json.Marshal fails with %v, want the EncodeError", err)
	}
}

func TestReadingIntoNilPointers(t *testing.T) {
	for name, target := range map[string]json.Unmarshaler{
		"item": (*ContextItem)(nil), "budget": (*ContextBudget)(nil), "report": (*SelectionReport)(nil),
		"included": (*IncludedItem)(nil), "excluded": (*ExcludedItem)(nil), "reason": (*ExclusionReason)(nil),
		"event": (*TraceEvent)(nil), "overflow": (*OverflowEvent)(nil), "shortfall": (*CountRequirementShortfall)(nil),
	} {
		if err := target.UnmarshalJSON([]byte("{}")); !errors.Is(err, ErrInvalidJSON) {
			t.Errorf("%s: reading into a nil pointer gives %v, want an error and no panic", name, err)
		}
	}
}

func TestItemsAreNeverReadInto(t *testing.T) {
	item, err := NewContextItem("before", 1)
	if err != nil {
		t.Fatal(err)
	}
	// encoding/json reuses the pointers of a list that it reads into.
	list := []*ContextItem{item}
	err = json.Unmarshal([]byte(`[{"content": "after", "tokens": 2}]`), &list)
	var e *DecodeError
	if !errors.As(err, &e) || !strings.Contains(e.Reason, "items never change") {
		t.Errorf("reading into an item gives %v, want a DecodeError that says why not", err)
	}
	if item.Content() != "before" || item.Tokens() != 1 {
		t.Errorf("the item changed to %+v", item)
	}

	included := IncludedItem{Item: item, Score: 1, Reason: IncludePinned}
	if err := json.Unmarshal([]byte(`{"item": {"content": "after", "tokens": 2}, "score": 0, "reason": {"reason": "Scored"}}`), &included); err != nil {
		t.Fatal(err)
	}
	if included.Item == item || included.Item.Content() != "after" || item.Content() != "before" {
		t.Error("an entry that is read must get an item of its own")
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
		{"kind not UTF-8", item(WithKind("k\xff")), "kind", "is not valid UTF-8", "the same"},
		{"source not UTF-8", item(WithSource("\xff")), "source", "is not valid UTF-8", "the same"},
		{"tag not UTF-8", item(WithTags("a", "\xc3")), "tags[1]", "is not valid UTF-8", "the same"},
		{"metadata key not UTF-8", item(WithMetadata(map[string]any{"\xff": 1})), `metadata["\xff"]`, "is not valid UTF-8", "the same"},
		{"metadata channel", metadata(make(chan int)), `metadata["k\""]`, "cannot be encoded: json: unsupported type: chan int", "no JSON for it"},
		{"metadata NaN", metadata(math.NaN()), `metadata["k\""]`, "must be a finite number, got NaN", "words are for scores and hints only"},
		{"metadata infinity, nested", metadata(map[string]any{"in": []any{0, math.Inf(1)}}), `metadata["k\""]["in"][1]`, "must be a finite number, got Infinity", "the path leads to it"},
		{"year 10000", item(WithTimestamp(time.Date(10000, 1, 1, 0, 0, 0, 0, time.UTC))), "timestamp", "must be in the years 0 to 9999 in UTC", "RFC 3339 has four digits"},
		{"year -1", item(WithTimestamp(time.Date(-1, 12, 31, 23, 59, 59, 0, time.UTC))), "timestamp", "must be in the years 0 to 9999 in UTC", "RFC 3339 has no sign"},
		{"slot not UTF-8", badSlot, `reservedSlots["\xff"]`, "is not valid UTF-8", "the same"},
		{"included nil item", IncludedItem{}, "item", "must be an item that NewContextItem made", "an entry has an item"},
		{"excluded zero item", ExcludedItem{Item: &ContextItem{}}, "item", "must be an item that NewContextItem made", "it could not be read back"},
		{"reason not UTF-8", NewExclusionReason(ExcludeFiltered, ReasonData{FilterName: "\xff"}), "filter_name", "is not valid UTF-8", "the same"},
		{"code not UTF-8", ExclusionReason{Code: "\xff"}, "reason", "is not valid UTF-8", "the same"},
		{"message not UTF-8", TraceEvent{Message: "\xff"}, "message", "is not valid UTF-8", "the same"},
		{"shortfall not UTF-8", CountRequirementShortfall{Kind: "\xff"}, "kind", "is not valid UTF-8", "the same"},
		{"overflow", OverflowEvent{OverflowingItems: []*ContextItem{item(), nil}}, "overflowing_items[1]", "must be an item that NewContextItem made", "a list has no absent items"},
		{"in a report", SelectionReport{Included: []IncludedItem{{Item: item(), Reason: "\xff"}}}, "included[0].reason.reason", "is not valid UTF-8", "the path leads to it"},
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
