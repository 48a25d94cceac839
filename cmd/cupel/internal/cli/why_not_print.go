package cli

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/wollax/cupel-go/cmd/cupel/internal/terminal"
	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupel/analysis"
)

// maxInstead is how many candidates each list of a printed answer has.
const maxInstead = 10

// print writes it for people.
func (w *whyNotAnswer) print(p *terminal.Printer) {
	a, e := w.a, &w.Entry
	if e.Place > 0 {
		p.Heading(terminal.Text{Text: "It is in", Style: terminal.Green}, fmt.Sprintf(", as #%d of %d: %s", e.Place, len(a.Window), e.Why()))
	} else {
		p.Heading(terminal.Text{Text: "It is out", Style: terminal.Yellow}, ": "+inWords(e))
	}
	p.Line()
	w.printItem(p)
	if w.Rule != "" {
		p.Line()
		p.Paragraph(w.Rule, "")
		if len(w.DisplacedBy) > 0 {
			p.Paragraph("Chosen instead:", "")
			a.printSome(p, w.DisplacedBy, true)
		}
	}
	if w.IfPinned != nil {
		p.Line()
		switch x := w.IfPinned; {
		case x.Err != nil:
			p.Paragraph("If it were pinned, the selection would fail: "+bare(x.Err), "")
		case len(x.Went) == 0:
			p.Paragraph("If it were pinned, nothing would be dropped.", "")
		default:
			p.Paragraph("If it were pinned, these would be dropped:", "")
			a.printSome(p, x.Went, false)
		}
		if others := without(w.IfPinned.Came, e.Candidate); len(others) > 0 {
			p.Paragraph("These would also be included:", "")
			a.printSome(p, others, false)
		}
	}
	p.Line()
	p.Paragraph(w.budgetText(), terminal.Bold)
	if x := w.AtSmallest; x != nil && x.Err == nil && w.Smallest.Tokens != a.budget.MaxTokens() {
		a.printExchange(p, x, e.Candidate)
	}
}

// printItem shows the candidate itself.
func (w *whyNotAnswer) printItem(p *terminal.Printer) {
	a, e := w.a, &w.Entry
	rows := [][]terminal.Text{
		{terminal.Plain("item"), terminal.Plain(e.Item.Content())},
		{terminal.Plain("kind"), terminal.Plain(fmt.Sprintf("%s, source %s", e.Item.Kind(), e.Item.Source()))},
		{terminal.Plain("tokens"), terminal.Plain(strconv.Itoa(e.Item.Tokens()))},
	}
	if l := labelOf(e.Item); l.Title != "" {
		rows = slices.Insert(rows, 1, []terminal.Text{terminal.Plain("title"), terminal.Plain(l.Title)}, []terminal.Text{terminal.Plain("role"), terminal.Plain(l.Role)})
	}
	if group := e.Item.Group(); group != "" {
		rows = append(rows, []terminal.Text{terminal.Plain("group"), terminal.Plain(group)})
	}
	if form := formText(e); form != "" {
		rows = append(rows, []terminal.Text{terminal.Plain("form"), terminal.Plain(form)})
	}
	if w.copies > 0 {
		rows = append(rows, []terminal.Text{terminal.Plain("copies"), terminal.Plain(plural(w.copies, "other candidate") + " with the same content")})
	}
	if e.Rank > 0 {
		rows = append(rows, []terminal.Text{terminal.Plain("score"),
			terminal.Plain(fmt.Sprintf("%s, rank %d of %d", short(e.Score), e.Rank, a.Ranked))})
		if parts := a.scores[e.Candidate]; len(parts) > 1 {
			for i, score := range parts {
				part := a.parts[i]
				rows = append(rows, []terminal.Text{terminal.Plain(""),
					terminal.Plain(fmt.Sprintf("%s: %s × %s = %s", part.name, short(score), short(part.weight), short(score*part.weight)))})
			}
		}
	}
	p.Table([]terminal.Column{{}, {Flexible: true}}, rows)
}

// budgetText says which budgets take the candidate.
func (w *whyNotAnswer) budgetText() string {
	e, m, budget := &w.Entry, w.Smallest, w.a.budget.MaxTokens()
	switch {
	case e.Code == string(cupel.ExcludeDeduplicated):
		return "No budget includes it: its content is a duplicate of the candidate above."
	case e.Code == string(cupel.ExcludeNegativeTokens):
		return "No budget includes it: correct its token count."
	case !m.Found && m.Err != nil:
		return "The smallest budget that includes it is unknown: " + bare(m.Err)
	case !m.Found && m.Exact && m.SearchedTo == math.MaxInt:
		return fmt.Sprintf("No budget includes %s.", w.it())
	case !m.Found && m.Exact:
		return fmt.Sprintf("No budget up to %d tokens includes %s; raise --up-to to search further.", m.SearchedTo, w.it())
	case !m.Found:
		return fmt.Sprintf("No budget up to %d tokens includes %s; raise --max-probes to try more budgets.", m.SearchedTo, w.it())
	}
	text := fmt.Sprintf("The smallest budget that includes %s is %d tokens", w.it(), m.Tokens)
	if !m.Exact {
		text = fmt.Sprintf("A budget of %d tokens includes %s", m.Tokens, w.it())
	}
	if w.targetGiven {
		text = "Without --target, " + strings.ToLower(text[:1]) + text[1:]
	}
	switch {
	case m.Tokens > budget:
		text += fmt.Sprintf(", %d more than now", m.Tokens-budget)
	case m.Tokens < budget:
		text += fmt.Sprintf(", %d fewer than now", budget-m.Tokens)
	default:
		text += ", the current one"
	}
	switch {
	case !m.Exact:
		text += "; a smaller one may too: raise --max-probes to find it"
	case m.Tokens < budget && e.Place == 0 && !w.targetGiven:
		text += ": with more, others may be chosen instead"
	}
	return text + "."
}

// it returns "it", or "this copy of it" if other copies could be included.
func (w *whyNotAnswer) it() string {
	for i := range w.a.Entries {
		e := &w.a.Entries[i]
		if i != w.Candidate && e.Item.Content() == w.Item.Content() && e.Code != string(cupel.ExcludeDeduplicated) && e.Code != string(cupel.ExcludeNegativeTokens) {
			return "this copy of it"
		}
	}
	return "it"
}

// without returns the candidates except one.
func without(candidates []int, one int) []int {
	return slices.DeleteFunc(slices.Clone(candidates), func(i int) bool { return i == one })
}

// printExchange prints how the window at the smallest budget differs.
func (a *account) printExchange(p *terminal.Printer, x *analysis.Exchange, but int) {
	if came := without(x.Came, but); len(came) > 0 {
		p.Paragraph("That budget also includes:", "")
		a.printSome(p, came, false)
	}
	if len(x.Went) > 0 {
		p.Paragraph("That budget drops:", "")
		a.printSome(p, x.Went, false)
	}
}

// printSome prints the first candidates of a list. If in is set, it adds reasons
// when some are not included: a slicer may choose items that are dropped later.
func (a *account) printSome(p *terminal.Printer, candidates []int, in bool) {
	if len(candidates) == 0 {
		return
	}
	reasons := in && slices.ContainsFunc(candidates, func(i int) bool { return a.Entries[i].Place == 0 })
	rows := make([][]terminal.Text, 0, maxInstead)
	shown := candidates[:min(len(candidates), maxInstead)]
	labels := make([]label, len(shown))
	for n, i := range shown {
		labels[n] = labelOf(a.Entries[i].Item)
		labels[n].Group = "" // not of interest here
	}
	by := labelledBy(labels)
	for n, i := range shown {
		e := &a.Entries[i]
		per := "-"
		if e.Rank > 0 && e.Item.Tokens() > 0 {
			per = short(e.Score / float64(e.Item.Tokens()))
		}
		row := []terminal.Text{terminal.Plain(rankText(e)), terminal.Plain(scoreText(e)), terminal.Plain(strconv.Itoa(e.Item.Tokens())),
			terminal.Plain(per)}
		row = append(row, by.cells(labels[n], terminal.Plain(string(e.Item.Kind())))...)
		if reasons {
			row = append(row, terminal.Text{Text: a.shortReason(e, p.Width() >= roomForReasons), Style: reasonStyle(e)})
		}
		rows = append(rows, append(row, terminal.Plain(headline(e.Item))))
	}
	columns := append([]terminal.Column{{Head: "RANK", Right: true}, {Head: "SCORE", Right: true, Drop: 2}, {Head: "TOKENS", Right: true},
		{Head: "PER TOKEN", Right: true, Drop: 3}}, by.columns()...)
	if reasons {
		columns = append(columns, terminal.Column{Head: "REASON", Drop: 1})
	}
	p.Table(append(columns, terminal.Column{Head: "ITEM", Flexible: true}), rows)
	if more := len(candidates) - maxInstead; more > 0 {
		p.Line(terminal.Text{Text: fmt.Sprintf("… and %d more", more), Style: terminal.Dim})
	}
}

// jsonCandidate is a candidate in an answer.
type jsonCandidate struct {
	Position int `json:"position"` // among the candidates, from 0
	label
	Content string    `json:"content"`
	Kind    string    `json:"kind"`
	Tokens  int       `json:"tokens"`
	Rank    int       `json:"rank,omitempty"` // from 1; omitted if not scored
	Score   jsonScore `json:"score"`
	Reason  string    `json:"reason"`
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
	return jsonCandidate{candidate, labelOf(e.Item), e.Item.Content(), string(e.Item.Kind()), e.Item.Tokens(), e.Rank, jsonScore(e.Score), e.Code}
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
		j.Error = bare(x.Err)
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
	Smallest    jsonSmallest    `json:"smallest_budget"`
	AtSmallest  *jsonExchange   `json:"at_smallest_budget,omitempty"`
}

func jsonSmallestOf(m analysis.SmallestBudget) jsonSmallest {
	smallest := jsonSmallest{Found: m.Found, Tokens: m.Tokens, Exact: m.Exact, SearchedTo: m.SearchedTo}
	if m.Err != nil {
		smallest.Error = bare(m.Err)
	}
	return smallest
}

// json returns the answer for programs.
func (w *whyNotAnswer) json() (any, error) { return w.answer(), nil }

func (w *whyNotAnswer) answer() *jsonAnswer {
	return &jsonAnswer{
		jsonCandidate: w.a.jsonCandidate(w.Candidate),
		Included:      w.Place > 0, Place: w.Place, Candidates: w.a.Ranked, Copies: w.copies, Why: w.Why(),
		Parts: w.a.partsOf(w.Candidate), Rule: w.Rule, DisplacedBy: w.a.jsonCandidates(w.DisplacedBy),
		IfPinned: w.a.jsonExchange(w.IfPinned), Smallest: jsonSmallestOf(w.Smallest), AtSmallest: w.a.jsonExchange(w.AtSmallest),
	}
}
