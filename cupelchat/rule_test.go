package cupelchat

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupelchat/agent"
)

// ruled is a conversation of eight exchanges with two tools in turn, each with a result
// of 20 lines.
func ruled(t *testing.T) json.RawMessage {
	t.Helper()
	messages := []any{map[string]any{"role": "system", "content": "You mend."}, map[string]any{"role": "user", "content": "Mend it."}}
	for n := range 8 {
		tool := []string{"read_file", "bash"}[n%2]
		id := fmt.Sprint("c", n)
		var result strings.Builder
		for line := range 20 {
			fmt.Fprintf(&result, "%s %d line %d: %d\n", tool, n, line, n*100+line)
		}
		call := map[string]any{"id": id, "type": "function", "function": map[string]any{"name": tool, "arguments": fmt.Sprintf(`{"n":%d}`, n)}}
		messages = append(messages, map[string]any{"role": "assistant", "tool_calls": []any{call}}, map[string]any{"role": "tool", "tool_call_id": id, "content": result.String()})
		messages = append(messages, map[string]any{"role": "assistant", "content": fmt.Sprint("IMPORTANT: finding ", n, strings.Repeat(" and more of it", 12))})
	}
	messages = append(messages, map[string]any{"role": "user", "content": "Go on."})
	data, err := json.Marshal(map[string]any{"messages": messages})
	require.NoError(t, err)
	return data
}

func TestRules(t *testing.T) {
	counter := cupel.HeuristicCounter{}
	result := func(tool string, n int) string { return fmt.Sprintf("%s %d line 19: %d", tool, n, n*100+19) }
	middle := func(tool string, n int) string { return fmt.Sprintf("%s %d line 7: %d", tool, n, n*100+7) }
	for _, test := range []struct {
		name    string
		opts    []Option
		in, out []string
		why     string
	}{
		{"none", nil, nil, []string{middle("read_file", 0)}, "the oldest result is cut"},
		{"keep", []Option{WithRules(Rule{Tool: "read_*", Text: " 0 line", Keep: true})}, []string{middle("read_file", 0), result("read_file", 0)}, []string{middle("read_file", 2)}, "it is whole"},
		{"latest", []Option{WithRules(Rule{Text: "bash", Latest: 2})}, []string{middle("bash", 7), middle("bash", 5)}, []string{middle("bash", 1)}, "the newest two are whole"},
		{"never", []Option{WithRules(Rule{Tool: "bash", Never: true})}, []string{result("read_file", 6)}, []string{"bash 7", "bash 5", "bash 1"}, "nothing of them is there, though they are newer"},
		{"kept and never", []Option{WithRules(Rule{Tool: "bash", Never: true}, Rule{Tool: "bash", Latest: 1})}, []string{middle("bash", 7)}, []string{"bash 5"}, "what a rule keeps stays"},
		{"role and text", []Option{WithRules(Rule{Role: "assistant", Text: "1 ", Keep: true})}, []string{"finding 1" + strings.Repeat(" and more of it", 12)}, []string{"finding 0" + strings.Repeat(" and more of it", 12), middle("bash", 1)}, "both select"},
		{"function", []Option{WithRules(Rule{Match: func(role, text string) bool { return role == "assistant" && strings.Contains(text, "finding 1 ") }, Keep: true})}, []string{"finding 1" + strings.Repeat(" and more of it", 12)}, []string{"finding 0" + strings.Repeat(" and more of it", 12)}, "it says which"},
		{"function and text", []Option{WithRules(Rule{Match: func(role, _ string) bool { return role == "assistant" }, Text: "finding 1", Keep: true})}, []string{"finding 1" + strings.Repeat(" and more of it", 12)}, []string{"finding 0" + strings.Repeat(" and more of it", 12)}, "both select"},
		{"forms", []Option{WithForms(func(tool, text string) []cupel.Variant {
			if tool != "bash" {
				return nil
			}
			return []cupel.Variant{{Content: "bash said " + text[:6], Worth: 0.9}}
		})}, []string{"bash said bash 1"}, []string{"bash 1 line"}, "the caller's form is in the note of the exchange, and no other one"},
	} {
		request, err := Fit(t.Context(), ruled(t), OpenAI, agent.New(counter), budget(t, 800), counter, test.opts...)
		require.NoError(t, err, test.name)
		for _, text := range test.in {
			require.Contains(t, string(request.Body), text, "%s: %s", test.name, test.why)
		}
		for _, text := range test.out {
			require.NotContains(t, string(request.Body), text, "%s: %s", test.name, test.why)
		}
		require.Empty(t, Check(request.Body, OpenAI), test.name)
	}
}

// What a rule keeps is pinned for any chooser, and where it does not fit, the error
// names it.
func TestRulesThatDoNotFit(t *testing.T) {
	counter := cupel.HeuristicCounter{}
	all := WithRules(Rule{Tool: "*", Keep: true})
	_, err := Fit(t.Context(), ruled(t), OpenAI, newest(t), budget(t, 800), counter, all)
	var large *TooLargeError
	require.ErrorAs(t, err, &large)
	require.Len(t, large.Parts, 1+8*2, "system prompt and exchanges; messages of the user can be shortened")
	require.Equal(t, "ToolOutput of read_file", large.Parts[0].What)
	request, err := Fit(t.Context(), ruled(t), OpenAI, newest(t), budget(t, 2000), counter, WithoutPins(), WithRules(Rule{Tool: "bash", Latest: 4}))
	require.NoError(t, err)
	require.Contains(t, string(request.Body), "bash 1 line 7")
}

func TestRuleErrors(t *testing.T) {
	for _, test := range []struct {
		rule Rule
		want string
		why  string
	}{
		{Rule{Tool: "[", Keep: true}, "the tool is not a valid pattern", "a bracket is open"},
		{Rule{Role: "model", Keep: true}, "system, user, assistant or tool", "formats have names of their own"},
		{Rule{Tool: "a", Latest: -1}, "at least 0", "no exchange is newer than the newest"},
		{Rule{Tool: "a"}, "it does nothing", "it selects and does nothing"},
		{Rule{Tool: "a", Never: true, Latest: 1}, "keeps messages and leaves them out", "use two rules"},
		{Rule{Keep: true}, "selects every message", "nothing could be left out"},
	} {
		_, err := Read(ruled(t), OpenAI, cupel.HeuristicCounter{}, WithRules(Rule{Tool: "b", Keep: true}, test.rule))
		require.ErrorContains(t, err, test.want, test.why)
		require.ErrorContains(t, err, "rules[1]", test.why)
	}
}
