package cupelchat

import (
	"encoding/json"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupelchat/agent"
)

// FuzzEarlier lets a conversation grow and change from body to body, and holds what is
// read after an earlier one to what is read alone.
func FuzzEarlier(f *testing.F) {
	for seed := range uint64(12) {
		f.Add(uint8(seed), seed)
	}
	f.Fuzz(func(t *testing.T, choice uint8, seed uint64) {
		format := writable[int(choice)%len(writable)]
		rng := rand.New(rand.NewPCG(seed, uint64(choice)))
		request := map[string]any{}
		require.NoError(t, json.Unmarshal(randomBody(rng, format, rng.IntN(3)), &request))
		var before *Conversation
		for range 6 {
			body, err := json.Marshal(request)
			require.NoError(t, err)
			before = sameAsAlone(t, rng, body, format, before)
			changed(rng, request, formats[format].rules.list, format)
		}
	})
}

// changed makes a request that of a later turn: it appends messages of another
// conversation, or changes something as well, most often near the end.
func changed(rng *rand.Rand, request map[string]any, name string, format Format) {
	more := map[string]any{}
	if json.Unmarshal(randomBody(rng, format, rng.IntN(2)), &more) != nil {
		return
	}
	list, _ := request[name].([]any)
	switch at := max(0, len(list)-rng.IntN(5)); rng.IntN(8) {
	case 0:
		_ = edited(rng, request, rng.IntN(8))
		list, _ = request[name].([]any)
	case 1:
		for i := at; i < len(list); i++ {
			list[i] = edited(rng, list[i], rng.IntN(4))
		}
	case 2:
		list = list[:at]
	case 3:
		if len(list) > 0 {
			if m, ok := list[rng.IntN(len(list))].(map[string]any); ok {
				m[cacheControl] = map[string]any{"type": "ephemeral"}
			}
		}
	}
	added, _ := more[name].([]any)
	if _, ok := request[name].(string); !ok {
		request[name] = append(slices.Clone(list), added[:rng.IntN(len(added)+1)]...)
	}
}

// sameAsAlone reads a body after an earlier conversation and alone, compares, and
// returns the conversation.
func sameAsAlone(t *testing.T, rng *rand.Rand, body []byte, format Format, before *Conversation) *Conversation {
	t.Helper()
	var opts []Option
	switch rng.IntN(6) {
	case 0:
		opts = append(opts, WithPins(rng.IntN(2) == 0, rng.IntN(2) == 0, rng.IntN(2)))
	case 1:
		opts = append(opts, WithoutPins())
	case 2:
		opts = append(opts, WithMediaTokens(rng.IntN(3)))
	case 3:
		form := string(rune('a' + rng.IntN(2)))
		opts = append(opts, WithForms(func(tool, _ string) []cupel.Variant { return []cupel.Variant{{Content: form + tool, Worth: 0.5}} }))
	}
	alone, wrong := Read(body, format, cupel.HeuristicCounter{}, opts...)
	after, err := Read(body, format, cupel.HeuristicCounter{}, append(opts, WithEarlier(before))...)
	require.Equal(t, wrong, err)
	if err != nil {
		return before
	}
	if rng.IntN(3) == 0 {
		require.Equal(t, alone.Items(), after.Items())
	}
	require.Equal(t, alone.items, after.items, "%s", body)
	require.Equal(t, alone.groups, after.groups)
	require.Equal(t, alone.Notes(), after.Notes())
	require.Equal(t, alone.Blocks(), after.Blocks())
	require.Equal(t, alone.Transcript(), after.Transcript())
	if len(alone.items) == 0 {
		return after
	}
	var pieces []Piece
	for i := range alone.items {
		if piece := (Piece{Candidates: []int{i}}); rng.IntN(4) > 0 {
			if rng.IntN(4) == 0 {
				piece.Breakpoint = fiveMinutes
			}
			pieces = append(pieces, piece)
		}
	}
	want, said, wrong := alone.Compose(pieces, totalOf(alone.items, false))
	got, notes, err := after.Compose(pieces, totalOf(alone.items, false))
	require.Equal(t, wrong, err)
	require.Equal(t, string(want), string(got))
	require.Equal(t, said, notes)
	target := totalOf(alone.items, false) * rng.IntN(100) / 100
	for _, chooser := range []Chooser{newest(t), agent.New(nil)} {
		want, wrong := alone.Select(t.Context(), chooser, budget(t, target))
		got, err := after.Select(t.Context(), chooser, budget(t, target))
		require.Equal(t, wrong, err)
		if err != nil {
			continue
		}
		require.Equal(t, want.Items, got.Items)
		require.Equal(t, want.Notes, got.Notes)
		require.Equal(t, string(want.body), string(got.body))
	}
	return after
}

// TestEarlierOfAnotherKind has earlier conversations from which nothing can be taken.
func TestEarlierOfAnotherKind(t *testing.T) {
	body := []byte(`{"messages":[{"role":"user","content":"One."},{"role":"assistant","content":"Two."},{"role":"user","content":"Three."}]}`)
	longer := []byte(strings.Replace(string(body), `]`, `,{"role":"assistant","content":"Four."},{"role":"user","content":"Five."}]`, 1))
	alone, err := Read(longer, OpenAI, bytesCounter{})
	require.NoError(t, err)
	for name, earlier := range map[string]func() (*Conversation, error){
		"nothing":         func() (*Conversation, error) { return nil, nil },
		"another format":  func() (*Conversation, error) { return Read(body, Ollama, bytesCounter{}) },
		"another counter": func() (*Conversation, error) { return Read(body, OpenAI, cupel.HeuristicCounter{}) },
		"a function":      func() (*Conversation, error) { return Read(body, OpenAI, countedBy(func(string) int { return 7 })) },
		"other tools": func() (*Conversation, error) {
			return Read(slices.Concat([]byte(`{"tools":[{"type":"function"}],`), body[1:]), OpenAI, bytesCounter{})
		},
	} {
		before, err := earlier()
		require.NoError(t, err, name)
		after, err := Read(longer, OpenAI, bytesCounter{}, WithEarlier(before))
		require.NoError(t, err, name)
		assert.Equal(t, alone.Items(), after.Items(), name)
		assert.Nil(t, after.formed.earlier, "%s: a session would hold all its turns", name)
		assert.Zero(t, after.kept, name)
	}
	calls := 0
	counter := countedBy(func(text string) int { calls++; return len(text) })
	before, err := Read(body, OpenAI, counter)
	require.NoError(t, err)
	_, err = Read(longer, OpenAI, counter, WithEarlier(before))
	require.NoError(t, err, "functions cannot be compared")
	assert.Equal(t, 3+5, calls)
}

// countedBy is a counter that cannot be compared.
type countedBy func(text string) int

func (c countedBy) CountTokens(text string) (int, error) { return c(text), nil }

// TestEarlierReadsTheRest counts what is counted: the texts of messages that follow.
func TestEarlierReadsTheRest(t *testing.T) {
	for name, change := range map[string]func(list []any) []any{
		"appended":         func(list []any) []any { return list },
		"breakpoint moved": func(list []any) []any { delete(list[len(list)-1].(map[string]any), cacheControl); return list },
	} {
		counter := &countedTexts{}
		list := []any{map[string]any{"role": "user", "content": "Begin."}}
		for range 500 {
			list = append(list, map[string]any{"role": "assistant", "content": "I go on."}, map[string]any{"role": "user", "content": "Go on."})
		}
		list[len(list)-1].(map[string]any)[cacheControl] = map[string]any{"type": "ephemeral"}
		read := func(before *Conversation) *Conversation {
			body, err := json.Marshal(map[string]any{"messages": list, "model": "m"})
			require.NoError(t, err)
			c, err := Read(body, OpenAI, counter, WithEarlier(before))
			require.NoError(t, err)
			return c
		}
		before := read(nil)
		assert.Equal(t, len(list), counter.n, name)
		assert.Equal(t, "m", before.Model())
		counter.n = 0
		list = append(change(list), map[string]any{"role": "assistant", "content": "So."}, map[string]any{"role": "user", "content": "And?"})
		after := read(before)
		assert.Less(t, counter.n, 8, name)
		assert.Same(t, before.items[1], after.items[1], name)
	}
}

// countedTexts counts how many texts are counted.
type countedTexts struct{ n int }

func (c *countedTexts) CountTokens(text string) (int, error) {
	c.n++
	return len(text), nil
}
