// Package sdks_test shows how the loops of real agents use cupelchat: each
// example runs against a server that refuses what the API would refuse.
package sdks_test

import (
	"fmt"
	"log"
	"net/http/httptest"
	"strings"

	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupelchat"
	"github.com/wollax/cupel-go/cupelchat/agent"
	"github.com/wollax/cupel-go/cupelchat/internal/fakeapi"
)

// The examples share a model with a small window, a counter and the preset.
var (
	counter = cupel.HeuristicCounter{}
	preset  = agent.New(counter)
	budget  = must(cupel.NewContextBudget(1200, 1000))
)

func must[T any](value T, err error) T {
	if err != nil {
		log.Fatal(err)
	}
	return value
}

// readFile is the tool of the examples.
func readFile(arguments string) string {
	return "content for " + arguments + "\n" + strings.Repeat("func example() error { return nil }\n", 20)
}

const steps = 8

func serve() (*fakeapi.API, *httptest.Server) {
	api := &fakeapi.API{Steps: steps, Arguments: func(step int) string { return fmt.Sprintf(`{"path":"pkg/file%d.go"}`, step) }}
	return api, httptest.NewServer(api)
}

// summary says how many requests the server took, and whether the last one was
// smaller than the conversation: the size of the budget.
func summary(api *fakeapi.API, format cupelchat.Format) {
	bodies := api.Bodies()
	last := must(cupelchat.Read(bodies[len(bodies)-1], format, counter))
	tokens := 0
	for _, item := range last.Items() {
		tokens += item.Tokens()
	}
	fmt.Println(len(bodies), "requests, the last one fits:", tokens <= budget.TargetTokens())
}
