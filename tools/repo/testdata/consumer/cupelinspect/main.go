// Command consumer writes a page about a selection.
package main

import (
	"context"
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

func main() {
	if err := run(context.Background()); err != nil {
		log.Fatal(err)
	}
}

func run(ctx context.Context) error {
	pipeline, err := pipeline.New(pipeline.Config{Scorer: scorer.Priority{}, Slicer: slicer.Greedy{}, Placer: placer.UShaped{}})
	if err != nil {
		return err
	}
	item, err := cupel.NewContextItem("</script> is text", 17)
	if err != nil {
		return err
	}
	budget, err := cupel.NewContextBudget(30, 24)
	if err != nil {
		return err
	}
	selection, err := cupelinspect.Inspect(ctx, pipeline, []*cupel.ContextItem{item}, budget)
	if err != nil {
		return err
	}
	var page strings.Builder
	if err := cupelinspect.WriteHTML(&page, "A consumer's page", selection); err != nil {
		return err
	}
	// Its parts come from files of the module.
	for _, part := range []string{"<title>A consumer&#39;s page</title>", "default-src 'none'", "<style>", "<script>"} {
		fmt.Println(strings.Count(page.String(), part), part)
	}
	return nil
}
