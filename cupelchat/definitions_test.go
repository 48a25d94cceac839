package cupelchat

import (
	"fmt"
	"regexp"
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
		require.Equal(t, f, c.Format())
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

// Definitions that the task does not need are gone, apart from tools that were called;
// everything else is there byte for byte.
func TestWithTools(t *testing.T) {
	for _, test := range []struct {
		name          string
		f             Format
		request, want string
		why           string
	}{
		{"OpenAI", OpenAI, `{"tools":[{"type":"function","function":{"name":"a"}},{"type":"function","function":{"name":"b"}}],"messages":[{"role":"system","content":"use a"},{"role":"user","content":"use b"}]}`,
			`{"tools":[{"type":"function","function":{"name":"b"}}],"messages":[{"role":"system","content":"use a"},{"role":"user","content":"use b"}]}`, "the first is gone, since the user's words are the task"},
		{"none", Anthropic, `{"system":"s","max_tokens":1,"tools":[{"name":"a"},{"name":"c"}],"tool_choice":{"type":"any"},"messages":[{"role":"user","content":"use b"}]}`,
			`{"system":"s","max_tokens":1,"messages":[{"role":"user","content":"use b"}]}`, "an empty list is refused, and so is a choice of none"},
		{"nested", Gemini, `{"tools":[{"functionDeclarations":[{"name":"a"}]},{"functionDeclarations":[{"name":"b"},{"name":"c"}]},{"googleSearch":{}}],"contents":[{"role":"user","parts":[{"text":"use b"}]}]}`,
			`{"tools":[{"functionDeclarations":[{"name":"b"}]},{"googleSearch":{}}],"contents":[{"role":"user","parts":[{"text":"use b"}]}]}`, "tools of the API stay"},
		{"Bedrock", Bedrock, `{"toolConfig":{"tools":[{"toolSpec":{"name":"a"}},{"toolSpec":{"name":"b"}}],"toolChoice":{"auto":{}}},"messages":[{"role":"user","content":[{"text":"use b"}]}]}`,
			`{"toolConfig":{"tools":[{"toolSpec":{"name":"b"}}],"toolChoice":{"auto":{}}},"messages":[{"role":"user","content":[{"text":"use b"}]}]}`, "the choice stays"},
		{"called", Anthropic, `{"max_tokens":1,"tools":[{"name":"a"},{"name":"b"},{"name":"c"}],"messages":[{"role":"user","content":"use b"},{"role":"assistant","content":[{"type":"tool_use","id":"x","name":"a","input":{}}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"x","content":"1"}]}]}`,
			`{"max_tokens":1,"tools":[{"name":"a"},{"name":"b"}],"messages":[{"role":"user","content":"use b"},{"role":"assistant","content":[{"type":"tool_use","id":"x","name":"a","input":{}}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"x","content":"1"}]}]}`, "its results are there, and they are no task"},
		{"no tools", OpenAI, `{"messages":[{"role":"user","content":"use b"}]}`, `{"messages":[{"role":"user","content":"use b"}]}`, "nothing is asked"},
		{"all", OpenAI, `{"tools":[{"type":"function","function":{"name":"b"}}],"messages":[{"role":"user","content":"use b"}]}`,
			`{"tools":[{"type":"function","function":{"name":"b"}}],"messages":[{"role":"user","content":"use b"}]}`, "nothing is left out"},
	} {
		c := read(t, test.f, []byte(test.request), WithTools(func(task string, names, definitions []string) []bool {
			require.NotEmpty(t, names)
			keep := make([]bool, len(names))
			for i, name := range names {
				require.Contains(t, definitions[i], `"`+name+`"`)
				keep[i] = strings.HasSuffix(task, " "+name)
			}
			return keep
		}))
		require.Equal(t, test.want, string(c.text), "%s: %s", test.name, test.why)
		gone := strings.Count(test.request, "name") - strings.Count(test.want, "name")
		require.Equal(t, gone > 0, regexp.MustCompile(fmt.Sprintf(`left out the definitions of %d tools? \(\d+ tokens\)`, gone)).MatchString(strings.Join(c.Notes(), "")), test.name)
	}
}
