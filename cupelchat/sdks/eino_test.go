package sdks_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"

	"github.com/cloudwego/eino/adk"
	"github.com/cloudwego/eino/components/model"
	"github.com/cloudwego/eino/components/tool"
	"github.com/cloudwego/eino/components/tool/utils"
	"github.com/cloudwego/eino/compose"
	"github.com/cloudwego/eino/schema"
	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupelchat"
)

// messageBudget leaves room for the tools, which are sent beside the messages.
var messageBudget = must(cupel.NewContextBudget(4500, 4500))

// fittingModel fits what an agent is about to send. The agent keeps its messages.
type fittingModel struct{ model.ToolCallingChatModel }

func (m fittingModel) Generate(ctx context.Context, messages []*schema.Message, opts ...model.Option) (*schema.Message, error) {
	request, err := cupelchat.Fit(ctx, messages, cupelchat.OpenAI, preset, messageBudget, counter)
	if err != nil {
		return nil, err
	}
	return m.ToolCallingChatModel.Generate(ctx, request.Params, opts...)
}

func (m fittingModel) WithTools(tools []*schema.ToolInfo) (model.ToolCallingChatModel, error) {
	with, err := m.ToolCallingChatModel.WithTools(tools)
	return fittingModel{with}, err
}

func Example_eino() {
	api := &server{steps: 8}
	provider := httptest.NewServer(api)
	defer provider.Close()
	ctx := context.Background()
	type arguments struct {
		Path string `json:"path"`
	}
	read := must(utils.InferTool("read_file", "Reads a file.", func(_ context.Context, a arguments) (string, error) { return readFile(`"path":"` + a.Path + `"`), nil }))
	eino := must(adk.NewChatModelAgent(ctx, &adk.ChatModelAgentConfig{
		Name: "fixer", Description: "fixes bugs", Instruction: "You fix bugs.", MaxIterations: 20,
		Model:       fittingModel{&chatModel{url: provider.URL}},
		ToolsConfig: adk.ToolsConfig{ToolsNodeConfig: compose.ToolsNodeConfig{Tools: []tool.BaseTool{read}}},
	}))
	events := adk.NewRunner(ctx, adk.RunnerConfig{Agent: eino}).Query(ctx, task)
	answer := ""
	for event, ok := events.Next(); ok; event, ok = events.Next() {
		if event.Err != nil {
			fmt.Println(event.Err)
			return
		}
		if message, _, err := adk.GetMessage(event); err == nil {
			answer = message.Content
		}
	}
	fmt.Println(answer)
	fmt.Println("the last request has less than half of the conversation:", len(api.bodies[8]) < 12*len(readFile(`"path":""`))/2)
	// Output:
	// done after 12 calls
	// the last request has less than half of the conversation: true
}

// chatModel is a model that OpenAI's API serves; eino-ext has such ones.
type chatModel struct {
	url   string
	tools []*schema.ToolInfo
}

func (m *chatModel) WithTools(tools []*schema.ToolInfo) (model.ToolCallingChatModel, error) {
	return &chatModel{m.url, tools}, nil
}

func (m *chatModel) Stream(context.Context, []*schema.Message, ...model.Option) (*schema.StreamReader[*schema.Message], error) {
	return nil, fmt.Errorf("this model does not stream")
}

func (m *chatModel) Generate(ctx context.Context, messages []*schema.Message, _ ...model.Option) (*schema.Message, error) {
	var tools []any
	for _, t := range m.tools {
		tools = append(tools, map[string]any{"type": "function", "function": map[string]any{"name": t.Name}})
	}
	body, err := json.Marshal(map[string]any{"model": "gpt-5", "messages": messages, "tools": tools})
	if err != nil {
		return nil, err
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, m.url+"/chat/completions", bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return nil, err
	}
	defer func() { _ = response.Body.Close() }()
	var answer struct {
		Choices []struct{ Message *schema.Message }
		Error   struct{ Message string }
	}
	if err := json.NewDecoder(response.Body).Decode(&answer); err != nil {
		return nil, err
	}
	if len(answer.Choices) == 0 {
		return nil, fmt.Errorf("%s: %s", response.Status, answer.Error.Message)
	}
	return answer.Choices[0].Message, nil
}
