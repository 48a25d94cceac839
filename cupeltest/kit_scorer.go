package cupeltest

import (
	"context"
	"fmt"
	"slices"

	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupel/placer"
	"github.com/wollax/cupel-go/cupel/slicer"
)

// TestScorer checks that a scorer keeps the contract of [cupel.Scorer] and, if it
// implements it, of [cupel.BatchScorer], and reports each broken rule. Scores
// outside [0,1] are allowed. A scorer that reads a clock needs one that stands
// still.
//
// Run it under the race detector to check concurrent use.
func TestScorer(t T, s cupel.Scorer, opts ...StrategyOption) {
	t.Helper()
	var options kitOptions
	for _, opt := range opts {
		if opt != nil {
			opt.applyStrategy(&options)
		}
	}
	if !accepted(t, "scorer", s, cupel.Config{Scorer: s, Slicer: slicer.Greedy{}, Placer: placer.Chronological{}}, &options) {
		return
	}
	hold(t, "scorer", s, scorerRules(s, options))
}

func scorerRules(s cupel.Scorer, options kitOptions) []rule {
	single := scorerSubject("Score", func(_ context.Context, all []*cupel.ContextItem, scores []float64) error {
		for i, item := range all {
			scores[i] = s.Score(item, all)
		}
		return nil
	})
	inputs := itemInputs(options.items)
	rules := append(single.rules(inputs),
		rule{"Score depends on the item and the list, not on which item of the list was scored before.",
			func() string { return anyOrder(s, single) }},
		rule{"Score takes a list that holds an item twice: two candidates, alike.", func() string {
			return single.call(input[*cupel.ContextItem]{list: repeatedItems()}).broke
		}},
	)
	if batch, ok := s.(cupel.BatchScorer); ok {
		rules = append(rules, batchRules(batch, single, inputs)...)
	}
	return rules
}

type scorerFunc = func(ctx context.Context, all []*cupel.ContextItem, scores []float64) error

func scorerSubject(method string, score scorerFunc) *subject[*cupel.ContextItem, []float64] {
	return &subject[*cupel.ContextItem, []float64]{
		method: method,
		run: func(ctx context.Context, in input[*cupel.ContextItem]) ([]float64, error) {
			scores := make([]float64, len(in.list))
			return scores, score(ctx, in.list, scores)
		},
		differ: differentScores,
		clone:  slices.Clone[[]float64],
		same:   func(a, b *cupel.ContextItem) bool { return a == b },
		fresh:  func() []input[*cupel.ContextItem] { return itemInputs(nil) },
		junk:   Item("junk", 1),
	}
}

func differentScores(a, b []float64) string {
	for i := range a {
		if !sameScore(a[i], b[i]) {
			return fmt.Sprintf("item %d scores %s, then %s", i+1, score(a[i]), score(b[i]))
		}
	}
	return ""
}

func anyOrder(s cupel.Scorer, single *subject[*cupel.ContextItem, []float64]) string {
	for at, in := range single.inputs {
		all := slices.Clone(in.list)
		for i, item := range slices.Backward(in.list) {
			if got, want := s.Score(item, all), single.base[at].result[i]; !sameScore(got, want) {
				return fmt.Sprintf("%s: item %d scores %s after the items before it, and %s after those behind it", in.name, i+1, score(want), score(got))
			}
		}
	}
	return ""
}

func batchRules(b cupel.BatchScorer, single *subject[*cupel.ContextItem, []float64], inputs []input[*cupel.ContextItem]) []rule {
	batch := scorerSubject("ScoreAll", b.ScoreAll)
	same := func(in input[*cupel.ContextItem]) string {
		if diff := batch.compare(single.call(in), batch.call(in)); diff != "" {
			return in.name + ", Score and ScoreAll: " + diff
		}
		return ""
	}
	return append(batch.rules(inputs),
		batch.resultRule(), batch.stopRule(),
		rule{"ScoreAll gives the same bits as Score.", func() string {
			for _, in := range batch.inputs {
				if found := same(in); found != "" {
					return found
				}
			}
			return ""
		}},
		rule{"ScoreAll writes every score.", func() string { return writesAll(b, batch.inputs) }},
		rule{"ScoreAll scores an item that is given twice at each of its positions, as Score does.", func() string {
			return same(input[*cupel.ContextItem]{name: "a list that holds two items twice", list: repeatedItems()})
		}},
		rule{"ScoreAll takes an empty list.", func() string {
			return batch.runOn(context.Background(), input[*cupel.ContextItem]{}).broke
		}},
	)
}

// writesAll scores into memory that holds something, and into memory that holds
// something else: what is not the same after it was not written.
func writesAll(b cupel.BatchScorer, inputs []input[*cupel.ContextItem]) string {
	for _, in := range inputs {
		x, y := make([]float64, len(in.list)), make([]float64, len(in.list))
		for i := range x {
			x[i], y[i] = -1234.5, 5432.1
		}
		if b.ScoreAll(context.Background(), slices.Clone(in.list), x) != nil || b.ScoreAll(context.Background(), slices.Clone(in.list), y) != nil {
			continue
		}
		for i := range x {
			if x[i] == -1234.5 && y[i] == 5432.1 {
				return fmt.Sprintf("%s: the score of item %d is what was there before", in.name, i+1)
			}
		}
	}
	return ""
}
