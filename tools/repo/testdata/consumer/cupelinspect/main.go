// Command consumer writes a page about a selection with a scorer of its own,
// and reads from the page what its script would.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log"
	"strings"

	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupel/pipeline"
	"github.com/wollax/cupel-go/cupel/placer"
	"github.com/wollax/cupel-go/cupel/scorer"
	"github.com/wollax/cupel-go/cupel/slicer"
	"github.com/wollax/cupel-go/cupelinspect"
)

// shorter prefers short items.
type shorter struct{}

func (shorter) Score(_ context.Context, items []*cupel.ContextItem, scores []float64) error {
	for i, item := range items {
		scores[i] = 1 / float64(1+len(item.Content()))
	}
	return nil
}

func main() {
	if err := run(context.Background()); err != nil {
		log.Fatal(err)
	}
}

func run(ctx context.Context) error {
	composite, err := scorer.NewComposite(scorer.Weighted{Scorer: shorter{}, Weight: 3}, scorer.Weighted{Scorer: scorer.Priority{}, Weight: 1})
	if err != nil {
		return err
	}
	pipeline, err := pipeline.New(pipeline.Config{Scorer: composite, Slicer: slicer.Greedy{}, Placer: placer.UShaped{}})
	if err != nil {
		return err
	}
	var items []*cupel.ContextItem
	for _, text := range []string{"why?", "</script> is text", "a long answer to all of it"} {
		item, err := cupel.NewContextItem(text, len(text))
		if err != nil {
			return err
		}
		items = append(items, item)
	}
	budget, err := cupel.NewContextBudget(30, 24)
	if err != nil {
		return err
	}
	selection, err := cupelinspect.Inspect(ctx, pipeline, items, budget, cupelinspect.WithName("short"), cupelinspect.WithSweep(10, 60, 6))
	if err != nil {
		return err
	}
	var page strings.Builder
	if err := cupelinspect.WriteHTML(&page, "A consumer's page", selection); err != nil {
		return err
	}
	return read(page.String())
}

// read prints what the page says.
func read(page string) error {
	for _, part := range []string{"<title>A consumer's page</title>", "<title>A consumer&#39;s page</title>", "default-src 'none'", "<style>", "<script>"} {
		fmt.Println(strings.Count(page, part), part)
	}
	_, data, _ := strings.Cut(page, `id="data">`)
	data, _, found := strings.Cut(data, "</script>")
	if !found {
		return errors.New("the page has no data")
	}
	var shown struct {
		Items []struct {
			Content string
			Tokens  int
		}
		Selections []struct {
			Name, Scorer string
			Code         []int
			Codes        []string
			Sweep        struct {
				Stops []struct {
					Budget, Tokens int
				}
			}
		}
	}
	if err := json.Unmarshal([]byte(data), &shown); err != nil {
		return err
	}
	selection := shown.Selections[0]
	fmt.Println(selection.Name, selection.Scorer)
	for i, item := range shown.Items {
		fmt.Println(item.Tokens, item.Content, selection.Codes[selection.Code[i]])
	}
	for _, stop := range selection.Sweep.Stops {
		fmt.Println(stop.Budget, stop.Tokens)
	}
	return nil
}
