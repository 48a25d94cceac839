package sdks_test

import (
	"context"
	"fmt"

	"github.com/sashabaranov/go-openai"
	"github.com/wollax/cupel-go/cupelchat"
)

func Example_goOpenAI() {
	api, server := serve()
	defer server.Close()
	config := openai.DefaultConfig("key")
	config.BaseURL = server.URL
	client := openai.NewClientWithConfig(config)
	ctx := context.Background()
	request := openai.ChatCompletionRequest{
		Model: "gpt-5",
		Tools: []openai.Tool{{Type: openai.ToolTypeFunction, Function: &openai.FunctionDefinition{Name: "read_file", Parameters: map[string]any{"type": "object"}}}},
		Messages: []openai.ChatCompletionMessage{
			{Role: openai.ChatMessageRoleSystem, Content: "You fix bugs."},
			{Role: openai.ChatMessageRoleUser, Content: "Find the panic in pkg."},
		},
	}
	for {
		fitted := must(cupelchat.Fit(ctx, request, cupelchat.OpenAI, preset, budget, counter))
		answer := must(client.CreateChatCompletion(ctx, fitted.Params)).Choices[0].Message
		request.Messages = append(request.Messages, answer)
		if len(answer.ToolCalls) == 0 {
			fmt.Println(answer.Content != "")
			break
		}
		for _, call := range answer.ToolCalls {
			request.Messages = append(request.Messages, openai.ChatCompletionMessage{
				Role: openai.ChatMessageRoleTool, ToolCallID: call.ID, Content: readFile(call.Function.Arguments),
			})
		}
	}
	summary(api, cupelchat.OpenAI)
	// Output:
	// true
	// 9 requests, the last one fits: true
}
