package cupelchat

import (
	"encoding/json"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupelchat/agent"
)

// FuzzEdits edits conversations as programs break them, and holds what is selected to
// the budget, to what the API takes, and errors to requests that cannot fit.
func FuzzEdits(f *testing.F) {
	for seed := range uint64(60) {
		f.Add(uint8(seed), seed, uint16(seed*seed))
	}
	f.Fuzz(checkEdits)
}

func checkEdits(t *testing.T, choice uint8, seed uint64, share uint16) {
	t.Helper()
	format := writable[int(choice)%len(writable)]
	rng := rand.New(rand.NewPCG(seed, uint64(choice)))
	var value any
	require.NoError(t, json.Unmarshal(randomBody(rng, format, rng.IntN(3)), &value))
	for range rng.IntN(4) {
		value = edited(rng, value, 1+rng.IntN(8))
	}
	data, err := json.Marshal(value)
	require.NoError(t, err)
	c, err := Read(data, format, cupel.HeuristicCounter{})
	if err != nil || len(c.items) == 0 {
		return
	}
	sound := len(Check(data, format)) == 0
	target := totalOf(c.items, false) * int(share) / math.MaxUint16
	for _, chooser := range []Chooser{newest(t), agent.New(nil)} {
		w, err := c.Select(t.Context(), chooser, budget(t, target))
		if err != nil {
			require.ErrorAs(t, err, new(*TooLargeError), "%s:\n%.1500s", format, data)
			require.Greater(t, leastOf(c), target, "%s: %v, for\n%.1500s", format, err, data)
			continue
		}
		for _, e := range w.Report.Included {
			require.True(t, !isSystem(c.entries[e.Candidate].role) || e.Item.Content() == c.items[e.Candidate].Content(), "it is pinned")
		}
		text, err := w.Body()
		require.NoError(t, err)
		again, err := Read(text, format, cupel.HeuristicCounter{})
		require.NoError(t, err, "%.1500s\nof\n%.1500s", text, data)
		tokens := totalOf(again.items, false)
		require.LessOrEqual(t, tokens, target, "%s:\n%.1500s\nof\n%.1500s", format, text, data)
		require.LessOrEqual(t, tokens, totalOf(w.Items, false)+mark, "%s:\n%.1500s\nof\n%.1500s", format, text, data)
		if len(again.messages) == 0 {
			require.Empty(t, c.messages, "%s:\n%.1500s\nof\n%.1500s", format, text, data)
		}
		if sound {
			require.Empty(t, Check(text, format), "%s: %v in\n%.1500s\nof\n%.1500s", format, w.Notes, text, data)
		}
	}
}

// mark is more than the tokens of a mark for what is left out, in a message.
const mark = 24

// leastOf is a size that a window always fits: what cannot be shortened, and some
// tokens for each text that can.
func leastOf(c *Conversation) int {
	least := mark
	s := &squeeze{Conversation: *c}
	last := c.group(len(c.entries) - 1)
	for i := range c.entries {
		if !c.held(i) && !slices.Contains(last, i) {
			continue
		}
		least += c.entries[i].tokens
		if c.isOurs(i) || !c.held(i) {
			for _, text := range s.textsOf(i) {
				if text.part == none || text.tokens < mark {
					least += mark - text.tokens
				} else {
					least += mark*4 - text.tokens
				}
			}
		}
	}
	return least
}

// edited returns JSON in which something was dropped, doubled, moved, lengthened or
// changed at some depth.
func edited(rng *rand.Rand, value any, depth int) any {
	switch v := value.(type) {
	case object:
		if len(v) == 0 {
			return v
		}
		names := slices.Sorted(maps.Keys(v))
		name, other := names[rng.IntN(len(names))], names[rng.IntN(len(names))]
		switch {
		case depth > 0 && rng.IntN(8) > 0:
			v[name] = edited(rng, v[name], depth-1)
		case rng.IntN(3) == 0:
			delete(v, name)
		case rng.IntN(2) == 0:
			v[name], v[other] = v[other], v[name]
		default:
			v[name] = []any{nil, "", 1.5, object{}, []any{}, true, v[other]}[rng.IntN(7)]
		}
	case []any:
		if len(v) == 0 {
			return v
		}
		i, j := rng.IntN(len(v)), rng.IntN(len(v))
		switch {
		case depth > 0 && rng.IntN(4) > 0:
			v[i] = edited(rng, v[i], depth-1)
		case rng.IntN(3) == 0:
			return slices.Delete(v, i, i+1)
		case rng.IntN(2) == 0:
			v[i], v[j] = v[j], v[i]
		default:
			return slices.Insert(v, i, v[j])
		}
	case string:
		switch rng.IntN(4) {
		case 0:
			roles := []string{"user", "assistant", "tool", "system", "model", "text", "image", "tool_use", "tool_result", "thinking", "t1", ""}
			return roles[rng.IntN(len(roles))]
		case 1:
			return ""
		}
		return v + strings.Repeat([]string{"long ", "line\n", "長い", "{}", " "}[rng.IntN(5)], rng.IntN(20_000))
	}
	return value
}
