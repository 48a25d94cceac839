package sdks_test

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/wollax/cupel-go/cupelchat"
	"google.golang.org/genai"
)

func Example_genai() {
	api, server := serve()
	defer server.Close()
	ctx := context.Background()
	client := must(genai.NewClient(ctx, &genai.ClientConfig{
		APIKey: "key", Backend: genai.BackendGeminiAPI, HTTPOptions: genai.HTTPOptions{BaseURL: server.URL},
	}))
	config := &genai.GenerateContentConfig{
		SystemInstruction: genai.NewContentFromText("You fix bugs.", genai.RoleUser),
		Tools:             []*genai.Tool{{FunctionDeclarations: []*genai.FunctionDeclaration{{Name: "read_file"}}}},
	}
	contents := genai.Text("Find the panic in pkg.")
	for {
		fitted := must(cupelchat.Fit(ctx, contents, cupelchat.Gemini, preset, messageBudget, counter))
		response := must(client.Models.GenerateContent(ctx, "gemini-3-pro", fitted.Params, config))
		contents = append(contents, response.Candidates[0].Content)
		calls := response.FunctionCalls()
		if len(calls) == 0 {
			fmt.Println(response.Text() != "")
			break
		}
		results := &genai.Content{Role: genai.RoleUser}
		for _, call := range calls {
			arguments := must(json.Marshal(call.Args))
			part := genai.NewPartFromFunctionResponse(call.Name, map[string]any{"output": readFile(string(arguments))})
			part.FunctionResponse.ID = call.ID
			results.Parts = append(results.Parts, part)
		}
		contents = append(contents, results)
	}
	summary(api, cupelchat.Gemini)
	// Output:
	// true
	// 9 requests, the last one fits: true
}
