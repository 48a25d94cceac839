package cupelrelevance

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupel/pipeline"
	"github.com/wollax/cupel-go/cupel/placer"
	"github.com/wollax/cupel-go/cupel/slicer"
	"github.com/wollax/cupel-go/cupel/strategy"
)

// TestDiverseCost: a run over 10,000 items with relevance takes at most three
// times as long with Diverse as with Greedy. The runs alternate, and the medians count.
func TestDiverseCost(t *testing.T) {
	if testing.Short() || raceEnabled {
		t.Skip("it measures time")
	}
	random := rand.New(rand.NewPCG(1, 2))
	vocabulary := make([]string, 5000)
	for i := range vocabulary {
		vocabulary[i] = string(rune('a'+i%26)) + string(rune('a'+i/26%26)) + string(rune('a'+i/676)) + "er"
	}
	items := make([]*cupel.ContextItem, 10_000)
	for i := range items {
		text := ""
		for range 100 {
			text += vocabulary[int(float64(len(vocabulary))*random.Float64()*random.Float64())] + " "
		}
		items[i] = item(t, text)
	}
	budget, err := cupel.NewContextBudget(16_000, 16_000)
	if err != nil {
		t.Fatal(err)
	}
	slicers := []strategy.Slicer{slicer.Greedy{}, slicer.Diverse{}}
	index := Must(NewIndex())
	took := []time.Duration{time.Hour, time.Hour} // the least of rounds that take turns
	slow := func(i int) bool { return took[i] > 3*took[0] }
	for round := 0; round < 9 || round < 40 && slow(1); round++ {
		for i, s := range slicers {
			// Another question each time about the same items: the index is warm, which
			// is the harder case.
			pipeline, err := pipeline.New(pipeline.Config{Scorer: Must(New(index, vocabulary[round]+" "+vocabulary[100*round+7])), Slicer: s, Placer: placer.Chronological{}})
			if err != nil {
				t.Fatal(err)
			}
			start := time.Now()
			window, err := pipeline.Run(t.Context(), items, budget)
			if err != nil || len(window) == 0 {
				t.Fatalf("%d items, %v", len(window), err)
			}
			if round > 0 { // the first reads the texts
				took[i] = min(took[i], time.Since(start))
			}
		}
	}
	for i, name := range []string{"Greedy", "words"} {
		ratio := float64(took[i]) / float64(took[0])
		t.Logf("%s: %.2f times %v", name, ratio, took[0])
		if slow(i) {
			t.Errorf("with %s Diverse takes %.2f times as long as Greedy", name, ratio)
		}
	}
}
