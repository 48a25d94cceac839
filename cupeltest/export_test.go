package cupeltest

import "github.com/wollax/cupel-go/cupel"

// Sentences are the rules of the kits, so that a test can see that each of them
// is found broken by something.
func Sentences(role string) []string {
	var rules []rule
	switch role {
	case "scorer":
		rules = scorerRules(batchOfNothing{}, nil, new(kitOptions))
	case "slicer":
		rules = newSlicerKit(nil, new(kitOptions)).rules(nil)
	case "placer":
		rules = append(newPlacerKit(nil, new(kitOptions)).rules(), newPlacerKit(nil, new(kitOptions)).appendRule(nil))
	case "collector":
		disabled := &collectorKit{collector: cupel.NullTraceCollector{}, events: func() []cupel.TraceEvent { return nil }}
		enabled := &collectorKit{collector: cupel.NewDiagnosticTraceCollector(cupel.WithDetailLevel(cupel.TraceDetailItem)), events: disabled.events, concurrent: true}
		rules = append(disabled.rules(), enabled.rules()...)
	}
	var sentences []string
	if role != "collector" {
		sentences = append(sentences, acceptedSentence)
	}
	for _, r := range rules {
		if r.advice {
			continue // TestAdvice has them
		}
		sentences = append(sentences, r.sentence)
	}
	return sentences
}

type batchOfNothing struct{ cupel.BatchScorer }

// KnownRuns is the number of reports whose run is known.
func KnownRuns() (n int) {
	runs.Range(func(any, any) bool { n++; return true })
	return n
}

var (
	BrokenGroups = brokenGroups
	BrokenPins   = brokenPins
)
