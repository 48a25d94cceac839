package cupeltest

import (
	"fmt"
	"slices"
	"time"

	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupel/observe"
	"github.com/wollax/cupel-go/cupel/strategy"
)

// A Rule is one of the rules of the kits.
type Rule struct {
	Sentence, Cause string
	Advice          bool
}

// Rules are those of a kit, with all optional ones.
func Rules(role string) []Rule {
	var rules []rule
	switch role {
	case "scorer":
		rules = scorerRules(nil, new(kitOptions))
	case "slicer":
		rules = newSlicerKit(nil, new(kitOptions)).rules(nil)
	case "placer":
		rules = newPlacerKit(nil, new(kitOptions)).rules()
	case "collector":
		disabled := &collectorKit{collector: observe.NullTraceCollector{}, events: func() []cupel.TraceEvent { return nil }}
		enabled := &collectorKit{collector: observe.NewDiagnosticTraceCollector(observe.WithDetailLevel(observe.TraceDetailItem)), events: disabled.events, concurrent: true}
		rules = append(disabled.rules(), enabled.rules()...)
	}
	var all []Rule
	if role != "collector" {
		all = append(all, Rule{Sentence: acceptedSentence, Cause: acceptedCause})
	}
	for _, r := range rules {
		if rule := (Rule{r.sentence, r.cause, r.advice}); !slices.Contains(all, rule) {
			all = append(all, rule)
		}
	}
	return all
}

// SetSlowCall sets what a call may take in the rules that make many.
func SetSlowCall(most time.Duration) { slowCall = most }

// KnownRuns is the number of reports whose run is known.
func KnownRuns() (n int) {
	runs.Range(func(any, any) bool { n++; return true })
	return n
}

var (
	BrokenGroups = brokenGroups
	BrokenPins   = brokenPins
	Preferred    = preferred
	Diff         = diff
	DiffText     = diffText
	InBrief      = inBrief
)

// Required says which kinds a slicer and those inside it require, and with which
// percentage.
func Required(s strategy.Slicer) (kinds []string) {
	for _, r := range requirements(s) {
		kinds = append(kinds, fmt.Sprint(r.kind, " ", r.percent))
	}
	return kinds
}

// CutAt returns the lines for n entries.
func CutAt(most, n int) []string {
	return cutAt(most, make([]int, n), func(int) string { return "x" })
}

// LeavesRoom says which item fits what a selection leaves.
func LeavesRoom(items []cupel.ScoredItem, target int, sel strategy.Selection) string {
	return leavesRoom(input[cupel.ScoredItem]{list: items, budget: budgetOf(target)}, sel)
}

// Fits reports whether an item fits the share of its kind.
func Fits(kind cupel.ContextKind, percent float64, target int, items []*cupel.ContextItem) bool {
	return requirement{kind, percent}.fits(propertyCase{items: items, budget: Budget(target, target)})
}
