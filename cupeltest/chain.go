package cupeltest

import (
	"fmt"
	"strings"

	"github.com/wollax/cupel-go/cupel"
)

// T is the part of *testing.T that this package uses.
//
// No methods will be added, so that implementations stay valid.
type T interface {
	Helper()
	Errorf(format string, args ...any)
	FailNow()
}

// SelectionReportAssertionChain makes assertions about one report. Each
// assertion returns the chain. [Should], [Expect] and
// [That] make a chain, and differ in what happens when an assertion fails.
//
// A failure names the nearest match: the item that should be in, and the
// reason why it is out. For a report of [Run] it adds the smallest budget that
// includes the item. To find these, a failing assertion also calls its
// predicate with excluded items.
//
// A chain is not safe for concurrent use. It does not modify the report.
//
// It implements the Chain Plumbing section of the Testing Vocabulary chapter.
type SelectionReportAssertionChain struct {
	t       T // nil outside tests
	report  *cupel.SelectionReport
	goesOn  bool // after a failure
	hidden  bool // contents
	failure error
}

// Should returns a chain that stops the test at the first failing assertion: it
// reports the failure at the assertion's line and calls t.FailNow. A nil report
// is a failure. t must not be nil.
//
// It implements SelectionReport.Should of the Testing Vocabulary chapter, as a
// function because Go cannot add a method to another package's type.
func Should(t T, report *cupel.SelectionReport, opts ...ChainOption) *SelectionReportAssertionChain {
	t.Helper()
	return newChain(&SelectionReportAssertionChain{t: t, report: report}, opts).begin("Should")
}

// Expect returns a chain that reports every failing assertion at its line and
// lets the test continue. A nil report is one failure. t must not be nil.
func Expect(t T, report *cupel.SelectionReport, opts ...ChainOption) *SelectionReportAssertionChain {
	t.Helper()
	return newChain(&SelectionReportAssertionChain{t: t, report: report, goesOn: true}, opts).begin("Expect")
}

// That returns nil if all assertions in the function hold, and otherwise a
// [*SelectionReportAssertionError]. It is for use outside tests. After the first
// failure, the remaining assertions are skipped and their predicates are not called.
func That(report *cupel.SelectionReport, assertions func(c *SelectionReportAssertionChain), opts ...ChainOption) error {
	c := newChain(&SelectionReportAssertionChain{report: report}, opts).begin("That")
	assertions(c)
	return c.failure
}

// A ChainOption is a setting of a chain.
type ChainOption func(*SelectionReportAssertionChain)

// WithHiddenContents shows the size of contents in failures instead of their
// beginning. Kinds, sources, groups, version keys and tags stay.
func WithHiddenContents() ChainOption {
	return func(c *SelectionReportAssertionChain) { c.hidden = true }
}

func newChain(c *SelectionReportAssertionChain, opts []ChainOption) *SelectionReportAssertionChain {
	for _, opt := range opts {
		opt(c)
	}
	return c
}

// SelectionReportAssertionError describes a failed assertion.
//
// It implements SelectionReportAssertionException of the Testing Vocabulary
// chapter.
type SelectionReportAssertionError struct {
	Assertion string // the method's name, such as "IncludeItemWithKind"
	// Message states the expectation and the finding, in the words that the
	// specification fixes for its assertions.
	Message string
	// Nearest lists the nearest matches of the assertion, such as "README.md
	// is excluded: BudgetExceeded, 500 tokens requested, 80 available".
	Nearest []string
}

// Error returns the message and the lines of Nearest, each after a tab. Unprintable
// characters, such as terminal escapes in a kind, are escaped.
func (e *SelectionReportAssertionError) Error() string {
	lines := strings.Split(e.Message, "\n")
	for i := range lines {
		lines[i] = oneLine(lines[i]) // kinds and names are not quoted
	}
	lines[0] = plainLine(lines[0])
	return strings.Join(append([]string{strings.Join(lines, "\n")}, e.Nearest...), "\n\t")
}

// failure is the result of an assertion that does not hold.
func failure(nearest []string, format string, args ...any) *SelectionReportAssertionError {
	return &SelectionReportAssertionError{Message: fmt.Sprintf(format, args...), Nearest: nearest}
}

// silent is the T of a chain outside tests.
type silent struct{}

func (silent) Helper()               {}
func (silent) Errorf(string, ...any) {}
func (silent) FailNow()              {}

// tester returns the T to report to. Each assertion calls Helper itself, since
// Helper marks its caller.
func (c *SelectionReportAssertionChain) tester() T {
	if c.t == nil {
		return silent{}
	}
	return c.t
}

// begin fails at once if there is no report: even a chain without assertions
// must fail then, and one with many must fail once.
func (c *SelectionReportAssertionChain) begin(name string) *SelectionReportAssertionChain {
	c.tester().Helper()
	if c.report == nil {
		c.fail(name, failure(nil, "%s failed: expected a report, but found nil.", name))
	}
	return c
}

// link checks one assertion, unless the chain has already ended.
func (c *SelectionReportAssertionChain) link(name string, check func(r *cupel.SelectionReport) *SelectionReportAssertionError) *SelectionReportAssertionChain {
	c.tester().Helper()
	if c.report == nil || c.failure != nil && !c.goesOn {
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
	c.failure = failure
	t.Errorf("%v", failure)
	if !c.goesOn {
		t.FailNow()
	}
}

// linkOf is link for an assertion with a predicate. A nil one is a mistake in the
// test, which must not look like a missing item.
func (c *SelectionReportAssertionChain) linkOf(name string, none bool, check func(r *cupel.SelectionReport) *SelectionReportAssertionError) *SelectionReportAssertionChain {
	c.tester().Helper()
	if none {
		check = func(*cupel.SelectionReport) *SelectionReportAssertionError {
			return failure(nil, "%s failed: the predicate is nil.", name)
		}
	}
	return c.link(name, check)
}
