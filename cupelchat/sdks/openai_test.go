package sdks_test

import (
	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"
)

func runOpenAI(c *caller) string {
	client := openai.NewClient(option.WithBaseURL(c.url), option.WithAPIKey("key"), option.WithHTTPClient(c.client))
	params := openai.ChatCompletionNewParams{
		Model:    "gpt-5",
		Tools:    []openai.ChatCompletionToolUnionParam{openai.ChatCompletionFunctionTool(openai.FunctionDefinitionParam{Name: "read_file"})},
		Messages: []openai.ChatCompletionMessageParamUnion{openai.SystemMessage("You fix bugs."), openai.UserMessage(task)},
	}
	if c.stream {
		params.StreamOptions = openai.ChatCompletionStreamOptionsParam{IncludeUsage: openai.Bool(true)}
	}
	for {
		request, answered := fit(c, params)
		var completion openai.ChatCompletion
		if c.stream {
			stream, all := client.Chat.Completions.NewStreaming(c, request), openai.ChatCompletionAccumulator{}
			for stream.Next() {
				all.AddChunk(stream.Current())
			}
			completion = must(all.ChatCompletion, stream.Err())
		} else {
			completion = *must(client.Chat.Completions.New(c, request))
		}
		answered(completion)
		answer := completion.Choices[0].Message
		params.Messages = append(params.Messages, answer.ToParam())
		if len(answer.ToolCalls) == 0 {
			return answer.Content
		}
		for _, call := range answer.ToolCalls {
			params.Messages = append(params.Messages, openai.ToolMessage(readFile(call.Function.Arguments), call.ID))
		}
	}
}
