package sdks_test

import (
	"encoding/json"

	"google.golang.org/genai"
)

func runGenAI(c *caller) string {
	client := must(genai.NewClient(c, &genai.ClientConfig{
		APIKey: "key", Backend: genai.BackendGeminiAPI, HTTPClient: c.client, HTTPOptions: genai.HTTPOptions{BaseURL: c.url},
	}))
	config := &genai.GenerateContentConfig{
		SystemInstruction: genai.NewContentFromText("You fix bugs.", genai.RoleUser),
		Tools:             []*genai.Tool{{FunctionDeclarations: []*genai.FunctionDeclaration{{Name: "read_file"}}}},
	}
	contents := genai.Text(task)
	for {
		fitted, answered := fit(c, contents)
		answer, events := &genai.Content{Role: genai.RoleModel}, []any(nil)
		if c.stream {
			for response, err := range client.Models.GenerateContentStream(c, "gemini-3-pro", fitted, config) {
				events = append(events, must(response, err))
				answer.Parts = append(answer.Parts, response.Candidates[0].Content.Parts...)
			}
		} else {
			response := must(client.Models.GenerateContent(c, "gemini-3-pro", fitted, config))
			answer, events = response.Candidates[0].Content, []any{response}
		}
		answered(events...)
		contents = append(contents, answer)
		results := &genai.Content{Role: genai.RoleUser}
		for _, part := range answer.Parts {
			if call := part.FunctionCall; call != nil {
				arguments := must(json.Marshal(call.Args))
				results.Parts = append(results.Parts, genai.NewPartFromFunctionResponse(call.Name, map[string]any{"output": readFile(string(arguments))}))
			}
		}
		if len(results.Parts) == 0 {
			return answer.Parts[0].Text
		}
		contents = append(contents, results)
	}
}
