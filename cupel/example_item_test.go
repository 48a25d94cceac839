package cupel_test

import (
	"fmt"
	"log"

	"github.com/wollax/cupel-go/cupel"
)

// A long output is shortened, and remembers how long it was.
func ExampleContextItem_With() {
	output, err := cupel.NewContextItem("ERROR disk full (and 900 lines more)", 900, cupel.WithKind(cupel.KindToolOutput))
	if err != nil {
		log.Fatal(err)
	}
	short, err := output.With(cupel.WithContent("ERROR disk full", 4), cupel.WithOriginalTokens(output.Tokens()))
	if err != nil {
		log.Fatal(err)
	}
	was, _ := short.OriginalTokens()
	fmt.Println(short.Kind(), short.Tokens(), "of", was)
	// Output: ToolOutput 4 of 900
}

// A scorer can read an embedding from the metadata, as it was computed or as
// JSON has it.
func ExampleContextItem_MetadataFloats() {
	item, err := cupel.NewContextItem("The disk is full.", 5, cupel.WithMetadata(map[string]any{"embedding": []float32{0.5, 0.25}}))
	if err != nil {
		log.Fatal(err)
	}
	question := []float64{1, 2}
	product := 0.0
	if embedding, ok := item.MetadataFloats("embedding"); ok {
		for i, x := range embedding {
			product += x * question[i]
		}
	}
	fmt.Println(product)
	// Output: 1
}
