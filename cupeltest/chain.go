package cupeltest

import (
	"errors"

	"github.com/wollax/cupel-go/cupel"
)

// T is what this package needs of a *testing.T.
//
// It is frozen: no method will ever be added, so that whatever implements it
// goes on doing so.
type T interface {
	Helper()
	Errorf(format string, args ...any)
	FailNow()
}

// SelectionReportAssertionChain asserts over one report, link by link. Each
// link returns the chain. [Should], [Expect] and [That] make one; they differ
// in what happens when a link fails.
//
// A chain is for one goroutine. It reads the report and changes nothing.
//
// It implements the Chain Plumbing section of the Testing Vocabulary chapter.
type SelectionReportAssertionChain struct {
	t        T // nil outside of tests
	report   *cupel.SelectionReport
	goesOn   bool // after a failure
	failures []error
}

// Should returns a chain whose first failing link ends the test: it reports
// the failure at the line of the link and calls t.FailNow. A nil report is a
// failure as well. t must not be nil.
//
// It implements SelectionReport.Should of the Testing Vocabulary chapter; Go
// has no way to add the method to the report.
func Should(t T, report *cupel.SelectionReport) *SelectionReportAssertionChain {
	t.Helper()
	return (&SelectionReportAssertionChain{t: t, report: report}).begin("Should")
}

// Expect returns a chain that reports every failing link, each at its line,
// and lets the test go on. A nil report is one failure. t must not be nil.
func Expect(t T, report *cupel.SelectionReport) *SelectionReportAssertionChain {
	t.Helper()
	return (&SelectionReportAssertionChain{t: t, report: report, goesOn: true}).begin("Expect")
}

// That returns a chain for use outside of tests, which ends in
// [SelectionReportAssertionChain.Err]. Links after the first that fails are
// skipped, and their predicates are not called.
func That(report *cupel.SelectionReport) *SelectionReportAssertionChain {
	return (&SelectionReportAssertionChain{report: report}).begin("That")
}

// Err returns nil when every link held, and otherwise what failed: a
// [*SelectionReportAssertionError]. A chain of [Expect] with several failures
// returns them joined.
func (c *SelectionReportAssertionChain) Err() error {
	if c.report == nil && len(c.failures) == 0 {
		c.begin("That") // a chain that nothing made asserts nothing, and must not pass
	}
	if len(c.failures) == 1 {
		return c.failures[0]
	}
	return errors.Join(c.failures...)
}

// SelectionReportAssertionError is a link that failed.
//
// It implements SelectionReportAssertionException of the Testing Vocabulary
// chapter.
type SelectionReportAssertionError struct {
	Assertion string // the name of the link: "IncludeItemWithKind"
	Expected  string // what the link asked for
	Actual    string // what the report has
	message   string // by the chapter's template
}

// Error returns the message that the chapter fixes for the assertion.
func (e *SelectionReportAssertionError) Error() string {
	if e.message != "" {
		return e.message
	}
	return e.Assertion + " failed: expected " + e.Expected + ", but found " + e.Actual + "."
}

// silent takes the place of a T outside of tests.
type silent struct{}

func (silent) Helper()               {}
func (silent) Errorf(string, ...any) {}
func (silent) FailNow()              {}

// tester returns the T to speak to. Links call its Helper themselves: it marks
// the function that calls it.
func (c *SelectionReportAssertionChain) tester() T {
	if c.t == nil {
		return silent{}
	}
	return c.t
}

// begin fails at once when there is nothing to assert over: a chain without a
// link must not pass then, and one with many must not say it many times.
func (c *SelectionReportAssertionChain) begin(name string) *SelectionReportAssertionChain {
	c.tester().Helper()
	if c.report == nil {
		c.fail(name, &SelectionReportAssertionError{Expected: "a report", Actual: "nil"})
	}
	return c
}

// link checks one assertion, unless there is no point any more.
func (c *SelectionReportAssertionChain) link(name string, check func(r *cupel.SelectionReport) *SelectionReportAssertionError) *SelectionReportAssertionChain {
	c.tester().Helper()
	if c.report == nil || len(c.failures) > 0 && !c.goesOn {
		return c
	}
	if failure := check(c.report); failure != nil {
		c.fail(name, failure)
	}
	return c
}

func (c *SelectionReportAssertionChain) fail(name string, failure *SelectionReportAssertionError) {
	t := c.tester()
	t.Helper()
	failure.Assertion = name
	c.failures = append(c.failures, failure)
	t.Errorf("%v", failure)
	if !c.goesOn {
		t.FailNow()
	}
}

// nilPredicate is the failure of a link that was given no predicate: a mistake
// in the test, which must not look like an item that is missing.
func nilPredicate(name string) *SelectionReportAssertionError {
	return &SelectionReportAssertionError{
		Expected: "a predicate", Actual: "nil",
		message: name + " failed: the predicate is nil.",
	}
}
