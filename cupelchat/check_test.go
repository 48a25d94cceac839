package cupelchat_test

import (
	"fmt"
	"testing"

	"github.com/wollax/cupel-go/cupelchat"
	"github.com/wollax/cupel-go/cupelchat/internal/cases"
)

// TestCheckCases runs the cases of the formats that can be named; the rules are
// tested with all of them, path by path.
func TestCheckCases(t *testing.T) {
	for format := cupelchat.Format(1); format < 100; format++ {
		for _, name := range cases.Formats {
			if format.String() != name {
				continue
			}
			for _, c := range cases.Load(t, "..", name, "bad") {
				if got := cupelchat.Check(c.Body, format); len(got) == 0 || got[0].Rule == "" {
					t.Errorf("%s, %s: got %v", name, c.Name, got)
				}
			}
			for _, c := range cases.Load(t, "..", name, "good") {
				if got := cupelchat.Check(c.Body, format); len(got) > 0 {
					t.Errorf("%s, %s: got %v", name, c.Name, got)
				}
			}
		}
	}
	if got := cupelchat.Check([]byte("{}"), 0); len(got) != 1 || got[0].String() != "no API takes format 0 (format)" {
		t.Errorf("a format that is none: got %v", got)
	}
}

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
	// messages[1].tool_calls[1]: the call "c2" has no result: a message of the role tool must follow for each call, before any other message (call-without-result)
}
