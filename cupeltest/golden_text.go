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
	goldenIn     = "in:"
	goldenOut    = "out:"
	goldenDetail = " | " // before what only WithDetails writes
	mostChanges  = 20    // of a kind that a failure shows
)

// decisions returns the text of a golden file.
func (c *SelectionReportAssertionChain) decisions(r *cupel.SelectionReport, details bool) string {
	content := quote
	if c.hidden {
		content = func(content string) string {
			hash := sha256.Sum256([]byte(content))
			return fmt.Sprintf("(%d bytes, sha256 %x…)", len(content), hash[:6])
		}
	}
	var b strings.Builder
	line := func(format string, args ...any) { b.WriteString(oneLine(fmt.Sprintf(format, args...)) + "\n") }
	detail := func(format string, args ...any) string {
		if !details {
			return ""
		}
		return goldenDetail + strings.TrimSuffix(fmt.Sprintf(format, args...), ", ")
	}
	line(goldenIn)
	for i, entry := range r.Included {
		form := ""
		if n := entry.Form; n > 0 {
			form = fmt.Sprintf(", form %d", n)
		}
		line("  %s: %s%s%s%s", describeItem(entry.Item, content), entry.Reason, form, describeStale(entry.Stale),
			detail("place %d, score %s", i+1, score(entry.Score)))
	}
	line("")
	line(goldenOut)
	// The order of the report is that of the scores, which another candidate may
	// change.
	excluded := slices.Clone(r.Excluded)
	slices.SortStableFunc(excluded, func(a, b cupel.ExcludedItem) int { return cmp.Compare(a.Candidate, b.Candidate) })
	for _, entry := range excluded {
		code := string(entry.Reason.Code)
		data := strings.TrimPrefix(strings.TrimPrefix(describeReason(entry.Reason, content), code), ": ")
		line("  %s: %s%s%s", describeItem(entry.Item, content), code, describeStale(entry.Stale), detail("score %s, %s", score(entry.Score), data))
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
	if details {
		line("")
		line("totals: %d candidates, %d tokens; %d included, %d tokens; %d excluded",
			r.TotalCandidates, r.TotalTokensConsidered, len(r.Included), includedTokens(r), len(r.Excluded))
		for _, event := range r.Events {
			line("event: %s, %d items%s", event.Stage, event.ItemCount, strings.TrimSuffix(", "+event.Message, ", "))
		}
	}
	return b.String()
}

// goldenDiff says what changed between two golden texts: the decisions, and the
// lines if they differ in nothing else or cannot be read.
func goldenDiff(want, got string) string {
	a, okA := readDecisions(want)
	b, _ := readDecisions(got)
	if !okA {
		return "- golden file, + report\n" + diff(want, got)
	}
	var lines []string
	list := func(what string, changes []analysis.ReportChange, text func(analysis.ReportChange) string) {
		if len(changes) == 0 {
			return
		}
		lines = append(lines, what)
		for _, line := range cutAt(mostChanges, changes, func(c analysis.ReportChange) string { return c.Content + ": " + text(c) }) {
			lines = append(lines, "  "+line)
		}
	}
	reason := func(e *analysis.Entry, prefix string) string {
		if e == nil {
			return prefix + "not a candidate"
		}
		return prefix + e.Code
	}
	d := analysis.DiffReports(a, b)
	list("came:", d.Came, func(c analysis.ReportChange) string { return reason(c.B, "") + ", " + reason(c.A, "was ") })
	list("went:", d.Went, func(c analysis.ReportChange) string { return reason(c.B, "is ") + ", " + reason(c.A, "was ") })
	// The fewest moves may take an item from its place and back.
	moved := slices.DeleteFunc(d.Moved, func(c analysis.ReportChange) bool { return c.A.Place == c.B.Place })
	list("moved:", moved, func(c analysis.ReportChange) string {
		return fmt.Sprintf("place %d, was %d", c.B.Place, c.A.Place)
	})
	list("reason changed:", d.Reasons, func(c analysis.ReportChange) string { return reason(c.B, "") + ", " + reason(c.A, "was ") })
	if len(lines) == 0 {
		return "- golden file, + report\n" + diff(want, got)
	}
	return strings.Join(lines, "\n")
}

// readDecisions reads a golden text as a report of items whose contents are the
// descriptions in the lines.
func readDecisions(text string) (*cupel.SelectionReport, bool) {
	r, section, sections := new(cupel.SelectionReport), "", 0
	for line := range strings.Lines(text) {
		line, entry := strings.CutPrefix(strings.TrimSuffix(line, "\n"), "  ")
		if !entry {
			if section = line; section == goldenIn || section == goldenOut {
				sections++
			}
			continue
		}
		if section != goldenIn && section != goldenOut {
			continue
		}
		content, _ := strconv.QuotedPrefix(line) // it may hold what ends a description, and is empty if contents are hidden
		rest, code, ok := strings.Cut(line[len(content):], "): ")
		if !ok {
			return nil, false
		}
		code, _, _ = strings.Cut(code, goldenDetail)
		item := Item(content+rest+")", 0)
		if section == goldenIn {
			r.Included = append(r.Included, cupel.IncludedItem{Item: item, Reason: cupel.InclusionReason(code)})
		} else {
			r.Excluded = append(r.Excluded, cupel.ExcludedItem{Item: item, Reason: cupel.ExclusionReason{Code: cupel.ExclusionCode(code)}})
		}
	}
	return r, sections == 2
}
