package inspector

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupel/pipeline"
	"github.com/wollax/cupel-go/cupel/placer"
	"github.com/wollax/cupel-go/cupel/scorer"
	"github.com/wollax/cupel-go/cupel/slicer"
	"github.com/wollax/cupel-go/cupel/strategy"
	"github.com/wollax/cupel-go/cupelinspect"
)

// subject is a selection on a page, with what it was made of.
type subject struct {
	pipeline  *pipeline.Pipeline
	items     []*cupel.ContextItem
	budget    cupel.ContextBudget
	selection *cupelinspect.Selection
}

var noon = time.Date(2025, 6, 1, 12, 0, 0, 0, time.UTC)

// must returns v, which a test knows how to build.
func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

// candidates returns n items of all sizes; item i is as old as n - i hours. The
// content of each begins with its number, which no other has.
func candidates(n int) []*cupel.ContextItem {
	random := rand.New(rand.NewPCG(7, 11))
	kinds := []cupel.ContextKind{cupel.KindMessage, cupel.KindDocument, cupel.KindToolOutput, cupel.KindMemory, "Code"}
	sources := []cupel.ContextSource{cupel.SourceChat, cupel.SourceTool, cupel.SourceRAG, "Wiki"}
	words := strings.Fields("the roof plan was changed after a meeting because one pipe in the north wall leaks when it rains")
	items := make([]*cupel.ContextItem, n)
	for i := range items {
		var content strings.Builder
		fmt.Fprintf(&content, "item %05d:", i)
		for range random.IntN(60) {
			content.WriteString([]string{" ", " ", " ", " ", " ", "\n"}[random.IntN(6)])
			content.WriteString(words[random.IntN(len(words))])
		}
		options := []cupel.ItemOption{
			cupel.WithKind(kinds[random.IntN(len(kinds))]), cupel.WithSource(sources[random.IntN(len(sources))]),
			cupel.WithTimestamp(noon.Add(time.Duration(i-n) * time.Hour)),
		}
		tokens := 5 + content.Len()/3
		switch {
		case i == 0:
			options = append(options, cupel.WithKind(cupel.KindSystemPrompt), cupel.WithPinned())
		case i%17 == 5:
			tokens = 0
		case i%23 == 7:
			tokens = -3
		}
		if random.IntN(2) == 0 {
			options = append(options, cupel.WithPriority(random.IntN(5)))
		}
		if random.IntN(4) == 0 {
			options = append(options, cupel.WithTags("plan", words[random.IntN(len(words))]), cupel.WithMetadata(map[string]any{"turn": i}))
		}
		items[i] = must(cupel.NewContextItem(content.String(), tokens, options...))
	}
	return items
}

// composite scores by age and priority: no two candidates alike, nearly.
func composite(age, priority float64) strategy.Scorer {
	return scorer.Must(scorer.NewComposite(scorer.Weighted{Scorer: scorer.Recency{}, Weight: age}, scorer.Weighted{Scorer: scorer.Priority{}, Weight: priority}))
}

// inspect returns a selection from items with a budget of maxTokens, a target
// of three quarters and an output reserve of an eighth.
func inspect(t *testing.T, config pipeline.Config, items []*cupel.ContextItem, maxTokens int, options ...cupelinspect.Option) *subject {
	t.Helper()
	chromium(t) // without one nothing is shown, so nothing is prepared
	s := &subject{
		pipeline: must(pipeline.New(config)), items: items,
		budget: must(cupel.NewContextBudget(maxTokens, maxTokens*3/4, cupel.WithOutputReserve(maxTokens/8))),
	}
	var err error
	s.selection, err = cupelinspect.Inspect(t.Context(), s.pipeline, items, s.budget, options...)
	require.NoError(t, err)
	return s
}

// usual is the configuration of tests that need none in particular.
func usual() pipeline.Config {
	return pipeline.Config{Scorer: composite(3, 1), Slicer: slicer.Greedy{}, Placer: placer.UShaped{}, Overflow: pipeline.OverflowTruncate}
}

// plain is the selection of tests that need none in particular: 40 candidates,
// few enough that all rows of the table are in the document.
func plain(t *testing.T) *subject {
	t.Helper()
	return inspect(t, usual(), candidates(40), 600, cupelinspect.WithName("plain"), cupelinspect.WithSweep(200, 1200, 21))
}

// at returns what cupel itself says of another budget: the page's sweep keeps
// the share of the target and the reserve.
func (s *subject) at(t *testing.T, maxTokens int) *cupel.SelectionReport {
	t.Helper()
	budget := must(s.budget.Resize(maxTokens, maxTokens*s.budget.TargetTokens()/s.budget.MaxTokens()))
	report, err := s.pipeline.DryRun(t.Context(), s.items, budget)
	require.NoError(t, err)
	return report
}

// report returns what cupel says of the actual budget.
func (s *subject) report(t *testing.T) *cupel.SelectionReport {
	t.Helper()
	return s.at(t, s.budget.MaxTokens())
}

// numbers returns the positions of items among the candidates, by the numbers
// that their contents begin with.
func numbers(items ...cupel.IncludedItem) []int {
	list := make([]int, len(items))
	for i, item := range items {
		_, _ = fmt.Sscanf(item.Item.Content(), "item %d", &list[i])
	}
	return list
}

// indexes returns the positions among the candidates that a test holds for.
func (s *subject) indexes(holds func(i int, item *cupel.ContextItem) bool) []int {
	list := []int{}
	for i, item := range s.items {
		if holds(i, item) {
			list = append(list, i)
		}
	}
	return list
}
