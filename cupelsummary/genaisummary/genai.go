// Package genaisummary summarizes the items that leave a session with
// the Gemini models of genai.
//
//	config := cupelsession.Config{Summarize: genaisummary.New(client, "gemini-2.5-flash", counter)}
//
// Package cupelsummary has the instructions and the limits.
package genaisummary

import (
	"context"

	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupelchat"
	"github.com/wollax/cupel-go/cupelsummary"
	"google.golang.org/genai"
)

// New returns a [cupelsummary.Summarize] that asks a model.
func New(client *genai.Client, model string, counter cupel.TokenCounter) cupelsummary.Summarize {
	return cupelsummary.New(func(ctx context.Context, instructions, conversation string) (string, any, error) {
		r, err := client.Models.GenerateContent(ctx, model, genai.Text(conversation), &genai.GenerateContentConfig{
			MaxOutputTokens:   cupelsummary.MaxTokens,
			SystemInstruction: genai.NewContentFromText(instructions, genai.RoleUser),
		})
		if err != nil || len(r.Candidates) == 0 {
			return "", r, err
		}
		if r.Candidates[0].FinishReason == genai.FinishReasonMaxTokens {
			err = cupelsummary.ErrTooLong
		}
		text := r.Text()
		return text, r, err
	}, cupelchat.Gemini, counter)
}
