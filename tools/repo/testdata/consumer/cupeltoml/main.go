// Command consumer reads a policy from a file, and runs it.
package main

import (
	"bytes"
	"context"
	_ "embed"
	"fmt"
	"log"

	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupel/policy"
	"github.com/wollax/cupel-go/cupeltoml"
)

//go:embed policy.toml
var file []byte

func main() {
	if err := run(context.Background()); err != nil {
		log.Fatal(err)
	}
}

func run(ctx context.Context) error {
	p, err := cupeltoml.ReadPolicy(policy.NewRegistry(), bytes.NewReader(file))
	if err != nil {
		return err
	}
	pipeline, err := p.Pipeline(policy.Environment{})
	if err != nil {
		return err
	}
	item, err := cupel.NewContextItem("text", 10)
	if err != nil {
		return err
	}
	budget, err := cupel.NewContextBudget(30, 30)
	if err != nil {
		return err
	}
	window, err := pipeline.Run(ctx, []*cupel.ContextItem{item}, budget)
	if err != nil {
		return err
	}
	fmt.Println(p.Name, len(window))
	return nil
}
