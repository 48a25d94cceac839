package cupelchat

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupel/pipeline"
	"github.com/wollax/cupel-go/cupel/placer"
	"github.com/wollax/cupel-go/cupel/scorer"
	"github.com/wollax/cupel-go/cupel/slicer"
)

// TestNothingIsTooLarge has texts of 50 kB in each place that is pinned. Each
// request fits a window of 600 tokens, with the beginning of what the user said.
func TestNothingIsTooLarge(t *testing.T) {
	long := strings.Repeat("Find the parcel of Ann in Hamburg, and say where it is. ", 1_000)
	short := []string{"Mend cupel/item.go."}
	task, calls := randomTurn{role: "user", texts: short}, randomTurn{role: "assistant", calls: []string{"t7", "t8"}}
	system, results := randomTurn{role: "system", texts: short}, randomTurn{role: "user", results: []string{"t7", "t8"}}
	many := randomTurn{role: "assistant"}
	for i := range 8 {
		many.calls = append(many.calls, fmt.Sprint("t", 400+3*i)) // 800 lines each
	}
	tests := map[string][]randomTurn{
		"task":      {system, {role: "user", texts: []string{long}}, calls, results},
		"last":      {system, task, calls, results, {role: "assistant", texts: short}, {role: "user", texts: []string{long}}},
		"both":      {{role: "user", texts: []string{long}}, {role: "assistant", texts: short}, {role: "user", texts: []string{long}}},
		"result":    {task, {role: "assistant", calls: []string{"t1500"}}, {role: "user", results: []string{"t1500"}}},
		"results":   {system, task, many, {role: "user", results: many.calls}},
		"arguments": {system, task, calls, results},
	}
	chooser, err := pipeline.New(pipeline.Config{Scorer: scorer.Recency{}, Slicer: slicer.Greedy{}, Placer: placer.Chronological{}})
	require.NoError(t, err)
	for name, turns := range tests {
		for _, f := range writable {
			data, err := json.Marshal(render(turns, f))
			require.NoError(t, err)
			if name == "arguments" {
				text := strings.ReplaceAll(string(data), `{\"id\":\"t7\"}`, `{\"id\":\"`+long+`\",\"n\":[1,2]}`)
				data = []byte(strings.ReplaceAll(text, `{"id":"t7"}`, `{"id":"`+long+`","n":[1,2]}`))
			}
			require.Empty(t, Check(data, f), "%s, %s", f, name)
			c, err := Read(data, f, cupel.HeuristicCounter{})
			require.NoError(t, err)
			for _, target := range []int{600, 5000} {
				text := fits(t, c, chooser, target)
				keeps := "Mend cupel/item.go."
				switch name {
				case "task", "last", "both":
					keeps = long[:300]
				case "arguments":
					keeps = "characters left out]"
				}
				if !strings.Contains(text, keeps) || strings.Contains(text, `left out]",[`) {
					t.Errorf("%s, %s: %q is not in\n%.3000s", f, name, keeps, text)
				}
			}
			budget := budget(t, 600)
			items, _, err := c.ItemsFor(nil, budget)
			require.NoError(t, err)
			if tokens := totalOf(items, true); tokens > 600 {
				t.Errorf("%s, %s: a session pins %d tokens of 600", f, name, tokens)
			}
		}
	}
}

func totalOf(items []*cupel.ContextItem, pinned bool) (tokens int) {
	for _, item := range items {
		if item.Pinned() || !pinned {
			tokens += item.Tokens()
		}
	}
	return tokens
}

// fits selects a window, and holds it to the budget, by its own count and read again,
// and to what the API takes.
func fits(t *testing.T, c *Conversation, chooser Chooser, target int) string {
	t.Helper()
	w, err := c.Select(t.Context(), chooser, budget(t, target))
	require.NoError(t, err, "%s at %d", c.format, target)
	text, err := w.Body()
	require.NoError(t, err)
	if got := Check(text, c.format); len(got) > 0 {
		t.Errorf("%s at %d: %v\nin %.3000s", c.format, target, got, text)
	}
	again, err := Read(text, c.format, c.counter)
	require.NoError(t, err)
	if tokens := totalOf(again.items, false); tokens > target || len(messagesOf(t, c.format, string(text))) == 0 {
		t.Errorf("%s: %d tokens of %d\n%.3000s", c.format, tokens, target, text)
	}
	return string(text)
}
