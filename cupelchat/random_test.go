package cupelchat

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/wollax/cupel-go/cupel"
	apirules "github.com/wollax/cupel-go/cupelchat/internal/rules"
)

// refuse are the rules of each API, which share no code with the writer.
var refuse = map[Format]func([]byte) []apirules.Violation{
	OpenAI: apirules.OpenAI, Responses: apirules.Responses, Anthropic: apirules.Anthropic,
}

// composer writes random conversations. Most are as an API wants them; some have
// what programs really send: calls without results, ids twice, results away from
// their calls, thinking without signatures, empty texts, consecutive roles.
type composer struct {
	rng    *rand.Rand
	broken float64 // how likely each kind of fault is
	ids    int
}

func (c *composer) fault() bool { return c.rng.Float64() < c.broken }

func (c *composer) id() string {
	if c.ids == 0 || !c.fault() {
		c.ids++
	}
	return fmt.Sprintf("id_%d", c.ids)
}

// text is what somebody says.
func (c *composer) text() string {
	if c.fault() {
		return ""
	}
	line := fmt.Sprintf("%d cupel/item.go: error", c.rng.IntN(9))
	return line + strings.Repeat("\n"+line, c.rng.IntN(6)*c.rng.IntN(8))
}

func (c *composer) chat() []object {
	list := []object{{"role": "system", "content": "sys"}}
	for range 1 + c.rng.IntN(5) {
		list = append(list, object{"role": "user", "content": c.text()})
		for range c.rng.IntN(3) {
			list = append(list, c.chatExchange()...)
		}
		if !c.fault() {
			list = append(list, object{"role": "assistant", "content": c.text()})
		}
	}
	return c.shuffled(list)
}

func (c *composer) chatExchange() []object {
	var calls []any
	var results []object
	for range 1 + c.rng.IntN(3) {
		id := c.id()
		calls = append(calls, object{"id": id, "type": "function", "function": object{"name": "edit", "arguments": `{"path": "a.go", "n": 1}`}})
		if !c.fault() {
			results = append(results, object{"role": "tool", "tool_call_id": id, "content": c.text()})
		}
	}
	message := object{"role": "assistant", "content": nil, "tool_calls": calls}
	if c.rng.IntN(2) == 0 {
		message["content"] = c.text()
	}
	return append([]object{message}, results...)
}

// shuffled exchanges two neighbours where there is a fault.
func (c *composer) shuffled(list []object) []object {
	if i := c.rng.IntN(len(list)); i > 1 && c.fault() {
		list[i-1], list[i] = list[i], list[i-1]
	}
	return list
}

func (c *composer) responses() []object {
	var list []object
	for range 1 + c.rng.IntN(5) {
		list = append(list, object{"role": "user", "content": c.text()})
		for range c.rng.IntN(3) {
			if c.rng.IntN(2) == 0 {
				list = append(list, object{"type": "reasoning", "id": "rs_" + c.id(), "summary": []any{object{"type": "summary_text", "text": "hm"}}})
			}
			var outputs []object
			for range 1 + c.rng.IntN(3) {
				id := c.id()
				list = append(list, object{"type": "function_call", "call_id": id, "name": "edit", "arguments": "{}"})
				if !c.fault() {
					outputs = append(outputs, object{"type": "function_call_output", "call_id": id, "output": c.text()})
				}
			}
			list = append(list, outputs...)
		}
		list = append(list, object{"type": "message", "role": "assistant", "content": []any{object{"type": "output_text", "text": c.text()}}})
	}
	return c.shuffled(list)
}

func (c *composer) anthropic() []object {
	var list []object
	for range 1 + c.rng.IntN(5) {
		list = append(list, object{"role": "user", "content": c.said()})
		thinks := c.rng.IntN(2) == 0
		for range c.rng.IntN(3) {
			list = append(list, c.anthropicExchange(&thinks)...)
		}
		if !c.fault() {
			list = append(list, object{"role": "assistant", "content": c.said()})
		}
	}
	if len(list) > 1 && c.rng.IntN(2) == 0 {
		list = list[:len(list)-1]
	}
	return c.shuffled(list)
}

func (c *composer) said() any {
	text := c.text()
	if c.rng.IntN(2) == 0 || text == "" {
		return text
	}
	blocks := []any{object{"type": "text", "text": text}}
	if c.rng.IntN(4) == 0 {
		blocks = append(blocks, object{"type": "image", "source": object{"type": "url", "url": "https://e.org/i.png"}})
	}
	if c.rng.IntN(4) == 0 {
		blocks = append(blocks, object{"type": "text", "text": "more", "cache_control": object{"type": "ephemeral"}})
	}
	return blocks
}

func (c *composer) anthropicExchange(thinks *bool) []object {
	var blocks, results []any
	if *thinks {
		thinking := object{"type": "thinking", "thinking": "hm", "signature": "c2ln"}
		if c.fault() {
			delete(thinking, "signature")
		}
		blocks = append(blocks, thinking)
		*thinks = c.rng.IntN(2) == 0
	}
	if c.rng.IntN(2) == 0 {
		blocks = append(blocks, object{"type": "text", "text": "I look."})
	}
	for range 1 + c.rng.IntN(3) {
		id := c.id()
		blocks = append(blocks, object{"type": "tool_use", "id": id, "name": "edit", "input": object{"path": "a.go"}})
		result := object{"type": "tool_result", "tool_use_id": id, "content": c.text()}
		if c.rng.IntN(3) == 0 {
			result["content"] = []any{object{"type": "text", "text": "r" + c.text()}}
		}
		if !c.fault() {
			results = append(results, result)
		}
	}
	if c.rng.IntN(4) == 0 {
		results = append(results, object{"type": "text", "text": "go on"})
	}
	list := []object{{"role": "assistant", "content": blocks}}
	if len(results) > 0 {
		list = append(list, object{"role": "user", "content": results})
	}
	return list
}

// conversation returns a request in a format.
func (c *composer) conversation(f Format) []byte {
	request := object{"model": "m", "max_tokens": 100}
	switch f {
	case OpenAI:
		request["messages"] = c.chat()
	case Responses:
		request["input"] = c.responses()
	default:
		request["messages"] = c.anthropic()
		request["system"] = []any{object{"type": "text", "text": "sys"}}
		request["thinking"] = object{"type": "enabled", "budget_tokens": 1024}
		request["max_tokens"] = 4096
	}
	body, err := json.Marshal(request)
	if err != nil {
		panic(err)
	}
	return body
}

// brokenRules are the rules that a body breaks. Those of calls and results are one:
// which of them an API names first depends on what else is there.
func brokenRules(f Format, body []byte) []string {
	var rules []string
	if broken := refuse[f]; broken != nil {
		for _, v := range broken(body) {
			rules = append(rules, v.Rule)
		}
	} else {
		for _, v := range Check(body, f) {
			rules = append(rules, v.Rule)
		}
	}
	var names []string
	for _, rule := range rules {
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
	rounds := 5_000
	if testing.Short() {
		rounds = 300
	}
	for _, f := range Formats() {
		if refuse[f] == nil {
			continue
		}
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
	c := &composer{rng: rand.New(rand.NewPCG(seed, uint64(f)))}
	if seed%2 == 1 {
		c.broken = 0.05
	}
	input := c.conversation(f)
	var opts []Option
	if c.rng.IntN(3) == 0 {
		opts = append(opts, WithBreakpoints())
	}
	if c.rng.IntN(3) == 0 {
		opts = append(opts, WithPins(c.rng.IntN(2) == 0, c.rng.IntN(2) == 0))
	}
	conversation, err := Read(input, f, cupel.HeuristicCounter{}, opts...)
	if err != nil {
		t.Fatalf("seed %d: %v\n%s", seed, err, input)
	}
	share := c.rng.Float64()
	output, notes := body(t, conversation, func(unit *cupel.ContextItem) int {
		if c.rng.Float64() > share {
			return -1
		}
		return c.rng.IntN(1 + len(unit.Forms()))
	})
	before, after := brokenRules(f, input), brokenRules(f, []byte(output))
	for _, rule := range after {
		if rule == "list-empty" && slices.Contains(notes, "no message is left; the API refuses a request without one") {
			continue
		}
		if rule == "thinking-first" && slices.Contains(before, "content-empty") {
			continue // to the rules a message that says nothing begins no turn
		}
		if !slices.Contains(before, rule) {
			t.Fatalf("seed %d: %s is broken by the writer (before: %q): %+v\nnotes %q\ninput  %s\noutput %s", seed, rule, before, refuse[f]([]byte(output)), notes, input, output)
		}
	}
	return len(before) == 0
}
