package sdks_test

import (
	"github.com/anthropics/anthropic-sdk-go"
	"github.com/anthropics/anthropic-sdk-go/option"
)

func runAnthropic(c *caller) string {
	client := anthropic.NewClient(option.WithBaseURL(c.url), option.WithAPIKey("key"), option.WithHTTPClient(c.client))
	params := anthropic.MessageNewParams{
		Model:     "claude-sonnet-5",
		MaxTokens: 1000,
		System:    []anthropic.TextBlockParam{{Text: "You fix bugs."}},
		Tools:     []anthropic.ToolUnionParam{{OfTool: &anthropic.ToolParam{Name: "read_file"}}},
		Messages:  []anthropic.MessageParam{anthropic.NewUserMessage(anthropic.NewTextBlock(task))},
	}
	for {
		request, answered := fit(c, params)
		answer := new(anthropic.Message)
		if c.stream {
			stream, events := client.Messages.NewStreaming(c, request), []any(nil)
			for stream.Next() {
				events = append(events, stream.Current())
				if err := answer.Accumulate(stream.Current()); err != nil {
					return err.Error()
				}
			}
			answer = must(answer, stream.Err())
			answered(events...)
		} else {
			answer = must(client.Messages.New(c, request))
			answered(answer)
		}
		params.Messages = append(params.Messages, answer.ToParam())
		var results []anthropic.ContentBlockParamUnion
		for _, block := range answer.Content {
			if call, ok := block.AsAny().(anthropic.ToolUseBlock); ok {
				results = append(results, anthropic.NewToolResultBlock(call.ID, readFile(string(call.Input)), false))
			}
		}
		if len(results) == 0 {
			return answer.Content[0].Text
		}
		params.Messages = append(params.Messages, anthropic.NewUserMessage(results...))
	}
}
