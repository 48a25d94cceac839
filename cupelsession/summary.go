package cupelsession

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/wollax/cupel-go/cupel"
)

// summaries keeps the last summaries by what they stand for, so that proposing a
// turn again neither asks again nor differs.
type summaries struct {
	keys  [4]string
	items [4]*cupel.ContextItem
	next  int
}

func (s *summaries) get(key string) (*cupel.ContextItem, bool) {
	for i, k := range s.keys {
		if k == key && k != "" {
			return s.items[i], true
		}
	}
	return nil, false
}

func (s *summaries) put(key string, item *cupel.ContextItem) {
	s.keys[s.next], s.items[s.next] = key, item
	s.next = (s.next + 1) % len(s.keys)
}

// summarize puts a summary in the place of what is out.
func (p *proposal) summarize(ctx context.Context, dropped []*cupel.ContextItem) error {
	c := &p.s.config
	if c.Summarize == nil || len(dropped) == 0 {
		return nil
	}
	leaving := make(map[*cupel.ContextItem]bool, len(dropped))
	tokens := 0
	for _, item := range dropped {
		leaving[item] = true
		tokens += item.Tokens()
	}
	var keys []string
	var name strings.Builder
	first := -1
	for i, n := range p.at {
		if n == out && leaving[p.items[i]] {
			if first < 0 {
				first = i
			}
			keys = append(keys, p.keys[i])
			// Keys of Config.Key may be anything, and stay when the content changes.
			fmt.Fprintf(&name, "%q %s\n", p.keys[i], baseKey(p.items[i]))
		}
	}
	key := name.String()
	summary, ok := p.s.summaries.get(key)
	if !ok {
		var err error
		if summary, err = p.ask(ctx, dropped); err != nil {
			if ctx.Err() != nil {
				return ctx.Err()
			}
			p.turn.Notes = append(p.turn.Notes, fmt.Sprintf("no summary of %d items: %v", len(dropped), err))
			return nil
		}
		p.s.summaries.put(key, summary)
	}
	switch {
	case summary == nil:
		return nil
	case summary.Tokens() < 0 || summary.Tokens() >= tokens:
		p.turn.Notes = append(p.turn.Notes, fmt.Sprintf("the summary of %d tokens is not smaller than the %d tokens that it stands for; it was left out", summary.Tokens(), tokens))
		return nil
	case p.tokens+summary.Tokens() > p.limits().most:
		p.turn.Notes = append(p.turn.Notes, fmt.Sprintf("the summary of %d tokens does not fit", summary.Tokens()))
		return nil
	}
	e := entry{Keys: keys, Summary: true, Form: summary.Content(), Tokens: summary.Tokens(), Held: summary, first: first}
	at := 0
	for at < len(p.window) && p.window[at].first < first {
		at++
	}
	p.window = append(p.window[:at:at], append([]entry{e}, p.window[at:]...)...)
	p.tokens += e.Tokens
	p.number()
	return nil
}

// ask calls the summariser with a deadline, and turns its panic into an error.
func (p *proposal) ask(ctx context.Context, dropped []*cupel.ContextItem) (summary *cupel.ContextItem, err error) {
	ctx, cancel := context.WithTimeout(ctx, p.s.config.SummarizeTimeout)
	defer cancel()
	type answer struct {
		item *cupel.ContextItem
		err  error
	}
	done := make(chan answer, 1)
	dropped = slices.Clone(dropped) // the summariser's own, which it may change even after its deadline
	go func() {
		a := answer{err: errors.New("the summariser ended its goroutine")}
		defer func() {
			if r := recover(); r != nil {
				a = answer{nil, fmt.Errorf("the summariser panicked: %v", r)}
			}
			done <- a
		}()
		a.item, a.err = p.s.config.Summarize(ctx, dropped)
	}()
	select {
	case a := <-done:
		return a.item, a.err
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}
