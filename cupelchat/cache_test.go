package cupelchat

import (
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
