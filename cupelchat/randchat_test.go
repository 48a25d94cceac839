package cupelchat

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
)

// writable are the formats in which requests are written.
var writable = []Format{OpenAI, Responses, Anthropic, Gemini, Bedrock, Ollama}

// randomTurn is a message in the terms of no API.
type randomTurn struct {
	role    string // system, user or assistant
	think   string // the signature of thinking, "-" for thinking without one, or ""
	texts   []string
	calls   []string // ids
	results []string // ids
}

// randomBody returns a request of a format, of a random conversation of users and a
// model with tools, with about faults of the accidents that real ones have, such as
// interrupted parallel calls, results away from their calls, ids that are given
// twice, thinking without a signature, empty texts and roles that do not alternate.
// Without any, the API takes it.
func randomBody(rng *rand.Rand, f Format, faults int) []byte {
	turns := randomTurns(rng)
	for range faults {
		turns = accident(rng, turns)
	}
	data, err := json.Marshal(render(turns, f))
	if err != nil {
		return nil // what it is made of can be marshaled
	}
	return data
}

// randomTurns returns one without accidents, that waits for the model.
func randomTurns(rng *rand.Rand) []randomTurn {
	n := 0
	say := func() []string {
		n++
		return []string{fmt.Sprintf("%s %d.", strings.Repeat("word ", rng.IntN(8)), n)}
	}
	var turns []randomTurn
	if rng.IntN(2) == 0 {
		turns = append(turns, randomTurn{role: "system", texts: say()})
	}
	turns = append(turns, randomTurn{role: "user", texts: say()})
	thinks := rng.IntN(2) == 0
	for range rng.IntN(6) {
		for range rng.IntN(3) {
			a := randomTurn{role: "assistant"}
			if thinks {
				a.think = fmt.Sprintf("signature%d", n)
			}
			if rng.IntN(2) == 0 {
				a.texts = say()
			}
			u := randomTurn{role: "user"}
			for range 1 + rng.IntN(3) {
				n++
				a.calls = append(a.calls, fmt.Sprintf("t%d", n))
			}
			u.results = slices.Clone(a.calls)
			rng.Shuffle(len(u.results), func(i, j int) { u.results[i], u.results[j] = u.results[j], u.results[i] })
			turns = append(turns, a, u)
		}
		if rng.IntN(4) > 0 {
			turns = append(turns, randomTurn{role: "assistant", texts: say()}, randomTurn{role: "user", texts: say()})
		}
	}
	return turns
}

// accident changes a conversation as programs do by mistake.
func accident(rng *rand.Rand, turns []randomTurn) []randomTurn {
	if len(turns) == 0 {
		return turns
	}
	i := rng.IntN(len(turns))
	t := &turns[i]
	j := min(i+1+rng.IntN(3), len(turns)-1)
	switch rng.IntN(14) {
	case 0: // a message is lost
		return slices.Delete(turns, i, i+1)
	case 1: // or sent twice
		return slices.Insert(turns, i, *t)
	case 2: // two change places
		turns[i], turns[j] = turns[j], turns[i]
	case 3: // parallel calls are interrupted
		if len(t.results) > 0 {
			t.results = slices.Clone(t.results[1:])
		}
	case 4: // a result comes later
		if len(t.results) > 0 {
			turns[j].results = append(slices.Clone(turns[j].results), t.results[0])
			t.results = slices.Clone(t.results[1:])
		}
	case 5: // a result is sent twice
		if len(t.results) > 0 {
			t.results = append(slices.Clone(t.results), t.results[0])
		}
	case 6: // an id is given twice
		if len(t.calls) > 0 {
			t.calls = append(slices.Clone(t.calls), t.calls[0])
		}
	case 7: // an id of before is used again
		if len(t.calls) > 0 && len(turns[j].calls) > 0 {
			turns[j].calls = append([]string{t.calls[0]}, turns[j].calls[1:]...)
		}
	case 8: // the user hurries
		return slices.Insert(turns, i, randomTurn{role: "user", texts: []string{"hurry"}})
	case 9: // texts are empty
		t.texts = append(slices.Clone(t.texts), []string{"", " \n"}[rng.IntN(2)])
	case 10: // or missing
		t.texts = nil
	case 11: // a signature is lost
		if t.think != "" {
			t.think = "-"
		}
	case 12: // thinking is lost
		t.think = ""
	case 13: // the end is lost
		return turns[:i+1]
	}
	return turns
}

// output is what a tool answers: of every third call a list of lines, which can be
// made smaller.
func output(id string) string {
	text := "result of " + id
	if n, err := strconv.Atoi(strings.TrimPrefix(id, "t")); err == nil && n%3 == 0 {
		text += strings.Repeat(fmt.Sprintf("\n%d cupel/item.go: error", n), 2*n)
	}
	return text
}

func render(turns []randomTurn, f Format) object {
	switch f {
	case Responses:
		return randomResponses(turns)
	case Anthropic:
		return randomAnthropic(turns)
	case Gemini:
		return randomGemini(turns)
	case Bedrock:
		return randomBedrock(turns)
	default:
		return randomChat(turns, f)
	}
}

// randomChat renders for OpenAI and Ollama.
func randomChat(turns []randomTurn, f Format) object {
	messages := []object{}
	for _, t := range turns {
		for _, id := range t.results {
			messages = append(messages, object{"role": "tool", "tool_call_id": id, "content": output(id)})
		}
		m := object{"role": t.role, "content": strings.Join(t.texts, "\n")}
		if len(t.texts) == 0 {
			m["content"] = nil
		}
		var calls []object
		for _, id := range t.calls {
			var arguments any = object{"id": id}
			if f == OpenAI {
				arguments = `{"id":"` + id + `"}`
			}
			calls = append(calls, object{"id": id, "type": "function", "function": object{"name": "f", "arguments": arguments}})
		}
		if len(calls) > 0 {
			m["tool_calls"] = calls
		}
		if len(t.results) == 0 || len(t.texts)+len(t.calls) > 0 {
			messages = append(messages, m)
		}
	}
	return object{"model": "m", "messages": messages}
}

func randomResponses(turns []randomTurn) object {
	items := []object{}
	for i, t := range turns {
		for _, id := range t.results {
			items = append(items, object{"type": "function_call_output", "call_id": id, "output": output(id)})
		}
		if t.think != "" {
			reasoning := object{"type": "reasoning", "id": fmt.Sprintf("rs_%d", i), "summary": []any{}}
			if t.think == "-" {
				delete(reasoning, "summary")
			}
			items = append(items, reasoning)
		}
		if len(t.texts) > 0 {
			m := object{"role": t.role}
			var parts []object
			for _, text := range t.texts {
				parts = append(parts, object{"type": "input_text", "text": text})
			}
			if t.role == "assistant" {
				m["type"], m["id"], m["status"] = "message", fmt.Sprintf("msg_%d", i), "completed"
				for _, p := range parts {
					p["type"], p["annotations"] = "output_text", []any{}
				}
			}
			m["content"] = parts
			items = append(items, m)
		}
		for _, id := range t.calls {
			items = append(items, object{"type": "function_call", "call_id": id, "name": "f", "arguments": `{"id":"` + id + `"}`})
		}
	}
	return object{"model": "m", "input": items}
}

func randomAnthropic(turns []randomTurn) object {
	body := object{"model": "m", "max_tokens": 100}
	messages := []object{}
	marked := 0 // the API allows 4 of them
	for _, t := range turns {
		if t.role == "system" {
			body["system"] = strings.Join(t.texts, "\n")
			continue
		}
		blocks := []object{}
		for _, id := range t.results {
			blocks = append(blocks, object{"type": "tool_result", "tool_use_id": id, "content": output(id)})
		}
		switch t.think {
		case "":
		case "-":
			blocks = append(blocks, object{"type": "thinking", "thinking": "hm"})
		default:
			blocks = append(blocks, object{"type": "thinking", "thinking": "hm", "signature": t.think})
			body["thinking"] = object{"type": "enabled", "budget_tokens": 1024}
		}
		for _, text := range t.texts {
			blocks = append(blocks, object{"type": "text", "text": text})
		}
		for _, id := range t.calls {
			blocks = append(blocks, object{"type": "tool_use", "id": id, "name": "f", "input": object{"id": id}})
		}
		message := object{"role": t.role, "content": blocks}
		if text := strings.Join(t.texts, ""); len(blocks) == 1 && len(t.texts) == 1 {
			switch len(text) % 4 { // other ways to say a text
			case 0:
				message["content"] = text
			case 1:
				if t.role == "user" {
					message["content"] = append(blocks, object{"type": "image", "source": object{"type": "url", "url": "https://e.org/i.png"}})
				}
			case 2:
				if marked++; marked <= 4 {
					blocks[0]["cache_control"] = object{"type": "ephemeral"}
				}
			}
		}
		messages = append(messages, message)
	}
	body["messages"] = messages
	return body
}

func randomGemini(turns []randomTurn) object {
	body := object{}
	contents := []object{}
	for _, t := range turns {
		parts := []object{}
		for _, id := range t.results {
			parts = append(parts, object{"functionResponse": object{"name": "f", "response": object{"output": output(id)}}})
		}
		for _, text := range t.texts {
			parts = append(parts, object{"text": text})
		}
		for i, id := range t.calls {
			part := object{"functionCall": object{"name": "f", "args": object{"id": id}}}
			if i == 0 && t.think != "" && t.think != "-" {
				part["thoughtSignature"] = "c2ln"
			}
			parts = append(parts, part)
		}
		role := t.role
		switch role {
		case "system":
			body["systemInstruction"] = object{"parts": parts}
			continue
		case "assistant":
			role = "model"
		}
		contents = append(contents, object{"role": role, "parts": parts})
	}
	body["contents"] = contents
	return body
}

func randomBedrock(turns []randomTurn) object {
	body := object{"toolConfig": object{"tools": []object{{"toolSpec": object{"name": "f"}}}}}
	messages := []object{}
	for _, t := range turns {
		blocks := []object{}
		for _, id := range t.results {
			blocks = append(blocks, object{"toolResult": object{"toolUseId": id, "content": []object{{"text": output(id)}}}})
		}
		if t.think != "" {
			blocks = append(blocks, object{"reasoningContent": object{"reasoningText": object{"text": "hm", "signature": t.think}}})
		}
		for _, text := range t.texts {
			blocks = append(blocks, object{"text": text})
		}
		for _, id := range t.calls {
			blocks = append(blocks, object{"toolUse": object{"toolUseId": id, "name": "f", "input": object{"id": id}}})
		}
		if t.role == "system" {
			body["system"] = blocks
			continue
		}
		messages = append(messages, object{"role": t.role, "content": blocks})
	}
	body["messages"] = messages
	return body
}
