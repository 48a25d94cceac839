package sdks_test

import (
	"context"
	"fmt"

	"github.com/anthropics/anthropic-sdk-go"
	"github.com/anthropics/anthropic-sdk-go/option"
	"github.com/wollax/cupel-go/cupelchat"
)

func Example_anthropic() {
	api, server := serve()
	defer server.Close()
	client := anthropic.NewClient(option.WithBaseURL(server.URL), option.WithAPIKey("key"))
	ctx := context.Background()
	params := anthropic.MessageNewParams{
		Model:     "claude-sonnet-5",
		MaxTokens: 1000,
		System:    []anthropic.TextBlockParam{{Text: "You fix bugs."}},
		Tools:     []anthropic.ToolUnionParam{{OfTool: &anthropic.ToolParam{Name: "read_file"}}},
		Messages:  []anthropic.MessageParam{anthropic.NewUserMessage(anthropic.NewTextBlock("Find the panic in pkg."))},
	}
	for {
		request := must(cupelchat.Fit(ctx, params, cupelchat.Anthropic, preset, budget, counter))
		answer := must(client.Messages.New(ctx, request.Params))
		params.Messages = append(params.Messages, answer.ToParam())
		var results []anthropic.ContentBlockParamUnion
		for _, block := range answer.Content {
			if call, ok := block.AsAny().(anthropic.ToolUseBlock); ok {
				results = append(results, anthropic.NewToolResultBlock(call.ID, readFile(string(call.Input)), false))
			}
		}
		if len(results) == 0 {
			fmt.Println(answer.Content[0].Text != "")
			break
		}
		params.Messages = append(params.Messages, anthropic.NewUserMessage(results...))
	}
	summary(api, cupelchat.Anthropic)
	// Output:
	// true
	// 9 requests, the last one fits: true
}
