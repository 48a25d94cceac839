package cupelsession

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupel/pipeline"
	"github.com/wollax/cupel-go/cupel/turn"
)

// outcome is what a choice said of an item.
type outcome struct {
	score  float64
	reason cupel.ExclusionReason
	stale  bool
}

// outcomes are those of one choice. They are found by key only for a report.
type outcomes struct {
	keys []string
	list []outcome // by key

	once   sync.Once
	places map[string]int
}

// of returns what the choice said of the item with a key, if it was there.
func (o *outcomes) of(key string) outcome {
	if o == nil {
		return outcome{}
	}
	o.once.Do(func() {
		o.places = make(map[string]int, len(o.keys))
		for i, key := range o.keys {
			o.places[key] = i
		}
	})
	if i, ok := o.places[key]; ok {
		return o.list[i]
	}
	return outcome{}
}

// finish chooses the tail and says what the turn is.
func (p *proposal) finish(ctx context.Context) error {
	t := p.turn
	dropped := p.leaving()
	if p.reason != 0 {
		if err := p.summarize(ctx, dropped); err != nil {
			return err
		}
	}
	sent := samePrefix(p.window, p.before.window)
	if sent < len(p.before.window) {
		t.Break = &Break{Reason: p.reason, At: sent, Chosen: p.reason != 0}
		if p.reason == 0 {
			t.Break.Reason = BreakChanged
		}
	}
	for i := range p.window[:sent] {
		t.KeptTokens += p.window[i].Tokens
	}
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
	t.Stable = len(p.window)
	tail, err := p.chooseTail(ctx)
	if err != nil {
		return err
	}
	var held []Prefix
	t.Cache, held = p.use(sent, tail)
	t.Estimate = p.before.fit.counts(p.tokens + tail)
	t.limit = min(p.budget.TargetTokens(), p.budget.MaxTokens()-p.budget.OutputReserve())
	t.before, t.items, t.chosen, t.reason = p.before, p.items, p.chose, p.reason
	t.dropped = p.firstDropped(dropped)
	t.after = p.next(held)
	return nil
}

// leaving returns the items that are out, and were not before.
func (p *proposal) leaving() []*cupel.ContextItem {
	if p.reason == 0 {
		return nil
	}
	was := map[string]bool{}
	if b := p.before.all; b != nil && p.were == nil {
		for i, key := range b.keys {
			if p.before.at[i] == out {
				was[key] = true
			}
		}
	}
	for _, key := range p.before.outKeys {
		was[key] = true
	}
	var list []*cupel.ContextItem
	for i, n := range p.at {
		if n != out || was[p.keys[i]] || p.was(i) >= 0 && p.before.at[p.was(i)] == out {
			continue
		}
		list = append(list, p.items[i])
	}
	return list
}

// firstDropped returns those of the items that leave for which no summary stood:
// the others have left before.
func (p *proposal) firstDropped(leaving []*cupel.ContextItem) []*cupel.ContextItem {
	before := map[string]bool{}
	for i := range p.before.window {
		if e := &p.before.window[i]; e.Summary {
			for _, key := range e.Keys {
				before[key] = true
			}
		}
	}
	if len(before) == 0 || len(leaving) == 0 {
		return leaving
	}
	left := make(map[*cupel.ContextItem]bool, len(leaving))
	for _, item := range leaving {
		left[item] = true
	}
	var first []*cupel.ContextItem
	for i, item := range p.items {
		if left[item] && !before[p.keys[i]] {
			first = append(first, item)
		}
	}
	return first
}

// chooseTail appends the tail to the window, and returns its tokens. The chooser
// is given what was left out as it is, so that a scorer which keeps what it knows
// of items knows it, among what the stable part has; what it chooses of that
// becomes a quotation.
func (p *proposal) chooseTail(ctx context.Context) (int, error) {
	own, quotes := false, false
	for i, n := range p.at {
		own = own || n == inTail
		quotes = quotes || p.quotable(i)
	}
	if !own {
		p.s.bare = nil
		return 0, nil
	}
	pinned := p.sum.tailPinned
	target := max(pinned, min(p.budget.TargetTokens(), p.limits().most+pinned)-p.tokens)
	report, from, err := p.runTail(ctx, target, quotes)
	if err != nil {
		return 0, err
	}
	chosen := make([]cupel.IncludedItem, 0, len(report.Included))
	tokens := 0
	for _, e := range report.Included {
		if e.Candidate < 0 || e.Candidate >= len(from) {
			return 0, errNoPositions
		}
		if from[e.Candidate] >= 0 {
			chosen = append(chosen, e)
			tokens += e.Item.Tokens()
		}
	}
	chosen = p.fitLabels(chosen, from, target-tokens)
	p.turn.tail = choice{chosen, report.Excluded, from}
	tokens = 0
	for n, e := range chosen {
		i, item := from[e.Candidate], e.Item
		if p.at[i] == out {
			if item, err = quoted(item, p.labelled(chosen, from, n)); err != nil {
				return 0, err
			}
		}
		tokens += item.Tokens()
		p.turn.Window = append(p.turn.Window, item)
		p.turn.Entries = append(p.turn.Entries, Entry{[]int{i}, item == p.items[i]})
	}
	return tokens, nil
}

// quotable reports whether candidate i may become a quotation.
func (p *proposal) quotable(i int) bool {
	return p.at[i] == out && p.s.config.Tail != nil && p.items[i].Group() == ""
}

// runTail runs the chooser for a number of tokens of the tail. What the stable part
// has takes part with 0 tokens, so that scores which depend on other items are those
// of all. from are the candidates that it was given, or -1 for the stable part.
func (p *proposal) runTail(ctx context.Context, target int, stable bool) (report *cupel.SelectionReport, from []int, err error) {
	var items []*cupel.ContextItem
	made := map[*cupel.ContextItem]*cupel.ContextItem{}
	// bare is an item without its smaller forms. It is the same from turn to turn.
	bare := func(item *cupel.ContextItem, tokens int) (*cupel.ContextItem, error) {
		to, ok := p.s.bare[item]
		if !ok || to.Tokens() != tokens {
			var err error
			if to, err = item.With(cupel.WithVariants(), cupel.WithGroupVariants(), cupel.WithContent(item.Content(), tokens)); err != nil {
				return nil, err
			}
		}
		made[item] = to
		return to, nil
	}
	next := 0
	for i, n := range p.at {
		item, candidate := p.items[i], i
		switch {
		case n == inTail:
		case stable && n >= 0 && int(n) >= next:
			next = int(n) + 1
			candidate = -1
			if item, err = bare(p.given(&p.window[n]), 0); err != nil {
				return nil, nil, err
			}
		case p.quotable(i):
			if len(item.Variants()) > 0 {
				if item, err = bare(item, item.Tokens()); err != nil {
					return nil, nil, err
				}
			}
		default:
			continue
		}
		items, from = append(items, item), append(from, candidate)
	}
	p.s.bare = made
	budget, err := p.budget.Resize(p.budget.MaxTokens(), min(target, p.budget.MaxTokens())) // the chooser says what does not fit
	if err != nil {
		return nil, nil, err
	}
	_, report, err = p.turn.options.chooser.RunReport(ctx, items, budget, pipeline.WithTrace(p.s.config.Trace))
	return report, from, err
}

// labelled reports whether entry n of the tail is the first one of a run of
// quotations, which have one label.
func (p *proposal) labelled(chosen []cupel.IncludedItem, from []int, n int) bool {
	return p.at[from[chosen[n].Candidate]] == out && (n == 0 || p.at[from[chosen[n-1].Candidate]] != out)
}

// fitLabels leaves out the quotations with the lowest scores until the labels have
// room.
func (p *proposal) fitLabels(chosen []cupel.IncludedItem, from []int, room int) []cupel.IncludedItem {
	for {
		worst, labels := -1, 0
		for n, e := range chosen {
			if p.at[from[e.Candidate]] != out {
				continue
			}
			// Scores may be NaN, which counts as the lowest.
			if worst < 0 || cmp.Compare(e.Score, chosen[worst].Score) <= 0 {
				worst = n
			}
			if p.labelled(chosen, from, n) {
				labels += quoteTokens
			}
		}
		if worst < 0 || labels <= room {
			return chosen
		}
		room += chosen[worst].Item.Tokens()
		chosen = slices.Delete(chosen, worst, worst+1)
	}
}

const (
	quoteLabel  = "[quoted from earlier] "
	quoteTokens = 6
)

// quoted returns an item that was left out as a quotation for the tail.
func quoted(item *cupel.ContextItem, labelled bool) (*cupel.ContextItem, error) {
	if !labelled {
		return item.With(cupel.WithVariants())
	}
	return item.With(cupel.WithContent(quoteLabel+item.Content(), item.Tokens()+quoteTokens))
}

// next is the state after the turn, with what the cache has then.
func (p *proposal) next(held []Prefix) *state {
	b := p.before
	to := &state{
		turns: b.turns + 1, all: p.candidates, at: p.at, window: p.window, tokens: p.tokens, last: b.last, fit: b.fit, growth: p.growth(),
		sent: sent{At: p.now, Model: p.turn.options.model, Held: held, Everything: p.sum.all},
	}
	if !p.turn.options.named {
		to.sent.Model = b.sent.Model
	}
	if p.chose != nil {
		to.last = &outcomes{keys: p.keys, list: make([]outcome, len(p.keys))}
		for n := range p.chose.Excluded {
			e := &p.chose.Excluded[n]
			if i := p.chosenFrom(e.Candidate); i >= 0 {
				to.last.list[i] = outcome{e.Score, e.Reason, e.Stale}
			}
		}
		for n := range p.chose.Included {
			e := &p.chose.Included[n]
			if i := p.chosenFrom(e.Candidate); i >= 0 {
				to.last.list[i] = outcome{score: e.Score, stale: e.Stale}
			}
		}
	}
	return to
}

// growth is how many tokens a turn appends on average, with this one.
func (p *proposal) growth() float64 {
	const newest = 0.2 // weight of this turn
	switch b := p.before; b.turns {
	case 0:
		return 0
	case 1:
		return float64(p.fresh)
	default:
		return float64((1-newest)*b.growth) + float64(newest*float64(p.fresh))
	}
}

// worth reports whether choosing again saves more than it costs over the horizon.
func (p *proposal) worth(l limits) bool {
	m, horizon := p.model(), float64(p.s.config.Horizon)
	if horizon < 0 || !m.caches() {
		return false
	}
	if horizon == 0 {
		// A window that fills up breaks anyway; then is the end of the horizon.
		if p.before.growth < 1 || p.before.turns < 2 {
			return false
		}
		horizon = float64(l.most-p.tokens) / p.before.growth
	}
	// If the prefix is gone, all of the window is written anyway.
	there := m.there(p.now.Sub(p.before.sent.At))
	rest := float64(p.tokens - l.low)
	saved := float64(rest*m.Read*horizon) + float64((1-there)*rest*(m.Write-m.Read))
	rewrite := float64(there * float64(l.low) * (m.Write - m.Read))
	return saved > rewrite+float64(rest*p.s.config.ValuePerToken)
}

var errNoTurn = errors.New("cupelsession: the turn was not proposed by a session; commit what Next, Body or Fit returned")

// Commit makes the turn the state from which the next one starts, after it was
// sent. usage is what the provider reported, or zero; of impossible numbers, such as
// more tokens read than there are, the parts that say so are left out. It calls
// [Config.Dropped]. It fails with [ErrStale] or [ErrBusy].
func (t *Turn) Commit(usage Usage) error {
	s := t.session
	if s == nil {
		return errNoTurn
	}
	if err := s.enter(); err != nil {
		return err
	}
	defer s.leave()
	if s.state.Load() != t.before {
		return ErrStale
	}
	after := *t.after
	usage = usage.possible()
	if usage.Input > 0 {
		estimated := t.Cache.Read + t.Cache.Written + t.Cache.Plain
		_, slope := after.fit.line()
		expected := slope * float64(t.Cache.Read)
		after.fit = after.fit.with(report{estimated, usage.Input})
		if usage.Input > t.limit {
			t.Notes = append(t.Notes, fmt.Sprintf("the provider counted %d tokens, %d more than the budget has; %d were estimated", usage.Input, usage.Input-t.limit, t.Estimate))
		}
		if usage.Cached && float64(usage.Read) < float64(0.9*expected)-float64(s.config.Cache.Step) {
			t.Notes = append(t.Notes, fmt.Sprintf("the provider read %d tokens from its cache, %.0f were expected", usage.Read, expected))
			if usage.Written == 0 {
				after.sent.Held = nil
			}
		}
	}
	s.state.Store(&after)
	if t.committed != nil {
		t.committed(turn.Commit{Input: usage.Input, Output: usage.Output, CacheRead: usage.Read, CacheWritten: usage.Written, Cached: usage.Cached})
	}
	if s.config.Dropped != nil && len(t.dropped) > 0 {
		s.config.Dropped(t.dropped)
	}
	return nil
}
