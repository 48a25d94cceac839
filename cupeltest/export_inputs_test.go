package cupeltest

import (
	"context"
	"crypto/sha256"
	"fmt"
	"math/rand/v2"
	"regexp"
	"strings"
	"time"

	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupel/observe"
	"github.com/wollax/cupel-go/cupel/pipeline"
	"github.com/wollax/cupel-go/cupel/strategy"
)

// newPart is what makes contents new.
var newPart = regexp.MustCompile(` \(\d{5}\)`)

// describeAll describes an item with the fields that its short description
// leaves out.
func describeAll(item *cupel.ContextItem) string {
	text := describeCandidate(item)
	if at, ok := item.Timestamp(); ok {
		text += at.UTC().Format(", 2006-01-02T15:04:05.999999999")
	}
	if tokens, ok := item.OriginalTokens(); ok {
		text += fmt.Sprintf(", once %d tokens", tokens)
	}
	for _, variant := range item.Variants() {
		text += fmt.Sprintf(", %+v", variant)
	}
	for _, variant := range item.GroupVariants() {
		text += fmt.Sprintf(", of the group %+v", variant)
	}
	for _, member := range item.Members() {
		text += "; " + describeAll(member)
	}
	return text
}

// describeList writes a list without the part of contents that is new each time.
func describeList(b *strings.Builder, name string, lines []string) {
	for i, line := range lines {
		lines[i] = newPart.ReplaceAllString(line, "")
	}
	hash := sha256.Sum256([]byte(strings.Join(lines, "\n")))
	sum := fmt.Sprintf("sha256 %x", hash[:4])
	fmt.Fprintf(b, "%s: %d items, %s\n", name, len(lines), sum)
	if len(lines) > 13 || strings.Count(b.String(), sum) > 1 {
		return
	}
	for _, line := range lines {
		b.WriteString("  " + line + "\n")
	}
}

func describeItems(b *strings.Builder, inputs []input[*cupel.ContextItem]) {
	for _, in := range inputs {
		var lines []string
		for _, item := range in.list {
			lines = append(lines, describeAll(item))
		}
		describeList(b, in.name, lines)
	}
}

func describeScored(b *strings.Builder, inputs []input[cupel.ScoredItem]) {
	last := ""
	for _, in := range inputs {
		name, budget, ok := strings.Cut(in.name, ", with a target of ")
		if name == last && ok {
			fmt.Fprintf(b, "  also with a target of %s\n", budget)
			continue
		}
		var lines []string
		for _, it := range in.list {
			line := score(it.Score) + " " + describeAll(it.Item)
			for _, form := range it.Item.Forms() {
				line += fmt.Sprintf("; or %+v", form)
			}
			lines = append(lines, line)
		}
		last = name
		describeList(b, in.name, lines)
	}
}

// Inputs describes everything that the kits try strategies with.
func Inputs() string {
	var b strings.Builder
	own := []*cupel.ContextItem{Item("one", 10, cupel.WithGroup("own")), Item("two", 20), Item("three", 30, cupel.WithGroup("own"))}
	for _, tt := range []struct {
		name    string
		options kitOptions
	}{
		{"no options", kitOptions{}},
		{"WithItems", kitOptions{items: own}},
		{"OnlyItems", kitOptions{items: own, only: true}},
	} {
		heading := func(text string) { fmt.Fprintf(&b, "\n# %s, %s\n\n", text, tt.name) }
		heading("Items for scorers")
		describeItems(&b, itemInputs(nextGeneration(), &tt.options))
		heading("Items for many calls of scorers")
		describeItems(&b, itemInputs(nextShort(), &tt.options))
		heading("Scored items for slicers")
		describeScored(&b, slicerInputs(nextGeneration(), &tt.options))
		heading("Scored items for placers")
		describeScored(&b, placerInputs(nextGeneration(), &tt.options))
		heading("Scored items for rules of their own")
		describeScored(&b, withBudgets(hostileScores(&tt.options)))
		describeScored(&b, withBudgets(repeatedScored(&tt.options)))
		describeScored(&b, withBudgets(hugeItems()))
		long := longScored(growthFrom, &tt.options)
		long.name = fmt.Sprintf("a list for measurements, %+v", long.budget)
		describeScored(&b, []input[cupel.ScoredItem]{long})
	}
	b.WriteString("\n# Targets of searches\n\n")
	for _, list := range [][]cupel.ScoredItem{scored(Items(3, 1), func(int) float64 { return 1 }), scored(Items(4000, 1), func(int) float64 { return 1 }), hugeItems().list} {
		targets := targetsOf(list)
		fmt.Fprintf(&b, "%d: %s up to %d\n", len(targets), shown(targets, 0), targets[len(targets)-1])
	}
	b.WriteString("\n# Runs for collectors\n\n")
	for _, run := range kitRuns() {
		var lines []string
		record := func(e cupel.TraceEvent) { lines = append(lines, eventText(untimed([]cupel.TraceEvent{e})[0])) }
		items, err := run.start(context.Background(), observe.Funcs{StageEvent: record, ItemEvent: record})
		for _, item := range items {
			lines = append(lines, describeItem(item, quote))
		}
		describeList(&b, fmt.Sprintf("%s, error %v", run.name, err), lines)
	}
	return b.String()
}

// PropertyCases describes the first cases of a seed.
func PropertyCases(pipeline *pipeline.Pipeline, n int) string {
	var b strings.Builder
	p := &property{pipeline: pipeline, seed: 3, generate: func(random *rand.Rand) []*cupel.ContextItem {
		return randomCandidates(random, requiredBy(pipeline))
	}}
	for i := range n {
		c, problem := p.newCase(i)
		var lines []string
		for _, item := range append(c.items, c.filler) {
			lines = append(lines, describeAll(item))
		}
		describeList(&b, fmt.Sprintf("case %d%s, budget %d of %d, then %d of %d", i, problem, c.budget.TargetTokens(), c.budget.MaxTokens(), c.more.TargetTokens(), c.more.MaxTokens()), lines)
	}
	return b.String()
}

// A Counter is a strategy that counts its calls.
type Counter interface{ Count() string }

// Calls counts the calls of each rule but those that measure time. A collector
// is to be called where the clock stands still.
func Calls(role string, s Counter) string {
	defer func(most time.Duration) { slowCall = most }(slowCall)
	slowCall = time.Hour // a busy machine must not change the counts
	var b strings.Builder
	var rules []rule
	options := new(kitOptions)
	switch s := s.(type) {
	case strategy.Scorer:
		rules = scorerRules(func() strategy.Scorer { return s }, options)
	case strategy.Slicer:
		rules = newSlicerKit(func() strategy.Slicer { return s }, options).rules(s)
	case strategy.Placer:
		rules = newPlacerKit(func() strategy.Placer { return s }, options).rules()
	case observe.TraceCollector:
		rules = (&collectorKit{newCollector: func() observe.TraceCollector { return s }, collector: s, concurrent: true}).rules()
	}
	for _, r := range rules {
		s.Count()
		if found := r.broken(); !strings.Contains(r.sentence, "N log N") {
			fmt.Fprintf(&b, "%s, %q: %s %s\n", role, r.cause, s.Count(), found)
		}
	}
	return b.String()
}
