package replay

import (
	"context"

	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupelchat"
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
	return Policy{Name: name, Mode: Stateless, New: func() func(context.Context, Turn) ([]byte, error) {
		chooser, err := keepingDuplicates(chooser)
		return func(ctx context.Context, t Turn) ([]byte, error) {
			if err != nil {
				return nil, err
			}
			return choose(ctx, chooser, t)
		}
	}}
}

// keepingDuplicates does for a pipeline what package cupelchat does, which does
// not see the pipeline here.
func keepingDuplicates(chooser cupelchat.Chooser) (cupelchat.Chooser, error) {
	p, ok := chooser.(*cupel.Pipeline)
	if !ok || p.Config().KeepDuplicates {
		return chooser, nil
	}
	config := p.Config()
	config.KeepDuplicates = true
	return cupel.New(config)
}

// mostTries is how often a window is chosen for one step at most.
const mostTries = 6

func choose(ctx context.Context, chooser cupelchat.Chooser, t Turn) ([]byte, error) {
	said, err := t.window(t.Request)
	if err != nil {
		return nil, err
	}
	c := t.shared.conversation
	if c == nil {
		if c, err = cupelchat.Read(t.Request, cupelchat.OpenAI, t.meter.counter); err != nil {
			return nil, err
		}
		t.shared.conversation = c
	}
	r := recounted{Chooser: chooser, more: make([]int, len(said))}
	pinned := 0
	for _, item := range c.Items() {
		if at, ok := item.MetadataInt("index"); ok && at < len(said) {
			r.more[at] = said[at].tokens - item.Tokens()
			if item.Pinned() {
				pinned += r.more[at]
			}
		}
	}
	var body []byte
	target := t.Budget
	for range mostTries {
		if r.budget, err = cupel.NewContextBudget(target, target); err != nil {
			return nil, err
		}
		// Select looks whether what is pinned fits, by its own count.
		budget, err := r.budget.Resize(max(target-pinned, 0), max(target-pinned, 0))
		if err != nil {
			return nil, err
		}
		w, err := c.Select(ctx, r, budget)
		if err != nil {
			if body != nil {
				return body, nil // the last window that could be chosen
			}
			return nil, err
		}
		if body, err = w.Body(); err != nil {
			return nil, err
		}
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

// recounted gives a chooser items with the tokens of the measure. Package
// cupelchat counts what an API adds around calls and results, where the measure
// counts the JSON of the calls.
type recounted struct {
	cupelchat.Chooser
	more   []int               // tokens of each message
	budget cupel.ContextBudget // in tokens of the measure
}

// RunReport chooses from items of other sizes, for a budget of the measure.
func (r recounted) RunReport(ctx context.Context, items []*cupel.ContextItem, _ cupel.ContextBudget, opts ...cupel.RunOption) ([]*cupel.ContextItem, *cupel.SelectionReport, error) {
	counted := make([]*cupel.ContextItem, len(items))
	for i, item := range items {
		counted[i] = item
		at, ok := item.MetadataInt("index")
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
			return nil, nil, err
		}
	}
	return r.Chooser.RunReport(ctx, counted, r.budget, opts...)
}
