package cupelchat

import (
	"encoding/json"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"github.com/wollax/cupel-go/cupel"
)

// speakers collects the words of a request by who says them: tool is a result.
type speakers map[string]map[string]bool

func wordsBySpeaker(t *testing.T, f Format, body []byte) speakers {
	t.Helper()
	var request object
	require.NoError(t, json.Unmarshal(body, &request), "%s", body)
	said := speakers{"user": {}, "assistant": {}, "tool": {}, "system": {}}
	for _, name := range []string{"system", "systemInstruction", "instructions"} {
		said.collect("system", request[name])
	}
	list, _ := request[formats[f].rules.list].([]any)
	for _, m := range list {
		message := m.(object)
		role, _ := message["role"].(string)
		kind, _ := message["type"].(string)
		switch {
		case strings.HasSuffix(kind, "_output"):
			role = "tool"
		case role == "model" || role == "":
			role = "assistant"
		}
		said.collect(role, message)
	}
	return said
}

func (s speakers) collect(role string, value any) {
	switch v := value.(type) {
	case string:
		for word := range strings.FieldsSeq(v) {
			s[role][word] = true
		}
	case []any:
		for _, element := range v {
			s.collect(role, element)
		}
	case object:
		if v["type"] == "tool_result" || v["functionResponse"] != nil || v["toolResult"] != nil {
			role = "tool"
		}
		for _, name := range slices.Sorted(maps.Keys(v)) {
			s.collect(role, v[name])
		}
	}
}

// TestRank holds that what a tool says is never said by the user or the system: a
// provider gives their words more authority.
func TestRank(t *testing.T) {
	for _, f := range writable {
		rng := rand.New(rand.NewPCG(21, uint64(f)))
		moved, n := 0, 100
		if testing.Short() {
			n = 20
		}
		for range n {
			data := randomBody(rng, f, rng.IntN(3))
			c, err := Read(data, f, bytesCounter{}, WithPins(rng.IntN(2) == 0, rng.IntN(2) == 0))
			if err != nil {
				continue
			}
			before := wordsBySpeaker(t, f, data)
			share := rng.Float64()
			chosen, _ := body(t, c, func(unit *cupel.ContextItem) int {
				if rng.Float64() > share {
					return -1
				}
				return len(unit.Forms()) - rng.IntN(1+len(unit.Forms()))
			})
			var bodies []string
			if chosen != "" {
				bodies = append(bodies, chosen)
			}
			if n := len(c.items); n > 3 {
				from := rng.IntN(n - 2)
				summary := Piece{Content: "summary"}
				for at := from; at < n-1; at++ {
					summary.Candidates = append(summary.Candidates, at)
					summary.Content += " " + c.items[at].Content()
				}
				composed, _, err := c.Compose([]Piece{summary, {Candidates: []int{n - 1}}}, 1e6)
				require.NoError(t, err)
				bodies = append(bodies, string(composed))
			}
			for _, text := range bodies {
				after := wordsBySpeaker(t, f, []byte(text))
				for word := range before["tool"] {
					if before["user"][word] || before["system"][word] || before["assistant"][word] {
						continue
					}
					if after["user"][word] || after["system"][word] {
						t.Fatalf("%s: %q of a result is said by another\n%s\nof\n%s", f, word, text, data)
					}
					if after["assistant"][word] {
						moved++
					}
				}
			}
		}
		assert.GreaterOrEqual(t, moved, 20, "%s", f)
	}
}
