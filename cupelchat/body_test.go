package cupelchat

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/wollax/cupel-go/cupel"
)

func TestEverythingIsTheSameText(t *testing.T) {
	for name, f := range fixtures {
		t.Run(name, func(t *testing.T) {
			data := fixture(t, name)
			got, notes := body(t, read(t, f, data), everything)
			if got != string(data) {
				t.Errorf("got\n%s\nwant\n%s", got, data)
			}
			if len(notes) > 0 {
				t.Errorf("notes %q, want none", notes)
			}
		})
	}
}

// TestEverySubsetIsTakenBack writes subsets of the units of every fixture, in all
// of their forms, and asks the rules of the APIs.
func TestEverySubsetIsTakenBack(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for name, f := range fixtures {
		data := fixture(t, name)
		short := WithForms(func(_, text string) []cupel.Variant {
			return []cupel.Variant{{Content: "short", Worth: 0.5}}
		})
		for _, opts := range [][]Option{{WithoutPins()}, {short}, {short, WithoutPins()}} {
			c := read(t, f, data, opts...)
			forgiven := brokenRules(f, data)
			for range 400 {
				share := rng.Float64()
				chosen := map[*cupel.ContextItem]int{}
				text, notes := body(t, c, func(unit *cupel.ContextItem) int {
					if rng.Float64() > share {
						return -1
					}
					chosen[unit] = rng.IntN(1 + len(unit.Forms()))
					return chosen[unit]
				})
				if text == "" {
					continue
				}
				messages := messagesOf(t, f, text)
				for _, rule := range brokenRules(f, []byte(text)) {
					// What the user himself wrote stays as it is.
					if len(messages) > 1 && !slices.Contains(forgiven, rule) {
						t.Fatalf("%s: %s\nnotes %q\n%s", name, rule, notes, text)
					}
				}
				if len(messages) == 0 {
					t.Fatalf("%s: an empty conversation", name)
				}
				if _, err := Read([]byte(text), f, bytesCounter{}); err != nil {
					t.Fatalf("%s: cannot be read again: %v\n%s", name, err, text)
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
