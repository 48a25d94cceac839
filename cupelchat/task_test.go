package cupelchat_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupelchat"
	"github.com/wollax/cupel-go/cupelchat/agent"
)

// TestTaskLeavesRoom shortens a task at different budgets: it keeps its first lines and
// does not fill all that the newest message leaves.
func TestTaskLeavesRoom(t *testing.T) {
	var task, answer strings.Builder
	for i := range 200 {
		fmt.Fprintf(&task, "Rule %d: look at file_%d.go and say what is in it.\n", i, i)
		fmt.Fprintf(&answer, "It has type T%d.\n", i)
	}
	body, err := json.Marshal([]map[string]string{
		{"role": "user", "content": task.String()},
		{"role": "assistant", "content": answer.String()},
		{"role": "user", "content": strings.Repeat("Here is a long answer. ", 40)},
	})
	require.NoError(t, err)
	c, err := cupelchat.Read(body, cupelchat.OpenAI, cupel.HeuristicCounter{})
	require.NoError(t, err)
	for target := 500; target < 1100; target += 100 {
		w, err := c.Select(t.Context(), agent.New(nil), budget(t, target))
		require.NoError(t, err)
		require.Len(t, w.Items, 3, "target %d", target)
		require.GreaterOrEqual(t, target-w.Items[0].Tokens()-w.Items[len(w.Items)-1].Tokens(), target/6, "target %d", target)
		said := w.Items[0].Content()
		require.True(t, strings.HasPrefix(said, task.String()[:7*49]), said)
		require.Regexp(t, `\n\[shortened from 3480 tokens\]$`, said)
	}
}

// TestPinnedCall pins a call with a result that is larger than the budget: the call stays
// whole, and its result gets smaller.
func TestPinnedCall(t *testing.T) {
	call := `{"role": "assistant", "content": null, "tool_calls": [{"id": "a", "type": "function", "function": {"name": "open", "arguments": "{\"path\": \"src/crypto/challenge.go\"}"}}]}`
	result := strings.Repeat("The stove was lit at five, and the dough rose well. ", 60)
	body := fmt.Sprintf(`[{"role": "user", "content": "Bake rye bread as we did last week."}, %s, {"role": "tool", "tool_call_id": "a", "content": %q}, {"role": "assistant", "content": "done"}, {"role": "user", "content": "go on"}]`, call, result)
	c, err := cupelchat.Read([]byte(body), cupelchat.OpenAI, cupel.HeuristicCounter{}, cupelchat.WithPins(true, true, 1))
	require.NoError(t, err)
	limit := budget(t, 300)
	w, err := c.Select(t.Context(), agent.New(nil), limit)
	require.NoError(t, err)
	sent, err := w.Body()
	require.NoError(t, err)
	require.Contains(t, string(sent), call)
	require.NotContains(t, string(sent), result)
	require.Empty(t, w.Notes, "the task is neither shortened nor let go")
	_, notes, err := c.ItemsFor(agent.New(nil), limit)
	require.NoError(t, err)
	require.Empty(t, notes, "nor is it in a session")
}

// TestTaskOfASession looks at the task of a conversation that grows: a large one has
// one text in all turns once the conversation does not fit.
func TestTaskOfASession(t *testing.T) {
	task := strings.Repeat("Look at cupel/item.go and say what is in it. ", 40)
	messages := []map[string]string{{"role": "system", "content": "You are an agent."}, {"role": "user", "content": task}}
	for _, test := range []struct {
		name   string
		target int
		opts   []cupelchat.Option
		sizes  int // of the task
		why    string
	}{
		{"large", 1000, nil, 2, "whole as long as everything fits, then of one size"},
		{"small", 4000, nil, 1, "it takes less than a third of the room"},
		{"named", 1000, []cupelchat.Option{cupelchat.WithPins(true, true, 1)}, 1, "the caller wants it whole"},
	} {
		said := slices.Clone(messages)
		var texts []string
		for n := range 30 {
			said = append(said, map[string]string{"role": "assistant", "content": fmt.Sprint("Step ", n, strings.Repeat(" and so on", 60))},
				map[string]string{"role": "user", "content": "Go on."})
			body, err := json.Marshal(said)
			require.NoError(t, err)
			c, err := cupelchat.Read(body, cupelchat.OpenAI, cupel.HeuristicCounter{}, test.opts...)
			require.NoError(t, err)
			items, _, window, err := c.ItemsAfter(nil, budget(t, test.target), 0)
			require.NoError(t, err)
			require.Equal(t, window == test.target, items[1].Content() != c.Items()[1].Content(), "%s: turn %d", test.name, n)
			if items[1].Content() != c.Items()[1].Content() {
				require.LessOrEqual(t, items[1].Tokens(), (test.target-items[0].Tokens())/3, "%s: turn %d: the task", test.name, n)
			}
			texts = append(texts, items[1].Content())
			items, _, _, err = c.ItemsAfter(nil, budget(t, 4000), window)
			require.NoError(t, err)
			require.Equal(t, c.Items()[1].Content(), items[1].Content(), "%s: turn %d: the share of a larger budget has room for the task", test.name, n)
		}
		assert.Len(t, slices.Compact(texts), test.sizes, "%s, %s", test.name, test.why)
	}
}

// TestTaskInSmallRooms: a third of a small room is less than how a task begins, and the
// other pinned messages want the rest. The task keeps its beginning all the same.
func TestTaskInSmallRooms(t *testing.T) {
	long := "Find parcel_1 to parcel_90 of customer_42, and say where each of them is. " + strings.Repeat("Then write down its depot. ", 40)
	for _, test := range []struct {
		name, task string
		room       int
		why        string
	}{
		{"short", long[:240], 110, "it is whole, and the newest message becomes shorter"},
		{"long", long, 180, "its first 300 characters take more than a third"},
	} {
		body, err := json.Marshal([]map[string]string{
			{"role": "system", "content": "You find parcels."},
			{"role": "user", "content": test.task},
			{"role": "assistant", "content": strings.Repeat("It is in Hamburg. ", 40)},
			{"role": "user", "content": strings.Repeat("And where is the next one? ", 10)},
		})
		require.NoError(t, err)
		c, err := cupelchat.Read(body, cupelchat.OpenAI, cupel.HeuristicCounter{})
		require.NoError(t, err)
		target := c.Items()[0].Tokens() + test.room
		items, _, err := c.ItemsFor(agent.New(nil), budget(t, target))
		require.NoError(t, err)
		said := items[1].Content()
		assert.True(t, strings.HasPrefix(said, test.task[:min(300, len(test.task))]), "%s: in a session the task is\n%s\nwant its beginning (%s)", test.name, said, test.why)
		require.LessOrEqual(t, items[1].Tokens()+items[3].Tokens(), test.room, test.name)
		assert.GreaterOrEqual(t, items[3].Tokens(), 16, test.name)
	}
}
