package cupelchat_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupelchat"
	"github.com/wollax/cupel-go/cupelchat/agent"
)

// TestTaskLeavesRoom reduces a task at slightly different budgets. It must not fill
// all that the newest message leaves, nor differ at each of them.
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
	if err != nil {
		t.Fatal(err)
	}
	c, err := cupelchat.Read(body, cupelchat.OpenAI, cupel.HeuristicCounter{})
	if err != nil {
		t.Fatal(err)
	}
	sizes := map[int]bool{}
	room := 0
	for target := 1000; target < 1100; target += 10 {
		budget, err := cupel.NewContextBudget(target, target)
		if err != nil {
			t.Fatal(err)
		}
		w, err := c.Select(t.Context(), agent.New(nil), budget)
		if err != nil {
			t.Fatal(err)
		}
		if len(w.Items) != 3 {
			t.Errorf("target %d: %d messages, want all 3: the task leaves room for them", target, len(w.Items))
		}
		sizes[w.Items[0].Tokens()] = true
		room = max(room, target-w.Items[0].Tokens()-w.Items[len(w.Items)-1].Tokens())
	}
	if len(sizes) > 2 {
		t.Errorf("%d sizes of the task at ten budgets, want at most 2", len(sizes))
	}
	if room < 200 {
		t.Errorf("%d tokens are left next to the task, want at least half of 400: the answer needs more", room)
	}
}
