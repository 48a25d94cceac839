package cli

import (
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// bytesCounted counts a token for every four bytes, and how many bytes it was asked about.
type bytesCounted struct{ bytes int }

// CountTokens implements [cupel.TokenCounter].
func (c *bytesCounted) CountTokens(text string) (int, error) {
	c.bytes += len(text)
	return (len(text) + 3) / 4, nil
}

// TestMCPLongFiles: the tokens of a part of a long file are counted, to search it and to
// outline it. Answers are found wherever they stand.
func TestMCPLongFiles(t *testing.T) {
	folder(t, nil)
	record := `{"name": "oven", "path": "/srv/bakery/loaves", "ok": true, "size": 4711},`
	records := strings.Repeat(record, mostOutlined/2/len(record))
	lines := strings.Repeat("INFO the oven is warm\n\nINFO a loaf is baked\n", mostCompared/2/lineBytes)
	files := []struct {
		name, text string
		tokens     int
		want       string
	}{
		{"one.json", `[` + records + `{"name": "valve E7", "state": "stuck"},` + records + records + `{}]`, 0, `^one.json: [\d,]+ pieces: (?s:.*)valve E7`},
		{"lines.log", "valve E7 opens\n" + lines + "valve E7 is stuck\n" + lines + "valve E7 is mended\n", 20,
			`(?s)^lines.log: 41,943 lines: .*\n1: valve E7 opens\n…\n31457: valve E7 is stuck\n…\n.*62913: valve E7 is mended\n$`},
	}
	counter := new(bytesCounted)
	tools, err := (&mcpFlags{root: ".", policy: agentPolicy, encoding: "heuristic"}).tools(&Environment{})
	require.NoError(t, err)
	t.Cleanup(tools.close)
	tools.counter = counter
	for _, file := range files {
		require.NoError(t, os.WriteFile(file.name, []byte(file.text), 0o600))
		counter.bytes = 0
		answer, err := tools.readLog(t.Context(), &mcpLog{Path: file.name, Question: "Which valve is stuck?", Tokens: file.tokens})
		require.NoError(t, err)
		require.Regexp(t, file.want, answer)
		require.LessOrEqual(t, counter.bytes, mostCompared/16, file.name)
	}
	counter.bytes = 0
	outline, err := tools.outlineFile(t.Context(), &mcpOutline{Path: "one.json"})
	require.NoError(t, err)
	require.LessOrEqual(t, counter.bytes, mostCounted+mostOutlined/16)
	require.Regexp(t, `^one.json: \w+, about 6,\d\d\d,\d\d\d → \d+ tokens, of its first and last 8 MiB\n\n`, outline)
	require.LessOrEqual(t, tools.count(outline), defaultShown+footerTokens)
	require.NoError(t, os.WriteFile("part.json", []byte(`[`+records[:len(record)*(2*mostCounted/len(record))]+`{}]`), 0o600))
	outline, err = tools.outlineFile(t.Context(), &mcpOutline{Path: "part.json", Tokens: mostAsked})
	require.NoError(t, err)
	require.Regexp(t, `^part.json: \w+, about 13\d,\d\d\d → `, outline)
}
