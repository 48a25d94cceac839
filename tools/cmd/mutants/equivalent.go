package main

import (
	"fmt"
	"os"
	"strings"
)

// readEquivalent reads the list of mutants that change no behaviour: for each
// package, what names a mutant and the reason. Entries are separated by an empty
// line, lines with # at their start are comments:
//
//	cupel/internal/order/order.go insertionSort
//	boundary: before.Index <= p.Index
//	No two pairs have the same index.
func readEquivalent(name string) (map[string]map[string]string, error) {
	data, err := os.ReadFile(name)
	if err != nil {
		return nil, err
	}
	list := make(map[string]map[string]string)
	for i, entry := range strings.Split(string(data), "\n\n") {
		var lines []string
		for line := range strings.Lines(entry) {
			if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "#") {
				lines = append(lines, line)
			}
		}
		if len(lines) == 0 {
			continue
		}
		slash := strings.LastIndex(lines[0], "/")
		if len(lines) < 3 || slash < 0 || !strings.Contains(lines[0][slash:], " ") {
			return nil, fmt.Errorf("%s: entry %d: an entry needs at least three lines: the file and function, the mutant, and the reason:\n%s", name, i+1, entry)
		}
		pkg, key := lines[0][:slash], lines[0][slash+1:]+"\n"+lines[1]
		if list[pkg] == nil {
			list[pkg] = make(map[string]string)
		}
		if _, twice := list[pkg][key]; twice {
			return nil, fmt.Errorf("%s: entry %d is a duplicate: %s: %s", name, i+1, lines[0], lines[1])
		}
		list[pkg][key] = strings.Join(lines[2:], " ")
	}
	return list, nil
}

// stale returns what is wrong with the list of a package: entries without a
// mutant, and more than one mutant in twenty.
func (p *pkg) stale(equivalent map[string]string) []string {
	var wrong []string
	known := make(map[string]bool, len(p.mutants))
	for _, m := range p.mutants {
		known[m.key()] = true
	}
	for key := range equivalent {
		if !known[key] {
			wrong = append(wrong, fmt.Sprintf("listed as equivalent, but there is no such mutant: %s/%s", p.short, strings.ReplaceAll(key, "\n", " ")))
		}
	}
	if 20*len(equivalent) > len(p.mutants) {
		wrong = append(wrong, fmt.Sprintf("%s: %d of %d mutants are listed as equivalent; at most 5 %% may be", p.short, len(equivalent), len(p.mutants)))
	}
	return wrong
}
