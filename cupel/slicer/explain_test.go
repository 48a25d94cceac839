package slicer_test

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupel/slicer"
	"github.com/wollax/cupel-go/cupel/strategy"
)

func TestExplainSlice(t *testing.T) {
	knapsack := func(opts ...slicer.KnapsackOption) strategy.Slicer { return slicer.Must(slicer.NewKnapsack(opts...)) }
	items := listOf("Document 40 0.9, Document 20 0.8, Message 30 0.6, Message 5 0.05")
	for _, tt := range []struct {
		name, why string
		slicer    strategy.Slicer
		target    int
		at        int
		rule      string
		before    []int
	}{
		{"greedy", "20 and 40 leave 10", slicer.Greedy{}, 70, 2,
			"GreedySlice takes the highest score per token first. When its turn came, 10 of 70 tokens were left. Later items took 5 of them.", []int{1, 0}},
		{"by score", "40 and 20 leave 10", slicer.ScoreGreedy{}, 70, 2,
			"ScoreGreedySlice takes the highest score first. When its turn came, 10 of 70 tokens were left. Later items took 5 of them.", []int{0, 1}},
		{"knapsack", "1.7 and 0.05 are the most", knapsack(slicer.WithBucketSize(1)), 70, 2,
			"KnapsackSlice takes the items whose scores have the highest sum, within 70 tokens.", []int{3, 1, 0}},
		{"buckets", "each takes one of two", knapsack(slicer.WithBucketSize(50)), 100, 3,
			"KnapsackSlice takes the items whose scores have the highest sum, within 100 tokens, the tokens of each rounded up to buckets of 50.", []int{1, 0}},
		{"multiple choice", "40 and 20 leave 10", slicer.NewMultipleChoice(), 70, 2,
			"MultipleChoiceSlice takes the forms with the most value per token, within 70 tokens.", []int{0, 1, 3}},
		{"exact multiple choice", "1.75 is the most", slicer.NewMultipleChoice(slicer.WithExact()), 70, 2,
			"MultipleChoiceSlice takes the forms whose values have the highest sum, within 70 tokens.", []int{0, 1, 3}},
		{"no share", "a cap of nothing", quota(slicer.Greedy{}, "Message 0 0"), 70, 2, "QuotaSlice leaves no tokens for the kind Message.", nil},
		{"nothing at all", "a quota of nothing", quota(slicer.Greedy{}, ""), 0, 2, "QuotaSlice has no tokens to share out.", nil},
		{"cap", "20 tokens come first", counted(slicer.Greedy{}, "Document 0 1"), 70, 0, "CountQuotaSlice takes at most 1 item of the kind Document.", []int{1}},
		{"no kind", "a cap of nothing", counted(slicer.Greedy{}, "Document 0 0"), 70, 1, "CountQuotaSlice takes no items of the kind Document.", nil},
		{"required", "both documents leave 10", counted(slicer.Greedy{}, "Document 2 2"), 70, 2,
			"CountQuotaSlice takes the required items of a kind first, here 2 items. GreedySlice takes the highest score per token first. Nothing comes before it, but there are only 10 tokens. Later items took 5 of them.", []int{0, 1}},
		{"a token", "one token is a target, which both documents exceed", counted(slicer.Greedy{}, "Document 0 9"), 1, 2,
			"GreedySlice takes the highest score per token first. Nothing comes before it, but there are only 1 tokens.", nil},
		{"no tokens", "nothing is required either", counted(slicer.Greedy{}, "Document 2 2"), 0, 2, "CountQuotaSlice has no tokens to choose with.", nil},
		{"required in a share", "the documents are required of their own share", quota(counted(slicer.Greedy{}, "Document 1 2"), "Message 0 10"), 70, 2,
			"QuotaSlice gives the kind Message 7 of 70 tokens. GreedySlice takes the highest score per token first. Nothing comes before it, but there are only 7 tokens. Later items took 5 of them.", nil},
		{"another's in a share", "the share says what it knows, and no more", quota(another{slicer.Greedy{}}, "Message 0 10"), 70, 2,
			"QuotaSlice gives the kind Message 7 of 70 tokens. another chose others, with 7 tokens.", []int{3}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, err := strategy.Explain(t.Context(), tt.slicer, items, target(tt.target), tt.at)
			if err != nil || got.Rule != tt.rule || !slices.Equal(got.Before, tt.before) {
				t.Errorf("got %q %v, %v\nwant %q %v: %s", got.Rule, got.Before, err, tt.rule, tt.before, tt.why)
			}
		})
	}

	worthless := []cupel.ScoredItem{msg(1, 1), msg(1, 0.00009)}
	if got, err := strategy.Explain(t.Context(), knapsack(slicer.WithBucketSize(1)), worthless, target(9), 1); err != nil || got.Rule != "KnapsackSlice takes nothing with a score below 0.0001." {
		t.Errorf("of what is worth nothing: %+v, %v", got, err)
	}
	for _, test := range []struct {
		score float64
		want  string
	}{
		{0, "MultipleChoiceSlice takes the forms with the most value per token, within 2 tokens."},
		{math.NaN(), "MultipleChoiceSlice takes nothing with a negative score or none."},
	} {
		items := []cupel.ScoredItem{msg(2, 1), msg(1, test.score)}
		if got, err := strategy.Explain(t.Context(), slicer.NewMultipleChoice(), items, target(2), 1); err != nil || got.Rule != test.want {
			t.Errorf("of a score of %v: %+v, %v, want %q", test.score, got, err, test.want)
		}
	}
}

// another embeds a slicer and chooses otherwise.
type another struct{ slicer.Greedy }

func (a another) Slice(ctx context.Context, items []cupel.ScoredItem, budget cupel.SliceBudget) (strategy.Selection, error) {
	return a.Greedy.Slice(ctx, items, budget)
}

// A slicer explains each item that it leaves out with what it chose, which
// cupel.ExplainSlice checks; and what stands before an item in a walk leaves less
// than it needs.
func TestExplanationsHold(t *testing.T) {
	r := rand.New(rand.NewPCG(31, 12))
	cases := 4_000
	if testing.Short() || raceEnabled {
		cases = 1_000
	}
	explained := 0
	for range cases {
		sc := newScenario(r)
		chosen, err := strategy.CallSlicer(t.Context(), sc.real, sc.items, sc.budget)
		if err != nil {
			continue
		}
		for at := range sc.items {
			got, err := strategy.Explain(t.Context(), sc.real, sc.items, sc.budget, at)
			if err != nil {
				t.Fatalf("%s: %v", sc, err)
			}
			in := slices.Contains(chosen.Indices, at)
			if in != (got.Rule == "") {
				t.Fatalf("%s: item %d, in: %t, has rule %q", sc, at, in, got.Rule)
			}
			if in {
				continue
			}
			explained++
			switch sc.real.(type) {
			case slicer.Greedy, slicer.ScoreGreedy:
				left := sc.budget.TargetTokens
				for _, i := range got.Before {
					left -= sc.items[i].Item.Tokens()
				}
				if tokens := sc.items[at].Item.Tokens(); tokens >= 0 && left >= tokens && sc.budget.TargetTokens > 0 {
					t.Fatalf("%s: %d tokens are said not to fit %d: %q", sc, tokens, left, got.Rule)
				}
			}
		}
	}
	if explained < cases {
		t.Errorf("only %d items were explained", explained)
	}
}
