package eval

import (
	"fmt"
	"html"
	"math"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/wollax/cupel-go/internal/english"
)

// Text returns the result as three tables, of recall, precision and budget use,
// with a line per policy and a column per budget, and one of the cost if a policy
// selects in turn. Behind a recall stands half the
// width of its interval. With [WithAgainst] another table has the differences in
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
	shown := measures
	if slices.ContainsFunc(r.Policies, func(p PolicyResult) bool { return p.InTurn }) {
		shown = append(slices.Clip(shown), measure{"cost", func(p Point) float64 { return p.Cost }})
	}
	for _, measure := range shown {
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

// The plot, in pixels.
const (
	plotWidth  = 640.0
	plotHeight = 400.0
	plotLeft   = 56.0
	plotRight  = 150.0 // for the names
	plotTop    = 36.0
	plotBottom = 48.0
)

var plotColours = []string{"#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000"}

// SVG returns a plot of recall over budget, with a line per policy, for a web
// page or a README. The budget axis is logarithmic.
func (r *Result) SVG() string {
	var out strings.Builder
	fmt.Fprintf(&out, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %g %g" font-family="sans-serif" font-size="12">`+"\n", plotWidth, plotHeight)
	fmt.Fprintf(&out, `<rect width="%g" height="%g" fill="#fff"/>`+"\n", plotWidth, plotHeight)
	fmt.Fprintf(&out, `<text x="%g" y="20">share of the evidence selected, %s questions</text>`+"\n", plotLeft, english.Grouped(r.Questions))
	for tick := range 6 {
		share := float64(tick) / 5
		fmt.Fprintf(&out, `<path d="M%g %.1fH%g" stroke="#ddd"/><text x="%g" y="%.1f" text-anchor="end">%.1f</text>`+"\n",
			plotLeft, plotY(share), plotWidth-plotRight, plotLeft-8, plotY(share)+4, share)
	}
	for _, budget := range r.Budgets {
		fmt.Fprintf(&out, `<text x="%.1f" y="%g" text-anchor="middle">%s</text>`+"\n", r.plotX(budget), plotHeight-plotBottom+20, english.Grouped(budget))
	}
	fmt.Fprintf(&out, `<text x="%g" y="%g" text-anchor="middle">budget in tokens</text>`+"\n", (plotLeft+plotWidth-plotRight)/2, plotHeight-8)
	for i, policy := range r.Policies {
		colour := plotColours[i%len(plotColours)]
		var path strings.Builder
		for k, point := range policy.Points {
			path.WriteString(map[bool]string{true: "M", false: "L"}[k == 0])
			fmt.Fprintf(&path, "%.1f %.1f", r.plotX(point.Budget), plotY(point.Recall))
			fmt.Fprintf(&out, `<circle cx="%.1f" cy="%.1f" r="3" fill="%s"/>`, r.plotX(point.Budget), plotY(point.Recall), colour)
		}
		fmt.Fprintf(&out, "\n"+`<path d="%s" fill="none" stroke="%s" stroke-width="2"/>`+"\n", path.String(), colour)
		y := plotTop + float64(18*float64(len(r.Policies)-i))
		fmt.Fprintf(&out, `<path d="M%g %gh16" stroke="%s" stroke-width="2"/><text x="%g" y="%g">%s</text>`+"\n",
			plotWidth-plotRight+12, y, colour, plotWidth-plotRight+34, y+4, html.EscapeString(policy.Name))
	}
	out.WriteString("</svg>\n")
	return out.String()
}

func (r *Result) plotX(budget int) float64 {
	first, last := math.Log(float64(r.Budgets[0])), math.Log(float64(r.Budgets[len(r.Budgets)-1]))
	if first == last {
		return (plotLeft + plotWidth - plotRight) / 2
	}
	const margin = 24
	width := plotWidth - plotRight - plotLeft - 2*margin
	return plotLeft + margin + float64((math.Log(float64(budget))-first)/(last-first)*width)
}

func plotY(share float64) float64 {
	return plotTop + float64((1-share)*(plotHeight-plotTop-plotBottom))
}
