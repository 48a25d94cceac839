package cli

import (
	"encoding/xml"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/wollax/cupel-go/cmd/cupel/internal/terminal"
)

// The elements of JUnit XML that all readers of it support.
type (
	junitSuites struct {
		XMLName  xml.Name     `xml:"testsuites"`
		Name     string       `xml:"name,attr"`
		Tests    int          `xml:"tests,attr"`
		Failures int          `xml:"failures,attr"`
		Errors   int          `xml:"errors,attr"`
		Suites   []junitSuite `xml:"testsuite"`
	}
	junitSuite struct {
		Name     string      `xml:"name,attr"`
		Tests    int         `xml:"tests,attr"`
		Failures int         `xml:"failures,attr"`
		Errors   int         `xml:"errors,attr"`
		Cases    []junitCase `xml:"testcase"`
	}
	junitCase struct {
		Class   string        `xml:"classname,attr"`
		Name    string        `xml:"name,attr"`
		Failure *junitMessage `xml:"failure"`
		Error   *junitMessage `xml:"error"`
	}
	junitMessage struct {
		Message string `xml:"message,attr"`
		Type    string `xml:"type,attr"`
		Text    string `xml:",chardata"`
	}
)

// writeJUnit writes one suite per file. A file whose selection failed is a suite
// with one test, which has an error.
func writeJUnit(w io.Writer, files []*checkedFile) error {
	all := junitSuites{Name: "cupel check"}
	for _, file := range files {
		suite := junitSuite{Name: shown(file.File), Failures: file.failed()}
		for _, r := range file.Results {
			test := junitCase{Class: suite.Name, Name: r.Path + " " + r.Text}
			if !r.OK {
				test.Failure = &junitMessage{Message: r.Message, Type: r.Assertion, Text: r.Why}
			}
			suite.Cases = append(suite.Cases, test)
		}
		if file.err != nil {
			suite.Errors = 1
			suite.Cases = append(suite.Cases, junitCase{Class: suite.Name, Name: "selection", Error: &junitMessage{Message: file.Error, Type: "Error"}})
		}
		suite.Tests = len(suite.Cases)
		all.Tests += suite.Tests
		all.Failures += suite.Failures
		all.Errors += suite.Errors
		all.Suites = append(all.Suites, suite)
	}
	text, err := xml.MarshalIndent(all, "", "  ")
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(w, "%s%s\n", xml.Header, text)
	return err
}

// inTable escapes what would end a cell of a table in Markdown, or begin HTML.
var inTable = strings.NewReplacer("|", "\\|", "<", "&lt;", "`", "'", "\r", "", "\n", "<br>", "\t", "")

// writeMarkdown writes a table of all checks, those that fail first.
func writeMarkdown(w io.Writer, files []*checkedFile) error {
	var failed, held strings.Builder
	for _, file := range files {
		row := func(out *strings.Builder, sign string, texts ...string) {
			fmt.Fprintf(out, "| %s | %s | %s |\n", sign, inTable.Replace(terminal.Safe(shown(file.File))), terminal.Safe(inTable.Replace(strings.Join(texts, "\n"))))
		}
		if file.err != nil {
			row(&failed, "error", file.Error)
		}
		for _, r := range file.Results {
			if r.OK {
				row(&held, "ok", r.Path+" "+r.Text)
			} else {
				row(&failed, "**failed**", slices.DeleteFunc([]string{r.Path + " " + r.Text, r.Message, r.Why}, func(text string) bool { return text == "" })...)
			}
		}
	}
	_, err := fmt.Fprintf(w, "| | file | check |\n|---|---|---|\n%s%s", failed.String(), held.String())
	return err
}

// lint writes a line for each failure, with the place of a recording if there is one.
func (c checkedFiles) lint(p *terminal.Printer) {
	for _, file := range c.Files {
		if file.err != nil {
			p.Line("%s:1: the selection failed: %s", shown(file.File), terminal.FirstLine(file.Error))
		}
		for _, r := range file.Results {
			for _, place := range r.Places {
				p.Line("%s", place)
			}
			if !r.OK && len(r.Places) == 0 {
				p.Line("%s:1: %s %s", shown(file.File), r.Path, terminal.FirstLine(r.Message))
			}
		}
	}
}
