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

// UpdateVariable is the environment variable that has
// [SelectionReportAssertionChain.MatchGolden] write its files: set it to 1.
const UpdateVariable = "CUPELTEST_UPDATE"

const (
	goldenFolder    = "testdata"
	goldenExtension = ".golden"
)

// MatchGolden holds when the report is the one in the file
// testdata/NAME.golden in the current folder, which during go test is the
// folder of the test. name may have folders, with slashes; one that would lead
// out of testdata is refused. The message shows the lines that differ.
//
// The file is text: the events, every included and excluded item in order
// (content, kind, source, tokens, score, reason), totals, shortfalls and
// overflow. Durations and timestamps are left out, so that it depends on
// nothing but the decisions. Long contents are cut and told apart by length
// and hash. Excluded items of equal score come in the order of the stage
// that left them out, then of their position among the candidates.
//
// It writes the file, and holds, when the environment variable
// CUPELTEST_UPDATE is 1 or true, and never otherwise.
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
		update, _ := strconv.ParseBool(os.Getenv(UpdateVariable)) // anything that is not true leaves the files alone
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
		return fail("the report is not that of %s/%s%s (- golden file, + report):\n%s\nIf the report is right, run the test with %s=1.",
			goldenFolder, name, goldenExtension, diff(want, got), UpdateVariable)
	})
}

// badGoldenName says why a name is refused, or nothing. What a link in the
// file system does to a name is for [os.Root] to refuse.
func badGoldenName(name string) string {
	switch {
	case name == "":
		return "is empty"
	case name == "." || strings.HasSuffix(name, "/"):
		return "is that of a folder"
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

// describe returns the report as text, without durations and times, one line a
// decision: what a name holds does not make another line.
func describe(r *cupel.SelectionReport) string {
	var b strings.Builder
	line := func(format string, args ...any) { b.WriteString(oneLine(fmt.Sprintf(format, args...)) + "\n") }
	line("candidates: %d, %d tokens", r.TotalCandidates, r.TotalTokensConsidered)
	line("")
	line("included: %d, %d tokens", len(r.Included), includedTokens(r))
	for _, entry := range r.Included {
		line("  %s: score %s, %s", describeItem(entry.Item), score(entry.Score), entry.Reason)
	}
	line("")
	line("excluded: %d", len(r.Excluded))
	for _, entry := range r.Excluded {
		line("  %s: score %s, %s", describeItem(entry.Item), score(entry.Score), describeReason(entry.Reason))
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
	return fmt.Sprintf("%s (%s, %s, %d tokens)", quote(item.Content()), item.Kind(), item.Source(), item.Tokens())
}
