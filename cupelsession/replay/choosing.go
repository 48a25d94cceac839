package replay

import (
	"context"
	"slices"
	"time"

	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupel/pipeline"
	"github.com/wollax/cupel-go/cupelchat"
	"github.com/wollax/cupel-go/cupelsession"
)

// Choosing returns a policy that chooses windows with a chooser, such as a
// pipeline or a preset of package cupelchat: each request is read, selected from
// and written. Messages and their smaller forms count what [Run] counts. A
// window that turns out larger than the budget, because something was restored
// or joined, is chosen again for less.
//
// A pipeline does not leave out equal messages. The chooser is used from several
// goroutines; nil is an error of [Run].
func Choosing(name string, chooser cupelchat.Chooser) Policy {
	if chooser == nil {
		return Policy{Name: name, Mode: Stateless}
	}
	return Policy{Name: name, Mode: Stateless, chooses: chooser, New: func() func(context.Context, Turn) ([]byte, error) {
		chooser, err := keepingDuplicates(chooser)
		return func(ctx context.Context, t Turn) ([]byte, error) {
			if err != nil {
				return nil, err
			}
			return t.fit(func(c *cupelchat.Conversation, r recounted) ([]byte, error) {
				r.Chooser = chooser
				w, err := c.Select(ctx, r, r.own)
				if err != nil {
					return nil, err
				}
				return w.Body()
			})
		}
	}}
}

// inSession returns what chooses windows in a session of package cupelsession, at
// the prices of the measure and without time that passes.
func inSession(chooser cupelchat.Chooser, low float64) func() func(context.Context, Turn) ([]byte, error) {
	return func() func(context.Context, Turn) ([]byte, error) {
		chooser, err := keepingDuplicates(chooser)
		sessions := make(map[placement]*cupelsession.Session)
		return func(ctx context.Context, t Turn) (window []byte, _ error) {
			if err != nil {
				return nil, err
			}
			var places []placement
			for i := range t.caches {
				if p := placementOf(&t.caches[i]); !slices.Contains(places, p) {
					places = append(places, p)
				}
			}
			if len(places) == 0 {
				places = []placement{{}}
			}
			// The windows are equal, and only what sessions mark in them differs.
			for _, p := range places {
				session := sessions[p]
				if session == nil {
					cache := cupelsession.CacheModel{Read: priceRead, Write: priceWrite, Sure: time.Minute, Likely: time.Minute, Breakpoints: p.breakpoints, LookBack: p.lookBack, Latest: p.latest}
					var err error
					if session, err = cupelsession.New(chooser, cupelsession.Config{LowWater: low, Cache: cache, Clock: func() time.Time { return time.Unix(0, 0) }}); err != nil {
						return nil, err
					}
					sessions[p] = session
				}
				var turn *cupelsession.Turn
				body, err := t.fit(func(c *cupelchat.Conversation, r recounted) (body []byte, err error) {
					turn, body, err = r.next(ctx, session, c)
					return body, err
				})
				if err != nil {
					return nil, err
				}
				t.marks[p] = turn.Cache.Breakpoints // an entry is a message
				if err := turn.Commit(cupelsession.Usage{}); err != nil {
					return nil, err
				}
				window = body
			}
			return window, nil
		}
	}
}

// placement is how a cache wants its breakpoints placed.
type placement struct{ breakpoints, lookBack, latest int }

func placementOf(m *cupelsession.CacheModel) placement {
	return placement{m.Breakpoints, m.LookBack, m.Latest}
}

// marks are the ends of the prefixes that a session marks, in messages.
type marks map[placement][]int

// next proposes the next turn of a session, for items of other sizes.
func (r recounted) next(ctx context.Context, session *cupelsession.Session, c *cupelchat.Conversation) (*cupelsession.Turn, []byte, error) {
	items, _, err := c.ItemsFor(r.own)
	if err != nil {
		return nil, nil, err
	}
	if items, err = r.recount(items); err != nil {
		return nil, nil, err
	}
	budget, err := r.forPinned(items)
	if err != nil {
		return nil, nil, err
	}
	turn, err := session.Next(ctx, items, budget)
	if err != nil {
		return nil, nil, err
	}
	whole := c.Items()
	pieces := make([]cupelchat.Piece, len(turn.Window))
	for n, e := range turn.Entries {
		pieces[n].Candidates = e.Candidates
		if text := turn.Window[n].Content(); !e.Whole || text != whole[e.Candidates[0]].Content() {
			pieces[n].Content = text
		}
	}
	body, _, err := c.Compose(pieces)
	return turn, body, err
}

// keepingDuplicates does for a pipeline what package cupelchat does, which does
// not see the pipeline here.
func keepingDuplicates(chooser cupelchat.Chooser) (cupelchat.Chooser, error) {
	p, ok := chooser.(*pipeline.Pipeline)
	if !ok || p.Config().KeepDuplicates {
		return chooser, nil
	}
	config := p.Config()
	config.KeepDuplicates = true
	return pipeline.New(config)
}

// mostTries is how often a window is chosen for one step at most.
const mostTries = 6

// fit makes bodies until one holds the budget.
func (t *Turn) fit(write func(*cupelchat.Conversation, recounted) ([]byte, error)) ([]byte, error) {
	c, r, err := t.read()
	if err != nil {
		return nil, err
	}
	var body []byte
	target := t.Budget
	for range mostTries {
		if r.budget, err = cupel.NewContextBudget(target, target); err != nil {
			return nil, err
		}
		// What is pinned has the whole budget: less is for what else is chosen.
		own := max(t.Budget-r.pinned, 0)
		if r.own, err = cupel.NewContextBudget(own, own); err != nil {
			return nil, err
		}
		next, err := write(c, r)
		switch {
		case err != nil && body == nil:
			return nil, err
		case err != nil:
			return body, nil //nolint:nilerr // less cannot be chosen, and Run says by how much this is too large
		}
		body = next
		n, err := t.Tokens(body)
		if err != nil {
			return nil, err
		}
		if n <= t.Budget || n-t.Budget >= target {
			break
		}
		target -= n - t.Budget
	}
	return body, nil
}

// read reads the request, and finds what its messages count by the measure.
func (t *Turn) read() (*cupelchat.Conversation, recounted, error) {
	said, err := t.window(t.Request)
	if err != nil {
		return nil, recounted{}, err
	}
	c := t.shared.conversation
	if c == nil {
		if c, err = cupelchat.Read(t.Request, cupelchat.OpenAI, t.meter.counter); err != nil {
			return nil, recounted{}, err
		}
		t.shared.conversation = c
	}
	r := recounted{more: make([]int, len(said)), most: t.Budget}
	held := make(map[string]bool) // groups of pinned items
	for _, item := range c.Items() {
		held[item.Group()] = held[item.Group()] || item.Pinned()
	}
	held[""] = false
	for _, item := range c.Items() {
		if at, ok := item.MetadataInt(indexKey); ok && at < len(said) {
			r.more[at] = said[at].tokens - item.Tokens()
			if item.Pinned() || held[item.Group()] {
				r.pinned += r.more[at]
			}
		}
	}
	return c, r, nil
}

// recounted gives a chooser items with the tokens of the measure. Package
// cupelchat counts what an API adds around calls and results, where the measure
// counts the JSON of the calls.
type recounted struct {
	cupelchat.Chooser
	most   int                 // tokens of the budget
	more   []int               // tokens of each message
	pinned int                 // of them for pinned items and their groups
	budget cupel.ContextBudget // in tokens of the measure
	own    cupel.ContextBudget // in tokens of package cupelchat, for what is pinned
}

// RunReport chooses from items of other sizes, for a budget of the measure.
func (r recounted) RunReport(ctx context.Context, items []*cupel.ContextItem, _ cupel.ContextBudget, opts ...pipeline.RunOption) ([]*cupel.ContextItem, *cupel.SelectionReport, error) {
	counted, err := r.recount(items)
	if err != nil {
		return nil, nil, err
	}
	budget, err := r.forPinned(counted)
	if err != nil {
		return nil, nil, err
	}
	return r.Chooser.RunReport(ctx, counted, budget, opts...)
}

// forPinned returns the budget, and no less than what is pinned if that fits.
func (r recounted) forPinned(items []*cupel.ContextItem) (cupel.ContextBudget, error) {
	groups := map[string]bool{}
	for _, item := range items {
		if item.Pinned() && item.Group() != "" {
			groups[item.Group()] = true
		}
	}
	pinned := 0
	for _, item := range items {
		if item.Pinned() || groups[item.Group()] {
			pinned += item.Tokens()
		}
	}
	if target := r.budget.TargetTokens(); pinned > target && pinned <= r.most {
		return cupel.NewContextBudget(pinned, pinned)
	}
	return r.budget, nil
}

// recount returns the items with the tokens of the measure.
func (r recounted) recount(items []*cupel.ContextItem) ([]*cupel.ContextItem, error) {
	counted := make([]*cupel.ContextItem, len(items))
	for i, item := range items {
		counted[i] = item
		at, ok := item.MetadataInt(indexKey)
		if !ok || at >= len(r.more) || r.more[at] == 0 {
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

// indexKey is the metadata key of package cupelchat for the place of a message.
const indexKey = "index"
