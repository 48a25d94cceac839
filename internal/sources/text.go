package sources

import "strings"

// sections returns where the sections of a Markdown file begin: with a line that starts
// with number signs outside code blocks.
func sections(text string) []place {
	places := []place{{}}
	offset, fence := 0, ""
	for line := range strings.Lines(text) {
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
			places = append(places, place{start: offset, title: strings.TrimSpace(strings.TrimRight(title, "# \n"))})
		}
		offset += len(line)
	}
	return places
}

// partBytes is the length up to which paragraphs are joined, about 500 tokens.
const partBytes = 2000

// paragraphs returns where runs of whole paragraphs of up to partBytes begin. It splits a
// longer paragraph at the end of a line; a longer line stays whole.
func paragraphs(text string) []place {
	places := []place{{}}
	offset, start, blank := 0, 0, 0 // blank: after the last blank line
	for line := range strings.Lines(text) {
		for offset > start && offset+len(line)-start > partBytes {
			if start = offset; blank > places[len(places)-1].start {
				start = blank
			}
			places = append(places, place{start: start})
		}
		offset += len(line)
		if strings.TrimSpace(line) == "" {
			blank = offset
		}
	}
	return places
}
