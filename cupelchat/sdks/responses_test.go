package sdks_test

import (
	"encoding/json"

	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"
	"github.com/openai/openai-go/v3/packages/param"
	"github.com/openai/openai-go/v3/responses"
	"github.com/openai/openai-go/v3/shared"
)

func runResponses(c *caller) string {
	client := openai.NewClient(option.WithBaseURL(c.url), option.WithAPIKey("key"), option.WithHTTPClient(c.client))
	params := responses.ResponseNewParams{
		Model:        "gpt-5",
		Instructions: openai.String("You fix bugs."),
		Reasoning:    shared.ReasoningParam{Effort: shared.ReasoningEffortLow},
		Tools:        []responses.ToolUnionParam{responses.ToolParamOfFunction("read_file", map[string]any{"type": "object"}, false)},
		Input: responses.ResponseNewParamsInputUnion{OfInputItemList: responses.ResponseInputParam{
			responses.ResponseInputItemParamOfMessage(task, responses.EasyInputMessageRoleUser),
		}},
	}
	for {
		body, answered := fit(c, json.RawMessage(must(json.Marshal(params))))
		request, response := param.Override[responses.ResponseNewParams](body), new(responses.Response)
		if c.stream {
			stream, events := client.Responses.NewStreaming(c, request), []any(nil)
			for stream.Next() {
				events = append(events, stream.Current())
				*response = stream.Current().Response // the last event has the whole
			}
			response = must(response, stream.Err())
			answered(events...)
		} else {
			response = must(client.Responses.New(c, request))
			answered(response)
		}
		var results responses.ResponseInputParam
		for _, item := range response.Output { // calls with their reasoning, as they came
			params.Input.OfInputItemList = append(params.Input.OfInputItemList, param.Override[responses.ResponseInputItemUnionParam](json.RawMessage(item.RawJSON())))
			if call, ok := item.AsAny().(responses.ResponseFunctionToolCall); ok {
				result := responses.ResponseInputItemParamOfFunctionCallOutput(readFile(call.Arguments))
				result.OfFunctionCallOutput.CallID = openai.String(call.CallID)
				results = append(results, result)
			}
		}
		if len(results) == 0 {
			return response.OutputText()
		}
		params.Input.OfInputItemList = append(params.Input.OfInputItemList, results...)
	}
}
