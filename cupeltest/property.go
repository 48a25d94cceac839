package cupeltest

import (
	"context"
	"errors"
	"fmt"
	"math/bits"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupel/pipeline"
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
	exempt func(config pipeline.Config) string // why the rule does not apply, or ""
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

// Property checks that a pipeline keeps rules for generated candidates and budgets.
// Without rules it checks all: [BudgetHeld], [PinnedKept], [SameEveryTime],
// [GroupsWhole], [RequiredKindsKept] and [RequiredKindsNotDisplaced]. For each
// broken rule it reports the first failing list, made as small as it can be, with
// the seed, and lets the test continue.
//
// A rule exempts the lawful policies that it names; if t has a method Logf, Property
// says so there. Runs that fail because the pinned items do not fit, because of an
// overflow or for want of candidates are lawful too; any other failure breaks every
// rule. Runs are dry.
//
// It is an addition to the vocabulary of the specification.
func Property(t T, pipeline *pipeline.Pipeline, rules ...PropertyOption) {
	t.Helper()
	if pipeline == nil {
		t.Errorf("Property failed: the pipeline is nil")
		return
	}
	p := &property{pipeline: pipeline, seed: 1, cases: defaultCases}
	p.generate = func(random *rand.Rand) []*cupel.ContextItem { return randomCandidates(random, requiredBy(pipeline)) }
	for _, option := range rules {
		option(p)
	}
	if len(p.rules) == 0 {
		for _, rule := range []PropertyOption{BudgetHeld(), PinnedKept(), SameEveryTime(), GroupsWhole(), RequiredKindsKept(), RequiredKindsNotDisplaced()} {
			rule(p)
		}
	}
	if p.generate == nil || p.cases < 1 {
		t.Errorf("Property failed: it takes a generator and at least 1 case, got %d.", p.cases)
		return
	}
	for _, rule := range p.rules {
		if why := rule.exempt(pipeline.Config()); why != "" {
			if log, ok := t.(interface{ Logf(string, ...any) }); ok {
				log.Logf("Property skips %s: %s.", rule.name, why)
			}
			continue
		}
		if failure := p.try(rule); failure != "" {
			t.Errorf("%s", failure)
		}
	}
}

// try looks for a case that breaks the rule, and describes it.
func (p *property) try(rule propertyRule) string {
	for n := range p.cases {
		c, problem := p.newCase(n)
		if problem != "" {
			return fmt.Sprintf("Property failed: the generator returns %s in case %d of seed %d.", problem, n, p.seed)
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

func (p *property) newCase(n int) (c propertyCase, problem string) {
	random := rand.New(rand.NewPCG(p.seed, uint64(n)))
	c.items = p.generate(random)
	if slices.Contains(c.items, nil) {
		return propertyCase{}, "a nil item"
	}
	total := min(windowTokens(c.items), 1<<30)
	target := int(float64(total) * random.Float64() * 1.1)
	if random.IntN(2) == 0 { // some items fit exactly, so that the smallest one more is too many
		most, sum := random.IntN(1+total), 0
		for _, item := range c.items {
			if tokens := max(0, item.Tokens()); tokens <= most-sum {
				sum += tokens
			}
		}
		target = sum
	}
	c.budget = Budget(target+random.IntN(1+target/10), target)
	more := c.budget.MaxTokens() + 1 + random.IntN(1+total/2)
	c.more = Budget(more, more)
	c.filler = Item("an item that nothing prefers", 1<<random.IntN(bits.Len(uint(target))+1), cupel.WithKind("Filler"), cupel.WithTimestamp(time.Unix(0, 0).UTC()))
	return c, ""
}

// shrink leaves out candidates, and their tokens of the budgets, as long as the rule
// is broken: halves first, then ever smaller parts.
func (p *property) shrink(rule propertyRule, c propertyCase, broken string) (propertyCase, string) {
	runs := 0
	for size := len(c.items); size > 0; {
		smaller := false
		for at := 0; at < len(c.items) && runs < mostShrinks; {
			removed := c.items[at:min(at+size, len(c.items))]
			found := false
			for _, less := range []int{windowTokens(removed), 0} {
				try := c.without(at, len(removed), less)
				runs++
				if text := rule.broken(p, try); text != "" {
					c, broken, smaller, found = try, text, true, true
					break
				}
			}
			if !found {
				at += size
			}
		}
		if !smaller {
			size /= 2
		}
	}
	return c, broken
}

// without returns the case without some items, and with smaller budgets.
func (c propertyCase) without(at, n, tokens int) propertyCase {
	less := func(budget cupel.ContextBudget) cupel.ContextBudget {
		return Budget(max(0, budget.MaxTokens()-tokens), max(0, budget.TargetTokens()-tokens))
	}
	return propertyCase{slices.Delete(slices.Clone(c.items), at, at+n), less(c.budget), less(c.more), c.filler}
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
	text := fmt.Sprintf("%s (%s, %s, %d tokens", quote(item.Content()), item.Kind(), item.Source(), item.Tokens())
	if item.Pinned() {
		text += ", pinned"
	}
	if group := item.Group(); group != "" {
		text += ", group " + name(group)
	}
	if variants := item.Variants(); len(variants) > 0 {
		text += fmt.Sprintf(", or %d in a smaller form", variants[len(variants)-1].Tokens)
	}
	if key := item.VersionOf(); key != "" {
		text += ", version of " + name(key)
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
	return oneLine(text + ")")
}

// randomCandidates returns up to 24 candidates of the well-known kinds and of those that
// the pipeline requires, with groups, versions, smaller forms, duplicates and pins.
func randomCandidates(random *rand.Rand, required []requirement) []*cupel.ContextItem {
	kinds := []cupel.ContextKind{cupel.KindMessage, cupel.KindDocument, cupel.KindToolOutput, cupel.KindMemory}
	for _, r := range required {
		kinds = append(kinds, r.kind)
	}
	start := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	items := make([]*cupel.ContextItem, 0, 24)
	for i := range random.IntN(25) {
		tokens := 1 + random.IntN(200)
		opts := []cupel.ItemOption{
			cupel.WithKind(kinds[random.IntN(len(kinds))]), cupel.WithFutureRelevanceHint(float64(random.IntN(100)) / 100),
			cupel.WithPriority(random.IntN(10)), cupel.WithTimestamp(start.Add(time.Duration(random.IntN(1000)) * time.Minute)),
		}
		content := fmt.Sprintf("item %d", i)
		switch random.IntN(12) {
		case 0:
			opts, tokens = append(opts, cupel.WithPinned()), 1+tokens/10
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
		case 7:
			tokens = 0
		}
		items = append(items, Item(content, tokens, opts...))
	}
	return items
}
