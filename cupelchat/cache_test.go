package cupelchat

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestBreakpointsOfBedrock(t *testing.T) {
	const point = `, {"cachePoint": {"type": "default"}}`
	const text = `{"system":[{"text":"s"},{"cachePoint":{"type":"default","ttl":"1h"}}],"messages":[{"role":"user","content":[{"cachePoint":{"type":"default"}},{"text":"task"}]},
	{"role":"assistant","content":[{"text":"a"},{"reasoningContent":{"reasoningText":{"text":"t"}}}]},{"role":"user","content":[{"text":"new"},{"cachePoint":{"type":"default"}}]}]}`
	want := strings.NewReplacer(
		`{"type":"default","ttl":"1h"}`, `{"type": "default"}`, // no time to live may be longer than one before it
		`{"cachePoint":{"type":"default"}},{"text":"task"}`, `{"text":"task"}`,
	).Replace(text)
	marked := func(text string, marked ...int) string {
		c := read(t, Bedrock, []byte(text))
		pieces := make([]Piece, len(c.Items()))
		for i := range pieces {
			pieces[i].Candidates = []int{i}
			if slices.Contains(marked, i) {
				pieces[i].Breakpoint = "5m"
			}
		}
		got, _, err := c.Compose(pieces, 1e6)
		require.NoError(t, err)
		return string(got)
	}
	assert.Equal(t, want, marked(text, 0, 3))
	const plain = `{"system":[{"text":"s"}],"messages":[{"role":"user","content":[{"text":"task"}]}]}`
	got := marked(plain, 0, 1)
	assert.Equal(t, strings.NewReplacer(`{"text":"s"}`, `{"text":"s"}`+point, `{"text":"task"}`, `{"text":"task"}`+point).Replace(plain), got)
}

// flat returns the blocks of a body without breakpoints, and after how many of them
// breakpoints are.
func flat(t *testing.T, body []byte) (blocks []string, after []int) {
	t.Helper()
	var request struct {
		System   any
		Messages []struct{ Content any }
	}
	require.NoError(t, json.Unmarshal(body, &request))
	add := func(content any) {
		list, ok := content.([]any)
		if !ok && content != nil {
			list = []any{object{"type": "text", "text": content}}
		}
		for _, v := range list {
			block := v.(object)
			if block["cachePoint"] != nil {
				after = append(after, len(blocks))
				continue
			}
			if block["cache_control"] != nil {
				require.Equal(t, "ephemeral", block["cache_control"].(object)["type"])
				after = append(after, len(blocks)+1)
			}
			delete(block, "cache_control")
			text, err := json.Marshal(block)
			require.NoError(t, err)
			blocks = append(blocks, string(text))
		}
	}
	add(request.System)
	for _, message := range request.Messages {
		add(message.Content)
	}
	return blocks, after
}

// Breakpoints are after the pieces that want one, the latest four, and nowhere else.
func TestBreakpoints(t *testing.T) {
	for seed := range uint64(200) {
		rng := rand.New(rand.NewPCG(seed, 9))
		f := []Format{Anthropic, Bedrock}[seed%2]
		data := randomBody(rng, f, 0)
		auto := seed%8 == 0
		if auto {
			data = append([]byte(`{"cache_control":{"ttl":"1h"},`), data[1:]...)
		}
		c := read(t, f, data)
		pieces, want := make([]Piece, len(c.Items())), []int(nil)
		count := 0 // blocks, of what is no definition of a tool
		for i := range pieces {
			pieces[i].Candidates = []int{i}
			if c.Items()[i].Kind() == KindTools {
				continue
			}
			if count += c.Blocks()[i]; rng.IntN(3) == 0 {
				pieces[i].Breakpoint = []string{"5m", "1h"}[seed%4/2]
				want = append(want, count)
			}
		}
		body, _, err := c.Compose(pieces, 1e6)
		require.NoError(t, err)
		blocks, _ := flat(t, data)
		got, after := flat(t, body)
		require.Equal(t, blocks, got, "seed %d", seed)
		if want != nil {
			if want = want[max(0, len(want)-4):]; auto { // the end has one
				want = slices.DeleteFunc(want, func(n int) bool { return n == count })
			}
			require.ElementsMatch(t, want, after, "seed %d: %s", seed, body)
			require.Equal(t, seed%4 > 1 || auto && len(want) > 0, strings.Contains(string(body), `"ttl": "1h"`), "seed %d: %s", seed, body)
		}
	}
}

// A breakpoint on the definition of a tool is not what the model reads: it has no tokens,
// and changes no item.
func TestBreakpointsOfDefinitions(t *testing.T) {
	const text = `{"tools":[{"name":"a","input_schema":{"type":"object"}%s}],"messages":[{"role":"user","content":"x"}]}`
	plain, marked := read(t, Anthropic, fmt.Appendf(nil, text, "")), read(t, Anthropic, fmt.Appendf(nil, text, `, "cache_control": {"type": "ephemeral"}`))
	require.Equal(t, plain.items[0].Content(), marked.items[0].Content())
	require.Equal(t, plain.items[0].Tokens(), marked.items[0].Tokens())
	body, _, err := marked.Compose([]Piece{{Candidates: []int{0}}, {Candidates: []int{1}, Breakpoint: "5m"}}, 1e6)
	require.NoError(t, err)
	require.Equal(t, 1, strings.Count(string(body), cacheControl), "no other")
}
