package cupelsession

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/wollax/cupel-go/cupel"
)

// state is what a session knows between two turns. It never changes.
type state struct {
	turns  int
	all    *candidates // of the last turn; nil before the first, and after reading from JSON
	at     []int32     // the entry of the window that each of them is in, or out or inTail
	window []entry     // the stable part as it was sent
	tokens int         // of window

	keys    map[string]bool // of the last turn's candidates, only after reading from JSON
	outKeys []string        // of these, in order, those that were out
	last    *outcomes       // of the last choice; nil if there was none

	sent   sent
	fit    calibration
	growth float64 // tokens that a turn appends, on average
}

const (
	out    = -1
	inTail = -2
)

// entry is a piece of the window: an item as it is, or a smaller form that stands
// for an item or for all members of a group.
type entry struct {
	Keys    []string           `json:"keys"` // of the items that it stands for
	Summary bool               `json:"summary,omitempty"`
	Hash    string             `json:"hash,omitempty"` // of an item as it is, in JSON
	Form    string             `json:"form,omitempty"` // what was sent in their place
	Tokens  int                `json:"tokens"`         // as sent
	Held    *cupel.ContextItem `json:"-"`              // as sent

	first int // candidate of this turn; the others follow
}

// whole reports whether an entry is an item as it is.
func (e *entry) whole() bool { return e.Form == "" }

// proposal is a turn in the making.
type proposal struct {
	s      *Session
	before *state
	*candidates
	budget cupel.ContextBudget
	turn   *Turn
	now    time.Time

	window []entry
	at     []int32
	tokens int  // of the stable part
	fresh  int  // tokens of candidates that the session has not seen
	split  bool // something must come in that is out, or stands in a smaller form

	reason BreakReason // of choosing again; 0 if what was sent stays
	chose  *cupel.SelectionReport
	chosen []int // candidates that it was given, or ^entry
}

// chosenFrom returns the candidate that the chooser was given at a position, or -1.
func (p *proposal) chosenFrom(at int) int {
	if at < 0 || at >= len(p.chosen) || p.chosen[at] < 0 {
		return -1
	}
	return p.chosen[at]
}

// Next proposes the window of the next turn: everything that the conversation has
// now, its tail included. Equal input in the same state gives an equal window. A
// turn that is not committed leaves no trace.
//
// It fails with an error of the chooser, of ctx, with [ErrBusy], and for an item
// that is nil or counts of tokens that overflow. Between
// breaks it takes time linear in the number of items, and in the text of the new
// ones.
func (s *Session) Next(ctx context.Context, items []*cupel.ContextItem, budget cupel.ContextBudget, opts ...TurnOption) (turn *Turn, err error) {
	if err := s.enter(); err != nil {
		return nil, err
	}
	defer s.leave()
	if ctx == nil {
		ctx = context.Background()
	}
	now := s.config.Clock()
	ctx, end := s.observe(ctx, now, len(items), budget)
	defer func() { end(turn, err) }()
	return s.propose(ctx, now, items, budget, opts)
}

// propose is Next for a session that no other call is using.
func (s *Session) propose(ctx context.Context, now time.Time, items []*cupel.ContextItem, budget cupel.ContextBudget, opts []TurnOption) (*Turn, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	total := 0
	for _, item := range items {
		if item == nil {
			return nil, errNilItem
		}
		if item.Tokens() > maxTokens-total {
			return nil, errTooManyTokens
		}
		total += max(0, item.Tokens())
	}
	p := &proposal{s: s, before: s.state.Load(), budget: budget, now: now, turn: &Turn{session: s}}
	p.turn.options.chooser = s.chooser
	for _, opt := range opts {
		if opt != nil {
			opt(&p.turn.options)
		}
	}
	p.candidates = s.config.identify(items, p.before.all)
	p.keep()
	if err := p.fill(ctx); err != nil {
		return nil, err
	}
	if err := p.finish(ctx); err != nil {
		return nil, err
	}
	return p.turn, nil
}

// Sums of as many tokens, and of what is added to them, do not overflow.
const maxTokens = math.MaxInt / 4

var (
	errNilItem       = errors.New("cupelsession: an item is nil")
	errTooManyTokens = fmt.Errorf("cupelsession: the items have more than %d tokens together; check what counts them", maxTokens)
)

// keep takes over what was sent, and appends what is new.
func (p *proposal) keep() {
	p.at = make([]int32, len(p.items))
	known := p.place()
	moved := false
	for i := range p.window {
		moved = moved || i > 0 && p.window[i].first < p.window[i-1].first
	}
	kept := len(p.window)
	groups := map[string]bool{}
	for i := p.from(); i < len(p.items); i++ {
		if p.tail[i] {
			p.at[i] = inTail
			continue
		}
		if known(i) {
			continue
		}
		item := p.items[i]
		if item.Tokens() < 0 {
			p.at[i] = out
			continue
		}
		p.fresh += item.Tokens()
		if item.Group() != "" {
			groups[item.Group()] = true
		}
		moved = moved || kept > 0 && i < p.window[kept-1].first
		p.at[i] = int32(len(p.window))
		p.window = append(p.window, entry{Keys: []string{p.keys[i]}, Tokens: item.Tokens(), Held: item, first: i})
	}
	for _, i := range p.gone {
		if group := p.before.all.items[i].Group(); group != "" {
			groups[group] = true
		}
	}
	followed := p.were != nil
	if len(groups) > 0 || !followed {
		p.split = p.splits(func(group string) bool { return !followed || groups[group] })
	}
	for i := p.from(); i < len(p.items); i++ {
		if n := p.at[i]; p.items[i].Pinned() && (n == out || n >= 0 && !p.window[n].whole()) {
			p.split = true
		}
	}
	if moved {
		slices.SortStableFunc(p.window, func(a, b entry) int { return cmp.Compare(a.first, b.first) })
		p.number()
	}
	for i := range p.window {
		p.tokens += p.window[i].Tokens
	}
}

// splits reports whether a group would be in the window in part, or in full next to
// a note: a result of a call that was left out, or a member that was edited.
func (p *proposal) splits(concerned func(group string) bool) bool {
	type place struct {
		in, note bool
		entry    int32
	}
	places := map[string]place{}
	for i, item := range p.items {
		n, group := p.at[i], item.Group()
		if group == "" || n == inTail || !concerned(group) {
			continue
		}
		now := place{in: n >= 0}
		if now.in && !p.window[n].whole() && !p.window[n].Summary && len(p.window[n].Keys) > 1 {
			now.note, now.entry = true, n
		}
		if was, ok := places[group]; ok && was != now {
			return true
		}
		places[group] = now
	}
	return false
}

// from is the first candidate that keep has to look at.
func (p *proposal) from() int {
	if p.before.all == nil {
		return 0
	}
	return p.same
}

// place finds the entries of the window whose items are still there, and returns
// a function that reports whether the turn before had a candidate.
func (p *proposal) place() (known func(i int) bool) {
	b := p.before
	if from := p.were; from != nil {
		p.placeFollowed()
		return func(i int) bool { return from[i] >= 0 }
	}
	byKey := make(map[string]int, len(p.keys))
	for i, key := range p.keys {
		if !p.tail[i] {
			byKey[key] = i
		}
		p.at[i] = out
	}
	for _, e := range b.window {
		first, there := len(p.keys), 0
		parted := false // a new item that says the same as a member that is gone, in another group
		for _, key := range e.Keys {
			if i, ok := byKey[key]; ok {
				parted = parted || there > 0 && p.items[i].Group() != p.items[first].Group()
				there++
				first = min(first, i)
			}
		}
		if there == 0 || !e.Summary && (there < len(e.Keys) || parted) {
			continue // removed, or edited
		}
		if there < len(e.Keys) {
			e.Keys = slices.DeleteFunc(slices.Clone(e.Keys), func(key string) bool { _, ok := byKey[key]; return !ok })
		}
		e.first = first
		for _, key := range e.Keys {
			if i, ok := byKey[key]; ok {
				p.at[i] = int32(len(p.window))
			}
		}
		if e.whole() {
			e.Held, e.Tokens = p.items[first], p.items[first].Tokens()
		} else if e.Held == nil {
			e.Held = formOf(p.items[first], e.Form, e.Tokens)
		}
		p.window = append(p.window, e)
	}
	had := b.keys
	if b.all != nil {
		had = make(map[string]bool, len(b.all.keys))
		for i, key := range b.all.keys {
			if !b.all.tail[i] {
				had[key] = true
			}
		}
	}
	for i := range p.same {
		if p.tail[i] {
			p.at[i] = inTail
		}
	}
	return func(i int) bool { return had[p.keys[i]] }
}

// placeFollowed is place when it is known where the turn before had each item.
func (p *proposal) placeFollowed() {
	b := p.before
	there := make([]int, len(b.window))
	first := make([]int, len(b.window))
	for i, k := range p.were {
		p.at[i] = out
		if k < 0 {
			continue
		}
		n := b.at[k]
		if p.at[i] = n; n >= 0 {
			if there[n] == 0 {
				first[n] = i
			}
			there[n]++
		}
	}
	p.window = make([]entry, 0, len(b.window)+8)
	moved := make([]int32, len(b.window)) // to where, or out
	for n, e := range b.window {
		if there[n] == 0 || there[n] < len(e.Keys) && !e.Summary {
			moved[n] = out // removed
			continue
		}
		if there[n] < len(e.Keys) {
			// A summary no longer stands for what is gone, nor for what gets its key.
			e.Keys = nil
			for i, k := range p.were {
				if k >= 0 && b.at[k] == int32(n) {
					e.Keys = append(e.Keys, p.keys[i])
				}
			}
		}
		e.first = first[n]
		moved[n] = int32(len(p.window))
		p.window = append(p.window, e)
	}
	for i, n := range p.at {
		if n >= 0 {
			p.at[i] = moved[n]
		}
	}
}

// number writes the positions of the entries to their candidates.
func (p *proposal) number() {
	byKey := map[string]int32{}
	for n := range p.window {
		e := &p.window[n]
		if len(e.Keys) == 1 && p.keys[e.first] == e.Keys[0] {
			if p.at[e.first] != inTail {
				p.at[e.first] = int32(n)
			}
			continue
		}
		for _, key := range e.Keys {
			byKey[key] = int32(n)
		}
	}
	if len(byKey) == 0 {
		return
	}
	for i, key := range p.keys {
		if n, ok := byKey[key]; ok && p.at[i] != inTail {
			p.at[i] = n
		}
	}
}

// formOf is a smaller form of an item, as the window has it.
func formOf(item *cupel.ContextItem, text string, tokens int) *cupel.ContextItem {
	form, err := item.With(cupel.WithVariants(), cupel.WithGroupVariants(), cupel.WithContent(text, tokens), cupel.WithOriginalTokens(max(0, item.Tokens())))
	if err != nil {
		return item // not with a text that was sent before
	}
	return form
}
