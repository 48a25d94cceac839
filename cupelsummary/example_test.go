package cupelsummary_test

import (
	"fmt"

	"github.com/openai/openai-go/v3"
	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupelchat/agent"
	"github.com/wollax/cupel-go/cupelsession"
	"github.com/wollax/cupel-go/cupelsummary/openaisummary"
)

// The session asks a small model for its summaries.
func Example() {
	counter := cupel.HeuristicCounter{}
	session, err := cupelsession.New(agent.New(counter), cupelsession.Config{
		Cache:     cupelsession.OpenAICache,
		Summarize: openaisummary.New(openai.NewClient(), "gpt-5-mini", counter),
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer session.Close()
	fmt.Println(session.Summarized().Calls, "calls")
	// Output: 0 calls
}
