package sdks_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/anthropics/anthropic-sdk-go"
	"github.com/cloudwego/eino/schema"
	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/responses"
	goopenai "github.com/sashabaranov/go-openai"
	"github.com/sashabaranov/go-openai/jsonschema"
	"github.com/stretchr/testify/require"
	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupelchat"
)

// long is more than the budget.
var long = strings.Repeat("func example() error { return nil }\n", 120)

// shortened fits messages whose second is too long.
func shortened[T any](t *testing.T, params T, f cupelchat.Format) T {
	t.Helper()
	fitted, _ := fit(&caller{Context: t.Context(), format: f, budget: new(must(cupel.NewContextBudget(400, 400)))}, params)
	return fitted
}

// What the types of SDKs have outside of JSON, or not as it is in JSON, is there
// after Fit.
func TestNothingIsLost(t *testing.T) {
	t.Run("the betas of anthropic-sdk-go are headers", func(t *testing.T) {
		got := shortened(t, anthropic.BetaMessageNewParams{
			Model: "claude-sonnet-5", MaxTokens: 1000, Betas: []anthropic.AnthropicBeta{"context-1m-2025-08-07"},
			Messages: []anthropic.BetaMessageParam{
				anthropic.NewBetaUserMessage(anthropic.NewBetaTextBlock("task")),
				{Role: "assistant", Content: []anthropic.BetaContentBlockParamUnion{anthropic.NewBetaTextBlock(long)}},
				anthropic.NewBetaUserMessage(anthropic.NewBetaTextBlock("last")),
			},
		}, cupelchat.Anthropic)
		require.Len(t, got.Betas, 1, "the betas are lost")
	})

	t.Run("anthropic-sdk-go writes every content as a list, and so are notes of exchanges", func(t *testing.T) {
		got := shortened(t, anthropic.MessageNewParams{Model: "claude-sonnet-5", MaxTokens: 1000, Messages: []anthropic.MessageParam{
			anthropic.NewUserMessage(anthropic.NewTextBlock("task")),
			anthropic.NewAssistantMessage(anthropic.NewToolUseBlock("a", map[string]any{"path": "all"}, "read_file")),
			anthropic.NewUserMessage(anthropic.NewToolResultBlock("a", long, false), anthropic.NewTextBlock("And now?")),
			anthropic.NewAssistantMessage(anthropic.NewTextBlock("Done.")),
			anthropic.NewUserMessage(anthropic.NewTextBlock("last")),
		}}, cupelchat.Anthropic)
		require.Contains(t, string(must(json.Marshal(got))), "[earlier")
	})

	t.Run("openai-go has fields that it does not know", func(t *testing.T) {
		params := openai.ChatCompletionNewParams{Model: "gpt-5", Messages: []openai.ChatCompletionMessageParamUnion{
			openai.UserMessage("task"), openai.AssistantMessage(long), openai.UserMessage("last"),
		}}
		params.SetExtraFields(map[string]any{"reasoning": map[string]any{"max_tokens": 2000}})
		require.NotNil(t, shortened(t, params, cupelchat.OpenAI).ExtraFields()["reasoning"], "the field reasoning is lost")
	})

	t.Run("eino's messages have values of any type", func(t *testing.T) {
		answer := schema.AssistantMessage("answer", nil)
		answer.Extra = map[string]any{"signature": []byte("s")}
		got := shortened(t, []*schema.Message{schema.UserMessage("task"), schema.AssistantMessage(long, nil), answer, schema.UserMessage("last")}, cupelchat.OpenAI)
		i := len(got) - 2
		require.GreaterOrEqual(t, i, 0)
		require.Same(t, answer, got[i], "the answer is another message")
	})

	t.Run("go-openai's schemas keep their type, and thus the order of their members", func(t *testing.T) {
		got := shortened(t, goopenai.ChatCompletionRequest{
			Model: "gpt-5",
			Tools: []goopenai.Tool{{Type: goopenai.ToolTypeFunction, Function: &goopenai.FunctionDefinition{Name: "read_file", Parameters: jsonschema.Definition{Type: jsonschema.Object}}}},
			Messages: []goopenai.ChatCompletionMessage{
				{Role: "user", Content: "task"}, {Role: "assistant", Content: long}, {Role: "user", Content: "last"},
			},
		}, cupelchat.OpenAI)
		_, ok := got.Tools[0].Function.Parameters.(jsonschema.Definition)
		require.True(t, ok, "the schema has become a %T", got.Tools[0].Function.Parameters)
	})
}

// The types of openai-go do not read the items of the Responses API that they
// write. Fit says so, and what to do; the example fits JSON.
func TestResponsesAreRefused(t *testing.T) {
	params := responses.ResponseNewParams{Model: "gpt-5", Input: responses.ResponseNewParamsInputUnion{OfInputItemList: responses.ResponseInputParam{
		responses.ResponseInputItemParamOfMessage(long, responses.EasyInputMessageRoleUser),
		responses.ResponseInputItemParamOfMessage("last", responses.EasyInputMessageRoleUser),
	}}}
	_, err := cupelchat.Fit(t.Context(), params, cupelchat.Responses, preset, must(cupel.NewContextBudget(400, 400)), counter)
	require.ErrorContains(t, err, "give its JSON to Read instead")
}
