package cupeltest

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupel/pipeline"
	"github.com/wollax/cupel-go/cupel/slicer"
	"github.com/wollax/cupel-go/cupel/strategy"
)

const (
	defaultCases = 1000
	mostShrinks  = 2000 // runs of a rule to make a failing list small
)

// A PropertyOption is a rule for [Property], or a setting of it.
type PropertyOption func(*property)

type property struct {
	pipeline *pipeline.Pipeline
	rules    []propertyRule
	generate func(random *rand.Rand) []*cupel.ContextItem
	seed     uint64
	cases    int
}

// A propertyRule is what holds for every list of candidates and every budget.
type propertyRule struct {
	name   string
	broken func(p *property, c propertyCase) string
}

// A propertyCase is what a rule is tried with.
type propertyCase struct {
	items  []*cupel.ContextItem
	budget cupel.ContextBudget
	more   cupel.ContextBudget // at least budget
	filler *cupel.ContextItem  // nothing prefers it
}

// WithCandidates has Property try lists of the generator, for a policy that reads a
// team's own metadata. The generator must take all chance from random.
func WithCandidates(generator func(random *rand.Rand) []*cupel.ContextItem) PropertyOption {
	return func(p *property) { p.generate = generator }
}

// WithSeed sets the seed of the cases; the default is 1. Equal seeds give equal
// cases.
func WithSeed(seed uint64) PropertyOption { return func(p *property) { p.seed = seed } }

// WithCases sets how many lists Property tries for each rule; the default is 1,000.
func WithCases(n int) PropertyOption { return func(p *property) { p.cases = n } }

func withRule(name string, broken func(p *property, c propertyCase) string) PropertyOption {
	return func(p *property) { p.rules = append(p.rules, propertyRule{name, broken}) }
}

// BudgetHeld is the rule that the window has at most the target's tokens, and that
// no run fails because the slicer chose more. Pinned items may pass the target up
// to the ceiling. It is not for pipelines with [pipeline.OverflowProceed] or with a
// count slicer, which let the window pass the target.
func BudgetHeld() PropertyOption {
	return withRule("BudgetHeld", func(p *property, c propertyCase) string {
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
	})
}

// ReportHolds is a rule of your own about each report alone; check returns what is
// wrong, or nil.
func ReportHolds(name string, check func(*cupel.SelectionReport) error) PropertyOption {
	return withRule(name, func(p *property, c propertyCase) string {
		report, broken := p.run(c.items, c.budget)
		if report != nil {
			if err := check(report); err != nil {
				return err.Error()
			}
		}
		return broken
	})
}

// PinnedKept is the rule that every pinned item is in the window.
func PinnedKept() PropertyOption {
	return ReportHolds("PinnedKept", func(report *cupel.SelectionReport) error {
		for _, entry := range report.Excluded {
			if entry.Item.Pinned() && entry.Reason.Code != cupel.ExcludeNegativeTokens {
				return fmt.Errorf("the pinned item %s is excluded: %s", quote(entry.Item.Content()), entry.Reason.Code)
			}
		}
		return nil
	})
}

// GroupsWhole is the rule that no group is split: its items are all in, one after
// the other, or all out.
func GroupsWhole() PropertyOption {
	return ReportHolds("GroupsWhole", func(report *cupel.SelectionReport) error {
		return That(report, func(c *SelectionReportAssertionChain) { c.KeepGroupsTogether() })
	})
}

// SameEveryTime is the rule that runs with equal candidates give equal reports.
func SameEveryTime() PropertyOption {
	return withRule("SameEveryTime", func(p *property, c propertyCase) string {
		first, broken := p.run(c.items, c.budget)
		for range 2 {
			if first == nil {
				return broken
			}
			again, broken := p.run(c.items, c.budget)
			if again == nil {
				return cmp.Or(broken, "a run succeeds, and the next one fails")
			}
			text := new(SelectionReportAssertionChain).decisions
			if want, got := text(first, true), text(again, true); want != got {
				return "two runs differ:\n" + diff(want, got)
			}
		}
		return ""
	})
}

// RequiredKindKept is the rule that a larger budget never loses a kind: if an item of
// it is in, one is in at every larger budget.
func RequiredKindKept(kind cupel.ContextKind) PropertyOption {
	return kindRule("RequiredKindKept", kind, func(c propertyCase) (propertyCase, string) {
		return propertyCase{items: c.items, budget: c.more}, fmt.Sprintf("with a budget of %d tokens instead of %d", c.more.MaxTokens(), c.budget.MaxTokens())
	})
}

// RequiredKindNotDisplaced is the rule that an item that nothing prefers never pushes
// out the last item of a kind: one more candidate, of its own kind, old, with no tag,
// priority or other field, and with a lower score than all others. Where the scorer
// prefers it to another candidate, the case does not count.
func RequiredKindNotDisplaced(kind cupel.ContextKind) PropertyOption {
	return kindRule("RequiredKindNotDisplaced", kind, func(c propertyCase) (propertyCase, string) {
		return propertyCase{items: append(slices.Clip(c.items), c.filler), budget: c.budget, filler: c.filler},
			fmt.Sprintf("with one more item of %d tokens, which nothing prefers", c.filler.Tokens())
	})
}

// kindRule is a rule about what another case loses.
func kindRule(name string, kind cupel.ContextKind, change func(propertyCase) (propertyCase, string)) PropertyOption {
	return withRule(name, func(p *property, c propertyCase) string {
		before, broken := p.run(c.items, c.budget)
		if before == nil {
			return broken
		}
		other, what := change(c)
		after, broken := p.run(other.items, other.budget)
		if after == nil || other.filler != nil && preferred(after, other.filler) {
			return broken
		}
		is := ByKind(kind).Included
		if slices.ContainsFunc(before.Included, is) && !slices.ContainsFunc(after.Included, is) {
			return fmt.Sprintf("%s, the window loses kind %s", what, oneLine(string(kind)))
		}
		return ""
	})
}

// preferred reports whether a scored candidate is not better than the item.
func preferred(r *cupel.SelectionReport, item *cupel.ContextItem) bool {
	scores := make(map[*cupel.ContextItem]float64)
	for _, entry := range r.Included {
		scores[entry.Item] = entry.Score
	}
	for _, entry := range r.Excluded {
		if code := entry.Reason.Code; code != cupel.ExcludeSuperseded && code != cupel.ExcludeNegativeTokens { // these have no score
			scores[entry.Item] = entry.Score
		}
	}
	for other, score := range scores {
		if other != item && !other.Pinned() && cmp.Compare(score, scores[item]) <= 0 {
			return true
		}
	}
	return false
}

// Property checks that a pipeline keeps rules for generated candidates and budgets.
// Without rules it checks [PinnedKept], [SameEveryTime], [GroupsWhole] and, if the
// pipeline is one for it, [BudgetHeld]. For each broken rule it reports the first
// failing list, made as small as it can be, with the seed, and lets the test
// continue.
//
// Runs that fail because the pinned items do not fit, because of an overflow or for
// want of candidates are lawful; any other failure breaks every rule. Runs are dry.
//
// It is an addition to the vocabulary of the specification.
func Property(t T, pipeline *pipeline.Pipeline, rules ...PropertyOption) {
	t.Helper()
	if pipeline == nil {
		t.Errorf("Property failed: the pipeline is nil")
		return
	}
	p := &property{pipeline: pipeline, seed: 1, cases: defaultCases, generate: randomCandidates}
	for _, option := range rules {
		option(p)
	}
	if len(p.rules) == 0 {
		for _, rule := range []PropertyOption{PinnedKept(), SameEveryTime(), GroupsWhole()} {
			rule(p)
		}
		if !passesTarget(pipeline.Config()) {
			BudgetHeld()(p)
		}
	}
	if p.generate == nil || p.cases < 1 {
		t.Errorf("Property failed: it takes a generator and at least 1 case, got %d.", p.cases)
		return
	}
	for _, rule := range p.rules {
		if failure := p.try(rule); failure != "" {
			t.Errorf("%s", failure)
		}
	}
}

// passesTarget reports whether a window may pass the target.
func passesTarget(config pipeline.Config) bool {
	if config.Overflow == pipeline.OverflowProceed {
		return true
	}
	all := []strategy.Slicer{config.Slicer}
	for len(all) > 0 {
		switch all[0].(type) {
		case *slicer.CountQuota, *slicer.CountConstrainedKnapsack:
			return true
		}
		all = append(all[1:], strategy.FactsOf(all[0]).Slicers...)
	}
	return false
}

// try looks for a case that breaks the rule, and describes it.
func (p *property) try(rule propertyRule) string {
	for n := range p.cases {
		c := p.newCase(n)
		if slices.Contains(c.items, nil) {
			return fmt.Sprintf("Property failed: the generator returns a nil item in case %d of seed %d.", n, p.seed)
		}
		broken := rule.broken(p, c)
		if broken == "" {
			continue
		}
		small, broken := p.shrink(rule, c, broken)
		var b strings.Builder
		fmt.Fprintf(&b, "Property failed: %s: %s.\n\tcase %d of seed %d: cupeltest.WithSeed(%d) repeats it\n\tbudget: at most %d tokens, target %d\n\t%d of %d candidates are enough:",
			rule.name, broken, n, p.seed, p.seed, small.budget.MaxTokens(), small.budget.TargetTokens(), len(small.items), len(c.items))
		for _, line := range cutAt(mostListed, small.items, describeCandidate) {
			b.WriteString("\n\t  " + line)
		}
		return b.String()
	}
	return ""
}

func (p *property) newCase(n int) (c propertyCase) {
	random := rand.New(rand.NewPCG(p.seed, uint64(n)))
	c.items = p.generate(random)
	total := 0
	for _, item := range c.items {
		if item != nil {
			total = min(total+max(0, item.Tokens()), 1<<30)
		}
	}
	target := int(float64(total) * random.Float64() * 1.1)
	c.budget = Budget(target+random.IntN(1+target/10), target)
	more := c.budget.MaxTokens() + 1 + random.IntN(1+total/2)
	c.more = Budget(more, more)
	c.filler = Item("an item that nothing prefers", 1+random.IntN(1+target), cupel.WithKind("Filler"), cupel.WithTimestamp(time.Unix(0, 0).UTC()))
	return c
}

// shrink leaves out candidates as long as the rule is broken: halves first, then ever
// smaller parts.
func (p *property) shrink(rule propertyRule, c propertyCase, broken string) (propertyCase, string) {
	runs := 0
	for size := len(c.items); size > 0; {
		smaller := false
		for at := 0; at < len(c.items) && runs < mostShrinks; runs++ {
			try := c
			try.items = slices.Delete(slices.Clone(c.items), at, min(at+size, len(c.items)))
			if text := rule.broken(p, try); text != "" {
				c, broken, smaller = try, text, true
			} else {
				at += size
			}
		}
		if !smaller {
			size /= 2
		}
	}
	return c, broken
}

// run returns the report of a run, or nil if it failed lawfully.
func (p *property) run(items []*cupel.ContextItem, budget cupel.ContextBudget) (report *cupel.SelectionReport, broken string) {
	report, err := p.pipeline.DryRun(context.Background(), items, budget)
	switch {
	case err == nil:
		return report, ""
	case errors.Is(err, pipeline.ErrPinnedExceedsBudget), errors.Is(err, pipeline.ErrOverflow), errors.Is(err, cupel.ErrScarcity):
		return nil, ""
	}
	return nil, "the run fails: " + err.Error()
}

func describeCandidate(item *cupel.ContextItem) string {
	text := describeItem(item, quote)
	if item.Pinned() {
		text += ", pinned"
	}
	if priority, ok := item.Priority(); ok {
		text += fmt.Sprintf(", priority %d", priority)
	}
	if hint, ok := item.FutureRelevanceHint(); ok {
		text += ", hint " + score(hint)
	}
	if item.NumTags() > 0 {
		text += fmt.Sprintf(", tags %q", item.Tags())
	}
	if metadata := item.Metadata(); len(metadata) > 0 {
		text += fmt.Sprintf(", %v", metadata)
	}
	return oneLine(text)
}

// randomCandidates returns up to 24 candidates of the well-known kinds, with groups,
// versions, smaller forms, duplicates and pins.
func randomCandidates(random *rand.Rand) []*cupel.ContextItem {
	kinds := []cupel.ContextKind{cupel.KindMessage, cupel.KindDocument, cupel.KindToolOutput, cupel.KindMemory}
	start := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	var items []*cupel.ContextItem
	for i := range random.IntN(25) {
		tokens := random.IntN(200)
		opts := []cupel.ItemOption{
			cupel.WithKind(kinds[random.IntN(len(kinds))]), cupel.WithFutureRelevanceHint(float64(random.IntN(100)) / 100),
			cupel.WithPriority(random.IntN(10)), cupel.WithTimestamp(start.Add(time.Duration(random.IntN(1000)) * time.Minute)),
		}
		content := fmt.Sprintf("item %d", i)
		switch random.IntN(12) {
		case 0:
			opts, tokens = append(opts, cupel.WithPinned()), tokens/10
		case 1, 2:
			opts = append(opts, cupel.WithGroup(fmt.Sprintf("group %d", random.IntN(3))))
		case 3:
			opts = append(opts, cupel.WithVersionOf(fmt.Sprintf("file %d", random.IntN(3))))
		case 4:
			opts = append(opts, cupel.WithVariants(cupel.Variant{Content: content + ", shorter", Tokens: tokens / 2, Worth: 0.5}))
		case 5:
			content = fmt.Sprintf("item %d", random.IntN(i+1)) // perhaps a duplicate
		case 6:
			opts = append(opts, cupel.WithTags("urgent"))
		}
		items = append(items, Item(content, tokens, opts...))
	}
	return items
}
