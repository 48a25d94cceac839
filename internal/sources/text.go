package sources

import "strings"

// sections splits a Markdown file before each heading: a line that starts with
// number signs outside code blocks.
func sections(text string) []Part {
	var parts []Part
	p, offset, number, fence := Part{Line: 1}, 0, 0, ""
	start := 0
	add := func(end int) {
		if p.Text = strings.TrimSpace(text[start:end]); p.Text != "" {
			parts = append(parts, p)
		}
	}
	for line := range strings.Lines(text) {
		number++
		title := strings.TrimLeft(line, "#")
		level := len(line) - len(title)
		switch mark := line[:min(len(line), 3)]; {
		case fence != "":
			if mark == fence {
				fence = ""
			}
		case mark == "```" || mark == "~~~":
			fence = mark
		case level > 0 && level <= 6 && strings.HasPrefix(title, " "):
			add(offset)
			p, start = Part{Line: number, Title: strings.TrimSpace(strings.TrimRight(title, "# \n"))}, offset
		}
		offset += len(line)
	}
	add(len(text))
	return parts
}

// partBytes is the length up to which paragraphs are joined, about 500 tokens.
const partBytes = 2000

// paragraphs splits a text at blank lines into runs of whole paragraphs of up to
// partBytes. It splits a longer paragraph at the end of a line; a longer line
// stays whole.
func paragraphs(text string) []Part {
	var parts []Part
	number, first, start := 1, 1, 0 // start and first: offset and line of the part
	blank, blankLine := -1, 0       // after the last blank line in the part
	add := func(end, line int) {
		if strings.TrimSpace(text[start:end]) != "" {
			// The first line keeps its indentation.
			cut := strings.TrimLeft(text[start:end], "\n")
			skipped := end - start - len(cut)
			parts = append(parts, Part{Line: first + skipped, Text: strings.TrimRight(cut, " \t\n")})
		}
		start, first, blank = end, line, -1
	}
	offset := 0
	for line := range strings.Lines(text) {
		for offset > start && offset+len(line)-start > partBytes {
			if blank > start {
				add(blank, blankLine)
			} else {
				add(offset, number)
			}
		}
		offset += len(line)
		number++
		if strings.TrimSpace(line) == "" {
			blank, blankLine = offset, number
		}
	}
	add(len(text), number)
	return parts
}
