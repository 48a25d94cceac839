package cupeltest

import (
	"context"
	"fmt"
	"iter"
	"slices"

	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupel/placer"
	"github.com/wollax/cupel-go/cupel/slicer"
)

// TestScorer checks that a scorer keeps the contract of [cupel.Scorer] and, if it
// implements it, of [cupel.BatchScorer], and reports each broken rule. Each call
// of newScorer returns a new scorer, since first calls go wrong in ways that
// later ones do not show. After a rule about purity, the rules that follow are
// skipped. Scores outside [0,1] are allowed. A scorer that reads a clock needs one
// that stands still.
//
// Run it under the race detector to check concurrent use.
func TestScorer(t T, newScorer func() cupel.Scorer, opts ...StrategyOption) {
	t.Helper()
	var options kitOptions
	for _, opt := range opts {
		if opt != nil {
			opt.applyStrategy(&options)
		}
	}
	s, ok := accepted(t, "scorer", newScorer, func(s cupel.Scorer) cupel.Config {
		return cupel.Config{Scorer: s, Slicer: slicer.Greedy{}, Placer: placer.Chronological{}}
	}, &options)
	if !ok {
		return
	}
	hold(t, "scorer", s, scorerRules(s, newScorer, &options), &options)
}

// scorerRules returns the rules for scorers of the type of s.
func scorerRules(s cupel.Scorer, start func() cupel.Scorer, options *kitOptions) []rule {
	single := scorerSubject("Score", "scores", options, func() scorerFunc {
		s := start()
		return func(_ context.Context, all []*cupel.ContextItem, scores []float64) error {
			for i := range sampled(len(all)) {
				scores[i] = s.Score(all[i], all)
			}
			return nil
		}
	})
	rules := append(single.rules(),
		rule{sentence: "Score depends on the item and the list, not on which item of the list was scored before.", cause: "scores depend on the item before", vital: true,
			broken: func() string { return anyOrder(start, single) }},
		rule{sentence: "Score takes a list that holds an item twice: two candidates, alike.", cause: "Score fails for an item that is given twice", broken: func() string {
			return single.alone(input[*cupel.ContextItem]{list: repeatedItems(options)}).broke
		}},
		single.goroutineRule(),
	)
	if _, ok := s.(cupel.BatchScorer); ok && !bypassed(s, "Score", "ScoreAll") {
		rules = append(rules, batchRules(start, single, options)...)
	}
	return append(rules, numberRule("Score", single, options))
}

// sampled yields the positions of a list that Score is called for: all of a short
// list, and of a long one both ends and some between, since a call may take
// time in proportion to the list or to its square.
func sampled(n int) iter.Seq[int] {
	return func(yield func(int) bool) {
		step := max(1, n*n/16000)
		for i := 0; i < n; i += step {
			if !yield(i) {
				return
			}
		}
		if (n-1)%step != 0 {
			yield(n - 1)
		}
	}
}

type scorerFunc = func(ctx context.Context, all []*cupel.ContextItem, scores []float64) error

func scorerSubject(method, result string, options *kitOptions, start func() scorerFunc) *subject[*cupel.ContextItem, []float64] {
	return &subject[*cupel.ContextItem, []float64]{
		options: options,
		method:  method,
		result:  result,
		start: func() func(ctx context.Context, in input[*cupel.ContextItem]) ([]float64, error) {
			score := start()
			return func(ctx context.Context, in input[*cupel.ContextItem]) ([]float64, error) {
				scores := make([]float64, len(in.list))
				return scores, score(ctx, in.list, scores)
			}
		},
		differ: differentScores,
		clone:  slices.Clone[[]float64],
		same:   func(a, b *cupel.ContextItem) bool { return a == b },
		lists:  func(g generation) []input[*cupel.ContextItem] { return itemInputs(g, options) },
		may:    options.allows,
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

func anyOrder(start func() cupel.Scorer, single *subject[*cupel.ContextItem, []float64]) string {
	for _, in := range single.short() {
		all, s := slices.Clone(in.list), start()
		forward := single.alone(in)
		for i, item := range slices.Backward(in.list) {
			if got, want := s.Score(item, all), forward.result[i]; !sameScore(got, want) {
				return fmt.Sprintf("%s: item %d scores %s after the items before it, and %s after those behind it", in.name, i+1, score(want), score(got))
			}
		}
	}
	return ""
}

func batchRules(start func() cupel.Scorer, single *subject[*cupel.ContextItem, []float64], options *kitOptions) []rule {
	startBatch := func() scorerFunc {
		return start().(cupel.BatchScorer).ScoreAll // a panic is reported, as that of any first use
	}
	batch := scorerSubject("ScoreAll", "scores of ScoreAll", options, startBatch)
	same := func(in input[*cupel.ContextItem]) string {
		one, all := single.alone(in), batch.alone(in)
		if one.broke == "" && all.broke == "" {
			for i := range sampled(len(in.list)) {
				if !sameScore(one.result[i], all.result[i]) {
					return fmt.Sprintf("%s, Score and ScoreAll: item %d scores %s, then %s", in.name, i+1, score(one.result[i]), score(all.result[i]))
				}
			}
			return ""
		}
		if diff := batch.compare(one, all); diff != "" && !batch.answers(all) {
			return in.name + ", Score and ScoreAll: " + diff
		}
		return ""
	}
	rules := append(batch.rules(), batch.resultRule())
	rules = append(rules, batch.stopRules()...)
	return append(rules,
		batch.growthRule(func(n int) input[*cupel.ContextItem] {
			return input[*cupel.ContextItem]{list: longItems(n, options)}
		}),
		rule{sentence: "ScoreAll writes every score.", cause: "ScoreAll leaves scores out", broken: func() string { return writesAll(startBatch(), batch.cold()) }},
		rule{sentence: "ScoreAll gives the same bits as Score.", cause: "scores of Score and ScoreAll differ", broken: func() string {
			for _, in := range batch.cold() {
				if found := same(in); found != "" {
					return found
				}
			}
			return ""
		}},
		rule{sentence: "ScoreAll scores an item that is given twice at each of its positions, as Score does.", cause: "ScoreAll confuses items that are given twice", broken: func() string {
			return same(input[*cupel.ContextItem]{name: "a list that holds two items twice", list: repeatedItems(options)})
		}},
		rule{sentence: "ScoreAll takes an empty list.", cause: "ScoreAll fails for an empty list", broken: func() string {
			return batch.runOn(context.Background(), batch.start(), input[*cupel.ContextItem]{}).broke
		}},
	)
}

// writesAll scores into memory that holds something, and into memory that holds
// something else: what is not the same after it was not written.
func writesAll(scoreAll scorerFunc, inputs []input[*cupel.ContextItem]) string {
	for _, in := range inputs {
		x, y := make([]float64, len(in.list)), make([]float64, len(in.list))
		for i := range x {
			x[i], y[i] = -1234.5, 5432.1
		}
		if scoreAll(context.Background(), slices.Clone(in.list), x) != nil || scoreAll(context.Background(), slices.Clone(in.list), y) != nil {
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
