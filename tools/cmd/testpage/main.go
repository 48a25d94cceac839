// Command testpage refreshes the counts in docs/testing.md, which says what is
// tested how.
//
//	go -C tools run ./cmd/testpage [-check] [-mutants FILE]
//
// -mutants adds the rates in the output of make mutants to the table of the page,
// with the date. With -check the command changes nothing, and fails if a count is
// more than 5 % from the number on the page: the page need not change with each
// test.
package main

import (
	"errors"
	"flag"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

func main() {
	root := flag.String("root", "..", "root of the repository")
	check := flag.Bool("check", false, "fail if the page is stale, and write nothing")
	mutants := flag.String("mutants", "", "`file` with the output of make mutants, to read rates from")
	flag.Parse()
	if err := run(*root, *mutants, *check); err != nil {
		fmt.Fprintln(os.Stderr, "testpage:", err)
		os.Exit(1)
	}
}

func run(root, mutants string, check bool) error {
	name := filepath.Join(root, "docs", "testing.md")
	data, err := os.ReadFile(name)
	if err != nil {
		return err
	}
	c, err := count(root)
	if err != nil {
		return err
	}
	page := string(data)
	if mutants != "" {
		output, err := os.ReadFile(mutants)
		if err != nil {
			return err
		}
		if page, err = withRates(page, string(output), time.Now().UTC().Format(time.DateOnly)); err != nil {
			return fmt.Errorf("%s: %w", mutants, err)
		}
	}
	now, err := c.refresh(page, check)
	if err != nil || check {
		return err
	}
	return os.WriteFile(name, []byte(now), 0o600)
}

// numbers are the numbers on the page, each a group of a pattern.
func (c *counted) numbers() []number {
	t := c.total()
	return []number{
		{"lines of code", `([\d,]+) lines of Go`, t[code]},
		{"lines of test code", `([\d,]+) lines of tests`, t[testCode]},
		{"modules", `([\d,]+) modules`, len(c.modules)},
		{"test functions", `\| test functions \| ([\d,]+) \|`, t[tests]},
		{"conformance vectors", `\| conformance vectors \| ([\d,]+) \|`, c.vectors},
		{"conformance vectors", `([\d,]+) vectors in`, c.vectors},
		{"examples", `\| examples \| ([\d,]+) \|`, t[examples]},
		{"fuzz targets", `\| fuzz targets \| ([\d,]+) \|`, t[fuzz]},
		{"fuzz targets", `([\d,]+) fuzz targets start`, t[fuzz]},
		{"planted faults", `\| broken strategies that the kit must catch \| ([\d,]+) \|`, c.faults},
		{"planted faults", `([\d,]+) broken strategies`, c.faults},
		{"rules of the kits", `a kit of ([\d,]+) rules`, c.rules},
		{"assertions", `the ([\d,]+) \[assertions\]`, c.assertions},
		{"benchmarks", `\| benchmarks \| ([\d,]+) \|`, t[benchmarks]},
	}
}

// number is a count, and where it is on the page.
type number struct {
	name, pattern string
	is            int
}

// refresh returns the page with the counts of now. If check is set, it fails where
// a number is too old.
func (c *counted) refresh(page string, check bool) (string, error) {
	for _, n := range c.numbers() {
		at := regexp.MustCompile(n.pattern).FindStringSubmatchIndex(page)
		if at == nil {
			return "", fmt.Errorf("docs/testing.md does not say %s", n.pattern)
		}
		was, err := strconv.Atoi(strings.ReplaceAll(page[at[2]:at[3]], ",", ""))
		if check && (err != nil || math.Abs(float64(n.is-was)) > 0.05*float64(max(n.is, 20))) {
			return "", fmt.Errorf("docs/testing.md says %d %s, and there are %d: run make testing-page", was, n.name, n.is)
		}
		page = page[:at[2]] + grouped(n.is) + page[at[3]:]
	}
	page, err := withRows(page, "| module |", "|", c.rows())
	if err != nil {
		return "", err
	}
	return withRows(page, "## Against the world", "- agents made with", c.sdks)
}

// withRows replaces the lines that begin with prefix, of the first such block below
// a heading, by others. The heading of a table has a line below it that stays.
func withRows(page, heading, prefix string, rows []string) (string, error) {
	lines := strings.Split(page, "\n")
	from := slices.IndexFunc(lines, func(line string) bool { return strings.HasPrefix(line, heading) }) + 2
	if from < 2 {
		return "", fmt.Errorf("docs/testing.md has no line %q", heading)
	}
	to := from
	for to < len(lines) && strings.HasPrefix(lines[to], prefix) {
		to++
	}
	return strings.Join(slices.Replace(lines, from, to, rows...), "\n"), nil
}

var (
	mutantLine = regexp.MustCompile(`(?m)^(\S+) +(\d+) +(\d+) +([0-9.]+ %) `)
	rateRow    = regexp.MustCompile(`(?m)^\| (\S+) \| (\d+) \| (\d+) \| [0-9.]+ % \| \S+ \|$`)
	allMutants = regexp.MustCompile(`\| mutants that tests kill \| .* \|`)
)

// withRates adds what make mutants printed to the table of rates. Those of other
// packages stay.
func withRates(page, output, today string) (string, error) {
	rates := make(map[string][]string)
	for _, row := range rateRow.FindAllStringSubmatch(page, -1) {
		rates[row[1]] = row
	}
	found := mutantLine.FindAllStringSubmatch(output, -1)
	if found == nil {
		return "", errors.New("there is no line of make mutants")
	}
	for _, f := range found {
		rates[f[1]] = []string{fmt.Sprintf("| %s | %s | %s | %s | %s |", f[1], f[2], f[3], f[4], today), f[1], f[2], f[3]}
	}
	killed, drawn := 0, 0
	var rows []string
	for _, r := range rates {
		k, _ := strconv.Atoi(r[2])
		d, _ := strconv.Atoi(r[3])
		killed, drawn = killed+k, drawn+d
		rows = append(rows, r[0])
	}
	slices.Sort(rows)
	page = allMutants.ReplaceAllString(page, fmt.Sprintf("| mutants that tests kill | %d of %d |", killed, drawn))
	return withRows(page, "| package |", "|", rows)
}

// grouped returns a number with a comma before each group of three digits.
func grouped(n int) string {
	text := strconv.Itoa(n)
	for i := len(text) - 3; i > 0; i -= 3 {
		text = text[:i] + "," + text[i:]
	}
	return text
}
