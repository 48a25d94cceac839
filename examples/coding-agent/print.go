package main

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/examples/coding-agent/repocontext"
)

// printPrompt prints the window as it would be sent to a model.
func printPrompt(out io.Writer, report *cupel.SelectionReport) error {
	for _, in := range report.Included {
		if _, err := fmt.Fprintf(out, "%s%s\n\n", repocontext.Frame(in.Item), visibleText(in.Item.Content())); err != nil {
			return err
		}
	}
	return nil
}

// printReport prints the window, what is left out, and the budget's use.
func (s settings) printReport(out io.Writer, report *cupel.SelectionReport) error {
	var b strings.Builder
	fmt.Fprintf(&b, "Question: %s\n", fit(visible(s.question), s.width-len("Question: ")))
	s.printCandidates(&b, report)
	s.printWindow(&b, report)
	s.printExcluded(&b, report)
	printReasons(&b, report)
	s.printBudget(&b, report)
	_, err := io.WriteString(out, b.String())
	return err
}

// amount is a number of items and their tokens.
type amount struct{ items, tokens int }

func (a *amount) add(item *cupel.ContextItem) {
	a.items++
	a.tokens += item.Tokens()
}

func (a amount) String() string {
	noun := "items"
	if a.items == 1 {
		noun = "item"
	}
	return fmt.Sprintf("%s %s, %s tokens", thousands(a.items), noun, thousands(a.tokens))
}

func (s settings) printCandidates(b *strings.Builder, report *cupel.SelectionReport) {
	var items []*cupel.ContextItem
	byKind := make(map[cupel.ContextKind]amount)
	for _, in := range report.Included {
		items = append(items, in.Item)
	}
	for _, ex := range report.Excluded {
		items = append(items, ex.Item)
	}
	for _, it := range items {
		a := byKind[it.Kind()]
		a.add(it)
		byKind[it.Kind()] = a
	}
	fmt.Fprintf(b, "Candidates: %s\n", amount{report.TotalCandidates, report.TotalTokensConsidered})
	t := table{columns: []column{{}, {right: true}, {right: true}}}
	for _, kind := range repocontext.Kinds(items) {
		t.add(string(kind), thousands(byKind[kind].items), thousands(byKind[kind].tokens)+" tokens")
	}
	t.print(b, s.width)
}

func (s settings) printWindow(b *strings.Builder, report *cupel.SelectionReport) {
	var total amount
	t := table{columns: []column{
		{title: "#", right: true}, {title: "kind"}, {title: "tokens", right: true}, {title: "score", right: true},
		{title: "why"}, {title: "from", share: 3, end: true}, {title: "first line", share: 2},
	}}
	for i, in := range report.Included {
		total.add(in.Item)
		t.add(thousands(i+1), string(in.Item.Kind()), thousands(in.Item.Tokens()), fmt.Sprintf("%.3f", in.Score),
			string(in.Reason), origin(in.Item), firstLine(in.Item.Content()))
	}
	fmt.Fprintf(b, "\nWindow, in the order of the prompt: %s\n", total)
	t.print(b, s.width)
}

func (s settings) printExcluded(b *strings.Builder, report *cupel.SelectionReport) {
	if len(report.Excluded) == 0 {
		b.WriteString("\nLeft out: nothing\n")
		return
	}
	var total amount
	for _, ex := range report.Excluded {
		total.add(ex.Item)
	}
	fmt.Fprintf(b, "\nLeft out, best scores first: %s\n", total)
	shown := report.Excluded
	if s.rows >= 0 && s.rows < len(shown) {
		shown = shown[:s.rows]
	}
	if len(shown) > 0 {
		t := table{columns: []column{
			{title: "kind"}, {title: "tokens", right: true}, {title: "score", right: true},
			{title: "from", share: 2, end: true}, {title: "why", share: 3},
		}}
		for _, ex := range shown {
			t.add(string(ex.Item.Kind()), thousands(ex.Item.Tokens()), fmt.Sprintf("%.3f", ex.Score),
				origin(ex.Item), visible(ex.Reason.String()))
		}
		t.print(b, s.width)
	}
	if more := len(report.Excluded) - len(shown); more > 0 {
		fmt.Fprintf(b, "  and %s more (-n -1 shows all)\n", thousands(more))
	}
}

// printReasons counts why items are in or out.
func printReasons(b *strings.Builder, report *cupel.SelectionReport) {
	in := make(map[cupel.InclusionReason]amount)
	for _, i := range report.Included {
		a := in[i.Reason]
		a.add(i.Item)
		in[i.Reason] = a
	}
	out := make(map[cupel.ExclusionCode]amount)
	for _, e := range report.Excluded {
		a := out[e.Reason.Code]
		a.add(e.Item)
		out[e.Reason.Code] = a
	}
	b.WriteString("\nReasons\n")
	printAmounts(b, "in", in)
	printAmounts(b, "out", out)
	for _, s := range report.CountRequirementShortfalls {
		fmt.Fprintf(b, "  %s\n", visible(s.String()))
	}
}

// printAmounts prints the most frequent reason first.
func printAmounts[R ~string](b *strings.Builder, where string, amounts map[R]amount) {
	reasons := make([]R, 0, len(amounts))
	for reason := range amounts {
		reasons = append(reasons, reason)
	}
	slices.SortFunc(reasons, func(x, y R) int {
		return cmp.Or(cmp.Compare(amounts[y].items, amounts[x].items), cmp.Compare(x, y))
	})
	for _, reason := range reasons {
		fmt.Fprintf(b, "  %-3s  %s: %s\n", where, visible(string(reason)), amounts[reason])
	}
}

// segment is a part of the budget.
type segment struct {
	name   string
	letter rune
	tokens int
	items  int
}

// printBudget shows the budget as a bar to scale, and in numbers.
func (s settings) printBudget(b *strings.Builder, report *cupel.SelectionReport) {
	budget := s.budget
	segments := segmentsOf(report)
	used := 0
	for _, seg := range segments {
		used += seg.tokens
	}
	free := max(0, budget.MaxTokens()-budget.OutputReserve()-used)
	segments = append(segments,
		segment{name: "free", letter: '.', tokens: free},
		segment{name: "for the answer", letter: '-', tokens: budget.OutputReserve()})

	fmt.Fprintf(b, "\nBudget: %s tokens; the window uses %s of at most %s (%s)\n",
		thousands(budget.MaxTokens()), thousands(used), thousands(budget.TargetTokens()), percent(used, budget.TargetTokens()))
	if bar := drawBar(segments, s.width-4); bar != "" {
		fmt.Fprintf(b, "  [%s]\n", bar)
	}
	t := table{columns: []column{{}, {}, {right: true}, {right: true}, {right: true}}}
	for _, seg := range segments {
		items := ""
		if seg.items > 0 {
			items = amount{items: seg.items}.String()
			items, _, _ = strings.Cut(items, ",")
		}
		t.add(string(seg.letter), seg.name, thousands(seg.tokens), percent(seg.tokens, budget.MaxTokens()), items)
	}
	t.print(b, s.width)
}

// segmentsOf returns what the kinds of the window use, each with a letter of
// its own.
func segmentsOf(report *cupel.SelectionReport) []segment {
	items := make([]*cupel.ContextItem, len(report.Included))
	byKind := make(map[cupel.ContextKind]amount)
	for i, in := range report.Included {
		items[i] = in.Item
		a := byKind[in.Item.Kind()]
		a.add(in.Item)
		byKind[in.Item.Kind()] = a
	}
	var segments []segment
	taken := make(map[rune]bool)
	for _, kind := range repocontext.Kinds(items) {
		letter := '?'
		for _, r := range strings.ToUpper(string(kind)) {
			if r > ' ' && r < 0x7F && !taken[r] {
				letter = r
				break
			}
		}
		taken[letter] = true
		a := byKind[kind]
		segments = append(segments, segment{visible(string(kind)), letter, a.tokens, a.items})
	}
	return segments
}

// drawBar draws segments to scale into width letters. Whatever has tokens is
// seen: at least one letter, which the largest segments give up.
func drawBar(segments []segment, width int) string {
	total := 0
	for _, seg := range segments {
		total += seg.tokens
	}
	if total <= 0 {
		return ""
	}
	cells := make([]int, len(segments))
	sum := 0
	for i, seg := range segments {
		if seg.tokens > 0 {
			cells[i] = max(1, int(float64(seg.tokens)/float64(total)*float64(width)+0.5))
			sum += cells[i]
		}
	}
	for sum != width {
		largest := 0
		for i := range cells {
			if cells[i] > cells[largest] {
				largest = i
			}
		}
		step := 1
		if sum > width {
			step = -1
		}
		cells[largest] += step
		sum += step
	}
	var b strings.Builder
	for i, seg := range segments {
		b.WriteString(strings.Repeat(string(seg.letter), max(0, cells[i])))
	}
	return b.String()
}

// origin says where an item comes from, fit for one line.
func origin(item *cupel.ContextItem) string { return visible(repocontext.Origin(item)) }

func percent(part, whole int) string {
	if whole <= 0 {
		return "0.0%"
	}
	return fmt.Sprintf("%.1f%%", 100*float64(part)/float64(whole))
}
