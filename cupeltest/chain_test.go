package cupeltest_test

import (
	"go/build"
	"reflect"
	"strings"
	"testing"

	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupeltest"
)

func TestShouldStopsAtTheFirstFailure(t *testing.T) {
	asked := false
	s := watch(func(t cupeltest.T) {
		cupeltest.Should(t, new(report)).
			HaveAtLeastNExclusions(0).
			HaveKindCoverageCount(1).
			IncludeItemMatching(func(cupel.IncludedItem) bool { asked = true; return true }).
			HaveAtLeastNExclusions(7)
	})
	if len(s.messages) != 1 || !strings.HasPrefix(s.messages[0], "HaveKindCoverageCount(1) failed") || !s.stopped || asked {
		t.Errorf("Should reported %q, stopped: %t", s.messages, s.stopped)
	}
}

// keepsOn is a T whose FailNow does not end the test, as no T should.
type keepsOn struct{ spy }

func (t *keepsOn) FailNow() { t.stopped = true }

func TestShouldSkipsWhatComesAfterAFailure(t *testing.T) {
	s := new(keepsOn)
	one := &report{Included: []cupel.IncludedItem{in(cupel.KindMessage, 1, 1)}}
	cupeltest.Should(s, one).HaveKindCoverageCount(2).HaveKindCoverageCount(3).
		IncludeItemMatching(func(cupel.IncludedItem) bool { t.Error("a link after a failure was checked"); return true })
	if len(s.messages) != 1 || !s.stopped {
		t.Errorf("Should reported %q", s.messages)
	}
}

func TestExpectReportsEveryFailure(t *testing.T) {
	s := watch(func(t cupeltest.T) {
		cupeltest.Expect(t, new(report)).
			HaveKindCoverageCount(1).
			HaveAtLeastNExclusions(0).
			HaveAtLeastNExclusions(7)
	})
	want := []string{
		"HaveKindCoverageCount(1) failed: expected at least 1 distinct ContextKind values in Included, but found 0: [].\n\tthere are no candidates",
		"HaveAtLeastNExclusions(7) failed: expected at least 7 excluded items, but Excluded had 0.\n\tthere are no candidates",
	}
	equalMessages(t, "Expect", s.messages, want, "both links fail")
	if s.stopped || !s.finished {
		t.Error("Expect stopped the test")
	}
}

func TestThatEndsInTheFirstFailure(t *testing.T) {
	err := errOf(new(report), func(c *chain) *chain { return c.HaveAtLeastNExclusions(1).HaveAtLeastNExclusions(2) })
	if err == nil || err.Error() != "HaveAtLeastNExclusions(1) failed: expected at least 1 excluded items, but Excluded had 0.\n\tthere are no candidates" {
		t.Errorf("the chain ends in %v", err)
	}
	if err := errOf(new(report), func(c *chain) *chain { return c.HaveAtLeastNExclusions(0) }); err != nil {
		t.Errorf("a chain that holds ends in %v", err)
	}
}

func TestNilReport(t *testing.T) {
	const links = 3
	three := func(c *chain) *chain {
		return c.HaveAtLeastNExclusions(0).HaveNoExclusions().ExcludedItemsAreSortedByScoreDescending()
	}
	s := watch(func(t cupeltest.T) { cupeltest.Should(t, nil) })
	equalMessages(t, "Should", s.messages, []string{"Should failed: expected a report, but found nil."}, "a chain without links must not pass either")
	if !s.stopped {
		t.Error("Should went on without a report")
	}
	s = watch(func(t cupeltest.T) { three(cupeltest.Expect(t, nil)) })
	equalMessages(t, "Expect", s.messages, []string{"Expect failed: expected a report, but found nil."}, "one cause is one message, regardless of the assertions")
	if err := errOf(nil, three); err == nil || err.Error() != "That failed: expected a report, but found nil." {
		t.Errorf("That ends in %v after %d links", err, links)
	}
}

func TestErrorMadeByHand(t *testing.T) {
	err := &cupeltest.SelectionReportAssertionError{Assertion: "HaveStyle", Expected: "style", Actual: "none"}
	if got, want := err.Error(), "HaveStyle failed: expected style, but found none."; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// A chain asserts and nothing else: the report is the same afterwards, and a
// link that holds changes neither the chain nor the test.
func TestChainChangesNothing(t *testing.T) {
	r := &report{Included: []cupel.IncludedItem{in("B", 1, 0.1), in("A", 2, 0.9)}, Excluded: []cupel.ExcludedItem{out("C", 3, 0.2, because(cupel.ExcludeFiltered))}}
	first, second, third := r.Included[0], r.Included[1], r.Excluded[0]
	s := new(spy)
	c := cupeltest.Should(s, r)
	if c.PlaceTopNScoredAtEdges(2) != c || c.HaveKindCoverageCount(2) != c || c.IncludeInOrder("B 1", "A 2") != c {
		t.Error("a link returns another chain")
	}
	if r.Included[0] != first || r.Included[1] != second || !reflect.DeepEqual(r.Excluded[0], third) || len(s.messages) > 0 || s.stopped {
		t.Error("a chain that holds had an effect")
	}
}

// The package is linked into what uses it outside of tests, where the flags
// that package testing registers have no place.
func TestLibraryDoesNotImportTesting(t *testing.T) {
	pkg, err := build.ImportDir(".", 0)
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range pkg.Imports {
		first, _, _ := strings.Cut(path, "/")
		if path == "testing" || strings.HasPrefix(path, "testing/") || strings.Contains(first, ".") && !strings.HasPrefix(path, "github.com/wollax/cupel-go/cupel") {
			t.Errorf("the library imports %s", path)
		}
	}
	if len(pkg.Imports) == 0 {
		t.Error("no imports were found")
	}
}
