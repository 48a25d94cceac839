package cupel_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupel/internal/compat"
	"github.com/wollax/cupel-go/cupel/slicer"
)

// explained selects the first item and explains the others with a given text.
type explained struct {
	explain func(chosen cupel.Selection, at int) (cupel.Obstacle, error)
}

func (e *explained) Slice(_ context.Context, items []cupel.ScoredItem, _ cupel.SliceBudget) (cupel.Selection, error) {
	return cupel.Selection{Indices: []int{0}[:min(1, len(items))]}, nil
}

func (e *explained) ExplainSlice(_ context.Context, _ []cupel.ScoredItem, _ cupel.SliceBudget, chosen cupel.Selection, at int) (cupel.Obstacle, error) {
	return e.explain(chosen, at)
}

// embedding has the methods of a slicer that explains itself, and another Slice.
type embedding struct{ *explained }

func (embedding) Slice(_ context.Context, items []cupel.ScoredItem, _ cupel.SliceBudget) (cupel.Selection, error) {
	return cupel.Selection{Indices: []int{1, 0}[:min(2, len(items))]}, nil
}

type genericEmbedding[S cupel.Slicer] struct{ cupel.Slicer }

func TestExplainSliceHoldsSlicersToTheirContract(t *testing.T) {
	items := []cupel.ScoredItem{{Item: item(t, "a", 1)}, {Item: item(t, "b", 1)}, {Item: item(t, "c", 1)}}
	budget := cupel.SliceBudget{MaxTokens: 5, TargetTokens: 5}
	saying := func(before ...int) *explained {
		return &explained{func(cupel.Selection, int) (cupel.Obstacle, error) {
			return cupel.Obstacle{Rule: "because", Before: before}, nil
		}}
	}
	for _, tt := range []struct {
		name, why string
		slicer    cupel.Slicer
		at        int
		rule      string
		before    []int
		err       string // part of the text
	}{
		{"explained", "it says so itself", saying(0), 2, "because", []int{0}, ""},
		{"in", "it is not asked about what it chose", saying(9), 0, "", nil, ""},
		{"not chosen", "b did not keep c out", saying(1), 2, "", nil, "returned position 1 as an obstacle that it did not choose, of 3 items"},
		{"itself", "nothing keeps itself out", saying(2), 2, "", nil, "returned position 2 as an obstacle"},
		{"twice", "one item is one obstacle", saying(0, 0), 2, "", nil, "returned position 0 twice of 3 items"},
		{"out of range", "there is no such item", saying(-1), 2, "", nil, "returned position -1 out of range of 3 items"},
		{"error", "a slicer may not know", &explained{func(cupel.Selection, int) (cupel.Obstacle, error) { return cupel.Obstacle{}, errOwn }}, 2, "", nil, errOwn.Error()},
		{"panic", "it is caught", &explained{func(cupel.Selection, int) (cupel.Obstacle, error) { panic("cannot say") }}, 2, "", nil, "cannot say"},
		{"embedding", "the embedded slicer's account is not its own", embedding{saying(0)}, 2, "embedding chose others, with 5 tokens.", []int{1, 0}, ""},
		{"generic", "its name is enough", &genericEmbedding[cupel.Slicer]{Slicer: saying(0)}, 2, "genericEmbedding chose others, with 5 tokens.", []int{0}, ""},
		{"no name", "struct types may have none", struct{ cupel.Slicer }{saying(0)}, 2, "The slicer chose others, with 5 tokens.", []int{0}, ""},
		{"none", "a function cannot explain itself", sliceFunc(func(context.Context, []cupel.ScoredItem, cupel.SliceBudget) (cupel.Selection, error) {
			return cupel.Selection{Indices: []int{1}}, nil
		}), 2, "sliceFunc chose others, with 5 tokens.", []int{1}, ""},
		{"no such item", "the mistake is the caller's", saying(0), 3, "", nil, "at must be a position in the list of 3 items"},
		{"slice fails", "there is nothing to explain", sliceFunc(func(context.Context, []cupel.ScoredItem, cupel.SliceBudget) (cupel.Selection, error) {
			return cupel.Selection{}, errOwn
		}), 2, "", nil, errOwn.Error()},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, err := cupel.ExplainSlice(t.Context(), tt.slicer, items, budget, tt.at)
			if (err != nil) != (tt.err != "") || err != nil && !strings.Contains(err.Error(), tt.err) {
				t.Fatalf("got error %v, want %q: %s", err, tt.err, tt.why)
			}
			if got.Rule != tt.rule || !slices.Equal(got.Before, tt.before) {
				t.Errorf("got %+v, want %q %v: %s", got, tt.rule, tt.before, tt.why)
			}
			if strategy, ok := compat.AsType[*cupel.StrategyError](err); err != nil && tt.at < 3 && (!ok || strategy.Role != "slicer") {
				t.Errorf("got %T, want an error of the slicer", err)
			}
		})
	}
}

func TestPreparedExplain(t *testing.T) {
	twin := item(t, "twin", 3, hint(0.4))
	items := []*cupel.ContextItem{
		item(t, "pin", 2, cupel.WithPinned()), item(t, "less", -1), item(t, "best", 4, hint(0.9)), twin, twin, item(t, "same", 1, hint(0.1)), item(t, "same", 1, hint(0.2)),
	}
	const all = "sliceFunc chose others, with 7 tokens."
	everything := sliceFunc(func(_ context.Context, items []cupel.ScoredItem, _ cupel.SliceBudget) (cupel.Selection, error) {
		var s cupel.Selection
		for i := range items {
			s.Indices = append(s.Indices, i)
		}
		return s, nil
	})
	second := sliceFunc(func(_ context.Context, items []cupel.ScoredItem, _ cupel.SliceBudget) (cupel.Selection, error) {
		clear(items[2:]) // what it does to its list is its own affair
		return cupel.Selection{Indices: []int{1}}, nil
	})
	for _, tt := range []struct {
		name, why string
		slicer    cupel.Slicer
		keep      bool
		tokens    int
		candidate int
		rule      string
		before    []int
	}{
		{"pinned", "it never comes to the slicer", slicer.Greedy{}, false, 9, 0, "", nil},
		{"negative", "nor does it", slicer.Greedy{}, false, 9, 1, "", nil},
		{"duplicate", "nor does it", slicer.Greedy{}, false, 9, 5, "", nil},
		{"out of range", "there is no such candidate", slicer.Greedy{}, false, 9, 7, "", nil},
		{"in", "nothing is in its way", slicer.Greedy{}, false, 9, 2, "", nil},
		{"out", "best and same leave 2 of 7", slicer.Greedy{}, false, 9, 3,
			"GreedySlice takes the highest score per token first. When its turn came, 2 of 7 tokens were left.", []int{2, 6}},
		{"twin", "a pointer that occurs twice is two candidates", second, true, 9, 4, all, []int{3}},
		{"no target", "pinned items take all there is", slicer.Greedy{}, false, 2, 2,
			"Nothing is left to choose with after pinned items and what the budget reserves.", []int{0}},
		{"truncated", "pinned and best take 6 of 8", everything, false, 8, 3,
			"The slicer chose it, but the selection overflowed the target: pinned items stay, and of the others the best that fit.", []int{0, 2}},
		{"not truncated", "it fits", everything, false, 8, 6, "", nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p := pipeline(t, func(c *cupel.Config) {
				c.Scorer, c.Slicer, c.KeepDuplicates, c.Overflow = byHint{}, tt.slicer, tt.keep, cupel.OverflowTruncate
			})
			prepared, err := p.Prepare(t.Context(), items)
			if err != nil {
				t.Fatal(err)
			}
			got, err := prepared.Explain(t.Context(), budgetOf(t, tt.tokens, tt.tokens), tt.candidate)
			if err != nil || got.Rule != tt.rule || !slices.Equal(got.Before, tt.before) {
				t.Errorf("got %+v, %v, want %q %v: %s", got, err, tt.rule, tt.before, tt.why)
			}
		})
	}

	if _, err := (*cupel.Prepared)(nil).Explain(t.Context(), budgetOf(t, 1, 1), 0); !errors.Is(err, cupel.ErrInvalidConfig) {
		t.Errorf("a nil Prepared says %v", err)
	}
	prepared, err := pipeline(t, func(c *cupel.Config) { c.Scorer = byHint{} }).Prepare(t.Context(), items)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := prepared.Explain(t.Context(), budgetOf(t, 1, 1), 2); !errors.Is(err, cupel.ErrPinnedExceedsBudget) {
		t.Errorf("a budget below the pinned items: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := prepared.Explain(ctx, budgetOf(t, 9, 9), 2); !errors.Is(err, context.Canceled) {
		t.Errorf("after the end of its context: %v", err)
	}
}

// TestExplanationsCountForms has groups, smaller forms and older versions in the way.
func TestExplanationsCountForms(t *testing.T) {
	smaller := sliceFunc(func(_ context.Context, items []cupel.ScoredItem, _ cupel.SliceBudget) (cupel.Selection, error) {
		return cupel.Selection{Indices: []int{0}, Smaller: []cupel.SmallerForm{{Index: 1, Form: 1}}}, nil
	})
	units := []*cupel.ContextItem{
		item(t, "call", 2, hint(0.9), cupel.WithGroup("g")), item(t, "result", 4, hint(0.1), cupel.WithGroup("g")),
		item(t, "long", 20, hint(0.8), cupel.WithVariants(cupel.Variant{Content: "short", Tokens: 2, Worth: 0.5})),
		item(t, "large", 9, hint(0.1)), item(t, "refused", 9, hint(-1)),
	}
	versions := []*cupel.ContextItem{
		item(t, "old", 3, hint(0.2), cupel.WithVersionOf("f")), item(t, "new", 90, hint(0.9), cupel.WithVersionOf("f")), item(t, "plain", 5, hint(0.5)),
	}
	for _, tt := range []struct {
		name, why string
		slicer    cupel.Slicer
		items     []*cupel.ContextItem
		candidate int
		rule      string
		before    []int
	}{
		{"group", "both members are before it", slicer.Greedy{}, units, 3,
			"GreedySlice takes the highest score per token first. When its turn came, 4 of 10 tokens were left. Smaller forms of items took 2 of them.", []int{0, 1}},
		{"smaller form", "nothing is in its way", slicer.Greedy{}, units, 2, "", nil},
		{"smaller forms of a stranger", "they are chosen as well", smaller, units, 3, "sliceFunc chose others, with 10 tokens.", []int{0, 1, 2}},
		{"forms", "those of others have more value", slicer.MultipleChoice{}, units, 3,
			"MultipleChoiceSlice takes the forms with the most value per token, within 10 tokens.", []int{0, 1, 2}},
		{"exact forms", "their sum is larger", slicer.NewMultipleChoice(slicer.WithExact()), units, 3,
			"MultipleChoiceSlice takes the forms whose values have the highest sum, within 10 tokens.", []int{0, 1, 2}},
		{"negative score", "it is worth less than nothing", slicer.MultipleChoice{}, units, 4,
			"MultipleChoiceSlice takes nothing with a negative score or none.", nil},
		{"cap", "a smaller form counts", slicer.Must(slicer.NewCountQuota(slicer.Greedy{}, []slicer.CountQuotaEntry{{Kind: cupel.KindMessage, CapCount: 1}})), []*cupel.ContextItem{units[2], item(t, "longer", 30, hint(0.7), cupel.WithVariants(cupel.Variant{Content: "shorter", Tokens: 3, Worth: 0.5}))}, 1,
			"CountQuotaSlice takes at most 1 item of the kind Message.", []int{0}},
		{"newest version", "the older one is in its place", slicer.Greedy{}, versions, 1,
			"The slicer left it out, and an older version came back in its place.", []int{0}},
		{"older version", "it is in", slicer.Greedy{}, versions, 0, "", nil},
		{"others", "an older version is no obstacle to them", slicer.Greedy{}, versions, 2, "", nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p := pipeline(t, func(c *cupel.Config) { c.Scorer, c.Slicer = byHint{}, tt.slicer })
			prepared, err := p.Prepare(t.Context(), tt.items)
			if err != nil {
				t.Fatal(err)
			}
			got, err := prepared.Explain(t.Context(), budgetOf(t, 10, 10), tt.candidate)
			if err != nil || got.Rule != tt.rule || !slices.Equal(got.Before, tt.before) {
				t.Errorf("got %+v, %v, want %q %v: %s", got, err, tt.rule, tt.before, tt.why)
			}
		})
	}
}
