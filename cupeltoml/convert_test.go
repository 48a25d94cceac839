package cupeltoml

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/BurntSushi/toml"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestIntegersOfTheSchema: every field that the schema of policies calls an
// integer refuses a float.
func TestIntegersOfTheSchema(t *testing.T) {
	schema, err := os.ReadFile(filepath.Join("..", "cupel", "policy", "schema.json"))
	require.NoError(t, err)
	found := regexp.MustCompile(`"(\w+)": \{[^{}]*"type": "integer"`).FindAllSubmatch(schema, -1)
	require.GreaterOrEqual(t, len(found), 4, "has the schema another form?")
	c := &converter{integers: integers(nil)}
	for _, match := range found {
		assert.True(t, c.isInteger("slicer.inner.entries[0]."+string(match[1])), "%s is an integer of the schema, and takes floats", match[1])
	}
	for _, at := range []string{`scorers[0].weights["capCount"]`, "slicer.entries[0].cap"} {
		assert.False(t, c.isInteger(at), "%s is a number, and refuses floats", at)
	}
}

// TestMembers: paths of members are written as package policy writes them.
func TestMembers(t *testing.T) {
	for name, want := range map[string]string{
		"azAZ09_-": "at.azAZ09_-", "": `at[""]`, "a b": `at["a b"]`, "a.b": `at["a.b"]`, `a"]b`: `at["a\"]b"]`, "é": `at["é"]`,
		"@": `at["@"]`, "[": `at["["]`, "`": "at[\"`\"]", "{": `at["{"]`, "/": `at["/"]`, ":": `at[":"]`,
	} {
		assert.Equal(t, want, member("at", name))
	}
	assert.Equal(t, "a", member("", "a"))
	assert.Equal(t, `["a b"]`, member("", "a b"))
	assert.Equal(t, `scorers[0].weights["capCount"]`, member("scorers[0].weights", "capCount"))
}

// TestLimits reads texts that are just small enough, and some that are not.
func TestLimits(t *testing.T) {
	const paths = 4 << 20
	header := func(n int) string { return "[" + strings.Repeat("a", n) + "]\nb=1\nc=1" }
	for _, row := range []struct{ name, text, want string }{
		{"nesting", "a = " + strings.Repeat("[", maxNested) + strings.Repeat("]", maxNested), ""},
		{"more nesting", "a = " + strings.Repeat("[", maxNested+1) + strings.Repeat("]", maxNested+1), "cupeltoml: the text is nested more than 500 deep"},
		{"paths", header(paths/2 - 1), ""},
		{"longer paths", header(paths / 2), "cupeltoml: the text has keys whose paths have more than 4194304 bytes together"},
		{"bytes", "#" + strings.Repeat(" ", paths-1), ""},
		{"more bytes", "#" + strings.Repeat(" ", paths), "cupeltoml: the text is longer than 4194304 bytes"},
	} {
		_, err := Parse([]byte(row.text), paths)
		if row.want == "" {
			require.NoError(t, err, row.name)
			continue
		}
		require.EqualError(t, err, row.want, row.name)
	}
	_, err := Parse([]byte("a ="), paths)
	require.ErrorAs(t, err, new(toml.ParseError), "the library's error says where")
}
