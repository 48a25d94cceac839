package cupelsession

import "github.com/wollax/cupel-go/cupel"

// limits are how many tokens the stable part may have.
type limits struct {
	raw    int // in all, by the budget
	most   int // in all, by the providers' reports
	pinned int // of them for pinned items
	low    int // after a break
}

// allowance is how many tokens a turn may have.
type allowance struct {
	budget   cupel.ContextBudget
	fit      calibration
	sum      sums
	lowWater float64
	clear    int // tokens that a break leaves free at least
}

// greatest is the most tokens that the provider should count.
func (a *allowance) greatest() int {
	return min(a.budget.TargetTokens(), a.budget.MaxTokens()-a.budget.OutputReserve())
}

// limits returns the limits of a stable part, given its tokens and how many of
// them are pinned.
func (a *allowance) limits(tokens, pinned int) limits {
	fixed := a.sum.pinned + a.sum.tailPinned
	raw := min(a.greatest(), fixed+a.budget.Effective(fixed).TargetTokens) // the chooser reports the items that do not fit
	most := a.fit.most(raw, tokens+a.sum.tailPinned)
	l := limits{raw: raw - a.sum.tailPinned, most: most - a.sum.tailPinned, pinned: pinned}
	room := l.most - pinned
	l.low = pinned + max(0, min(integer(float64(room)*a.lowWater), room-a.clear))
	return l
}
