// Package assertions reads files of checks in TOML: the assertions of the
// specification's testing vocabulary and the additions of cupeltest. CHECKS.md
// describes the format.
package assertions

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/BurntSushi/toml"

	"github.com/wollax/cupel-go/cmd/cupel/internal/terminal"
	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupel/policy"
	"github.com/wollax/cupel-go/cupeltest"
	"github.com/wollax/cupel-go/cupeltoml"
)

// File is the content of a file of checks.
type File struct {
	Selection Selection
	Checks    []Check // at least one
}

// Selection is the [selection] table: the candidates, and how to select from
// them. Fields that the file omits are zero.
type Selection struct {
	Items, Format, Encoding string
	Policy, Query           string
	Budget, Reserve         int     // in tokens
	Margin                  float64 // in percent
	Recordings              string  // for KeepFact: a file, or a folder
	Session                 bool    // the recordings are replayed in sessions
}

// Check is one assertion.
type Check struct {
	Path string // in the file: "checks[2]"
	Name string // of the assertion: "IncludeItemWithKind"
	Text string // the name and its arguments
	Why  string // the reason given in the file, or ""

	// Run returns nil if the assertion holds, and otherwise a
	// [*cupeltest.SelectionReportAssertionError], or the error of Subject.Keeps.
	Run func(Subject) error
}

// Subject is what checks are run against.
type Subject struct {
	Budget  cupel.ContextBudget
	Report  *cupel.SelectionReport // of a dry run
	Options []cupeltest.ChainOption
	Keeps   func(fact string) error // whether the recordings keep a value
}

// MaxBytes is the maximum length of a file.
const MaxBytes = policy.MaxBytes

// Globs returns the function that reports whether a content matches a pattern.
type Globs func(pattern string) (matches func(content string) bool)

// Decode reads a file; globs reads its patterns. Its error lists every
// mistake with its path, and the known names for an unknown one.
func Decode(data []byte, globs Globs) (*File, error) {
	if _, err := cupeltoml.Parse(data, MaxBytes); err != nil {
		return nil, errors.New(strings.TrimPrefix(err.Error(), "cupel: "))
	}
	var file struct {
		Selection Selection
		Checks    []arguments
	}
	var names struct{ Checks []map[string]any } // that each check has
	decoded, err := toml.Decode(string(data), &file)
	if err == nil {
		_, err = toml.Decode(string(data), &names)
	}
	if err != nil {
		return nil, errors.New(strings.TrimPrefix(err.Error(), "toml: "))
	}
	r := &reader{globs: globs}
	for _, key := range decoded.Undecoded() {
		r.fail(key.String(), "is unknown")
	}
	f := &File{Selection: file.Selection}
	for i := range file.Checks {
		r.at = "checks[" + strconv.Itoa(i) + "]"
		f.Checks = append(f.Checks, r.check(&file.Checks[i], names.Checks[i]))
	}
	if len(f.Checks) == 0 {
		r.fail("checks", "is required: a file without checks cannot fail; add [[checks]] with an assert")
	}
	switch len(r.problems) {
	case 0:
		return f, nil
	case 1:
		return nil, errors.New(r.problems[0])
	}
	return nil, fmt.Errorf("%d problems\n\t%s", len(r.problems), strings.Join(r.problems, "\n\t"))
}

// reader collects the mistakes in a file.
type reader struct {
	globs    Globs
	at       string // the check that is read
	problems []string
}

func (r *reader) fail(path, format string, args ...any) {
	r.problems = append(r.problems, path+": "+fmt.Sprintf(format, args...))
}

// wrong reports a mistake in an argument.
func (r *reader) wrong(name, format string, args ...any) { r.fail(r.at+"."+name, format, args...) }

// check reads one check, given the names that it has.
func (r *reader) check(a *arguments, given map[string]any) Check {
	c := Check{Path: r.at, Why: a.Why}
	before := len(r.problems)
	at := slices.IndexFunc(vocabulary, func(v assertion) bool { return v.name == a.Assert || snake(v.name) == a.Assert })
	if at < 0 {
		var names []string
		for _, v := range vocabulary {
			names = append(names, snake(v.name))
		}
		r.wrong("assert", "%q is unknown; want one of %s", a.Assert, strings.Join(names, ", "))
		return c
	}
	v := vocabulary[at]
	c.Name, c.Text = v.name, v.name
	takes := strings.Fields(v.takes)
	for _, name := range takes {
		value, ok := given[name]
		if !ok {
			r.wrong(name, "is required here")
			continue
		}
		if text, ok := value.(string); ok && strings.TrimSpace(text) == "" {
			r.wrong(name, "must not be blank")
		}
		c.Text += " " + name + "=" + show(value)
	}
	for _, name := range slices.Sorted(maps.Keys(given)) {
		if name != "assert" && name != "why" && !slices.Contains(takes, name) {
			r.wrong(name, "does not belong to %s, which takes %q", v.name, takes)
		}
	}
	if len(r.problems) > before {
		return c
	}
	a.check(r)
	if a.N < v.least || a.N < 0 || v.takes == "threshold" && !(a.Threshold > 0) {
		r.fail(r.at, "%s is out of range, or would always hold", strings.TrimPrefix(c.Text, v.name+" "))
	}
	c.Run = func(s Subject) error { return a.holds(v.name, s) }
	return c
}

// show formats a value as JSON, truncating long ones.
func show(v any) string {
	var b strings.Builder
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(v); err != nil {
		return fmt.Sprint(v) // a number that is not finite
	}
	return terminal.Cut(strings.TrimSpace(b.String()), 200)
}
