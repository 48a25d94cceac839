package cupelinspect

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/wollax/cupel-go/cupel"
)

// undecided is the code of candidates that a run which failed did not come to.
const undecided = "Undecided"

// maxCodes is how many codes a legend tells apart. Custom slicers, and reports
// from elsewhere, may have codes of their own.
const (
	maxCodes  = 200
	otherCode = "(other)"
)

// ledger finds the candidates that a report speaks of. Reports name items; a
// candidate is a position, and an item may have several.
type ledger struct {
	items   []*cupel.ContextItem
	at      map[*cupel.ContextItem]int      // the first position
	others  map[*cupel.ContextItem][]int    // all positions, of items with several
	prepare func() (*cupel.Prepared, error) // nil when there is no pipeline to ask

	codes  []string
	codeOf map[string]int
}

func newLedger(items []*cupel.ContextItem) *ledger {
	l := &ledger{
		items:  slices.Clone(items),
		at:     make(map[*cupel.ContextItem]int, len(items)),
		others: make(map[*cupel.ContextItem][]int),
		codes:  []string{},
		codeOf: make(map[string]int),
	}
	for i, item := range items {
		first, repeated := l.at[item]
		switch {
		case !repeated:
			l.at[item] = i
		case l.others[item] == nil:
			l.others[item] = []int{first, i}
		default:
			l.others[item] = append(l.others[item], i)
		}
	}
	return l
}

func (l *ledger) repeats() bool { return len(l.others) > 0 }

// code returns the position of a code in the legend.
func (l *ledger) code(name string) int {
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

// turns hands out the positions of the items of one report.
type turns struct {
	*ledger
	left map[*cupel.ContextItem][]int // of items with several
}

// turns begins to hand out positions. Equal pointers have equal content and
// equal scores, so that of their positions the first survives deduplication,
// and those that are left out at one stage are reported in order. Which of
// them are in the window only the pipeline can tell, where some are and some
// are not.
func (l *ledger) turns(ctx context.Context, report *cupel.SelectionReport, budget cupel.ContextBudget) *turns {
	t := &turns{ledger: l}
	if !l.repeats() {
		return t
	}
	t.left = make(map[*cupel.ContextItem][]int, len(l.others))
	in := make(map[*cupel.ContextItem]int)
	for _, entry := range report.Included {
		if l.others[entry.Item] != nil {
			in[entry.Item]++
		}
	}
	mixed := false
	for item, positions := range l.others {
		t.left[item] = positions
		mixed = mixed || in[item] > 0 && in[item] < len(positions)
	}
	if !mixed {
		return t
	}
	chosen := l.chosen(ctx, budget)
	if chosen == nil {
		return t
	}
	for item, positions := range t.left {
		first := slices.Clone(positions)
		slices.SortStableFunc(first, func(a, b int) int {
			switch {
			case chosen[a] == chosen[b]:
				return 0
			case chosen[a]:
				return -1
			default:
				return 1
			}
		})
		t.left[item] = first
	}
	return t
}

// chosen returns by candidate whether the pipeline selects it, or nil when
// nobody can tell.
func (l *ledger) chosen(ctx context.Context, budget cupel.ContextBudget) []bool {
	if l.prepare == nil {
		return nil
	}
	prepared, err := l.prepare()
	if err != nil {
		return nil
	}
	positions, err := prepared.Select(ctx, budget)
	if err != nil {
		return nil
	}
	chosen := make([]bool, len(l.items))
	for _, at := range positions {
		chosen[at] = true
	}
	return chosen
}

// next returns the position of the next entry about item, and false when it
// has none.
func (t *turns) next(item *cupel.ContextItem) (int, bool) {
	if left, repeated := t.left[item]; repeated {
		if len(left) == 0 {
			return 0, false
		}
		t.left[item] = left[1:]
		return left[0], true
	}
	at, known := t.at[item]
	return at, known
}

// entries calls included and excluded for each entry of a report with the
// candidate that it is about.
func (l *ledger) entries(ctx context.Context, report *cupel.SelectionReport, budget cupel.ContextBudget,
	included func(int, *cupel.IncludedItem), excluded func(int, *cupel.ExcludedItem)) {
	t := l.turns(ctx, report, budget)
	for i := range report.Included {
		if at, ok := t.next(report.Included[i].Item); ok {
			included(at, &report.Included[i])
		}
	}
	for _, duplicates := range [...]bool{false, true} { // of equal pointers the first survives
		for i := range report.Excluded {
			e := &report.Excluded[i]
			if (e.Reason.Code == cupel.Deduplicated) != duplicates {
				continue
			}
			if at, ok := t.next(e.Item); ok {
				excluded(at, e)
			}
		}
	}
}

// explain writes down what a report says about each candidate.
func (s *Selection) explain(ctx context.Context, l *ledger, report *cupel.SelectionReport, budget cupel.ContextBudget) {
	w := &s.wire
	n := len(l.items)
	w.Code, w.Why, w.Window, w.Parts = make([]int, n), make([]string, n), make([]int, 0, len(report.Included)), []wirePart{}
	w.Scores = make(scoreList, n)
	for i := range n {
		w.Code[i], w.Scores[i] = -1, math.NaN()
	}
	var duplicates []int
	l.entries(ctx, report, budget, func(at int, e *cupel.IncludedItem) {
		w.Window = append(w.Window, at)
		w.Code[at], w.Scores[at] = l.code(string(e.Reason)), e.Score
		w.Why[at] = shorten(e.String(), maxDescription)
	}, func(at int, e *cupel.ExcludedItem) {
		w.Code[at] = l.code(string(e.Reason.Code))
		if e.Reason.Code != cupel.NegativeTokens {
			w.Scores[at] = e.Score
		}
		w.Why[at] = shorten(e.Reason.String(), maxDescription)
		if e.Reason.Code == cupel.Deduplicated {
			duplicates = append(duplicates, at)
			if text := excerpt(e.Item.Content(), s.contentLimit); text != "" {
				w.Why[at] += ": " + text
			}
		}
	})
	for i, code := range w.Code {
		if code < 0 {
			w.Code[i] = l.code(undecided)
			w.Why[i] = undecided + ": the run failed before it came to this"
		}
	}
	w.Survivor = l.survivors(duplicates, w.Code)
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

// survivors finds the candidates that duplicates were left out for. They have
// the same content by definition, and of a content only one goes on.
func (l *ledger) survivors(duplicates, code []int) map[int]int {
	if len(duplicates) == 0 {
		return nil
	}
	duplicate := l.code(string(cupel.Deduplicated))
	byContent := make(map[string]int)
	for i, item := range slices.Backward(l.items) { // the first one counts
		if code[i] != duplicate && !item.Pinned() && item.Tokens() >= 0 {
			byContent[item.Content()] = i
		}
	}
	survivors := make(map[int]int, len(duplicates))
	for _, at := range duplicates {
		if survivor, found := byContent[l.items[at].Content()]; found {
			survivors[at] = survivor
		}
	}
	return survivors
}

// excerpt returns the beginning of a content, in quotes, or "" when a page may
// have nothing of it.
func excerpt(content string, limit int) string {
	if limit == 0 {
		return ""
	}
	line, _, _ := strings.Cut(strings.TrimSpace(shorten(content, 120)), "\n")
	short := shorten(line, min(60, limit))
	if len(short) < len(content) && !strings.HasSuffix(short, "…") {
		short += "…"
	}
	return "“" + short + "”"
}

// parts asks a composite for the scores of its parts.
func (l *ledger) parts(ctx context.Context, s cupel.Scorer) []wirePart {
	e := explainerIn(s)
	if e == nil {
		return []wirePart{}
	}
	var positions []int
	var scoreable []*cupel.ContextItem
	for i, item := range l.items { // as the Classify stage does
		if item.Tokens() >= 0 && !item.Pinned() {
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

// overflowed tells of an overflow in a sentence.
func overflowed(e *cupel.OverflowEvent) string {
	return fmt.Sprintf("%d tokens above the target of %d were kept", e.TokensOverBudget, e.Budget.TargetTokens())
}
