package cupeltoml_test

import (
	"fmt"

	"github.com/wollax/cupel-go/cupeltoml"
)

func ExampleDecodePolicy() {
	p, err := cupeltoml.DecodePolicy(nil, []byte(`
name = "Release notes"
overflow = "Truncate"
placer = { type = "chronological" }

[[scorers]]
type = "decay"
weight = 2
curve = { type = "exponential", halfLife = "72h" }

[[scorers]]
type = "tag"
weight = 1
weights = { breaking = 1, fix = 0.5 }

[slicer]
type = "quota"
inner = { type = "greedy" }
entries = [{ kind = "ToolOutput", cap = 25 }]
`))
	fmt.Println(p.Name, err)
	fmt.Printf("%+v\n", p.Scorers)

	_, err = cupeltoml.DecodePolicy(nil, []byte(`
placer = { type = "uShaped", sides = 2 }
slicer = { type = "knapsack", bucket_size = 50 }

[[scorers]]
type = "recency"
weight = nan
`))
	fmt.Println(err)
	// Output:
	// Release notes <nil>
	// [{Scorer:{Type:decay Settings:map[curve:{Type:exponential Settings:map[halfLife:72h0m0s]}]} Weight:2} {Scorer:{Type:tag Settings:map[weights:map[breaking:1 fix:0.5]]} Weight:1}]
	// cupel: invalid policy: 3 problems
	// 	placer.sides: is unknown; want one of type
	// 	scorers[0].weight: must be a number, got nan
	// 	slicer.bucket_size: is unknown; want one of type, bucketSize, autoBucket, memoryLimit
}
