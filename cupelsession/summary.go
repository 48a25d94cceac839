package cupelsession

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/wollax/cupel-go/cupel"
)

// Summary is the result of [Config.Summarize] for the items that leave a
// window.
type Summary struct {
	Text   string // "" if there is nothing to say
	Tokens int    // of Text, counted as for the items
	Usage  Usage  // the usage of making it
}

// Summarized counts the calls of [Config.Summarize], and their usage.
type Summarized struct {
	Calls int   `json:"calls,omitempty"`
	Usage Usage `json:"usage,omitzero"`
}

// summaries are the summaries of a state.
type summaries struct {
	Summarized
	Asked bool  `json:"asked,omitempty"` // since the last break
	Ready ready `json:"ready,omitzero"`  // for the next break, if it is not empty
}

// ready is a summary, and the keys of the items that it stands for.
type ready struct {
	Keys   []string `json:"keys,omitempty"`
	Text   string   `json:"text,omitempty"`
	Tokens int      `json:"tokens,omitempty"`
}

// Summarized returns the calls of [Config.Summarize] that committed turns have
// recorded.
func (s *Session) Summarized() Summarized { return s.committed().Summaries.Summarized }

// Close ends the summary that is being made, if there is one. The session can still be
// used, and makes no more summaries.
func (s *Session) Close() {
	if s.isMade() {
		s.end()
	}
}

// dropping lists the items that leave the window at a break.
type dropping struct {
	*layout // after the break
	before  *layout
	leaves  []bool // for each candidate, whether it is out and was not before
}

func newDropping(before, now *layout) *dropping {
	d := &dropping{layout: now, before: before, leaves: make([]bool, len(now.at))}
	for i, n := range now.at {
		k := now.were[i]
		d.leaves[i] = n == out && (k < 0 || before.at[k] != out)
	}
	return d
}

// first returns the items that no summary replaced yet: the others have left
// before.
func (d *dropping) first() (items []*cupel.ContextItem) {
	summarized := map[string]bool{}
	for _, e := range d.before.window {
		if e.Summary {
			for _, key := range e.Keys {
				summarized[key] = true
			}
		}
	}
	for i, item := range d.items {
		if d.leaves[i] && !summarized[d.keys[i]] {
			items = append(items, item)
		}
	}
	return items
}

// leastSummarized is how many items a summary stands for at least. A summary of one item
// would be written in that item's message, with its authority.
const leastSummarized = 2

// leaving are the items that will probably leave at the next break.
type leaving struct {
	keys  []string
	items []*cupel.ContextItem // with a summary in the place of its items
}

// foresee chooses for a break before there is one, when the window is nearly full, and
// returns what that leaves out.
func (p *proposal) foresee(ctx context.Context) (*leaving, error) {
	if p.session.config.Summarize == nil || p.before.Summaries.Asked {
		return nil, nil
	}
	const turns, share = 3, 4 // before the window, or that share of its room, is full
	l := p.allowance.limits(p.tokens, p.pinned())
	left := l.most - p.tokens
	if left > max(integer(turns*p.growth), (l.most-l.low)/share) {
		return nil, nil
	}
	quiet := *p
	quiet.choosing.trace = nil
	quiet.choosing.remember()
	l, err := quiet.mark(ctx)
	if err != nil {
		return nil, ctx.Err() // a break would report the other errors
	}
	to, _, err := quiet.chooseFor(ctx, max(l.pinned, l.low-left-integer(p.growth)), 0, -1)
	if err != nil {
		return nil, ctx.Err()
	}
	return p.leaving(newDropping(&p.before.layout, to)), nil
}

// leaving returns the items to summarize, or nil if they are too few.
func (p *proposal) leaving(d *dropping) *leaving {
	to := new(leaving)
	stood := map[int32]bool{}
	for i, item := range p.items {
		if !d.leaves[i] {
			continue
		}
		to.keys = append(to.keys, p.keys[i])
		if n := p.at[i]; n >= 0 && p.window[n].Summary {
			if stood[n] {
				continue
			}
			stood[n], item = true, p.given(&p.window[n])
		}
		to.items = append(to.items, item)
	}
	if len(to.keys) < leastSummarized {
		return nil
	}
	return to
}

// summarize returns the layout after a break with the summary that is ready, or else with
// those that stood there before. The turn gets notes about what does not fit.
func (p *proposal) summarize(to *layout, most int) *layout {
	list := []ready{p.before.Summaries.Ready}
	for i := range p.window {
		if e := &p.window[i]; e.Summary && list[0].Text == "" {
			list = append(list, ready{e.Keys, e.Form, e.Tokens})
		}
	}
	for _, r := range list {
		with, note := to.withSummary(r, most)
		if note != "" {
			p.turn.Notes = append(p.turn.Notes, note)
		}
		to = with
	}
	return to
}

// withSummary puts a summary in the place of those of its items that are out.
func (l *layout) withSummary(r ready, most int) (to *layout, note string) {
	e := entry{Summary: true, Form: r.Text, Tokens: r.Tokens, first: -1}
	tokens, stands := 0, make(map[string]bool, len(r.Keys))
	for _, key := range r.Keys {
		stands[key] = true
	}
	for i, key := range l.keys {
		if l.at[i] != out || !stands[key] {
			continue
		}
		if e.first < 0 {
			e.first = i
		}
		e.Keys = append(e.Keys, key)
		tokens += max(0, l.items[i].Tokens())
	}
	switch {
	case len(e.Keys) < leastSummarized:
		return l, ""
	case e.Tokens >= tokens:
		return l, fmt.Sprintf("the summary of %d tokens is not smaller than the %d tokens that it stands for; it was left out", e.Tokens, tokens)
	case l.tokens+e.Tokens > most:
		return l, fmt.Sprintf("the summary of %d tokens does not fit", e.Tokens)
	}
	e.Held = formOf(l.items[e.first], e.Form, e.Tokens)
	at, _ := slices.BinarySearchFunc(l.window, e, byFirst)
	return l.with(slices.Insert(slices.Clone(l.window), at, e)), ""
}

// flight is a summary that is being made.
type flight struct {
	keys []string
	done chan summarized
	late bool // there was a break since
}

type summarized struct {
	summary Summary
	err     error
}

// fly begins a summary. The summarizer may change the list that it gets.
func (s *Session) fly(l *leaving) {
	s.flight = &flight{keys: l.keys, done: make(chan summarized, 1)}
	go func(done chan<- summarized) {
		a := summarized{err: errors.New("the summarizer ended its goroutine")}
		defer func() {
			if r := recover(); r != nil {
				a.err = fmt.Errorf("the summarizer panicked: %v", r)
			}
			done <- a
		}()
		a.summary, a.err = s.config.Summarize(s.alive, l.items)
	}(s.flight.done)
}

// land takes over a summary that was made since the last commit, and begins the next one.
// broke reports whether the turn has a new choice. The state holds everything that a break
// uses, so that proposing a turn again, here or elsewhere, gives the same result.
func (s *Session) land(after *state, broke bool, next *leaving) (note string) {
	if s.flight != nil {
		s.flight.late = s.flight.late || broke
		select {
		case a := <-s.flight.done:
			note = s.flight.landed(&after.Summaries, a)
			s.flight = nil
		default:
		}
	}
	if next != nil && s.flight == nil && s.alive.Err() == nil {
		after.Summaries.Asked = true
		after.Summaries.Calls++
		s.fly(next)
	}
	return note
}

// landed adds a note if a summary cannot be used.
func (f *flight) landed(to *summaries, a summarized) (note string) {
	to.Usage = to.Usage.plus(a.summary.Usage.possible())
	text := strings.TrimSpace(a.summary.Text)
	switch {
	case f.late:
		return fmt.Sprintf("no summary of %d items: it came after the break", len(f.keys))
	case a.err != nil:
		return fmt.Sprintf("no summary of %d items: %v", len(f.keys), a.err)
	case text == "":
		return ""
	case a.summary.Tokens <= 0 || a.summary.Tokens > maxTokens:
		return fmt.Sprintf("no summary of %d items: it has %d tokens", len(f.keys), a.summary.Tokens)
	}
	to.Ready = ready{f.keys, text, a.summary.Tokens}
	return ""
}
