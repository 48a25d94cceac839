package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// chatOfTools has two exchanges whose results do not fit together.
const chatOfTools = `{"messages":[{"role":"user","content":"Mend it."},
{"role":"assistant","tool_calls":[{"id":"a","type":"function","function":{"name":"read_file","arguments":"{}"}}]},
{"role":"tool","tool_call_id":"a","content":"alpha one\nalpha two\nalpha three\nalpha four\nalpha five\nalpha six\nalpha seven"},
{"role":"assistant","tool_calls":[{"id":"b","type":"function","function":{"name":"bash","arguments":"{}"}}]},
{"role":"tool","tool_call_id":"b","content":"beta one\nbeta two\nbeta three\nbeta four\nbeta five\nbeta six\nbeta seven"},
{"role":"user","content":"Go on."}]}`

func TestRules(t *testing.T) {
	docs, err := os.ReadFile(filepath.Join("..", "..", "..", "..", "docs", "agents.md"))
	require.NoError(t, err)
	_, shown, _ := strings.Cut(string(docs), "```toml\n")
	shown, _, _ = strings.Cut(shown, "```\n")
	folder(t, map[string]string{
		"chat.json": chatOfTools,
		"mine.toml": "preset = \"agent\"\nclearAtLeast = 10\n[[rules]]\ntool = \"read_file\"\nkeep = true\n",
		"docs.toml": shown,
		"bad.toml":  "preset = \"agent\"\n[[rules]]\ntool = \"read_file\"\npin = true\n",
		"rag.toml":  "preset = \"rag\"\n",
		"full.toml": "preset = \"agent\"\nlowWater = 2\n",
		"list.json": `[{"content":"a","tokens":1}]`,
	})
	choose := func(args ...string) []string {
		return append([]string{"run", "-i", "chat.json", "-b", "78", "--as", "transcript"}, args...)
	}
	for _, test := range []struct {
		name    string
		args    []string
		in, out string
		why     string
	}{
		{"flag", choose("-p", "agent", "--rule", "keep tool=read_*"), "alpha seven", "beta three", "the older result is kept, the newer one gives way"},
		{"text", choose("-p", "chat", "--rule", "latest=1 text=alpha two"), "alpha three", "beta three", "rules are for every policy, and the text goes to the end"},
		{"TOML", choose("-p", "mine.toml"), "alpha seven", "beta three", "a policy file of the preset"},
		{"documentation", choose("-p", "docs.toml"), "alpha seven", "beta three", "the newest three results of read_ tools are kept"},
	} {
		code, stdout, stderr := fed(t, "", test.args...)
		require.Equal(t, exitOK, code, "%s: %s", test.name, stderr)
		require.Contains(t, stdout, test.in, "%s: %s", test.name, test.why)
		require.NotContains(t, stdout, test.out, "%s: %s", test.name, test.why)
	}
	for _, test := range []struct{ rule, want string }{
		{"pin tool=a", `"pin" is unknown; want keep, never or latest=3`},
		{"latest=x tool=a", "invalid syntax"},
		{"tool=a", "it does nothing: set keep, latest or never"},
	} {
		code, _, stderr := fed(t, "", choose("-p", "agent", "--rule", test.rule)...)
		require.Equal(t, exitUsage, code)
		require.Contains(t, stderr, test.want)
	}
	refusals(t, "", []refusal{
		{"unknown member", "run -i chat.json -b 95 -p bad.toml", exitUsage, "rules.pin is unknown", "a misspelt member has no effect"},
		{"low water", "proxy -b 95 -p full.toml", exitUsage, "LowWater must be in (0,1], got 2", "more than the room"},
		{"another preset", "run -i chat.json -b 95 -p rag.toml", exitUsage, "preset: want agent", "others have no rules"},
		{"file for items", "run -i list.json -b 95 -p mine.toml", exitUsage, "these are items", "it has rules"},
		{"items", "run -i list.json -b 95 -p agent --rule never", exitUsage, "these are items", "there are no roles"},
	})
}
