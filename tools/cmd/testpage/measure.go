package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// measured is what takes minutes to measure.
type measured struct {
	Date     string  `json:"date"`     // of the next three
	Cases    int     `json:"cases"`    // tests and subtests that ran
	Skipped  int     `json:"skipped"`  // tests that did not, for want of something
	Coverage float64 `json:"coverage"` // of the core, in percent
	Mutants  []rate  `json:"mutants"`
}

// A rate is the mutants of a package that its tests kill.
type rate struct {
	Package string `json:"package"`
	Killed  int    `json:"killed"`
	Drawn   int    `json:"drawn"`
	Date    string `json:"date"`
}

// Killed and Drawn add up the packages.
func (m measured) Killed() (n int) {
	for _, r := range m.Mutants {
		n += r.Killed
	}
	return n
}

// Drawn is the number of mutants that were tried.
func (m measured) Drawn() (n int) {
	for _, r := range m.Mutants {
		n += r.Drawn
	}
	return n
}

// tests runs all tests of the workspace, and measures the core's coverage.
func (m *measured) tests(root, today string) error {
	cmd := exec.Command("go", "test", "-json", "work")
	cmd.Dir = root
	cmd.Env = append(os.Environ(), "GOWORK=", "CUPEL_E2E_CHROMIUM=none")
	out, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	m.Cases, m.Skipped = 0, 0
	for decoder := json.NewDecoder(out); ; {
		var event struct{ Action, Test string }
		if err := decoder.Decode(&event); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return errors.Join(err, cmd.Wait())
		}
		switch {
		case event.Test == "":
		case event.Action == "pass":
			m.Cases++
		case event.Action == "skip":
			m.Skipped++
		}
	}
	if err := cmd.Wait(); err != nil {
		return fmt.Errorf("go test work: %w", err)
	}
	cmd = exec.Command("scripts/cover.sh")
	cmd.Dir = root
	cmd.Env = append(os.Environ(), "GOWORK=")
	text, err := cmd.Output()
	if err != nil {
		return fmt.Errorf("scripts/cover.sh: %w", err)
	}
	found := regexp.MustCompile(`coverage of the core: ([0-9.]+) %`).FindSubmatch(text)
	if found == nil {
		return fmt.Errorf("scripts/cover.sh says nothing of the coverage: %s", text)
	}
	m.Date = today
	m.Coverage, err = strconv.ParseFloat(string(found[1]), 64)
	return err
}

var mutantLine = regexp.MustCompile(`^(\S+) +(\d+) +(\d+) +[0-9.]+ % `)

// mutants reads what make mutants prints, and keeps the rates of other packages.
func (m *measured) mutants(name, today string) error {
	file, err := os.Open(name)
	if err != nil {
		return err
	}
	defer func() { _ = file.Close() }()
	found := 0
	for scanner := bufio.NewScanner(file); scanner.Scan(); {
		fields := mutantLine.FindStringSubmatch(scanner.Text())
		if fields == nil {
			continue
		}
		found++
		killed, _ := strconv.Atoi(fields[2])
		drawn, _ := strconv.Atoi(fields[3])
		m.Mutants = slices.DeleteFunc(m.Mutants, func(r rate) bool { return r.Package == fields[1] })
		m.Mutants = append(m.Mutants, rate{fields[1], killed, drawn, today})
	}
	if found == 0 {
		return fmt.Errorf("%s has no line of make mutants", name)
	}
	slices.SortFunc(m.Mutants, func(a, b rate) int { return strings.Compare(a.Package, b.Package) })
	return nil
}
