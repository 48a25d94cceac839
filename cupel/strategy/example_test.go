package strategy_test

import (
	"fmt"

	"github.com/wollax/cupel-go/cupel/scorer"
	"github.com/wollax/cupel-go/cupel/slicer"
	"github.com/wollax/cupel-go/cupel/strategy"
)

// List all settings of a scorer, as for a form or a help text.
func ExampleFind() {
	d, _ := strategy.Find(scorer.Descriptors(), "metadataKey")
	fmt.Println(d.Doc)
	for _, f := range d.Fields {
		fmt.Println(f.Name, f.Type, f.Doc)
	}
	// Output:
	// Scores an item with a boost when its metadata has a value, and with 1 otherwise.
	// key text The key of the metadata.
	// value text The value to match under the key.
	// boost number The score of items that match.
}

func ExampleDescribe() {
	knapsack := slicer.Must(slicer.NewKnapsack(slicer.WithBucketSize(50)))
	d, settings, ok := strategy.Describe(slicer.Descriptors(), knapsack)
	fmt.Println(d.Name, settings["bucketSize"], settings["autoBucket"], ok)
	// Output: knapsack 50 false true
}
