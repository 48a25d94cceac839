// Package assertions reads files of checks in TOML: the assertions of the
// specification's testing vocabulary and the additions of cupeltest. CHECKS.md
// describes the format.
package assertions

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupel/pipeline"
	"github.com/wollax/cupel-go/cupel/policy"
	"github.com/wollax/cupel-go/cupeltest"
	"github.com/wollax/cupel-go/cupeltoml"
)

// File is the content of a file of checks.
type File struct {
	Selection Selection
	Checks    []Check // at least one, unless Selection.Error is set
}

// Selection is the [selection] table: what to select from, and how. Fields that
// the file omits are zero.
type Selection struct {
	Items, Format, Encoding string
	Policy, Query           string
	Budget, Target, Reserve *int // in tokens
	Slots                   map[string]int
	Margin                  *float64 // in percent
	// Error is the name of the expected error, a key of Errors, or "" if the
	// selection must succeed.
	Error string
}

// Check is one assertion.
type Check struct {
	Path string // in the file: "checks[2]"
	Name string // of the assertion: "IncludeItemWithKind"
	Text string // the name and its arguments
	Why  string // the reason given in the file, or ""

	holds func(Subject) error
}

// Subject is what checks are run against.
type Subject struct {
	Pipeline *pipeline.Pipeline
	Items    []*cupel.ContextItem
	Budget   cupel.ContextBudget
	Report   *cupel.SelectionReport // of a dry run of the above
	Options  []cupeltest.ChainOption
}

// Run returns nil if the assertion holds, and otherwise the error of cupeltest: a
// [*cupeltest.SelectionReportAssertionError] for all assertions but
// Deterministic.
func (c Check) Run(s Subject) error { return c.holds(s) }

// Errors are the errors that a file may expect of a selection, by name.
var Errors = map[string]error{
	"PinnedExceedsBudget": pipeline.ErrPinnedExceedsBudget,
	"Overflow":            pipeline.ErrOverflow,
	"Scarcity":            cupel.ErrScarcity,
}

// Problem is one mistake in a file.
type Problem struct {
	Path   string // "checks[2].kind"; "" for the file as a whole
	Reason string
}

// FileError lists every mistake in a file.
type FileError struct{ Problems []Problem }

func (e *FileError) Error() string {
	lines := make([]string, len(e.Problems))
	for i, p := range e.Problems {
		lines[i] = p.Reason
		if p.Path != "" {
			lines[i] = p.Path + ": " + p.Reason
		}
	}
	if len(lines) == 1 {
		return lines[0]
	}
	return fmt.Sprintf("%d problems\n\t%s", len(lines), strings.Join(lines, "\n\t"))
}

// MaxBytes is the maximum length of a file.
const MaxBytes = policy.MaxBytes

// Globs compiles a pattern to a function that reports whether a content matches.
type Globs func(pattern string) (matches func(content string) bool, err error)

// Decode reads a file; globs compiles its patterns. It fails with a [FileError]
// that lists every mistake; for an unknown name it lists the known ones.
func Decode(data []byte, globs Globs) (*File, error) {
	r := &reader{globs: globs}
	f := r.file(data)
	if len(r.problems) > 0 {
		return nil, &FileError{r.problems}
	}
	return f, nil
}

func (r *reader) file(data []byte) *File {
	values, err := cupeltoml.Parse(data, policy.MaxBytes)
	if err != nil {
		if invalid, ok := errors.AsType[*cupeltoml.ParseError](err); ok {
			r.problems = append(r.problems, Problem{Reason: shorten(invalid.Reason, maxReason)})
		} else {
			r.fail("", "%v", err)
		}
		return nil
	}
	top := r.table(values, "")
	f := &File{Selection: r.selection(top.table("selection"))}
	for i, each := range top.tables("checks") {
		f.Checks = append(f.Checks, each.check(fmt.Sprintf("checks[%d]", i)))
	}
	top.end()
	switch {
	case f.Selection.Error != "" && len(f.Checks) > 0:
		r.fail("checks", "must be absent if selection.error is set: a failed selection has nothing to check")
	case f.Selection.Error == "" && len(f.Checks) == 0 && len(r.problems) == 0:
		r.fail("checks", "is required: a file without checks cannot fail; add [[checks]] with an assert")
	}
	return f
}

func (r *reader) selection(t *table) Selection {
	if t == nil {
		return Selection{}
	}
	s := Selection{
		Items: t.text("items"), Format: t.text("format"), Encoding: t.text("encoding"),
		Policy: t.text("policy"), Query: t.text("query"),
		Budget: t.optionalInt("budget"), Target: t.optionalInt("target"), Reserve: t.optionalInt("reserve"),
		Margin: t.optionalFloat("margin"),
	}
	if slots := t.table("reserve_kind"); slots != nil {
		s.Slots = make(map[string]int)
		for _, kind := range slots.names() {
			s.Slots[kind] = slots.integer(kind)
		}
	}
	s.Error = t.text("error")
	if _, known := Errors[s.Error]; s.Error != "" && !known {
		t.fail("error", "%q is unknown; want one of %s", s.Error, strings.Join(sortedNames(Errors), ", "))
	}
	t.end()
	return s
}

// check reads one check. If its assertion is unknown, it reads nothing else.
func (t *table) check(path string) Check {
	c := Check{Path: path}
	given, ok := t.requiredText("assert")
	if !ok {
		return c
	}
	at := slices.IndexFunc(vocabulary, func(a assertion) bool { return a.name == given || snake(a.name) == given })
	if at < 0 {
		var names []string
		for _, a := range vocabulary {
			names = append(names, snake(a.name))
		}
		t.fail("assert", "%q is unknown; want one of %s", given, strings.Join(names, ", "))
		return c
	}
	c.Name = vocabulary[at].name
	c.Why = t.text("why")
	before := len(t.read)
	c.holds = vocabulary[at].read(t)
	c.Text = c.Name
	for _, name := range t.read[before:] {
		if value, ok := t.values[name]; ok {
			c.Text += " " + name + "=" + show(value)
		}
	}
	t.end()
	return c
}
