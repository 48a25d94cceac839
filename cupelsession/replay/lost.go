package replay

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

const (
	mostLost       = 10 // of a policy at a share
	mostShown      = 3  // in a table
	mostCharacters = 80 // of a value
)

// Lost is a value that a step used and that its window had lost.
type Lost struct {
	Policy       string  `json:"policy,omitempty"`
	Mode         Mode    `json:"mode,omitempty"`
	Share        float64 `json:"share,omitempty"`
	File         string  `json:"file,omitempty"` // where the conversation begins, with Line
	Line         int     `json:"line,omitempty"`
	Conversation string  `json:"conversation"` // its id
	Message      int     `json:"message"`      // of the step, from 1, as the file numbers its messages
	Value        string  `json:"value"`        // its first 80 characters
	Tokens       int     `json:"tokens"`       // of the smallest unit that had it, which has to be produced again

	title string
}

// compare orders values by cost, highest first, then by content, and then by place,
// as in [Worst].
func (l Lost) compare(m Lost) int {
	return cmp.Or(cmp.Compare(m.Tokens, l.Tokens), cmp.Compare(l.Conversation, m.Conversation), cmp.Compare(l.Message, m.Message),
		cmp.Compare(l.Value, m.Value), cmp.Compare(l.File, m.File), cmp.Compare(l.Line, m.Line))
}

// dearest sorts values and returns the ten most costly ones.
func dearest(list []Lost) []Lost {
	slices.SortFunc(list, Lost.compare)
	return list[:min(len(list), mostLost)]
}

// lose adds values to a cell's lost ones.
func (c *cell) lose(list []Lost) { c.Lost = dearest(slices.Concat(c.Lost, list)) }

// placed returns values with the place of the conversation.
func (s *Sample) placed(list []Lost) []Lost {
	list = slices.Clone(list)
	for i := range list {
		list[i].File, list[i].Line = s.File, s.Line
	}
	return list
}

// lostBy returns a cell's lost values as the values of a row.
func (c *cell) lostBy(row *Row) []Lost {
	list := slices.Clone(c.Lost)
	for i := range list {
		l := &list[i]
		l.Policy, l.Mode, l.Share, l.title = row.Policy, row.Mode, row.Share, row.Title()
	}
	return list
}

// least returns the tokens of the smallest unit so far that has a value.
func (t *turn) least(value string) int {
	least := 0
	for i := range t.units[:t.said] {
		if u := &t.units[i]; strings.Contains(u.text, value) && (least == 0 || u.tokens < least) {
			least = u.tokens
		}
	}
	return least
}

// writeLost writes the values that each policy lost at the smallest share.
func (r *Result) writeLost(out *strings.Builder) {
	var shown int
	for i := range r.Lost {
		l := &r.Lost[i]
		if l.Share != r.Lost[0].Share {
			break
		}
		if i == 0 || l.Policy != r.Lost[i-1].Policy || l.Mode != r.Lost[i-1].Mode {
			shown = 0
			fmt.Fprintf(out, "\nlost for %s at %g, %s: values that a step used\ntokens  message  value\n", l.title, l.Share, l.Mode)
		}
		if shown++; shown <= mostShown {
			fmt.Fprintf(out, "%6d  %7d  %s in %s\n", l.Tokens, l.Message, onOneLine(first(l.Value, mostCharacters/2)), onOneLine(l.Conversation))
		}
	}
}
