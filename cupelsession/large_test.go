package cupelsession_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupelchat"
	"github.com/wollax/cupel-go/cupelchat/agent"
	"github.com/wollax/cupel-go/cupelsession"
)

// TestLargeTurns has a task, results and arguments that are larger than the window, which
// is larger at each second step. Each body holds the budget, read again and counted, and
// the API takes it. The task keeps its size while a cache has it, in other processes too.
func TestLargeTurns(t *testing.T) {
	largeTurns(t, 0, 1)
	largeTurns(t, time.Hour, 2)
}

// largeTurns waits between the steps, and wants so many texts of the task.
func largeTurns(t *testing.T, wait time.Duration, texts int) {
	t.Helper()
	counter, now, said := cupel.HeuristicCounter{}, time.Unix(0, 0), map[string]bool{}
	config := cupelsession.Config{Cache: cupelsession.AnthropicCache, Clock: func() time.Time { return now }}
	s := session(t, agent.New(counter), config)
	task := strings.Repeat("Find the parcel of Ann, and say where it is. ", 300)
	messages := []object{{"role": "user", "content": task}}
	for step := range 12 {
		most := 1500 + step%2*1500
		body, err := json.Marshal(object{"system": "You find parcels.", "messages": messages})
		require.NoError(t, err)
		c, err := cupelchat.Read(body, cupelchat.Anthropic, counter)
		require.NoError(t, err)
		got, turn, err := s.Body(t.Context(), c, budget(t, most))
		require.NoError(t, err, "step %d", step)
		require.NoError(t, turn.Commit(cupelsession.Usage{}))
		now = now.Add(wait)
		other := session(t, agent.New(counter), config)
		require.NoError(t, other.UnmarshalJSON([]byte(state(t, s))))
		s = other
		require.Empty(t, cupelchat.Check(got, cupelchat.Anthropic), "step %d: %.2000s", step, got)
		again, err := cupelchat.Read(got, cupelchat.Anthropic, counter)
		require.NoError(t, err)
		tokens := 0
		for _, item := range again.Items() {
			tokens += item.Tokens()
		}
		said[again.Items()[1].Content()] = true
		require.LessOrEqual(t, tokens, most, "step %d", step)
		require.Contains(t, string(got), task[:300], "step %d", step)
		id, path := fmt.Sprint("toolu_", step), strings.Repeat("parcels/", 1+step%3*1500)
		messages = append(messages,
			object{"role": "assistant", "content": []any{object{"type": "tool_use", "id": id, "name": "read", "input": object{"path": path}}}},
			object{"role": "user", "content": []any{object{"type": "tool_result", "tool_use_id": id, "content": strings.Repeat(fmt.Sprintf("parcel %d is in Hamburg\n", step), 1+step%4*500)}}})
	}
	require.Len(t, said, texts, "texts of the task after waiting for %v", wait)
}
