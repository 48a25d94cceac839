package cupelsession

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/wollax/cupel-go/cupel"
)

// dropping is what leaves the window at a break.
type dropping struct {
	*layout // after the break
	before  *layout
	items   []*cupel.ContextItem // that are out, and were not before
	left    map[*cupel.ContextItem]bool
}

func newDropping(before, now *layout) *dropping {
	d := &dropping{layout: now, before: before, left: map[*cupel.ContextItem]bool{}}
	for i, n := range now.at {
		if k := now.were[i]; n == out && (k < 0 || before.at[k] != out) {
			d.items = append(d.items, now.items[i])
			d.left[now.items[i]] = true
		}
	}
	return d
}

// first returns those of the items for which no summary stood: the others have left
// before.
func (d *dropping) first() []*cupel.ContextItem {
	summarized := map[string]bool{}
	for _, e := range d.before.window {
		if e.Summary {
			for _, key := range e.Keys {
				summarized[key] = true
			}
		}
	}
	if len(summarized) == 0 {
		return d.items
	}
	var first []*cupel.ContextItem
	for i, item := range d.layout.items {
		if d.left[item] && !summarized[d.keys[i]] {
			first = append(first, item)
		}
	}
	return first
}

// entry returns an entry for a summary of the items, which has none yet, and the
// name of what it stands for. Keys of [Config.Key] may be anything, and stay when
// the content changes.
func (d *dropping) entry() (e entry, name string) {
	var says strings.Builder
	e.Summary, e.first = true, -1
	for i, n := range d.at {
		if n != out || !d.left[d.layout.items[i]] {
			continue
		}
		if e.first < 0 {
			e.first = i
		}
		e.Keys = append(e.Keys, d.keys[i])
		fmt.Fprintf(&says, "%q %s\n", d.keys[i], baseKey(d.layout.items[i]))
	}
	return e, says.String()
}

// mostSummaries is how many summaries a session remembers, so that proposing a turn
// again neither asks again nor differs.
const mostSummaries = 4

// summarize returns the layout with a summary in the place of what left it, or as it
// is with a note that says why there is none.
func (s *Session) summarize(ctx context.Context, d *dropping, most int) (to *layout, note string, err error) {
	if s.config.Summarize == nil || len(d.items) == 0 {
		return d.layout, "", nil
	}
	e, name := d.entry()
	summary, ok := s.summaries[name]
	if !ok {
		if summary, err = s.ask(ctx, slices.Clone(d.items)); err != nil {
			return d.layout, fmt.Sprintf("no summary of %d items: %v", len(d.items), err), ctx.Err()
		}
		if s.summaries == nil || len(s.summaries) == mostSummaries {
			s.summaries = map[string]*cupel.ContextItem{}
		}
		s.summaries[name] = summary
	}
	if summary == nil {
		return d.layout, "", nil
	}
	tokens := 0
	for _, item := range d.items {
		tokens += item.Tokens()
	}
	switch {
	case summary.Tokens() < 0 || summary.Tokens() >= tokens:
		return d.layout, fmt.Sprintf("the summary of %d tokens is not smaller than the %d tokens that it stands for; it was left out", summary.Tokens(), tokens), nil
	case d.tokens+summary.Tokens() > most:
		return d.layout, fmt.Sprintf("the summary of %d tokens does not fit", summary.Tokens()), nil
	}
	e.Form, e.Tokens, e.Held = summary.Content(), summary.Tokens(), summary
	at, _ := slices.BinarySearchFunc(d.window, e, byFirst)
	return d.with(slices.Insert(slices.Clone(d.window), at, e)), "", nil
}

// ask calls the summariser with a deadline, and turns its panic into an error. What
// dropped holds is the summariser's own, which it may change even after its deadline.
func (s *Session) ask(ctx context.Context, dropped []*cupel.ContextItem) (summary *cupel.ContextItem, err error) {
	ctx, cancel := context.WithTimeout(ctx, s.config.SummarizeTimeout)
	defer cancel()
	type answer struct {
		item *cupel.ContextItem
		err  error
	}
	done := make(chan answer, 1)
	go func() {
		a := answer{err: errors.New("the summariser ended its goroutine")}
		defer func() {
			if r := recover(); r != nil {
				a = answer{nil, fmt.Errorf("the summariser panicked: %v", r)}
			}
			done <- a
		}()
		a.item, a.err = s.config.Summarize(ctx, dropped)
	}()
	select {
	case a := <-done:
		return a.item, a.err
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}
