package sdks_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"

	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"
	"github.com/wollax/cupel-go/cupelchat"
)

// fitting is a transport that fits the conversations that pass through it.
type fitting struct{ format cupelchat.Format }

func (f fitting) RoundTrip(request *http.Request) (*http.Response, error) {
	body, err := io.ReadAll(request.Body)
	if err != nil {
		return nil, err
	}
	fitted, err := cupelchat.Fit(request.Context(), json.RawMessage(body), f.format, preset, budget, counter)
	if err != nil {
		return nil, err
	}
	request = request.Clone(request.Context())
	request.Body, request.ContentLength = io.NopCloser(bytes.NewReader(fitted.Body)), int64(len(fitted.Body))
	return http.DefaultTransport.RoundTrip(request)
}

// A transport works with everything that takes an http.Client.
func Example_transport() {
	api, server := serve()
	defer server.Close()
	client := openai.NewClient(option.WithBaseURL(server.URL), option.WithAPIKey("key"),
		option.WithHTTPClient(&http.Client{Transport: fitting{cupelchat.OpenAI}}))
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
