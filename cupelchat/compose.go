package cupelchat

import "fmt"

// Piece is a part of a window: an item as it is, or a text in place of items.
type Piece struct {
	// Candidates are the positions of items of the conversation: of one, of all
	// members of an exchange, or of those that a summary stands for.
	Candidates []int
	// Content is a smaller form of the item, a note in place of the exchange, or a
	// summary. "" is the item as it is.
	Content string
}

// PieceError says which piece does not fit the conversation.
type PieceError struct {
	Index  int
	Reason string
}

func (e *PieceError) Error() string {
	return fmt.Sprintf("cupelchat: pieces[%d] %s", e.Index, e.Reason)
}

// Compose returns the body of a window that was not chosen by [Conversation.Select],
// such as that of a session that keeps what was sent before, and notes as in
// [Window]. It fails with a [PieceError], and as [Window.Body] does.
func (c *Conversation) Compose(pieces []Piece) (body []byte, notes []string, err error) {
	states := make([]state, len(c.entries))
	for n, p := range pieces {
		if len(p.Candidates) == 0 || p.Content == "" && len(p.Candidates) > 1 {
			return nil, nil, &PieceError{n, fmt.Sprintf("has %d candidates, want one, or several and a content", len(p.Candidates))}
		}
		for k, at := range p.Candidates {
			if at < 0 || at >= len(states) || states[at].in {
				return nil, nil, &PieceError{n, fmt.Sprintf("has the candidate %d, want one from 0 to %d that is in no other piece", at, len(states)-1)}
			}
			s := &states[at]
			s.in, s.short = true, p.Content != ""
			if k == 0 {
				s.text = p.Content
			}
			s.note = p.Content != "" && (len(p.Candidates) > 1 || c.items[at].Group() != "" && len(c.groups[c.groupOf[at]]) == 1 && c.loses(at, p.Content))
		}
	}
	n := &notesOf{}
	body, err = c.finish(states, 0, n)
	return body, n.notes(), err
}
