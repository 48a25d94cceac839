package cupelchat_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupelchat"
	"github.com/wollax/cupel-go/cupelchat/agent"
)

// TestRubbish passes bodies that no API takes to everything that reads them. None
// of it panics, and each error says something.
func TestRubbish(t *testing.T) {
	deep := strings.Repeat("[", 20_000) + strings.Repeat("]", 20_000)
	values := []string{
		``, ` `, `null`, `true`, `0`, `""`, `[]`, `{}`, `[[]]`, `[null]`, `[{}]`, `[1]`, `{`, `]`, "\x00", "\xff\xfe", "\ufeff[]", deep,
		`{"role":"user"}`, `{"role":null,"content":null}`, `{"role":1,"content":2}`, `{"role":"user","content":{}}`, `{"role":"user","content":[[]]}`, `{"role":"user","content":[{}]}`,
		`{"role":"user","content":"a","role":"tool"}`, `{"role":"tool","content":"x"}`, `{"role":"tool","tool_call_id":"","content":""}`,
		`{"role":"assistant","tool_calls":[{}]}`, `{"role":"assistant","tool_calls":{}}`, `{"role":"assistant","content":"a","tool_calls":[{"id":"1","type":"function","function":{"name":"","arguments":"{"}}]}`,
		`{"type":"function_call"}`, `{"type":"function_call_output","output":[]}`, `{"type":"reasoning"}`, `{"role":"user","content":[{"type":"tool_result"}]}`, `{"role":"assistant","content":[{"type":"tool_use","input":[]}]}`,
		`{"role":"model","parts":[{}]}`, `{"role":"model","parts":{}}`, `{"role":"user","parts":[{"functionResponse":1}]}`, `{"role":"model","parts":[{"functionCall":{}}]}`,
		`{"role":"user","content":[{"toolResult":{}}]}`, `{"role":"assistant","content":[{"toolUse":null}]}`, `{"role":"user","content":"\ud800\u0000"}`, `{"role":"user","content":"a\r\nb"}`,
		`{"type":"user","message":null}`, `{"type":"response_item","payload":{}}`, `{"role":"user","parts":[{"type":"text"}]}`,
	}
	var bodies []string
	for _, v := range values {
		bodies = append(bodies, v, `[`+v+`]`, v+"\n"+v)
		for _, list := range []string{"messages", "input", "contents", "system", "tools", "previous_response_id"} {
			bodies = append(bodies, fmt.Sprintf(`{%q:%s}`, list, v), fmt.Sprintf(`{%q:[%s]}`, list, v))
		}
	}
	preset := agent.New(nil)
	for _, body := range bodies {
		if _, err := cupelchat.Detect([]byte(body)); err != nil && err.Error() == "" {
			t.Errorf("Detect(%.80q): an error that says nothing", body)
		}
		for _, f := range append(cupelchat.Formats(), 0, 99) {
			_ = cupelchat.Check([]byte(body), f)
			c, err := cupelchat.Read([]byte(body), f, cupel.HeuristicCounter{})
			if err != nil {
				assert.GreaterOrEqual(t, len(err.Error()), 12, "Read(%.80q, %s)", body, f)
				continue
			}
			tokens := 0
			for _, item := range c.Items() {
				tokens += item.Tokens()
			}
			for _, target := range []int{0, 1, tokens / 2, tokens} {
				w, err := c.Select(t.Context(), preset, budget(t, target))
				if err != nil {
					continue
				}
				out, err := w.Body()
				if err == nil && target == tokens {
					assert.Equal(t, body, string(out), "%s: everything fits", f)
				}
			}
			for _, pieces := range [][]cupelchat.Piece{nil, {{}}, {{Candidates: []int{-1}}}, {{Candidates: []int{0, 0}, Content: "x"}}, {{Candidates: []int{0}, Content: "\xff\x00"}}, {{Candidates: []int{99}}}} {
				if out, _, err := c.Compose(pieces, 1e6); err == nil && len(out) > 0 && json.Valid([]byte(body)) {
					assert.True(t, json.Valid(out), "%s %.80q: Compose(%v) is not JSON: %.80q", f, body, pieces, out)
				}
			}
		}
	}
}

// A program may drop the error of Read, and go on with nil.
func TestNilConversation(t *testing.T) {
	var c *cupelchat.Conversation
	require.Zero(t, len(c.Items())+len(c.Notes())+len(c.Blocks())+int(c.Format())+len(c.Transcript())+len(c.Model()), "a nil conversation has something in it")
	limit := cupel.ContextBudget{}
	for name, err := range map[string]error{
		"With":     second(c.With()),
		"Select":   second(c.Select(t.Context(), agent.New(nil), limit)),
		"ItemsFor": third(c.ItemsFor(nil, limit)),
		"Compose":  third(c.Compose(nil, 0)),
	} {
		assert.ErrorAs(t, err, new(*cupelchat.Error), name)
	}
}

func second[A any](_ A, err error) error        { return err }
func third[A, B any](_ A, _ B, err error) error { return err }
