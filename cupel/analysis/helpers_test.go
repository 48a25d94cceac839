package analysis_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupel/placer"
	"github.com/wollax/cupel-go/cupel/scorer"
	"github.com/wollax/cupel-go/cupel/slicer"
)

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

func item(content string, tokens int, opts ...cupel.ItemOption) *cupel.ContextItem {
	return must(cupel.NewContextItem(content, tokens, opts...))
}

// scored is an item with a score.
func scored(content string, tokens int, score float64, opts ...cupel.ItemOption) *cupel.ContextItem {
	return item(content, tokens, append(opts, cupel.WithFutureRelevanceHint(score))...)
}

func budget(maxTokens, target int, opts ...cupel.BudgetOption) cupel.ContextBudget {
	return must(cupel.NewContextBudget(maxTokens, target, opts...))
}

// pipeline scores by the items' hints.
func pipeline(s cupel.Slicer, change ...func(*cupel.Config)) *cupel.Pipeline {
	config := cupel.Config{Scorer: scorer.Reflexive{}, Slicer: s, Placer: placer.Chronological{}}
	for _, c := range change {
		c(&config)
	}
	return must(cupel.New(config))
}

func overflow(s cupel.OverflowStrategy) func(*cupel.Config) {
	return func(c *cupel.Config) { c.Overflow = s }
}

func contents(items []*cupel.ContextItem) string {
	var all []string
	for _, it := range items {
		all = append(all, it.Content())
	}
	return strings.Join(all, " ")
}

// custom wraps a slicer, and may say something about itself.
type custom struct{ cupel.Slicer }

func (c custom) Slicers() []cupel.Slicer { return []cupel.Slicer{c.Slicer} }

type declared struct {
	cupel.Slicer
	nonMonotonic bool
}

func (d declared) NonMonotonic() bool { return d.nonMonotonic }

type declaresByPanic struct{ cupel.Slicer }

func (declaresByPanic) NonMonotonic() bool { panic("cannot say") }

// embedding shows no wrapped slicer but what the embedded one shows.
type embedding struct{ *slicer.Quota }

type embeddingCounts struct{ *slicer.CountQuota }

type sliceFunc func(ctx context.Context, items []cupel.ScoredItem, budget cupel.SliceBudget) (cupel.Selection, error)

func (f sliceFunc) Slice(ctx context.Context, items []cupel.ScoredItem, budget cupel.SliceBudget) (cupel.Selection, error) {
	return f(ctx, items, budget)
}

type placeFunc func(ctx context.Context, items []cupel.ScoredItem) ([]int, error)

func (f placeFunc) Place(ctx context.Context, items []cupel.ScoredItem) ([]int, error) {
	return f(ctx, items)
}

// errBroken is the error of strategies that fail.
var errBroken = errors.New("broken")

// counting counts its passes.
type counting struct {
	scorer.Reflexive
	passes *int
}

func (c counting) ScoreAll(ctx context.Context, all []*cupel.ContextItem, scores []float64) error {
	*c.passes++
	return c.Reflexive.ScoreAll(ctx, all, scores)
}

// source makes the choices of a random case; *rand.Rand is one, and so are the
// bytes of a fuzzer.
type source interface{ IntN(n int) int }

type byteSource struct{ data []byte }

func (s *byteSource) IntN(n int) int {
	if len(s.data) == 0 {
		return 0
	}
	b := s.data[0]
	s.data = s.data[1:]
	return int(b) % n
}

var _ source = (*rand.Rand)(nil)

// world is a random case, small enough for every budget to be tried.
type world struct {
	items    []*cupel.ContextItem
	slicer   cupel.Slicer
	pipeline *cupel.Pipeline
	base     cupel.ContextBudget
}

// worldBudgets is more than all items of a world take.
const worldBudgets = 130

func newWorld(src source) world {
	var w world
	kinds := []cupel.ContextKind{"a", "A", "b", "c"}
	for range src.IntN(9) {
		if len(w.items) > 0 && src.IntN(10) == 0 {
			w.items = append(w.items, w.items[src.IntN(len(w.items))])
			continue
		}
		tokens := 1 + src.IntN(14)
		switch src.IntN(10) {
		case 0:
			tokens = 0
		case 1:
			tokens = -tokens
		}
		opts := []cupel.ItemOption{cupel.WithKind(kinds[src.IntN(len(kinds))])}
		if src.IntN(10) == 0 {
			opts = append(opts, cupel.WithPinned())
		}
		w.items = append(w.items, scored(fmt.Sprint("content ", src.IntN(12)), tokens, float64(src.IntN(9))/8, opts...))
	}
	w.slicer = newSlicer(src, 2, true)
	w.pipeline = pipeline(w.slicer, func(c *cupel.Config) {
		c.KeepDuplicates = src.IntN(2) == 0
		c.Overflow = cupel.OverflowStrategy(src.IntN(3))
	})
	reserve := src.IntN(3) * src.IntN(5)
	w.base = budget(reserve, 0, cupel.WithOutputReserve(reserve),
		cupel.WithReservedSlots(map[cupel.ContextKind]int{"a": src.IntN(2) * src.IntN(6)}),
		cupel.WithEstimationSafetyMargin(float64(src.IntN(3)*10)))
	return w
}

// newSlicer returns any slicer, with others in it up to a depth.
func newSlicer(src source, depth int, knapsack bool) cupel.Slicer {
	choice := src.IntN(8)
	if depth == 0 {
		choice %= 3
	}
	scarcity := slicer.ScarcityBehavior(src.IntN(2))
	counts := func() []slicer.CountQuotaEntry {
		return []slicer.CountQuotaEntry{{Kind: "a", RequireCount: src.IntN(3), CapCount: 2 + src.IntN(2)}, {Kind: "c", CapCount: src.IntN(3)}}
	}
	k := must(slicer.NewKnapsack(slicer.WithBucketSize(1 + src.IntN(4))))
	switch {
	case choice == 0 && knapsack:
		return k
	case choice == 3:
		return must(slicer.NewQuota(newSlicer(src, depth-1, knapsack), slicer.Require("a", float64(src.IntN(50))), slicer.Cap("b", float64(src.IntN(100)))))
	case choice == 4 && knapsack:
		return must(slicer.NewCountConstrainedKnapsack(k, counts(), slicer.WithScarcity(scarcity)))
	case choice == 5:
		return must(slicer.NewCountQuota(newSlicer(src, depth-1, false), counts(), slicer.WithScarcity(scarcity)))
	case choice == 6:
		return custom{newSlicer(src, depth-1, knapsack)}
	}
	return slicer.Greedy{}
}

// included returns what a plain dry run at one budget includes, and nothing
// where the budget cannot be built, does not hold the pinned items or overflows.
// Any other failure is one.
func (w world) included(ctx context.Context, tokens int) ([]*cupel.ContextItem, error) {
	b, err := w.base.Resize(tokens, tokens)
	if err != nil {
		return nil, nil //nolint:nilerr // it includes nothing
	}
	report, err := w.pipeline.DryRun(ctx, w.items, b)
	if errors.Is(err, cupel.ErrPinnedExceedsBudget) || errors.Is(err, cupel.ErrOverflow) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var items []*cupel.ContextItem
	for _, i := range report.Included {
		items = append(items, i.Item)
	}
	return items, nil
}

func count(items []*cupel.ContextItem) map[*cupel.ContextItem]int {
	m := make(map[*cupel.ContextItem]int)
	for _, it := range items {
		m[it]++
	}
	return m
}

func wantError(t testing.TB, err, target error, text, why string) {
	t.Helper()
	if !errors.Is(err, target) || err.Error() != text {
		t.Errorf("got error %v, want %q: %s", err, text, why)
	}
}
