package cupelinspect

import (
	"context"
	"fmt"
	"math"
	"strings"

	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupel/analysis"
	"github.com/wollax/cupel-go/cupel/strategy"
)

// undecided is the code of candidates that a failed run did not reach.
const undecided = "Undecided"

// maxCodes is the maximum number of codes in a legend. Custom slicers and
// stored reports may have codes of their own.
const (
	maxCodes  = 200
	otherCode = "(other)"
)

// inspector describes selections from one list of candidates.
type inspector struct {
	items  []*cupel.ContextItem
	swept  []*cupel.ContextItem // items without functions, for the sweep
	choose Choose               // at other budgets, or nil
	forms  [][]form             // by candidate

	codes  []string
	codeOf map[string]int
}

func newInspector(items []*cupel.ContextItem) *inspector {
	return &inspector{items: items, swept: items, forms: make([][]form, len(items)), codes: []string{}, codeOf: make(map[string]int)}
}

// codeFor returns the position of the code of an entry in the legend.
func (l *inspector) codeFor(e *analysis.Entry) int {
	if e.Included == nil && e.Excluded == nil {
		return l.code(undecided)
	}
	return l.code(e.Code)
}

// code returns the position of a code in the legend.
func (l *inspector) code(name string) int {
	i, known := l.codeOf[name]
	if !known {
		if len(l.codes) >= maxCodes {
			name = otherCode
			if i, known = l.codeOf[name]; known {
				return i
			}
		}
		i = len(l.codes)
		l.codes = append(l.codes, shorten(name, maxLabel))
		l.codeOf[name] = i
	}
	return i
}

// meanings explains in plain words what each code of the legend did to an item,
// or is "" if the code explains itself.
func (l *inspector) meanings() []string {
	list := make([]string, len(l.codes))
	for i, code := range l.codes {
		switch code {
		case undecided:
			list[i] = "the run failed before it decided"
		case "Compacted": // by package cupelchat
			list[i] = "it comes before the latest compaction"
		case "Refused": // by package cupelchat
			list[i] = "the API refuses what was chosen with it"
		default:
			list[i] = cupel.ExclusionCode(code).Meaning()
		}
	}
	return list
}

// explain records the report's data on each candidate.
func (s *Selection) explain(l *inspector, report *cupel.SelectionReport, ledger *analysis.Ledger) {
	w := &s.wire
	n := len(l.items)
	w.Code, w.Why, w.Parts = make([]int, n), make([]string, n), []wirePart{}
	w.Window = append([]int{}, ledger.Window...)
	w.Scores = make(scoreList, n)
	for at := range ledger.Entries {
		e := &ledger.Entries[at]
		w.Code[at], w.Why[at], w.Scores[at] = l.codeFor(e), shorten(e.Why(), maxDescription), e.Score
		switch {
		case e.Included != nil:
			w.Why[at] = shorten(e.Included.String(), maxDescription)
		case e.Excluded == nil:
			w.Why[at], w.Scores[at] = undecided+": the run failed before it decided on this item", math.NaN()
		case e.Excluded.Reason.Code == cupel.ExcludeNegativeTokens:
			w.Scores[at] = math.NaN()
		case e.Excluded.Reason.Code == cupel.ExcludeBudgetExceeded:
			w.Why[at] = shorten(e.Excluded.Reason.Explain(), maxDescription)
		case e.Excluded.Reason.Code == cupel.ExcludeSuperseded, e.Excluded.Reason.Code == cupel.ExcludeNearDuplicate:
			w.Why[at] += s.survivor(ledger, at)
		case e.Excluded.Reason.Code == cupel.ExcludeDeduplicated:
			w.Why[at] += ": " + excerpt(e.Item.Content())
			s.survivor(ledger, at)
		}
	}
	w.Form, w.Pinned = l.formsOf(ledger, w, true)
	if s.err != nil { // there is no window
		w.Pinned = nil
	}
	for _, shortfall := range report.CountRequirementShortfalls {
		w.Shortfalls = append(w.Shortfalls, shorten(shortfall.String(), maxDescription))
	}
	if report.Overflow != nil {
		w.Overflowed = overflowed(report.Overflow)
	}
	if s.err != nil {
		w.Error = shorten(s.err.Error(), maxDescription)
	}
}

// survivor records which candidate stays in place of another, and returns the
// beginning of its content.
func (s *Selection) survivor(ledger *analysis.Ledger, at int) string {
	survivor, ok := ledger.Survivor(at)
	if !ok {
		return ""
	}
	if s.wire.Survivor == nil {
		s.wire.Survivor = make(map[int]int)
	}
	s.wire.Survivor[at] = survivor
	return ": " + excerpt(ledger.Entries[survivor].Item.Content())
}

// excerpt returns the beginning of a content, in quotes.
func excerpt(content string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(content), "\n")
	short := shorten(line, 60)
	if len(short) < len(content) && !strings.HasSuffix(short, "…") {
		short += "…"
	}
	return "“" + short + "”"
}

// parts returns the scores of a composite's parts.
func (l *inspector) parts(ctx context.Context, s strategy.Scorer) []wirePart {
	e := explainerIn(s)
	if e == nil {
		return []wirePart{}
	}
	var positions []int
	var scoreable []*cupel.ContextItem
	apart := make(map[string]bool) // groups that are pinned or have negative tokens
	for _, item := range l.items {
		if item.Group() != "" && (item.Pinned() || item.Tokens() < 0) {
			apart[item.Group()] = true
		}
	}
	for i, item := range l.items { // as the Classify stage does
		if item.Tokens() >= 0 && !item.Pinned() && !apart[item.Group()] {
			positions, scoreable = append(positions, i), append(scoreable, item)
		}
	}
	parts := []wirePart{}
	for _, part := range scoreParts(ctx, e, scoreable) {
		scores := make(scoreList, len(l.items))
		for i := range scores {
			scores[i] = math.NaN()
		}
		for i, at := range positions {
			scores[at] = part.Scores[i]
		}
		weight := part.Weight
		if math.IsNaN(weight) || math.IsInf(weight, 0) {
			weight = 0 // of a composite that is not scorer.Composite
		}
		parts = append(parts, wirePart{shorten(describeScorer(ctx, part.Scorer), maxLabel), weight, scores})
	}
	return parts
}

// overflowed describes an overflow in a sentence.
func overflowed(e *cupel.OverflowEvent) string {
	return fmt.Sprintf("%d tokens above the target of %d were kept", e.TokensOverBudget, e.Budget.TargetTokens())
}
