package cupelsession_test

import (
	"context"
	"encoding/json"
	"fmt"
	"log"
	"strings"
	"time"

	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupel/pipeline"
	"github.com/wollax/cupel-go/cupel/placer"
	"github.com/wollax/cupel-go/cupel/scorer"
	"github.com/wollax/cupel-go/cupel/slicer"
	"github.com/wollax/cupel-go/cupelchat"
	"github.com/wollax/cupel-go/cupelchat/agent"
	"github.com/wollax/cupel-go/cupelsession"
)

// must keeps the examples short.
func must[T any](value T, err error) T {
	if err != nil {
		log.Fatal(err)
	}
	return value
}

// recent keeps what is newest.
var recent = must(pipeline.New(pipeline.Config{Scorer: scorer.Recency{}, Slicer: slicer.Greedy{}, Placer: placer.Chronological{}}))

// messages are a pinned system prompt and n messages, of 100 tokens each.
func messages(n int) []*cupel.ContextItem {
	items := []*cupel.ContextItem{must(cupel.NewContextItem("system", 100, cupel.WithPinned()))}
	for i := range n {
		items = append(items, must(cupel.NewContextItem(fmt.Sprint("m", i+1), 100, cupel.WithTimestamp(time.Unix(int64(i), 0)))))
	}
	return items
}

func show(turn *cupelsession.Turn) {
	var texts []string
	for _, item := range turn.Window {
		texts = append(texts, item.Content())
	}
	fmt.Println(strings.Join(texts, " "))
}

// A session appends to what was sent. When that no longer fits, it breaks once and
// makes room for the turns to come.
func Example() {
	session := must(cupelsession.New(recent, cupelsession.Config{Cache: cupelsession.OpenAICache}))
	budget := must(cupel.NewContextBudget(600, 600))
	ctx := context.Background()
	for n := 4; n <= 7; n++ {
		turn := must(session.Next(ctx, messages(n), budget))
		show(turn)
		if turn.Break != nil {
			fmt.Printf("break (%s) at item %d\n", turn.Break.Reason, turn.Break.At)
		}
		// Send turn.Window here. What the API answers says what it counted.
		response := fmt.Appendf(nil, `{"usage": {"prompt_tokens": %d, "prompt_tokens_details": {"cached_tokens": %d}}}`, turn.Estimate, turn.Cache.Read)
		usage := must(cupelsession.UsageOf(cupelchat.OpenAI, response))
		if err := turn.Commit(usage); err != nil {
			log.Fatal(err)
		}
	}
	// Output:
	// system m1 m2 m3 m4
	// system m1 m2 m3 m4 m5
	// system m5 m6
	// break (forced) at item 1
	// system m5 m6 m7
}

// Another process goes on with the same next window. It needs the items and the
// JSON, which holds no content of items that were sent in full.
func ExampleSession_MarshalJSON() {
	budget := must(cupel.NewContextBudget(600, 600))
	first := must(cupelsession.New(recent, cupelsession.Config{}))
	for _, n := range []int{5, 6} {
		if err := must(first.Next(context.Background(), messages(n), budget)).Commit(cupelsession.Usage{}); err != nil {
			log.Fatal(err)
		}
	}
	data := must(json.Marshal(first))

	second := must(cupelsession.New(recent, cupelsession.Config{}))
	if err := json.Unmarshal(data, second); err != nil {
		log.Fatal(err)
	}
	show(must(first.Next(context.Background(), messages(7), budget)))
	show(must(second.Next(context.Background(), messages(7), budget)))
	// Output:
	// system m5 m6 m7
	// system m5 m6 m7
}

// What leaves the window is handed to a memory when the turn is committed.
func ExampleConfig() {
	session := must(cupelsession.New(recent, cupelsession.Config{
		Dropped: func(items []*cupel.ContextItem) {
			for _, item := range items {
				fmt.Println("to the memory:", item.Content())
			}
		},
	}))
	budget := must(cupel.NewContextBudget(600, 600))
	for _, n := range []int{5, 6} {
		turn := must(session.Next(context.Background(), messages(n), budget))
		show(turn)
		if err := turn.Commit(cupelsession.Usage{}); err != nil {
			log.Fatal(err)
		}
	}
	// Output:
	// system m1 m2 m3 m4 m5
	// system m5 m6
	// to the memory: m1
	// to the memory: m2
	// to the memory: m3
	// to the memory: m4
}

// Fit takes the parameters of a request, here as a map, and returns them with the
// messages to send and breakpoints for the provider's cache.
func ExampleFit() {
	session := must(cupelsession.New(recent, cupelsession.Config{Cache: cupelsession.AnthropicCache}))
	budget := must(cupel.NewContextBudget(300, 300))
	params := map[string]any{
		"model": "claude-sonnet-4-5", "max_tokens": 100, "system": "You help with orders.",
		"messages": []any{
			map[string]any{"role": "user", "content": "Where is order 7001? " + strings.Repeat("It is late. ", 100)},
			map[string]any{"role": "assistant", "content": "It is in Hamburg."},
			map[string]any{"role": "user", "content": "When will it be here?"},
		},
	}
	request, err := cupelsession.Fit(context.Background(), session, params, cupelchat.Anthropic, budget, cupel.HeuristicCounter{})
	if err != nil {
		log.Fatal(err)
	}
	body := must(json.MarshalIndent(request.Params["messages"], "", "  "))
	fmt.Println(string(body))
	// Send request.Params here, and commit what the answer reports.
	response := []byte(`{"usage": {"input_tokens": 42, "cache_read_input_tokens": 0, "cache_creation_input_tokens": 0, "output_tokens": 9}}`)
	fmt.Println(request.Commit(must(cupelsession.UsageOf(cupelchat.Anthropic, response))))
	// Output:
	// [
	//   {
	//     "content": [
	//       {
	//         "cache_control": {
	//           "type": "ephemeral"
	//         },
	//         "text": "Where is order 7001? It is late. It is late. It is late. It is late. It is late. It is late. It is late. It is late. It is late. It is late. It is late. It is late. It is late. It is late. It is late. It is late. It is late. It is late. It is late. It is late. It is late. It is late. It is late. It \n[shortened from 412 tokens]",
	//         "type": "text"
	//       }
	//     ],
	//     "role": "user"
	//   },
	//   {
	//     "content": "It is in Hamburg.",
	//     "role": "assistant"
	//   },
	//   {
	//     "content": [
	//       {
	//         "cache_control": {
	//           "type": "ephemeral"
	//         },
	//         "text": "When will it be here?",
	//         "type": "text"
	//       }
	//     ],
	//     "role": "user"
	//   }
	// ]
	// <nil>
}

// A model asks for a result that was left out, by the id in its mark.
func ExampleSession_Recall() {
	counter := cupel.HeuristicCounter{}
	session := must(cupelsession.New(agent.New(counter), cupelsession.Config{Store: new(cupelsession.MemoryStore), Name: "chat 7"}))
	budget := must(cupel.NewContextBudget(1000, 1000))
	tool := must(cupelsession.RecallTool(cupelchat.Anthropic))
	said := `{"role": "user", "content": "Which orders has Anna?"}`
	for n := range 9 {
		said += fmt.Sprintf(`, {"role": "assistant", "content": [{"type": "tool_use", "id": "c%d", "name": "orders", "input": {"page": %[1]d}}]},
			{"role": "user", "content": [{"type": "tool_result", "tool_use_id": "c%[1]d", "content": "page %[1]d\n%s"}]}`, n, strings.Repeat(`W17 Ben 20.00 EUR\n`, 20))
	}
	params := json.RawMessage(fmt.Sprintf(`{"model": "claude", "max_tokens": 9, "tools": [%s], "messages": [%s]}`, tool, said))
	request := must(cupelsession.Fit(context.Background(), session, params, cupelchat.Anthropic, budget, counter))
	fmt.Println(strings.Contains(string(request.Body), "[r8]"))
	// The model calls the tool.
	fmt.Println(must(session.Recall(context.Background(), []byte(`{"id": "r8", "lines": "1-2"}`), budget, counter)))
	// Output:
	// true
	// page 7
	// W17 Ben 20.00 EUR
}
