package cupeltest

// A role is what an implementation does in a pipeline. Rules are for several.
type role int

const (
	scorers role = 1 << iota
	slicers
	placers
	collectors

	strategies = scorers | slicers | placers
)

func (r role) String() string {
	return map[role]string{scorers: "scorer", slicers: "slicer", placers: "placer", collectors: "collector"}[r]
}

// A rule is one sentence of a contract, with the check for it.
type rule struct {
	name     string // for Except
	of       role
	sentence string
	broken   func(k *kit) string // describes the violation, or returns ""
	vital    bool                // the rules that follow say nothing about a strategy that breaks it
	alone    bool                // it changes what all goroutines of the process see
}

// rules returns the rules in the order in which they are checked. Those of purity come
// first: what breaks them breaks others by the way.
func rules() []rule {
	return []rule{
		{"accepted", strategies, "it is neither nil nor invalid nor inside itself, and Facts name it", (*kit).accepted, true, false},
		{"failure", strategies, "it takes every list without a panic or an error, and any float64 as a score", (*kit).failure, false, false},
		{"list", strategies, "it changes neither its list, nor the memory after it, nor an item", (*kit).changesList, true, false},
		{"repeat", strategies, "the same input gives the same result each time", (*kit).varies, true, false},
		{"capacity", strategies, "it does not look at the memory after the end of its list", (*kit).looksBehind, true, false},
		{"memory", strategies, "it keeps nothing of a call: neither lists nor results of earlier ones count", (*kit).remembers, true, false},
		{"concurrency", strategies, "it is safe for concurrent use", (*kit).racesItself, true, false},
		{"environment", strategies, "processors, time zone, language and clock change no result", (*kit).looksAround, true, true},
		{"result", strategies, "later calls and goroutines that it left do not change its result", (*kit).changesResult, true, false},
		{"context", strategies, "if its context ends, it returns that error or a whole result", (*kit).stops, false, false},
		{"long-call", strategies, "it looks at its context if it takes long", (*kit).stopsSoon, false, false},
		{"goroutines", strategies | collectors, "goroutines that go on after a call do not grow in number", (*kit).leaves, false, false},
		{"growth", strategies | collectors, "time and memory grow with N log N at most", (*kit).grows, false, false},

		{"written", scorers, "it writes every score", (*kit).leavesScores, false, false},
		{"twice", scorers, "an item that is given twice has one score", ofAll(unlikeScores), false, false},
		{"number", scorers, "scores of items with ordinary fields are numbers", (*kit).notNumbers, false, false},
		{"constant", scorers, "it tells items apart; see WithItems", (*kit).tellsNothing, false, false},

		{"subset", slicers, "a selection holds positions once, drops with reasons, and forms that exist", ofAll(badSelection), false, false},
		{"target", slicers, "a selection is within the target, in sums that do not wrap", ofAll(overTarget), false, false},
		{"nothing", slicers, "an empty list or a target of 0 gives nothing, and no shortfall or error", (*kit).selectsForNothing, false, false},
		{"left-over", slicers, "what the left-over pass must not bring back is dropped", ofAll(returned), false, false},
		{"stays-until", slicers, "the selection is the same up to its StaysUntil", (*kit).staysTooLong, false, false},
		{"for-kind", slicers, "ForKind returns a slicer that can be used, and changes nothing", (*kit).narrows, false, false},
		{"explain", slicers, "Explain says something, always the same, and is right up to OutUntil", (*kit).unexplained, false, false},
		{"useless", slicers, "where all fits, something is selected; of items alike, the best first", (*kit).leavesBest, false, false},
		{"room", slicers, "what fits the room left is selected, dropped or explained", (*kit).leavesRoom, false, false},

		{"permutation", placers, "an order holds each position once; a group is one position", ofAll(noPermutation), false, false},

		{"alike", strategies, "items that differ in nothing keep their order, or reverse it", (*kit).unstable, false, false},
		{"order", slicers | placers, "a preferred to b and b to c is never c preferred to a", (*kit).circles, false, false},

		{"steady", collectors, "IsEnabled gives the same answer until something is changed", (*kit).flickers, false, false},
		{"events", collectors, "it takes every event, of unknown stages too, without a panic", (*kit).refusesEvents, false, false},
		{"run", collectors, "observing a run changes neither its result nor what its context carries", (*kit).changesRun, false, false},
		{"disabled", collectors, "one that is not enabled records and allocates nothing", (*kit).worksDisabled, false, false},
		{"record", collectors, "events are recorded as they came, those of items as the level says", (*kit).losesEvents, false, false},
		{"run-events", collectors, "the events of a run are all recorded, and those of one that failed", (*kit).losesRunEvents, false, false},
	}
}
