package cupel_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupel/slicer"
)

// unitBench returns the same n items without and with units: groups of a call and
// its result, two variants each, and versions.
func unitBench(t testing.TB, n int) (plain, units []*cupel.ContextItem) {
	t.Helper()
	r := rand.New(rand.NewPCG(uint64(n), 2))
	for i := range n {
		content := fmt.Sprintf("content number %d", r.IntN(n*9/10))
		tokens := 20 + r.IntN(400)
		opts := []cupel.ItemOption{hint(r.Float64())}
		plain = append(plain, item(t, content, tokens, opts...))
		if i/2%2 == 0 {
			opts = append(opts, cupel.WithGroup(fmt.Sprint("call_", i/2)))
		}
		if i%10 == 9 {
			opts = append(opts, cupel.WithVersionOf(fmt.Sprint("file_", r.IntN(n/20))))
		}
		opts = append(opts, cupel.WithVariants(
			cupel.Variant{Content: content + "!", Tokens: tokens / 3, Worth: .6},
			cupel.Variant{Content: content + "!!", Tokens: tokens / 10, Worth: .2}))
		units = append(units, item(t, content, tokens, opts...))
	}
	return plain, units
}

func BenchmarkUnits(b *testing.B) {
	for _, n := range []int{100, 10_000} {
		plain, units := unitBench(b, n)
		budget := budgetOf(b, 100*n, 88*n)
		p := pipeline(b, func(c *cupel.Config) { c.Slicer = slicer.Greedy{} })
		for name, items := range map[string][]*cupel.ContextItem{"plain": plain, "units": units} {
			b.Run(fmt.Sprintf("%s/%d", name, n), func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					if _, err := p.Run(b.Context(), items, budget); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}

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
			for range 5 {
				without, with = append(without, run(plain)), append(with, run(units))
			}
			if ratio := float64(slices.Min(with)) / float64(slices.Min(without)); ratio > 60 {
				t.Errorf("%s, pinned %t: %.0f times the time without units", name, pinned, ratio)
			}
		}
	}
}
