// Command consumer checks a policy of its own outside of tests, and prints what
// a broken expectation says.
package main

import (
	"context"
	"errors"
	"fmt"
	"log"

	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupel/pipeline"
	"github.com/wollax/cupel-go/cupel/placer"
	"github.com/wollax/cupel-go/cupel/scorer"
	"github.com/wollax/cupel-go/cupel/slicer"
	"github.com/wollax/cupel-go/cupel/strategy"
	"github.com/wollax/cupel-go/cupeltest"
)

// byUrgency is a scorer of the consumer's own: urgent items first, then the
// shorter ones.
type byUrgency struct{}

func (s byUrgency) Score(ctx context.Context, items []*cupel.ContextItem, scores []float64) error {
	return strategy.ScorerFunc(s.score).Score(ctx, items, scores)
}

func (byUrgency) score(item *cupel.ContextItem, _ []*cupel.ContextItem) float64 {
	for _, tag := range item.AllTags() {
		if tag == "urgent" {
			return 1
		}
	}
	return 1 / float64(2+len(item.Content()))
}

// newPolicy is what the consumer tests: at most two tool outputs, chosen by
// urgency.
func newPolicy() (*pipeline.Pipeline, error) {
	counts, err := slicer.NewCountQuota(slicer.Greedy{}, []slicer.CountQuotaEntry{
		{Kind: cupel.KindMemory, RequireCount: 1, CapCount: 1},
		{Kind: cupel.KindToolOutput, CapCount: 2},
	})
	if err != nil {
		return nil, err
	}
	return pipeline.New(pipeline.Config{
		Scorer: scorer.Must(scorer.NewScaled(byUrgency{})),
		Slicer: counts,
		Placer: placer.UShaped{},
	})
}

func candidates() []*cupel.ContextItem {
	return []*cupel.ContextItem{
		cupeltest.Item("Answer briefly.", 10, cupel.WithKind(cupel.KindSystemPrompt), cupel.WithPinned()),
		cupeltest.Item("why?", 10),
		cupeltest.Item("tool 1", 20, cupel.WithKind(cupel.KindToolOutput)),
		cupeltest.Item("tool two", 20, cupel.WithKind(cupel.KindToolOutput), cupel.WithTags("urgent")),
		cupeltest.Item("tool three", 20, cupel.WithKind(cupel.KindToolOutput)),
		cupeltest.Item("everything", 900, cupel.WithKind(cupel.KindDocument)),
	}
}

func main() {
	policy, err := newPolicy()
	if err != nil {
		log.Fatal(err)
	}
	report, err := policy.DryRun(context.Background(), candidates(), cupeltest.Budget(200, 100))
	if err != nil {
		log.Fatal(err)
	}
	err = cupeltest.That(report, func(c *cupeltest.SelectionReportAssertionChain) {
		c.IncludeItemWithKind(cupel.KindSystemPrompt).
			IncludeExactlyNItemsWithKind(cupel.KindToolOutput, 3)
	})
	var failure *cupeltest.SelectionReportAssertionError
	if errors.As(err, &failure) {
		fmt.Println(failure.Assertion)
	}
	fmt.Println(err)
}
