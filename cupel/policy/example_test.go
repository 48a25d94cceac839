package policy_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupel/placer"
	"github.com/wollax/cupel-go/cupel/policy"
	"github.com/wollax/cupel-go/cupel/slicer"
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
			{"type": "recncy", "weight": 3},
			{"type": "kind", "weight": -1, "wheights": {}}
		],
		"slicer": {"type": "knapsack", "bucketSize": 0}
	}`))
	fmt.Println(err)
	// Output:
	// cupel: invalid policy: 5 problems
	// 	placer: is required
	// 	scorers[0].type: the scorer type "recncy" is unknown; want one of composite, decay, frequency, kind, metadataKey, metadataTrust, priority, recency, reflexive, scaled, tag
	// 	scorers[1].weight: Weight must be positive, got -1
	// 	scorers[1].wheights: is unknown; want one of type, weight, weights
	// 	slicer.bucketSize: bucketSize must be a positive integer (> 0), got 0
}

func ExamplePolicy_Validate() {
	p := policy.Policy{
		Scorers: []policy.Weighted{
			{Scorer: policy.Strategy{Type: "recency"}, Weight: 2},
			{Scorer: policy.Strategy{Type: "scaled", Settings: policy.Settings{
				"inner": policy.Strategy{Type: "metadataTrust", Settings: policy.Settings{"defaultScore": 50.0}},
			}}, Weight: 1},
		},
		Slicer: policy.Strategy{Type: "countQuota", Settings: policy.Settings{
			"inner":   policy.Strategy{Type: "greedy"},
			"entries": []policy.Settings{{"kind": cupel.KindMemory, "requireCount": 3, "capCount": 2}},
		}},
		Placer: policy.Strategy{Type: "uShaped"},
	}
	fmt.Println(p.Validate(nil))
	// Output:
	// cupel: invalid policy: 2 problems
	// 	scorers[1].inner.defaultScore: defaultScore must be in [0.0, 1.0], got 50
	// 	slicer.entries[0].requireCount: requireCount must be at most capCount (2), got 3
}

func ExamplePolicy_Config() {
	p := policy.Rag()
	p.Overflow = cupel.OverflowProceed
	config, err := p.Config(policy.Environment{})
	if err != nil {
		fmt.Println(err)
		return
	}
	config.OnOverflow = func(e cupel.OverflowEvent) { fmt.Println("over by", e.TokensOverBudget) }
	_, err = cupel.New(config)
	fmt.Printf("%T %T %T %v\n", config.Scorer, config.Slicer, config.Placer, err)
	// Output: *scorer.Composite slicer.Greedy placer.UShaped <nil>
}

func ExamplePolicy_Pipeline() {
	p := policy.Policy{
		Scorers: []policy.Weighted{{Scorer: policy.Strategy{Type: "decay", Settings: policy.Settings{"curve": policy.Strategy{Type: "step", Settings: policy.Settings{"windows": []policy.Settings{
			{"maxAge": time.Hour, "score": 1.0},
			{"maxAge": 24 * time.Hour, "score": 0.5},
		}}}}}, Weight: 1}},
		Slicer: policy.Strategy{Type: "countConstrainedKnapsack", Settings: policy.Settings{
			"bucketSize": 50,
			"entries":    []policy.Settings{{"kind": cupel.KindDocument, "requireCount": 1}},
			"scarcity":   slicer.ScarcityThrow,
		}},
		Placer: policy.Strategy{Type: "chronological"},
	}
	_, err := p.Pipeline(policy.Environment{})
	fmt.Println(err)
	_, err = p.Pipeline(policy.Environment{Clock: time.Now})
	fmt.Println(err)
	// Output:
	// cupel: invalid policy: scorers[0]: needs a clock: set Environment.Clock, to time.Now in production or to a fixed time in tests
	// <nil>
}

func ExamplePolicy_MarshalJSON() {
	text, err := json.MarshalIndent(policy.DocumentQa(), "", "  ")
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

// Each problem has its path, for an editor or a form.
func ExampleValidationError() {
	p := policy.Chat()
	p.Slicer, p.Scorers[1].Weight = policy.Strategy{}, 0
	err := p.Validate(nil)
	var invalid *policy.ValidationError
	if errors.As(err, &invalid) {
		for _, problem := range invalid.Problems {
			fmt.Printf("%s => %s\n", problem.Path, problem.Reason)
		}
	}
	fmt.Println(errors.Is(err, cupel.ErrInvalidConfig))
	// Output:
	// scorers[1].weight => Weight must be positive, got 0
	// slicer => a slicer is required here, for example policy.Strategy{Type: "greedy"}
	// true
}

func ExampleProblem_String() {
	fmt.Println(policy.Problem{Path: "slicer.bucketSize", Reason: "must be positive"})
	// Output: slicer.bucketSize: must be positive
}

func ExampleSchema() {
	var schema struct {
		Title    string
		Required []string
	}
	err := json.Unmarshal(policy.Schema(nil), &schema)
	fmt.Println(schema.Title, schema.Required, err)
	// Output: Cupel policy [scorers slicer placer] <nil>
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

func ExampleRegistry_All() {
	for intent, p := range policy.NewRegistry().All() {
		fmt.Printf("%s: %d scorers, %s\n", intent, len(p.Scorers), p.Placer.Type)
	}
	// Output:
	// chat: 2 scorers, chronological
	// code-review: 3 scorers, chronological
	// debugging: 3 scorers, chronological
	// document-qa: 3 scorers, uShaped
	// long-running: 3 scorers, chronological
	// rag: 2 scorers, uShaped
	// tool-use: 3 scorers, chronological
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

// brevity prefers short items.
type brevity struct{ half int }

func (b brevity) Score(item *cupel.ContextItem, _ []*cupel.ContextItem) float64 {
	return float64(b.half) / float64(b.half+len(item.Content()))
}

// A scorer of your own, with settings, in a policy that is read from JSON.
func ExampleRegistry_RegisterScorer() {
	registry := policy.NewRegistry()
	err := registry.RegisterScorer(strategy.Descriptor{
		Name: "brevity",
		Doc:  "Scores an item by how short it is.",
		Fields: []strategy.Field{
			{Name: "half", Type: strategy.Int, Range: strategy.AtLeastOne, Default: 100, Doc: "The length that scores 0.5, in bytes."},
		},
		Build: func(args strategy.Args) (any, error) {
			return brevity{half: strategy.Get[int](args, "half")}, nil
		},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	read := func(settings string) {
		p, err := policy.Decode(registry, []byte(`{
			"scorers": [{"type": "brevity", "weight": 1`+settings+`}],
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
	// cupel: invalid policy: scorers[0].half: must be at least 1, got 0
	// cupel: invalid policy: scorers[0].hafl: is unknown; want one of type, weight, half
}

// A slicer of your own that wraps others: the policy lists its children.
func ExampleRegistry_RegisterSlicer() {
	registry := policy.NewRegistry()
	err := registry.RegisterSlicer(strategy.Descriptor{
		Name: "firstOf",
		Doc:  "Selects with the first slicer that selects something.",
		Fields: []strategy.Field{
			{Name: "children", Type: strategy.Children, Required: true, Doc: "The slicers to try."},
		},
		Build: func(args strategy.Args) (any, error) {
			var f firstOf
			for _, child := range strategy.Get[[]any](args, "children") {
				s, _ := child.(cupel.Slicer)
				f.inner = append(f.inner, s)
			}
			return f, nil
		},
	})
	fmt.Println(err)
	p := policy.Chat()
	p.Slicer = policy.Strategy{Type: "firstOf", Settings: policy.Settings{"children": []policy.Strategy{{Type: "knapsack"}, {Type: "greedy"}}}}
	fmt.Println(p.Validate(registry))
	p.Slicer.Settings["children"] = []policy.Strategy{}
	fmt.Println(p.Validate(registry))
	fmt.Println(p.Validate(nil))
	// Output:
	// <nil>
	// <nil>
	// cupel: invalid policy: slicer.children: must have at least one element
	// cupel: invalid policy: slicer.type: the slicer type "firstOf" is unknown; want one of countConstrainedKnapsack, countQuota, diverse, greedy, knapsack, multipleChoice, quota, scoreGreedy
}

func ExampleRegistry_RegisterPlacer() {
	registry := policy.NewRegistry()
	reverse := strategy.Descriptor{
		Name: "reverse",
		Doc:  "Newest first.",
		Build: func(strategy.Args) (any, error) {
			return backwards{placer.Chronological{}}, nil
		},
	}
	fmt.Println(registry.RegisterPlacer(reverse))
	reverse.Name = "UShaped"
	fmt.Println(registry.RegisterPlacer(reverse))
	// Output:
	// <nil>
	// cupel: the name is taken by the placer "uShaped"; registered names are case-insensitive (Registry, placer = "UShaped")
}

func ExampleRegistry_Descriptors() {
	scorers, _, _ := policy.NewRegistry().Descriptors()
	trust, _ := strategy.Find(scorers, "metadataTrust")
	fmt.Println(trust.Doc)
	for _, f := range trust.Fields {
		fmt.Printf("%s (%s %s): %s\n", f.Name, f.Type, f.Range, f.Doc)
	}
	// Output:
	// Scores an item by the trust in its metadata.
	// defaultScore (number in [0, 1]): The score of items without a readable trust.
}

func ExampleInvalid() {
	fmt.Println(policy.Invalid())
	fmt.Println(policy.Invalid(policy.Problem{Path: "min", Reason: "must be at most max"}))
	// Output:
	// <nil>
	// cupel: invalid policy: min: must be at most max
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

func ExampleRag() {
	show(policy.Rag())
	// Output:
	// {"name":"Rag","scorers":[{"type":"reflexive","weight":3},{"type":"kind","weight":1}],"slicer":{"type":"greedy"},"placer":{"type":"uShaped"},"deduplicate":true,"overflow":"Throw"}
}

func ExampleDocumentQa() {
	show(policy.DocumentQa())
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
