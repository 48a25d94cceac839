package cupeltest_test

import (
	"fmt"
	"os"
	"os/exec"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupel/strategy"
	"github.com/wollax/cupel-go/cupeltest"
)

// failOnPurpose has TestFailing fail.
const failOnPurpose = "CUPELTEST_FAIL_ON_PURPOSE"

// TestFailing fails in every way there is, each on a line that says so, when
// TestFailuresNameTheLine runs it.
func TestFailing(t *testing.T) {
	if os.Getenv(failOnPurpose) == "" {
		t.Skip("run by TestFailuresNameTheLine")
	}
	r := &report{
		Included: []cupel.IncludedItem{in("A", 1, 1), in("B", 1, 5), in("A", 1, 1)},
		Excluded: []cupel.ExcludedItem{out("C", 1, 0, because(cupel.ExcludeFiltered)), out("C", 1, 1, because(cupel.ExcludeFiltered))},
	}
	c := cupeltest.Expect(t, r)
	c.IncludeItemWithKind("X")                                                          // fails: IncludeItemWithKind
	c.IncludeItemMatching(nil)                                                          // fails: IncludeItemMatching
	c.IncludeExactlyNItemsWithKind("X", 1)                                              // fails: IncludeExactlyNItemsWithKind
	c.ExcludeItemWithReason(cupel.ExcludeBudgetExceeded)                                // fails: ExcludeItemWithReason
	c.ExcludeItemMatchingWithReason(cupeltest.ByKind("C"), cupel.ExcludeBudgetExceeded) // fails: ExcludeItemMatchingWithReason
	c.ExcludeItemWithBudgetDetails(cupeltest.ByKind("C"), 1, 1)                         // fails: ExcludeItemWithBudgetDetails
	c.HaveNoExclusionsForKind("C")                                                      // fails: HaveNoExclusionsForKind
	c.HaveAtLeastNExclusions(9)                                                         // fails: HaveAtLeastNExclusions
	c.ExcludedItemsAreSortedByScoreDescending()                                         // fails: ExcludedItemsAreSortedByScoreDescending
	c.HaveBudgetUtilizationAbove(0.5, cupeltest.Budget(100, 100))                       // fails: HaveBudgetUtilizationAbove
	c.HaveKindCoverageCount(9)                                                          // fails: HaveKindCoverageCount
	c.PlaceItemAtEdge(cupeltest.ByKind("B").Included)                                   // fails: PlaceItemAtEdge
	c.PlaceTopNScoredAtEdges(1)                                                         // fails: PlaceTopNScoredAtEdges
	c.HaveNoExclusions()                                                                // fails: HaveNoExclusions
	c.IncludeInOrder("X")                                                               // fails: IncludeInOrder
	c.HaveTokensAtMost(2)                                                               // fails: HaveTokensAtMost
	c.HaveShortfallForKind("X")                                                         // fails: HaveShortfallForKind
	c.IncludeNoItemMatching(cupeltest.ByKind("B").Included)                             // fails: IncludeNoItemMatching
	c.ExcludeNoItemMatching(cupeltest.ByKind("C"))                                      // fails: ExcludeNoItemMatching
	c.MatchGolden("there is no such file")                                              // fails: MatchGolden
	cupeltest.Expect(t, nil)                                                            // fails: Expect
	t.Run("chain", func(t *testing.T) {
		cupeltest.Should(t, r).
			IncludeItemWithKind("A").
			IncludeItemWithKind("B").
			HaveKindCoverageCount(9). // fails: HaveKindCoverageCount
			IncludeItemWithKind("C")
	})
	t.Run("no report", func(t *testing.T) {
		cupeltest.Should(t, nil) // fails: Should
	})
	t.Run("no run", func(t *testing.T) {
		cupeltest.Run(t, nil, nil, cupeltest.Budget(1, 1)) // fails: Run
	})
	t.Run("no scorer", func(t *testing.T) {
		cupeltest.TestScorer(t, nil) // fails: there
	})
	t.Run("broken scorer", func(t *testing.T) {
		cupeltest.TestScorer(t, func() strategy.Scorer { return invalid{} }) // fails: scorer
	})
	t.Run("nil item", func(t *testing.T) {
		cupeltest.TestSlicer(t, func() strategy.Slicer { return capped{} }, cupeltest.WithItems(nil)) // fails: WithItems
	})
	t.Run("broken placer", func(t *testing.T) {
		cupeltest.TestPlacer(t, func() strategy.Placer { return placeFunc(nil) }) // fails: placer
	})
}

// A failure is on the line of the test that asked, not somewhere in this
// package: every function on the way calls Helper.
func TestFailuresNameTheLine(t *testing.T) {
	source, err := os.ReadFile("line_test.go")
	require.NoError(t, err)
	var want []string
	for i, line := range strings.Split(string(source), "\n") {
		if _, name, ok := strings.Cut(line, "// fails"+": "); ok {
			want = append(want, fmt.Sprintf("line_test.go:%d: %s", i+1, name))
		}
	}

	cmd := exec.Command(os.Args[0], "-test.run=^TestFailing$")
	cmd.Env = append(os.Environ(), failOnPurpose+"=1")
	output, err := cmd.CombinedOutput()
	var failed *exec.ExitError
	require.ErrorAs(t, err, &failed)
	got := regexp.MustCompile(`\w+\.go:\d+: \w+`).FindAllString(string(output), -1)
	require.Equal(t, want, slices.Compact(got), "%s", output) // a kit reports rule after rule
	for link := range reflect.TypeFor[*chain]().Methods() {
		require.Contains(t, strings.Join(want, "\n")+"\n", ": "+link.Name+"\n")
	}
}
