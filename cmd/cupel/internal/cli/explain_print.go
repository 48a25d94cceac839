package cli

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/wollax/cupel-go/cmd/cupel/internal/terminal"
	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupel/analysis"
)

// maxBar is the widest that a bar gets, in columns.
const maxBar = 100

// print tells everything.
func (a *account) print(p *terminal.Printer, title string, rows int, parts bool) {
	u := a.usage()
	if a.failed != nil {
		p.Line(terminal.Text{Text: title, Style: terminal.Bold}, terminal.Plain(": the selection failed"))
		p.Paragraph(bare(a.failed), terminal.Red)
		if errors.Is(a.failed, cupel.ErrPinnedExceedsBudget) {
			a.printList(p, "Pinned, largest first", a.pinnedBySize(), rows, false, nil)
		}
	} else {
		p.Line(terminal.Text{Text: title, Style: terminal.Bold},
			terminal.Plain(fmt.Sprintf(": %d of %d candidates are in, %d tokens, %s of the budget of %d",
				len(a.Window), len(a.Entries), u.used, percent(u.used, a.budget.MaxTokens()), a.budget.MaxTokens())))
		p.Line()
		hues := a.printBudget(p, u)
		a.printList(p, "In, by score", a.byScore(), rows, parts, hues)
	}
	a.printList(p, "Out, by score", a.Out, rows, parts, nil)
	a.printReasons(p)
	a.printNotes(p)
}

// pinnedBySize returns the pinned candidates that count.
func (a *account) pinnedBySize() []int {
	var pinned []int
	for i := range a.Entries {
		if item := a.Entries[i].Item; item.Pinned() && item.Tokens() >= 0 {
			pinned = append(pinned, i)
		}
	}
	slices.SortStableFunc(pinned, func(i, j int) int { return cmp.Compare(a.Entries[j].Item.Tokens(), a.Entries[i].Item.Tokens()) })
	return pinned
}

// maxKinds is how many kinds a bar tells apart; more are shown as one.
const maxKinds = 12

// printBudget draws the bar and its legend, and returns how kinds look.
func (a *account) printBudget(p *terminal.Printer, u usage) map[string]terminal.Style {
	hues := make(map[string]terminal.Style)
	var segments []terminal.Segment
	var legend [][]terminal.Text
	add := func(mark, name string, tokens int, note string, style terminal.Style) {
		segments = append(segments, terminal.Segment{Mark: mark, Size: tokens, Style: style})
		legend = append(legend, []terminal.Text{{Text: mark, Style: style}, terminal.Plain(name),
			terminal.Plain(strconv.Itoa(tokens)), terminal.Plain(percent(tokens, a.budget.MaxTokens())), terminal.Plain(note)})
	}
	taken := make(map[string]bool)
	kinds := u.kinds
	var others kindUse
	if len(kinds) > maxKinds {
		for _, k := range kinds[maxKinds-1:] {
			others.tokens, others.items = addTokens(others.tokens, k.tokens), others.items+k.items
		}
		kinds = kinds[:maxKinds-1]
	}
	for i, k := range kinds {
		style := terminal.Hue(i)
		hues[cupel.ContextKind(k.kind).Key()] = style
		add(markOf(k.kind, taken), k.kind, k.tokens, plural(k.items, "item"), style)
	}
	if others.items > 0 {
		add("#", plural(len(u.kinds)-len(kinds), "other kind"), others.tokens, plural(others.items, "item"), "")
	}
	if u.slots > 0 {
		add("+", "for kinds", u.slots, "kept for what comes later", terminal.Dim)
	}
	if u.heldBack > 0 {
		add(",", "held back", u.heldBack, "by the target or the margin", terminal.Dim)
	}
	add(".", "free", u.free, "", terminal.Dim)
	if u.reserve > 0 {
		add("/", "reserve", u.reserve, "kept for the answer", terminal.Dim)
	}
	p.Bar(segments, min(p.Width(), maxBar))
	p.Table([]terminal.Column{{}, {}, {Right: true}, {Right: true}, {}}, legend)
	if u.over > 0 {
		p.Line(terminal.Text{Text: fmt.Sprintf("%d tokens more than the budget and its reserve allow", u.over), Style: terminal.Red})
	}
	return hues
}

// markOf returns a letter for a kind that no other kind has.
func markOf(kind string, taken map[string]bool) string {
	for _, r := range kind + "ABCDEFGHIJKLMNOPQRSTUVWXYZ" {
		for _, mark := range []string{string(unicode.ToUpper(r)), string(unicode.ToLower(r))} {
			letter := unicode.IsLetter(r) && terminal.Width(terminal.Safe(mark)) == 1
			if letter && !taken[mark] {
				taken[mark] = true
				return mark
			}
		}
	}
	return "#"
}

// percent returns a share of a whole, and a dash when there is no whole.
func percent(n, whole int) string {
	if whole <= 0 {
		return "-"
	}
	return strconv.FormatFloat(float64(n)/float64(whole)*100, 'f', 1, 64) + "%"
}

func plural(n int, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return strconv.Itoa(n) + " " + thing + "s"
}

// printList prints candidates as a table.
func (a *account) printList(p *terminal.Printer, head string, candidates []int, rows int, parts bool, hues map[string]terminal.Style) {
	visible := a.visible(candidates)
	p.Line()
	count := strconv.Itoa(len(visible))
	if len(visible) != len(candidates) {
		count += " of " + strconv.Itoa(len(candidates)) + ", those that match"
	}
	p.Line(terminal.Text{Text: head, Style: terminal.Bold}, terminal.Plain(" ("+count+")"))
	if len(visible) == 0 {
		return
	}
	more := 0
	if rows > 0 && len(visible) > rows {
		more = len(visible) - rows
		visible = visible[:rows]
	}
	in := a.Entries[visible[0]].Place > 0
	columns := []terminal.Column{{Head: "RANK", Right: true}, {Head: "SCORE", Right: true}}
	if in {
		columns = slices.Insert(columns, 0, terminal.Column{Head: "#", Right: true})
	}
	if parts {
		for _, head := range a.partHeads(p) {
			columns = append(columns, terminal.Column{Head: head, Right: true})
		}
	}
	columns = append(columns, terminal.Column{Head: "TOKENS", Right: true}, terminal.Column{Head: "KIND"},
		terminal.Column{Head: "REASON"}, terminal.Column{Head: "ITEM", Flexible: true})
	table := make([][]terminal.Text, len(visible))
	for i, candidate := range visible {
		e := &a.Entries[candidate]
		var row []terminal.Text
		if in {
			row = append(row, terminal.Plain(strconv.Itoa(e.Place)))
		}
		row = append(row, terminal.Plain(rankText(e)), terminal.Plain(scoreText(e)))
		if parts {
			for part := range a.parts {
				cell := "-"
				if scores := a.scores[candidate]; scores != nil {
					cell = short(scores[part])
				}
				row = append(row, terminal.Plain(cell))
			}
		}
		row = append(row, terminal.Plain(strconv.Itoa(e.Item.Tokens())),
			terminal.Text{Text: string(e.Item.Kind()), Style: hues[e.Item.Kind().Key()]},
			terminal.Text{Text: a.shortReason(e, p.Width() >= roomForReasons), Style: reasonStyle(e)}, terminal.Plain(e.Item.Content()))
		table[i] = row
	}
	p.Table(columns, table)
	if more > 0 {
		p.Line(terminal.Text{Text: fmt.Sprintf("… and %d more; --rows 0 shows all", more), Style: terminal.Dim})
	}
}

// partHeads returns a head for each part. Where names and weights would take more
// than half of the width, they are told in a line above, and the heads are short.
func (a *account) partHeads(p *terminal.Printer) []string {
	heads := make([]string, len(a.parts))
	columns := 0
	for i, part := range a.parts {
		heads[i] = part.name + "×" + short(part.weight)
		columns += terminal.Width(terminal.Safe(heads[i])) + 2
	}
	if columns <= p.Width()/2 {
		return heads
	}
	told := make([]string, len(heads))
	for i, head := range heads {
		heads[i] = "P" + strconv.Itoa(i+1)
		told[i] = heads[i] + " " + head
	}
	p.Paragraph(strings.Join(told, ", "), terminal.Dim)
	return heads
}

func rankText(e *analysis.Entry) string {
	if e.Rank == 0 {
		return "-"
	}
	return strconv.Itoa(e.Rank)
}

// scoreText leaves out what is not a scorer's.
func scoreText(e *analysis.Entry) string {
	if e.Item.Pinned() || e.Item.Tokens() < 0 {
		return "-"
	}
	return short(e.Score())
}

// short writes a number with four digits; JSON has them all.
func short(f float64) string { return strconv.FormatFloat(f, 'g', 4, 64) }

func reasonStyle(e *analysis.Entry) terminal.Style {
	switch {
	case e.Code() == string(cupel.IncludePinned):
		return terminal.Bold
	case e.Place > 0:
		return terminal.Green
	case e.Code() == string(cupel.ExcludeDeduplicated):
		return terminal.Dim
	case e.Code() == string(cupel.ExcludeNegativeTokens):
		return terminal.Red
	}
	return terminal.Yellow
}

// shortReason returns the code of a reason, and what is most telling of its data
// if there is room for it: of which candidate a duplicate is one is told
// everywhere.
func (a *account) shortReason(e *analysis.Entry, room bool) string {
	if e.Code() != string(cupel.ExcludeDeduplicated) || a.failed != nil {
		return shortExclusion(e.Code(), e.Data(), room)
	}
	survivor, ok := a.Survivor(e.Candidate)
	if !ok {
		return e.Code()
	}
	stays := &a.Entries[survivor]
	if stays.Place > 0 {
		return e.Code() + ", is #" + strconv.Itoa(stays.Place)
	}
	return e.Code() + ", is rank " + strconv.Itoa(stays.Rank)
}

// roomForReasons is the width from which tables tell more than the code of a
// reason.
const roomForReasons = 80

func shortExclusion(code string, data cupel.ReasonData, room bool) string {
	switch {
	case !room:
	case code == string(cupel.ExcludeCountCapExceeded):
		return code + ", cap " + strconv.Itoa(data.Cap)
	case code != string(cupel.ExcludeBudgetExceeded) || data.ItemTokens <= max(data.AvailableTokens, 0): // what was left is not why
	case data.AvailableTokens > 0:
		return code + ", " + strconv.Itoa(data.AvailableTokens) + " left"
	default:
		return code + ", none left"
	}
	return code
}

// overshot returns how many tokens the slicer had chosen beyond its budget when
// it left the candidate out. The report counts them as a negative rest.
func overshot(e *analysis.Entry) int {
	if e.Code() != string(cupel.ExcludeBudgetExceeded) {
		return 0
	}
	return -min(max(e.Data().AvailableTokens, -math.MaxInt), 0)
}

// inWords is the reason with its data, for people.
func inWords(e *analysis.Entry) string {
	if e.Excluded != nil {
		return e.Excluded.Reason.Explain()
	}
	return e.Why()
}

// reasonGroup are candidates that are out for the same reason.
type reasonGroup struct {
	code string
	fits bool // for a budget: in what was left
	n    int
	left int  // tokens, of the first one
	vary bool // others had other tokens left
}

func (g reasonGroup) words() string {
	switch {
	case g.code != string(cupel.ExcludeBudgetExceeded):
		return cupel.ExclusionCode(g.code).Meaning()
	case g.fits:
		return "fits what was left, but was not chosen: see --why-not"
	case g.vary:
		return "larger than what was left"
	case g.left <= 0:
		return "nothing was left"
	}
	return "larger than the " + plural(g.left, "token") + " left"
}

// printReasons sums up why the candidates that are shown are out.
func (a *account) printReasons(p *terminal.Printer) {
	var groups []reasonGroup
	for _, i := range a.visible(a.Out) {
		e := &a.Entries[i]
		data := e.Data()
		left := data.AvailableTokens
		fits := data.ItemTokens <= max(left, 0)
		at := slices.IndexFunc(groups, func(g reasonGroup) bool {
			return g.code == e.Code() && (g.fits == fits || e.Code() != string(cupel.ExcludeBudgetExceeded))
		})
		if at < 0 {
			at = len(groups)
			groups = append(groups, reasonGroup{code: e.Code(), fits: fits, left: left})
		}
		groups[at].n++
		groups[at].vary = groups[at].vary || groups[at].left != left
	}
	if len(groups) == 0 {
		return
	}
	slices.SortStableFunc(groups, func(x, y reasonGroup) int { return cmp.Or(cmp.Compare(y.n, x.n), cmp.Compare(x.code, y.code)) })
	p.Line()
	p.Line(terminal.Text{Text: "Why they are out", Style: terminal.Bold})
	var rows [][]terminal.Text
	for _, g := range groups {
		rows = append(rows, []terminal.Text{terminal.Plain(strconv.Itoa(g.n)), terminal.Plain(g.code), terminal.Plain(g.words())})
	}
	p.Table([]terminal.Column{{Right: true}, {}, {Flexible: true}}, rows)
}

// printNotes tells what else is worth knowing.
func (a *account) printNotes(p *terminal.Printer) {
	var notes []string
	undecided := 0
	for i := range a.Entries {
		if a.Entries[i].Code() == "" {
			undecided++
		}
	}
	if undecided > 0 {
		notes = append(notes, "Nothing was decided about "+plural(undecided, "candidate")+".")
	}
	for _, s := range a.report.CountRequirementShortfalls {
		notes = append(notes, s.String())
	}
	if a.report.Overflow != nil {
		notes = append(notes, fmt.Sprintf("The selection is %d tokens over its target, which the policy lets pass.", a.report.Overflow.TokensOverBudget))
	}
	over := 0
	for i := range a.Entries {
		over = max(over, overshot(&a.Entries[i]))
	}
	if over > 0 && a.report.Overflow == nil && a.failed == nil {
		notes = append(notes, fmt.Sprintf("The slicer chose %s more than its budget; items were left out until the rest fit.", plural(over, "token")))
	}
	if len(notes) > 0 {
		p.Line()
	}
	for _, note := range notes {
		p.Paragraph(note, "")
	}
}

// byScore returns the candidates that are in, those with the highest scores
// first; pinned ones have no rank and stand before them. Equal scores keep the
// order of the prompt.
func (a *account) byScore() []int {
	list := slices.Clone(a.Window)
	slices.SortStableFunc(list, func(x, y int) int { return cmp.Compare(a.Entries[x].Rank, a.Entries[y].Rank) })
	return list
}
