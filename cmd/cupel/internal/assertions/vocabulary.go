package assertions

import (
	"strings"
	"unicode"

	"github.com/wollax/cupel-go/cupeltest"
)

// assertion is an assertion that checks can name.
type assertion struct {
	name  string
	takes string // the arguments; it needs all of them
	least int    // n: with less it would always hold
}

// vocabulary has the 13 patterns of the specification, in its order, then the
// additions of cupeltest, and the assertion about recordings.
var vocabulary = []assertion{
	{"IncludeItemWithKind", "kind", 0},
	{"IncludeItemMatching", "item", 0},
	{"IncludeExactlyNItemsWithKind", "kind n", 0},
	{"ExcludeItemWithReason", "reason", 0},
	{"ExcludeItemMatchingWithReason", "item reason", 0},
	{"ExcludeItemWithBudgetDetails", "item item_tokens available_tokens", 0},
	{"HaveNoExclusionsForKind", "kind", 0},
	{"HaveAtLeastNExclusions", "n", 1},
	{"ExcludedItemsAreSortedByScoreDescending", "", 0},
	{"HaveBudgetUtilizationAbove", "threshold", 0},
	{"HaveKindCoverageCount", "n", 1},
	{"PlaceItemAtEdge", "item", 0},
	{"PlaceTopNScoredAtEdges", "n", 1},

	{"IncludeInOrder", "contents", 0},
	{"HaveNoExclusions", "", 0},
	{"IncludeNoItemMatching", "item", 0},
	{"ExcludeNoItemMatching", "item", 0},
	{"HaveTokensAtMost", "n", 0},
	{"HaveShortfallForKind", "kind", 0},

	{KeepFact, "fact", 0},
}

// KeepFact is the name of the assertion about recordings.
const KeepFact = "KeepFact"

// holds returns nil if the assertion with a name holds.
func (a *arguments) holds(name string, s Subject) error {
	if name == KeepFact {
		return s.Keeps(a.Fact)
	}
	return cupeltest.That(s.Report, func(c *cupeltest.SelectionReportAssertionChain) { a.ask(c, name, s) }, s.Options...)
}

// ask asks a chain whether an assertion holds.
func (a *arguments) ask(c *cupeltest.SelectionReportAssertionChain, name string, s Subject) {
	switch name {
	case "IncludeItemWithKind":
		c.IncludeItemWithKind(a.Kind)
	case "IncludeItemMatching":
		c.IncludeItemMatching(a.Item.entry)
	case "IncludeExactlyNItemsWithKind":
		c.IncludeExactlyNItemsWithKind(a.Kind, a.N)
	case "ExcludeItemWithReason":
		c.ExcludeItemWithReason(a.Reason)
	case "ExcludeItemMatchingWithReason":
		c.ExcludeItemMatchingWithReason(a.Item.matches, a.Reason)
	case "ExcludeItemWithBudgetDetails":
		c.ExcludeItemWithBudgetDetails(a.Item.matches, a.ItemTokens, a.AvailableTokens)
	case "HaveNoExclusionsForKind":
		c.HaveNoExclusionsForKind(a.Kind)
	case "HaveAtLeastNExclusions":
		c.HaveAtLeastNExclusions(a.N)
	case "ExcludedItemsAreSortedByScoreDescending":
		c.ExcludedItemsAreSortedByScoreDescending()
	case "HaveBudgetUtilizationAbove":
		c.HaveBudgetUtilizationAbove(a.Threshold, s.Budget)
	case "HaveKindCoverageCount":
		c.HaveKindCoverageCount(a.N)
	case "PlaceItemAtEdge":
		c.PlaceItemAtEdge(a.Item.entry)
	case "PlaceTopNScoredAtEdges":
		c.PlaceTopNScoredAtEdges(a.N)
	case "IncludeInOrder":
		c.IncludeInOrder(a.Contents...)
	case "HaveNoExclusions":
		c.HaveNoExclusions()
	case "IncludeNoItemMatching":
		c.IncludeNoItemMatching(a.Item.entry)
	case "ExcludeNoItemMatching":
		c.ExcludeNoItemMatching(a.Item.matches)
	case "HaveTokensAtMost":
		c.HaveTokensAtMost(a.N)
	case "HaveShortfallForKind":
		c.HaveShortfallForKind(a.Kind)
	}
}

// snake returns a name of the vocabulary in snake case:
// include_exactly_n_items_with_kind.
func snake(name string) string {
	var b strings.Builder
	for i, c := range name {
		if i > 0 && unicode.IsUpper(c) {
			b.WriteByte('_')
		}
		b.WriteRune(unicode.ToLower(c))
	}
	return b.String()
}
