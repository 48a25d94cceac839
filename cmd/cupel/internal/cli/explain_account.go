package cli

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupel/analysis"
	"github.com/wollax/cupel-go/cupel/scorer"
	"github.com/wollax/cupel-go/cupel/strategy"
)

// account is what explain prints about a run.
type account struct {
	*analysis.Ledger
	budget cupel.ContextBudget
	report *cupel.SelectionReport
	failed error // why the selection failed

	hidden []bool // by candidate: it does not match --item
	parts  []part
	scores [][]float64 // by candidate: the score from each part; nil if not scored
}

// part is a part of a composite.
type part struct {
	name   string
	weight float64 // a share; all weights sum to 1
}

func newAccount(items []*cupel.ContextItem, budget cupel.ContextBudget, report *cupel.SelectionReport, failed error) *account {
	return &account{
		Ledger: analysis.NewLedger(report, items), budget: budget, report: report, failed: failed,
		hidden: make([]bool, len(items)), scores: make([][]float64, len(items)),
	}
}

// keep hides the candidates that do not match. A nil match keeps all.
func (a *account) keep(match func(content string) bool) {
	for i := range a.Entries {
		a.hidden[i] = match != nil && !match(a.Entries[i].Item.Content())
	}
}

// visible returns the candidates that are not hidden.
func (a *account) visible(candidates []int) []int {
	return slices.DeleteFunc(slices.Clone(candidates), func(i int) bool { return a.hidden[i] })
}

// addParts computes the score from each part of a composite. Any other scorer is
// its own only part.
func (a *account) addParts(ctx context.Context, s strategy.Scorer) error {
	var scoreable []*cupel.ContextItem
	var candidates []int
	apart := make(map[string]bool) // groups that are pinned or have negative tokens
	for i := range a.Entries {
		if item := a.Entries[i].Item; item.Group() != "" && (item.Pinned() || item.Tokens() < 0) {
			apart[item.Group()] = true
		}
	}
	for i := range a.Entries {
		item := a.Entries[i].Item
		if item.Tokens() >= 0 && !item.Pinned() && !apart[item.Group()] {
			scoreable, candidates = append(scoreable, item), append(candidates, i)
		}
	}
	composite, ok := s.(*scorer.Composite)
	if !ok {
		var err error
		if composite, err = scorer.NewComposite(scorer.Weighted{Scorer: s, Weight: 1}); err != nil {
			return err
		}
	}
	parts, err := composite.ScoreParts(ctx, scoreable)
	if err != nil {
		return err
	}
	scores := make([]float64, len(parts)*len(candidates)) // one allocation for all
	seen := make(map[string]int)
	for p, each := range parts {
		name := typeName(each.Scorer)
		seen[name]++
		if n := seen[name]; n > 1 {
			name += " " + strconv.Itoa(n)
		}
		a.parts = append(a.parts, part{name, each.Weight})
		for i, score := range each.Scores {
			scores[i*len(parts)+p] = score
		}
	}
	for i, candidate := range candidates {
		a.scores[candidate] = scores[i*len(parts) : (i+1)*len(parts) : (i+1)*len(parts)]
	}
	return nil
}

// typeName returns the name of a strategy's type.
func typeName(strategy any) string {
	name := fmt.Sprintf("%T", strategy)
	return name[strings.LastIndexByte(name, '.')+1:]
}

// jsonPart is the score from one part of a composite for one candidate.
type jsonPart struct {
	Name   string    `json:"name"`
	Weight float64   `json:"weight"`
	Score  jsonScore `json:"score"`
}

func (a *account) partsOf(candidate int) []jsonPart {
	parts := make([]jsonPart, len(a.scores[candidate]))
	for i, score := range a.scores[candidate] {
		parts[i] = jsonPart{a.parts[i].name, a.parts[i].weight, jsonScore(score)}
	}
	return parts
}

// jsonScore is a score as reports write it: a string if it is not finite.
type jsonScore float64

// MarshalJSON writes a number, or "NaN", "Infinity" or "-Infinity".
func (s jsonScore) MarshalJSON() ([]byte, error) {
	switch f := float64(s); {
	case math.IsNaN(f):
		return []byte(`"NaN"`), nil
	case math.IsInf(f, 1):
		return []byte(`"Infinity"`), nil
	case math.IsInf(f, -1):
		return []byte(`"-Infinity"`), nil
	default:
		return strconv.AppendFloat(nil, f, 'g', -1, 64), nil
	}
}

// addTokens adds token counts that are at least 0, up to the largest int.
func addTokens(a, b int) int {
	if a > math.MaxInt-b {
		return math.MaxInt
	}
	return a + b
}

// kindUse is how many tokens the included items of a kind take.
type kindUse struct {
	kind   string
	tokens int
	items  int
}

// usage is how the tokens of a budget are spent.
type usage struct {
	kinds    []kindUse // most tokens first
	used     int       // by all of them
	reserve  int       // reserved for the answer
	slots    int       // reserved for kinds, as far as they fit
	heldBack int       // held back by a target or a margin
	free     int       // left unused by the selection
	over     int       // used beyond the budget less the reserve
	items    int
}

// shownAs returns the item of an entry as the window has it, which may be a
// smaller form of the candidate.
func shownAs(e *analysis.Entry) *cupel.ContextItem {
	if e.Included != nil {
		return e.Included.Item
	}
	return e.Item
}

// formText describes the form that the window has of a candidate, such as
// "2, full 220" for its second form with the tokens of the full one, and says
// where there is a newer version.
func formText(e *analysis.Entry) string {
	text := ""
	if form := e.Form; form > 0 {
		text = fmt.Sprintf("%d, full %d", form, e.Item.Tokens())
		if full, ok := shownAs(e).OriginalTokens(); ok && shownAs(e) == e.Item { // of a report
			text = fmt.Sprintf("%d, full %d", form, full)
		}
	}
	if e.Stale {
		text = strings.TrimPrefix(text+", stale", ", ")
	}
	return text
}

func (a *account) usage() usage {
	var u usage
	pinned := 0
	byKind := make(map[string]int)
	for _, i := range a.Window {
		item := shownAs(&a.Entries[i])
		tokens := item.Tokens()
		u.used = addTokens(u.used, tokens)
		u.items++
		if a.Entries[i].Included.Reason == cupel.IncludePinned {
			pinned = addTokens(pinned, tokens)
		}
		key := item.Kind().Key()
		n, ok := byKind[key]
		if !ok {
			n = len(u.kinds)
			byKind[key] = n
			u.kinds = append(u.kinds, kindUse{kind: string(item.Kind())})
		}
		u.kinds[n].tokens = addTokens(u.kinds[n].tokens, tokens)
		u.kinds[n].items++
	}
	slices.SortStableFunc(u.kinds, func(a, b kindUse) int {
		return cmp.Or(cmp.Compare(b.tokens, a.tokens), cmp.Compare(a.kind, b.kind))
	})
	u.reserve = a.budget.OutputReserve()
	room := a.budget.MaxTokens() - u.reserve // at least 0: budgets are checked
	if u.used > room {
		u.over = u.used - room
		return u
	}
	room -= u.used
	for _, tokens := range a.budget.ReservedSlots() { // a sum does not depend on the order
		u.slots = addTokens(u.slots, tokens)
	}
	u.slots = min(u.slots, room)
	room -= u.slots
	u.free = min(max(a.budget.Effective(pinned).TargetTokens-(u.used-pinned), 0), room)
	u.heldBack = room - u.free
	return u
}
