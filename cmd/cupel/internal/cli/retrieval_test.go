package cli_test

import (
	"context"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupel/policy"
)

// TestReadmeRetrieval compares the README's retrieval with the example that is run.
func TestReadmeRetrieval(t *testing.T) {
	source, err := os.ReadFile("retrieval_test.go")
	require.NoError(t, err)
	readme, err := os.ReadFile("../../../../README.md")
	require.NoError(t, err)
	_, after, _ := strings.Cut(string(readme), "## Retrieval\n")
	_, after, _ = strings.Cut(after, "```go\n")
	code, _, found := strings.Cut(after, "```\n")
	require.True(t, found, "the README has no retrieval")
	require.LessOrEqual(t, strings.Count(code, "\n"), 14, "more than a reader takes in")
	run := strings.NewReplacer("\n\t// Output:", "", "\n\t", "\n").Replace(string(source))
	require.Contains(t, run, "\nfunc Example_retrieval() {\n"+code+"}\n")
}

// Example_retrieval is the README's retrieval, of three hits, with what it prints.
func Example_retrieval() {
	p := must(policy.RAG().Pipeline(policy.Environment{}))
	budget := must(cupel.NewContextBudget(50, 30, cupel.WithOutputReserve(20))) // the window, the tokens to select, room for the answer
	var items []*cupel.ContextItem
	for _, hit := range hits { // of your search
		items = append(items, must(cupel.NewContextItem(hit.Text, hit.Tokens,
			cupel.WithKind(cupel.KindDocument), cupel.WithFutureRelevanceHint(hit.Score))))
	}
	window := must(p.Run(ctx, items, budget))
	for _, item := range window {
		fmt.Println(item.Content())
	}
	// Output:
	// E7: the steam valve did not close.
	// The fans were cleaned on Monday.
}

var (
	ctx  = context.Background()
	hits = []struct {
		Text   string
		Tokens int
		Score  float64
	}{
		{"E7: the steam valve did not close.", 12, 0.9},
		{"The fans were cleaned on Monday.", 9, 0.5},
		{"Orders: 45 rye loaves, 120 croissants.", 15, 0.2},
	}
)

func must[T any](value T, err error) T {
	if err != nil {
		panic(err)
	}
	return value
}
