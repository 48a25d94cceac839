package cupeltest

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupel/analysis"
)

const (
	mostShown  = 5    // items in a message
	mostListed = 20   // names in a list of a message
	mostProbes = 2000 // selections to find the smallest budget of an item
)

// wouldMatch reports whether the predicate holds for an excluded item. A
// predicate is written for included items, and may panic.
func wouldMatch(predicate func(cupel.IncludedItem) bool, entry cupel.ExcludedItem) (matches bool) {
	defer func() { _ = recover() }()
	return predicate(cupel.IncludedItem{Item: entry.Item, Score: entry.Score})
}

// nearIncluded explains why no match is included.
func (c *SelectionReportAssertionChain) nearIncluded(r *cupel.SelectionReport, predicate func(cupel.IncludedItem) bool) []string {
	var matching []cupel.ExcludedItem
	for _, entry := range r.Excluded {
		if wouldMatch(predicate, entry) {
			matching = append(matching, entry)
		}
	}
	return c.lost(matching)
}

// nearExcluded explains why no match is excluded as it should be.
func (c *SelectionReportAssertionChain) nearExcluded(r *cupel.SelectionReport, predicate ItemPredicate) []string {
	if matching := excludedMatching(r, predicate); len(matching) > 0 {
		return c.excluded(matching)
	}
	if lines := c.included(r, predicate.Included); len(lines) > 0 {
		return lines
	}
	return c.lost(nil)
}

// lost explains why items that should be in the window are excluded, and names
// the smallest budget for the first.
func (c *SelectionReportAssertionChain) lost(entries []cupel.ExcludedItem) []string {
	if len(entries) == 0 {
		return []string{"no candidate matches"}
	}
	lines := c.excluded(entries)
	lines[0] += c.smallestBudget(entries[0].Candidate)
	return lines
}

// excluded explains why items are excluded.
func (c *SelectionReportAssertionChain) excluded(entries []cupel.ExcludedItem) []string {
	return cutAt(mostShown, entries, func(entry cupel.ExcludedItem) string {
		return fmt.Sprintf("%s is excluded: %s", c.quote(entry.Item.Content()), strings.TrimRight(strings.Replace(oneLine(describeReason(entry.Reason, c.quote)), ": ", ", ", 1), ", "))
	})
}

// included names the places of the matching items in the window.
func (c *SelectionReportAssertionChain) included(r *cupel.SelectionReport, predicate func(cupel.IncludedItem) bool) []string {
	var places []int
	for i, entry := range r.Included {
		if predicate(entry) {
			places = append(places, i)
		}
	}
	return c.atPlaces(r, places)
}

// atPlaces names the items at these positions of the window.
func (c *SelectionReportAssertionChain) atPlaces(r *cupel.SelectionReport, places []int) []string {
	return cutAt(mostShown, places, func(at int) string {
		entry := r.Included[at]
		return fmt.Sprintf("%s is included at index %d of %d: %s, score %s, %d tokens%s",
			c.quote(entry.Item.Content()), at, len(r.Included), oneLine(string(entry.Reason)), score(entry.Score), entry.Item.Tokens(), describeEntry(entry.Form, entry.Stale))
	})
}

// cutAt returns a line for each of the first entries, and how many more there are.
func cutAt[E any](most int, entries []E, line func(entry E) string) []string {
	var lines []string
	for _, entry := range entries[:min(most, len(entries))] {
		lines = append(lines, line(entry))
	}
	if more := len(entries) - most; more > 0 {
		lines = append(lines, fmt.Sprintf("and %d more", more))
	}
	return lines
}

// smallestBudget names the smallest budget that includes a candidate, if the
// run is known.
func (c *SelectionReportAssertionChain) smallestBudget(candidate int) string {
	known := runOf(c.report)
	if known == nil {
		return ""
	}
	answer, err := analysis.WhyNot(context.Background(), known.pipeline, known.items, known.budget, candidate, analysis.WithMaxBudgets(mostProbes))
	if err != nil || answer.Place > 0 {
		return "" // the candidate is not one of the run, or the pipeline decides differently now
	}
	smallest := answer.Smallest
	net := known.budget.MaxTokens() - known.budget.OutputReserve()
	if !smallest.Found || known.budget.TargetTokens() == net {
		return ". " + smallest.String()
	}
	// The search is among budgets whose target is everything except the reserve.
	// This one has its own target, and keeps its ceiling if that is large enough.
	target := smallest.Tokens - known.budget.OutputReserve()
	ceiling := max(known.budget.MaxTokens(), smallest.Tokens)
	if !smallest.Exact || !known.includes(candidate, ceiling, target) || known.includes(candidate, ceiling, target-1) {
		return ""
	}
	return fmt.Sprintf(". The smallest budget that includes it has a target of %d tokens and a ceiling of %d.", target, ceiling)
}

// includes reports whether a candidate is in the window with another budget.
func (r *run) includes(candidate, ceiling, target int) bool {
	budget, err := r.budget.Resize(ceiling, target)
	if err != nil {
		return false
	}
	report, err := r.pipeline.DryRun(context.Background(), r.items, budget)
	return err == nil && slices.ContainsFunc(report.Included, func(entry cupel.IncludedItem) bool { return entry.Candidate == candidate })
}

// joined lists names, the first of many with a count of the others.
func joined(names []string) string {
	if more := len(names) - mostListed; more > 0 {
		return fmt.Sprintf("%s, … and %d more", strings.Join(names[:mostListed], ", "), more)
	}
	return strings.Join(names, ", ")
}

// quote returns a content in quotes, or its size if contents are hidden.
func (c *SelectionReportAssertionChain) quote(content string) string {
	if c.hidden {
		return fmt.Sprintf("<%d bytes>", len(content))
	}
	return quote(content)
}
