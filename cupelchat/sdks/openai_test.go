package sdks_test

import (
	"context"
	"fmt"

	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"
	"github.com/wollax/cupel-go/cupelchat"
)

func Example_openai() {
	api, server := serve()
	defer server.Close()
	client := openai.NewClient(option.WithBaseURL(server.URL), option.WithAPIKey("key"))
	ctx := context.Background()
	params := openai.ChatCompletionNewParams{
		Model: "gpt-5",
		Tools: []openai.ChatCompletionToolUnionParam{openai.ChatCompletionFunctionTool(openai.FunctionDefinitionParam{Name: "read_file"})},
		Messages: []openai.ChatCompletionMessageParamUnion{
			openai.SystemMessage("You fix bugs."),
			openai.UserMessage("Find the panic in pkg."),
		},
	}
	for {
		request := must(cupelchat.Fit(ctx, params, cupelchat.OpenAI, preset, budget, counter))
		answer := must(client.Chat.Completions.New(ctx, request.Params)).Choices[0].Message
		params.Messages = append(params.Messages, answer.ToParam())
		if len(answer.ToolCalls) == 0 {
			fmt.Println(answer.Content != "")
			break
		}
		for _, call := range answer.ToolCalls {
			params.Messages = append(params.Messages, openai.ToolMessage(readFile(call.Function.Arguments), call.ID))
		}
	}
	summary(api, cupelchat.OpenAI)
	// Output:
	// true
	// 9 requests, the last one fits: true
}
