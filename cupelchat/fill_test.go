package cupelchat_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupelchat"
	"github.com/wollax/cupel-go/cupelchat/agent"
)

// contents are texts of some 12 kB of different shapes.
func contents() map[string]string {
	repeat := func(sep string, line func(i int) string) string {
		var lines []string
		for i, size := 0, 0; size < 12_000; i++ {
			lines = append(lines, line(i))
			size += len(lines[i])
		}
		return strings.Join(lines, sep)
	}
	return map[string]string{
		"log": repeat("\n", func(i int) string {
			return fmt.Sprintf("10:%02d:%02d INFO request %d took %d ms", i/60%60, i%60, i, i*7%90)
		}),
		"table": repeat("\n", func(i int) string { return fmt.Sprintf("%d,part %d,%d.50,EUR", i, i*31%977, i%100) }),
		"JSON":  "[" + repeat(",", func(i int) string { return fmt.Sprintf(`{"id":"R%d","name":"item %d","price":%d}`, i, i%50, i) }) + "]",
		"code":  repeat("\n", func(i int) string { return fmt.Sprintf("func f%d(b int) int {\n\treturn b + %d\n}\n", i, i) }),
		"prose": repeat(" ", func(i int) string {
			return fmt.Sprintf("The train number %d waits at the station until the others have left.", i%17)
		}),
		"one line": repeat("", func(i int) string { return fmt.Sprintf("var a%d=function(b){return b+%d};", i%100, i) }),
		"Chinese":  repeat("。", func(i int) string { return fmt.Sprintf("第%d列火车在车站等待其他列车离开", i) }),
	}
}

// TestWindowsAreFull puts long texts in several places, and holds what is written to
// nearly the whole budget, and to no less verbatim text for more of it.
func TestWindowsAreFull(t *testing.T) {
	type object = map[string]any
	call := []any{object{"id": "c1", "type": "function", "function": object{"name": "read", "arguments": `{"path":"a.txt"}`}}}
	counter := cupel.HeuristicCounter{}
	shares := []float64{0.12, 0.2, 0.4, 0.7, 0.9, 0.97}
	if testing.Short() {
		shares = []float64{0.12, 0.4, 0.9}
	}
	for shape, text := range contents() {
		exchange := []any{object{"role": "assistant", "content": nil, "tool_calls": call}, object{"role": "tool", "tool_call_id": "c1", "content": text}}
		task, question := object{"role": "user", "content": "Look into a.txt."}, object{"role": "user", "content": "What is in it?"}
		read := object{"role": "assistant", "content": "I have read it."}
		use := object{"type": "tool_use", "id": "c1", "name": "read", "input": object{"path": "a.txt"}}
		result := object{"type": "tool_result", "tool_use_id": "c1", "content": text}
		half, err := json.Marshal(object{"edits": []any{object{"old": text[:len(text)/2], "new": "x"}, object{"old": "y", "new": strings.ToValidUTF8(text[len(text)/2:], "")}}})
		require.NoError(t, err)
		edit := object{"id": "c1", "type": "function", "function": object{"name": "edit", "arguments": string(half)}}
		pdf := object{"type": "file", "file": object{"file_id": "f"}} // 3,000 tokens, which nothing can be a part of
		for place, messages := range map[string][]any{
			"finished":       {task, exchange[0], exchange[1], read, question},
			"newest":         {task, exchange[0], exchange[1]},
			"in arguments":   {task, object{"role": "assistant", "content": nil, "tool_calls": []any{edit}}, object{"role": "tool", "tool_call_id": "c1", "content": "done"}},
			"after a file":   {object{"role": "user", "content": []any{object{"type": "text", "text": "Look."}, pdf}}, exchange[0], exchange[1]},
			"user":           {object{"role": "user", "content": text}, read, question},
			"with an image":  {task, read, object{"role": "user", "content": []any{object{"type": "image_url", "image_url": object{"url": "u", "detail": "low"}}, object{"type": "text", "text": text}}}, read, question},
			"with words":     {task, object{"role": "assistant", "content": []any{use}}, object{"role": "user", "content": []any{result, object{"type": "text", "text": "Quickly."}}}, read, question},
			"with reasoning": {task, object{"type": "reasoning", "id": "rs_1", "summary": []any{}, "encrypted_content": "c2ln"}, object{"role": "assistant", "content": text}, question},
		} {
			list, format := "messages", cupelchat.OpenAI
			switch place {
			case "with words":
				format = cupelchat.Anthropic
			case "with reasoning":
				list, format = "input", cupelchat.Responses
			}
			body, err := json.Marshal(object{list: messages})
			require.NoError(t, err)
			count := func(body []byte) int { return counted(t, format, body) }
			all, before := count(body), 0
			c, err := cupelchat.Read(body, format, counter)
			require.NoError(t, err)
			for _, share := range shares {
				if place == "after a file" && share > 0.4 {
					break // the text is whole, and the file does not fit
				}
				target := max(400, int(share*float64(all)))
				w, err := c.Select(t.Context(), agent.New(counter), budget(t, target))
				require.NoError(t, err, "%s, %s at %d", shape, place, target)
				written, err := w.Body()
				require.NoError(t, err)
				got := count(written)
				assert.LessOrEqual(t, got, target, "%s, %s", shape, place)
				assert.GreaterOrEqual(t, float64(got), 0.95*float64(target), "%s, %s at %.2f of %d", shape, place, share, all)
				same := verbatim(text, string(written))
				assert.GreaterOrEqual(t, same, before-len(text)/50, "%s, %s at %.2f: more room keeps less", shape, place, share)
				before = same
			}
		}
	}
}

// TestLargeFormsAmongShortMessages has short messages of more worth for each token than
// the large forms of three results: they must not take the room of a form.
func TestLargeFormsAmongShortMessages(t *testing.T) {
	messages := []string{`{"role":"user","content":"Read."}`}
	for range 40 {
		messages = append(messages, `{"role":"assistant","content":"and so on, as it was before, so it is now"}`, `{"role":"user","content":"and so on and on again"}`)
	}
	for call := range 3 {
		var rows []string
		for i := range 8000 {
			rows = append(rows, fmt.Sprintf(`{"id":"R%d-%d","name":"item-%d","path":"src/a%d.go"}`, call, i, i*31%977, i))
		}
		messages = append(messages,
			fmt.Sprintf(`{"role":"assistant","tool_calls":[{"id":"c%d","type":"function","function":{"name":"read","arguments":"{\"at\":%[1]d}"}}]}`, call),
			fmt.Sprintf(`{"role":"tool","tool_call_id":"c%d","content":%s}`, call, quote(strings.Join(rows, "\n"))))
	}
	messages = append(messages, `{"role":"assistant","content":"I have."}`, `{"role":"user","content":"And?"}`)
	c, err := cupelchat.Read([]byte("["+strings.Join(messages, ",")+"]"), cupelchat.OpenAI, cupel.HeuristicCounter{})
	require.NoError(t, err)
	w, err := c.Select(t.Context(), agent.New(nil), budget(t, 150_000))
	require.NoError(t, err)
	written, err := w.Body()
	require.NoError(t, err)
	assert.GreaterOrEqual(t, counted(t, cupelchat.OpenAI, written), 142_500)
}

// TestWindowsOfTurnsAreFull has turns that think, whose messages the API requires or
// refuses with others. Whatever is pinned, it takes the windows, and they are full.
func TestWindowsOfTurnsAreFull(t *testing.T) {
	type object = map[string]any
	seeds := uint64(30)
	if testing.Short() {
		seeds = 15
	}
	for seed := range seeds {
		rng := rand.New(rand.NewPCG(seed, 9))
		said := func() string {
			return strings.Repeat(fmt.Sprintf("word %d is said.\n", rng.IntN(900)), 1+rng.IntN(4)*rng.IntN(50))
		}
		var list []any
		say := func(role string, blocks ...any) { list = append(list, object{"role": role, "content": blocks}) }
		say("user", object{"type": "text", "text": said()})
		for i := range 30 {
			if rng.IntN(4) == 0 {
				say("assistant", object{"type": "text", "text": said()})
				say("user", object{"type": "text", "text": said()})
			}
			id := fmt.Sprint(i)
			say("assistant", object{"type": "thinking", "thinking": said(), "signature": "s"}, object{"type": "tool_use", "id": id, "name": "f", "input": object{}})
			say("user", object{"type": "tool_result", "tool_use_id": id, "content": said()})
		}
		body, err := json.Marshal(object{"thinking": object{"type": "enabled", "budget_tokens": 1024}, "messages": list})
		require.NoError(t, err)
		pins := []cupelchat.Option{cupelchat.WithoutPins(), cupelchat.WithPins(false, false), cupelchat.WithPins(true, true)}[seed%3]
		c, err := cupelchat.Read(body, cupelchat.Anthropic, cupel.HeuristicCounter{}, pins)
		require.NoError(t, err)
		target := total(c.Items()) * (1 + rng.IntN(9)) / 10
		w, err := c.Select(t.Context(), agent.New(nil), budget(t, target))
		require.NoError(t, err, "seed %d", seed)
		written, err := w.Body()
		require.NoError(t, err)
		assert.Empty(t, cupelchat.Check(written, cupelchat.Anthropic), "seed %d", seed)
		assert.GreaterOrEqual(t, total(w.Items), target*95/100, "seed %d, %v", seed, w.Notes) // without joining messages
	}
}

// verbatim counts bytes of the pieces of a text that stand in a body.
func verbatim(text, body string) (n int) {
	const size = 32
	for i := 0; i+size <= len(text); i += size {
		piece, err := json.Marshal(text[i : i+size])
		if err == nil && strings.Contains(body, strings.Trim(string(piece), `"`)) {
			n += size
		}
	}
	return n
}

func budget(t *testing.T, tokens int) cupel.ContextBudget {
	t.Helper()
	b, err := cupel.NewContextBudget(tokens, tokens)
	require.NoError(t, err)
	return b
}
