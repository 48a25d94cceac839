package cupelchat_test

import (
	"context"
	"fmt"
	"log"

	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupel/pipeline"
	"github.com/wollax/cupel-go/cupel/placer"
	"github.com/wollax/cupel-go/cupel/scorer"
	"github.com/wollax/cupel-go/cupel/slicer"
	"github.com/wollax/cupel-go/cupelchat"
)

// An exchange that is over becomes a note where there is no room for its result.
func ExampleFit() {
	type request struct {
		Model    string           `json:"model"`
		Messages []map[string]any `json:"messages"`
	}
	call := map[string]any{"id": "c1", "type": "function", "function": map[string]any{"name": "run", "arguments": `{"command": "go test ./..."}`}}
	params := request{"gpt-4.1", []map[string]any{
		{"role": "user", "content": "Do the tests pass?"},
		{"role": "assistant", "tool_calls": []any{call}},
		{"role": "tool", "tool_call_id": "c1", "content": "ok  \texample.com/a\t0.010s\n?   \texample.com/b\t[no test files]\nok  \texample.com/c\t0.032s\nok  \texample.com/d\t0.411s\n" +
			"--- FAIL: TestParse (0.00s)\n    parse_test.go:12: got 3, want 4\nFAIL\nFAIL\texample.com/parse\t0.005s\nok  \texample.com/z\t0.101s\n"},
		{"role": "assistant", "content": "One of them fails."},
		{"role": "user", "content": "Mend it."},
	}}
	pipeline, err := pipeline.New(pipeline.Config{Scorer: scorer.Recency{}, Slicer: slicer.Greedy{}, Placer: placer.Chronological{}})
	if err != nil {
		log.Fatal(err)
	}
	budget, err := cupel.NewContextBudget(90, 90)
	if err != nil {
		log.Fatal(err)
	}
	fitted, err := cupelchat.Fit(context.Background(), params, cupelchat.OpenAI, pipeline, budget, cupel.HeuristicCounter{})
	if err != nil {
		log.Fatal(err)
	}
	for _, m := range fitted.Params.Messages {
		fmt.Printf("%s: %s\n", m["role"], m["content"])
	}
	// Output:
	// user: Do the tests pass?
	// assistant: [earlier: run(go test ./...); shortened]
	// ok  	example.com/a	0.010s
	// … +3
	// --- FAIL: TestParse (0.00s)
	// … +1
	// FAIL
	// FAIL	example.com/parse	0.005s
	// … +1
	// assistant: One of them fails.
	// user: Mend it.
}
