package cli

import (
	"encoding/xml"
	"fmt"
	"io"
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
