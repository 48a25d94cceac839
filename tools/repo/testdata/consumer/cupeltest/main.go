// Command consumer checks a policy outside of tests, and prints what a broken
// expectation says.
package main

import (
	"context"
	"fmt"
	"log"

	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupel/pipeline"
	"github.com/wollax/cupel-go/cupel/placer"
	"github.com/wollax/cupel-go/cupel/scorer"
	"github.com/wollax/cupel-go/cupel/slicer"
	"github.com/wollax/cupel-go/cupeltest"
)

func main() {
	policy, err := pipeline.New(pipeline.Config{Scorer: scorer.Priority{}, Slicer: slicer.Greedy{}, Placer: placer.UShaped{}})
	if err != nil {
		log.Fatal(err)
	}
	items := []*cupel.ContextItem{cupeltest.Item("why?", 10), cupeltest.Item("everything", 900, cupel.WithKind(cupel.KindDocument))}
	report, err := policy.DryRun(context.Background(), items, cupeltest.Budget(200, 100))
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(cupeltest.That(report, func(c *cupeltest.SelectionReportAssertionChain) {
		c.IncludeItemWithKind(cupel.KindDocument)
	}))
}
