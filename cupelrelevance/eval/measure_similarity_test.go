package eval_test

import (
	"fmt"
	"hash/fnv"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupel/strategy"
	"github.com/wollax/cupel-go/cupelrelevance"
	"github.com/wollax/cupel-go/cupelrelevance/eval"
)

// TestMeasureSimilarity measures the preset with simulated vectors on labelled
// conversations of one's own, whose turns have no times. The cosine of a turn is
// normally distributed, and that of evidence is higher by a number of standard
// deviations, its quality. Half of the variance is shared with the turns around.
func TestMeasureSimilarity(t *testing.T) {
	conversations := evidence(t)
	isEvidence := make(map[string]map[int]bool)
	for _, c := range conversations {
		for _, q := range c.Questions {
			isEvidence[q.Query] = make(map[int]bool)
			for _, at := range q.Evidence {
				isEvidence[q.Query][at] = true
			}
		}
	}
	vectors := func(query string, quality float64) *cupelrelevance.Similarity {
		hash := fnv.New64a()
		_, _ = hash.Write([]byte(query)) // never fails
		seed := hash.Sum64()
		return cupelrelevance.Must(cupelrelevance.NewSimilarity([]float32{1, 0}, func(item *cupel.ContextItem) ([]float32, bool) {
			at, _ := item.Timestamp() // turns are one second apart
			i := int(at.Unix())
			normal := func(i int, stream uint64) float64 { return rand.New(rand.NewPCG(seed+stream, uint64(i))).NormFloat64() }
			deviation := math.Sqrt(0.5) * normal(i, 0)
			share := math.Sqrt(0.5 * (1 - 0.9*0.9))
			for before := range 40 {
				deviation += share * normal(1000+i-before, 1)
				share *= 0.9
			}
			if isEvidence[query][i] {
				deviation += quality
			}
			cosine := max(-1, min(1, 0.3+0.1*deviation))
			return []float32{float32(cosine), float32(math.Sqrt(1 - cosine*cosine))}, true
		}))
	}
	policies := eval.Builtin()[3:]
	for _, quality := range []float64{0.5, 1, 2, 3} {
		policies = append(policies, eval.ByScore(fmt.Sprintf("vectors %g", quality), func(_ *cupelrelevance.Index, query string) (strategy.Scorer, error) {
			return vectors(query, quality), nil
		}))
		for _, weight := range []float64{0.5, 1, 2} {
			policies = append(policies, eval.ByScore(fmt.Sprintf("both %g, weight %g", quality, weight), func(index *cupelrelevance.Index, query string) (strategy.Scorer, error) {
				return cupelrelevance.New(index, query, cupelrelevance.WithSimilarity(vectors(query, quality), weight))
			}))
		}
	}
	result, err := run(t.Context(), conversations, policies, []int{500, 1000, 2000, 4000, 8000})
	if err != nil {
		t.Fatal(err)
	}
	t.Log(result.Text())
}
