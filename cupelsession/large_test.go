package cupelsession_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupelchat"
	"github.com/wollax/cupel-go/cupelchat/agent"
	"github.com/wollax/cupel-go/cupelsession"
)

// TestLargeTurns has a task, results and arguments that are larger than the window.
// Each body holds the budget, read again and counted, and the API takes it.
func TestLargeTurns(t *testing.T) {
	counter := cupel.HeuristicCounter{}
	s := session(t, agent.New(counter), cupelsession.Config{Cache: cupelsession.AnthropicCache})
	task := strings.Repeat("Find the parcel of Ann, and say where it is. ", 300)
	messages := []object{{"role": "user", "content": task}}
	for step := range 12 {
		body, err := json.Marshal(object{"system": "You find parcels.", "messages": messages})
		require.NoError(t, err)
		c, err := cupelchat.Read(body, cupelchat.Anthropic, counter)
		require.NoError(t, err)
		got, turn, err := s.Body(t.Context(), c, budget(t, 1500))
		require.NoError(t, err, "step %d", step)
		require.NoError(t, turn.Commit(cupelsession.Usage{}))
		require.Empty(t, cupelchat.Check(got, cupelchat.Anthropic), "step %d: %.2000s", step, got)
		again, err := cupelchat.Read(got, cupelchat.Anthropic, counter)
		require.NoError(t, err)
		tokens := 0
		for _, item := range again.Items() {
			tokens += item.Tokens()
		}
		if tokens > 1500 || !strings.Contains(string(got), task[:300]) {
			t.Errorf("step %d: %d tokens of 1500, want the beginning of the task among them", step, tokens)
		}
		id, path := fmt.Sprint("toolu_", step), strings.Repeat("parcels/", 1+step%3*2000)
		messages = append(messages,
			object{"role": "assistant", "content": []any{object{"type": "tool_use", "id": id, "name": "read", "input": object{"path": path}}}},
			object{"role": "user", "content": []any{object{"type": "tool_result", "tool_use_id": id, "content": strings.Repeat(fmt.Sprintf("parcel %d is in Hamburg\n", step), 1+step%4*1000)}}})
	}
}
