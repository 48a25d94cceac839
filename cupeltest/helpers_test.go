package cupeltest_test

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupel/pipeline"
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

func (s *spy) reported() []string { return s.messages }

// watch runs a test with a spy, in a goroutine that FailNow may end.
func watch(test func(t cupeltest.T)) *spy {
	s := new(spy)
	apart(func() {
		test(s)
		s.finished = true
	})
	return s
}

// apart runs what may end its goroutine.
func apart(test func()) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		test()
	}()
	<-done
}

// dryRun returns the report of a run.
func dryRun(t cupeltest.T, pipeline *pipeline.Pipeline, items []*cupel.ContextItem, budget cupel.ContextBudget) *report {
	t.Helper()
	r, _ := cupeltest.Run(t, pipeline, items, budget)
	return r
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
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			var want []string
			if row.want != "" {
				want = []string{row.want}
			}
			s := watch(func(t cupeltest.T) { row.link(cupeltest.Should(t, &row.r)) })
			require.Equal(t, want, firstLines(s.messages), row.why)
			require.Equal(t, row.want != "", s.stopped, row.why)

			s = watch(func(t cupeltest.T) { row.link(row.link(cupeltest.Expect(t, &row.r))) })
			require.Equal(t, append(want, want...), firstLines(s.messages), row.why)
			require.True(t, s.finished, row.why)

			err := errOf(&row.r, row.link)
			if row.want == "" {
				require.NoError(t, err, row.why)
				return
			}
			var failure *cupeltest.SelectionReportAssertionError
			require.ErrorAs(t, err, &failure)
			label, _, _ := strings.Cut(row.want, " failed:")
			label, _, _ = strings.Cut(label, "(")
			require.Equal(t, label, failure.Assertion)
			require.Equal(t, row.want, firstLine(failure.Error()), row.why)
		})
	}
}

// The lines after the first say what comes nearest; TestAssertionsPage has them.
func firstLine(message string) string {
	line, _, _ := strings.Cut(message, "\n")
	return line
}

func firstLines(messages []string) (lines []string) {
	for _, message := range messages {
		lines = append(lines, firstLine(message))
	}
	return lines
}

// errOf is That for one link.
func errOf(r *report, link func(c *chain) *chain) error {
	return cupeltest.That(r, func(c *chain) { link(c) })
}
