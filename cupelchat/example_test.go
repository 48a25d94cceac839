package cupelchat_test

import (
	"context"
	"fmt"
	"log"

	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupel/placer"
	"github.com/wollax/cupel-go/cupel/scorer"
	"github.com/wollax/cupel-go/cupel/slicer"
	"github.com/wollax/cupel-go/cupelchat"
)

// Messages that do not fit leave the request, and the rest keeps its bytes.
func Example() {
	body := []byte(`{"model": "gpt-4.1", "messages": [
  {"role": "system", "content": "You help with orders."},
  {"role": "user", "content": "Where is order 7001?"},
  {"role": "assistant", "tool_calls": [{"id": "c1", "type": "function", "function": {"name": "track", "arguments": "{\"order\": 7001}"}}]},
  {"role": "tool", "tool_call_id": "c1", "content": "{\"order\": 7001, \"parcel\": \"PX1\", \"place\": \"Hamburg\"}"},
  {"role": "assistant", "content": "It is in Hamburg."},
  {"role": "user", "content": "When will it be here?"}
]}`)
	pipeline, err := cupel.New(cupel.Config{Scorer: scorer.Recency{}, Slicer: slicer.Greedy{}, Placer: placer.Chronological{}})
	if err != nil {
		log.Fatal(err)
	}
	budget, err := cupel.NewContextBudget(48, 48)
	if err != nil {
		log.Fatal(err)
	}
	conversation, err := cupelchat.Read(body, cupelchat.OpenAI, cupel.HeuristicCounter{})
	if err != nil {
		log.Fatal(err)
	}
	window, err := conversation.Select(context.Background(), pipeline, budget)
	if err != nil {
		log.Fatal(err)
	}
	smaller, err := window.Body()
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(string(smaller))
	// Output:
	// {"model": "gpt-4.1", "messages": [
	//   {"role": "system", "content": "You help with orders."},
	//   {"role": "user", "content": "Where is order 7001?"},
	//   {"role": "assistant", "content": "It is in Hamburg."},
	//   {"role": "user", "content": "When will it be here?"}
	// ]}
}
