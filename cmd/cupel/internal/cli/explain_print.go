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
	"github.com/wollax/cupel-go/cupel/pipeline"
)

// maxBar is the maximum width of a bar, in columns.
const maxBar = 100

// print writes everything for people.
func (a *account) print(p *terminal.Printer, title string, rows int, parts bool) {
	u := a.usage()
	if a.failed != nil {
		p.Line(terminal.Text{Text: title, Style: terminal.Bold}, terminal.Plain(": the selection failed"))
		p.Paragraph(bare(a.failed), terminal.Red)
		if errors.Is(a.failed, pipeline.ErrPinnedExceedsBudget) {
			a.printList(p, "Pinned, largest first", a.pinnedBySize(), rows, false, nil)
		}
	} else {
		p.Heading(terminal.Text{Text: title, Style: terminal.Bold}, fmt.Sprintf(": %d of %d candidates included, %d tokens, %s of the budget of %d",
			len(a.Window), len(a.Entries), u.used, percent(u.used, a.budget.MaxTokens()), a.budget.MaxTokens()))
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

// maxKinds is how many kinds a bar distinguishes; the rest are shown as one.
const maxKinds = 12

// printBudget draws the bar and its legend, and returns the style of each kind.
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
		add("+", "for kinds", u.slots, "reserved for later items", terminal.Dim)
	}
	if u.heldBack > 0 {
		add(",", "held back", u.heldBack, "by the target or the margin", terminal.Dim)
	}
	add(".", "free", u.free, "", terminal.Dim)
	if u.reserve > 0 {
		add("/", "reserve", u.reserve, "reserved for the answer", terminal.Dim)
	}
	p.Bar(segments, min(p.Width(), maxBar))
	p.Table([]terminal.Column{{}, {}, {Right: true}, {Right: true}, {Drop: 1}}, legend)
	if u.over > 0 {
		p.Line(terminal.Text{Text: fmt.Sprintf("%d tokens over what the budget and its reserve allow", u.over), Style: terminal.Red})
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

// percent returns a share of a whole, or a dash if the whole is 0.
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
	columns := []terminal.Column{{Head: "RANK", Right: true, Drop: 3}, {Head: "SCORE", Right: true, Drop: 4}}
	if in {
		columns = slices.Insert(columns, 0, terminal.Column{Head: "#", Right: true})
	}
	if parts {
		for _, head := range a.partHeads(p) {
			columns = append(columns, terminal.Column{Head: head, Right: true})
		}
	}
	labels := make([]label, len(visible))
	for i, candidate := range visible {
		labels[i] = labelOf(a.Entries[candidate].Item)
	}
	by, formed := labelledBy(labels), a.has(visible, formText)
	columns = append(columns, terminal.Column{Head: "TOKENS", Right: true})
	columns = append(columns, by.columns(terminal.Column{Head: "REASON"})...)
	if formed {
		columns = append(columns, terminal.Column{Head: "FORM", Drop: 1})
	}
	columns = append(columns, terminal.Column{Head: "ITEM", Flexible: true})
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
		item := shownAs(e)
		content := item.Content()
		if item.Tokens() == 0 || labels[i].Title != "" { // a form of its group in another entry stands for it
			content = headline(e.Item)
		}
		row = append(row, terminal.Plain(strconv.Itoa(item.Tokens())))
		row = append(row, by.cells(labels[i], terminal.Text{Text: string(e.Item.Kind()), Style: hues[e.Item.Kind().Key()]},
			terminal.Text{Text: a.shortReason(e, p.Width() >= roomForReasons), Style: reasonStyle(e)})...)
		if formed {
			row = append(row, terminal.Plain(formText(e)))
		}
		table[i] = append(row, terminal.Plain(content))
	}
	p.Table(columns, table)
	if more > 0 {
		p.Line(terminal.Text{Text: fmt.Sprintf("… and %d more; --rows 0 shows all", more), Style: terminal.Dim})
	}
}

// has reports whether a cell of some candidate has text.
func (a *account) has(candidates []int, cell func(*analysis.Entry) string) bool {
	return slices.ContainsFunc(candidates, func(i int) bool { return cell(&a.Entries[i]) != "" })
}

// partHeads returns a heading for each part. If names and weights take more than
// half the width, a line above the table lists them and the headings are short.
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

// scoreText returns "-" for a candidate that was not scored.
func scoreText(e *analysis.Entry) string {
	if e.Item.Pinned() || e.Code == string(cupel.IncludePinned) || e.Code == string(cupel.ExcludeNegativeTokens) || e.Item.Tokens() < 0 {
		return "-"
	}
	return short(e.Score)
}

// short formats a number with four digits; JSON output has all of them.
func short(f float64) string { return strconv.FormatFloat(f, 'g', 4, 64) }

func reasonStyle(e *analysis.Entry) terminal.Style {
	switch {
	case e.Code == string(cupel.IncludePinned):
		return terminal.Bold
	case e.Place > 0:
		return terminal.Green
	case e.Code == string(cupel.ExcludeDeduplicated):
		return terminal.Dim
	case e.Code == string(cupel.ExcludeNegativeTokens):
		return terminal.Red
	}
	return terminal.Yellow
}

// shortReason returns the code of a reason and, if there is room, the most useful
// part of its data. For a duplicate it always names the original, for an older
// version or a near copy the newest.
func (a *account) shortReason(e *analysis.Entry, room bool) string {
	is := ""
	switch cupel.ExclusionCode(e.Code) {
	case cupel.ExcludeDeduplicated:
		is = ", is "
	case cupel.ExcludeSuperseded:
		is = " by "
	case cupel.ExcludeNearDuplicate:
		is = " of "
	default: // there is no survivor
	}
	if is == "" || a.failed != nil {
		return shortExclusion(e.Code, e.Reason.Data(), room)
	}
	survivor, ok := a.Survivor(e.Candidate)
	if !ok {
		return e.Code
	}
	stays := &a.Entries[survivor]
	if stays.Place > 0 {
		return e.Code + is + "#" + strconv.Itoa(stays.Place)
	}
	return e.Code + is + "rank " + strconv.Itoa(stays.Rank)
}

// roomForReasons is the width from which tables show the data of a reason too.
const roomForReasons = 80

func shortExclusion(code string, data cupel.ReasonData, room bool) string {
	switch {
	case !room:
	case code == string(cupel.ExcludeCountCapExceeded):
		return code + ", cap " + strconv.Itoa(data.Cap)
	case code != string(cupel.ExcludeBudgetExceeded) || requested(data) <= max(data.AvailableTokens, 0): // it fit, so the room left is not the cause
	case data.AvailableTokens > 0:
		return code + ", " + strconv.Itoa(data.AvailableTokens) + " left"
	default:
		return code + ", none left"
	}
	return code
}

// requested returns the tokens that did not fit: those of the group, where there
// is one.
func requested(data cupel.ReasonData) int { return max(data.ItemTokens, data.GroupTokens) }

// overshot returns how many tokens over its budget the slicer was when the
// candidate was dropped. The report has them as negative available tokens.
func overshot(e *analysis.Entry) int {
	if e.Code != string(cupel.ExcludeBudgetExceeded) {
		return 0
	}
	return -min(max(e.Reason.Data().AvailableTokens, -math.MaxInt), 0)
}

// inWords returns the reason with its data, for people.
func inWords(e *analysis.Entry) string {
	if e.Excluded != nil {
		return e.Excluded.Reason.Explain()
	}
	return e.Why()
}

// reasonGroup is a group of candidates dropped for the same reason.
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
		return "fits into what was left, but was not chosen: see --why-not"
	case g.vary:
		return "larger than what was left"
	case g.left <= 0:
		return "nothing was left"
	}
	return "larger than the " + plural(g.left, "token") + " left"
}

// printReasons summarizes why the listed candidates were dropped.
func (a *account) printReasons(p *terminal.Printer) {
	var groups []reasonGroup
	for _, i := range a.visible(a.Out) {
		e := &a.Entries[i]
		data := e.Reason.Data()
		left := data.AvailableTokens
		fits := requested(data) <= max(left, 0)
		at := slices.IndexFunc(groups, func(g reasonGroup) bool {
			return g.code == e.Code && (g.fits == fits || e.Code != string(cupel.ExcludeBudgetExceeded))
		})
		if at < 0 {
			at = len(groups)
			groups = append(groups, reasonGroup{code: e.Code, fits: fits, left: left})
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

// printNotes prints remarks about the run.
func (a *account) printNotes(p *terminal.Printer) {
	var notes []string
	undecided := 0
	for i := range a.Entries {
		if a.Entries[i].Code == "" {
			undecided++
		}
	}
	if undecided > 0 {
		notes = append(notes, "The run ended before it decided about "+plural(undecided, "candidate")+".")
	}
	for _, s := range a.report.CountRequirementShortfalls {
		notes = append(notes, s.String())
	}
	if a.report.Overflow != nil {
		notes = append(notes, fmt.Sprintf("The selection is %d tokens over its target; the policy allows that.", a.report.Overflow.TokensOverBudget))
	}
	over := 0
	for i := range a.Entries {
		over = max(over, overshot(&a.Entries[i]))
	}
	if over > 0 && a.report.Overflow == nil && a.failed == nil {
		notes = append(notes, fmt.Sprintf("The slicer chose %s more than its budget; items were dropped until the rest fit.", plural(over, "token")))
	}
	if len(notes) > 0 {
		p.Line()
	}
	for _, note := range notes {
		p.Paragraph(note, "")
	}
}

// byScore returns the included candidates, highest score first. Pinned ones have
// no rank and come before the others. Equal scores keep the order of the prompt.
func (a *account) byScore() []int {
	list := slices.Clone(a.Window)
	slices.SortStableFunc(list, func(x, y int) int { return cmp.Compare(a.Entries[x].Rank, a.Entries[y].Rank) })
	return list
}
