package cupeltest

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/wollax/cupel-go/cupel"
)

// UpdateVariable is the environment variable that makes
// [SelectionReportAssertionChain.MatchGolden] write its files. Set it to 1.
const UpdateVariable = "CUPELTEST_UPDATE"

const (
	goldenFolder    = "testdata"
	goldenExtension = ".golden"
)

// MatchGolden holds if the report equals the file testdata/NAME.golden in the
// current directory, which under go test is the directory of the test. name may
// contain slashes but must not lead out of testdata. The message shows the
// lines that differ.
//
// The file is text: the events, every included and excluded item in order
// (content, kind, source, tokens, score, reason; where they are set, group,
// form and staleness), totals, shortfalls and overflow. It leaves out durations and timestamps, so that it depends only on
// the decisions. Long contents are cut and identified by length and hash.
// Excluded items of equal score are ordered by stage, then by candidate.
//
// If the environment variable CUPELTEST_UPDATE is 1 or true, it writes the file
// and holds.
//
// It is an addition to the vocabulary of the specification.
func (c *SelectionReportAssertionChain) MatchGolden(name string) *SelectionReportAssertionChain {
	c.tester().Helper()
	return c.link("MatchGolden", func(r *cupel.SelectionReport) *SelectionReportAssertionError {
		failure := &SelectionReportAssertionError{Expected: "the report in " + goldenFolder + "/" + name + goldenExtension}
		fail := func(format string, args ...any) *SelectionReportAssertionError {
			failure.Actual = fmt.Sprintf(format, args...)
			failure.message = fmt.Sprintf("MatchGolden(%s) failed: %s", name, failure.Actual)
			return failure
		}
		if problem := badGoldenName(name); problem != "" {
			return fail("the name %s.", problem)
		}
		update, _ := strconv.ParseBool(os.Getenv(UpdateVariable)) // any other value writes nothing
		got := describe(r)
		want, err := readGolden(name)
		switch {
		case err == nil && want == got:
			return nil
		case update:
			if err := writeGolden(name, got); err != nil {
				return fail("the golden file cannot be written: %v.", err)
			}
			return nil
		case errors.Is(err, fs.ErrNotExist):
			return fail("there is no golden file %s/%s%s. To write it, run the test with %s=1.", goldenFolder, name, goldenExtension, UpdateVariable)
		case err != nil:
			return fail("the golden file cannot be read: %v.", err)
		}
		return fail("the report differs from %s/%s%s (- golden file, + report):\n%s\nIf the report is right, run the test with %s=1.",
			goldenFolder, name, goldenExtension, diff(want, got), UpdateVariable)
	})
}

// badGoldenName returns why a name is refused, or "". [os.Root] refuses
// symbolic links that lead outside.
func badGoldenName(name string) string {
	switch {
	case name == "":
		return "is empty"
	case name == "." || strings.HasSuffix(name, "/"):
		return "is a directory"
	case !fs.ValidPath(name) || strings.Contains(name, `\`) || !filepath.IsLocal(filepath.FromSlash(name)):
		return "must be a path below " + goldenFolder + ", with slashes and without dots as elements"
	}
	return ""
}

func readGolden(name string) (string, error) {
	root, err := os.OpenRoot(goldenFolder)
	if err != nil {
		return "", err
	}
	data, err := root.ReadFile(filepath.FromSlash(name) + goldenExtension)
	// Git may have changed the ends of lines.
	return strings.ReplaceAll(string(data), "\r\n", "\n"), errors.Join(err, root.Close())
}

func writeGolden(name, text string) error {
	if err := os.MkdirAll(goldenFolder, 0o755); err != nil {
		return err
	}
	root, err := os.OpenRoot(goldenFolder)
	if err != nil {
		return err
	}
	if folder := path.Dir(name); folder != "." {
		err = root.MkdirAll(filepath.FromSlash(folder), 0o755)
	}
	if err == nil {
		err = root.WriteFile(filepath.FromSlash(name)+goldenExtension, []byte(text), 0o644)
	}
	return errors.Join(err, root.Close())
}

// describe returns the report as text, without durations and times, with one
// line per decision: line breaks in names are escaped.
func describe(r *cupel.SelectionReport) string {
	var b strings.Builder
	line := func(format string, args ...any) { b.WriteString(oneLine(fmt.Sprintf(format, args...)) + "\n") }
	line("candidates: %d, %d tokens", r.TotalCandidates, r.TotalTokensConsidered)
	line("")
	line("included: %d, %d tokens", len(r.Included), includedTokens(r))
	for _, entry := range r.Included {
		form := ""
		if n := entry.Form(); n > 0 {
			form = fmt.Sprintf(", form %d", n)
		}
		line("  %s: score %s, %s%s%s", describeItem(entry.Item), score(entry.Score), entry.Reason, form, describeStale(entry.Stale()))
	}
	line("")
	line("excluded: %d", len(r.Excluded))
	for _, entry := range r.Excluded {
		line("  %s: score %s, %s%s", describeItem(entry.Item), score(entry.Score), describeReason(entry.Reason, quote), describeStale(entry.Stale()))
	}
	if len(r.CountRequirementShortfalls) > 0 {
		line("")
		line("shortfalls: %d", len(r.CountRequirementShortfalls))
		for _, shortfall := range r.CountRequirementShortfalls {
			line("  %s has %d of %d required items", shortfall.Kind, shortfall.SatisfiedCount, shortfall.RequiredCount)
		}
	}
	if over := r.Overflow; over != nil {
		line("")
		line("overflow: %d items, %d tokens above the target of %d", len(over.OverflowingItems), over.TokensOverBudget, over.Budget.TargetTokens())
	}
	if len(r.Events) > 0 {
		line("")
		line("events: %d", len(r.Events))
		for _, event := range r.Events {
			message := ""
			if event.Message != "" {
				message = ", " + strconv.Quote(event.Message)
			}
			line("  %s: %d%s", event.Stage, event.ItemCount, message)
		}
	}
	return b.String()
}

func describeItem(item *cupel.ContextItem) string {
	group := ""
	if item.Group() != "" {
		group = ", group " + quote(item.Group())
	}
	return fmt.Sprintf("%s (%s, %s, %d tokens%s)", quote(item.Content()), item.Kind(), item.Source(), item.Tokens(), group)
}

func describeStale(stale bool) string {
	if stale {
		return ", stale"
	}
	return ""
}
