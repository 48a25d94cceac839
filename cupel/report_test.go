package cupel_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupel/observe"
	"github.com/wollax/cupel-go/cupel/pipeline"
)

// TestReasonsOfARun has a run leave out candidates for each reason that names another
// one.
func TestReasonsOfARun(t *testing.T) {
	config := greedy(t).Config()
	config.NearDuplicates = 0.7
	p, err := pipeline.New(config)
	if err != nil {
		t.Fatal(err)
	}
	var words []string
	for i := range 60 {
		words = append(words, fmt.Sprintf("w%c%c", 'a'+i/26, 'a'+i%26))
	}
	text := strings.Join(words, " ")
	key := cupel.WithVersionOf("k")
	items := []*cupel.ContextItem{
		item(t, "rule", 4, cupel.WithPinned()), item(t, "twin", 1), item(t, "twin", 1), item(t, "old", 1, key), item(t, "new", 1, key),
		item(t, text+" once", 1), item(t, text+" twice", 1), item(t, "big", 8, hint(-1)), item(t, "bigger", 20, hint(-2)), item(t, "less", -1),
	}
	collector := observe.NewDiagnosticTraceCollector(observe.WithDetailLevel(observe.TraceDetailItem))
	report, err := p.DryRun(t.Context(), items, budgetOf(t, 10, 10), pipeline.WithTrace(collector))
	if err != nil {
		t.Fatal(err)
	}
	want := map[int]cupel.ReasonData{
		2: {DeduplicatedAgainst: "twin", Survivor: items[1]}, 3: {SupersededBy: "new", Survivor: items[4]},
		5: {Of: text + " twice", Similarity: 57.0 / 58, Survivor: items[6]},
		7: {DisplacedBy: "rule"}, 8: {ItemTokens: 20, AvailableTokens: 3}, 9: {Tokens: -1},
	}
	for _, e := range report.Excluded {
		w, ok := want[e.Candidate]
		if got := e.Reason.Data(); !ok || got != w {
			t.Errorf("candidate %d is out for %+v, want %+v", e.Candidate, got, w)
		}
		delete(want, e.Candidate)
	}
	if len(want) > 0 {
		t.Errorf("these are not out: %v", want)
	}
	said := 0
	for _, event := range collector.Events() {
		for _, e := range report.Excluded {
			if event.Message == e.Reason.String() {
				said++
			}
		}
		for _, in := range report.Included {
			if event.Message == in.String() {
				said++
			}
		}
	}
	if said < len(items) {
		t.Errorf("events say %d of %d reasons", said, len(items))
	}
	if _, err := p.DryRun(t.Context(), []*cupel.ContextItem{items[0], nil}, budgetOf(t, 10, 10)); err == nil || err.Error() != "cupel: invalid item at index 1: must come from NewContextItem, got nil or an empty item" {
		t.Errorf("a nil item gives %v", err)
	}
}

func TestCloneSharesNothing(t *testing.T) {
	one, other := item(t, "one", 1), item(t, "other", 1)
	report := &cupel.SelectionReport{
		Events: []cupel.TraceEvent{{Stage: "S"}}, Included: []cupel.IncludedItem{{Item: one}}, Excluded: []cupel.ExcludedItem{{Item: one}},
		CountRequirementShortfalls: []cupel.CountRequirementShortfall{{Kind: "Memory"}}, Overflow: &cupel.OverflowEvent{OverflowingItems: []*cupel.ContextItem{one}},
	}
	clone := report.Clone()
	if !clone.Equal(*report) {
		t.Errorf("got %+v, want %+v", clone, report)
	}
	clone.Events[0].Stage, clone.Included[0].Item, clone.Excluded[0].Item = "T", other, other
	clone.CountRequirementShortfalls[0].Kind, clone.Overflow.OverflowingItems[0], clone.Overflow.TokensOverBudget = "Note", other, 9
	if report.Events[0].Stage != "S" || report.Included[0].Item != one || report.Excluded[0].Item != one ||
		report.CountRequirementShortfalls[0].Kind != "Memory" || report.Overflow.OverflowingItems[0] != one || report.Overflow.TokensOverBudget != 0 {
		t.Errorf("a change of the clone changed the report: %+v", report)
	}
}

// TestErrors has the texts of errors, and which sentinels they match: no other.
func TestErrors(t *testing.T) {
	cause := errors.New("cause")
	sentinels := []error{cupel.ErrInvalidItem, cupel.ErrInvalidBudget, cupel.ErrInvalidConfig, cupel.ErrScarcity, cupel.ErrStrategy, cupel.ErrContract, cupel.ErrInvalidJSON, cupel.ErrUnencodable}
	for _, tt := range []struct {
		err   error
		text  string
		is    error
		cause error
	}{
		{&cupel.InvalidItemError{Index: -1, Field: "kind", Reason: "must not be blank"}, "invalid item: kind must not be blank", cupel.ErrInvalidItem, nil},
		{&cupel.InvalidItemError{Index: 0, Reason: "must be one"}, "invalid item at index 0: must be one", cupel.ErrInvalidItem, nil},
		{&cupel.InvalidBudgetError{Field: "maxTokens", Reason: "must be at least 0"}, "invalid budget: maxTokens must be at least 0", cupel.ErrInvalidBudget, nil},
		{&cupel.InvalidConfigError{Component: "C", Reason: "is wrong"}, "is wrong (C)", cupel.ErrInvalidConfig, nil},
		{&cupel.InvalidConfigError{Component: "C", Field: "f", Value: "3", Reason: "is wrong"}, "is wrong (C, f = 3)", cupel.ErrInvalidConfig, nil},
		{&cupel.ScarcityError{Slicer: "CountQuotaSlice", Kind: "Memory", RequireCount: 3, Satisfied: 1}, "CountQuotaSlice: candidate pool for kind 'Memory' has 1 items but RequireCount is 3.", cupel.ErrScarcity, nil},
		{&cupel.StrategyError{Role: "scorer", Strategy: "nil", Reason: "is nil"}, "scorer is nil", cupel.ErrStrategy, nil},
		{&cupel.StrategyError{Role: "scorer", Strategy: "x.S", Reason: "failed", Err: cause}, "scorer x.S failed: cause", cupel.ErrStrategy, cause},
		{&cupel.ContractError{StrategyError: cupel.StrategyError{Role: "placer", Strategy: "x.P", Reason: "returned 1", Err: cause}}, "placer x.P returned 1: cause, which breaks the contract of a placer", cupel.ErrContract, cause},
		{&cupel.DecodeError{Reason: "is malformed", Err: cause}, "invalid JSON: value is malformed", cupel.ErrInvalidJSON, cause},
		{&cupel.PanicError{Value: cause}, "panic: cause", nil, cause},
		{&cupel.PanicError{Value: "text"}, "panic: text", nil, nil},
		{&cupel.EncodeError{Path: "a.b", Reason: "is NaN", Err: cause}, "cannot write JSON: a.b is NaN", cupel.ErrUnencodable, cause},
	} {
		if got := tt.err.Error(); strings.TrimPrefix(got, "cupel: ") != tt.text {
			t.Errorf("got %q, want %q", got, tt.text)
		}
		for _, sentinel := range sentinels {
			want := sentinel == tt.is || sentinel == cupel.ErrStrategy && tt.is == cupel.ErrContract
			if got := errors.Is(tt.err, sentinel); got != want {
				t.Errorf("%T matches %q: %t, want %t", tt.err, sentinel, got, want)
			}
		}
		if errors.Is(tt.err, cause) != (tt.cause != nil) {
			t.Errorf("%v matches its cause: %t", tt.err, tt.cause == nil)
		}
	}
	if contract := error(&cupel.ContractError{}); contract.(interface{ Is(error) bool }).Is(cupel.ErrStrategy) == false {
		t.Error("a ContractError is a failure of a strategy by itself")
	}
}
