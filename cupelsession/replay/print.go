package replay

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/wollax/cupel-go/internal/english"
)

// column is a figure of a table.
type column struct {
	head string
	of   func(*Row) float64
	in   func(*Row) Interval
}

var columns = []column{
	{"support", func(r *Row) float64 { return r.Support }, func(r *Row) Interval { return r.Intervals.Support }},
	{"grounded", func(r *Row) float64 { return r.Grounded }, func(r *Row) Interval { return r.Intervals.Grounded }},
	{"cost", func(r *Row) float64 { return r.Cost }, func(r *Row) Interval { return r.Intervals.Cost }},
	{"breaks", func(r *Row) float64 { return r.Breaks }, func(r *Row) Interval { return r.Intervals.Breaks }},
	{"task", func(r *Row) float64 { return r.Task }, func(r *Row) Interval { return r.Intervals.Task }},
	{"recent", func(r *Row) float64 { return r.Recent }, func(r *Row) Interval { return r.Intervals.Recent }},
	{"fill", func(r *Row) float64 { return r.Fill }, func(r *Row) Interval { return r.Intervals.Fill }},
}

// Text returns the result as a table for each share. Below each row stands half the
// width of the intervals, if there are any. The ten worst conversations of each policy follow.
func (r *Result) Text() string {
	var out strings.Builder
	columns := columns
	if len(r.Rows) > 0 {
		at := slices.IndexFunc(columns, func(c column) bool { return c.head == "cost" }) + 1
		for i, c := range r.Rows[0].Caches {
			columns = slices.Insert(slices.Clone(columns), at+i, column{c.Cache, func(r *Row) float64 { return r.Caches[i].Cost }, func(r *Row) Interval { return r.Caches[i].Interval }})
		}
	}
	steps, values := 0, 0
	wide := len("share 0.00")
	for i := range r.Rows {
		row := &r.Rows[i]
		steps, values = row.Steps, row.Values
		wide = max(wide, characters(row.Title()))
	}
	fmt.Fprintf(&out, "%s, %s, %s%s\n", english.Count(r.Conversations, "conversation"), english.Count(steps, "step"), english.Count(values, "value"), leftOut(r.Failed))
	for i := range r.Rows {
		row := &r.Rows[i]
		if i == 0 || row.Share != r.Rows[i-1].Share {
			fmt.Fprintf(&out, "\n%-*s  %-9s", wide, "share "+strconv.FormatFloat(row.Share, 'f', -1, 64), "mode")
			for _, c := range columns {
				fmt.Fprintf(&out, "  %*s", width(c.head), c.head)
			}
			if against := r.against(); against != "" {
				out.WriteString("  grounded against " + against + ", 95 % interval")
			}
			out.WriteByte('\n')
		}
		fmt.Fprintf(&out, "%-*s  %-9s", wide, row.Title(), row.Mode)
		for _, c := range columns {
			fmt.Fprintf(&out, "  %*.3f", width(c.head), c.of(row))
		}
		if a := row.Against; a != nil {
			fmt.Fprintf(&out, "  %+.3f (%+.3f to %+.3f)", a.Difference, a.Low, a.High)
		}
		out.WriteByte('\n')
		if row.Intervals != (Intervals{}) {
			fmt.Fprintf(&out, "%-*s  %-9s", wide, "", "±")
			for _, c := range columns {
				in := c.in(row)
				fmt.Fprintf(&out, "  %*.3f", width(c.head), (in.High-in.Low)/2)
			}
			out.WriteByte('\n')
		}
	}
	r.writeWorst(&out)
	return out.String()
}

// leftOut says how many conversations could not be measured.
func leftOut(n int) string {
	if n == 0 {
		return ""
	}
	return fmt.Sprintf(", %d left out", n)
}

// against returns the policy that rows are compared with, or "".
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
