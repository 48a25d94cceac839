package policy_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupel/policy"
	"github.com/wollax/cupel-go/cupel/strategy"
)

// A policy in a file, as Decode reads it.
const release = `{
	"name": "Release notes",
	"scorers": [
		{"type": "decay", "weight": 2, "curve": {"type": "exponential", "halfLife": "72h"}},
		{"type": "tag", "weight": 1, "weights": {"breaking": 1, "fix": 0.5}}
	],
	"slicer": {
		"type": "quota",
		"inner": {"type": "greedy"},
		"entries": [{"kind": "ToolOutput", "cap": 25}]
	},
	"placer": {"type": "chronological"},
	"overflow": "Truncate"
}`

func Example() {
	p, err := policy.Decode(nil, []byte(release))
	if err != nil {
		fmt.Println(err)
		return
	}
	now := time.Date(2025, 1, 31, 12, 0, 0, 0, time.UTC) // time.Now in production
	pipeline, err := p.Pipeline(policy.Environment{Clock: func() time.Time { return now }})
	if err != nil {
		fmt.Println(err)
		return
	}

	var items []*cupel.ContextItem
	for i, text := range []string{"old and breaking", "new", "new and a fix"} {
		item, err := cupel.NewContextItem(text, 40,
			cupel.WithTimestamp(now.AddDate(0, 0, 3*i-9)),
			cupel.WithTags(strings.Fields(text)...))
		if err != nil {
			fmt.Println(err)
			return
		}
		items = append(items, item)
	}
	budget, err := cupel.NewContextBudget(100, 100)
	if err != nil {
		fmt.Println(err)
		return
	}
	window, err := pipeline.Run(context.Background(), items, budget)
	for _, item := range window {
		fmt.Println(item.Content())
	}
	fmt.Println(err)
	// Output:
	// old and breaking
	// new and a fix
	// <nil>
}

func ExampleDecode() {
	_, err := policy.Decode(nil, []byte(`{
		"scorers": [
			{"type": "recency", "weight": 0},
			{"type": "kind", "weight": -1, "wheights": {}}
		],
		"slicer": {"type": "knapsack", "bucketSize": 0}
	}`))
	fmt.Println(err)
	// Output:
	// cupel: invalid policy: 5 problems
	// 	placer: is required
	// 	scorers[0].weight: Weight must be positive, got 0
	// 	scorers[1].weight: Weight must be positive, got -1
	// 	scorers[1].wheights: is unknown; want one of type, weight, weights
	// 	slicer.bucketSize: bucketSize must be a positive integer (> 0), got 0
}

func ExamplePolicy_MarshalJSON() {
	text, err := json.MarshalIndent(policy.DocumentQA(), "", "  ")
	fmt.Println(string(text), err)
	// Output:
	// {
	//   "name": "DocumentQa",
	//   "description": "Questions about documents: the best total score within the budget, and the best items at the edges of the prompt.",
	//   "scorers": [
	//     {
	//       "type": "kind",
	//       "weight": 2
	//     },
	//     {
	//       "type": "reflexive",
	//       "weight": 2
	//     },
	//     {
	//       "type": "priority",
	//       "weight": 1
	//     }
	//   ],
	//   "slicer": {
	//     "type": "knapsack",
	//     "bucketSize": 100
	//   },
	//   "placer": {
	//     "type": "uShaped"
	//   },
	//   "deduplicate": true,
	//   "overflow": "Throw"
	// } <nil>
}

func ExamplePolicy_UnmarshalJSON() {
	var file struct {
		Agent  string
		Policy policy.Policy
	}
	err := json.Unmarshal([]byte(`{"Agent": "reviewer", "Policy": {
		"scorers": [{"type": "priority", "weight": 1}],
		"slicer": {"type": "greedy"},
		"placer": {"type": "uShaped"}
	}}`), &file)
	fmt.Printf("%s: %+v %v\n", file.Agent, file.Policy.Scorers, err)
	// Output: reviewer: [{Scorer:{Type:priority Settings:map[]} Weight:1}] <nil>
}

func ExampleNewRegistry() {
	registry := policy.NewRegistry()
	p, err := registry.Lookup("Code-Review")
	fmt.Println(p.Name, err)
	// Output: CodeReview <nil>
}

func ExampleRegistry_Lookup() {
	_, err := policy.NewRegistry().Lookup("code_review")
	fmt.Println(err)
	// Output:
	// cupel: intent is unknown; want one of chat, code-review, debugging, document-qa, long-running, rag, tool-use (Registry, intent = "code_review")
}

func ExampleRegistry_Register() {
	registry := policy.NewRegistry()
	p := policy.Chat()
	p.Name, p.Slicer = "Standup", policy.Strategy{Type: "knapsack"}
	fmt.Println(registry.Register("standup", p))
	fmt.Println(registry.Register("Standup", p))
	// Output:
	// <nil>
	// cupel: intent is registered already as "standup"; intents are case-insensitive (Registry, intent = "Standup")
}

// terse prefers short items.
type terse struct{ half int }

func (b terse) Score(_ context.Context, items []*cupel.ContextItem, scores []float64) error {
	for i, item := range items {
		scores[i] = float64(b.half) / float64(b.half+len(item.Content()))
	}
	return nil
}

// A scorer of your own, with settings, in a policy that is read from JSON.
func ExampleRegistry_RegisterScorer() {
	registry := policy.NewRegistry()
	err := registry.RegisterScorer(strategy.Descriptor{
		Name: "terse",
		Doc:  "Scores an item by how short it is.",
		Fields: []strategy.Field{
			{Name: "half", Type: strategy.Int, Range: strategy.AtLeastOne, Default: 100, Doc: "The length that scores 0.5, in bytes."},
		},
		Build: func(args strategy.Args) (any, error) {
			half := strategy.Get[int](args, "half")
			wrong := strategy.Problems{Component: "Brevity"}
			if half < 1 {
				wrong.Add("half", fmt.Sprint(half), "half must be at least 1")
			}
			return terse{half}, wrong.Err()
		},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	read := func(settings string) {
		p, err := policy.Decode(registry, []byte(`{
			"scorers": [{"type": "terse", "weight": 1`+settings+`}],
			"slicer": {"type": "greedy"},
			"placer": {"type": "chronological"}
		}`))
		if err != nil {
			fmt.Println(err)
			return
		}
		config, err := p.Config(policy.Environment{Registry: registry})
		fmt.Printf("%+v %v\n", config.Scorer, err)
	}
	read(``)
	read(`, "half": 200`)
	read(`, "half": 0`)
	read(`, "hafl": 200`)
	// Output:
	// {half:100} <nil>
	// {half:200} <nil>
	// cupel: invalid policy: scorers[0].half: half must be at least 1, got 0
	// cupel: invalid policy: scorers[0].hafl: is unknown; want one of type, weight, half
}

// show prints a policy as a document, without its description.
func show(p policy.Policy) {
	p.Description = ""
	if err := json.NewEncoder(os.Stdout).Encode(p); err != nil {
		fmt.Println(err)
	}
}

func ExampleChat() {
	show(policy.Chat())
	// Output:
	// {"name":"Chat","scorers":[{"type":"recency","weight":3},{"type":"kind","weight":1}],"slicer":{"type":"greedy"},"placer":{"type":"chronological"},"deduplicate":true,"overflow":"Throw"}
}

func ExampleCodeReview() {
	show(policy.CodeReview())
	// Output:
	// {"name":"CodeReview","scorers":[{"type":"kind","weight":2},{"type":"priority","weight":2},{"type":"recency","weight":1}],"slicer":{"type":"greedy"},"placer":{"type":"chronological"},"deduplicate":true,"overflow":"Throw"}
}

func ExampleRAG() {
	show(policy.RAG())
	// Output:
	// {"name":"Rag","scorers":[{"type":"reflexive","weight":3},{"type":"kind","weight":1}],"slicer":{"type":"greedy"},"placer":{"type":"uShaped"},"deduplicate":true,"overflow":"Throw"}
}

func ExampleDocumentQA() {
	show(policy.DocumentQA())
	// Output:
	// {"name":"DocumentQa","scorers":[{"type":"kind","weight":2},{"type":"reflexive","weight":2},{"type":"priority","weight":1}],"slicer":{"type":"knapsack","bucketSize":100},"placer":{"type":"uShaped"},"deduplicate":true,"overflow":"Throw"}
}

func ExampleToolUse() {
	show(policy.ToolUse())
	// Output:
	// {"name":"ToolUse","scorers":[{"type":"kind","weight":2},{"type":"recency","weight":2},{"type":"priority","weight":1}],"slicer":{"type":"greedy"},"placer":{"type":"chronological"},"deduplicate":true,"overflow":"Throw"}
}

func ExampleLongRunning() {
	show(policy.LongRunning())
	// Output:
	// {"name":"LongRunning","scorers":[{"type":"recency","weight":3},{"type":"frequency","weight":1},{"type":"kind","weight":1}],"slicer":{"type":"greedy"},"placer":{"type":"chronological"},"deduplicate":true,"overflow":"Throw"}
}

func ExampleDebugging() {
	show(policy.Debugging())
	// Output:
	// {"name":"Debugging","scorers":[{"type":"priority","weight":3},{"type":"kind","weight":2},{"type":"recency","weight":1}],"slicer":{"type":"greedy"},"placer":{"type":"chronological"},"deduplicate":true,"overflow":"Throw"}
}
