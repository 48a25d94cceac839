package eval

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/wollax/cupel-go/internal/english"
)

// Text returns the result as three tables, of recall, precision and budget use,
// with a line per policy and a column per budget. Half the width of its interval
// follows each recall. With [WithAgainst], another table has the differences in
// recall, with half the width of their intervals, and p below.
func (r *Result) Text() string {
	var out strings.Builder
	fmt.Fprintf(&out, "%s, %s", english.Plural(r.Conversations, "conversation"), english.Plural(r.Questions, "question"))
	if r.Failed > 0 {
		fmt.Fprintf(&out, ", %d left out", r.Failed)
	}
	out.WriteByte('\n')
	wide := len("precision")
	against := ""
	for _, policy := range r.Policies {
		wide = max(wide, utf8.RuneCountInString(policy.Name))
		for _, point := range policy.Points {
			if point.Against != nil {
				against = "against " + point.Against.Policy
				wide = max(wide, utf8.RuneCountInString(against))
			}
		}
	}
	head := func(name string, column func(budget int) int) {
		fmt.Fprintf(&out, "\n%*s", wide, name)
		for _, budget := range r.Budgets {
			fmt.Fprintf(&out, "  %*s", column(budget), english.Grouped(budget))
		}
		out.WriteByte('\n')
	}
	line := func(name string, points []Point, cell func(Point) string) {
		fmt.Fprintf(&out, "%*s", wide, name)
		for _, point := range points {
			out.WriteString("  " + cell(point))
		}
		out.WriteByte('\n')
	}
	recall := func(budget int) int { return column(budget) + r.margin() }
	head("recall", recall)
	for _, policy := range r.Policies {
		line(policy.Name, policy.Points, func(p Point) string {
			return fmt.Sprintf("%*.3f%s", column(p.Budget), p.Recall, half(p.RecallInterval))
		})
	}
	for _, measure := range measures {
		head(measure.name, column)
		for _, policy := range r.Policies {
			line(policy.Name, policy.Points, func(p Point) string { return fmt.Sprintf("%*.3f", column(p.Budget), measure.of(p)) })
		}
	}
	if against == "" {
		return out.String()
	}
	difference := func(budget int) int { return max(recall(budget), len("+0.000")+r.margin()) }
	head(against, difference)
	for _, policy := range r.Policies {
		if len(policy.Points) == 0 || policy.Points[0].Against == nil {
			continue
		}
		line(policy.Name, policy.Points, func(p Point) string {
			return fmt.Sprintf("%*s", difference(p.Budget), fmt.Sprintf("%+.3f%s", p.Against.Difference, half(p.Against.Interval)))
		})
		line("p", policy.Points, func(p Point) string { return fmt.Sprintf("%*s", difference(p.Budget), chance(p.Against.P)) })
	}
	return out.String()
}

// chance writes a p, which is never 0.
func chance(p float64) string {
	if p < 0.001 {
		return "<0.001"
	}
	return fmt.Sprintf("%.3f", p)
}

// half writes half the width of an interval, " ±0.012", or nothing for nil.
func half(i *Interval) string {
	if i == nil {
		return ""
	}
	return fmt.Sprintf(" ±%.3f", (i.High-i.Low)/2)
}

// margin is the width of half, in characters.
func (r *Result) margin() int {
	for _, policy := range r.Policies {
		for _, point := range policy.Points {
			return utf8.RuneCountInString(half(point.RecallInterval))
		}
	}
	return 0
}

// column is the width of the column of a budget, in characters.
func column(budget int) int { return max(len("0.000"), len(english.Grouped(budget))) }

type measure struct {
	name string
	of   func(Point) float64
}

var measures = []measure{
	{"precision", func(p Point) float64 { return p.Precision }},
	{"use", func(p Point) float64 { return p.Use }},
}
