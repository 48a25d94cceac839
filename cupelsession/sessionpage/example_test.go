package sessionpage_test

import (
	"fmt"
	"net/http"

	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupelchat/agent"
	"github.com/wollax/cupel-go/cupelsession"
	"github.com/wollax/cupel-go/cupelsession/sessionpage"
)

// A program that sends its requests through a transport shows them on a page of its own.
func Example() {
	counter := cupel.HeuristicCounter{}
	budget, err := cupel.NewContextBudget(60_000, 60_000)
	if err != nil {
		fmt.Println(err)
		return
	}
	pages := sessionpage.New(budget, counter)
	transport, err := cupelsession.NewTransport(cupelsession.TransportConfig{
		Budget: budget, Counter: counter, Chooser: agent.New(counter), Exchanged: pages.Add,
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	client := &http.Client{Transport: transport} // for the SDK of a provider
	http.Handle("/sessions/", http.StripPrefix("/sessions", pages))
	fmt.Println(client.Transport == transport)
	// Output: true
}
