package cli

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"

	"github.com/wollax/cupel-go/cmd/cupel/internal/terminal"
	"github.com/wollax/cupel-go/cupel"
)

// print writes it for people.
func (d *difference) print(p *terminal.Printer, rows int) {
	for _, m := range []struct {
		name string
		of   measures
	}{{"A", d.A}, {"B", d.B}} {
		text := ": " + m.of.Label
		if m.of.Budget != nil && strconv.Itoa(*m.of.Budget) != m.of.Label {
			text += fmt.Sprintf(", budget %d", *m.of.Budget)
		}
		p.Line(terminal.Text{Text: m.name, Style: terminal.Bold}, terminal.Plain(text))
	}
	p.Line()
	d.printMeasures(p)
	printSwings(p, "In A only", d.Swings, rows, func(s swing) bool { return s.A.Included })
	printSwings(p, "In B only", d.Swings, rows, func(s swing) bool { return s.B.Included })
	d.printMoved(p, rows)
	d.printForms(p, rows)
	if len(d.Swings)+len(d.Moved)+len(d.Forms) == 0 {
		same := "Both include the same items in the same order."
		if d.A.Items != d.B.Items || d.A.Tokens != d.B.Tokens {
			same = "Both include the same contents in the same order, but different copies of them."
		}
		p.Line()
		p.Line(terminal.Plain(same))
	}
}

func (d *difference) printMeasures(p *terminal.Printer) {
	var table [][]terminal.Text
	row := func(name, a, b, change string) {
		table = append(table, []terminal.Text{terminal.Plain(name), terminal.Plain(a), terminal.Plain(b), terminal.Plain(change)})
	}
	number := func(name string, a, b int) {
		change := ""
		if a != b {
			change = fmt.Sprintf("%+d", b-a)
		}
		row(name, strconv.Itoa(a), strconv.Itoa(b), change)
	}
	share := func(name string, a, b float64) {
		change := fmt.Sprintf("%+.1f points", (b-a)*100)
		if change == "+0.0 points" || change == "-0.0 points" {
			change = ""
		}
		row(name, fmt.Sprintf("%.1f%%", a*100), fmt.Sprintf("%.1f%%", b*100), change)
	}
	number("items", d.A.Items, d.B.Items)
	number("tokens", d.A.Tokens, d.B.Tokens)
	if d.A.Utilization != nil && d.B.Utilization != nil {
		share("of the budget", *d.A.Utilization, *d.B.Utilization)
	}
	number("kinds", d.A.KindDiversity, d.B.KindDiversity)
	share("with a timestamp", d.A.TimestampCoverage, d.B.TimestampCoverage)
	// A kind may be spelled differently on both sides.
	names := make(map[string]string)
	a, b := byKey(d.A.TokensByKind, names), byKey(d.B.TokensByKind, names)
	for _, key := range slices.SortedFunc(maps.Keys(names), func(x, y string) int {
		return cmp.Or(cmp.Compare(max(a[y], b[y]), max(a[x], b[x])), cmp.Compare(x, y))
	}) {
		number("tokens of "+names[key], a[key], b[key])
	}
	p.Table([]terminal.Column{{}, {Head: "A", Right: true}, {Head: "B", Right: true}, {Head: "CHANGE", Right: true}}, table)
}

func byKey(tokensByKind map[string]int, names map[string]string) map[string]int {
	keyed := make(map[string]int, len(tokensByKind))
	for _, kind := range slices.Sorted(maps.Keys(tokensByKind)) {
		key := cupel.ContextKind(kind).Key()
		keyed[key] = tokensByKind[kind]
		if names[key] == "" {
			names[key] = kind
		}
	}
	return keyed
}

func printSwings(p *terminal.Printer, head string, swings []swing, rows int, in func(swing) bool) {
	var table [][]terminal.Text
	var labels []label
	swings = slices.DeleteFunc(slices.Clone(swings), func(s swing) bool { return !in(s) })
	for _, s := range swings {
		labels = append(labels, s.label)
	}
	by := labelledBy(labels)
	for _, s := range swings {
		why := s.A
		if s.A.Included {
			why = s.B
		}
		row := []terminal.Text{terminal.Plain(scoreOf(s.A)), terminal.Plain(scoreOf(s.B)), terminal.Plain(strconv.Itoa(s.Tokens))}
		row = append(row, by.cells(s.label, terminal.Plain(s.Kind), terminal.Text{Text: why.short(p.Width() >= roomForReasons), Style: terminal.Yellow})...)
		table = append(table, append(row, terminal.Plain(cmp.Or(s.Title, s.Content))))
	}
	if len(table) == 0 {
		return
	}
	other := "NOT IN B"
	if head == "In B only" {
		other = "NOT IN A"
	}
	columns := append([]terminal.Column{{Head: "SCORE A", Right: true, Drop: 3}, {Head: "SCORE B", Right: true, Drop: 3}, {Head: "TOKENS", Right: true}},
		by.columns(terminal.Column{Head: other})...)
	printRows(p, head, append(columns, terminal.Column{Head: "ITEM", Flexible: true}), table, rows)
}

// printRows prints a table under its heading, with at most the given rows.
func printRows(p *terminal.Printer, head string, columns []terminal.Column, table [][]terminal.Text, rows int) {
	p.Line()
	p.Line(terminal.Text{Text: head, Style: terminal.Bold}, terminal.Plain(fmt.Sprintf(" (%d)", len(table))))
	more := 0
	if rows > 0 && len(table) > rows {
		more = len(table) - rows
		table = table[:rows]
	}
	p.Table(columns, table)
	if more > 0 {
		p.Line(terminal.Text{Text: fmt.Sprintf("… and %d more; --rows 0 shows all", more), Style: terminal.Dim})
	}
}

// short returns the reason as tables print it.
func (o outcome) short(room bool) string {
	if o.entry == nil {
		return o.Reason
	}
	return shortExclusion(o.Reason, o.entry.Reason.Data(), room)
}

// scoreOf returns "-" for an item that was not scored.
func scoreOf(o outcome) string {
	if o.Score == nil || o.entry.Item.Pinned() || o.entry.Item.Tokens() < 0 {
		return "-"
	}
	return short(float64(*o.Score))
}

func (d *difference) printForms(p *terminal.Printer, rows int) {
	if len(d.Forms) == 0 {
		return
	}
	text := func(s shape) string {
		if s.Form == 0 {
			return "full"
		}
		return strconv.Itoa(s.Form)
	}
	var table [][]terminal.Text
	var labels []label
	for _, f := range d.Forms {
		labels = append(labels, f.label)
	}
	by := labelledBy(labels)
	for _, f := range d.Forms {
		row := []terminal.Text{terminal.Plain(text(f.A)), terminal.Plain(strconv.Itoa(f.A.Tokens)), terminal.Plain(text(f.B)), terminal.Plain(strconv.Itoa(f.B.Tokens))}
		row = append(row, by.cells(f.label, terminal.Plain(f.Kind))...)
		table = append(table, append(row, terminal.Plain(cmp.Or(f.Title, f.Content))))
	}
	columns := append([]terminal.Column{{Head: "FORM A", Right: true}, {Head: "TOKENS", Right: true}, {Head: "FORM B", Right: true}, {Head: "TOKENS", Right: true}},
		by.columns()...)
	printRows(p, "In both, but in another form", append(columns, terminal.Column{Head: "ITEM", Flexible: true}), table, rows)
}

func (d *difference) printMoved(p *terminal.Printer, rows int) {
	if len(d.Moved) == 0 {
		return
	}
	var table [][]terminal.Text
	for _, m := range d.Moved {
		table = append(table, []terminal.Text{terminal.Plain("#" + strconv.Itoa(m.A)), terminal.Plain("#" + strconv.Itoa(m.B)), terminal.Plain(cmp.Or(m.Title, m.Content))})
	}
	printRows(p, "In both, but in a different order", []terminal.Column{{Head: "A", Right: true}, {Head: "B", Right: true},
		{Head: "ITEM", Flexible: true}}, table, rows)
}
