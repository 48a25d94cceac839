package cupeltest_test

import (
	"go/build"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupeltest"
)

const (
	noKinds      = "HaveKindCoverageCount(1) failed: expected at least 1 distinct ContextKind values in Included, but found 0: []."
	noExclusions = "HaveAtLeastNExclusions(7) failed: expected at least 7 excluded items, but Excluded had 0."
)

func TestShouldStopsAtTheFirstFailure(t *testing.T) {
	for name, s := range map[string]interface {
		cupeltest.T
		reported() []string
	}{
		"a FailNow that ends the test": new(spy),
		"a FailNow that returns":       new(keepsOn),
	} {
		apart(func() {
			cupeltest.Should(s, new(report)).
				HaveAtLeastNExclusions(0).
				HaveKindCoverageCount(1).
				IncludeItemMatching(func(cupel.IncludedItem) bool { t.Error("a link after a failure was checked"); return true }).
				HaveAtLeastNExclusions(7)
		})
		require.Equal(t, []string{noKinds}, firstLines(s.reported()), name)
	}
}

// keepsOn is a T whose FailNow does not end the test, as no T should.
type keepsOn struct{ spy }

func (t *keepsOn) FailNow() { t.stopped = true }

func TestExpectReportsEveryFailure(t *testing.T) {
	s := watch(func(t cupeltest.T) {
		cupeltest.Expect(t, new(report)).HaveKindCoverageCount(1).HaveAtLeastNExclusions(0).HaveAtLeastNExclusions(7)
	})
	require.Equal(t, []string{noKinds, noExclusions}, firstLines(s.messages))
	require.True(t, s.finished)
}

func TestThatEndsInTheFirstFailure(t *testing.T) {
	err := errOf(new(report), func(c *chain) *chain { return c.HaveAtLeastNExclusions(7).HaveAtLeastNExclusions(8) })
	require.EqualError(t, err, noExclusions+"\n\tall 0 candidates are included")
}

func TestNilReport(t *testing.T) {
	three := func(c *chain) *chain {
		return c.HaveAtLeastNExclusions(0).HaveNoExclusions().ExcludedItemsAreSortedByScoreDescending()
	}
	s := watch(func(t cupeltest.T) { cupeltest.Should(t, nil) })
	require.Equal(t, []string{"Should failed: expected a report, but found nil."}, s.messages, "a chain without links must not pass either")
	require.True(t, s.stopped)
	s = watch(func(t cupeltest.T) { three(cupeltest.Expect(t, nil)) })
	require.Equal(t, []string{"Expect failed: expected a report, but found nil."}, s.messages, "one cause is one message")
	require.EqualError(t, errOf(nil, three), "That failed: expected a report, but found nil.")
}

// A chain asserts and nothing else: the report is the same afterwards, and a
// link that holds changes neither the chain nor the test.
func TestChainChangesNothing(t *testing.T) {
	made := func() *report {
		return &report{Included: []cupel.IncludedItem{in("B", 1, 0.1), in("A", 2, 0.9)}, Excluded: []cupel.ExcludedItem{out("C", 3, 0.2, because(cupel.ExcludeFiltered))}}
	}
	r, s := made(), new(spy)
	c := cupeltest.Should(s, r)
	require.Same(t, c, c.PlaceTopNScoredAtEdges(2).HaveKindCoverageCount(2).IncludeInOrder("B 1", "A 2"))
	require.Equal(t, made(), r)
	require.Empty(t, s.messages)
	require.False(t, s.stopped)
}

// The package is linked into what uses it outside of tests, where the flags
// that package testing registers have no place.
func TestLibraryDoesNotImportTesting(t *testing.T) {
	pkg, err := build.ImportDir(".", 0)
	require.NoError(t, err)
	require.NotEmpty(t, pkg.Imports)
	for _, path := range pkg.Imports {
		first, _, _ := strings.Cut(path, "/")
		require.False(t, path == "testing" || strings.HasPrefix(path, "testing/"), path)
		require.True(t, !strings.Contains(first, ".") || strings.HasPrefix(path, "github.com/wollax/cupel-go/cupel"), path)
	}
}
