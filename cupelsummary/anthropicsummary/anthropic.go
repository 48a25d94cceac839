// Package anthropicsummary summarizes the items that leave a session with
// the Messages API of anthropic-sdk-go.
//
//	config := cupelsession.Config{Summarize: anthropicsummary.New(anthropic.NewClient(), "claude-haiku-4-5", counter)}
//
// Package cupelsummary has the instructions and the limits.
package anthropicsummary

import (
	"context"

	"github.com/anthropics/anthropic-sdk-go"
	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupelchat"
	"github.com/wollax/cupel-go/cupelsummary"
)

// New returns a [cupelsummary.Summarize] that asks a model.
func New(client anthropic.Client, model anthropic.Model, counter cupel.TokenCounter) cupelsummary.Summarize {
	return cupelsummary.New(func(ctx context.Context, instructions, conversation string) (answer string, response any, err error) {
		r, err := client.Messages.New(ctx, anthropic.MessageNewParams{
			Model:     model,
			MaxTokens: cupelsummary.MaxTokens,
			System:    []anthropic.TextBlockParam{{Text: instructions}},
			Messages:  []anthropic.MessageParam{anthropic.NewUserMessage(anthropic.NewTextBlock(conversation))},
		})
		if err != nil {
			return "", r, err
		}
		if r.StopReason == anthropic.StopReasonMaxTokens {
			err = cupelsummary.ErrTooLong
		}
		for _, block := range r.Content {
			answer += block.Text
		}
		return answer, r, err
	}, cupelchat.Anthropic, counter)
}
