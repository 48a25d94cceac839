package cupeltest

import (
	"context"
	"fmt"
	"slices"

	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupel/pipeline"
	"github.com/wollax/cupel-go/cupel/placer"
	"github.com/wollax/cupel-go/cupel/slicer"
	"github.com/wollax/cupel-go/cupel/strategy"
)

// TestScorer checks that a scorer keeps the contract of [strategy.Scorer], and reports
// each broken rule. Each call of newScorer returns a new scorer, since first calls go wrong in ways that
// later ones do not show. After a rule about purity, the rules that follow are
// skipped. Scores outside [0,1] are allowed. A scorer that reads a clock needs one
// that stands still.
//
// Run it under the race detector to check concurrent use.
func TestScorer(t T, newScorer func() strategy.Scorer, opts ...StrategyOption) {
	t.Helper()
	var options kitOptions
	for _, opt := range opts {
		if opt != nil {
			opt.applyStrategy(&options)
		}
	}
	s, ok := accepted(t, "scorer", newScorer, func(s strategy.Scorer) pipeline.Config {
		return pipeline.Config{Scorer: s, Slicer: slicer.Greedy{}, Placer: placer.Chronological{}}
	}, &options)
	if !ok {
		return
	}
	hold(t, "scorer", s, scorerRules(newScorer, &options), &options)
}

// scorerRules returns the rules for scorers.
func scorerRules(newScorer func() strategy.Scorer, options *kitOptions) []rule {
	k := &subject[*cupel.ContextItem, []float64]{
		options: options,
		method:  "Score",
		result:  "scores",
		start: func() func(ctx context.Context, in input[*cupel.ContextItem]) ([]float64, error) {
			s := newScorer()
			return func(ctx context.Context, in input[*cupel.ContextItem]) ([]float64, error) {
				scores := make([]float64, len(in.list))
				return scores, s.Score(ctx, in.list, scores)
			}
		},
		differ: differentScores,
		clone:  slices.Clone[[]float64],
		same:   func(a, b *cupel.ContextItem) bool { return a == b },
		lists:  func(g generation) []input[*cupel.ContextItem] { return itemInputs(g, options) },
		may:    options.allows,
		junk:   Item("junk", 1),
	}
	rules := append(k.rules(), k.resultRule())
	rules = append(rules, k.stopRules()...)
	return append(rules,
		k.growthRule(func(n int) input[*cupel.ContextItem] {
			return input[*cupel.ContextItem]{list: longItems(n, options)}
		}),
		rule{sentence: "Score writes every score.", cause: "Score leaves scores out", broken: func() string { return writesAll(newScorer(), k.cold()) }},
		rule{sentence: "Score gives an item that is given twice the same score at each of its positions.", cause: "Score confuses items that are given twice", broken: func() string {
			return k.each([]input[*cupel.ContextItem]{{name: "a list that holds two items twice", list: repeatedItems(options)}}, unlikeScores)
		}},
		rule{sentence: "Score takes an empty list.", cause: "Score fails for an empty list", broken: func() string {
			return k.runOn(context.Background(), k.start(), input[*cupel.ContextItem]{}).broke
		}},
		numberRule(k, options))
}

func differentScores(a, b []float64) string {
	for i := range a {
		if !sameScore(a[i], b[i]) {
			return fmt.Sprintf("item %d scores %s, then %s", i+1, score(a[i]), score(b[i]))
		}
	}
	return ""
}

// unlikeScores finds an item that has two scores.
func unlikeScores(in input[*cupel.ContextItem], scores []float64) string {
	for i, item := range in.list {
		if first := slices.Index(in.list, item); !sameScore(scores[first], scores[i]) {
			return fmt.Sprintf("item %d scores %s, and as item %d %s", first+1, score(scores[first]), i+1, score(scores[i]))
		}
	}
	return ""
}

// writesAll scores into memory that holds something, and into memory that holds
// something else: what is not the same after it was not written.
func writesAll(s strategy.Scorer, inputs []input[*cupel.ContextItem]) string {
	for _, in := range inputs {
		x, y := make([]float64, len(in.list)), make([]float64, len(in.list))
		for i := range x {
			x[i], y[i] = -1234.5, 5432.1
		}
		if s.Score(context.Background(), slices.Clone(in.list), x) != nil || s.Score(context.Background(), slices.Clone(in.list), y) != nil {
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
