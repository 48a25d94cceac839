package eval_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupel/pipeline"
	"github.com/wollax/cupel-go/cupel/placer"
	"github.com/wollax/cupel-go/cupel/slicer"
	"github.com/wollax/cupel-go/cupel/strategy"
	"github.com/wollax/cupel-go/cupelrelevance"
	"github.com/wollax/cupel-go/cupelrelevance/eval"
)

// TestMeasureDiverse measures slicer.Diverse on labelled conversations of one's
// own, as they are and with versions: turns of 15 words and more have ten, each
// with one word in seven replaced. Evidence is found if one of its versions is.
func TestMeasureDiverse(t *testing.T) {
	conversations := evidence(t)
	budgets := []int{250, 500, 1000, 2000, 4000, 8000}
	slicers := []strategy.Slicer{slicer.ScoreGreedy{}, slicer.Diverse{}}
	for _, repeated := range []float64{0, 0.1, 0.3} {
		random := rand.New(rand.NewPCG(1, 2))
		var words []string
		for _, c := range conversations {
			for _, turn := range c.Items {
				words = append(words, strings.Fields(turn.Content)...)
			}
		}
		found := make([][]float64, len(slicers))
		for i := range found {
			found[i] = make([]float64, len(budgets))
		}
		questions := 0
		for _, c := range conversations {
			many := eval.Conversation{ID: c.ID}
			var versionOf []int
			for i, turn := range c.Items {
				versions := 1
				if len(strings.Fields(turn.Content)) >= 15 && random.Float64() < repeated {
					versions = 10
				}
				for version := range versions {
					text := strings.Fields(turn.Content)
					for k := range text {
						if version > 0 && random.IntN(7) == 0 {
							text[k] = words[random.IntN(len(words))]
						}
					}
					other := turn
					other.Content = strings.Join(text, " ")
					many.Items, versionOf = append(many.Items, other), append(versionOf, i)
				}
			}
			items, err := many.ContextItems()
			if err != nil {
				t.Fatal(err)
			}
			index := cupelrelevance.Must(cupelrelevance.NewIndex())
			for _, q := range c.Questions {
				questions++
				for s, sl := range slicers {
					pipeline, err := pipeline.New(pipeline.Config{Scorer: cupelrelevance.Must(cupelrelevance.New(index, q.Query)), Slicer: sl, Placer: placer.Chronological{}, KeepDuplicates: true})
					if err != nil {
						t.Fatal(err)
					}
					prepared, err := pipeline.Prepare(t.Context(), items)
					if err != nil {
						t.Fatal(err)
					}
					for b, tokens := range budgets {
						budget, err := cupel.NewContextBudget(tokens, tokens)
						if err != nil {
							t.Fatal(err)
						}
						selected, err := prepared.Select(t.Context(), budget)
						if err != nil {
							t.Fatal(err)
						}
						in := make(map[int]bool)
						for _, at := range selected {
							in[versionOf[at]] = true
						}
						n := 0
						for _, at := range q.Evidence {
							if in[at] {
								n++
							}
						}
						found[s][b] += float64(n) / float64(len(q.Evidence))
					}
				}
			}
		}
		for s := range slicers {
			line := fmt.Sprintf("%.0f %% repeated, %-19T", 100*repeated, slicers[s])
			for _, sum := range found[s] {
				line += fmt.Sprintf("  %.3f", sum/float64(questions))
			}
			t.Log(line)
		}
	}
}
