package cupeltest_test

import (
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestPolicyPage compares the outputs in docs/operations.md with those of
// the examples, which go test compares with what the examples print.
func TestPolicyPage(t *testing.T) {
	page, err := os.ReadFile("../docs/operations.md")
	if os.IsNotExist(err) {
		t.Skip("the module stands alone: the page is outside of it, in the repository")
	}
	require.NoError(t, err)
	source, err := os.ReadFile("example_policy_test.go")
	require.NoError(t, err)
	blocks := strings.Split(string(source), "\t// Output:\n")[1:]
	require.Len(t, blocks, 2)
	for _, block := range blocks {
		block, _, _ := strings.Cut(block, "}\n")
		var output strings.Builder
		for line := range strings.Lines(block) {
			output.WriteString(strings.TrimPrefix(strings.TrimPrefix(line, "\t//"), " "))
		}
		require.Contains(t, string(page), "\n```\n"+output.String()+"```\n")
	}
}
