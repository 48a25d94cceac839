package cupelchat

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupelchat/agent"
)

// TestEverySubsetIsTakenBack writes subsets of the units of every fixture and of
// unusual bodies, in all of their forms, and asks the rules of the APIs.
func TestEverySubsetIsTakenBack(t *testing.T) {
	n := 20
	if testing.Short() {
		n = 5
	}
	for name, f := range fixtures {
		takeSubsets(t, name, f, fixture(t, name), 3*n)
	}
	for _, f := range writable {
		for _, c := range casesOf(t, f, "good") {
			// A system prompt in the middle may lose the message that it must follow, and
			// turns with signatures may become one with others.
			takeSubsets(t, c.Name, f, c.Body, n, "system-place", "signature")
		}
	}
}

func takeSubsets(t *testing.T, name string, f Format, data []byte, n int, forgiven ...string) {
	t.Helper()
	rng := rand.New(rand.NewPCG(1, 2))
	short := WithForms(func(tool, _ string) []cupel.Variant {
		return []cupel.Variant{{Content: tool + " short", Worth: 0.5}}
	})
	forgiven = append(forgiven, brokenRules(f, data)...)
	for _, opts := range [][]Option{{WithoutPins()}, {short}, {short, WithoutPins()}} {
		c, err := Read(data, f, bytesCounter{}, opts...)
		if err != nil {
			return // some refer to what the API keeps
		}
		for range n {
			share := rng.Float64()
			text, notes := body(t, c, func(unit *cupel.ContextItem) int {
				if rng.Float64() > share {
					return -1
				}
				return rng.IntN(1 + len(unit.Forms()))
			})
			if text == "" {
				continue
			}
			messages := messagesOf(t, f, text)
			if len(messages) == 0 && len(c.messages) > 0 {
				t.Fatalf("%s: an empty conversation", name)
			}
			for _, rule := range brokenRules(f, []byte(text)) {
				// What the user himself wrote stays as it is.
				if len(messages) > 1 && !slices.Contains(forgiven, rule) {
					t.Fatalf("%s: %s\nnotes %q\n%s", name, rule, notes, text)
				}
			}
		}
	}
}

// row is what a test expects of an item.
type row struct {
	kind    cupel.ContextKind
	tokens  int
	pinned  bool
	content string
	more    string // metadata: role, index, messages, tool, tool_call_id
}

func rowOf(item *cupel.ContextItem) row {
	var more []string
	for _, key := range []string{"role", "index", "messages", "tool", "tool_call_id"} {
		if v, ok := item.MetadataValue(key); ok {
			more = append(more, fmt.Sprint(v))
		}
	}
	return row{item.Kind(), item.Tokens(), item.Pinned(), item.Content(), strings.Join(more, " ")}
}

// TestWindowsOfFixtures holds what is written of each fixture in somewhat more than
// half of its tokens.
func TestWindowsOfFixtures(t *testing.T) {
	var got strings.Builder
	for i, name := range slices.Sorted(maps.Keys(fixtures)) {
		c := read(t, fixtures[name], fixture(t, name), WithMediaTokens(30))
		all := totalOf(c.Items(), false)
		size := all * 11 / 20
		w, err := c.Select(t.Context(), []Chooser{agent.New(bytesCounter{}), newest(t)}[i%2], budget(t, size))
		fmt.Fprintf(&got, "== %s in %d of %d tokens\n", name, size, all)
		if err != nil {
			fmt.Fprintf(&got, "%v\n", err)
			continue
		}
		body, err := w.Body()
		require.NoError(t, err)
		fmt.Fprintf(&got, "%q\n%s\n", w.Notes, body)
	}
	golden(t, "windows.txt", got.String())
}
