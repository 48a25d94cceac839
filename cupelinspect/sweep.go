package cupelinspect

import (
	"cmp"
	"math"
	"math/bits"
	"slices"

	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupel/analysis"
)

// sweep runs the budgets of a range, or of the default range if it is nil. It
// returns nil if there is nothing to run.
func (s *Selection) sweep(l *inspector, budget cupel.ContextBudget, r *sweepRange) (*wireSweep, error) {
	if r == nil {
		r = defaultSweep(l.items, budget)
	}
	if r.stops == 0 || len(l.items) == 0 || l.choose == nil {
		return nil, nil
	}
	if report, err := l.choose(budget, -1); report == nil { // such as the scorer's error: the run has failed with it too
		return nil, fatal(err)
	}
	w := &wireSweep{Stops: []wireStop{}}
	before := slices.Repeat([]int{-1}, len(l.items)) // the codes of the stop before
	for _, maxTokens := range r.budgets(budget.MaxTokens()) {
		stop, err := s.stop(l, budget, maxTokens, before)
		if err != nil {
			return nil, err
		}
		w.Stops = append(w.Stops, stop)
	}
	return w, nil
}

// stop runs one budget, and updates the codes of the stop before. It returns an error only if ctx is done; an error of
// the run is part of the stop.
func (s *Selection) stop(l *inspector, base cupel.ContextBudget, maxTokens int, codes []int) (wireStop, error) {
	stop := wireStop{Budget: maxTokens, Target: shareOf(base, maxTokens), Window: []int{}, Codes: []int{}}
	report := &cupel.SelectionReport{}
	budget, valid := base.Resize(maxTokens, stop.Target)
	err := valid
	if valid == nil {
		report, err = l.choose(budget, -1)
		if err := fatal(err); err != nil {
			return wireStop{}, err
		}
		if report == nil {
			report = &cupel.SelectionReport{}
		}
	}
	if err != nil {
		stop.Error = shorten(err.Error(), maxDescription)
	}
	ledger := analysis.NewLedger(adopt(report, l.swept), l.swept)
	stop.Form, stop.Pinned = l.formsOf(ledger, &s.wire, false)
	if err != nil {
		stop.Pinned = nil
	}
	stop.Effective = budget.Effective(l.pinnedTokens(stop.Pinned)).TargetTokens // 0 of an invalid budget
	stop.Window = append(stop.Window, ledger.Window...)
	for i := range ledger.Entries {
		e := &ledger.Entries[i]
		if e.Included != nil {
			stop.Tokens = add(stop.Tokens, max(0, e.Tokens))
		}
		if code := l.codeFor(e); code != codes[i] {
			codes[i] = code
			stop.Codes = append(stop.Codes, i, code)
		}
	}
	return stop, nil
}

// shareOf returns the target that has the same share of another ceiling,
// rounded down.
func shareOf(base cupel.ContextBudget, maxTokens int) int {
	if base.MaxTokens() == 0 {
		return maxTokens
	}
	hi, lo := bits.Mul64(uint64(maxTokens), uint64(base.TargetTokens()))
	target, _ := bits.Div64(hi, lo, uint64(base.MaxTokens()))
	return int(target)
}

// budgets returns the ascending stops of a range. If actual is in the range, it
// replaces the nearest stop.
func (r *sweepRange) budgets(actual int) []int {
	if r.stops == 1 {
		if actual < r.from || actual > r.to {
			actual = r.to
		}
		return []int{actual}
	}
	list := make([]int, r.stops)
	nearest := 0
	for i := range list {
		// from + (to - from) * i / (stops - 1), without overflow.
		hi, lo := bits.Mul64(uint64(r.to-r.from), uint64(i))
		step, _ := bits.Div64(hi, lo, uint64(len(list)-1))
		list[i] = r.from + int(step)
		if distance(list[i], actual) < distance(list[nearest], actual) {
			nearest = i
		}
	}
	if r.from <= actual && actual <= r.to {
		list[nearest] = actual
	}
	return slices.Compact(list)
}

func distance(a, b int) int { return max(a, b) - min(a, b) }

// defaultSweep returns a range from a part of the budget to twice the budget,
// or to what all candidates take if that lies between the budget and twice the
// budget.
func defaultSweep(items []*cupel.ContextItem, budget cupel.ContextBudget) *sweepRange {
	if len(items) == 0 {
		return &sweepRange{}
	}
	stops := min(mostStops, max(leastStops, stopCells/len(items)))
	all := everything(items, budget)
	actual := budget.MaxTokens()
	to := all
	if actual > 0 {
		to = max(actual, min(all, add(actual, actual)))
	}
	reserve := min(budget.OutputReserve(), to)
	from := reserve + (to-reserve)/stops
	return &sweepRange{from, to, stops}
}

// everything returns approximately the smallest maxTokens at which all
// candidates fit.
func everything(items []*cupel.ContextItem, budget cupel.ContextBudget) int {
	sum := 0
	for _, item := range items {
		sum = add(sum, max(0, item.Tokens()))
	}
	for _, tokens := range budget.ReservedSlots() {
		sum = add(sum, tokens)
	}
	needed := float64(sum)
	if sum > 0 { // a margin of 100 % leaves nothing
		needed /= 1 - budget.EstimationSafetyMarginPercent()/100
	}
	ceiling := needed + float64(budget.OutputReserve())
	if budget.TargetTokens() > 0 {
		share := float64(budget.TargetTokens()) / float64(budget.MaxTokens())
		ceiling = max(ceiling, needed/share)
	}
	if ceiling = math.Ceil(ceiling); ceiling >= math.MaxInt {
		return math.MaxInt
	}
	return int(ceiling)
}

// Each answer about what would make room for a candidate takes a run of its
// own.
const (
	mostRivals   = 60
	rivalCells   = 200_000 // questions times candidates
	mostAffected = 12      // candidates of an answer
)

// noRoom are the reasons of candidates that more room does not help.
var noRoom = []cupel.ExclusionCode{
	cupel.ExcludeDeduplicated, cupel.ExcludeSuperseded, cupel.ExcludeNearDuplicate, cupel.ExcludeNegativeTokens,
	"Compacted", // by package cupelchat
}

// rivals returns, for each candidate that is not whole in the window, the
// others that lose something if it is pinned, best first.
func (s *Selection) rivals(l *inspector, ledger *analysis.Ledger, budget cupel.ContextBudget) error {
	if l.choose == nil || s.err != nil || len(l.items) == 0 {
		return nil //nolint:nilerr // of a run that failed nothing has the room
	}
	var asked []int
	for at := range ledger.Entries {
		if e := &ledger.Entries[at]; isSmaller(e) || e.Excluded != nil && !slices.Contains(noRoom, e.Reason.Code) {
			asked = append(asked, at)
		}
	}
	slices.SortFunc(asked, func(a, b int) int {
		return cmp.Or(cmp.Compare(ledger.Entries[b].Score, ledger.Entries[a].Score), cmp.Compare(b, a))
	})
	s.wire.Rivals = make(map[int][]int)
	for _, at := range asked[:min(len(asked), mostRivals, rivalCells/len(l.items))] {
		report, err := l.choose(budget, at)
		if err := fatal(err); err != nil {
			return err
		}
		if err != nil {
			s.wire.Rivals[at] = []int{-1}
			continue
		}
		affected := Losers(ledger, analysis.NewLedger(adopt(report, l.swept), l.swept), at)
		s.wire.Rivals[at] = affected[:min(len(affected), mostAffected)]
	}
	return nil
}
