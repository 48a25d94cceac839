package cupelinspect

import (
	"cmp"
	"fmt"
	"html"
	"strings"
)

// mostSummarized is the number of candidates of a selection that the summary
// lists.
const mostSummarized = 400

// summary is the text of the page if scripts do not run: the tokens, and the fate of
// each candidate, newest first.
func (p *wirePage) summary() string {
	var b strings.Builder
	fmt.Fprintf(&b, "<h1>%s</h1>\n", text(p.Title))
	for _, s := range p.Selections {
		before, after, cut, states := p.states(s)
		fmt.Fprintf(&b, "<h2>%s</h2>\n<p>%d → %d tokens of a budget of %d. %d candidates: %d whole, %d cut, %d out. %s</p>\n", text(s.Name),
			before, after, s.Budget.Max, len(states), len(s.Window)-cut, cut, len(states)-len(s.Window), text(s.Error))
		b.WriteString("<table class=\"plain\"><tr><th>Number<th>Who<th>What<th>Tokens<th>State\n")
		for at := len(states) - 1; at >= max(0, len(states)-mostSummarized); at-- {
			item := &p.Items[s.Candidates[at]]
			who, title := cmp.Or(item.Metadata["role"], item.Kind), cmp.Or(item.Metadata["title"], excerpt(item.Content))
			fmt.Fprintf(&b, "<tr><td>%d<td>%s<td>%s<td>%d<td>%s\n", at+1, text(who), text(shorten(title, maxLabel)), item.Tokens, states[at])
		}
		b.WriteString("</table>\n")
	}
	return b.String()
}

// text returns a text that is inert in HTML.
func text(s string) string { return html.EscapeString(strings.Map(inert, s)) }

// states returns the tokens of all candidates and of the window, how many are cut, and
// the fate of each.
func (p *wirePage) states(s *wireSelection) (before, after, cut int, states []string) {
	states = make([]string, len(s.Candidates))
	for at, item := range s.Candidates {
		states[at] = "out"
		before = add(before, max(0, s.fullTokens(at, p.Items[item].Tokens)))
	}
	for _, at := range s.Window {
		states[at] = "whole"
		tokens := p.Items[s.Candidates[at]].Tokens
		if form := s.Form[at]; form > 0 {
			states[at], cut = "cut", cut+1
			if forms := s.Forms[at]; form <= len(forms) {
				tokens = forms[form-1].Tokens
			}
		}
		after = add(after, max(0, tokens))
	}
	return before, after, cut, states
}

// fullTokens returns the tokens of a candidate as it was given, which a report
// may know.
func (s *wireSelection) fullTokens(at, tokens int) int {
	if full, ok := s.Full[at]; ok {
		return full
	}
	return tokens
}
