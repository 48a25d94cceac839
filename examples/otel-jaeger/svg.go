package main

import (
	"fmt"
	"html"
	"strings"
)

// Measures of the picture, in pixels. A character of the monospaced font is
// forced to its width, so that columns line up under any font.
const (
	svgFont  = 13
	svgChar  = 7.8
	svgLine  = 19.0
	svgWidth = 960.0
	svgEdge  = 18.0
)

// svgColors are of the page and of the stages, by name.
const (
	svgBack    = "#0f1720"
	svgText    = "#d7dee6"
	svgFaint   = "#8494a4"
	svgTrack   = "#1b2733"
	svgFailed  = "#ff6b6b"
	svgDefault = "#7d8fa1"
)

var svgBars = map[string]string{
	"classify":    "#5ec8f2",
	"score":       "#8fdc6b",
	"deduplicate": "#c79bf2",
	"slice":       "#f2c14e",
	"place":       "#f28f6b",
}

// svg draws waterfalls below each other, with bars to scale.
func svg(command string, traces []waterfall) string {
	var body strings.Builder
	y := svgEdge + svgFont
	write := func(x float64, color, weight, s string) {
		if s == "" {
			return
		}
		fmt.Fprintf(&body, `<text x="%.1f" y="%.1f" fill="%s"%s textLength="%.1f" lengthAdjust="spacingAndGlyphs">%s</text>`+"\n",
			x, y, color, weight, float64(len([]rune(s)))*svgChar, html.EscapeString(s))
	}
	const bold = ` font-weight="bold"`
	const columns = 118 // of svgWidth between the edges
	nameX := svgEdge
	flowEnd := nameX + (nameColumn+flowColumn+2)*svgChar
	barX := flowEnd + 2*svgChar
	barWidth := svgWidth - svgEdge - (durationColumn+1)*svgChar - barX

	write(nameX, svgFaint, "", "$ "+command)
	y += svgLine
	for _, w := range traces {
		y += svgLine / 2
		write(nameX, svgText, bold, w.title)
		y += svgLine
		write(nameX, svgFaint, "", w.facts)
		y += svgLine
		for _, r := range w.rows {
			color, text := svgBars[r.name], svgText
			if color == "" {
				color = svgDefault
			}
			if r.failed {
				color, text = svgFailed, svgFailed
			}
			write(nameX+float64(2*r.depth)*svgChar, text, "", r.name)
			write(flowEnd-float64(len([]rune(r.flow)))*svgChar, svgText, "", r.flow)
			from, length := 0.0, 1.0
			if w.total > 0 {
				from = float64(r.start) / float64(w.total)
				length = float64(r.end-r.start) / float64(w.total)
			}
			// What is there is seen: at least a pixel.
			fmt.Fprintf(&body, `<rect x="%.1f" y="%.1f" width="%.1f" height="11" rx="2" fill="%s"/>`+"\n", barX, y-10, barWidth, svgTrack)
			x := min(barX+float64(from*barWidth), barX+barWidth-1)
			fmt.Fprintf(&body, `<rect x="%.1f" y="%.1f" width="%.1f" height="11" rx="1" fill="%s"/>`+"\n",
				x, y-10, max(length*barWidth, 1.0), color)
			d := duration(r.end - r.start)
			write(svgWidth-svgEdge-float64(len([]rune(d)))*svgChar, text, "", d)
			y += svgLine
			for _, note := range r.notes {
				indent := 2*r.depth + 2
				for _, line := range wrap(note, columns-indent) {
					noteColor := svgFaint
					if r.failed && strings.HasPrefix(note, "failed") {
						noteColor = svgFailed
					}
					write(nameX+float64(indent)*svgChar, noteColor, "", line)
					y += svgLine
				}
			}
		}
	}
	height := y + svgEdge - svgFont
	return fmt.Sprintf(`<svg xmlns="http://www.w3.org/2000/svg" width="%.0f" height="%.0f" viewBox="0 0 %.0f %.0f" font-family="ui-monospace, SFMono-Regular, Menlo, Consolas, 'DejaVu Sans Mono', monospace" font-size="%d">
<title>Waterfalls of the example otel-jaeger</title>
<rect width="100%%" height="100%%" rx="8" fill="%s"/>
%s</svg>
`, svgWidth, height, svgWidth, height, svgFont, svgBack, body.String())
}
