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
	record := `{"name": "oven", "path": "/srv/bakery/` + strings.Repeat("loaves/", 99) + `", "ok": true, "size": 4711},`
	part, long := strings.Repeat(record, mostCompared/len(record)), strings.Repeat(record, mostOutlined/len(record))
	lines := strings.Repeat("INFO the oven is warm"+strings.Repeat(" as it was", 8)+"\n\nINFO a loaf is baked\n", mostCompared/3/lineBytes)
	files := []struct {
		name, text string
		tokens     int
		want       string
	}{
		{"one.json", `[` + part + `{"name": "valve E7", "state": "stuck"},` + part + part + `{}]`, 0, `^one.json: [\d,]+ pieces: (?s:.*)valve E7`},
		{"lines.log", "valve E7 opens\n" + lines + "valve E7 is stuck\n" + lines + "valve E7 is mended\n", 20,
			`(?s)^lines.log: 27,963 lines: .*\n1: valve E7 opens\n…\n20972: valve E7 is stuck\n…\n.*41943: valve E7 is mended\n$`},
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
	require.NoError(t, os.WriteFile("long.json", []byte(`[`+long+part+`{}]`), 0o600))
	outline, err := tools.outlineFile(t.Context(), &mcpOutline{Path: "long.json"})
	require.NoError(t, err)
	require.LessOrEqual(t, counter.bytes, mostCounted+mostOutlined/16)
	require.Regexp(t, `^long.json: \w+, about 4,\d\d\d,\d\d\d → \d+ tokens, of its first and last 8 MiB\n\n`, outline)
	require.LessOrEqual(t, tools.count(outline), defaultShown+footerTokens)
	require.NoError(t, os.WriteFile("part.json", []byte(`[`+long[:len(record)*(2*mostCounted/len(record))]+`{}]`), 0o600))
	outline, err = tools.outlineFile(t.Context(), &mcpOutline{Path: "part.json", Tokens: mostAsked})
	require.NoError(t, err)
	require.Regexp(t, `^part.json: \w+, about 13\d,\d\d\d → `, outline)
}
