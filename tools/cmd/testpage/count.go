package main

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// counted is what is quick to count.
type counted struct {
	Modules    []module `json:"modules"`
	Vectors    int      `json:"vectors"`
	Assertions int      `json:"assertions"`
	Rules      int      `json:"rules"`
	Faults     int      `json:"faults"`
	SDKs       []string `json:"sdks"`
	Documents  int      `json:"documents"` // whose commands or programs run as tests
}

// A module is a folder with a go.mod.
type module struct {
	Name       string `json:"name"`
	Code       int    `json:"code"` // lines
	TestCode   int    `json:"test_code"`
	Tests      int    `json:"tests"`
	Examples   int    `json:"examples"`
	Fuzz       int    `json:"fuzz"`
	Benchmarks int    `json:"benchmarks"`
}

// Total adds up the modules.
func (c counted) Total() (sum module) {
	for _, m := range c.Modules {
		sum.Code += m.Code
		sum.TestCode += m.TestCode
		sum.Tests += m.Tests
		sum.Examples += m.Examples
		sum.Fuzz += m.Fuzz
		sum.Benchmarks += m.Benchmarks
	}
	return sum
}

// Of returns a module.
func (c counted) Of(name string) (module, error) {
	for _, m := range c.Modules {
		if m.Name == name {
			return m, nil
		}
	}
	return module{}, fmt.Errorf("there is no module %s", name)
}

// all are the counts by name.
func (c counted) all() map[string]int {
	total := c.Total()
	return map[string]int{
		"lines of code": total.Code, "lines of test code": total.TestCode, "test functions": total.Tests, "examples": total.Examples,
		"fuzz targets": total.Fuzz, "benchmarks": total.Benchmarks, "modules": len(c.Modules), "conformance vectors": c.Vectors,
		"assertions": c.Assertions, "rules of the kits": c.Rules, "planted faults": c.Faults, "SDKs": len(c.SDKs),
	}
}

// count counts what git knows of the repository.
func count(root string) (c counted, err error) {
	cmd := exec.Command("git", "ls-files", "-z", "--cached", "--others", "--exclude-standard")
	cmd.Dir = root
	out, err := cmd.Output()
	if err != nil {
		return c, fmt.Errorf("git ls-files: %w", err)
	}
	files := strings.Split(strings.Trim(string(out), "\x00"), "\x00")
	slices.Sort(files)
	files = slices.Compact(files)
	for _, name := range files {
		if filepath.Base(name) == "go.mod" && !strings.Contains(name, "testdata/") {
			c.Modules = append(c.Modules, module{Name: filepath.ToSlash(filepath.Dir(name))})
		}
	}
	for _, name := range files {
		if err := c.add(root, name); err != nil && !os.IsNotExist(err) { // deleted and not committed
			return c, err
		}
	}
	if err := c.pages(root); err != nil {
		return c, err
	}
	return c, nil
}

func (c *counted) add(root, name string) error {
	switch {
	case strings.HasPrefix(name, "conformance/") && strings.HasSuffix(name, ".toml") && !strings.Contains(name, "testdata/"):
		c.Vectors++
	case strings.HasSuffix(name, ".go") && !strings.Contains(name, "testdata/"):
		data, err := os.ReadFile(filepath.Join(root, name))
		if err != nil {
			return err
		}
		var of *module
		for i, m := range c.Modules {
			if m.Name == "." && of == nil || strings.HasPrefix(name, m.Name+"/") && (of == nil || len(m.Name) > len(of.Name)) {
				of = &c.Modules[i]
			}
		}
		lines := bytes.Count(data, []byte("\n"))
		if !strings.HasSuffix(name, "_test.go") {
			of.Code += lines
			return nil
		}
		of.TestCode += lines
		return of.functions(name, data)
	}
	return nil
}

// functions counts the functions that go test runs.
func (m *module) functions(name string, data []byte) error {
	file, err := parser.ParseFile(token.NewFileSet(), name, data, parser.SkipObjectResolution)
	if err != nil {
		return err
	}
	for _, decl := range file.Decls {
		f, ok := decl.(*ast.FuncDecl)
		if !ok || f.Recv != nil || f.Name.Name == "TestMain" {
			continue
		}
		for prefix, n := range map[string]*int{"Test": &m.Tests, "Example": &m.Examples, "Fuzz": &m.Fuzz, "Benchmark": &m.Benchmarks} {
			if strings.HasPrefix(f.Name.Name, prefix) {
				*n++
			}
		}
	}
	return nil
}

// pages counts the rows of pages that tests generate.
func (c *counted) pages(root string) error {
	lines := func(name string) ([]string, error) {
		data, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(name)))
		return strings.Split(strings.TrimSpace(string(data)), "\n"), err
	}
	rows, err := lines("cupeltest/ASSERTIONS.md")
	if err != nil {
		return err
	}
	for _, row := range rows {
		if strings.HasPrefix(row, "| `") {
			c.Assertions++
		}
	}
	if rows, err = lines("cupeltest/RULES.md"); err != nil {
		return err
	}
	for _, row := range rows {
		if strings.HasPrefix(row, "| ") && !strings.HasPrefix(row, "| rule |") {
			c.Rules++
		}
	}
	for _, role := range []string{"scorer", "slicer", "placer", "collector"} {
		if rows, err = lines("cupeltest/testdata/faults_" + role + ".txt"); err != nil {
			return err
		}
		c.Faults += len(rows)
	}
	if rows, err = lines("cupelchat/sdks/go.mod"); err != nil {
		return err
	}
	for _, row := range rows {
		fields := strings.Fields(row)
		if strings.HasPrefix(row, "\t") && len(fields) == 2 && !strings.Contains(fields[0], "cupel-go") {
			c.SDKs = append(c.SDKs, fields[0]+" "+fields[1])
		}
	}
	return nil
}
