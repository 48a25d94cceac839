package cupelchat

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/wollax/cupel-go/internal/english"
)

// notesOf collects remarks for the user.
type notesOf struct{ list []noted }

// noted is a remark that may apply to many messages.
type noted struct {
	path, text string
	more       int
}

func (n *notesOf) note(format string, args ...any) {
	n.list = append(n.list, noted{text: fmt.Sprintf(format, args...)})
}

// noteAt adds a remark about the value at path. Remarks with the same text are
// merged; there are only a few texts.
func (n *notesOf) noteAt(path, text string) {
	for i := range n.list {
		if n.list[i].text == text {
			n.list[i].more++
			return
		}
	}
	n.list = append(n.list, noted{path: path, text: text})
}

func (n *notesOf) notes() []string {
	var notes []string
	for _, note := range n.list {
		text := note.text
		switch {
		case note.more > 0:
			text = fmt.Sprintf("%s (and %d more) %s", note.path, note.more, text)
		case note.path != "":
			text = note.path + " " + text
		}
		notes = append(notes, text)
	}
	return notes
}

// mostRefused is how many notes name faults that the API refuses.
const mostRefused = 10

// allNotes returns the notes of a conversation.
func (r *reader) allNotes() []string {
	for _, what := range slices.Sorted(maps.Keys(r.media)) {
		format, name, _ := strings.Cut(what, "\x00")
		r.note("estimated the tokens of media: "+format, english.Plural(r.media[what], name))
	}
	if !r.rules.record {
		for _, v := range r.found[:min(len(r.found), mostRefused)] {
			r.note("the API refuses %v", v)
		}
		if more := len(r.found) - mostRefused; more > 0 {
			r.note("the API refuses %s more; Check lists all", english.Plural(more, "value"))
		}
	}
	return r.notes()
}
