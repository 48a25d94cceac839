package replay

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"

	"github.com/wollax/cupel-go/cupelchat"
	"github.com/wollax/cupel-go/cupelsession"
)

// Policy is a way of choosing windows, to be measured.
type Policy struct {
	Name  string // in results, unique in a run
	Title string // in tables; the name if it is empty
	Mode  Mode
	// New returns the function that chooses the windows of one conversation. It
	// is called for each of its steps in their order. New is called from several
	// goroutines.
	New func() func(ctx context.Context, turn Turn) (request []byte, err error)

	units   func() chooser    // of the reference's strategies
	chooses cupelchat.Chooser // of [Choosing]
	over    bool              // the policy ignores the budget
	blocks  bool              // in a session of this package, with the low-water mark
	low     float64
}

// Mode says whether a policy remembers what it sent before.
type Mode string

// The modes.
const (
	Stateless Mode = "stateless" // chooses each window by itself
	Session   Mode = "session"   // keeps what it sent before, as long as it fits
)

// Turn is the input of a policy at one step.
type Turn struct {
	Conversation string // its id
	Step         int    // of the assistant, from 0
	// Request is the conversation before the step, {"messages": […]} in the form
	// of OpenAI's Chat Completions.
	Request []byte
	// Budget is what the messages of the window may count, in tokens of the
	// measure.
	Budget int

	meter  *meter
	cache  map[string]*chatMessage
	shared *shared
	caches []cupelsession.CacheModel // of WithCache
	marks  marks                     // where a session sets breakpoints
}

// Tokens returns what the messages of a request count by the measure.
func (t *Turn) Tokens(request []byte) (int, error) {
	w, err := t.window(request)
	return w.tokens(), err
}

// window reads a request.
func (t *Turn) window(request []byte) (window, error) {
	var body struct {
		Messages []json.RawMessage `json:"messages"`
	}
	if err := json.Unmarshal(request, &body); err != nil {
		return nil, fmt.Errorf("the window is not a request: %w", err)
	}
	w := make(window, len(body.Messages))
	for i, raw := range body.Messages {
		m := t.cache[string(raw)]
		if m == nil {
			var err error
			if m, err = parseMessage(string(raw)); err != nil {
				return nil, fmt.Errorf("the window is not a request: messages[%d]: %w", i, err)
			}
			t.cache[m.raw] = m
		}
		var err error
		if w[i], err = m.piece(t.meter); err != nil {
			return nil, err
		}
	}
	return w, nil
}

// piece returns a message as a piece.
func (m *chatMessage) piece(meter *meter) (piece, error) {
	n, err := meter.tokens(m.text)
	return piece{id: m.id, text: m.text, tokens: n, raw: m.raw, role: m.role, blocks: max(1, m.blocks)}, err
}

// Baselines returns the strategies of the reference implementation: everything,
// the newest units that fit, old results of calls cleared, and the last two in
// a session with a low-water mark of 0.6.
func Baselines() []Policy {
	units := func(name, title string, b baseline) Policy {
		return Policy{Name: name, Title: title, Mode: Stateless, units: func() chooser { return b }}
	}
	all := units("everything", "everything", everything)
	all.over = true
	fitting := units("newest", "newest that fits", newest)
	clearing := units("clear", "clear old results", clearOld)
	return []Policy{all, fitting, clearing,
		fitting.inBlocks("newest-blocks", "newest, in blocks to 0.6"),
		clearing.inBlocks("clear-blocks", "clear, in blocks to 0.6"),
	}
}

// LowWater is the low-water mark of the reference.
const LowWater = 0.6

func (p Policy) inBlocks(name, title string) Policy {
	p = p.InSession(LowWater)
	p.Name, p.Title = name, title
	return p
}

// InSession returns the policy in a session. That of [Choosing] is one of package
// cupelsession with the low-water mark low, in (0,1]. Any other policy appends
// messages to its last window while that fits. When it does not, it chooses a
// window for low of the room that system prompts and the newest unit leave. A
// policy whose mode is Session already is not changed.
func (p Policy) InSession(low float64) Policy {
	if p.Mode == Session {
		return p
	}
	p.Mode, p.low = Session, low
	if p.chooses != nil {
		p.New = inSession(p.chooses, low)
	} else {
		p.blocks = true
	}
	return p
}

// chooser returns what chooses the windows of one conversation. messages are those
// that have been read, by their JSON.
func (p *Policy) chooser(messages map[string]*chatMessage, caches []cupelsession.CacheModel) chooser {
	var c chooser
	if p.units != nil {
		c = p.units()
	} else {
		c = &requests{choice: p.New(), cache: messages, caches: caches, marks: make(marks)}
	}
	if p.blocks {
		c = &blocks{chooser: c, low: p.low}
	}
	return c
}

// requests chooses requests.
type requests struct {
	choice func(ctx context.Context, turn Turn) ([]byte, error)
	cache  map[string]*chatMessage // by JSON
	caches []cupelsession.CacheModel
	marks  marks // of the last window
}

func (r *requests) choose(ctx context.Context, t *turn, budget int) (window, error) {
	public := Turn{Conversation: t.id, Step: t.step, Request: t.request().request(), Budget: budget, meter: t.meter, cache: r.cache, shared: t.shared, caches: r.caches, marks: r.marks}
	request, err := r.choice(ctx, public)
	if err != nil {
		return nil, err
	}
	return public.window(request)
}

func (r *requests) add(w window, t *turn, i int) window {
	return append(w, t.units[i].pieces...)
}

// request returns the request that a window of messages is.
func (w window) request() []byte {
	var b bytes.Buffer
	b.WriteString(`{"messages":[`)
	for i := range w {
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString(w[i].raw)
	}
	b.WriteString("]}")
	return b.Bytes()
}
