package cupelchat

import (
	"context"
	"encoding/json"

	"github.com/wollax/cupel-go/cupel"
)

// Fit returns the parameters of a request with its messages fitted into a budget.
// They are a value that marshals to the format's JSON and back: a request or a
// list of messages of an SDK, a map, or [json.RawMessage]. If everything fits Fit
// returns params itself. Otherwise it returns a copy that shares what did not
// change, such as messages that stay as they are and fields outside of JSON. Only
// messages that change are made from JSON. Fit fails with an [Error] if their type
// does not keep what they say.
func Fit[T any](ctx context.Context, params T, f Format, chooser Chooser, budget cupel.ContextBudget, counter cupel.TokenCounter, opts ...Option) (T, error) {
	body, err := json.Marshal(params)
	if err != nil {
		return params, err
	}
	c, err := Read(body, f, counter, opts...)
	if err != nil {
		return params, err
	}
	w, err := c.Select(ctx, chooser, budget)
	if err != nil {
		return params, err
	}
	smaller, err := w.Body()
	if err != nil {
		return params, err
	}
	return Refit(params, body, smaller)
}
