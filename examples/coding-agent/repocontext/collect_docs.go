package repocontext

import (
	"fmt"
	"slices"
	"strings"

	"github.com/wollax/cupel-go/cupel"
)

// heading is a Markdown heading and the lines of its section.
type heading struct {
	level      int // 1 to 6; 0 is the text before the first heading
	title      string
	start, end int // lines; the heading's own is among them
	empty      bool
}

// sections cuts a Markdown file at its headings. A heading with nothing under
// it but other headings is no section of its own; it stays in the names of
// those below it.
func (f sourceFile) sections() []draft {
	text := strings.ReplaceAll(strings.ToValidUTF8(string(f.content), "\uFFFD"), "\r\n", "\n")
	lines := strings.Split(text, "\n")
	headings := headingsOf(lines)

	var drafts []draft
	var above []heading // the headings that the current one is under
	for _, h := range headings {
		for len(above) > 0 && above[len(above)-1].level >= h.level {
			above = above[:len(above)-1]
		}
		if h.level > 0 {
			above = append(above, h)
		}
		if h.empty && len(headings) > 1 {
			continue
		}
		content := strings.TrimSpace(strings.Join(lines[h.start:h.end], "\n"))
		if content == "" {
			continue
		}
		var titles, words []string
		title := ""
		for _, a := range above {
			titles, title = append(titles, a.title), a.title
		}
		for _, a := range slices.Backward(above) { // the nearest heading tells most
			words = append(words, topics(a.title)...)
		}
		drafts = append(drafts, draft{
			kind: cupel.KindDocument, source: cupel.SourceRag, file: "markdown", path: f.path, title: printable(title),
			origin:   strings.TrimSpace(fmt.Sprintf("%s:%d %s", f.path, h.start+1, printable(strings.Join(titles, " > ")))),
			content:  content,
			time:     f.time,
			priority: priorityInternal,
			tags:     append([]string{f.dir()}, words[:min(len(words), maxTags/2)]...),
			mentions: namesIn(content),
		})
	}
	return drafts
}

// headingsOf finds the headings outside of code blocks and of the block of
// settings that some tools write before the text.
func headingsOf(lines []string) []heading {
	found := []heading{{}}
	open := func(level int, title string, line int) {
		title = shorten(title)
		found[len(found)-1].end = line
		found = append(found, heading{level: level, title: title, start: line})
	}
	fence := ""
	for i := frontMatter(lines); i < len(lines); i++ {
		line := strings.TrimRight(lines[i], " \t\r")
		text := strings.TrimLeft(line, " ")
		if len(line)-len(text) > 3 { // an indented code block
			continue
		}
		if fence != "" {
			if strings.HasPrefix(text, fence) && strings.Trim(text, fence[:1]) == "" {
				fence = ""
			}
			continue
		}
		if mark := fenceOf(text); mark != "" {
			fence = mark
			continue
		}
		if level, title, ok := atx(text); ok {
			open(level, title, i)
		} else if level, ok := underline(text); ok && i > found[len(found)-1].start && paragraph(lines[i-1]) {
			open(level, strings.TrimSpace(lines[i-1]), i-1)
		}
	}
	found[len(found)-1].end = len(lines)

	for i := range found {
		h := &found[i]
		body := h.start
		if h.level > 0 {
			body++
			if body < h.end {
				if _, ok := underline(strings.TrimSpace(lines[body])); ok {
					body++
				}
			}
		}
		h.empty = strings.TrimSpace(strings.Join(lines[min(body, h.end):h.end], "")) == ""
	}
	return found
}

// frontMatter returns the number of lines that the settings take.
func frontMatter(lines []string) int {
	if strings.TrimRight(lines[0], " \t\r") != "---" {
		return 0
	}
	for i, line := range lines[1:] {
		if strings.TrimRight(line, " \t\r") == "---" {
			return i + 2
		}
	}
	return 0
}

// fenceOf returns the run of back quotes or tildes that opens a code block.
func fenceOf(text string) string {
	for _, mark := range []string{"`", "~"} {
		run := text[:len(text)-len(strings.TrimLeft(text, mark))]
		if len(run) >= 3 && (mark == "~" || !strings.Contains(text[len(run):], mark)) {
			return run
		}
	}
	return ""
}

// atx reads a heading that begins with number signs.
func atx(text string) (level int, title string, ok bool) {
	title = strings.TrimLeft(text, "#")
	level = len(text) - len(title)
	if level < 1 || level > 6 || title != "" && title[0] != ' ' && title[0] != '\t' {
		return 0, "", false
	}
	title = strings.TrimSpace(title)
	if head := strings.TrimRight(title, "#"); head == "" || strings.HasSuffix(head, " ") {
		title = strings.TrimSpace(head)
	}
	return level, title, true
}

// underline reads the line under a heading of the other form.
func underline(text string) (level int, ok bool) {
	switch {
	case text == "":
		return 0, false
	case strings.Trim(text, "=") == "":
		return 1, true
	case strings.Trim(text, "-") == "":
		return 2, true
	}
	return 0, false
}

// paragraph reports whether a line can be the heading above an underline: not
// a blank one, an item of a list, a quotation or a row of a table.
func paragraph(line string) bool {
	text := strings.TrimSpace(line)
	if text == "" || len(line)-len(strings.TrimLeft(line, " ")) > 3 {
		return false
	}
	_, rule := underline(text)
	return !rule && !strings.ContainsRune("->*+|#", rune(text[0]))
}
