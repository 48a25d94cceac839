// Package sdks_test shows how the loops of real agents use Cupel: each agent runs
// against a server that refuses what the API would refuse.
package sdks_test

import (
	"context"
	"log"
	"net/http"
	"strings"

	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupelchat"
	"github.com/wollax/cupel-go/cupelchat/agent"
	"github.com/wollax/cupel-go/cupelsession"
)

// The agents share a counter and the preset.
var (
	counter = cupel.HeuristicCounter{}
	preset  = agent.New(counter)
)

func must[T any](value T, err error) T {
	if err != nil {
		log.Panic(err)
	}
	return value
}

// task is what the agents are asked to do.
const task = "Find the panic in pkg."

// readFile is the tool of the agents. Its arguments name the path between quotes.
func readFile(arguments string) string {
	lines := strings.Repeat("func example() error { return nil }\n", 80)
	return lines + "// the middle of " + strings.Split(arguments, `"`)[3] + "\n" + lines
}

// caller is how an agent reaches the model.
type caller struct {
	context.Context
	url    string
	client *http.Client
	stream bool

	format  cupelchat.Format
	budget  *cupel.ContextBudget  // nil sends everything
	session *cupelsession.Session // nil fits each request by itself
	usages  []cupelsession.Usage  // of the session's turns
	counted func() cupelsession.TransportStats
}

// fit fits parameters, and returns those to send. answered takes the answer, or the
// events of a stream.
func fit[T any](c *caller, params T) (fitted T, answered func(response ...any)) {
	switch {
	case c.budget == nil:
		return params, func(...any) {}
	case c.session == nil:
		return must(cupelchat.Fit(c, params, c.format, preset, *c.budget, counter)).Params, func(...any) {}
	}
	request := must(cupelsession.Fit(c, c.session, params, c.format, *c.budget, counter))
	return request.Params, func(response ...any) { c.usages = append(c.usages, must(request.Answered(response...))) }
}
