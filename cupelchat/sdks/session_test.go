package sdks_test

import (
	"bytes"
	"context"
	"fmt"
	"slices"

	"github.com/anthropics/anthropic-sdk-go"
	"github.com/anthropics/anthropic-sdk-go/option"
	"github.com/wollax/cupel-go/cupelchat"
	"github.com/wollax/cupel-go/cupelsession"
)

// The same agent in a session: requests keep their beginning and have breakpoints,
// and the session learns from what the API counts.
func Example_anthropicSession() {
	api, server := serve()
	defer server.Close()
	client := anthropic.NewClient(option.WithBaseURL(server.URL), option.WithAPIKey("key"))
	ctx := context.Background()
	session := must(cupelsession.New(preset, cupelsession.Config{Cache: cupelsession.AnthropicCache}))
	params := anthropic.MessageNewParams{
		Model:     "claude-sonnet-5",
		MaxTokens: 1000,
		System:    []anthropic.TextBlockParam{{Text: "You fix bugs."}},
		Tools:     []anthropic.ToolUnionParam{{OfTool: &anthropic.ToolParam{Name: "read_file"}}},
		Messages:  []anthropic.MessageParam{anthropic.NewUserMessage(anthropic.NewTextBlock("Find the panic in pkg."))},
	}
	most := 0
	for {
		request, err := cupelsession.Fit(ctx, session, params, cupelchat.Anthropic, budget, counter)
		if err != nil {
			fmt.Println(err)
			return
		}
		answer := must(client.Messages.New(ctx, request.Params))
		usage := must(cupelsession.UsageOf(cupelchat.Anthropic, answer))
		if err := request.Commit(usage); err != nil {
			fmt.Println(err)
			return
		}
		most = max(most, usage.Input)
		params.Messages = append(params.Messages, answer.ToParam())
		var results []anthropic.ContentBlockParamUnion
		for _, block := range answer.Content {
			if call, ok := block.AsAny().(anthropic.ToolUseBlock); ok {
				results = append(results, anthropic.NewToolResultBlock(call.ID, readFile(string(call.Input)), false))
			}
		}
		if len(results) == 0 {
			break
		}
		params.Messages = append(params.Messages, anthropic.NewUserMessage(results...))
	}
	unmarked := slices.ContainsFunc(api.bodies, func(body []byte) bool { return !bytes.Contains(body, []byte(`"cache_control":{"type":"ephemeral"}`)) })
	fmt.Println(session.Turns(), "turns, all with breakpoints:", !unmarked)
	fmt.Println("the API never counted more than the budget:", most <= budget.TargetTokens())
	// Output:
	// 9 turns, all with breakpoints: true
	// the API never counted more than the budget: true
}
