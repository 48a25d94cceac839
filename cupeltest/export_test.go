package cupeltest

import (
	"fmt"
	"strings"
	"time"
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

// Lists describes what the kit gives to each role: the scores of the first items of a
// list, and each item once.
func Lists() string {
	var text strings.Builder
	described := map[string]bool{}
	add := func(line string) {
		if !described[line] {
			text.WriteString(line + "\n")
		}
		described[line] = true
	}
	for _, of := range []role{scorers, slicers, placers} {
		k := &kit{role: of}
		WithItems(Items(1, 0, -1)...)(k)
		for _, in := range k.inputs(generation{}) {
			list := fmt.Sprintf("%s: %d of %d tokens, scores", in.name, len(in.list), tokensOf(in.list))
			for _, it := range in.list[:min(5, len(in.list))] {
				list += fmt.Sprintf(" %.3g", it.Score)
			}
			add(list)
			if len(in.list) > 9 {
				in.list = in.list[:3]
			}
			for _, it := range in.list {
				at, _ := it.Item.Timestamp()
				n, _ := it.Item.Priority()
				hint, _ := it.Item.FutureRelevanceHint()
				line := fmt.Sprintf("  %.60q, %d tokens, %s%q%q", it.Item.Content(), it.Item.Tokens(), it.Item.Kind(), it.Item.Group(), it.Item.Tags())
				add(fmt.Sprint(line, ", ", at.Format(time.RFC3339Nano), ", priority ", n, ", hint ", hint))
			}
		}
	}
	return text.String()
}
