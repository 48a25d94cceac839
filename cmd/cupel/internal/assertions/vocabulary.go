package assertions

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode"

	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupeltest"
)

type chain = cupeltest.SelectionReportAssertionChain

// assertion is an assertion that checks can name.
type assertion struct {
	name string
	// read reads the arguments and returns a function that checks a selection.
	read func(t *table) func(Subject) error
}

// vocabulary has the 13 patterns of the specification, in its order, then the
// additions of cupeltest.
var vocabulary = []assertion{
	{"IncludeItemWithKind", func(t *table) func(Subject) error {
		kind := t.kind()
		return link(func(c *chain, _ Subject) { c.IncludeItemWithKind(kind) })
	}},
	{"IncludeItemMatching", func(t *table) func(Subject) error {
		item := t.entry()
		return link(func(c *chain, _ Subject) { c.IncludeItemMatching(item) })
	}},
	{"IncludeExactlyNItemsWithKind", func(t *table) func(Subject) error {
		kind, n := t.kind(), t.atLeast("n", 0, "")
		return link(func(c *chain, _ Subject) { c.IncludeExactlyNItemsWithKind(kind, n) })
	}},
	{"ExcludeItemWithReason", func(t *table) func(Subject) error {
		reason := t.reason("reason")
		return link(func(c *chain, _ Subject) { c.ExcludeItemWithReason(reason) })
	}},
	{"ExcludeItemMatchingWithReason", func(t *table) func(Subject) error {
		item, reason := t.item(), t.reason("reason")
		return link(func(c *chain, _ Subject) { c.ExcludeItemMatchingWithReason(item, reason) })
	}},
	{"ExcludeItemWithBudgetDetails", func(t *table) func(Subject) error {
		item, tokens, available := t.item(), t.integer("item_tokens"), t.integer("available_tokens")
		return link(func(c *chain, _ Subject) { c.ExcludeItemWithBudgetDetails(item, tokens, available) })
	}},
	{"HaveNoExclusionsForKind", func(t *table) func(Subject) error {
		kind := t.kind()
		return link(func(c *chain, _ Subject) { c.HaveNoExclusionsForKind(kind) })
	}},
	{"HaveAtLeastNExclusions", func(t *table) func(Subject) error {
		n := t.atLeast("n", 1, always)
		return link(func(c *chain, _ Subject) { c.HaveAtLeastNExclusions(n) })
	}},
	{"ExcludedItemsAreSortedByScoreDescending", func(*table) func(Subject) error {
		return link(func(c *chain, _ Subject) { c.ExcludedItemsAreSortedByScoreDescending() })
	}},
	{"HaveBudgetUtilizationAbove", func(t *table) func(Subject) error {
		threshold, ok := t.asFloat("threshold", t.need("threshold"))
		if ok && threshold <= 0 {
			t.fail("threshold", "must be above 0, got %v%s", threshold, always)
		}
		return link(func(c *chain, s Subject) { c.HaveBudgetUtilizationAbove(threshold, s.Budget) })
	}},
	{"HaveKindCoverageCount", func(t *table) func(Subject) error {
		n := t.atLeast("n", 1, always)
		return link(func(c *chain, _ Subject) { c.HaveKindCoverageCount(n) })
	}},
	{"PlaceItemAtEdge", func(t *table) func(Subject) error {
		item := t.entry()
		return link(func(c *chain, _ Subject) { c.PlaceItemAtEdge(item) })
	}},
	{"PlaceTopNScoredAtEdges", func(t *table) func(Subject) error {
		n := t.atLeast("n", 1, always)
		return link(func(c *chain, _ Subject) { c.PlaceTopNScoredAtEdges(n) })
	}},

	{"IncludeInOrder", func(t *table) func(Subject) error {
		contents := t.texts("contents")
		return link(func(c *chain, _ Subject) { c.IncludeInOrder(contents...) })
	}},
	{"HaveNoExclusions", func(*table) func(Subject) error {
		return link(func(c *chain, _ Subject) { c.HaveNoExclusions() })
	}},
	{"IncludeNoItemMatching", func(t *table) func(Subject) error {
		item := t.entry()
		return link(func(c *chain, _ Subject) { c.IncludeNoItemMatching(item) })
	}},
	{"ExcludeNoItemMatching", func(t *table) func(Subject) error {
		item := t.item()
		return link(func(c *chain, _ Subject) { c.ExcludeNoItemMatching(item) })
	}},
	{"ExcludeItemWithReasonData", func(t *table) func(Subject) error {
		reason := t.reasonData("reason", "data")
		return link(func(c *chain, _ Subject) { c.ExcludeItemWithReasonData(reason) })
	}},
	{"HaveTokensAtMost", func(t *table) func(Subject) error {
		n := t.atLeast("n", 0, "")
		return link(func(c *chain, _ Subject) { c.HaveTokensAtMost(n) })
	}},
	{"HaveShortfallForKind", func(t *table) func(Subject) error {
		kind := t.kind()
		return link(func(c *chain, _ Subject) { c.HaveShortfallForKind(kind) })
	}},
	{"IncludeGroup", func(t *table) func(Subject) error {
		group, _ := t.requiredText("group")
		return link(func(c *chain, _ Subject) { c.IncludeGroup(group) })
	}},
	{"ExcludeGroup", func(t *table) func(Subject) error {
		group, _ := t.requiredText("group")
		return link(func(c *chain, _ Subject) { c.ExcludeGroup(group) })
	}},
	{"KeepGroupsWhole", func(*table) func(Subject) error {
		return link(func(c *chain, _ Subject) { c.KeepGroupsWhole() })
	}},
	{"KeepGroupsTogether", func(*table) func(Subject) error {
		return link(func(c *chain, _ Subject) { c.KeepGroupsTogether() })
	}},
	{"IncludeItemInForm", func(t *table) func(Subject) error {
		item, form := t.entry(), t.atLeast("form", 0, "")
		return link(func(c *chain, _ Subject) { c.IncludeItemInForm(item, form) })
	}},
	{"IncludeItemInSmallerForm", func(t *table) func(Subject) error {
		item := t.entry()
		return link(func(c *chain, _ Subject) { c.IncludeItemInSmallerForm(item) })
	}},
	{"ExcludeItemSupersededBy", func(t *table) func(Subject) error {
		item := t.item()
		newest, _ := t.asContent("newest", t.need("newest"))
		return link(func(c *chain, _ Subject) { c.ExcludeItemSupersededBy(item, newest) })
	}},
	{"IncludeStaleItem", func(t *table) func(Subject) error {
		item := t.entry()
		return link(func(c *chain, _ Subject) { c.IncludeStaleItem(item) })
	}},
	{"HaveNoStaleItems", func(*table) func(Subject) error {
		return link(func(c *chain, _ Subject) { c.HaveNoStaleItems() })
	}},
	{"MatchGolden", func(t *table) func(Subject) error {
		name, _ := t.requiredText("name")
		return link(func(c *chain, _ Subject) { c.MatchGolden(name) })
	}},
	{"Deterministic", func(t *table) func(Subject) error {
		runs := t.atLeast("runs", 2, ": it takes two to compare")
		if runs > maxRuns {
			t.fail("runs", "must be at most %d, got %d", maxRuns, runs)
		}
		return func(s Subject) error {
			var r recorder
			cupeltest.Deterministic(&r, s.Pipeline, s.Items, s.Budget, runs, s.Options...)
			return r.err
		}
	}},
}

// maxRuns bounds the time that one check can take.
const maxRuns = 1000

// always is the reason why some numbers are rejected.
const always = ": it would always hold"

// link returns a check that runs one assertion of a chain.
func link(run func(c *chain, s Subject)) func(Subject) error {
	return func(s Subject) error {
		return cupeltest.That(s.Report, func(c *chain) { run(c, s) }, s.Options...)
	}
}

// recorder is a [cupeltest.T] that records failures.
type recorder struct{ err error }

func (*recorder) Helper()  {}
func (*recorder) FailNow() {}
func (r *recorder) Errorf(format string, args ...any) {
	r.err = errors.Join(r.err, fmt.Errorf(format, args...))
}

// snake returns a name of the vocabulary in snake case:
// include_exactly_n_items_with_kind.
func snake(name string) string {
	var b strings.Builder
	for i, c := range name {
		if i > 0 && unicode.IsUpper(c) {
			b.WriteByte('_')
		}
		b.WriteRune(unicode.ToLower(c))
	}
	return b.String()
}

func (t *table) kind() cupel.ContextKind {
	text, _ := t.requiredText("kind")
	return cupel.ContextKind(text)
}

// reason reads the code of an exclusion. Policies of this command give only the
// codes of the specification.
func (t *table) reason(name string) cupel.ExclusionCode {
	text, ok := t.requiredText(name)
	if !ok {
		return ""
	}
	known := cupel.ExclusionCodes()
	if code := cupel.ExclusionCode(text); slices.Contains(known, code) {
		return code
	}
	var names []string
	for _, code := range known {
		names = append(names, string(code))
	}
	t.fail(name, "%q is unknown; want one of %s", text, strings.Join(names, ", "))
	return ""
}

// reasonData reads a code and its data through the JSON of reports.
func (t *table) reasonData(name, dataName string) (reason cupel.ExclusionReason) {
	code := t.reason(name)
	t.need(dataName)
	data := t.table(dataName)
	if code == "" || data == nil {
		return reason
	}
	before := len(t.problems)
	wire := map[string]any{"reason": string(code)}
	for f := range cupel.NewExclusionReason(code, cupel.ReasonData{}).Fields() {
		switch f.Value.(type) {
		case int:
			wire[f.Name] = data.integer(f.Name)
		case float64:
			wire[f.Name], _ = data.asFloat(f.Name, data.need(f.Name))
		default:
			if f.Content {
				wire[f.Name], _ = data.asContent(f.Name, data.need(f.Name))
			} else {
				wire[f.Name], _ = data.requiredText(f.Name)
			}
		}
	}
	if code == cupel.ExcludeBudgetExceeded { // of an item in a group
		if n := data.optionalInt("group_tokens"); n != nil {
			wire["group_tokens"] = *n
		}
	}
	data.end()
	if len(t.problems) > before {
		return reason
	}
	text, err := json.Marshal(wire)
	if err == nil {
		err = json.Unmarshal(text, &reason)
	}
	if err != nil {
		t.fail(dataName, "%v", err)
	}
	return reason
}
