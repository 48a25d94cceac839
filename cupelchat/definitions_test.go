package cupelchat

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/wollax/cupel-go/cupelchat/agent"
)

// In every format the report says how many tokens each definition takes, and a note names
// the largest if all take more than a quarter of the budget.
func TestDefinitions(t *testing.T) {
	long := strings.Repeat("what it does, ", 10)
	for f, request := range map[Format]string{
		OpenAI:    `{"tools":[{"type":"function","function":{"name":"a","description":"` + long + `"}},{"type":"function","function":{"name":"b"}}],"messages":[{"role":"user","content":"x"}]}`,
		Responses: `{"tools":[{"type":"function","name":"a","description":"` + long + `"},{"type":"function","name":"b"}],"input":"x"}`,
		Anthropic: `{"tools":[{"name":"a","description":"` + long + `"},{"name":"b"}],"messages":[{"role":"user","content":"x"}]}`,
		Gemini:    `{"tools":[{"functionDeclarations":[{"name":"a","description":"` + long + `"},{"name":"b"}]}],"contents":[{"role":"user","parts":[{"text":"x"}]}]}`,
		Bedrock:   `{"toolConfig":{"tools":[{"toolSpec":{"name":"a","description":"` + long + `"}},{"toolSpec":{"name":"b"}}]},"messages":[{"role":"user","content":[{"text":"x"}]}]}`,
		Ollama:    `{"tools":[{"type":"function","function":{"name":"a","description":"` + long + `"}},{"type":"function","function":{"name":"b"}}],"messages":[{"role":"user","content":"x"}]}`,
	} {
		c := read(t, f, []byte(request))
		definitions := c.Items()[0]
		tokens, ok := definitions.MetadataValue("tools")
		require.True(t, ok, f)
		of := tokens.(map[string]any)
		require.Len(t, of, 2, f)
		require.Greater(t, of["a"], 5*len(long)/10, f)
		require.LessOrEqual(t, of["a"].(int)+of["b"].(int), definitions.Tokens(), f)
		for limit, noted := range map[int]bool{4*definitions.Tokens() - 1: true, 4 * definitions.Tokens(): false} {
			w, err := c.Select(t.Context(), agent.New(bytesCounter{}), budget(t, limit))
			require.NoError(t, err)
			said := strings.Join(w.Notes, "\n")
			require.Equal(t, !noted, said == "", "%s: %s", f, said)
			if noted {
				require.Contains(t, said, "the definitions of 2 tools take ", f)
				require.Contains(t, said, "the largest: a (", f)
			}
		}
	}
}
