package cupelchat

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupelchat/agent"
)

// TestEverySubsetIsTakenBack writes subsets of the units of every fixture and of
// unusual bodies, in all of their forms, and asks the rules of the APIs.
func TestEverySubsetIsTakenBack(t *testing.T) {
	n := 20
	if testing.Short() {
		n = 7
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

// If a chooser takes nothing, the newest message is there.
func TestNothingChosen(t *testing.T) {
	for name, f := range fixtures {
		c := read(t, f, fixture(t, name), WithoutPins())
		text, _ := body(t, c, func(*cupel.ContextItem) int { return -1 })
		assert.NotEmpty(t, text, name)
	}
}

// nestedParts has parts within parts, deeper than an API takes.
const nestedParts = `{"messages":[{"role":"user","content":"x"},{"role":"assistant","content":[{"type":"tool_use","id":"a","name":"f","input":{}}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"a","content":[{"type":"document","source":{"type":"content","content":[{"type":"document","source":{"type":"content","content":[{"type":"document","source":{"type":"content","content":[{"type":"text","text":"deep"}]}}]}}]}}]}]}]}`

// TestWindowsOfBodies holds the items and the transcript of each fixture, and of unusual
// bodies, and what is written of them in parts of their tokens.
func TestWindowsOfBodies(t *testing.T) {
	var got strings.Builder
	add := func(name string, f Format, text []byte, parts ...int) {
		c, err := Read(text, f, bytesCounter{}, WithMediaTokens(30))
		if err != nil {
			return // TestItemsOfBodies has the error
		}
		for _, item := range c.Items() {
			text, err := item.MarshalJSON()
			require.NoError(t, err)
			fmt.Fprintf(&got, "%s\n", text)
		}
		for _, said := range c.Transcript() {
			fmt.Fprintf(&got, "%d %s\n", said.Index, said.JSON)
		}
		all := totalOf(c.Items(), false)
		for i, part := range parts {
			size := all * part / 20
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
	}
	for _, name := range slices.Sorted(maps.Keys(fixtures)) {
		add(name, fixtures[name], fixture(t, name), 11, 11, 8, 15, 17, 13)
	}
	for _, f := range writable {
		for _, c := range casesOf(t, f, "good") {
			add(c.Name, f, c.Body, 14, 16)
		}
	}
	add("nested", Anthropic, []byte(nestedParts), 20)
	golden(t, "windows.txt", got.String())
}
