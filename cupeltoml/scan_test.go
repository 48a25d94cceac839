package cupeltoml

import (
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/wollax/cupel-go/cupel/policy"
)

func TestNesting(t *testing.T) {
	tests := []struct {
		name, text string
		deepest    int
		why        string
	}{
		{"empty", "", 0, "nothing"},
		{"key", "a = 1", 0, "the root is no level"},
		{"dots", "a.b.c = 1", 2, "each dot is a level"},
		{"header", "[a.b]\nc.d = 1", 3, "keys stand below their header"},
		{"next header", "[a.b.c]\n[d]\ne = 1", 3, "a header starts again from the root"},
		{"array of tables", "[[a]]\nb = 1", 2, "two brackets"},
		{"values", "a = [[1, {b = 2}], 3]", 3, "brackets of values"},
		{"closed", "a = [1]\nb = [2]", 1, "what is closed is left"},
		{"lines", "a = [\n1,\n{b.c = 1},\n]", 3, "a value may go over lines"},
		{"commas", "a = {b.c = 1, d.e = 2}", 2, "the dots of a key end with its value"},
		{"strings", `a = "[[.." # [[..`, 0, "strings and comments do not count"},
		{"literal", `a = '[\' # [`, 0, "no escapes in literal strings"},
		{"escape", `a = "\"[["`, 0, "an escaped quote is none"},
		{"lines of text", "a = \"\"\"[\n\"[\"\"[\\\"\"\"\"\"\nb.c = 1", 1, "up to two quotes may stand before the closing ones"},
		{"literal lines", "a = '''[\n'['''''\nb.c = 1", 1, "the same with other quotes"},
		{"after lines of text", "a = [\"\"\"b\"\"\",[[1]]]", 3, "what follows the closing quotes counts"},
		{"two strings", `a = "b""[["`, 0, "a quote after a string begins another"},
		{"open string", "a = \"[\nb.c = 1", 1, "it ends with its line"},
		{"open lines", "a = '''[\n[", 0, "it ends with the text"},
		{"open comment", "# [[", 0, "it ends with the text"},
		{"too many closed", "a = 1]]]\nb.c = 1", 1, "never below zero"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			deepest, _ := nesting([]byte(tt.text))
			require.Equal(t, tt.deepest, deepest, tt.why)
		})
	}
}

func TestPaths(t *testing.T) {
	tests := []struct {
		name, text string
		paths      int64
		why        string
	}{
		{"nothing", "", 0, "there is no key"},
		{"key", "abc=1", 3, "its own name"},
		{"dots", "a.bb.c=1", 1 + 4 + 6, "each dot has the path before it written, and the value the whole"},
		{"lines", "a.b=1\na.b=1\n", 2 * (1 + 3), "every line counts"},
		{"header", "[aaaaa]\nb=1\nc=1\n", 2 * (5 + 1), "a long name is written for every key below it"},
		{"next header", "[aaaaa]\n[b]\nc=1", 1 + 1, "but not for those of the next"},
		{"array of tables", "[[aaaaa]]\nb=1", 5 + 1, "brackets are no names"},
		{"dots in a header", "[a.bb]\nc=1", 1 + 4 + 1, "its own path is written too"},
		{"quoted", `"a.b".c=1`, 5 + 7, "a dot in quotes is a part of the name"},
		{"inline table", "aaa={b=1,cc=1}", 3 + 3 + 4 + 5, "keys stand below the table's, and those of two do not add up"},
		{"inner table", "a={b={c=1}}\nd=1", 1 + 1 + 2 + 2 + 3 + 1, "at each level, and no longer than it"},
		{"tables in a list", "a=[{b=1},{b=1}]", 1 + 1 + 2*(1+2), "each from the root"},
		{"text", "a=\"bbbbbbbb\"\nc=1", 1 + 1, "values are no names"},
		{"comment", "[a] # bbbbbbbb\nc=1", 1 + 1, "nor are comments"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, paths := nesting([]byte(tt.text))
			require.Equal(t, tt.paths, paths, tt.why)
		})
	}
}

// FuzzNesting: of a text that is read, the scan has seen every level and, key
// by key, every byte of the paths. What it has not seen would not be bounded.
func FuzzNesting(f *testing.F) {
	for _, seed := range []string{
		"a.b.c = 1", "[a.b]\nc.d = 1", "[[a]]\nb = [[1, {c = 2}], 3]", "a = \"\"\"\n\"[\"\"[\"\"\"\"\"\nb.c = 1", "a = '''[\n'['''''\nb.c = [1]",
		"x = [\n{a = 1}, # [\n{b.c = 1},\n]", "\"a.b\".'c' = {\"\\u00e9\" = 1}", "[\"a\\\"]\"]\nb = 1", "a = \"\\\\\"\n[b]\nc = 2",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if len(text) > 10_000 {
			return
		}
		values, err := Parse([]byte(text), policy.MaxBytes)
		if err != nil {
			return
		}
		deepest, paths := nesting([]byte(text))
		depth, bytes := measure(values, 0, 0)
		require.LessOrEqual(t, depth, deepest, text)
		require.LessOrEqual(t, bytes, paths, text)
	})
}

// measure returns how deep a value is nested that stands at a depth, and how
// many bytes the names on the paths to its scalars have together, but for those
// in lists.
func measure(value any, depth int, path int64) (deepest int, bytes int64) {
	var list []any
	switch value := value.(type) {
	case map[string]any:
		deepest = depth
		for key, inner := range value {
			d, b := measure(inner, depth+1, path+int64(len(key)))
			deepest, bytes = max(deepest, d), bytes+b
		}
		return deepest, bytes
	case []map[string]any:
		for _, inner := range value {
			list = append(list, inner)
		}
	case []any:
		list = value
	default:
		return 0, path
	}
	deepest = depth
	for _, inner := range list {
		switch inner.(type) {
		case map[string]any, []map[string]any, []any:
			d, b := measure(inner, depth+1, path)
			deepest, bytes = max(deepest, d), bytes+b
		}
	}
	return deepest, bytes
}
