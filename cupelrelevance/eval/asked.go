package eval

import (
	"context"

	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupel/pipeline"
)

// Prices of a token with a prompt cache, in units of a token without one.
const (
	PriceRead  = 0.1  // of a token in the prefix that the last question sent too
	PriceWrite = 1.25 // of any other token
)

// Asker selects items for questions that are asked one after the other. pipeline is
// the question's pipeline. It returns the positions of the selected items, and the
// window to send.
type Asker func(ctx context.Context, pipeline *pipeline.Pipeline, items []*cupel.ContextItem, budget cupel.ContextBudget) (selected []int, window []*cupel.ContextItem, err error)

// asked follows a policy at a budget on one conversation, from question to
// question.
type asked struct {
	ask    Asker
	before []*cupel.ContextItem // the window of the question before
}

// pay returns the cost of a window, and keeps the window for the next call.
func (a *asked) pay(window []*cupel.ContextItem) float64 {
	cost, same := 0.0, true
	for i, item := range window {
		same = same && i < len(a.before) && a.before[i].Content() == item.Content()
		price := PriceWrite
		if same {
			price = PriceRead
		}
		cost += float64(price * float64(item.Tokens()))
	}
	a.before = window
	return cost
}
