package cupeltest_test

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"strings"
	"testing"

	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupeltest"
)

// The golden files of these tests are written by hand: the variable that has
// MatchGolden write them is for the tests that set it, and CI keeps it from writing
// where they are.
func TestMain(m *testing.M) {
	update = os.Getenv(cupeltest.UpdateVariable) == "1"
	if err := errors.Join(os.Unsetenv(cupeltest.UpdateVariable), os.Setenv("CI", "true")); err != nil {
		panic(err)
	}
	os.Exit(m.Run())
}

// elsewhere takes a test to an empty folder, where MatchGolden may write.
func elsewhere(t *testing.T) {
	t.Helper()
	t.Chdir(t.TempDir())
	t.Setenv("CI", "")
}

// update is whether ASSERTIONS.md and RULES.md are to be written.
var update bool

// spy is a T that remembers. Its FailNow ends the goroutine, as that of a
// *testing.T does.
type spy struct {
	messages []string
	stopped  bool // by FailNow
	finished bool // what it was given to came to its end
}

func (s *spy) Helper() {}

func (s *spy) Errorf(format string, args ...any) {
	s.messages = append(s.messages, fmt.Sprintf(format, args...))
}

func (s *spy) FailNow() {
	s.stopped = true
	runtime.Goexit()
}

// watch runs a test with a spy, in a goroutine that FailNow may end.
func watch(test func(t cupeltest.T)) *spy {
	s := new(spy)
	done := make(chan struct{})
	go func() {
		defer close(done)
		test(s)
		s.finished = true
	}()
	<-done
	return s
}

type (
	chain  = cupeltest.SelectionReportAssertionChain
	report = cupel.SelectionReport
)

// in and out are entries of reports made by hand.
func in(kind cupel.ContextKind, tokens int, score float64) cupel.IncludedItem {
	return named(fmt.Sprintf("%s %d", kind, tokens), kind, tokens, score)
}

func named(content string, kind cupel.ContextKind, tokens int, score float64) cupel.IncludedItem {
	return cupel.IncludedItem{Item: cupeltest.Item(content, tokens, cupel.WithKind(kind)), Score: score, Reason: cupel.IncludeScored}
}

func out(kind cupel.ContextKind, tokens int, score float64, reason cupel.ExclusionReason) cupel.ExcludedItem {
	return cupel.ExcludedItem{Item: cupeltest.Item(fmt.Sprintf("%s %d", kind, tokens), tokens, cupel.WithKind(kind)), Score: score, Reason: reason}
}

func because(code cupel.ExclusionCode) cupel.ExclusionReason {
	return cupel.ExclusionReason{Code: code}
}

func exceeded(item, available int) cupel.ExclusionReason {
	return cupel.NewExclusionReason(cupel.ExcludeBudgetExceeded, cupel.ReasonData{ItemTokens: item, AvailableTokens: available})
}

// assertion is a row of a table: a link, a report, and the message with which
// it fails, "" where it holds.
type assertion struct {
	name string
	why  string
	r    report
	link func(c *chain) *chain
	want string
}

// check runs each row with the three kinds of chain.
func check(t *testing.T, rows []assertion) {
	t.Helper()
	seen := make(map[string]bool)
	for _, row := range rows {
		if seen[row.name] || row.name == "" || row.why == "" {
			t.Fatalf("the row %q has no name of its own or no reason", row.name)
		}
		seen[row.name] = true
		t.Run(row.name, func(t *testing.T) {
			var want []string
			if row.want != "" {
				want = []string{row.want}
			}
			s := watch(func(t cupeltest.T) { row.link(cupeltest.Should(t, &row.r)) })
			equalMessages(t, "Should", firstLines(s.messages), want, row.why)
			if failing := row.want != ""; s.stopped != failing || s.finished == failing {
				t.Errorf("Should stopped the test: %t", s.stopped)
			}

			s = watch(func(t cupeltest.T) { row.link(row.link(cupeltest.Expect(t, &row.r))) })
			equalMessages(t, "Expect, twice", firstLines(s.messages), append(want, want...), row.why)
			if s.stopped || !s.finished {
				t.Error("Expect stopped the test")
			}

			err := errOf(&row.r, row.link)
			if row.want == "" {
				if err != nil {
					t.Errorf("That ends in %v, but %s", err, row.why)
				}
				return
			}
			failure, ok := err.(*cupeltest.SelectionReportAssertionError)
			if !ok {
				t.Fatalf("That ends in %T, want a SelectionReportAssertionError", err)
			}
			label, _, _ := strings.Cut(row.want, " failed:")
			label, _, _ = strings.Cut(label, "(")
			if firstLine(failure.Error()) != row.want || failure.Assertion != label || failure.Expected == "" || failure.Actual == "" {
				t.Errorf("That ends in %+v (%v), want the assertion %s and the message %q", *failure, failure, label, row.want)
			}
		})
	}
}

// The lines after the first say what comes nearest; TestAssertionsPage has them.
func firstLine(message string) string {
	line, _, _ := strings.Cut(message, "\n")
	return line
}

func firstLines(messages []string) []string {
	lines := make([]string, len(messages))
	for i, message := range messages {
		lines[i] = firstLine(message)
	}
	return lines
}

func equalMessages(t *testing.T, what string, got, want []string, why string) {
	t.Helper()
	if strings.Join(got, "\n") != strings.Join(want, "\n") || len(got) != len(want) {
		t.Errorf("%s reports\n\t%s\nwant\n\t%s\nbecause %s", what, strings.Join(got, "\n\t"), strings.Join(want, "\n\t"), why)
	}
}

// errOf is That for one link.
func errOf(r *report, link func(c *chain) *chain, opts ...cupeltest.ChainOption) error {
	return cupeltest.That(r, func(c *chain) { link(c) }, opts...)
}
