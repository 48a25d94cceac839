// Package openaisummary summarizes the items that leave a session with
// the Chat Completions API of openai-go.
//
//	config := cupelsession.Config{Summarize: openaisummary.New(openai.NewClient(), "gpt-5-mini", counter)}
//
// Package cupelsummary has the instructions and the limits.
package openaisummary

import (
	"context"

	"github.com/openai/openai-go/v3"
	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupelchat"
	"github.com/wollax/cupel-go/cupelsummary"
)

// New returns a [cupelsummary.Summarize] that asks a model.
func New(client openai.Client, model string, counter cupel.TokenCounter) cupelsummary.Summarize {
	return cupelsummary.New(func(ctx context.Context, instructions, conversation string) (string, any, error) {
		r, err := client.Chat.Completions.New(ctx, openai.ChatCompletionNewParams{
			Model:               model,
			MaxCompletionTokens: openai.Int(cupelsummary.MaxTokens),
			Messages:            []openai.ChatCompletionMessageParamUnion{openai.SystemMessage(instructions), openai.UserMessage(conversation)},
		})
		if err != nil || len(r.Choices) == 0 {
			return "", r, err
		}
		if r.Choices[0].FinishReason == "length" {
			err = cupelsummary.ErrTooLong
		}
		return r.Choices[0].Message.Content, r, err
	}, cupelchat.OpenAI, counter)
}
