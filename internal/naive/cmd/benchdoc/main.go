// Command benchdoc turns the output of the benchmark of the performance targets
// into the tables and plots of docs/benchmarks.md.
//
//	go test -bench '^BenchmarkTarget$' -benchmem . > benchmarks.txt
//	benchdoc -in benchmarks.txt -doc benchmarks.md -plots plots
//
// Each block of the document between <!-- NAME: generated --> and <!-- end -->
// is replaced by the table of that name.
package main

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
)

func main() {
	in := flag.String("in", "", "output of the benchmark")
	doc := flag.String("doc", "", "document with the blocks to replace")
	plots := flag.String("plots", "", "folder for the plots")
	flag.Parse()
	if err := run(*in, *doc, *plots); err != nil {
		fmt.Fprintln(os.Stderr, "benchdoc:", err)
		os.Exit(1)
	}
}

func run(in, doc, plots string) error {
	output, err := os.ReadFile(in)
	if err != nil {
		return err
	}
	m, err := parse(bytes.NewReader(output))
	if err != nil {
		return err
	}
	text, err := os.ReadFile(doc)
	if err != nil {
		return err
	}
	targets, err := targetTable(m)
	if err != nil {
		return err
	}
	blocks := map[string]string{"targets": targets, "machine": machine(m)}
	for _, c := range charts {
		drawing, table, err := c.draw(m)
		if err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(plots, c.name+".svg"), []byte(drawing), 0o644); err != nil {
			return err
		}
		blocks[c.name] = fmt.Sprintf("![%s](%s/%s.svg)\n\n%s", c.title, filepath.Base(plots), c.name, table)
	}
	replaced, err := replace(string(text), blocks)
	if err != nil {
		return err
	}
	return os.WriteFile(doc, []byte(replaced), 0o644)
}

var block = regexp.MustCompile(`(?s)<!-- ([a-z]+): generated -->\n.*?<!-- end -->`)

// replace puts every block into the document, and fails when the document has
// no place for one of them or asks for one that is not there.
func replace(text string, blocks map[string]string) (string, error) {
	missing := make(map[string]bool, len(blocks))
	for name := range blocks {
		missing[name] = true
	}
	var unknown []string
	text = block.ReplaceAllStringFunc(text, func(old string) string {
		name := block.FindStringSubmatch(old)[1]
		content, ok := blocks[name]
		if !ok {
			unknown = append(unknown, name)
			return old
		}
		delete(missing, name)
		return fmt.Sprintf("<!-- %s: generated -->\n\n%s\n\n<!-- end -->", name, strings.TrimSpace(content))
	})
	if len(unknown) > 0 || len(missing) > 0 {
		return "", fmt.Errorf("the document asks for unknown blocks %v and lacks %d", unknown, len(missing))
	}
	return text, nil
}

func machine(m *measurements) string {
	return fmt.Sprintf("Measured with %s: the least times and ratios of %d rounds, and the median of everything else.", strings.Join(m.header, ", "), m.runs)
}
