package cupelchat

import (
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// Example runs it.
func TestReadmeHasTheExample(t *testing.T) {
	readme, err := os.ReadFile("README.md")
	require.NoError(t, err)
	example, err := os.ReadFile("example_agent_test.go")
	require.NoError(t, err)
	program, output, _ := strings.Cut(string(example), "\t// Output:\n\t// ")
	program = strings.NewReplacer("package cupelchat_test", "package main", "// The program of the README.\n", "", "func Example()", "func main()").Replace(program)
	output = strings.ReplaceAll(strings.TrimSuffix(output, "}\n"), "\n\t// ", "\n")
	require.Contains(t, string(readme), "```go\n"+program+"}\n```\n\n```\n"+output+"```\n")
}
