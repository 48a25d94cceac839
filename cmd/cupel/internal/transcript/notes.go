package transcript

import "fmt"

// notesOf are what the user should know.
type notesOf struct{ list []noted }

// noted is something that may be true of many messages.
type noted struct {
	path, text string
	more       int
}

func (n *notesOf) note(format string, args ...any) {
	n.list = append(n.list, noted{text: fmt.Sprintf(format, args...)})
}

// noteAt notes what is true of the value at path, and may be of others. There
// are a handful of such texts.
func (n *notesOf) noteAt(path, text string) {
	for i := range n.list {
		if n.list[i].text == text && n.list[i].path != "" {
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

// plural is n with the noun, which takes an s.
func plural(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
