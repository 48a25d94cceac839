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

// A GoldenOption is a setting of MatchGolden.
type GoldenOption func(*goldenOptions)

type goldenOptions struct{ details bool }

// WithDetails adds to a golden file what changes with every other candidate: places,
// scores, the data of reasons such as the tokens that were available, totals and
// events.
func WithDetails() GoldenOption { return func(o *goldenOptions) { o.details = true } }

// MatchGolden holds if the decisions of the report are those of the file
// testdata/NAME.golden in the current directory, which under go test is the
// directory of the test. name may contain slashes but must not lead out of
// testdata. The failure lists the items that came, went and moved, and those whose
// reason changed.
//
// The file is text for people to review: the included items in the order of the
// window, then the excluded ones in the order of the candidates, a line each with
// content, kind, source, tokens and reason, and where they are set group, form and
// staleness; then shortfalls and overflow, if any. A candidate that does not change
// the others changes one line. Long contents are cut and identified by length and
// hash; with [WithHiddenContents] all are, in files that it writes. [WithDetails] adds scores and more.
//
// If the environment variable CUPELTEST_UPDATE is 1 or true, MatchGolden writes the
// file and holds, except if CI is set: then it fails.
//
// It is an addition to the vocabulary of the specification.
func (c *SelectionReportAssertionChain) MatchGolden(name string, opts ...GoldenOption) *SelectionReportAssertionChain {
	c.tester().Helper()
	return c.link("MatchGolden", func(r *cupel.SelectionReport) *SelectionReportAssertionError {
		failure := &SelectionReportAssertionError{Expected: "the report in " + goldenFolder + "/" + name + goldenExtension}
		fail := func(format string, args ...any) *SelectionReportAssertionError {
			failure.Actual = fmt.Sprintf(format, args...)
			failure.message = fmt.Sprintf("MatchGolden(%s) failed: %s", name, failure.Actual)
			return failure
		}
		// os.Root refuses symbolic links that lead outside.
		if !fs.ValidPath(name) || name == "." || strings.Contains(name, `\`) || !filepath.IsLocal(filepath.FromSlash(name)) {
			return fail("the name must be a path below %s, with slashes and without dots as elements.", goldenFolder)
		}
		var options goldenOptions
		for _, opt := range opts {
			opt(&options)
		}
		got := c.decisions(r, options.details)
		want, err := readGolden(name)
		shows := c.hidden && strings.Contains(want, "\n  \"")
		switch {
		case want == got || want == new(SelectionReportAssertionChain).decisions(r, options.details):
			return nil
		case updating() && inCI():
			return fail("%s/%s%s is not written, because CI is set. Write it where you can review it.", goldenFolder, name, goldenExtension)
		case updating():
			if err := writeGolden(name, got); err != nil {
				return fail("the golden file cannot be written: %v.", err)
			}
			return nil
		case errors.Is(err, fs.ErrNotExist):
			return fail("there is no golden file %s/%s%s. To write it, run the test with %s=1.", goldenFolder, name, goldenExtension, UpdateVariable)
		case err != nil:
			return fail("the golden file cannot be read: %v.", err)
		case shows:
			return fail("the report differs from %s/%s%s, which has contents that are to be hidden. Run the test without hidden contents to see the difference.",
				goldenFolder, name, goldenExtension)
		}
		return fail("the report differs from %s/%s%s:\n%s\nIf the report is right, run the test with %s=1.",
			goldenFolder, name, goldenExtension, goldenDiff(want, got), UpdateVariable)
	})
}

// updating reports whether golden files are to be written. A value that is not a
// boolean writes nothing.
func updating() bool {
	update, _ := strconv.ParseBool(os.Getenv(UpdateVariable))
	return update
}

// inCI reports whether this is a run of a CI server, which sets CI to true or to
// its name.
func inCI() bool {
	value := os.Getenv("CI")
	is, err := strconv.ParseBool(value)
	return is || err != nil && value != ""
}

func inGoldenFolder(do func(*os.Root) error) error {
	root, err := os.OpenRoot(goldenFolder)
	if err != nil {
		return err
	}
	return errors.Join(do(root), root.Close())
}

func readGolden(name string) (text string, err error) {
	err = inGoldenFolder(func(root *os.Root) error {
		data, err := root.ReadFile(filepath.FromSlash(name) + goldenExtension)
		text = strings.ReplaceAll(string(data), "\r\n", "\n") // Git may have changed the ends of lines
		return err
	})
	return text, err
}

func writeGolden(name, text string) error {
	if err := os.MkdirAll(goldenFolder, 0o755); err != nil {
		return err
	}
	return inGoldenFolder(func(root *os.Root) error {
		if folder := path.Dir(name); folder != "." {
			if err := root.MkdirAll(filepath.FromSlash(folder), 0o755); err != nil {
				return err
			}
		}
		return root.WriteFile(filepath.FromSlash(name)+goldenExtension, []byte(text), 0o644)
	})
}

func describeItem(item *cupel.ContextItem, quote func(string) string) string {
	group := ""
	if item.Group() != "" {
		group = ", group " + strconv.Quote(item.Group())
	}
	return fmt.Sprintf("%s (%s, %s, %d tokens%s)", quote(item.Content()), item.Kind(), item.Source(), item.Tokens(), group)
}

func describeStale(stale bool) string {
	if stale {
		return ", stale"
	}
	return ""
}
