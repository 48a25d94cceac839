package cupel_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupel/slicer"
)

// groupsTogether sorts items so that members of a group are one behind the other,
// and takes caller's pins and keys away as wanted.
func groupsTogether(items []*cupel.ContextItem) []*cupel.ContextItem {
	var list []*cupel.ContextItem
	done := map[string]bool{}
	for _, it := range items {
		if it.Group() == "" {
			list = append(list, it)
		} else if !done[it.Group()] {
			done[it.Group()] = true
			for _, other := range items {
				if other.Group() == it.Group() {
					list = append(list, other)
				}
			}
		}
	}
	return list
}

func streamed(items []*cupel.ContextItem) func(func(*cupel.ContextItem, error) bool) {
	return func(yield func(*cupel.ContextItem, error) bool) {
		for _, it := range items {
			if !yield(it, nil) {
				return
			}
		}
	}
}

// TestStreamOfUnits: no group is split, each candidate is reported once, and the
// budget holds, for any batch size.
func TestStreamOfUnits(t *testing.T) {
	ctx := t.Context()
	for seed := range uint64(600) {
		r := rand.New(rand.NewPCG(seed, 19))
		items := groupsTogether(randomUnits(t, r, 1+r.IntN(30)))
		p := pipeline(t, func(c *cupel.Config) {
			c.Slicer, c.Overflow, c.KeepDuplicates = slicer.Greedy{}, cupel.OverflowTruncate, r.IntN(3) == 0
		})
		target := r.IntN(500)
		collector := cupel.NewDiagnosticTraceCollector()
		result, err := p.RunStream(ctx, streamed(items), budgetOf(t, target, target), cupel.WithBatchSize(1+r.IntN(8)), cupel.WithTrace(collector))
		if errors.Is(err, cupel.ErrPinnedExceedsBudget) {
			continue
		}
		if err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		report := collector.BuildReport()
		seen := make([]int, result.TotalCandidates)
		in := map[int]bool{}
		for _, e := range report.Included {
			seen[e.Candidate()]++
			in[e.Candidate()] = true
		}
		out := 0
		for _, e := range report.Excluded {
			seen[e.Candidate()]++
		}
		for _, n := range result.Excluded {
			out += n
		}
		if slices.ContainsFunc(seen, func(n int) bool { return n != 1 }) || len(in)+out != result.TotalCandidates {
			t.Fatalf("seed %d: candidates are reported %v times, %d of %d are out", seed, seen, out, result.TotalCandidates)
		}
		tokens := 0
		for _, it := range result.Window {
			tokens += it.Tokens()
		}
		if tokens > target {
			t.Fatalf("seed %d: %d tokens exceed %d", seed, tokens, target)
		}
		for i, a := range items[:len(seen)] {
			for j, b := range items[:len(seen)] {
				if a.Group() != "" && a.Group() == b.Group() && in[i] != in[j] {
					t.Fatalf("seed %d: group %q is split", seed, a.Group())
				}
			}
		}
	}
}

// TestStreamOfOneBatch: one batch is a run with Greedy, where no version is older
// and nothing is pinned.
func TestStreamOfOneBatch(t *testing.T) {
	ctx := t.Context()
	for seed := range uint64(300) {
		r := rand.New(rand.NewPCG(seed, 23))
		var items []*cupel.ContextItem
		for _, it := range groupsTogether(randomUnits(t, r, 1+r.IntN(30))) {
			if it.VersionOf() == "" && !it.Pinned() {
				items = append(items, it)
			}
		}
		if len(items) == 0 {
			continue
		}
		p := pipeline(t, func(c *cupel.Config) { c.Slicer, c.Overflow = slicer.Greedy{}, cupel.OverflowTruncate })
		budget := budgetOf(t, 300, 1+r.IntN(300))
		result, err := p.RunStream(ctx, streamed(items), budget, cupel.WithBatchSize(len(items)+1))
		if err != nil {
			t.Fatal(err)
		}
		report, err := p.DryRun(ctx, items, budget)
		if err != nil {
			t.Fatal(err)
		}
		if !slices.EqualFunc(result.Included, report.Included, cupel.IncludedItem.Equal) {
			t.Fatalf("seed %d: the stream has\n%v, a run\n%v", seed, result.Included, report.Included)
		}
	}
}

func TestStreamOfScatteredGroup(t *testing.T) {
	g := cupel.WithGroup("g")
	items := []*cupel.ContextItem{item(t, "a", 1, g), item(t, "b", 1), item(t, "c", 1, g)}
	_, err := pipeline(t).RunStream(t.Context(), streamed(items), budgetOf(t, 100, 100))
	var invalid *cupel.InvalidItemError
	if !errors.As(err, &invalid) || invalid.Index != 2 || invalid.Field != "group" {
		t.Errorf("got %v, want the third item named", err)
	}
}

func TestStreamMarksStale(t *testing.T) {
	key := cupel.WithVersionOf("file")
	items := []*cupel.ContextItem{item(t, "old", 1, key), item(t, "other", 1), item(t, "new", 1, key)}
	result, err := pipeline(t).RunStream(t.Context(), streamed(items), budgetOf(t, 100, 100), cupel.WithBatchSize(1))
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, e := range result.Included {
		got = append(got, fmt.Sprint(e.Item.Content(), " ", e.Stale()))
	}
	if want := []string{"old true", "other false", "new false"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q: what is kept stays, and is marked", got, want)
	}
}
