package cupeltest

import (
	"cmp"
	"crypto/sha256"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupel/analysis"
)

const (
	goldenIn  = "in:"
	goldenOut = "out:"
)

// decisions returns the text of a golden file.
func (c *SelectionReportAssertionChain) decisions(r *cupel.SelectionReport) string {
	content := quote
	if c.hidden {
		content = func(content string) string {
			hash := sha256.Sum256([]byte(content))
			return fmt.Sprintf("(%d bytes, sha256 %x…)", len(content), hash[:6])
		}
	}
	var b strings.Builder
	line := func(format string, args ...any) { b.WriteString(oneLine(fmt.Sprintf(format, args...)) + "\n") }
	line(goldenIn)
	for _, entry := range r.Included {
		line("  %s: %s%s", describeItem(entry.Item, content), entry.Reason, describeEntry(entry.Form, entry.Stale))
	}
	line("")
	line(goldenOut)
	// The report is ordered by scores, which another candidate may change.
	excluded := slices.Clone(r.Excluded)
	slices.SortStableFunc(excluded, func(a, b cupel.ExcludedItem) int { return cmp.Compare(a.Candidate, b.Candidate) })
	for _, entry := range excluded {
		line("  %s: %s%s", describeItem(entry.Item, content), entry.Reason.Code, describeEntry(0, entry.Stale))
	}
	if len(r.CountRequirementShortfalls) > 0 {
		line("")
		line("shortfalls:")
		for _, shortfall := range r.CountRequirementShortfalls {
			line("  %s has %d of %d required items", shortfall.Kind, shortfall.SatisfiedCount, shortfall.RequiredCount)
		}
	}
	if over := r.Overflow; over != nil {
		line("")
		line("overflow: %d tokens above the target of %d", over.TokensOverBudget, over.Budget.TargetTokens())
	}
	return b.String()
}

// goldenDiff describes the changes between two golden texts: the decisions, or
// the lines if no decision differs.
func goldenDiff(want, got string) string {
	var lines []string
	list := func(what string, changes []analysis.ReportChange, text func(analysis.ReportChange) string) {
		if len(changes) == 0 {
			return
		}
		lines = append(lines, what)
		for _, line := range cutAt(mostListed, changes, func(c analysis.ReportChange) string { return c.Content + ": " + text(c) }) {
			lines = append(lines, "  "+line)
		}
	}
	code := func(e *analysis.Entry) string {
		if e == nil {
			return "not a candidate"
		}
		return e.Code
	}
	codes := func(c analysis.ReportChange) string { return code(c.B) + ", was " + code(c.A) }
	d := analysis.DiffReports(readDecisions(want), readDecisions(got))
	list("came:", d.Came, codes)
	list("went:", d.Went, codes)
	// The fewest moves may take an item from its place and back.
	moved := slices.DeleteFunc(d.Moved, func(c analysis.ReportChange) bool { return c.A.Place == c.B.Place })
	list("moved:", moved, func(c analysis.ReportChange) string {
		return fmt.Sprintf("place %d, was %d", c.B.Place, c.A.Place)
	})
	list("reason changed:", d.Reasons, codes)
	if len(lines) == 0 {
		return "- golden file, + report\n" + diff(want, got)
	}
	return strings.Join(lines, "\n")
}

// readDecisions reads a golden text as a report of items whose contents are the
// descriptions in the lines.
func readDecisions(text string) *cupel.SelectionReport {
	r, section := new(cupel.SelectionReport), ""
	for line := range strings.Lines(text) {
		line, entry := strings.CutPrefix(strings.TrimSuffix(line, "\n"), "  ")
		content, _ := strconv.QuotedPrefix(line) // it may contain the end of a description, and is empty if contents are hidden
		rest, code, decision := strings.Cut(line[len(content):], "): ")
		item := Item(content+rest+")", 0)
		switch {
		case !entry:
			section = line
		case !decision:
		case section == goldenIn:
			r.Included = append(r.Included, cupel.IncludedItem{Item: item, Reason: cupel.InclusionReason(code)})
		case section == goldenOut:
			r.Excluded = append(r.Excluded, cupel.ExcludedItem{Item: item, Reason: cupel.ExclusionReason{Code: cupel.ExclusionCode(code)}})
		}
	}
	return r
}
