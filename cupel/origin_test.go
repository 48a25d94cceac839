package cupel_test

import (
	"encoding/json"
	"math"
	"testing"

	"github.com/wollax/cupel-go/cupel"
)

// TestOrigins: what makes a report of several runs says where its entries come from.
func TestOrigins(t *testing.T) {
	item := func(content string, tokens int, opts ...cupel.ItemOption) *cupel.ContextItem {
		made, err := cupel.NewContextItem(content, tokens, opts...)
		if err != nil {
			t.Fatal(err)
		}
		return made
	}
	tests := []struct {
		origin          cupel.Origin
		candidate, form int
		stale           bool
		why             string
	}{
		{cupel.Origin{}, 0, 0, false, "the zero origin is the first candidate in full"},
		{cupel.Origin{Candidate: 7, Form: 2, Stale: true}, 7, 2, true, "all there is"},
		{cupel.Origin{Candidate: -1}, -1, 0, false, "a summary is none of the candidates"},
		{cupel.Origin{Candidate: math.MinInt, Form: math.MinInt}, -1, 0, false, "rubbish"},
		{cupel.Origin{Candidate: 1, Form: math.MaxInt}, 1, 1<<20 - 1, false, "the largest form"},
	}
	for _, tt := range tests {
		in := cupel.IncludedItem{Item: item("a", 1), Score: 0.5, Reason: cupel.IncludeScored}.WithOrigin(tt.origin)
		out := cupel.ExcludedItem{Item: item("a", 1), Reason: cupel.ExclusionReason{Code: cupel.ExcludeBudgetExceeded}}.WithOrigin(tt.origin)
		for range 2 { // from JSON the second time
			if in.Candidate() != tt.candidate || in.Form() != tt.form || in.Stale() != tt.stale || in.Score != 0.5 {
				t.Errorf("%+v gives candidate %d, form %d, stale %t: %s", tt.origin, in.Candidate(), in.Form(), in.Stale(), tt.why)
			}
			if out.Candidate() != tt.candidate || out.Stale() != tt.stale {
				t.Errorf("%+v gives candidate %d, stale %t of an exclusion: %s", tt.origin, out.Candidate(), out.Stale(), tt.why)
			}
			data, err := json.Marshal(cupel.SelectionReport{Included: []cupel.IncludedItem{in}, Excluded: []cupel.ExcludedItem{out}})
			if err != nil {
				t.Fatal(err)
			}
			var read cupel.SelectionReport
			if err := json.Unmarshal(data, &read); err != nil {
				t.Fatalf("%v: %s", err, data)
			}
			in, out = read.Included[0], read.Excluded[0]
		}
	}

	// A note for a group is in the window once.
	note, rest := item("note", 3, cupel.WithGroup("g"), cupel.WithOriginalTokens(9)), item("note", 0, cupel.WithGroup("g"), cupel.WithOriginalTokens(9))
	r := cupel.SelectionReport{Included: []cupel.IncludedItem{
		cupel.IncludedItem{Item: note, Reason: cupel.IncludeScored}.WithOrigin(cupel.Origin{Form: 1}),
		cupel.IncludedItem{Item: rest, Reason: cupel.IncludeScored}.WithOrigin(cupel.Origin{Candidate: 1, Form: 1, Shared: true}),
	}}
	for range 2 {
		if window := r.Window(); len(window) != 1 || window[0].Tokens() != 3 {
			t.Errorf("the window has %d items, want the note", len(window))
		}
		data, err := json.Marshal(r)
		if err != nil {
			t.Fatal(err)
		}
		r = cupel.SelectionReport{}
		if err := json.Unmarshal(data, &r); err != nil {
			t.Fatal(err)
		}
	}
}
