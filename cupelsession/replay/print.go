package replay

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"

	"github.com/wollax/cupel-go/internal/english"
)

// Text returns the result as a table for each share. The line below each row has
// half the width of the intervals, if there are any. The ten worst conversations of
// each policy follow, and the values that it lost.
func (r *Result) Text() string {
	var out strings.Builder
	var steps, values int
	wide := len("share 0.00")
	for i := range r.Rows {
		row := &r.Rows[i]
		steps, values = row.Steps, row.Values
		wide = max(wide, characters(row.Title()))
	}
	fmt.Fprintf(&out, "%s, %s, %s%s\n", english.Count(r.Conversations, "conversation"), english.Count(steps, "step"), english.Count(values, "value"), leftOut(r.Failed))
	for i := range r.Rows {
		row := &r.Rows[i]
		columns := row.columns()
		if i == 0 || row.Share != r.Rows[i-1].Share {
			fmt.Fprintf(&out, "\n%-*s  %-9s", wide, "share "+strconv.FormatFloat(row.Share, 'f', -1, 64), "mode")
			for _, c := range columns {
				fmt.Fprintf(&out, "  %*s", width(c.name), c.name)
			}
			if against := r.against(); against != "" {
				out.WriteString("  grounded against " + against + ", 95 % interval")
			}
			out.WriteByte('\n')
		}
		fmt.Fprintf(&out, "%-*s  %-9s", wide, row.Title(), row.Mode)
		for _, c := range columns {
			fmt.Fprintf(&out, "  %*.3f", width(c.name), *c.value)
		}
		if a := row.Against; a != nil {
			fmt.Fprintf(&out, "  %+.3f (%+.3f to %+.3f)", a.Difference, a.Low, a.High)
		}
		out.WriteByte('\n')
		if row.Intervals != (Intervals{}) {
			fmt.Fprintf(&out, "%-*s  %-9s", wide, "", "±")
			for _, c := range columns {
				fmt.Fprintf(&out, "  %*.3f", width(c.name), (c.interval.High-c.interval.Low)/2)
			}
			out.WriteByte('\n')
		}
	}
	r.writeWorst(&out)
	r.writeLost(&out)
	return out.String()
}

// leftOut tells how many conversations could not be measured.
func leftOut(n int) string {
	if n == 0 {
		return ""
	}
	return fmt.Sprintf(", %d left out", n)
}

// against returns the policy with which rows are compared, or "".
func (r *Result) against() string {
	for i := range r.Rows {
		if a := r.Rows[i].Against; a != nil {
			return a.Policy
		}
	}
	return ""
}

// Title returns the name of the policy in tables.
func (r *Row) Title() string { return cmp.Or(r.title, r.Policy) }

func width(head string) int { return max(len("0.000"), len(head)) }
