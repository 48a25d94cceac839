package cli

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"

	"github.com/wollax/cupel-go/cmd/cupel/internal/terminal"
	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupel/analysis"
	"github.com/wollax/cupel-go/internal/english"
)

// account is the data of a run that explain prints.
type account struct {
	*analysis.Ledger
	items     []*cupel.ContextItem
	budget    cupel.ContextBudget
	report    *cupel.SelectionReport
	exchanges map[string]exchange
	displaced map[int]string // the candidates in the room of those that are out, as far as known
}

func newAccount(items []*cupel.ContextItem, budget cupel.ContextBudget, report *cupel.SelectionReport) *account {
	ledger := analysis.NewLedger(report, items)
	return &account{ledger, items, budget, report, exchangesOf(ledger), make(map[int]string)}
}

// printBudget prints how the tokens of the budget are spent.
func (a *account) printBudget(p *terminal.Printer) {
	tokens, items := make(map[string]int), make(map[string]int)
	for _, i := range a.Window {
		kind := string(a.Entries[i].Item.Kind())
		tokens[kind] = addTokens(tokens[kind], a.Entries[i].Tokens)
		items[kind]++
	}
	whole := a.budget.MaxTokens()
	var rows [][]any
	for _, kind := range slices.Sorted(maps.Keys(tokens)) {
		rows = append(rows, []any{kind, tokens[kind], percent(tokens[kind], whole), items[kind]})
	}
	reserve := a.budget.OutputReserve()
	left := whole - reserve - tokensIn(a.report) // below 0 if a policy allows it
	rows = append(rows, []any{"reserved for the answer", reserve, percent(reserve, whole), ""}, []any{"left", left, percent(left, whole), ""})
	p.Line("")
	p.Table([]string{"KIND", "TOKENS", "SHARE", "ITEMS"}, rows)
}

// percent returns a share of a whole, or a dash if the whole is 0.
func percent(n, whole int) string {
	if whole <= 0 {
		return "-"
	}
	return fmt.Sprintf("%.1f%%", float64(n)/float64(whole)*100)
}

// printLists prints the included and the excluded candidates, and remarks.
func (a *account) printLists(p *terminal.Printer, rows int) {
	// Pinned items have no rank and come before the others. Equal scores keep the
	// order of the prompt.
	in := slices.Clone(a.Window)
	slices.SortStableFunc(in, func(x, y int) int { return cmp.Compare(a.Entries[x].Rank, a.Entries[y].Rank) })
	p.Paragraph("In, by score (%d)", len(in))
	a.printCandidates(p, in, rows)
	p.Paragraph("Out, by score (%d)", len(a.Out))
	a.printCandidates(p, a.Out, rows)
	a.printReasons(p)
	undecided := len(a.Entries) - len(a.Window) - len(a.Out)
	if undecided > 0 {
		p.Paragraph("The run ended before it decided about %s.", english.Plural(undecided, "candidate"))
	}
	for _, s := range a.report.CountRequirementShortfalls {
		p.Paragraph("%s", s)
	}
	if over := a.report.Overflow; over != nil {
		p.Paragraph("The selection is %d tokens over its target; the policy allows that.", over.TokensOverBudget)
	}
}

// candidateHeads are the headings of a table of candidates.
var candidateHeads = []string{"#", "MSG", "RANK", "SCORE", "TOKENS", "KIND", "TOOL", "REASON", "ROOM WENT TO", "GROUP", "FORM", "ITEM"}

// printCandidates prints candidates as a table.
func (a *account) printCandidates(p *terminal.Printer, candidates []int, rows int) {
	table := make([][]any, len(candidates))
	for i, candidate := range candidates {
		e := &a.Entries[candidate]
		table[i] = []any{
			numberOr(e.Place, ""), numberOr(messageNumber(e.Item), ""), numberOr(e.Rank, "-"), score(e), e.Tokens, kindOf(e.Item), textOf(e.Item, "tool"), a.reason(e), a.displaced[candidate], e.Item.Group(), a.form(e), headline(shownAs(e)),
		}
	}
	printSome(p, candidateHeads, table, rows)
}

// shownAs returns the item of an entry as the window has it, unless a form of its
// group replaces it.
func shownAs(e *analysis.Entry) *cupel.ContextItem {
	if e.Included != nil && e.Included.Item.Tokens() > 0 {
		return e.Included.Item
	}
	return e.Item
}

// numberOr returns a place or a rank as tables show it: 0 is none.
func numberOr(n int, none string) any {
	if n == 0 {
		return none
	}
	return n
}

// score returns "-" for a candidate that was not scored.
func score(e *analysis.Entry) string {
	if e.Item.Pinned() || e.Code == string(cupel.IncludePinned) || e.Item.Tokens() < 0 {
		return "-"
	}
	return short(e.Score)
}

// short formats a number with four digits; JSON output has all of them.
func short(f float64) string { return strconv.FormatFloat(f, 'g', 4, 64) }

// exchange is the one text in a window that replaces the messages of a group.
type exchange struct{ sent, full int }

// exchangesOf returns the groups that became one text, which has all of their tokens.
func exchangesOf(l *analysis.Ledger) map[string]exchange {
	formed, isOne := make(map[string]exchange), make(map[string]bool)
	for i := range l.Entries {
		e := &l.Entries[i]
		group := e.Item.Group()
		if e.Form == 0 || group == "" {
			continue
		}
		x := formed[group]
		formed[group] = exchange{addTokens(x.sent, e.Tokens), addTokens(x.full, e.Item.Tokens())}
		isOne[group] = isOne[group] || e.Tokens == 0
	}
	maps.DeleteFunc(formed, func(group string, _ exchange) bool { return !isOne[group] })
	return formed
}

// form describes a candidate's form in the window, such as "2, 60 of 220" for its second
// form with its tokens and those of the full one. If an exchange became one text, the
// tokens are those of the exchange. It says whether there is a newer version.
func (a *account) form(e *analysis.Entry) string {
	text := ""
	if e.Form > 0 {
		x, ok := a.exchanges[e.Item.Group()]
		if !ok {
			x = exchange{e.Tokens, e.Item.Tokens()}
		}
		text = fmt.Sprintf("%d, %d of %d", e.Form, x.sent, x.full)
	}
	if e.Stale {
		text += " stale"
	}
	return text
}

// reason returns the code of a reason: for a duplicate with the original, for an older
// version or a near copy with the newest.
func (a *account) reason(e *analysis.Entry) string {
	survivor, ok := a.Survivor(e.Candidate)
	if !ok {
		return e.Code
	}
	stays := &a.Entries[survivor]
	if stays.Place > 0 {
		return fmt.Sprintf("%s, stays #%d", e.Code, stays.Place)
	}
	return fmt.Sprintf("%s, stays rank %d", e.Code, stays.Rank)
}

// printReasons summarizes why candidates are out.
func (a *account) printReasons(p *terminal.Printer) {
	count := make(map[string]int)
	for _, i := range a.Out {
		count[a.Entries[i].Code]++
	}
	if len(count) == 0 {
		return
	}
	var rows [][]any
	for _, code := range slices.Sorted(maps.Keys(count)) {
		rows = append(rows, []any{count[code], code, cupel.ExclusionCode(code).Meaning()})
	}
	p.Paragraph("Why they are out")
	p.Table([]string{"", "", ""}, rows)
}
