package main

import (
	"fmt"
	"html"
	"math"
	"strings"
)

// chart compares times as horizontal bars, on a logarithmic scale where they
// are orders of magnitude apart.
type chart struct {
	name, title string
	log         bool
	groups      []group
}

// group is a few bars under one heading.
type group struct {
	title string
	bars  []bar
}

// bar is a measured time; scale is what to multiply it with.
type bar struct {
	label, measured string
	scale           float64
	engine          bool // drawn in the colour of the engine
}

var charts = []chart{
	{"runs", "Time of a whole run, compared with the naive model and one sort", true, []group{
		{"100 items", []bar{{"engine", "run-100/engine", 1, true}, {"one sort", "run-100/sort", 1, false}}},
		{"10,000 items", []bar{{"engine", "run-10000/engine", 1, true}, {"one sort", "run-10000/sort", 1, false}, {"naive model", "run-10000/naive", 1, false}}},
		{"1,000,000 items", []bar{{"engine", "run-1000000/engine", 1, true}, {"one sort", "run-1000000/sort", 1, false}}},
		{"FrequencyScorer, 1,000,000 items, 3 of 50 tags", []bar{{"engine", "frequency-1000000/engine", 1, true}, {"one sort", "frequency-1000000/sort", 1, false}}},
		{"FrequencyScorer, 20,000 items, 20 of 200 tags", []bar{{"engine", "frequency-20000/engine", 1, true}, {"one sort", "frequency-20000/sort", 1, false}, {"naive model, from 2,000", "frequency-20000/naive-of-2000", 100, false}}},
	}},
	{"diagnostics", "A run of 100 items, and what diagnostics cost", false, []group{
		{"", []bar{
			{"no collector", "run-100/engine", 1, true},
			{"null collector", "run-100/null", 1, true},
			{"dry run", "run-100/dry-run", 1, true},
			{"report, level Stage", "run-100/report-Stage", 1, true},
			{"report, level Item", "run-100/report-Item", 1, true}}},
	}},
	{"knapsack", "Knapsack, 10,000 items and 128,000 tokens, compared with the plain DP with a bit table", true, knapsackGroups()},
	{"wrappers", "Wrappers compared with the inner slicer, 10,000 items", false, []group{
		{"around Greedy", []bar{{"Greedy alone", "wrappers-10000/greedy", 1, false}, {"Quota", "wrappers-10000/quota-greedy", 1, true}, {"CountQuota", "wrappers-10000/count-quota-greedy", 1, true}, {"the same, dropping a third", "wrappers-10000/count-quota-greedy-dropping", 1, true}}},
		{"around Knapsack", []bar{{"Knapsack alone", "wrappers-10000/knapsack", 1, false}, {"Quota", "wrappers-10000/quota-knapsack", 1, true}, {"CountConstrainedKnapsack", "wrappers-10000/count-constrained-knapsack", 1, true}, {"the same, dropping a third", "wrappers-10000/count-constrained-knapsack-dropping", 1, true}}},
	}},
}

func knapsackGroups() []group {
	var groups []group
	for _, bucket := range []string{"100", "1"} {
		for _, c := range append([]string{"continuous", "ranks", "six-values"}, worstCases...) {
			row := "knapsack-" + bucket + "-" + c
			groups = append(groups, group{spaced(c) + ", bucket " + bucket, []bar{{"engine", row + "/engine", 1, true}, {"bit table", row + "/table", 1, false}}})
		}
	}
	return groups
}

const (
	width      = 760
	labelWidth = 190
	plotWidth  = 460 // leaves room for the figure behind the longest bar
	rowHeight  = 20
	headHeight = 22
	gap        = 8
	top        = 44
)

// The colours are readable on light and on dark ground.
const style = `<style>
text { font: 12px system-ui, sans-serif; fill: #1f2328 }
.title { font-size: 14px; font-weight: 600 }
.head { font-weight: 600 }
.engine { fill: #1a7f64 }
.other { fill: #8a94a0 }
.grid { stroke: #d0d7de }
.ground { fill: #ffffff }
@media (prefers-color-scheme: dark) {
text { fill: #e6edf3 }
.engine { fill: #3fb98f }
.other { fill: #6e7a86 }
.grid { stroke: #3a424b }
.ground { fill: #0d1117 }
}
</style>
`

// draw returns the plot, and its figures as a table for those who cannot see it.
func (c chart) draw(m *measurements) (svg, table string, err error) {
	defer catchMissing(&err)
	least, most := math.Inf(1), 0.0
	height := top
	for _, g := range c.groups {
		if g.title != "" {
			height += headHeight
		}
		height += len(g.bars)*rowHeight + gap
		for _, b := range g.bars {
			t := m.time(b.measured) * b.scale
			least, most = min(least, t), max(most, t)
		}
	}
	height += headHeight // the scale

	scale := func(ns float64) float64 { return plotWidth * ns / most }
	var ticks []float64
	if c.log {
		first, last := math.Floor(math.Log10(least)), math.Ceil(math.Log10(most))
		scale = func(ns float64) float64 { return plotWidth * (math.Log10(ns) - first) / (last - first) }
		for e := first; e <= last; e++ {
			ticks = append(ticks, math.Pow(10, e))
		}
	} else {
		step := math.Pow(10, math.Floor(math.Log10(most)))
		if most < 4*step {
			step /= 2
		}
		for x := 0.0; x <= most; x += step {
			ticks = append(ticks, x)
		}
	}

	var b, t strings.Builder
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" role="img" aria-label="%s">`+"\n", width, height, html.EscapeString(c.title))
	b.WriteString(style)
	fmt.Fprintf(&b, `<rect class="ground" width="%d" height="%d"/>`+"\n", width, height)
	fmt.Fprintf(&b, `<text class="title" x="12" y="24">%s</text>`+"\n", html.EscapeString(c.title))
	for _, tick := range ticks {
		x := labelWidth + scale(tick)
		fmt.Fprintf(&b, `<line class="grid" x1="%.1f" y1="%d" x2="%.1f" y2="%d"/>`+"\n", x, top-6, x, height-headHeight)
		fmt.Fprintf(&b, `<text x="%.1f" y="%d" text-anchor="middle">%s</text>`+"\n", x, height-7, duration(tick))
	}
	t.WriteString("| | | time |\n|---|---|--:|\n")
	y := top
	for _, g := range c.groups {
		if g.title != "" {
			fmt.Fprintf(&b, `<text class="head" x="12" y="%d">%s</text>`+"\n", y+15, html.EscapeString(g.title))
			y += headHeight
		}
		for _, r := range g.bars {
			ns, class := m.time(r.measured)*r.scale, "other"
			if r.engine {
				class = "engine"
			}
			fmt.Fprintf(&b, `<text x="%d" y="%d" text-anchor="end">%s</text>`+"\n", labelWidth-8, y+14, html.EscapeString(r.label))
			fmt.Fprintf(&b, `<rect class="%s" x="%d" y="%d" width="%.1f" height="%d" rx="2"/>`+"\n", class, labelWidth, y+3, max(scale(ns), 1), rowHeight-6)
			fmt.Fprintf(&b, `<text x="%.1f" y="%d">%s</text>`+"\n", labelWidth+scale(ns)+6, y+14, duration(ns))
			fmt.Fprintf(&t, "| %s | %s | %s |\n", g.title, r.label, duration(ns))
			y += rowHeight
		}
		y += gap
	}
	b.WriteString("</svg>\n")
	return b.String(), t.String(), nil
}
