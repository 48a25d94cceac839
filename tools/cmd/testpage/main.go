// Command testpage writes docs/testing.md, which says what is tested how.
//
//	go -C tools run ./cmd/testpage [flags]
//
// The text is in page.md.tmpl, and its numbers are in docs/testing.json. Numbers
// that are quick to count are counted; the others are measured with -measure,
// which runs all tests, or read from the output of make mutants with -mutants, and
// keep the date on which they were.
//
// With -check the command changes nothing, and fails if the page is not what the
// numbers make, or if a count is more than 5 % from the number on the page: the
// page need not change with each test.
package main

import (
	_ "embed"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"text/template"
	"time"
)

//go:embed page.md.tmpl
var page string

// numbers are what the page says.
type numbers struct {
	Counted  counted  `json:"counted"`
	Measured measured `json:"measured"`
}

func main() {
	root := flag.String("root", "..", "root of the repository")
	check := flag.Bool("check", false, "fail if the page is stale, and write nothing")
	measure := flag.Bool("measure", false, "run all tests and measure the core's coverage (minutes)")
	mutants := flag.String("mutants", "", "`file` with the output of make mutants, to read rates from")
	flag.Parse()
	if err := run(*root, *check, *measure, *mutants); err != nil {
		fmt.Fprintln(os.Stderr, "testpage:", err)
		os.Exit(1)
	}
}

func run(root string, check, measure bool, mutants string) error {
	known, err := read(root)
	if err != nil && (check || !os.IsNotExist(err)) {
		return err
	}
	now, err := count(root)
	if err != nil {
		return err
	}
	doc := filepath.Join(root, "docs", "testing.md")
	if check {
		if err := stale(known.Counted, now); err != nil {
			return err
		}
		want, err := render(known)
		if err != nil {
			return err
		}
		if got, err := os.ReadFile(doc); err != nil || string(got) != want {
			return errors.Join(errors.New("docs/testing.md is not what docs/testing.json and page.md.tmpl make: run make testing-page"), err)
		}
		return nil
	}
	known.Counted = now
	today := time.Now().UTC().Format(time.DateOnly)
	if measure {
		if err := known.Measured.tests(root, today); err != nil {
			return err
		}
	}
	if mutants != "" {
		if err := known.Measured.mutants(mutants, today); err != nil {
			return err
		}
	}
	data, err := json.MarshalIndent(known, "", "  ")
	if err != nil {
		return err
	}
	if err := os.WriteFile(numbersFile(root), append(data, '\n'), 0o600); err != nil {
		return err
	}
	text, err := render(known)
	if err != nil {
		return err
	}
	return os.WriteFile(doc, []byte(text), 0o600)
}

func numbersFile(root string) string { return filepath.Join(root, "docs", "testing.json") }

func read(root string) (known numbers, err error) {
	data, err := os.ReadFile(numbersFile(root))
	if err == nil {
		err = json.Unmarshal(data, &known)
	}
	return known, err
}

// stale compares the counts on the page with those of now.
func stale(was, now counted) error {
	x, y := was.all(), now.all()
	for name, is := range y {
		if math.Abs(float64(is-x[name])) > 0.05*float64(max(is, 20)) {
			return fmt.Errorf("docs/testing.md says %d %s, and there are %d: run make testing-page", x[name], name, is)
		}
	}
	return nil
}

func render(n numbers) (string, error) {
	t, err := template.New("page").Option("missingkey=error").Funcs(template.FuncMap{
		"n": grouped,
		"percent": func(a, b int) string {
			return fmt.Sprintf("%.1f %%", 100*float64(a)/float64(max(b, 1)))
		},
	}).Parse(page)
	if err != nil {
		return "", err
	}
	var b strings.Builder
	err = t.Execute(&b, n)
	return b.String(), err
}

// grouped returns a number with a comma before each group of three digits.
func grouped(n int) string {
	text := fmt.Sprint(n)
	for i := len(text) - 3; i > 0; i -= 3 {
		text = text[:i] + "," + text[i:]
	}
	return text
}
