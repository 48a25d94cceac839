package cupelchat

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
)

// TestItemsOfBodies holds the items of the fixtures, of unusual bodies and of records:
// what each has and how it begins, and its title on a line of its own if it differs.
func TestItemsOfBodies(t *testing.T) {
	var got strings.Builder
	add := func(name string, f Format, body []byte) {
		c, err := Read(body, f, bytesCounter{})
		if err != nil {
			fmt.Fprintf(&got, "== %s\n%v\n", name, err)
			return
		}
		fmt.Fprintf(&got, "== %s %q\n", name, c.Notes())
		blocks := c.Blocks()
		for i, item := range c.Items() {
			fixed, _ := item.MetadataInt("fixed")
			title, _ := item.MetadataText("title")
			more := item.Group()
			if item.Pinned() {
				more += " pinned"
			}
			if fixed > 0 || blocks[i] > 1 {
				more += fmt.Sprintf(" fixed %d of %d blocks", fixed, blocks[i])
			}
			fmt.Fprintf(&got, "%d %s, %s: %.50q\n", item.Tokens(), moreOf(item), more, item.Content())
			if title != item.Content() {
				fmt.Fprintf(&got, "\t%s\n", title)
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(fixtures)) {
		add(name, fixtures[name], fixture(t, name))
	}
	for _, f := range writable {
		for _, c := range casesOf(t, f, "good") {
			add(c.Name, f, c.Body)
		}
	}
	add("claude", ClaudeCode, []byte(claudeSession))
	add("codex", Codex, []byte(codexSession))
	add("telemetry", OpenTelemetry, []byte(telemetryMessages))
	golden(t, "items.txt", got.String())
}

func TestFormatsRefuse(t *testing.T) {
	for _, test := range []struct {
		format Format
		body   string
		want   string
		why    string
	}{
		{Gemini, `{"contents":[{"role":"user","content":"x"}]}`, `content is not a field of Gemini, which has "parts"`, "it is OpenAI's message"},
		{Gemini, `{"contents":[{"role":"tool","parts":[{"text":"x"}]}]}`, "must be one of user, model", "there is no such role"},
		{Gemini, `{"cachedContent":"cachedContents/1","contents":[]}`, "refers to text that the API keeps", "it cannot be counted"},
		{Gemini, `{"contents":[{"role":"user","parts":[]}]}`, "has neither content nor tool calls", "a message says something"},
		{Gemini, `{"contents":[{"role":"user","parts":[{"functionResponse":{"name":"f","response":"x"}}]}]}`, "must be an object", "a result is one"},
		{Bedrock, `{"messages":[{"role":"user","content":"x"}]}`, "must be an array of content blocks", "Converse takes no plain text"},
		{Bedrock, `{"system":"s","messages":[]}`, "must be an array of content blocks", "nor there"},
		{Bedrock, `{"messages":[{"role":"user","content":[{}]}]}`, "is an empty content block", "a block says what it is"},
		{Ollama, `{"messages":[{"role":"user","content":[{"text":"x"}]}]}`, "must be a string", "Ollama takes no parts"},
		{Ollama, `{"messages":[{"role":"assistant"}]}`, "has neither content nor tool calls", "a message says something"},
	} {
		_, err := Read([]byte(test.body), test.format, bytesCounter{})
		if err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: error %v, want %q (%s)", test.body, err, test.want, test.why)
		}
	}
}
