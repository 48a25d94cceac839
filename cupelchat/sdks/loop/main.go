package main

import (
	"context"
	"log"
	"time"

	"github.com/anthropics/anthropic-sdk-go"
	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupelchat"
	"github.com/wollax/cupel-go/cupelchat/agent"
	"github.com/wollax/cupel-go/cupelsession"
)

func main() {
	ctx, client, counter := context.Background(), anthropic.NewClient(), cupel.HeuristicCounter{}
	session := must(cupelsession.New(agent.New(counter), cupelsession.Config{Cache: cupelsession.AnthropicCache}))
	budget := must(cupel.NewContextBudget(60_000, 60_000))
	tool := anthropic.ToolUnionParamOfTool(anthropic.ToolInputSchemaParam{}, "clock")
	params := anthropic.MessageNewParams{Model: "claude-sonnet-5", MaxTokens: 4_000, Tools: []anthropic.ToolUnionParam{tool}}
	for next := []anthropic.ContentBlockParamUnion{anthropic.NewTextBlock("What time is it?")}; len(next) > 0; {
		params.Messages = append(params.Messages, anthropic.NewUserMessage(next...))
		request := must(cupelsession.Fit(ctx, session, params, cupelchat.Anthropic, budget, counter))
		answer := must(client.Messages.New(ctx, request.Params))
		log.Println(answer.Content[0].Text, must(request.Answered(answer)).Input, "tokens")
		params.Messages, next = append(params.Messages, answer.ToParam()), nil
		for _, block := range answer.Content {
			if block.Type == "tool_use" {
				next = append(next, anthropic.NewToolResultBlock(block.ID, time.Now().String(), false))
			}
		}
	}
}

func must[T any](value T, err error) T {
	if err != nil {
		log.Fatal(err)
	}
	return value
}
