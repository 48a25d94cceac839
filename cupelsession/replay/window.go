package replay

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/wollax/cupel-go/cupelchat"
)

// window is what is sent at a step, in the order of the conversation.
type window []piece

// piece is a message of a window, or a whole unit: the reference's strategies
// choose units, and send each as one piece.
type piece struct {
	id     string // equal for equal pieces
	text   string
	tokens int
	raw    string // the JSON of a message
	role   string // of the message, or of the first one of the unit
	blocks int    // of content
}

func (w window) tokens() int {
	sum := 0
	for i := range w {
		sum += w[i].tokens
	}
	return sum
}

// text returns the text that the model reads, in which the values are
// searched.
func (w window) text() string {
	texts := make([]string, len(w))
	for i := range w {
		texts[i] = w[i].text
	}
	return strings.Join(texts, "\n")
}

// same returns how many pieces at the starts of w and v are equal.
func (w window) same(v window) int {
	n := 0
	for n < min(len(w), len(v)) && w[n].id == v[n].id {
		n++
	}
	return n
}

// turn is the choice of one window.
type turn struct {
	*recording
	step   int
	said   int // units so far
	shared *shared
}

// shared is the common state of all shares of a policy at a step.
type shared struct {
	conversation *cupelchat.Conversation
	checked      bool
	refused      bool // the API refuses the conversation as it is
}

// refusal returns the reason why the API refuses a window of messages. It returns
// "" if the API accepts the window, or refuses the whole conversation.
func (t *turn) refusal(w window) string {
	violations := cupelchat.Check(w.request(), cupelchat.OpenAI)
	if len(violations) == 0 {
		return ""
	}
	if !t.shared.checked {
		t.shared.checked = true
		t.shared.refused = len(cupelchat.Check(t.request().request(), cupelchat.OpenAI)) > 0
	}
	if t.shared.refused {
		return ""
	}
	return fmt.Sprintf("the API refuses the window: %s: %s", violations[0].Path, violations[0].Message)
}

// request returns everything said so far as messages.
func (t *turn) request() window {
	var said window
	for i := range t.said {
		said = append(said, t.units[i].pieces...)
	}
	return said
}

// chooser chooses the windows of one conversation, step by step.
type chooser interface {
	// choose returns a window of at most budget tokens.
	choose(ctx context.Context, t *turn, budget int) (window, error)
}

// blocks appends while the window fits. When it no longer fits, blocks chooses
// a window for a share of the room that the pinned units leave.
type blocks struct {
	baseline
	low    float64 // in (0,1]
	window window
	seen   int // units
}

func (b *blocks) choose(_ context.Context, t *turn, budget int) (window, error) {
	w := slices.Clone(b.window)
	for ; b.seen < t.said; b.seen++ {
		w = append(w, t.whole(b.seen))
	}
	if w.tokens() > budget {
		fixed := t.fixed(t.said)
		w = b.baseline(t, fixed+int(float64(budget-fixed)*b.low))
	}
	b.window = w
	return w, nil
}

// full reports which of the units so far are in the window unchanged, with all
// their messages in a row. Among equal units, the newest count.
func (t *turn) full(w window) []bool {
	full := make([]bool, t.said)
	unit, end := t.said, len(w) // before which the others are searched
	for unit > 0 && end > 0 {
		n := 0
		at := unit
		for n == 0 && at > 0 {
			at--
			n = t.units[at].ends(w[:end])
		}
		if n > 0 {
			full[at], unit = true, at
		}
		end -= max(n, 1)
	}
	return full
}

// ends returns how many pieces at the end of a window the unit is, or 0.
func (u *unit) ends(w window) int {
	if w[len(w)-1].id == u.id {
		return 1
	}
	if from := len(w) - len(u.pieces); from >= 0 && w[from:].same(u.pieces) == len(u.pieces) {
		return len(u.pieces)
	}
	return 0
}
