package main

import (
	"bytes"
	"cmp"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// What is counted of a module, the last four by what functions are called.
const (
	code = iota // lines
	testCode
	tests
	examples
	fuzz
	benchmarks
)

type module [benchmarks + 1]int

// counted is what is counted in the repository.
type counted struct {
	modules                            map[string]*module // by folder
	vectors, assertions, rules, faults int
	sdks                               []string // as lines of the page
}

// total adds up the modules.
func (c *counted) total() (sum module) {
	for _, m := range c.modules {
		for i, n := range m {
			sum[i] += n
		}
	}
	return sum
}

// rows are the modules as rows of the page.
func (c *counted) rows() []string {
	var rows []string
	for _, name := range slices.Sorted(maps.Keys(c.modules)) {
		m := c.modules[name]
		rows = append(rows, fmt.Sprintf("| %s | %s | %s | %d | %d | %d |", cmp.Or(name, "root"), grouped(m[code]), grouped(m[testCode]), m[tests], m[examples], m[fuzz]))
	}
	return rows
}

// count counts what git knows of the repository.
func count(root string) (*counted, error) {
	cmd := exec.Command("git", "ls-files", "-z", "--cached", "--others", "--exclude-standard", "--", "*.go", "*.toml", "*go.mod")
	cmd.Dir = root
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("git ls-files: %w", err)
	}
	files := strings.Split(strings.Trim(string(out), "\x00"), "\x00")
	slices.Sort(files)
	files = slices.DeleteFunc(slices.Compact(files), func(name string) bool { return strings.Contains(name, "testdata/") })
	c := &counted{modules: make(map[string]*module)}
	for _, name := range files {
		if folder, ok := strings.CutSuffix(name, "go.mod"); ok {
			c.modules[strings.TrimSuffix(folder, "/")] = new(module)
		}
	}
	for _, name := range files {
		if strings.HasSuffix(name, ".toml") && strings.HasPrefix(name, "conformance/") {
			c.vectors++
		}
		if !strings.HasSuffix(name, ".go") {
			continue
		}
		data, err := os.ReadFile(filepath.Join(root, name))
		if os.IsNotExist(err) {
			continue // deleted and not committed
		}
		if err != nil {
			return nil, err
		}
		folder := filepath.ToSlash(filepath.Dir(name))
		for folder != "" && c.modules[folder] == nil {
			folder = folder[:max(strings.LastIndexByte(folder, '/'), 0)]
		}
		if err := c.modules[folder].add(name, data); err != nil {
			return nil, err
		}
	}
	if err := c.pages(root); err != nil {
		return nil, err
	}
	return c, nil
}

// functions are the prefixes of functions that go test runs.
var functions = map[string]int{"Test": tests, "Example": examples, "Fuzz": fuzz, "Benchmark": benchmarks}

// add counts a file.
func (m *module) add(name string, data []byte) error {
	lines := bytes.Count(data, []byte("\n"))
	if !strings.HasSuffix(name, "_test.go") {
		m[code] += lines
		return nil
	}
	m[testCode] += lines
	file, err := parser.ParseFile(token.NewFileSet(), name, data, parser.SkipObjectResolution)
	if err != nil {
		return err
	}
	for _, decl := range file.Decls {
		for prefix, of := range functions {
			if f, ok := decl.(*ast.FuncDecl); ok && f.Recv == nil && f.Name.Name != "TestMain" && strings.HasPrefix(f.Name.Name, prefix) {
				m[of]++
			}
		}
	}
	return nil
}

// pages counts the rows of pages that tests generate.
func (c *counted) pages(root string) error {
	rows := func(name, pattern string) ([][]string, error) {
		data, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(name)))
		return regexp.MustCompile(pattern).FindAllStringSubmatch(string(data), -1), err
	}
	for _, file := range []struct {
		name, pattern string
		count         *int
	}{
		{"cupeltest/ASSERTIONS.md", "(?m)^\\| `", &c.assertions},
		{"cupeltest/RULES.md", "(?m)^\\| ", &c.rules},
		{"cupeltest/RULES.md", "(?m)^\\| rule \\|", nil},
		{"cupeltest/kit_broken_scorer_test.go", `(?m)^\t+\{name: "`, &c.faults},
		{"cupeltest/kit_broken_slicer_test.go", `(?m)^\t+\{name: "`, &c.faults},
		{"cupeltest/kit_broken_placer_test.go", `(?m)^\t+\{name: "`, &c.faults},
		{"cupeltest/kit_broken_collector_test.go", `(?m)^\t+\{name: "`, &c.faults},
	} {
		found, err := rows(file.name, file.pattern)
		if err != nil {
			return err
		}
		if file.count == nil {
			c.rules -= len(found) // headings
		} else {
			*file.count += len(found)
		}
	}
	required, err := rows("cupelchat/sdks/go.mod", `(?m)^\t(\S+ v\S+)$`)
	for _, r := range required {
		if !strings.Contains(r[1], "cupel-go") {
			c.sdks = append(c.sdks, "- agents made with `"+r[1]+"` talk to a stub of the provider")
		}
	}
	return err
}
