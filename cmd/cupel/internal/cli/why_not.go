package cli

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/wollax/cupel-go/cmd/cupel/internal/terminal"
	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupel/analysis"
	"github.com/wollax/cupel-go/cupelinspect"
)

// whyNotAnswer is the answer of --why-not for one candidate.
type whyNotAnswer struct {
	*analysis.WhyNotAnswer
	a      *account
	choice bool // the budgets were tried by choosing again
}

// whyNot explains a candidate.
func (s *selection) whyNot(ctx context.Context, a *account, candidate int) (*whyNotAnswer, error) {
	var answer *analysis.WhyNotAnswer
	var err error
	if s.choosesAgain() {
		answer, err = s.whyNotByChoosing(ctx, a, candidate)
	} else {
		answer, err = analysis.WhyNot(ctx, s.pipeline, s.Items, s.budget, candidate)
	}
	return &whyNotAnswer{answer, a, s.choosesAgain()}, selecting(err)
}

// whyNotByChoosing answers by choosing again: with the candidate
// pinned, and for other budgets.
func (s *selection) whyNotByChoosing(ctx context.Context, a *account, candidate int) (*analysis.WhyNotAnswer, error) {
	answer := &analysis.WhyNotAnswer{Entry: a.Entries[candidate], Ledger: a.Ledger, Budget: s.budget}
	if s.numberOf(candidate) > 0 && (answer.Place == 0 || answer.Form > 0) {
		answer.IfPinned = &analysis.Exchange{}
		after, err := s.ifPinned(ctx, candidate)
		if err != nil {
			answer.IfPinned.Err = err
		} else {
			answer.DisplacedBy = cupelinspect.Losers(a.Ledger, after, candidate)
			answer.IfPinned.Came = placed(after, func(i int) bool { return a.Entries[i].Place == 0 })
			answer.IfPinned.Went = placed(a.Ledger, func(i int) bool { return after.Entries[i].Place == 0 })
		}
	}
	var err error
	answer.Smallest, err = s.smallest(ctx, func(at *analysis.Ledger) bool {
		e := &at.Entries[candidate]
		return e.Place > 0 && (e.Form == 0 || answer.Form == 0) // an item that is in is wanted whole
	})
	return answer, err
}

// smallest searches for a budget whose window is as wanted. A budget that is too
// small for the pinned items has no window.
func (s *selection) smallest(ctx context.Context, wanted func(*analysis.Ledger) bool) (analysis.SmallestBudget, error) {
	high := analysis.SufficientBudget(s.Items, s.budget)
	tokens, found, proven, err := searchBudget(s.budget.OutputReserve(), high, func(tokens int) (bool, error) {
		report, err := s.at(ctx, tokens)
		return err == nil && wanted(analysis.NewLedger(report, s.Items)), ctx.Err()
	})
	return analysis.SmallestBudget{Found: found, Tokens: tokens, Exact: proven, SearchedTo: high}, err
}

// placed returns the candidates in a window for which a condition holds.
func placed(l *analysis.Ledger, holds func(candidate int) bool) []int {
	return slices.DeleteFunc(slices.Clone(l.Window), func(i int) bool { return !holds(i) })
}

// print writes it for people, with at most some rows of each list.
func (w *whyNotAnswer) print(p *terminal.Printer, rows int) {
	a, e := w.a, &w.Entry
	switch {
	case e.Form > 0:
		p.Line("It is in, as #%d of %d, in a smaller form: %s", e.Place, len(a.Window), e.Why())
		if len(w.DisplacedBy) > 0 {
			p.Line("The rest of its room went to %s.", listed(namesOf(w.a.items, w.DisplacedBy)))
		}
	case e.Place > 0:
		p.Line("It is in, as #%d of %d: %s", e.Place, len(a.Window), e.Why())
	default:
		p.Line("It is out: %s", w.cause())
	}
	p.Line("")
	a.printCandidates(p, []int{w.Candidate}, 1)
	if e.Form > 0 {
		p.Paragraph("What is sent of it:")
		p.Lines("  %s", strings.ReplaceAll(sentOf(e), "\n", "\n  "))
	}
	if w.Rule != "" {
		p.Paragraph("%s", w.Rule)
		a.printList(p, "Chosen instead:", w.DisplacedBy, rows)
	}
	if x := w.IfPinned; x != nil {
		p.Line("")
		switch {
		case x.Err != nil:
			p.Line("If it were pinned, the selection would fail: %s", message(x.Err))
		case len(x.Went) == 0:
			p.Line("If it were pinned, nothing would be dropped.")
		default:
			a.printList(p, "If it were pinned, these would be dropped:", x.Went, rows)
		}
		a.printList(p, "These would also be included:", slices.DeleteFunc(slices.Clone(x.Came), func(i int) bool { return i == e.Candidate }), rows)
	}
	p.Paragraph("%s", w.smallest())
}

// cause explains why the candidate is out, and names the candidates in its
// room.
func (w *whyNotAnswer) cause() string {
	why := w.Excluded.Reason.Explain()
	if !w.choice || len(w.DisplacedBy) == 0 {
		return why
	}
	return "its room went to " + listed(namesOf(w.a.items, w.DisplacedBy)) + "."
}

// sentOf returns the sent part of an entry that is in a window.
func sentOf(e *analysis.Entry) string { return e.Included.Item.Content() }

// smallest names the budgets that include the candidate, or send it whole.
func (w *whyNotAnswer) smallest() string {
	s := &w.Smallest
	text := s.String()
	switch {
	case w.choice && w.Form > 0:
		text = smallestText(s, "sends it whole")
	case w.choice:
		text = smallestText(s, "includes it")
	}
	if w.Place == 0 && s.Found && s.Tokens < w.a.budget.MaxTokens() {
		text += " With more, others are chosen instead."
	}
	return text
}

// printList prints at most some rows of a list of candidates under a title.
func (a *account) printList(p *terminal.Printer, title string, candidates []int, rows int) {
	if len(candidates) == 0 {
		return
	}
	p.Line("%s", title)
	a.printCandidates(p, candidates, rows)
}

// jsonExchange describes how a second selection differs. Candidates have their names
// for people.
type jsonExchange struct {
	Came  []string `json:"came"`
	Went  []string `json:"went"`
	Error string   `json:"error,omitempty"`
}

func jsonExchangeOf(items []*cupel.ContextItem, x *analysis.Exchange) *jsonExchange {
	if x == nil {
		return nil
	}
	j := &jsonExchange{Came: namesOf(items, x.Came), Went: namesOf(items, x.Went)}
	if x.Err != nil {
		j.Error = message(x.Err)
	}
	return j
}

// jsonAnswer is what --why-not --json prints. The candidate is as in a report.
type jsonAnswer struct {
	Name        string                  `json:"name"`            // message 17 (result of open), or item 3
	Place       int                     `json:"place,omitempty"` // in the prompt, from 1
	Rank        int                     `json:"rank,omitempty"`  // by score, from 1
	Included    *cupel.IncludedItem     `json:"included,omitempty"`
	Excluded    *cupel.ExcludedItem     `json:"excluded,omitempty"`
	Why         string                  `json:"why"`
	Rule        string                  `json:"rule,omitempty"`
	DisplacedBy []string                `json:"displaced_by"`
	IfPinned    *jsonExchange           `json:"if_pinned,omitempty"`
	Smallest    analysis.SmallestBudget `json:"smallest_budget"`
}

// json returns the answer for programs.
func (w *whyNotAnswer) json() *jsonAnswer {
	return &jsonAnswer{
		Name: named(w.Item, w.Candidate), Place: w.Place, Rank: w.Rank, Included: w.Included, Excluded: w.Excluded,
		Why: w.Why(), Rule: w.Rule, DisplacedBy: namesOf(w.a.items, w.DisplacedBy),
		IfPinned: jsonExchangeOf(w.a.items, w.IfPinned), Smallest: w.Smallest,
	}
}

// smallestText names the budget that does what is asked of it, such as "sends it".
func smallestText(s *analysis.SmallestBudget, does string) string {
	switch {
	case !s.Found:
		return fmt.Sprintf("No budget that was tried %s, up to %d tokens.", does, s.SearchedTo)
	case s.Exact:
		return fmt.Sprintf("The smallest budget that %s is %d tokens.", does, s.Tokens)
	}
	return fmt.Sprintf("A budget of %d tokens %s, and one of %d does not.", s.Tokens, does, s.Tokens-1)
}
