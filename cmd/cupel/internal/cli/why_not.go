package cli

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/wollax/cupel-go/cmd/cupel/internal/terminal"
	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupel/analysis"
	"github.com/wollax/cupel-go/cupel/scorer"
	"github.com/wollax/cupel-go/cupel/strategy"
)

// whyNotAnswer is the answer of --why-not for one candidate.
type whyNotAnswer struct {
	*analysis.WhyNotAnswer
	a      *account
	parts  []jsonPart // of its score
	copies int        // other candidates with its content
	choice bool       // the budgets were tried by choosing again
}

// whyNot explains the best candidate that has the content of an item.
func (s *selection) whyNot(ctx context.Context, a *account, of int) (*whyNotAnswer, error) {
	candidate, copies := a.bestCopy(s.Items[of].Content())
	var answer *analysis.WhyNotAnswer
	var err error
	if s.choosesAgain() {
		answer, err = s.whyNotByChoosing(ctx, a, candidate)
	} else {
		answer, err = analysis.WhyNot(ctx, s.pipeline, s.Items, s.budget, candidate)
	}
	if err != nil {
		return nil, selecting(err)
	}
	parts, err := a.partsOf(ctx, s.pipeline.Config().Scorer, candidate)
	return &whyNotAnswer{answer, a, parts, copies, s.choosesAgain()}, selecting(err)
}

// whyNotByChoosing answers by choosing again: with the candidate
// pinned, and for other budgets.
func (s *selection) whyNotByChoosing(ctx context.Context, a *account, candidate int) (*analysis.WhyNotAnswer, error) {
	answer := &analysis.WhyNotAnswer{Entry: a.Entries[candidate], Ledger: a.Ledger, Budget: s.budget}
	if answer.Place == 0 {
		answer.Rule = "It was worth less for its tokens than what was chosen."
		answer.IfPinned = &analysis.Exchange{}
		after, err := s.ledger(ctx, s.budget, candidate)
		if err != nil {
			answer.IfPinned.Err = err
		} else {
			answer.DisplacedBy = losers(a.Ledger, after)
			answer.IfPinned.Came = placed(after, func(i int) bool { return a.Entries[i].Place == 0 })
			answer.IfPinned.Went = placed(a.Ledger, func(i int) bool { return after.Entries[i].Place == 0 })
		}
	}
	var err error
	answer.Smallest, err = s.smallest(ctx, func(at *analysis.Ledger) bool { return at.Entries[candidate].Place > 0 })
	return answer, err
}

// smallest searches for a budget whose window is as wanted. One that is too small for
// what is pinned has no window.
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

// losers returns the candidates that have fewer tokens in a second window, those that
// lose most first: they have the room of what is in there.
func losers(before, after *analysis.Ledger) []int {
	loss := func(i int) int {
		left := 0
		if after.Entries[i].Place > 0 {
			left = after.Entries[i].Tokens
		}
		return before.Entries[i].Tokens - left
	}
	lose := placed(before, func(i int) bool { return loss(i) > 0 })
	slices.SortStableFunc(lose, func(i, j int) int { return cmp.Compare(loss(j), loss(i)) })
	return lose
}

// bestCopy returns the included candidate with a content, or else one that was
// not dropped as a duplicate, and how many other copies there are.
func (a *account) bestCopy(content string) (best, others int) {
	order := func(e *analysis.Entry) int {
		switch {
		case e.Place > 0:
			return 0
		case e.Code != string(cupel.ExcludeDeduplicated):
			return 1
		}
		return 2
	}
	best, others = -1, -1
	for i := range a.Entries {
		e := &a.Entries[i]
		if e.Item.Content() != content {
			continue
		}
		others++
		if best < 0 || order(e) < order(&a.Entries[best]) {
			best = i
		}
	}
	return best, others
}

// jsonPart is the score from one part of a composite for one candidate.
type jsonPart struct {
	Name   string    `json:"name"`
	Weight float64   `json:"weight"`
	Score  jsonScore `json:"score"`
}

// partsOf returns the score of a candidate from each part of a composite. Any other
// scorer is its own only part. A candidate that is not scored has none.
func (a *account) partsOf(ctx context.Context, s strategy.Scorer, candidate int) ([]jsonPart, error) {
	var scored []*cupel.ContextItem
	at := -1
	for i := range a.Entries {
		if e := &a.Entries[i]; e.Rank > 0 {
			if i == candidate {
				at = len(scored)
			}
			scored = append(scored, e.Item)
		}
	}
	parts := []jsonPart{}
	if at < 0 {
		return parts, nil
	}
	composite, ok := s.(*scorer.Composite)
	if !ok {
		var err error
		if composite, err = scorer.NewComposite(scorer.Weighted{Scorer: s, Weight: 1}); err != nil {
			return nil, err
		}
	}
	scores, err := composite.ScoreParts(ctx, scored)
	if err != nil {
		return nil, err
	}
	for _, each := range scores {
		name := fmt.Sprintf("%T", each.Scorer)
		parts = append(parts, jsonPart{strings.TrimSuffix(name[strings.LastIndexByte(name, '.')+1:], "Scorer"), each.Weight, jsonScore(each.Scores[at])})
	}
	return parts, nil
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

// print writes it for people, with at most some rows of each list.
func (w *whyNotAnswer) print(p *terminal.Printer, rows int) {
	a, e := w.a, &w.Entry
	switch {
	case e.Place > 0 && e.Form > 0:
		p.Line("It is in, as #%d of %d, in a smaller form: %s", e.Place, len(a.Window), e.Why())
	case e.Place > 0:
		p.Line("It is in, as #%d of %d: %s", e.Place, len(a.Window), e.Why())
	default:
		p.Line("It is out: %s", w.cause())
	}
	p.Line("")
	w.printItem(p)
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
		a.printList(p, "These would also be included:", without(x.Came, e.Candidate), rows)
	}
	p.Paragraph("%s", w.smallest())
}

// cause says why the candidate is out, and what has its room.
func (w *whyNotAnswer) cause() string {
	why := w.Excluded.Reason.Explain()
	if !w.choice || len(w.DisplacedBy) == 0 {
		return why
	}
	return "its room went to " + listed(names(w.Ledger, w.DisplacedBy)) + "."
}

// sentOf returns what a window has of an entry that is in it.
func sentOf(e *analysis.Entry) string { return e.Included.Item.Content() }

// names returns what people call some candidates.
func names(l *analysis.Ledger, candidates []int) (list []string) {
	for _, i := range candidates {
		list = append(list, named(l.Entries[i].Item, i))
	}
	return list
}

// smallest says which budgets take the candidate.
func (w *whyNotAnswer) smallest() string {
	switch s := w.Smallest; {
	case w.choice && s.Found && !s.Exact:
		return fmt.Sprintf("A budget of %d tokens includes it, and one of %d does not.", s.Tokens, s.Tokens-1)
	case s.Found && s.Tokens > w.a.budget.MaxTokens():
		return fmt.Sprintf("%s That is %d more than now.", s, s.Tokens-w.a.budget.MaxTokens())
	case s.Found && w.Place == 0:
		return s.String() + " With more, others are chosen instead."
	}
	return w.Smallest.String()
}

// printItem shows the candidate itself.
func (w *whyNotAnswer) printItem(p *terminal.Printer) {
	e := &w.Entry
	rows := [][]any{
		{"item", e.Item.Content()}, {"number", numberOr(messageNumber(e.Item), "")}, {"title", textOf(e.Item, "title")}, {"role", textOf(e.Item, "role")},
		{"kind", fmt.Sprintf("%s, source %s", e.Item.Kind(), e.Item.Source())},
		{"tokens", e.Item.Tokens()}, {"group", e.Item.Group()}, {"form", form(e)},
	}
	if w.copies > 0 {
		rows = append(rows, []any{"copies", w.copies})
	}
	if e.Rank > 0 {
		rows = append(rows, []any{"score", fmt.Sprintf("%s, rank %d of %d", short(e.Score), e.Rank, w.a.Ranked)})
	}
	if len(w.parts) > 1 {
		for _, part := range w.parts {
			score := float64(part.Score)
			rows = append(rows, []any{"", fmt.Sprintf("%s: %s × %s = %s", part.Name, short(score), short(part.Weight), short(score*part.Weight))})
		}
	}
	p.Table([]string{"", ""}, slices.DeleteFunc(rows, func(row []any) bool { return row[1] == "" }))
}

// without returns the candidates except one.
func without(candidates []int, one int) []int {
	return slices.DeleteFunc(slices.Clone(candidates), func(i int) bool { return i == one })
}

// printList prints at most some rows of a list of candidates under a title.
func (a *account) printList(p *terminal.Printer, title string, candidates []int, rows int) {
	if len(candidates) == 0 {
		return
	}
	p.Line("%s", title)
	a.printCandidates(p, candidates, rows)
}

// jsonCandidate is a candidate in an answer.
type jsonCandidate struct {
	Position int       `json:"position"`          // among the candidates, from 0
	Message  int       `json:"message,omitempty"` // of a conversation, from 1
	Role     string    `json:"role,omitempty"`
	Tool     string    `json:"tool,omitempty"`
	Title    string    `json:"title,omitempty"`
	Group    string    `json:"group,omitempty"`
	Content  string    `json:"content"`
	Kind     string    `json:"kind"`
	Tokens   int       `json:"tokens"`
	Rank     int       `json:"rank,omitempty"` // from 1; omitted if not scored
	Score    jsonScore `json:"score"`
	Reason   string    `json:"reason"`
}

func (a *account) jsonCandidates(candidates []int) []jsonCandidate {
	list := make([]jsonCandidate, len(candidates))
	for i, candidate := range candidates {
		list[i] = a.jsonCandidate(candidate)
	}
	return list
}

func (a *account) jsonCandidate(candidate int) jsonCandidate {
	e := &a.Entries[candidate]
	return jsonCandidate{
		candidate, messageNumber(e.Item), textOf(e.Item, "role"), textOf(e.Item, "tool"), textOf(e.Item, "title"), e.Item.Group(), e.Item.Content(),
		string(e.Item.Kind()), e.Item.Tokens(), e.Rank, jsonScore(e.Score), e.Code,
	}
}

// jsonExchange is how a second selection differs.
type jsonExchange struct {
	Came  []jsonCandidate `json:"came"`
	Went  []jsonCandidate `json:"went"`
	Error string          `json:"error,omitempty"`
}

func (a *account) jsonExchange(x *analysis.Exchange) *jsonExchange {
	if x == nil {
		return nil
	}
	j := &jsonExchange{Came: a.jsonCandidates(x.Came), Went: a.jsonCandidates(x.Went)}
	if x.Err != nil {
		j.Error = message(x.Err)
	}
	return j
}

// jsonSmallest is what is known about the smallest budget that includes a
// candidate.
type jsonSmallest struct {
	Found      bool   `json:"found"`
	Tokens     int    `json:"tokens,omitempty"` // when found
	Exact      bool   `json:"exact"`            // no smaller budget includes it, or none up to SearchedTo
	SearchedTo int    `json:"searched_to"`
	Error      string `json:"error,omitempty"` // why the search ended early
}

// jsonAnswer is what --why-not --json prints.
type jsonAnswer struct {
	jsonCandidate
	Included    bool            `json:"included"`
	Place       int             `json:"place,omitempty"` // in the prompt, from 1
	Candidates  int             `json:"scored_candidates"`
	Copies      int             `json:"copies"`
	Why         string          `json:"why"`
	Parts       []jsonPart      `json:"parts"`
	Rule        string          `json:"rule,omitempty"`
	DisplacedBy []jsonCandidate `json:"displaced_by"`
	IfPinned    *jsonExchange   `json:"if_pinned,omitempty"`
	Smallest    *jsonSmallest   `json:"smallest_budget,omitempty"`
}

// json returns the answer for programs.
func (w *whyNotAnswer) json() *jsonAnswer {
	answer := &jsonAnswer{
		jsonCandidate: w.a.jsonCandidate(w.Candidate),
		Included:      w.Place > 0, Place: w.Place, Candidates: w.a.Ranked, Copies: w.copies, Why: w.Why(),
		Parts: w.parts, Rule: w.Rule, DisplacedBy: w.a.jsonCandidates(w.DisplacedBy),
		IfPinned: w.a.jsonExchange(w.IfPinned),
	}
	answer.Smallest = jsonSmallestOf(w.Smallest)
	return answer
}

func jsonSmallestOf(m analysis.SmallestBudget) *jsonSmallest {
	smallest := &jsonSmallest{Found: m.Found, Tokens: m.Tokens, Exact: m.Exact, SearchedTo: m.SearchedTo}
	if m.Err != nil {
		smallest.Error = message(m.Err)
	}
	return smallest
}
