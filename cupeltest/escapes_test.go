package cupeltest_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/wollax/cupel-go/cupel"
)

// What commands a terminal or reverses text is shown and not done, wherever it
// comes from.
func TestFailuresAreSafeToPrint(t *testing.T) {
	const evil = "K\x1b[31m\u202e\u2066\u200b\u2028"
	r := report{Included: []cupel.IncludedItem{in(evil, 3, 1)}, Excluded: []cupel.ExcludedItem{out(evil, 4, 1, because(evil))}}
	for name, link := range map[string]func(c *chain) *chain{
		"a kind that is asked for": func(c *chain) *chain { return c.IncludeItemWithKind(evil + "2") },
		"kinds of the window":      func(c *chain) *chain { return c.HaveKindCoverageCount(2) },
		"an excluded kind":         func(c *chain) *chain { return c.HaveNoExclusionsForKind(evil) },
		"a reason":                 func(c *chain) *chain { return c.ExcludeItemWithReason("none") },
		"a file":                   func(c *chain) *chain { return c.MatchGolden(evil) },
	} {
		err := errOf(&r, link)
		require.ErrorContains(t, err, `\x1b[31m\u202e\u2066\u200b\u2028`, name)
		require.False(t, strings.ContainsAny(err.Error(), "\x1b\u202e\u2066\u200b\u2028"), name)
	}
}
