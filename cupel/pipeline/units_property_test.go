package pipeline_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupel/pipeline"
)

// randomUnits returns candidates with groups, variants and versions.
func randomUnits(t testing.TB, r *rand.Rand, n int) []*cupel.ContextItem {
	t.Helper()
	kinds := []cupel.ContextKind{"a", "A", "b", "c"}
	variants := func(below int, name string) []cupel.Variant {
		var list []cupel.Variant
		for i := range r.IntN(4) {
			if below > 0 {
				v := cupel.Variant{Content: fmt.Sprintf("%s variant %d", name, i), Tokens: r.IntN(below), Worth: float64(1+r.IntN(19)) / 20}
				if r.IntN(3) == 0 {
					v.Content, v.Make = "", func(context.Context) (string, error) { return name + " made", nil }
				}
				list = append(list, v)
			}
		}
		return list
	}
	items := make([]*cupel.ContextItem, n)
	for i := range items {
		tokens := r.IntN(60)
		if r.IntN(12) == 0 {
			tokens = 0
		}
		if r.IntN(25) == 0 {
			tokens = -1
		}
		score := float64(r.IntN(9)) / 8
		switch r.IntN(30) {
		case 0:
			score = math.NaN()
		case 1:
			score = math.Inf(1)
		case 2:
			score = -.5
		}
		content := fmt.Sprint("item ", r.IntN(n*2))
		opts := []cupel.ItemOption{hint(score), cupel.WithKind(kinds[r.IntN(len(kinds))])}
		if r.IntN(3) == 0 {
			opts = append(opts, cupel.WithGroup(fmt.Sprint("g", r.IntN(1+n/4))))
			if r.IntN(3) == 0 {
				opts = append(opts, cupel.WithGroupVariants(variants(100, content)...))
			}
		}
		if r.IntN(4) == 0 {
			opts = append(opts, cupel.WithVersionOf(fmt.Sprint("v", r.IntN(1+n/6))))
		}
		if r.IntN(2) == 0 {
			opts = append(opts, cupel.WithVariants(variants(tokens, content)...))
		}
		if r.IntN(15) == 0 {
			opts = append(opts, cupel.WithPinned())
		}
		if r.IntN(2) == 0 {
			opts = append(opts, cupel.WithTimestamp(time.Unix(int64(r.IntN(5)), 0)))
		}
		items[i] = item(t, content, tokens, opts...)
		if i > 0 && r.IntN(20) == 0 {
			items[i] = items[r.IntN(i)] // the same pointer twice
		}
	}
	return items
}

// checkUnits holds a run over units to what every run keeps.
func checkUnits(t *testing.T, seed uint64) {
	t.Helper()
	r := rand.New(rand.NewPCG(seed, 13))
	items := randomUnits(t, r, 1+r.IntN(30))
	p := randomPipeline(t, r)
	target := r.IntN(500)
	budget := budgetOf(t, target+r.IntN(100), target)
	ctx := t.Context()
	report, err := p.DryRun(ctx, items, budget)
	window, runErr := p.Run(ctx, items, budget)
	if fmt.Sprint(err) != fmt.Sprint(runErr) {
		t.Fatalf("seed %d: DryRun fails with %v, Run with %v", seed, err, runErr)
	}
	prepared, prepareErr := p.Prepare(ctx, items)
	if prepareErr != nil {
		t.Fatalf("seed %d: %v", seed, prepareErr)
	}
	again, againErr := prepared.DryRun(ctx, budget)
	if fmt.Sprint(err) != fmt.Sprint(againErr) || !report.Equal(*again) {
		t.Fatalf("seed %d: a prepared run differs: %v, %v", seed, err, againErr)
	}
	if err != nil {
		if !errors.Is(err, pipeline.ErrOverflow) && !errors.Is(err, pipeline.ErrPinnedExceedsBudget) && !errors.Is(err, cupel.ErrScarcity) {
			t.Fatalf("seed %d: %v", seed, err)
		}
		return
	}

	// Each candidate exactly once.
	seen := make([]int, len(items))
	in := make([]bool, len(items))
	tokens := 0
	for _, e := range report.Included {
		seen[e.Candidate]++
		in[e.Candidate] = true
		tokens += e.Item.Tokens()
	}
	for _, e := range report.Excluded {
		seen[e.Candidate]++
	}
	if len(report.Included)+len(report.Excluded) != len(items) || slices.ContainsFunc(seen, func(n int) bool { return n != 1 }) {
		t.Fatalf("seed %d: candidates are in the report %v times", seed, seen)
	}
	// No group is split, and the members are one behind the other.
	var last string
	done := map[string]bool{}
	for _, e := range report.Included {
		group := items[e.Candidate].Group()
		if group != last && done[group] {
			t.Fatalf("seed %d: group %q is in two places", seed, group)
		}
		done[last] = last != ""
		last = group
	}
	for i, a := range items {
		for j, b := range items {
			if a.Group() != "" && a.Group() == b.Group() && in[i] != in[j] {
				t.Fatalf("seed %d: group %q is split", seed, a.Group())
			}
		}
	}
	// The budget holds.
	sum := 0
	for _, it := range window {
		sum += it.Tokens()
	}
	if sum != tokens {
		t.Fatalf("seed %d: the window has %d tokens, its entries %d", seed, sum, tokens)
	}
	over := 0
	if report.Overflow != nil {
		over = report.Overflow.TokensOverBudget
		if len(report.Overflow.OverflowingItems) != len(window) {
			t.Fatalf("seed %d: %d items overflow, the window has %d", seed, len(report.Overflow.OverflowingItems), len(window))
		}
	}
	pinned := 0
	for _, e := range report.Included {
		if e.Reason == cupel.IncludePinned {
			pinned += e.Item.Tokens()
		}
	}
	if sum-over > max(target, pinned) {
		t.Fatalf("seed %d: %d tokens and %d over, target %d, pinned %d", seed, sum, over, target, pinned)
	}
	// One form of each item, and the item is in that form.
	for _, e := range report.Included {
		full := items[e.Candidate]
		variants := full.Variants()
		switch form := e.Form; {
		case form == 0:
			if e.Item != full {
				t.Fatalf("seed %d: candidate %d is not itself", seed, e.Candidate)
			}
		case full.Pinned():
			t.Fatalf("seed %d: candidate %d must be full", seed, e.Candidate)
		case form <= len(variants):
			if v := variants[form-1]; e.Item.Tokens() != v.Tokens || v.Content != "" && e.Item.Content() != v.Content {
				t.Fatalf("seed %d: candidate %d in form %d is %q", seed, e.Candidate, form, e.Item.Content())
			}
		}
		if original, ok := e.Item.OriginalTokens(); e.Form > 0 && !ok || e.Form > 0 && e.Form <= len(variants) && original != full.Tokens() {
			t.Fatalf("seed %d: candidate %d has original tokens %d, %t", seed, e.Candidate, original, ok)
		}
	}
	// What Select says is what is in.
	positions, err := prepared.Select(ctx, budget)
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(positions)
	var want []int
	for i := range in {
		if in[i] {
			want = append(want, i)
		}
	}
	if !slices.Equal(positions, want) {
		t.Fatalf("seed %d: Select has %v, the report %v", seed, positions, want)
	}
}

func TestUnitsProperties(t *testing.T) {
	seeds := uint64(3000)
	if testing.Short() {
		seeds = 500
	}
	for seed := range seeds {
		checkUnits(t, seed)
	}
}

func FuzzUnits(f *testing.F) {
	for seed := range uint64(5) {
		f.Add(seed)
	}
	f.Fuzz(checkUnits)
}
