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

// proposal is a turn in the making.
type proposal struct {
	session   *Session
	before    *state
	options   turnOptions
	allowance allowance
	cache     caching
	choosing  choosing
	turn      *Turn

	*layout
	growth float64 // tokens that a turn appends on average, with this one
	split  bool    // something must come in
}

// Next proposes the window of the next turn: everything that the conversation has
// now, its tail included. Equal input in the same state gives an equal window. A
// turn that is not committed leaves no trace.
//
// It fails with errors of the chooser and of ctx, with [ErrBusy], for a nil item, and
// if counts of tokens overflow. It fails with a [HistoryError] if the conversation was
// replaced with what the turn before sent. Between breaks it takes time linear in the
// number of items, and in the text of the new ones.
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
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if err := checkItems(items); err != nil {
		return nil, err
	}
	p := s.propose(now, items, budget, opts)
	if err := p.history(); err != nil {
		return nil, err
	}
	if turn, err = p.decide(ctx); err != nil {
		return nil, err
	}
	if s.proposed++; s.proposed > mostProposed {
		turn.Notes = append(turn.Notes, fmt.Sprintf("%d turns were proposed since the last one was committed: commit each that was answered, or the session keeps nothing from turn to turn", s.proposed))
	}
	return turn, nil
}

// Sums of up to maxTokens tokens do not overflow when more is added to them.
const maxTokens = math.MaxInt / 4

var (
	errNilItem       = errors.New("cupelsession: an item is nil")
	errTooManyTokens = fmt.Errorf("cupelsession: the items have more than %d tokens together; check the token counter", maxTokens)
)

func checkItems(items []*cupel.ContextItem) error {
	total := 0
	for _, item := range items {
		if item == nil {
			return errNilItem
		}
		if item.Tokens() > maxTokens-total {
			return errTooManyTokens
		}
		total += max(0, item.Tokens())
	}
	return nil
}

// propose takes over what was sent.
func (s *Session) propose(now time.Time, items []*cupel.ContextItem, budget cupel.ContextBudget, opts []TurnOption) *proposal {
	p := &proposal{session: s, before: s.state.Load(), options: s.options(opts)}
	var fresh int
	p.layout, fresh, p.split = p.before.next(s.config.identify(items, p.before.candidates))
	p.growth = p.before.growing(fresh)
	p.allowance = allowance{budget, p.before.Fit, p.sum, cmp.Or(s.config.LowWater, DefaultLowWater), s.config.ClearAtLeast}
	p.cache = p.before.Sent.caching(s.config.Cache, &p.options, now)
	p.choosing = choosing{p.options.chooser, budget, s.config.Trace}
	p.turn = &Turn{session: s, before: p.before, limit: p.allowance.greatest()}
	return p
}

// options are the options of a turn.
func (s *Session) options(opts []TurnOption) turnOptions {
	o := turnOptions{chooser: s.chooser}
	for _, opt := range opts {
		if opt != nil {
			opt(&o)
		}
	}
	return o
}

// growing returns how many tokens a turn appends on average, including one
// that appends fresh.
func (s *state) growing(fresh int) float64 {
	const newest = 0.2 // weight of that turn
	switch s.Turns {
	case 0:
		return 0
	case 1:
		return float64(fresh)
	default:
		return float64((1-newest)*s.Growth) + float64(newest*float64(fresh))
	}
}

// decide decides which items are in the window, and records them in the turn.
func (p *proposal) decide(ctx context.Context) (*Turn, error) {
	if err := p.breaks(ctx); err != nil {
		return nil, err
	}
	kept := p.tellStable()
	tail, err := p.chooseTail(ctx)
	if err != nil {
		return nil, err
	}
	var held []Prefix
	t := p.turn
	t.Cache, held = p.cache.price(p.layout, kept, p.head(), tail, p.options.blocks)
	t.Estimate = p.before.Fit.counts(p.tokens + tail)
	after := *p.before
	t.after = &after
	after.layout, after.Growth, after.Least = *p.layout, p.growth, p.options.least
	after.Turns++
	after.Sent = sent{At: p.cache.now, Model: p.cache.model, Held: held, Everything: p.sum.all}
	if t.chosen != nil {
		after.Summaries.Asked, after.Summaries.Ready = false, ready{}
		after.last = t.chosen.outcomes(p.keys)
	}
	after.repeats++
	if !slices.Equal(p.keys, p.before.keys) {
		after.repeats = 0
	}
	return t, nil
}

// breaks chooses again if it must, or may.
func (p *proposal) breaks(ctx context.Context) (err error) {
	t := p.turn
	if t.reason = p.reason(); t.reason == "" {
		t.leaving, err = p.foresee(ctx)
		return err
	}
	to, said, err := p.choose(ctx, t.reason)
	if err != nil {
		return err
	}
	t.chosen, t.dropped = said, newDropping(&p.before.layout, to).first()
	p.layout = p.summarize(to, p.allowance.limits(to.tokens, p.sum.pinned).most)
	return nil
}

// tellStable records the stable part in the turn, and returns how many of its
// entries were sent before.
func (p *proposal) tellStable() (kept int) {
	t := p.turn
	kept = samePrefix(p.window, p.before.window)
	if kept < len(p.before.window) {
		t.Break = &Break{cmp.Or(t.reason, BreakChanged), kept}
	}
	t.KeptTokens = tokensOf(p.window[:kept])
	t.Stable = len(p.window)
	t.Window, t.Entries = make([]*cupel.ContextItem, len(p.window)), make([]Entry, len(p.window))
	for i := range p.window {
		t.Window[i] = p.window[i].Held
		t.Entries[i].Whole = p.window[i].whole()
	}
	first := make([]int, len(p.window)) // most entries have one candidate
	for i, n := range p.at {
		switch {
		case n < 0:
		case t.Entries[n].Candidates == nil:
			first[n] = i
			t.Entries[n].Candidates = first[n : n+1 : n+1]
		default:
			t.Entries[n].Candidates = append(t.Entries[n].Candidates, i)
		}
	}
	return kept
}

// chooseTail appends the tail to the window, and returns its tokens.
func (p *proposal) chooseTail(ctx context.Context) (tokens int, err error) {
	s, t := p.session, p.turn
	if !slices.Contains(p.at, inTail) {
		s.bare = nil
		return 0, nil
	}
	pinned := p.sum.tailPinned
	target := max(pinned, min(p.allowance.budget.TargetTokens(), p.allowance.limits(p.tokens, p.sum.pinned).most+pinned)-p.tokens)
	tailing := tailing{layout: p.layout, bare: s.bare}
	t.tail, err = tailing.choose(ctx, &p.choosing, target)
	s.bare = tailing.made
	if err != nil {
		return tokens, err
	}
	for n, e := range t.tail.included {
		item := t.tail.item(n)
		i := t.tail.said.from[e.Candidate]
		tokens += item.Tokens()
		t.Window = append(t.Window, item)
		t.Entries = append(t.Entries, Entry{[]int{i}, item == p.items[i]})
	}
	return tokens, nil
}
