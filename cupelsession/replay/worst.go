package replay

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"
)

// mostWorst is how many conversations a table names for each policy.
const mostWorst = 10

// Worst is one of the ten conversations in which a policy misses most.
type Worst struct {
	Policy       string `json:"policy"`
	Mode         Mode   `json:"mode"`
	File         string `json:"file,omitempty"` // where the conversation begins, with Line
	Line         int    `json:"line,omitempty"`
	Conversation string `json:"conversation"` // its id
	Values       int    `json:"values"`
	// Missed counts, by share, the values without grounded support. With [WithAgainst],
	// it is the difference from the other policy's count, negative if the other policy
	// misses more.
	Missed []int `json:"missed"`

	title string
}

// missed returns the sum over the shares.
func (w *Worst) missed() int {
	sum := 0
	for _, n := range w.Missed {
		sum += n
	}
	return sum
}

// compare orders conversations by missed values, then by values, most first, then by content, and then by
// place. The order of samples and the division into files therefore do not show.
func (w Worst) compare(v Worst) int {
	return cmp.Or(cmp.Compare(v.missed(), w.missed()), cmp.Compare(v.Values, w.Values), cmp.Compare(w.Conversation, v.Conversation),
		slices.Compare(w.Missed, v.Missed), cmp.Compare(w.File, v.File), cmp.Compare(w.Line, v.Line))
}

// worst adds a sample to the worst of policy i, if it belongs to them.
func (t *Table) worst(i, opponent int, s *Sample) {
	p := &t.Plan.Policies[i]
	w := Worst{Policy: p.Name, Mode: p.Mode, File: s.File, Line: s.Line, Conversation: s.Conversation}
	for k := range t.Plan.Shares {
		c := &s.Counts[k*len(t.Plan.Policies)+i]
		w.Values = c.Values
		whole := c.Values
		if opponent >= 0 {
			whole = s.Counts[k*len(t.Plan.Policies)+opponent].Grounded
		}
		w.Missed = append(w.Missed, whole-c.Grounded)
	}
	if w.missed() > 0 {
		t.Worst[i] = tenWorst(append(t.Worst[i], w))
	}
}

// tenWorst sorts conversations and returns the first ten.
func tenWorst(list []Worst) []Worst {
	slices.SortFunc(list, Worst.compare)
	return list[:min(len(list), mostWorst)]
}

// writeWorst writes the worst conversations of each policy.
func (r *Result) writeWorst(out *strings.Builder) {
	var shares []string
	for i := range r.Rows {
		if share := strconv.FormatFloat(r.Rows[i].Share, 'f', -1, 64); !slices.Contains(shares, share) {
			shares = append(shares, share)
		}
	}
	for i := range r.Worst {
		w := &r.Worst[i]
		if i == 0 || w.Policy != r.Worst[i-1].Policy || w.Mode != r.Worst[i-1].Mode {
			than := ""
			if against := r.against(); against != "" {
				than = " more than " + against
			}
			fmt.Fprintf(out, "\nworst for %s: values missed%s\n", cmp.Or(w.title, w.Policy), than)
			for _, share := range shares {
				fmt.Fprintf(out, "%6s  ", share)
			}
			out.WriteString("    of  conversation\n")
		}
		for _, n := range w.Missed {
			fmt.Fprintf(out, "%6d  ", n)
		}
		fmt.Fprintf(out, "%6d  %s", w.Values, onOneLine(w.Conversation))
		switch {
		case w.File != "" && w.Line > 0:
			fmt.Fprintf(out, " (%s:%d)", onOneLine(w.File), w.Line)
		case w.File != "":
			fmt.Fprintf(out, " (%s)", onOneLine(w.File))
		}
		out.WriteByte('\n')
	}
}

// onOneLine quotes a name from the data that would begin a line or control a
// terminal.
func onOneLine(name string) string {
	if strings.ContainsFunc(name, func(r rune) bool { return !unicode.IsGraphic(r) }) {
		return strconv.Quote(name)
	}
	return name
}
