package cupeltest

// A role is the role of an implementation in a pipeline. A rule may be for
// several.
type role int

const (
	scorers role = 1 << iota
	slicers
	placers

	strategies = scorers | slicers | placers
)

func (r role) String() string {
	return map[role]string{scorers: "scorer", slicers: "slicer", placers: "placer"}[r]
}

// A rule is one sentence of a contract, with the check for it.
type rule struct {
	name     string // for Except
	of       role
	sentence string
	broken   func(k *kit) string // describes the violation, or returns ""
	is       weight
}

// A weight is a property of a rule.
type weight int

const (
	vital weight = 1 << iota // the rules after it mean nothing for a strategy that breaks it
	alone                    // its check changes the state of the whole process
)

// rules returns the rules in the order in which they are checked. Rules of purity come
// first, since a strategy that breaks them breaks others too.
func rules() []rule {
	return []rule{
		{"accepted", strategies, "it is neither nil nor invalid nor inside itself, and Facts name it", (*kit).accepted, vital},
		{"failure", strategies, "it takes every list without a panic or an error, and any float64 as a score", (*kit).failure, 0},
		{"list", strategies, "it changes neither its list, nor the memory after it, nor an item", (*kit).changesList, vital},
		{"repeat", strategies, "the same input gives the same result each time: no score is left unwritten, and memory after the list has no effect", (*kit).varies, vital},
		{"memory", strategies, "it keeps nothing from a call: earlier lists and results have no effect", (*kit).remembers, vital},
		{"concurrency", strategies, "it is safe for concurrent use", (*kit).racesItself, vital},
		{"environment", strategies, "processors, time zone, language and clock change no result", (*kit).looksAround, vital | alone},
		{"result", strategies, "later calls, and goroutines that it left running, do not change its result", (*kit).changesResult, vital},
		{"context", strategies, "if its context ends, it returns the context's error or a whole result", (*kit).stops, 0},
		{"long-call", strategies, "a long call checks its context", (*kit).stopsSoon, 0},
		{"goroutines", strategies, "goroutines that outlive a call do not grow in number", (*kit).leaves, 0},
		{"growth", strategies, "time and memory grow with N log N at most", (*kit).grows, 0},

		{"twice", scorers, "an item that is given twice has one score", ofAll(unlikeScores), 0},
		{"number", scorers, "scores of items with ordinary fields are numbers", (*kit).notNumbers, 0},
		{"constant", scorers, "it tells items apart; see WithItems", (*kit).tellsNothing, 0},

		{"subset", slicers, "a selection has each position once, a reason for each drop, and forms that exist", ofAll(badSelection), 0},
		{"target", slicers, "a selection is within the target, in sums that do not wrap", ofAll(overTarget), 0},
		{"nothing", slicers, "an empty list or a target of 0 gives nothing, and no shortfall or error", (*kit).selectsForNothing, 0},
		{"stays-until", slicers, "the selection is the same up to its StaysUntil", (*kit).staysTooLong, 0},
		{"for-kind", slicers, "ForKind returns a slicer that can be used, and changes nothing", (*kit).narrows, 0},
		{"explain", slicers, "Explain gives a text, the same each time, that holds up to OutUntil", (*kit).unexplained, 0},
		{"useless", slicers, "if everything fits, something is selected; of items that differ only in score, the best first", (*kit).leavesBest, 0},
		{"room", slicers, "an item that fits the remaining room is selected, dropped or explained", (*kit).leavesRoom, 0},

		{"permutation", placers, "an order holds each position once; a group is one position", ofAll(noPermutation), 0},

		{"alike", strategies, "identical items keep their order, or reverse it", (*kit).unstable, 0},
		{"order", slicers | placers, "if a is preferred to b and b to c, c is never preferred to a", (*kit).circles, 0},
	}
}
