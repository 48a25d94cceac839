package cupelsession_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupelchat"
	"github.com/wollax/cupel-go/cupelchat/agent"
	"github.com/wollax/cupel-go/cupelsession"
)

type object = map[string]any

// talk is a conversation of an agent in the form of Anthropic or Bedrock.
type talk struct {
	bedrock  bool
	top      object // what else the request has
	messages []any
	calls    int
}

func newTalk(bedrock bool, top object) *talk {
	t := &talk{bedrock: bedrock, top: top}
	t.messages = []any{object{"role": "user", "content": t.blocks(t.text("Fix the test in cupel/item.go."))}}
	return t
}

func (t *talk) text(s string) object {
	if t.bedrock {
		return object{"text": s}
	}
	return object{"type": "text", "text": s}
}

// blocks is a content: a list, or the text alone where the API takes one.
func (t *talk) blocks(list ...any) any {
	if o, ok := list[0].(object); ok && !t.bedrock && len(list) == 1 && o["type"] == "text" {
		return o["text"]
	}
	return list
}

// step adds calls and their results, and now and then words of the user.
func (t *talk) step(rng *rand.Rand, calls int) {
	uses, results := []any{t.text("I look.")}, []any{}
	for range calls {
		t.calls++
		id := fmt.Sprint("call_", t.calls)
		said := strings.Repeat(fmt.Sprintf("func f%d() { return }\n", t.calls), 1+rng.IntN(30))
		input := object{"path": fmt.Sprintf("a/file%d.go", t.calls)}
		if t.bedrock {
			uses = append(uses, object{"toolUse": object{"toolUseId": id, "name": "read", "input": input}})
			results = append(results, object{"toolResult": object{"toolUseId": id, "content": []any{object{"text": said}}}})
		} else {
			uses = append(uses, object{"type": "tool_use", "id": id, "name": "read", "input": input})
			results = append(results, object{"type": "tool_result", "tool_use_id": id, "content": said})
		}
	}
	t.messages = append(t.messages, object{"role": "assistant", "content": uses}, object{"role": "user", "content": results})
	if rng.IntN(4) == 0 {
		t.messages = append(t.messages, object{"role": "assistant", "content": t.blocks(t.text("Done?"))}, object{"role": "user", "content": t.blocks(t.text("Go on."))})
	}
}

func (t *talk) request() object {
	r := object{"messages": t.messages}
	if t.bedrock {
		r["system"] = []any{t.text("You fix bugs.")}
		r["toolConfig"] = object{"tools": []any{object{"toolSpec": object{"name": "read", "inputSchema": object{"json": object{"type": "object"}}}}}}
	} else {
		r["system"], r["model"], r["max_tokens"] = "You fix bugs.", "claude", 100
		r["tools"] = []any{object{"name": "read", "input_schema": object{"type": "object"}}}
	}
	maps.Copy(r, t.top)
	return r
}

// unmarked returns the blocks of a request without breakpoints, and after how many
// of them breakpoints are.
func unmarked(t *testing.T, body []byte) (blocks, marks []string, behind []int) {
	t.Helper()
	var r object
	require.NoError(t, json.Unmarshal(body, &r))
	add := func(role, content any) {
		if text, ok := content.(string); ok {
			content = []any{object{"type": "text", "text": text}}
		}
		list, _ := content.([]any)
		for _, b := range list {
			b := b.(object)
			if point, ok := b["cachePoint"]; ok {
				marks, behind = append(marks, fmt.Sprint(point)), append(behind, len(blocks))
				continue
			}
			mark, ok := b["cache_control"]
			delete(b, "cache_control")
			blocks = append(blocks, fmt.Sprint(role, b))
			if ok {
				marks, behind = append(marks, fmt.Sprint(mark)), append(behind, len(blocks))
			}
		}
	}
	add("tools", r["tools"])
	add("system", r["system"])
	for _, m := range r["messages"].([]any) {
		add(m.(object)["role"], m.(object)["content"])
	}
	return blocks, marks, behind
}

// TestBreakpointsOfBodies writes the bodies of conversations turn by turn: what the
// API takes, with at most four breakpoints where the turn says, and blocks that stay
// as they were until a break.
func TestBreakpointsOfBodies(t *testing.T) {
	hour, seeds := cupelsession.AnthropicCacheHour, uint64(4)
	if testing.Short() {
		seeds = 2
	}
	for _, test := range []struct {
		name   string
		format cupelchat.Format
		cache  cupelsession.CacheModel
		top    object
		mark   string
		most   int
		why    string
	}{
		{"anthropic", cupelchat.Anthropic, cupelsession.AnthropicCache, nil, "map[type:ephemeral]", 4, "five minutes are the default"},
		{"hour", cupelchat.Anthropic, hour, nil, "map[ttl:1h type:ephemeral]", 4, "the session's cache has another time to live"},
		{"top level", cupelchat.Anthropic, hour, object{"cache_control": object{"type": "ephemeral"}}, "map[type:ephemeral]", 3, "it is the one at the end, and a longer time must not follow"},
		{"bedrock", cupelchat.Bedrock, cupelsession.AnthropicCache, nil, "map[type:default]", 4, "a block of its own"},
		{"bedrock hour", cupelchat.Bedrock, hour, nil, "map[ttl:1h type:default]", 4, "a block of its own"},
		{"none", cupelchat.Anthropic, cupelsession.OpenAICache, nil, "", 0, "the model has no breakpoints"},
	} {
		breaks := 0
		for seed := range seeds {
			rng := rand.New(rand.NewPCG(seed, 7))
			talk := newTalk(test.format == cupelchat.Bedrock, test.top)
			s := session(t, agent.New(cupel.HeuristicCounter{}), cupelsession.Config{Cache: test.cache})
			var before []string
			for step := range 14 {
				request, err := cupelsession.Fit(t.Context(), s, talk.request(), test.format, budget(t, 1500), cupel.HeuristicCounter{})
				require.NoError(t, err)
				turn := request.Turn
				body, err := json.Marshal(request.Params)
				require.NoError(t, err)
				require.Empty(t, cupelchat.Check(body, test.format), "%s, step %d\n%s", test.name, step, body)
				blocks, marks, behind := unmarked(t, body)
				if len(marks) > test.most || test.most > 0 && len(marks) == 0 {
					t.Errorf("%s, step %d: %d breakpoints, want from 1 to %d (%s)", test.name, step, len(marks), test.most, test.why)
				}
				for _, mark := range marks {
					assert.Equal(t, test.mark, mark, "%s, step %d: %s", test.name, step, test.why)
				}
				if test.most == 4 {
					require.Equal(t, len(blocks), behind[len(behind)-1], "%s, step %d: the last breakpoint is after all blocks", test.name, step)
					require.Len(t, marks, len(turn.Cache.Breakpoints), "%s, step %d: as the turn says", test.name, step)
				}
				if turn.Break == nil && (len(blocks) < len(before) || !slices.Equal(blocks[:len(before)], before)) {
					t.Errorf("%s, step %d: blocks changed without a break\n%q\n%q", test.name, step, before, blocks)
				}
				if turn.Break != nil {
					breaks++
				}
				before = blocks
				require.NoError(t, turn.Commit(cupelsession.Usage{}))
				talk.step(rng, []int{1, 2, 1, 3, 12}[rng.IntN(5)])
			}
		}
		assert.Positive(t, breaks, test.name)
	}
}
