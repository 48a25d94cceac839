package cupel_test

import (
	"fmt"
	"math"
	"slices"
	"testing"
	"time"

	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupel/slicer"
)

// TestUnitsAreNotQuadratic: 20,000 items with units take a small multiple of the
// time of the same items without, in one group, in many, and with one key. A
// stage that is quadratic would take hundreds of times as long.
func TestUnitsAreNotQuadratic(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds")
	}
	const n = 20_000
	p := pipeline(t, func(c *cupel.Config) { c.Slicer = slicer.Greedy{}; c.Overflow = cupel.OverflowTruncate })
	budget := budgetOf(t, 200*n, 30*n)
	list := func(opts func(i int) []cupel.ItemOption) []*cupel.ContextItem {
		var items []*cupel.ContextItem
		for i := range n {
			items = append(items, item(t, fmt.Sprint("content ", i), 100, append(opts(i), hint(float64(i%97)/97))...))
		}
		return items
	}
	run := func(items []*cupel.ContextItem) time.Duration {
		start := time.Now()
		if _, err := p.DryRun(t.Context(), items, budget); err != nil {
			t.Fatal(err)
		}
		return time.Since(start)
	}
	plain := list(func(int) []cupel.ItemOption { return nil })
	for name, option := range map[string]func(i int) cupel.ItemOption{
		"one group":   func(int) cupel.ItemOption { return cupel.WithGroup("g") },
		"many groups": func(i int) cupel.ItemOption { return cupel.WithGroup(fmt.Sprint(i / 3)) },
		"one key":     func(int) cupel.ItemOption { return cupel.WithVersionOf("k") },
	} {
		for _, pinned := range []bool{false, true} {
			units := list(func(i int) []cupel.ItemOption {
				opts := []cupel.ItemOption{option(i), cupel.WithVariants(
					cupel.Variant{Content: "b", Tokens: 60, Worth: .6}, cupel.Variant{Content: "c", Tokens: 10 + i%20, Worth: .2})}
				if pinned && i == 0 {
					opts = append(opts, cupel.WithPinned())
				}
				return opts
			})
			var without, with []time.Duration
			ratio := math.Inf(1)
			for round := 0; round < 5 || round < 20 && ratio > 60; round++ { // a machine may be busy for a second
				without, with = append(without, run(plain)), append(with, run(units))
				ratio = float64(slices.Min(with)) / float64(slices.Min(without))
			}
			if ratio > 60 {
				t.Errorf("%s, pinned %t: %.0f times the time without units", name, pinned, ratio)
			}
		}
	}
}
