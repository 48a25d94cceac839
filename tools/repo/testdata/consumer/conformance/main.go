// Command consumer runs vectors of its own, and those that the conformance
// module brings, against the engine that the module brings.
package main

import (
	"context"
	"embed"
	"fmt"
	"log"

	"github.com/wollax/cupel-go/conformance"
)

// One of these is wrong on purpose: a runner that passes it checks nothing.
//
//go:embed vectors
var own embed.FS

func main() {
	if err := run(context.Background()); err != nil {
		log.Fatal(err)
	}
}

func run(ctx context.Context) error {
	results, err := conformance.Run(ctx, own, conformance.WithStrict())
	if err != nil {
		return err
	}
	for _, vector := range results {
		fmt.Printf("%s: passed %t\n", vector.Path, vector.Passed())
	}

	results, err = conformance.Run(ctx, conformance.Vectors(), conformance.WithStrict())
	if err != nil {
		return err
	}
	failed := 0
	for _, vector := range results {
		if !vector.Passed() {
			failed++
		}
	}
	fmt.Printf("the module's own: %d failed, enough to count: %t\n", failed, len(results)-failed >= 37)
	return nil
}
