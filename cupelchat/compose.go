package cupelchat

import (
	"bytes"
	"errors"
	"fmt"
	"slices"

	"github.com/wollax/cupel-go/internal/rawjson"
)

// Piece is a part of a window: an unchanged item, or a text in place of items.
type Piece struct {
	// Candidates are the positions of the piece's items in the conversation:
	// one item, all members of an exchange, or the items that a summary
	// replaces.
	Candidates []int
	// Content is a smaller form of the item, a note in place of the exchange, or a
	// summary. "" and the item's own content mean the unchanged item.
	Content string
	// Breakpoint is the time to live of a breakpoint of the provider's prompt cache
	// after the piece, "5m" or "1h". "" sets none. If any piece has one, the
	// breakpoints of the conversation are removed. Only bodies in the formats of
	// Anthropic and Bedrock have breakpoints.
	Breakpoint string
}

// Compose returns the body of a window that [Conversation.Select] did not choose, such
// as a session's, which keeps what was sent before. It also returns notes as in
// [Window]. It restores items that the API requires if they fit into the limit of
// tokens. It fails with a [TooLargeError] if the body, read again and counted, exceeds
// the limit, or if it has no message; with an [Error] whose path names a faulty piece;
// and as [Window.Body] does.
func (c *Conversation) Compose(pieces []Piece, tokens int) (body []byte, notes []string, err error) {
	if c.isMissing() {
		return nil, nil, errNil
	}
	states := make([]state, len(c.entries))
	var marked []int
	wrong := func(n int, format string, args ...any) error {
		return &Error{Path: rawjson.Index("pieces", n), Reason: fmt.Sprintf(format, args...)}
	}
	for n, p := range pieces {
		if len(p.Candidates) == 0 || p.Content == "" && len(p.Candidates) > 1 {
			return nil, nil, wrong(n, "has %d candidates, want one, or several and a content", len(p.Candidates))
		}
		if p.Breakpoint != "" {
			if p.Breakpoint != fiveMinutes && p.Breakpoint != oneHour {
				return nil, nil, wrong(n, "has the breakpoint %.20q, want 5m or 1h", p.Breakpoint)
			}
			marked = append(marked, n)
		}
		written := false
		for _, at := range p.Candidates {
			if at < 0 || at >= len(states) || states[at].in {
				return nil, nil, wrong(n, "has the candidate %d, want one from 0 to %d that is in no other piece", at, len(states)-1)
			}
			if len(p.Candidates) > 1 && c.messageOf(at).member != "" {
				continue // a summary is a message
			}
			s := &states[at]
			s.in, s.short = true, p.Content != "" && (len(p.Candidates) > 1 || p.Content != c.items[at].Content())
			if !written {
				s.text, written = p.Content, true
			}
			s.note = s.short && (len(p.Candidates) > 1 || c.loses(at, p.Content))
		}
	}
	n := &notesOf{}
	spent, err := c.price(states)
	if err != nil {
		return nil, nil, err
	}
	w := &writer{Conversation: c, notesOf: n, states: states, room: tokens - spent}
	body, err = w.finish()
	switch {
	case errors.Is(err, errEmpty):
		return nil, nil, c.tooLarge(tokens, 0, err)
	case err == nil && !w.whole():
		size, err := c.size(body)
		if err != nil {
			return nil, nil, err
		}
		if size > tokens {
			return nil, nil, c.tooLarge(tokens, size, nil)
		}
	}
	if len(marked) > 0 && c.rules.cache {
		body = w.mark(body, pieces, marked)
	}
	return body, n.notes(), err
}

// The times to live of breakpoints.
const (
	fiveMinutes = "5m" // the default
	oneHour     = "1h"
)

// mark sets breakpoints after pieces, and no others. The last piece ends with
// the body.
func (w *writer) mark(body []byte, pieces []Piece, marked []int) []byte {
	p := w.promptCache(body)
	if !p.auto {
		p.live(pieces[marked[0]].Breakpoint)
	}
	var behind []int
	cut := *w
	cut.states, cut.notesOf = slices.Clone(w.states), &notesOf{}
	last := len(pieces)
	for _, n := range slices.Backward(marked) {
		for last--; last > n; last-- {
			for _, at := range pieces[last].Candidates {
				cut.states[at] = state{}
			}
		}
		last++
		end := len(p.all)
		if n < len(pieces)-1 {
			end = min(w.blocksOf(cut.assemble(), body, p), end)
		}
		behind = append(behind, end)
	}
	p.set(behind[:min(len(behind), maxBreakpoints)]) // the latest
	return p.bytes(body)
}

// blocksOf returns how many blocks a body has, given a longer one that continues it. It
// reads the body only if the longer one does not start with it.
func (c *Conversation) blocksOf(body, longer []byte, of *promptCache) int {
	same := samePrefix(body, longer)
	if !bytes.HasPrefix(bytes.TrimLeft(body[same:], " \t\r\n"), []byte("]")) {
		return len(c.promptCache(body).all)
	}
	n := of.before
	for n < len(of.all) {
		before, _ := of.all[n].Value.Around()
		if len(before)+len(of.all[n].Value.Raw()) > same {
			break
		}
		n++
	}
	return n
}

// samePrefix returns the length of the beginning that two texts share.
func samePrefix(a, b []byte) (n int) {
	const step = 1 << 10
	for n+step <= min(len(a), len(b)) && bytes.Equal(a[n:n+step], b[n:n+step]) {
		n += step
	}
	for n < min(len(a), len(b)) && a[n] == b[n] {
		n++
	}
	return n
}

// Blocks returns how many content blocks each item has: prompt caches look back by
// blocks.
func (c *Conversation) Blocks() []int {
	if c.isMissing() {
		return nil
	}
	blocks := make([]int, len(c.entries))
	for i := range blocks {
		blocks[i] = max(c.entries[i].blocks, 1)
	}
	return blocks
}
