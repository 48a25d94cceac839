package replay

import (
	"fmt"
	"html"
	"math"
	"slices"
	"strconv"
	"strings"
)

// The plot, in pixels.
const (
	plotWidth  = 760.0
	plotHeight = 480.0
	plotLeft   = 56.0
	plotRight  = 24.0
	plotTop    = 44.0
	plotBottom = 56.0

	labelHeight = 15.0
	labelLetter = 6.7 // the width of a character
)

// plotColours are the colours of policies, on light and on dark ground.
var plotColours = [][2]string{
	{"#0b61a4", "#6cb6ff"}, {"#c2410c", "#ff9e64"}, {"#087f5b", "#5fd3a5"}, {"#9c36b5", "#e29cf2"},
	{"#8a6d00", "#e3c75f"}, {"#b4233c", "#ff8fa3"}, {"#0b7285", "#66d9e8"}, {"#5c5f66", "#c1c2c5"},
}

// line is one policy in a plot.
type line struct {
	rows   []*Row
	colour int
	dash   string
}

// SVG returns a plot of grounded support over cost, with a line for each policy
// and a point for each share. Sessions have solid lines, and other policies
// dashed ones. The plot follows the reader's colour scheme.
func (r *Result) SVG() string {
	lines := r.lines()
	p := newPlot(r.Rows)
	var out strings.Builder
	fmt.Fprintf(&out, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %g %g" font-family="system-ui, sans-serif" font-size="12">`+"\n", plotWidth, plotHeight)
	out.WriteString("<style>\n.ground{fill:#fff}.grid{stroke:#e3e5e8}text{fill:#1f2328}.quiet{fill:#59636e}\n")
	for i, c := range plotColours {
		fmt.Fprintf(&out, ".l%d{stroke:%s}.c%d{fill:%s}", i, c[0], i, c[0])
	}
	out.WriteString("\n@media (prefers-color-scheme:dark){.ground{fill:#0d1117}.grid{stroke:#2a313c}text{fill:#e6edf3}.quiet{fill:#9198a1}\n")
	for i, c := range plotColours {
		fmt.Fprintf(&out, ".l%d{stroke:%s}.c%d{fill:%s}", i, c[1], i, c[1])
	}
	out.WriteString("}\n</style>\n")
	fmt.Fprintf(&out, `<rect class="ground" width="%g" height="%g"/>`+"\n", plotWidth, plotHeight)
	p.axes(&out)
	for i, key := range []string{"solid: in a session", "dashed: each window by itself"} {
		if slices.ContainsFunc(lines, func(l line) bool { return (l.dash == "") == (i == 0) }) {
			fmt.Fprintf(&out, `<text class="quiet" x="%g" y="%g">%s</text>`+"\n", plotLeft+float64(120*i), plotHeight-12, key)
		}
	}
	for _, l := range lines {
		p.line(&out, l)
	}
	p.labels(&out, lines)
	out.WriteString("</svg>\n")
	return out.String()
}

// lines returns the rows by policy.
func (r *Result) lines() []line {
	var lines []line
	var names []string
	for i := range r.Rows {
		row := &r.Rows[i]
		at := slices.IndexFunc(lines, func(l line) bool { return l.rows[0].Policy == row.Policy && l.rows[0].Mode == row.Mode })
		if at >= 0 {
			lines[at].rows = append(lines[at].rows, row)
			continue
		}
		colour := slices.Index(names, row.Policy)
		if colour < 0 {
			colour = len(names)
			names = append(names, row.Policy)
		}
		l := line{rows: []*Row{row}, colour: colour % len(plotColours)}
		if row.Mode == Stateless {
			l.dash = ` stroke-dasharray="5 4"`
		}
		lines = append(lines, l)
	}
	return lines
}

// plot has the scales of a plot.
type plot struct {
	x, y scale
}

// scale maps values to pixels.
type scale struct {
	low, high, step float64 // of the ticks
	from, to        float64 // pixels
}

// newScale returns a scale with about five ticks whose ends are ticks.
func newScale(low, high, from, to float64) scale {
	span := max(high-low, 0.05)
	step := math.Pow(10, math.Floor(math.Log10(span/5)))
	for _, factor := range []float64{1, 2, 5, 10} {
		if span/(step*factor) <= 6 {
			step *= factor
			break
		}
	}
	s := scale{step: step, from: from, to: to}
	s.low, s.high = math.Floor(low/step+1e-9)*step, math.Ceil(high/step-1e-9)*step
	if s.high == s.low {
		s.high += step
	}
	return s
}

func (s scale) at(v float64) float64 {
	return s.from + float64((v-s.low)/(s.high-s.low)*(s.to-s.from))
}

// ticks returns the values of the ticks.
func (s scale) ticks() []float64 {
	var ticks []float64
	for i := 0; i <= int(math.Round((s.high-s.low)/s.step)); i++ {
		ticks = append(ticks, s.low+float64(float64(i)*s.step))
	}
	return ticks
}

func newPlot(rows []Row) plot {
	lowX, highX, lowY := 1.0, 1.0, 1.0
	for i := range rows {
		lowX, highX = min(lowX, rows[i].Cost), max(highX, rows[i].Cost)
		lowY = min(lowY, rows[i].Grounded)
	}
	return plot{newScale(lowX, highX, plotLeft, plotWidth-plotRight), newScale(lowY, 1, plotHeight-plotBottom, plotTop)}
}

func (p plot) axes(out *strings.Builder) {
	for _, v := range p.y.ticks() {
		y := p.y.at(v)
		fmt.Fprintf(out, `<path class="grid" d="M%.1f %.1fH%.1f"/><text class="quiet" x="%.1f" y="%.1f" text-anchor="end">%s</text>`+"\n",
			plotLeft, y, plotWidth-plotRight, plotLeft-8, y+4, tick(v))
	}
	for _, v := range p.x.ticks() {
		x := p.x.at(v)
		fmt.Fprintf(out, `<path class="grid" d="M%.1f %.1fV%.1f"/><text class="quiet" x="%.1f" y="%.1f" text-anchor="middle">%s</text>`+"\n",
			x, plotTop, plotHeight-plotBottom, x, plotHeight-plotBottom+18, tick(v))
	}
	fmt.Fprintf(out, `<text x="%g" y="24" font-size="14">Grounded support: the values that the next step uses, found with their context</text>`+"\n", plotLeft-40)
	fmt.Fprintf(out, `<text x="%g" y="%g" text-anchor="end">cost, as a share of sending everything (cheaper is left)</text>`+"\n", plotWidth-plotRight, plotHeight-12)
}

func tick(v float64) string { return strconv.FormatFloat(math.Round(v*1000)/1000, 'f', -1, 64) }

// percent writes a share as 15 %.
func percent(share float64) string {
	return strconv.FormatFloat(math.Round(share*1000)/10, 'f', -1, 64) + " %"
}

func (p plot) point(r *Row) (x, y float64) { return p.x.at(r.Cost), p.y.at(r.Grounded) }

func (p plot) line(out *strings.Builder, l line) {
	var path strings.Builder
	for k, row := range l.rows {
		x, y := p.point(row)
		path.WriteString(map[bool]string{true: "M", false: "L"}[k == 0])
		fmt.Fprintf(&path, "%.1f %.1f", x, y)
	}
	fmt.Fprintf(out, `<path class="l%d" d="%s" fill="none" stroke-width="2"%s/>`+"\n", l.colour, path.String(), l.dash)
	for _, row := range l.rows {
		x, y := p.point(row)
		fmt.Fprintf(out, `<circle class="c%d" cx="%.1f" cy="%.1f" r="3.5"><title>%s, %s: grounded %.3f at cost %.3f</title></circle>`+"\n",
			l.colour, x, y, html.EscapeString(row.Title()), percent(row.Share), row.Grounded, row.Cost)
	}
}

// box is where a label stands.
type box struct{ x, y, w, h float64 }

// overlap returns the area that two boxes share.
func (b box) overlap(c box) float64 {
	w := min(b.x+b.w, c.x+c.w) - max(b.x, c.x)
	h := min(b.y+b.h, c.y+c.h) - max(b.y, c.y)
	return max(w, 0) * max(h, 0)
}

// labels writes the name of each policy at one of its points, and the share at
// each point, where they hide least.
func (p plot) labels(out *strings.Builder, lines []line) {
	var taken []box
	for _, l := range lines {
		taken = append(taken, p.trace(l)...)
	}
	place := func(text string, rows []*Row, class string) {
		w := labelLetter * float64(characters(text))
		best, least := box{}, math.Inf(1)
		for k, row := range slices.Backward(rows) {
			x, y := p.point(row)
			for i, b := range []box{
				{x + 8, y - labelHeight/2, w, labelHeight}, {x - w - 8, y - labelHeight/2, w, labelHeight},
				{x - w/2, y - labelHeight - 7, w, labelHeight}, {x - w/2, y + 7, w, labelHeight},
				{x + 6, y + 5, w, labelHeight}, {x - w - 6, y - labelHeight - 5, w, labelHeight},
				{x + 6, y - labelHeight - 5, w, labelHeight}, {x - w - 6, y + 5, w, labelHeight},
			} {
				hidden := float64(i) + 0.1*float64(len(rows)-k)
				for _, other := range taken {
					hidden += 10 * b.overlap(other)
				}
				inside := b.overlap(box{plotLeft - 8, plotTop - labelHeight, plotWidth - plotRight - plotLeft + 28, plotHeight - plotBottom - plotTop + labelHeight})
				hidden += 1000 * (b.w*b.h - inside)
				if hidden < least {
					best, least = b, hidden
				}
			}
		}
		taken = append(taken, best)
		fmt.Fprintf(out, `<text class="%s" x="%.1f" y="%.1f">%s</text>`+"\n", class, best.x, best.y+labelHeight-4, html.EscapeString(text))
	}
	for _, l := range lines {
		place(l.rows[0].Title(), l.rows, "c"+strconv.Itoa(l.colour)+`" font-weight="600`)
	}
	for _, l := range lines {
		if len(l.rows) > 1 && p.apart(l) {
			for _, row := range l.rows {
				place(percent(row.Share), []*Row{row}, `quiet" font-size="10`)
			}
		}
	}
}

// apart reports whether the points of a line are at different places.
func (p plot) apart(l line) bool {
	x, y := p.point(l.rows[0])
	u, v := p.point(l.rows[len(l.rows)-1])
	return math.Hypot(x-u, y-v) > labelHeight
}

// trace returns small boxes along a line.
func (p plot) trace(l line) []box {
	var boxes []box
	for k, row := range l.rows {
		x, y := p.point(row)
		boxes = append(boxes, box{x - 5, y - 5, 10, 10})
		if k == 0 {
			continue
		}
		u, v := p.point(l.rows[k-1])
		steps := int(math.Hypot(x-u, y-v) / 6)
		for i := 1; i < steps; i++ {
			f := float64(i) / float64(steps)
			boxes = append(boxes, box{u + float64(f*(x-u)) - 2, v + float64(f*(y-v)) - 2, 4, 4})
		}
	}
	return boxes
}
