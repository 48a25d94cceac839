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
)

// The examples share a model with a small window, a counter and the preset.
var (
	counter = cupel.HeuristicCounter{}
	preset  = agent.New(counter)
	budget  = must(cupel.NewContextBudget(1200, 1000))
	// What is sent beside the messages that are fitted, such as tools, needs room.
	messageBudget = must(cupel.NewContextBudget(1100, 900))
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

// steps is how often the server answers with a call.
const steps = 8

func serve() (*server, *httptest.Server) {
	api := &server{}
	return api, httptest.NewServer(api)
}

// summary says how many requests the server took, and whether the last one was
// smaller than the conversation: the size of the budget.
func summary(api *server, format cupelchat.Format) {
	last := must(cupelchat.Read(api.bodies[len(api.bodies)-1], format, counter))
	tokens := 0
	for _, item := range last.Items() {
		tokens += item.Tokens()
	}
	fmt.Println(len(api.bodies), "requests, the last one fits:", tokens <= budget.TargetTokens())
}
