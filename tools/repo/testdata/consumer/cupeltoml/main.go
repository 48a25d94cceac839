// Command consumer reads a policy with a scorer of its own from a file, and
// runs it.
package main

import (
	"bytes"
	"context"
	_ "embed"
	"fmt"
	"log"

	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupel/policy"
	"github.com/wollax/cupel-go/cupel/strategy"
	"github.com/wollax/cupel-go/cupeltoml"
)

//go:embed policy.toml
var file []byte

// newest prefers what comes last.
type newest struct{ boost float64 }

func (n newest) Score(_ context.Context, items []*cupel.ContextItem, scores []float64) error {
	for i := range items {
		scores[i] = n.boost * float64(i)
	}
	return nil
}

func main() {
	if err := run(context.Background()); err != nil {
		log.Fatal(err)
	}
}

func run(ctx context.Context) error {
	registry := policy.NewRegistry()
	if err := registry.RegisterScorer(strategy.Descriptor{
		Name: "newest", Doc: "Prefers what comes last.",
		Fields: []strategy.Field{{Name: "boost", Type: strategy.Number, Required: true, Doc: "The score of each place."}},
		Build: func(args strategy.Args) (any, error) {
			return newest{strategy.Get[float64](args, "boost")}, nil
		},
	}); err != nil {
		return err
	}
	p, err := cupeltoml.ReadPolicy(registry, bytes.NewReader(file))
	if err != nil {
		return err
	}
	pipeline, err := p.Pipeline(policy.Environment{Registry: registry})
	if err != nil {
		return err
	}
	var items []*cupel.ContextItem
	for _, text := range []string{"first", "second", "third", "fourth"} {
		item, err := cupel.NewContextItem(text, 10)
		if err != nil {
			return err
		}
		items = append(items, item)
	}
	budget, err := cupel.NewContextBudget(30, 30)
	if err != nil {
		return err
	}
	window, err := pipeline.Run(ctx, items, budget)
	if err != nil {
		return err
	}
	fmt.Println(p.Name)
	for _, item := range window {
		fmt.Println(item.Content(), item.Tokens())
	}
	_, err = cupeltoml.DecodePolicy(nil, file)
	fmt.Println(err)
	return nil
}
