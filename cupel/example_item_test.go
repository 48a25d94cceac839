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
