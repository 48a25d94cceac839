package replay

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupel/pipeline"
	"github.com/wollax/cupel-go/cupelchat"
	"github.com/wollax/cupel-go/cupelsession"
)

// requests chooses windows of messages with a chooser.
type requests struct {
	chooser  cupelchat.Chooser
	messages map[string]*chatMessage // that have been read, by their JSON
	options  []cupelchat.Option
}

func (q *requests) choose(ctx context.Context, t *turn, budget int) (window, error) {
	return q.fit(t, budget, func(c *cupelchat.Conversation, r recounted) ([]byte, error) {
		r.Chooser = q.chooser
		w, err := c.Select(ctx, r, r.own)
		if err != nil {
			return nil, err
		}
		return w.Body()
	})
}

// window reads a request.
func (q *requests) window(request []byte) (window, error) {
	var body struct {
		Messages []json.RawMessage `json:"messages"`
	}
	if err := json.Unmarshal(request, &body); err != nil {
		return nil, fmt.Errorf("the window is not a request: %w", err)
	}
	w := make(window, len(body.Messages))
	for i, raw := range body.Messages {
		m := q.messages[string(raw)]
		if m == nil {
			var err error
			if m, err = parseMessage(string(raw)); err != nil {
				return nil, fmt.Errorf("the window is not a request: messages[%d]: %w", i, err)
			}
			q.messages[m.raw] = m
		}
		w[i] = m.piece()
	}
	return w, nil
}

// piece returns a message as a piece.
func (m *chatMessage) piece() piece {
	return piece{id: m.id, text: m.text, tokens: tokens(m.text), raw: m.raw, role: m.role, blocks: max(1, m.blocks)}
}

// request returns the request of a window of messages.
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

// inSession chooses windows in sessions of package cupelsession, at the prices of the
// measure, with time standing still. All sessions choose equal windows, and differ
// only in their marks.
type inSession struct {
	requests
	low    float64
	placed []placedSession
}

// placedSession is a session for the caches that want the same breakpoints.
type placedSession struct {
	placement
	session *cupelsession.Session // nil before the first step
	least   int                   // tokens of the window that the first message was shortened for, or 0
	marks   []int                 // the ends of the prefixes that it marks, in messages
}

// placement is the places where a cache wants its breakpoints.
type placement struct{ breakpoints, lookBack, latest int }

func placementOf(m *cupelsession.CacheModel) placement {
	return placement{m.Breakpoints, m.LookBack, m.Latest}
}

// newInSession returns a chooser with sessions for all caches, or with one
// session for none.
func newInSession(q requests, low float64, caches []cupelsession.CacheModel) *inSession {
	s := &inSession{requests: q, low: low}
	for i := range caches {
		if p := placementOf(&caches[i]); s.of(p) == nil {
			s.placed = append(s.placed, placedSession{placement: p})
		}
	}
	if len(caches) == 0 {
		s.placed = []placedSession{{}}
	}
	return s
}

// of returns the session with a placement, or nil.
func (s *inSession) of(p placement) *placedSession {
	if i := slices.IndexFunc(s.placed, func(q placedSession) bool { return q.placement == p }); i >= 0 {
		return &s.placed[i]
	}
	return nil
}

func (s *inSession) choose(ctx context.Context, t *turn, budget int) (w window, err error) {
	for i := range s.placed {
		p := &s.placed[i]
		if p.session == nil {
			cache := cupelsession.CacheModel{Read: priceRead, Write: priceWrite, Sure: time.Minute, Likely: time.Minute, Breakpoints: p.breakpoints, LookBack: p.lookBack, Latest: p.latest}
			if p.session, err = cupelsession.New(s.chooser, cupelsession.Config{LowWater: s.low, Cache: cache, Clock: func() time.Time { return time.Time{} }}); err != nil {
				return nil, err
			}
		}
		var turn *cupelsession.Turn
		w, err = s.fit(t, budget, func(c *cupelchat.Conversation, r recounted) (body []byte, err error) {
			turn, body, err = r.next(ctx, p, c)
			return body, err
		})
		if err != nil {
			return nil, err
		}
		p.marks = turn.Cache.Breakpoints // an entry is a message
		if err := turn.Commit(cupelsession.Usage{}); err != nil {
			return nil, err
		}
	}
	return w, nil
}

// next proposes the next turn of a session, for items of other sizes, as
// [cupelsession.Session.Body] does.
func (r recounted) next(ctx context.Context, p *placedSession, c *cupelchat.Conversation) (*cupelsession.Turn, []byte, error) {
	items, _, least, err := c.ItemsAfter(r.Chooser, r.own, p.least)
	if err != nil {
		return nil, nil, err
	}
	p.least = least
	if items, err = r.recount(items); err != nil {
		return nil, nil, err
	}
	turn, err := p.session.Next(ctx, items, r.forPinned(items))
	if err != nil {
		return nil, nil, err
	}
	pieces := make([]cupelchat.Piece, len(turn.Window))
	for n, e := range turn.Entries {
		pieces[n].Candidates, pieces[n].Content = e.Candidates, turn.Window[n].Content()
	}
	body, _, err := c.Compose(pieces, math.MaxInt)
	return turn, body, err
}

// mostTries is the most times that a window is chosen for one step.
const mostTries = 6

// fit makes windows until one holds the budget.
func (q *requests) fit(t *turn, budget int, write func(*cupelchat.Conversation, recounted) ([]byte, error)) (window, error) {
	c, r, err := q.read(t, budget)
	if err != nil {
		return nil, err
	}
	var w window
	target := budget
	r.own = limitedTo(max(budget-r.pinned, 0)) // pinned items have the whole budget: the smaller ones are for the others
	for range mostTries {
		r.budget = limitedTo(target)
		body, err := write(c, r)
		switch {
		case err != nil && w == nil:
			return nil, err
		case err != nil:
			return w, nil //nolint:nilerr // less cannot be chosen, and the measure says by how much this is too large
		}
		if w, err = q.window(body); err != nil {
			return nil, err
		}
		over := w.tokens() - budget
		if over <= 0 || over >= target {
			break
		}
		target -= over
	}
	return w, nil
}

// limitedTo returns a budget of n tokens, at least 0.
func limitedTo(n int) cupel.ContextBudget {
	budget, _ := cupel.NewContextBudget(n, n) // which fails only for less
	return budget
}

// read reads the request, and finds the tokens of its messages by the measure.
func (q *requests) read(t *turn, budget int) (*cupelchat.Conversation, recounted, error) {
	said := t.request()
	c := t.shared.conversation
	if c == nil {
		var err error
		if c, err = cupelchat.Read(said.request(), cupelchat.OpenAI, Characters{}); err != nil {
			return nil, recounted{}, err
		}
		t.shared.conversation = c
	}
	if len(q.options) > 0 {
		var err error
		if c, err = c.With(q.options...); err != nil {
			return nil, recounted{}, err
		}
	}
	r := recounted{more: make([]int, len(said)), most: budget}
	items := c.Items()
	for _, item := range items {
		at := index(item)
		r.more[at] = said[at].tokens - item.Tokens()
	}
	for _, item := range always(items) {
		r.pinned += r.more[index(item)]
	}
	return c, r, nil
}

// recounted gives a chooser items with the tokens of the measure. Package
// cupelchat counts the tokens that an API adds around calls and results; the
// measure counts the JSON of the calls.
type recounted struct {
	cupelchat.Chooser
	most   int                 // tokens of the budget
	more   []int               // tokens of each message
	pinned int                 // of them for pinned items and their groups
	budget cupel.ContextBudget // in tokens of the measure
	own    cupel.ContextBudget // in tokens of package cupelchat, for pinned items
}

// RunReport chooses from items of other sizes, for a budget of the measure.
func (r recounted) RunReport(ctx context.Context, items []*cupel.ContextItem, _ cupel.ContextBudget, opts ...pipeline.RunOption) ([]*cupel.ContextItem, *cupel.SelectionReport, error) {
	counted, err := r.recount(items)
	if err != nil {
		return nil, nil, err
	}
	window, report, err := r.Chooser.RunReport(ctx, counted, r.forPinned(counted), opts...)
	if report != nil {
		report.Overflow = &cupel.OverflowEvent{} // the measure decides what fits, not the count of package cupelchat
	}
	return window, report, err
}

// forPinned returns the budget, or the tokens of the pinned items if these are
// more and fit.
func (r recounted) forPinned(items []*cupel.ContextItem) cupel.ContextBudget {
	pinned := 0
	for _, item := range always(items) {
		pinned += item.Tokens()
	}
	if target := r.budget.TargetTokens(); pinned > target && pinned <= r.most {
		return limitedTo(pinned)
	}
	return r.budget
}

// always returns the items that are always in: those that are pinned, and their groups.
func always(items []*cupel.ContextItem) []*cupel.ContextItem {
	groups := map[string]bool{}
	for _, item := range items {
		groups[item.Group()] = groups[item.Group()] || item.Pinned()
	}
	groups[""] = false
	return slices.DeleteFunc(slices.Clone(items), func(item *cupel.ContextItem) bool { return !item.Pinned() && !groups[item.Group()] })
}

// recount returns the items with the tokens of the measure.
func (r recounted) recount(items []*cupel.ContextItem) ([]*cupel.ContextItem, error) {
	counted := make([]*cupel.ContextItem, len(items))
	for i, item := range items {
		counted[i] = item
		at := index(item)
		if r.more[at] == 0 {
			continue
		}
		smaller := item.Variants()
		for k := range smaller {
			smaller[k].Tokens = max(smaller[k].Tokens+r.more[at], 0)
		}
		var err error
		counted[i], err = item.With(cupel.WithContent(item.Content(), max(item.Tokens()+r.more[at], 0)), cupel.WithVariants(smaller...))
		if err != nil {
			return nil, err
		}
	}
	return counted, nil
}

// index returns the place of an item's message. All items here have one.
func index(item *cupel.ContextItem) int {
	at, _ := item.MetadataInt("index") // the key of package cupelchat
	return at
}
