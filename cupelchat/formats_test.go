package cupelchat

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/wollax/cupel-go/cupel"
)

// What the messages of the newer formats become: role, group, and the first words.
func TestItemsOfFormats(t *testing.T) {
	for _, test := range []struct {
		fixture string
		want    []string
	}{
		{"gemini.json", []string{
			"tools", "system You are", "user How many", "assistant/1 I look.|stock({\"item\":\"rye\"})|stock({\"item\":\"rolls\"})",
			"tool/1 {\"item\":\"rye\"", "tool/1 40 rolls,", "assistant There are", "user Reserve two", "assistant/2 reserve({\"item\":\"rye\",\"count\":2})", "tool/2 {\"ok\":true}",
		}},
		{"bedrock.json", []string{
			"tools", "system You are", "user Which books", "assistant/1 I search|I look.|find({\"author\":\"Lem\"})", "tool/1 {\"books\":[{\"title\"", "assistant Solaris and",
			"user Show me", "assistant/2 find({\"title\":\"Solaris\"})|find({\"title\":\"Fiasco\"})", "tool/2 shelf A3,", "tool/2 not found",
		}},
		{"ollama.json", []string{
			"tools", "system You answer", "user Paris and", "assistant/1 Two calls.|weather({\"city\":\"Paris\"})|weather({\"city\":\"Oslo\"})", "tool/1 Paris: 22", "tool/1 Oslo: 9",
			"assistant Paris is", "user And Rome?", "assistant/2 weather({\"city\":\"Rome\"})", "tool/2 Rome: 30",
		}},
	} {
		groups := map[string]int{}
		items := read(t, fixtures[test.fixture], fixture(t, test.fixture)).Items()
		if len(items) != len(test.want) {
			t.Errorf("%s: %d items, want %d: %v", test.fixture, len(items), len(test.want), items)
			continue
		}
		for i, item := range items {
			role, _ := item.MetadataText("role")
			if g := item.Group(); g != "" {
				if groups[g] == 0 {
					groups[g] = len(groups) + 1
				}
				role += fmt.Sprint("/", groups[g])
			}
			head, says, _ := strings.Cut(test.want[i], " ")
			got := strings.ReplaceAll(item.Content(), "\n", "|")
			ok := head == role
			for part := range strings.SplitSeq(says, "|") {
				ok = ok && strings.Contains("|"+got, "|"+part)
			}
			if !ok {
				t.Errorf("%s: item %d is %s %s, want %s", test.fixture, i, role, got, test.want[i])
			}
		}
	}
}

// A smaller form of a result keeps the shape that the API wants.
func TestShortResultsOfFormats(t *testing.T) {
	short := WithForms(func(_, _ string) []cupel.Variant { return []cupel.Variant{{Content: "s", Worth: 0.5}} })
	for name, want := range map[string][]string{
		"gemini.json":  {`"response": {"output": "s"}}}, {"functionResponse": {"name": "stock", "response": {"output": "s"}}`, `"thoughtSignature": "c2ln"`},
		"bedrock.json": {`"content": [{"text": "s"}], "status": "success"`, `"signature": "c2ln"`},
		"ollama.json":  {`"tool_name": "weather", "content": "s"`},
	} {
		c := read(t, fixtures[name], fixture(t, name), short, WithoutPins())
		got, _ := body(t, c, func(unit *cupel.ContextItem) int {
			results := 1
			for _, m := range unit.Members()[:max(0, len(unit.Members())-1)] {
				if role, _ := m.MetadataText("role"); role == "tool" {
					results++
				}
			}
			return min(results, len(unit.Forms()))
		})
		for _, part := range want {
			assert.Contains(t, got, part, name)
		}
	}
}

func TestFormatsRefuse(t *testing.T) {
	for _, test := range []struct {
		format Format
		body   string
		want   string
		why    string
	}{
		{Gemini, `{"contents":[{"role":"user","content":"x"}]}`, `Gemini has "parts" here`, "it is OpenAI's message"},
		{Gemini, `{"contents":[{"role":"tool","parts":[{"text":"x"}]}]}`, "must be one of user, model", "there is no such role"},
		{Gemini, `{"cachedContent":"cachedContents/1","contents":[]}`, "refers to content that the provider keeps", "it cannot be counted"},
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
