package cupeltest

import (
	"fmt"
	"slices"
	"strings"

	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupel/analysis"
)

// IncludeGroup holds if the whole group is in the window: at least one item of
// it is included, and none is excluded. Groups compare byte for byte.
//
// It is an addition to the vocabulary of the specification.
func (c *SelectionReportAssertionChain) IncludeGroup(group string) *SelectionReportAssertionChain {
	c.tester().Helper()
	return c.link("IncludeGroup", func(r *cupel.SelectionReport) *SelectionReportAssertionError {
		in, out := membersOf(r, group)
		if in > 0 && len(out) == 0 {
			return nil
		}
		return c.groupFailure(r, "IncludeGroup", "included", group, in, out)
	})
}

// ExcludeGroup holds if the whole group is out: at least one item of it is
// excluded, and none is included. Groups compare byte for byte.
//
// It is an addition to the vocabulary of the specification.
func (c *SelectionReportAssertionChain) ExcludeGroup(group string) *SelectionReportAssertionChain {
	c.tester().Helper()
	return c.link("ExcludeGroup", func(r *cupel.SelectionReport) *SelectionReportAssertionError {
		in, out := membersOf(r, group)
		if in == 0 && len(out) > 0 {
			return nil
		}
		return c.groupFailure(r, "ExcludeGroup", "excluded", group, in, out)
	})
}

// membersOf returns how many items of a group are included, and those excluded.
func membersOf(r *cupel.SelectionReport, group string) (in int, out []cupel.ExcludedItem) {
	for _, entry := range r.Included {
		if ByGroup(group).Included(entry) {
			in++
		}
	}
	return in, excludedMatching(r, ByGroup(group))
}

func (c *SelectionReportAssertionChain) groupFailure(r *cupel.SelectionReport, name, want, group string, in int, out []cupel.ExcludedItem) *SelectionReportAssertionError {
	actual := "no candidate of that group"
	if in+len(out) > 0 {
		actual = fmt.Sprintf("%d of its items included and %d excluded", in, len(out))
	}
	if len(out) > 0 {
		actual += fmt.Sprintf(" with reasons: [%s]", reasonNames(out))
	}
	var nearest []string
	switch {
	case in+len(out) == 0:
		nearest = c.nothing(r, ByGroup(group).Included)
	case want == "included":
		nearest = c.lost(out)
	default:
		nearest = c.included(r, ByGroup(group).Included)
	}
	return &SelectionReportAssertionError{
		Nearest:  nearest,
		Expected: fmt.Sprintf("all items of group %s %s", quote(group), want),
		Actual:   actual,
		message:  fmt.Sprintf("%s(%s) failed: expected all items of the group to be %s, but found %s.", name, quote(group), want, actual),
	}
}

// KeepGroupsWhole holds if no group is split: its items are all included or all
// excluded, wherever they are in the window. It also holds without groups.
//
// It is an addition to the vocabulary of the specification.
func (c *SelectionReportAssertionChain) KeepGroupsWhole() *SelectionReportAssertionChain {
	c.tester().Helper()
	return c.link("KeepGroupsWhole", func(r *cupel.SelectionReport) *SelectionReportAssertionError {
		inside := make(map[string]bool)
		for _, entry := range r.Included {
			inside[entry.Item.Group()] = true
		}
		split := make(map[string]bool)
		first := ""
		for _, entry := range r.Excluded {
			group := entry.Item.Group()
			if group == "" || !inside[group] {
				continue
			}
			if len(split) == 0 {
				first = group
			}
			split[group] = true
		}
		if len(split) == 0 {
			return nil
		}
		in, out := membersOf(r, first)
		actual := fmt.Sprintf("%d group(s) are split. Group %s has %d included and %d excluded item(s)", len(split), quote(first), in, len(out))
		return &SelectionReportAssertionError{
			Expected: "no group split", Actual: actual,
			message: fmt.Sprintf("KeepGroupsWhole failed: %s.", actual),
			Nearest: append(c.excluded(out), c.included(r, ByGroup(first).Included)...),
		}
	})
}

// KeepGroupsTogether holds if no group is split: its items are all included or
// all excluded, and those in the window follow one another. Every report of a
// pipeline passes; the assertion is for other implementations and for reports
// built in tests. It also holds without groups.
//
// It is an addition to the vocabulary of the specification.
func (c *SelectionReportAssertionChain) KeepGroupsTogether() *SelectionReportAssertionChain {
	c.tester().Helper()
	return c.link("KeepGroupsTogether", func(r *cupel.SelectionReport) *SelectionReportAssertionError {
		fail := func(actual string) *SelectionReportAssertionError {
			return &SelectionReportAssertionError{
				Expected: "no group split", Actual: actual,
				message: fmt.Sprintf("KeepGroupsTogether failed: %s.", actual),
			}
		}
		last := make(map[string]int) // position of the last included item of a group
		for i, entry := range r.Included {
			group := entry.Item.Group()
			if at, ok := last[group]; ok && at != i-1 && group != "" {
				return fail(fmt.Sprintf("group %s has items at index %d and %d and none between them", quote(group), at, i))
			}
			last[group] = i
		}
		for _, entry := range r.Excluded {
			group := entry.Item.Group()
			if at, ok := last[group]; ok && group != "" {
				return fail(fmt.Sprintf("group %s has an item at index %d, and another is excluded: %s", quote(group), at, entry.Reason.Code))
			}
		}
		return nil
	})
}

// IncludeItemInForm holds if the predicate is true for at least one included
// entry in this form: 0 is the full item, n the n-th of its variants, largest
// first, as [cupel.IncludedItem.Form] counts. The predicate sees the item as
// the window has it, with the content and the tokens of its form. It never
// holds for a negative form.
//
// It is an addition to the vocabulary of the specification.
func (c *SelectionReportAssertionChain) IncludeItemInForm(predicate func(cupel.IncludedItem) bool, form int) *SelectionReportAssertionChain {
	c.tester().Helper()
	return c.link("IncludeItemInForm", func(r *cupel.SelectionReport) *SelectionReportAssertionError {
		return c.inForm(r, fmt.Sprintf("IncludeItemInForm(%d)", form), fmt.Sprintf("form %d", form), predicate, func(f int) bool { return f == form })
	})
}

// IncludeItemInSmallerForm holds if the predicate is true for at least one
// included entry that is not the full item, as for
// [SelectionReportAssertionChain.IncludeItemInForm].
//
// It is an addition to the vocabulary of the specification.
func (c *SelectionReportAssertionChain) IncludeItemInSmallerForm(predicate func(cupel.IncludedItem) bool) *SelectionReportAssertionChain {
	c.tester().Helper()
	return c.link("IncludeItemInSmallerForm", func(r *cupel.SelectionReport) *SelectionReportAssertionError {
		return c.inForm(r, "IncludeItemInSmallerForm", "a smaller form", predicate, func(f int) bool { return f > 0 })
	})
}

func (c *SelectionReportAssertionChain) inForm(r *cupel.SelectionReport, head, want string, predicate func(cupel.IncludedItem) bool, holds func(form int) bool) *SelectionReportAssertionError {
	if predicate == nil {
		return nilPredicate(head)
	}
	var forms []string
	for _, entry := range r.Included {
		if !predicate(entry) {
			continue
		}
		if holds(entry.Form) {
			return nil
		}
		forms = append(forms, fmt.Sprint(entry.Form))
	}
	actual := fmt.Sprintf("no item in Included matched the predicate. Included had %d items", len(r.Included))
	nearest := c.included(r, predicate)
	if len(forms) == 0 {
		nearest = c.nearIncluded(r, predicate)
	}
	if len(forms) > 0 {
		shown := strings.Join(forms[:min(mostShown, len(forms))], ", ")
		if len(forms) > mostShown {
			shown += ", …"
		}
		actual = fmt.Sprintf("predicate matched %d included item(s) but none was in %s. They had forms: [%s]", len(forms), want, shown)
	}
	return &SelectionReportAssertionError{
		Expected: fmt.Sprintf("at least 1 included item that matches the predicate, in %s", want),
		Actual:   actual,
		message:  fmt.Sprintf("%s failed: %s.", head, actual),
		Nearest:  nearest,
	}
}

// ExcludeItemSupersededBy holds if the predicate is true for an excluded item
// with reason [cupel.ExcludeSuperseded], and the newest version has exactly
// this content.
//
// It is an addition to the vocabulary of the specification.
func (c *SelectionReportAssertionChain) ExcludeItemSupersededBy(predicate func(*cupel.ContextItem) bool, newest string) *SelectionReportAssertionChain {
	c.tester().Helper()
	return c.link("ExcludeItemSupersededBy", func(r *cupel.SelectionReport) *SelectionReportAssertionError {
		head := fmt.Sprintf("ExcludeItemSupersededBy(%s)", c.quote(newest))
		if predicate == nil {
			return nilPredicate(head)
		}
		matching := excludedMatching(r, predicate)
		var found []string
		for _, entry := range matching {
			if entry.Reason.Code != cupel.ExcludeSuperseded {
				continue
			}
			by := entry.Reason.Data().SupersededBy
			if by == newest {
				return nil
			}
			found = append(found, by)
		}
		actual := fmt.Sprintf("predicate matched %d excluded item(s) but none had reason Superseded. Matched items had reasons: [%s]", len(matching), reasonNames(matching))
		if len(found) > 0 {
			actual = fmt.Sprintf("the matching items are superseded by: [%s]", c.quoteAll(slices.Compact(found)))
		}
		return &SelectionReportAssertionError{
			Expected: fmt.Sprintf("an excluded item that matches the predicate, superseded by %s", c.quote(newest)),
			Nearest:  c.nearExcluded(r, predicate),
			Actual:   actual,
			message:  fmt.Sprintf("%s failed: %s.", head, actual),
		}
	})
}

// IncludeStaleItem holds if the predicate is true for at least one included
// entry whose newer version was among the candidates.
//
// It is an addition to the vocabulary of the specification.
func (c *SelectionReportAssertionChain) IncludeStaleItem(predicate func(cupel.IncludedItem) bool) *SelectionReportAssertionChain {
	c.tester().Helper()
	return c.link("IncludeStaleItem", func(r *cupel.SelectionReport) *SelectionReportAssertionError {
		if predicate == nil {
			return nilPredicate("IncludeStaleItem")
		}
		matched := 0
		for _, entry := range r.Included {
			if !predicate(entry) {
				continue
			}
			if entry.Stale {
				return nil
			}
			matched++
		}
		actual := fmt.Sprintf("no item in Included matched the predicate. Included had %d items", len(r.Included))
		nearest := c.included(r, predicate)
		if matched == 0 {
			nearest = c.nearIncluded(r, predicate)
		} else {
			actual = fmt.Sprintf("predicate matched %d included item(s) but none was stale", matched)
		}
		return &SelectionReportAssertionError{
			Expected: "at least 1 stale included item that matches the predicate",
			Actual:   actual,
			message:  fmt.Sprintf("IncludeStaleItem failed: %s.", actual),
			Nearest:  nearest,
		}
	})
}

// HaveNoStaleItems holds if the window has the newest version of everything: no
// included item had a newer version among the candidates.
//
// It is an addition to the vocabulary of the specification.
func (c *SelectionReportAssertionChain) HaveNoStaleItems() *SelectionReportAssertionChain {
	c.tester().Helper()
	return c.link("HaveNoStaleItems", func(r *cupel.SelectionReport) *SelectionReportAssertionError {
		var stale []cupel.IncludedItem
		for _, entry := range r.Included {
			if entry.Stale {
				stale = append(stale, entry)
			}
		}
		if len(stale) == 0 {
			return nil
		}
		first := stale[0].Item
		actual := fmt.Sprintf("found %d stale item(s) in Included. First: %s (kind=%s, a version of %s)",
			len(stale), c.quote(first.Content()), first.Kind(), quote(first.VersionOf()))
		return &SelectionReportAssertionError{
			Expected: "no stale included item",
			Actual:   actual,
			message:  fmt.Sprintf("HaveNoStaleItems failed: %s.", actual),
			Nearest:  c.included(r, func(i cupel.IncludedItem) bool { return i.Stale }),
		}
	})
}

// unitsNote ends a message whose numbers are not those of the items.
func unitsNote(r *cupel.SelectionReport, units []analysis.IncludedUnit) string {
	if len(units) == len(r.Included) {
		return ""
	}
	return fmt.Sprintf(" Each group counts as one item; without groups there are %d.", len(r.Included))
}
