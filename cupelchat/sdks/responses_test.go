package sdks_test

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"
	"github.com/openai/openai-go/v3/packages/param"
	"github.com/openai/openai-go/v3/responses"
	"github.com/openai/openai-go/v3/shared"
	"github.com/wollax/cupel-go/cupelchat"
)

func Example_responses() {
	api, server := serve()
	defer server.Close()
	client := openai.NewClient(option.WithBaseURL(server.URL), option.WithAPIKey("key"))
	ctx := context.Background()
	params := responses.ResponseNewParams{
		Model:        "gpt-5",
		Instructions: openai.String("You fix bugs."),
		Reasoning:    shared.ReasoningParam{Effort: shared.ReasoningEffortLow},
		Tools:        []responses.ToolUnionParam{responses.ToolParamOfFunction("read_file", map[string]any{"type": "object"}, false)},
		Input: responses.ResponseNewParamsInputUnion{OfInputItemList: responses.ResponseInputParam{
			responses.ResponseInputItemParamOfMessage("Find the panic in pkg.", responses.EasyInputMessageRoleUser),
		}},
	}
	for {
		request := must(cupelchat.Fit(ctx, json.RawMessage(must(json.Marshal(params))), cupelchat.Responses, preset, budget, counter))
		response := must(client.Responses.New(ctx, param.Override[responses.ResponseNewParams](request.Body)))
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
			fmt.Println(response.OutputText() != "")
			break
		}
		params.Input.OfInputItemList = append(params.Input.OfInputItemList, results...)
	}
	summary(api, cupelchat.Responses)
	// Output:
	// true
	// 9 requests, the last one fits: true
}
