package cupelchat

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/wollax/cupel-go/cupel"
)

// writable are the formats in which requests are written.
var writable = []Format{OpenAI, Responses, Anthropic, Gemini, Bedrock, Ollama}

// brokenRules are the rules that a body breaks. Those of calls and results are one:
// which of them an API names first depends on what else is there.
func brokenRules(f Format, body []byte) []string {
	var names []string
	for _, v := range Check(body, f) {
		rule := v.Rule
		if strings.Contains(rule, "call") || strings.Contains(rule, "result") {
			rule = "calls and results"
		}
		if !slices.Contains(names, rule) {
			names = append(names, rule)
		}
	}
	return names
}

// TestRandomConversations writes random selections, in random forms, of random
// conversations. What an API refuses in the result it refused in the input.
func TestRandomConversations(t *testing.T) {
	rounds := 3_000
	if testing.Short() {
		rounds = 150
	}
	for _, f := range writable {
		t.Run(f.String(), func(t *testing.T) {
			clean := 0
			for seed := range uint64(rounds) {
				if selectAtRandom(t, f, seed) {
					clean++
				}
			}
			if clean < rounds/10 {
				t.Errorf("only %d of %d conversations had no fault", clean, rounds)
			}
		})
	}
}

// selectAtRandom reports whether the conversation had no fault.
func selectAtRandom(t *testing.T, f Format, seed uint64) bool {
	t.Helper()
	rng := rand.New(rand.NewPCG(seed, uint64(f)))
	faults := int(seed % 3)
	input := randomBody(rng, f, faults)
	var opts []Option
	if rng.IntN(3) == 0 {
		opts = append(opts, WithPins(rng.IntN(2) == 0, rng.IntN(2) == 0))
	}
	conversation, err := Read(input, f, cupel.HeuristicCounter{}, opts...)
	if err != nil && faults > 0 {
		return false // some accidents are no conversation
	}
	if err != nil {
		t.Fatalf("seed %d: %v\n%s", seed, err, input)
	}
	share := rng.Float64()
	output, notes := body(t, conversation, func(unit *cupel.ContextItem) int {
		if rng.Float64() > share {
			return -1
		}
		return rng.IntN(1 + len(unit.Forms()))
	})
	before, after := brokenRules(f, input), brokenRules(f, []byte(output))
	for _, rule := range after {
		if rule == "list-empty" && slices.Contains(notes, "no message is left; the API refuses a request without one") {
			continue
		}
		if (rule == "thinking-first" || rule == "first-role") && slices.Contains(before, "content-empty") {
			continue // to the rules a message that says nothing begins no turn
		}
		if rule == "signature" && faults > 0 {
			continue // a turn without its signature was over, and goes on where the answer between is dropped
		}
		if !slices.Contains(before, rule) {
			t.Fatalf("seed %d: %s is broken by the writer (before: %q): %+v\nnotes %q\ninput  %s\noutput %s", seed, rule, before, Check([]byte(output), f), notes, input, output)
		}
	}
	return len(before) == 0
}
