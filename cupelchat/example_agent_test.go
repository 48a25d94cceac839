package cupelchat_test

import (
	"context"
	"encoding/json"
	"fmt"
	"log"

	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupelchat"
	"github.com/wollax/cupel-go/cupelchat/agent"
)

// The program of the README.
func Example() {
	body := json.RawMessage(`{"model": "gpt-5", "messages": [
  {"role": "user", "content": "Where is order 7001?"},
  {"role": "assistant", "tool_calls": [{"id": "c1", "type": "function", "function": {"name": "track", "arguments": "{\"order\":7001}"}}]},
  {"role": "tool", "tool_call_id": "c1", "content": "order 7001\nparcel PX1\nplace Hamburg\nscanned today\nweight 1200 g\nroute A7\ndriver none\nvan none"},
  {"role": "assistant", "content": "It is in Hamburg."},
  {"role": "user", "content": "When will it be here?"}
]}`)
	counter := cupel.HeuristicCounter{} // module cupeltiktoken has exact ones
	budget, err := cupel.NewContextBudget(65, 65)
	if err != nil {
		log.Fatal(err)
	}
	request, err := cupelchat.Fit(context.Background(), body, cupelchat.OpenAI, agent.New(counter), budget, counter)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(string(request.Body))
	// Output:
	// {"model":"gpt-5","messages":[{"role":"user","content":"Where is order 7001?"},{"role": "assistant", "content": "[earlier] track({\"order\":7001})\n… +1\nparcel PX1\n… +2\nweight 1200 g\n… +3"},{"role":"assistant","content":"It is in Hamburg."},{"role":"user","content":"When will it be here?"}]}
}
