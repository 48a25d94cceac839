package cupelchat_test

import (
	"fmt"

	"github.com/wollax/cupel-go/cupelchat"
)

func ExampleCheck() {
	// The result of the second call was lost.
	body := []byte(`{"model": "gpt-5", "messages": [
		{"role": "user", "content": "compare a.go and b.go"},
		{"role": "assistant", "tool_calls": [
			{"id": "c1", "type": "function", "function": {"name": "read", "arguments": "{\"path\": \"a.go\"}"}},
			{"id": "c2", "type": "function", "function": {"name": "read", "arguments": "{\"path\": \"b.go\"}"}}]},
		{"role": "tool", "tool_call_id": "c1", "content": "package a"},
		{"role": "user", "content": "well?"}]}`)
	for _, v := range cupelchat.Check(body, cupelchat.OpenAI) {
		fmt.Println(v)
	}
	// Output:
	// messages[1].tool_calls[1]: the call "c2" has no result: a tool message must follow for each call, before any other message (call-without-result)
}
