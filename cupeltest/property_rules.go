package cupeltest

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"math"
	"slices"

	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupel/analysis"
	"github.com/wollax/cupel-go/cupel/pipeline"
	"github.com/wollax/cupel-go/cupel/slicer"
	"github.com/wollax/cupel-go/cupel/strategy"
)

func withRule(rule propertyRule) PropertyOption {
	if rule.exempt == nil {
		rule.exempt = func(pipeline.Config) string { return "" }
	}
	return func(p *property) { p.rules = append(p.rules, rule) }
}

// BudgetHeld is the rule that the window has at most the target's tokens, and that
// no run fails because the slicer chose more. Pinned items may pass the target up
// to the ceiling. Exempt are pipelines with [pipeline.OverflowProceed], which lets the
// window pass the target, and those with a count slicer, which commits items
// of any size.
func BudgetHeld() PropertyOption {
	return withRule(propertyRule{
		name: "BudgetHeld",
		exempt: func(config pipeline.Config) string {
			if config.Overflow == pipeline.OverflowProceed {
				return "OverflowProceed lets the window pass the target"
			}
			if countsKinds(config.Slicer) {
				return "a count slicer commits items of any size"
			}
			return ""
		},
		broken: func(p *property, c propertyCase) string {
			pinned := 0
			for _, item := range c.items {
				if item.Pinned() {
					pinned += max(0, item.Tokens())
				}
			}
			report, err := p.pipeline.DryRun(context.Background(), c.items, c.budget)
			if errors.Is(err, pipeline.ErrOverflow) && pinned <= c.budget.TargetTokens() {
				return "the slicer chooses more than the target: " + err.Error()
			}
			if err != nil {
				_, broken := p.run(c.items, c.budget)
				return broken
			}
			limit := max(c.budget.TargetTokens(), min(pinned, c.budget.MaxTokens()))
			if tokens := includedTokens(report); tokens > limit {
				return fmt.Sprintf("%d tokens are included, and %d are allowed", tokens, limit)
			}
			return ""
		},
	})
}

// reportRule is a rule about each report alone.
func reportRule(name string, check func(*cupel.SelectionReport) string) PropertyOption {
	return withRule(propertyRule{name: name, broken: func(p *property, c propertyCase) string {
		report, broken := p.run(c.items, c.budget)
		if report == nil {
			return broken
		}
		return check(report)
	}})
}

// PinnedKept is the rule that every pinned candidate is in the window, except one of
// negative size. No policy is exempt.
func PinnedKept() PropertyOption {
	return reportRule("PinnedKept", brokenPins)
}

func brokenPins(report *cupel.SelectionReport) string {
	for _, entry := range report.Excluded {
		if entry.Item.Pinned() && entry.Reason.Code != cupel.ExcludeNegativeTokens {
			return fmt.Sprintf("the pinned item %s is excluded: %s", quote(entry.Item.Content()), entry.Reason.Code)
		}
	}
	return ""
}

// SameEveryTime is the rule that runs with equal candidates give equal reports. No
// policy is exempt.
func SameEveryTime() PropertyOption {
	return withRule(propertyRule{name: "SameEveryTime", broken: func(p *property, c propertyCase) string {
		first, broken := p.run(c.items, c.budget)
		if first == nil {
			return broken
		}
		text := new(SelectionReportAssertionChain).decisions
		for range 2 {
			again, broken := p.run(c.items, c.budget)
			switch {
			case broken != "":
				return broken
			case again == nil:
				return "a run succeeds, and the next one fails"
			}
			if want, got := text(first, true), text(again, true); want != got {
				return "two runs differ:\n" + diff(want, got)
			}
		}
		return ""
	}})
}

// GroupsWhole is the rule that no group is split: its items are all in, one after
// the other, or all out. No policy is exempt.
func GroupsWhole() PropertyOption {
	return reportRule("GroupsWhole", brokenGroups)
}

func brokenGroups(report *cupel.SelectionReport) string {
	if err := That(report).KeepGroupsTogether().Err(); err != nil {
		return err.Error()
	}
	return ""
}

// RequiredKindsKept is the rule that a larger budget never loses a required kind: if
// an item of it is in, one is in at every larger budget. Without kinds they are
// those that a quota or count slicer of the pipeline requires. Exempt are pipelines
// that require none, and those with a count slicer and [pipeline.OverflowTruncate],
// which leaves out what exceeds the target. A quota guarantees a share of the budget
// and no item, so it is exempt where no item of the kind fits its share.
func RequiredKindsKept(kinds ...cupel.ContextKind) PropertyOption {
	return kindRule("RequiredKindsKept", kinds, func(c propertyCase) (propertyCase, string) {
		return propertyCase{items: c.items, budget: c.more}, fmt.Sprintf("with a budget of %d tokens instead of %d", c.more.MaxTokens(), c.budget.MaxTokens())
	})
}

// RequiredKindsNotDisplaced is the rule that an item that nothing prefers never
// pushes out the last item of a required kind: one more candidate, of its own kind,
// old, with no tag, priority or other field, and with a lower score than all
// others. Where the scorer prefers it to another candidate, the case does not
// count. Kinds and exemptions are those of [RequiredKindsKept].
func RequiredKindsNotDisplaced(kinds ...cupel.ContextKind) PropertyOption {
	return kindRule("RequiredKindsNotDisplaced", kinds, func(c propertyCase) (propertyCase, string) {
		return propertyCase{items: append(slices.Clip(c.items), c.filler), budget: c.budget, filler: c.filler},
			fmt.Sprintf("with one more item of %d tokens, which nothing prefers", c.filler.Tokens())
	})
}

// kindRule is a rule about what another case loses.
func kindRule(name string, kinds []cupel.ContextKind, change func(propertyCase) (propertyCase, string)) PropertyOption {
	return withRule(propertyRule{
		name: name,
		exempt: func(config pipeline.Config) string {
			if len(kinds) == 0 && len(requirements(config.Slicer)) == 0 {
				return "no slicer requires a kind, and none was given"
			}
			if config.Overflow == pipeline.OverflowTruncate && countsKinds(config.Slicer) {
				return "OverflowTruncate leaves out items that a count slicer has committed"
			}
			return ""
		},
		broken: func(p *property, c propertyCase) string {
			before, broken := p.run(c.items, c.budget)
			if before == nil {
				return broken
			}
			other, what := change(c)
			after, broken := p.run(other.items, other.budget)
			if after == nil || other.filler != nil && preferred(after, other.filler) {
				return broken
			}
			required := requiredBy(p.pipeline)
			if len(kinds) > 0 {
				required = nil
				for _, kind := range kinds {
					required = append(required, requirement{kind: kind})
				}
			}
			for _, r := range required {
				if r.percent > 0 && !r.fits(c) {
					continue
				}
				if countKind(before, r.kind) > 0 && countKind(after, r.kind) == 0 {
					return fmt.Sprintf("%s, the window loses kind %s", what, oneLine(string(r.kind)))
				}
			}
			return ""
		},
	})
}

// preferred reports whether a scored candidate is not better than the item.
func preferred(r *cupel.SelectionReport, item *cupel.ContextItem) bool {
	var its float64
	var others []float64
	add := func(it *cupel.ContextItem, score float64) {
		switch {
		case it == item:
			its = score
		case !it.Pinned():
			others = append(others, score)
		}
	}
	for _, entry := range r.Included {
		add(entry.Item, entry.Score)
	}
	for _, entry := range r.Excluded {
		if code := entry.Reason.Code; code != cupel.ExcludeSuperseded && code != cupel.ExcludeNegativeTokens { // these have no score
			add(entry.Item, entry.Score)
		}
	}
	return slices.ContainsFunc(others, func(other float64) bool { return cmp.Compare(other, its) <= 0 })
}

func countKind(r *cupel.SelectionReport, kind cupel.ContextKind) (n int) {
	for _, unit := range analysis.IncludedUnits(r) {
		if unit.Kind().Equal(kind) {
			n++
		}
	}
	return n
}

// A requirement is a kind that a slicer guarantees something.
type requirement struct {
	kind    cupel.ContextKind
	percent float64 // of the target; 0 for a number of items
}

// fits reports whether an item of the kind fits its share, and none of them is in a
// group, whose kind and size are not those of the item.
func (r requirement) fits(c propertyCase) bool {
	room := c.budget.TargetTokens()
	least := math.MaxInt
	for _, item := range c.items {
		if item.Group() != "" && item.Kind().Equal(r.kind) {
			return false
		}
		if item.Pinned() {
			room -= item.Tokens()
		} else if item.Kind().Equal(r.kind) && item.Tokens() >= 0 {
			least = min(least, item.Tokens())
		}
	}
	return float64(least) <= float64(room)*r.percent/100
}

func requiredBy(pipeline *pipeline.Pipeline) []requirement {
	return requirements(pipeline.Config().Slicer)
}

func requirements(s strategy.Slicer) []requirement {
	var list []requirement
	counts := func(entries []slicer.CountQuotaEntry) {
		for _, entry := range entries {
			if entry.RequireCount > 0 {
				list = append(list, requirement{kind: entry.Kind})
			}
		}
	}
	for s := range slicersOf(s) {
		switch s := s.(type) {
		case *slicer.CountQuota:
			counts(s.Entries())
		case *slicer.CountConstrainedKnapsack:
			counts(s.Entries())
		case *slicer.Quota:
			for _, entry := range s.Entries() {
				if percent, _ := entry.Percentages(); percent > 0 {
					list = append(list, requirement{entry.Kind(), percent})
				}
			}
		}
	}
	return list
}

// countsKinds reports whether a slicer, or one inside it, commits numbers of items.
func countsKinds(s strategy.Slicer) bool {
	for s := range slicersOf(s) {
		switch s.(type) {
		case *slicer.CountQuota, *slicer.CountConstrainedKnapsack:
			return true
		}
	}
	return false
}

// slicersOf yields a slicer and those inside it.
func slicersOf(s strategy.Slicer) iter.Seq[strategy.Slicer] {
	return func(yield func(strategy.Slicer) bool) {
		open := []strategy.Slicer{s}
		for len(open) > 0 {
			s, open = open[0], open[1:]
			if !yield(s) {
				return
			}
			open = append(open, strategy.FactsOf(s).Slicers...)
		}
	}
}
