package cupeltest

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
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

// MatchGolden holds if the decisions of the report equal those of the file
// testdata/NAME.golden in the current directory, which under go test is the
// directory of the test. name may contain slashes but must not lead out of
// testdata. The failure lists the items that were added, removed or moved, and
// those whose reason changed.
//
// The file is text for people to review: the included items in the order of the
// window, then the excluded ones in the order of the candidates. Each has a line
// with content, kind, source, tokens and reason, and group, form and staleness if
// set. Shortfalls and overflow follow, if any. A candidate that does not change the
// others changes one line. Long contents are cut, and identified by length and
// hash; with [WithHiddenContents], all contents are written as length and hash.
//
// If the environment variable CUPELTEST_UPDATE is 1 or true, MatchGolden writes the
// file and holds. If CI is set too, it fails.
//
// It is an addition to the vocabulary of the specification.
func (c *SelectionReportAssertionChain) MatchGolden(name string) *SelectionReportAssertionChain {
	c.tester().Helper()
	return c.link("MatchGolden", func(r *cupel.SelectionReport) *SelectionReportAssertionError {
		file := goldenFolder + "/" + name + goldenExtension
		fail := func(format string, args ...any) *SelectionReportAssertionError {
			return failure(nil, "MatchGolden(%s) failed: %s", name, fmt.Sprintf(format, args...))
		}
		local, err := filepath.Localize(name)
		if err != nil || strings.Contains(name, `\`) {
			return fail("the name must be a path below %s, with slashes and without dots as elements.", goldenFolder)
		}
		local = filepath.Join(goldenFolder, local+goldenExtension)
		data, err := os.ReadFile(local)
		got, want := c.decisions(r), strings.ReplaceAll(string(data), "\r\n", "\n") // Git may have changed the ends of lines
		switch {
		case want == got || want == new(SelectionReportAssertionChain).decisions(r):
			return nil
		case updating() && os.Getenv("CI") != "":
			return fail("%s is not written, because CI is set. Write it where you can review it.", file)
		case updating():
			if err = os.MkdirAll(filepath.Dir(local), 0o755); err == nil {
				err = os.WriteFile(local, []byte(got), 0o644)
			}
			if err != nil {
				return fail("the golden file cannot be written: %v.", err)
			}
			return nil
		case errors.Is(err, fs.ErrNotExist):
			return fail("there is no golden file %s. To write it, run the test with %s=1.", file, UpdateVariable)
		case err != nil:
			return fail("the golden file cannot be read: %v.", err)
		case c.hidden && strings.Contains(want, "\n  \""): // it shows them
			return fail("the report differs from %s, which has contents that are to be hidden. Run the test without hidden contents to see the difference.", file)
		}
		return fail("the report differs from %s:\n%s\nIf the report is right, run the test with %s=1.", file, goldenDiff(want, got), UpdateVariable)
	})
}

// updating reports whether to write golden files. A value that is not a boolean
// writes nothing.
func updating() bool {
	update, _ := strconv.ParseBool(os.Getenv(UpdateVariable))
	return update
}

func describeItem(item *cupel.ContextItem, quote func(string) string) string {
	group := ""
	if item.Group() != "" {
		group = ", group " + strconv.Quote(item.Group())
	}
	return fmt.Sprintf("%s (%s, %s, %d tokens%s)", quote(item.Content()), item.Kind(), item.Source(), item.Tokens(), group)
}

// describeEntry names the form of an included item, and an item that has a newer
// version.
func describeEntry(form int, stale bool) (text string) {
	if form > 0 {
		text = fmt.Sprintf(", form %d", form)
	}
	if stale {
		text += ", stale"
	}
	return text
}
