package cupeltest_test

import (
	"os"
	"strings"
	"testing"
)

// TestPolicyPage compares the outputs in docs/testing-a-policy.md with those of
// the examples, which go test compares with what the examples print.
func TestPolicyPage(t *testing.T) {
	page, err := os.ReadFile("../docs/testing-a-policy.md")
	if os.IsNotExist(err) {
		t.Skip("the module is alone")
	}
	source, err2 := os.ReadFile("example_policy_test.go")
	if err != nil || err2 != nil {
		t.Fatal(err, err2)
	}
	blocks := strings.Split(string(source), "\t// Output:\n")[1:]
	for _, block := range blocks {
		block, _, _ = strings.Cut(block, "}\n")
		var output strings.Builder
		for line := range strings.Lines(block) {
			output.WriteString(strings.TrimPrefix(strings.TrimPrefix(line, "\t//"), " "))
		}
		if !strings.Contains(string(page), "\n```\n"+output.String()+"```\n") {
			t.Errorf("the page does not show\n%s", output.String())
		}
	}
	if len(blocks) < 2 {
		t.Errorf("%d examples, want those of an assertion and a golden file", len(blocks))
	}
}
