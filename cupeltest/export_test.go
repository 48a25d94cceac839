package cupeltest

import (
	"fmt"
	"strings"
)

// RuleNames returns the names of the rules, by role.
func RuleNames() map[string][]string {
	names := make(map[string][]string)
	for _, of := range []role{scorers, slicers, placers} {
		for _, r := range rules() {
			if r.of&of != 0 {
				names[of.String()] = append(names[of.String()], r.name)
			}
		}
	}
	return names
}

// RuleRows returns a row of RULES.md for each rule.
func RuleRows() (rows []string) {
	for _, r := range rules() {
		var roles []string
		for _, of := range []role{scorers, slicers, placers} {
			if r.of&of != 0 {
				roles = append(roles, of.String())
			}
		}
		rows = append(rows, fmt.Sprintf("| %#q | %s | %s |", r.name, strings.Join(roles, ", "), r.sentence))
	}
	return rows
}

// KnownRuns is the number of reports whose run is known.
func KnownRuns() (n int) {
	runs.Range(func(any, any) bool { n++; return true })
	return n
}
