package slicer_test

import (
	"fmt"
	"log"
	"math"
	"slices"
	"testing"

	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupel/slicer"
)

func TestEntries(t *testing.T) {
	quota := slicer.Must(slicer.NewQuota(slicer.Greedy{}, slicer.Require("tool", 12.5), slicer.Cap("MEMORY", 30), slicer.Between("x", 1, 2)))
	var got []string
	for _, e := range quota.Entries() {
		require, limit := e.Percentages()
		requireTokens, capTokens := e.Tokens(1000)
		got = append(got, fmt.Sprintf("%s %v-%v %d-%d", e.Kind(), require, limit, requireTokens, capTokens))
	}
	if want := []string{"tool 12.5-100 125-1000", "MEMORY 0-30 0-300", "x 1-2 10-20"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	if _, most := slicer.Require("x", 0).Tokens(math.MaxInt); most != math.MaxInt {
		t.Errorf("the cap of all there is became %d", most)
	}

	entries := []slicer.CountQuotaEntry{entry("tool", 1, 2), entry("memory", 0, 3)}
	want := []slicer.CountQuotaEntry{entry("tool", 1, 2), entry(cupel.KindMemory, 0, 3)}
	counts := slicer.Must(slicer.NewCountQuota(slicer.Greedy{}, entries))
	knapsack := slicer.Must(slicer.NewCountConstrainedKnapsack(slicer.Must(slicer.NewKnapsack()), entries))
	for _, s := range []interface {
		Entries() []slicer.CountQuotaEntry
	}{counts, knapsack} {
		if got := s.Entries(); !slices.Equal(got, want) {
			t.Errorf("%T: got %+v, want %+v", s, got, want)
		}
		clear(s.Entries())
		if got := s.Entries(); !slices.Equal(got, want) {
			t.Errorf("%T: a caller changed the entries to %+v", s, got)
		}
	}
	clear(quota.Entries())
	if got := quota.Entries()[0].Kind(); got != "tool" {
		t.Errorf("a caller changed the entries: the first is about %q", got)
	}
}

func ExampleQuota_Entries() {
	quota, err := slicer.NewQuota(slicer.Greedy{}, slicer.Between(cupel.KindToolOutput, 10, 25), slicer.Cap(cupel.KindMemory, 20))
	if err != nil {
		log.Fatal(err)
	}
	for _, e := range quota.Entries() {
		require, limit := e.Tokens(4000)
		fmt.Printf("%s: %d to %d tokens of 4000\n", e.Kind(), require, limit)
	}
	// Output:
	// ToolOutput: 400 to 1000 tokens of 4000
	// Memory: 0 to 800 tokens of 4000
}
