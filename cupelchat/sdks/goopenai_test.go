package sdks_test

import (
	"errors"
	"io"

	"github.com/sashabaranov/go-openai"
)

func runGoOpenAI(c *caller) string {
	config := openai.DefaultConfig("key")
	config.BaseURL, config.HTTPClient = c.url, c.client
	client := openai.NewClientWithConfig(config)
	request := openai.ChatCompletionRequest{
		Model: "gpt-5",
		Tools: []openai.Tool{{Type: openai.ToolTypeFunction, Function: &openai.FunctionDefinition{Name: "read_file", Parameters: map[string]any{"type": "object"}}}},
		Messages: []openai.ChatCompletionMessage{
			{Role: openai.ChatMessageRoleSystem, Content: "You fix bugs."},
			{Role: openai.ChatMessageRoleUser, Content: task},
		},
	}
	if c.stream {
		request.StreamOptions = &openai.StreamOptions{IncludeUsage: true}
	}
	for {
		fitted, answered := fit(c, request)
		answer := openai.ChatCompletionMessage{Role: openai.ChatMessageRoleAssistant}
		if c.stream {
			stream, chunks := must(client.CreateChatCompletionStream(c, fitted)), []any(nil)
			chunk, err := stream.Recv()
			for ; err == nil; chunk, err = stream.Recv() {
				chunks = append(chunks, chunk)
				for _, choice := range chunk.Choices {
					answer.Content += choice.Delta.Content
					for _, part := range choice.Delta.ToolCalls {
						if *part.Index == len(answer.ToolCalls) {
							answer.ToolCalls = append(answer.ToolCalls, openai.ToolCall{ID: part.ID, Type: part.Type, Function: openai.FunctionCall{Name: part.Function.Name}})
						}
						answer.ToolCalls[*part.Index].Function.Arguments += part.Function.Arguments
					}
				}
			}
			if !errors.Is(err, io.EOF) {
				return err.Error()
			}
			answered(chunks...)
		} else {
			response := must(client.CreateChatCompletion(c, fitted))
			answered(response)
			answer = response.Choices[0].Message
		}
		request.Messages = append(request.Messages, answer)
		if len(answer.ToolCalls) == 0 {
			return answer.Content
		}
		for _, call := range answer.ToolCalls {
			request.Messages = append(request.Messages, openai.ChatCompletionMessage{
				Role: openai.ChatMessageRoleTool, ToolCallID: call.ID, Content: readFile(call.Function.Arguments),
			})
		}
	}
}
