package sdks_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"testing"

	"github.com/anthropics/anthropic-sdk-go"
	anthropicoption "github.com/anthropics/anthropic-sdk-go/option"
	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"
	"github.com/openai/openai-go/v3/packages/param"
	"github.com/openai/openai-go/v3/responses"
	other "github.com/sashabaranov/go-openai"
	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupelchat"
	"github.com/wollax/cupel-go/cupelsession"
	"google.golang.org/genai"
)

// A transport works with everything that takes an http.Client.
func Example_transport() {
	api, server := serve()
	defer server.Close()
	transport := must(cupelsession.NewTransport(cupelsession.TransportConfig{Budget: budget}))
	client := openai.NewClient(option.WithBaseURL(server.URL), option.WithAPIKey("key"), option.WithHTTPClient(&http.Client{Transport: transport}))
	ctx := context.Background()
	params := openai.ChatCompletionNewParams{
		Model:    "gpt-5",
		Tools:    []openai.ChatCompletionToolUnionParam{openai.ChatCompletionFunctionTool(openai.FunctionDefinitionParam{Name: "read_file"})},
		Messages: []openai.ChatCompletionMessageParamUnion{openai.UserMessage("Find the panic in pkg.")},
	}
	for {
		answer := must(client.Chat.Completions.New(ctx, params)).Choices[0].Message
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

// Agents of every SDK run to their end at a quarter of their tokens, and pay less than
// without the transport.
func TestTransportOfSDKs(t *testing.T) {
	agents := map[cupelchat.Format]func(ctx context.Context, client *http.Client, url string){
		cupelchat.Anthropic: func(ctx context.Context, client *http.Client, url string) {
			c := anthropic.NewClient(anthropicoption.WithBaseURL(url), anthropicoption.WithAPIKey("key"), anthropicoption.WithHTTPClient(client))
			params := anthropic.MessageNewParams{
				Model: "claude-sonnet-5", MaxTokens: 1000, Tools: []anthropic.ToolUnionParam{{OfTool: &anthropic.ToolParam{Name: "read_file"}}},
				Messages: []anthropic.MessageParam{anthropic.NewUserMessage(anthropic.NewTextBlock("Find the panic in pkg."))},
			}
			for {
				answer := must(c.Messages.New(ctx, params))
				params.Messages = append(params.Messages, answer.ToParam())
				var results []anthropic.ContentBlockParamUnion
				for _, block := range answer.Content {
					if block.Type == "tool_use" {
						results = append(results, anthropic.NewToolResultBlock(block.ID, readFile(string(block.Input)), false))
					}
				}
				if results == nil {
					return
				}
				params.Messages = append(params.Messages, anthropic.NewUserMessage(results...))
			}
		},
		cupelchat.Responses: func(ctx context.Context, client *http.Client, url string) {
			c := openai.NewClient(option.WithBaseURL(url), option.WithAPIKey("key"), option.WithHTTPClient(client))
			list := responses.ResponseInputParam{responses.ResponseInputItemParamOfMessage("Find the panic in pkg.", responses.EasyInputMessageRoleUser)}
			for called := true; called; {
				response := must(c.Responses.New(ctx, responses.ResponseNewParams{
					Model: "gpt-5", Tools: []responses.ToolUnionParam{responses.ToolParamOfFunction("read_file", map[string]any{"type": "object"}, false)},
					Input: responses.ResponseNewParamsInputUnion{OfInputItemList: list},
				}))
				called = false
				for _, item := range response.Output {
					list = append(list, param.Override[responses.ResponseInputItemUnionParam](json.RawMessage(item.RawJSON())))
					if call, ok := item.AsAny().(responses.ResponseFunctionToolCall); ok {
						result := responses.ResponseInputItemParamOfFunctionCallOutput(readFile(call.Arguments))
						result.OfFunctionCallOutput.CallID = openai.String(call.CallID)
						list, called = append(list, result), true
					}
				}
			}
		},
		cupelchat.OpenAI: func(ctx context.Context, client *http.Client, url string) {
			config := other.DefaultConfig("key")
			config.BaseURL, config.HTTPClient = url, client
			c := other.NewClientWithConfig(config)
			request := other.ChatCompletionRequest{
				Model: "gpt-5", Tools: []other.Tool{{Type: other.ToolTypeFunction, Function: &other.FunctionDefinition{Name: "read_file", Parameters: map[string]any{"type": "object"}}}},
				Messages: []other.ChatCompletionMessage{{Role: other.ChatMessageRoleUser, Content: "Find the panic in pkg."}},
			}
			for {
				answer := must(c.CreateChatCompletion(ctx, request)).Choices[0].Message
				request.Messages = append(request.Messages, answer)
				if len(answer.ToolCalls) == 0 {
					return
				}
				for _, call := range answer.ToolCalls {
					request.Messages = append(request.Messages, other.ChatCompletionMessage{Role: other.ChatMessageRoleTool, ToolCallID: call.ID, Content: readFile(call.Function.Arguments)})
				}
			}
		},
		cupelchat.Gemini: func(ctx context.Context, client *http.Client, url string) {
			c := must(genai.NewClient(ctx, &genai.ClientConfig{APIKey: "key", Backend: genai.BackendGeminiAPI, HTTPClient: client, HTTPOptions: genai.HTTPOptions{BaseURL: url}}))
			config := &genai.GenerateContentConfig{Tools: []*genai.Tool{{FunctionDeclarations: []*genai.FunctionDeclaration{{Name: "read_file"}}}}}
			contents := genai.Text("Find the panic in pkg.")
			for {
				response := must(c.Models.GenerateContent(ctx, "gemini-3-pro", contents, config))
				contents = append(contents, response.Candidates[0].Content)
				results := &genai.Content{Role: genai.RoleUser}
				for _, call := range response.FunctionCalls() {
					part := genai.NewPartFromFunctionResponse(call.Name, map[string]any{"output": readFile(string(must(json.Marshal(call.Args))))})
					part.FunctionResponse.ID = call.ID
					results.Parts = append(results.Parts, part)
				}
				if len(results.Parts) == 0 {
					return
				}
				contents = append(contents, results)
			}
		},
	}
	for f, run := range agents {
		plain, server := serve()
		run(t.Context(), http.DefaultClient, server.URL)
		server.Close()
		whole := len(plain.bodies[len(plain.bodies)-1]) / 4
		quarter := must(cupel.NewContextBudget(whole/4, whole/4))

		api, server := serve()
		cost := 0.0
		transport := must(cupelsession.NewTransport(cupelsession.TransportConfig{
			Budget: quarter, Exchanged: func(e cupelsession.Exchange) { cost += e.Turn.Cache.Cost - e.Turn.Cache.Without },
		}))
		run(t.Context(), &http.Client{Transport: transport}, server.URL)
		server.Close()
		if got := transport.Stats(); got != (cupelsession.TransportStats{Fitted: steps + 1}) || len(api.bodies) != steps+1 {
			t.Errorf("%s: %+v, and the server took %d requests", f, got, len(api.bodies))
		}
		for _, body := range api.bodies {
			if tokens := len(body) / 4; tokens > whole*3/10 { // as the server counts, which the session has to learn
				t.Errorf("%s: a request has %d tokens, want about %d", f, tokens, whole/4)
			}
		}
		if cost > 0 {
			t.Errorf("%s: the transport costs %.0f tokens of plain input more than everything", f, cost)
		}
	}
}
