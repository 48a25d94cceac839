package cli

import (
	"encoding/xml"
	"errors"
	"fmt"
	"io"

	"github.com/wollax/cupel-go/cupeltest"
)

// checksJSON is what --json prints.
type checksJSON struct {
	Checks int             `json:"checks"`
	Failed int             `json:"failed"`
	Files  []checkFileJSON `json:"files"`
}

type checkFileJSON struct {
	File   string      `json:"file"`
	Error  string      `json:"error,omitempty"` // why there is no selection
	Checks []checkJSON `json:"checks"`
}

type checkJSON struct {
	Path      string `json:"path"`
	Assertion string `json:"assertion"`
	Text      string `json:"text"`
	Why       string `json:"why,omitempty"`
	OK        bool   `json:"ok"`
	Message   string `json:"message,omitempty"`
	Expected  string `json:"expected,omitempty"`
	Actual    string `json:"actual,omitempty"`
}

func jsonChecks(files []*checkedFile) checksJSON {
	all := checksJSON{Files: []checkFileJSON{}}
	for _, file := range files {
		shows := checkFileJSON{File: file.name, Checks: []checkJSON{}}
		if file.err != nil {
			shows.Error = message(file.err)
		}
		for _, r := range file.results {
			check := checkJSON{Path: r.Path, Assertion: r.Name, Text: r.Text, Why: r.Why, OK: r.err == nil}
			if r.err != nil {
				check.Message = r.err.Error()
			}
			if failure, ok := errors.AsType[*cupeltest.SelectionReportAssertionError](r.err); ok {
				check.Expected, check.Actual = failure.Expected, failure.Actual
			}
			shows.Checks = append(shows.Checks, check)
		}
		all.Checks += len(file.results)
		all.Failed += file.failed()
		all.Files = append(all.Files, shows)
	}
	return all
}

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
		suite := junitSuite{Name: shown(file.name), Failures: file.failed()}
		for _, r := range file.results {
			test := junitCase{Class: suite.Name, Name: r.Path + " " + r.Text}
			if r.err != nil {
				test.Failure = &junitMessage{Message: r.err.Error(), Type: r.Name, Text: r.Why}
			}
			suite.Cases = append(suite.Cases, test)
		}
		if file.err != nil {
			suite.Errors = 1
			suite.Cases = append(suite.Cases, junitCase{Class: suite.Name, Name: "selection", Error: &junitMessage{
				Message: message(file.err), Type: "Error",
			}})
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
