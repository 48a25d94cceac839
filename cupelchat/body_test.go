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

// moreOf returns metadata of an item.
func moreOf(item *cupel.ContextItem) string {
	var more []string
	for _, key := range []string{"role", "index", "messages", "tool", "tool_call_id"} {
		if v, ok := item.MetadataValue(key); ok {
			more = append(more, fmt.Sprint(v))
		}
	}
	return strings.Join(more, " ")
}

// If a chooser takes nothing, the newest message is there.
func TestNothingChosen(t *testing.T) {
	for name, f := range fixtures {
		c := read(t, f, fixture(t, name), WithoutPins())
		text, _ := body(t, c, func(*cupel.ContextItem) int { return -1 })
		assert.NotEmpty(t, text, name)
	}
}

// TestWindowsOfBodies holds the items and the transcript of each fixture, and of unusual
// bodies, and what is written of them in parts of their tokens.
func TestWindowsOfBodies(t *testing.T) {
	var got strings.Builder
	add := func(name string, f Format, text []byte, option Option, parts ...int) {
		c, err := Read(text, f, bytesCounter{}, WithMediaTokens(30), option)
		if err != nil {
			return // TestItemsOfBodies has the error
		}
		fmt.Fprintf(&got, "== %s %q\n", name, c.Notes())
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
		add(name, fixtures[name], fixture(t, name), nil, 11, 11, 8, 15, 17, 13)
	}
	for _, f := range writable {
		for _, c := range casesOf(t, f, "good") {
			add(c.Name, f, c.Body, nil, 14, 16)
		}
	}
	for _, row := range []struct {
		why  string
		f    Format
		body string
	}{
		{"long: what is shortened ends with a mark", Anthropic, `{"messages":[{"role":"user","content":"Look."},{"role":"assistant","content":[{"type":"text","text":"I do."},{"type":"tool_use","id":"a","name":"f","input":{"q":"x"}},{"type":"tool_use","id":"b","name":"g","input":{}}]},
			{"role":"user","content":[{"type":"tool_result","tool_use_id":"a","content":[{"type":"image","source":{"type":"url","url":"u"}},{"type":"text","text":"` + strings.Repeat("12:01 INFO all is well\\n", 9) + `ERROR the oven of shop/bake.go:17 is stuck"}]},{"type":"tool_result","tool_use_id":"b","content":"` + strings.Repeat("A parcel for Ann is in Hamburg. ", 9) + `"}]},
			{"role":"assistant","content":"` + strings.Repeat("There is a parcel, and the oven is stuck. ", 9) + `"},{"role":"user","content":[{"type":"image","source":{"type":"url","url":"v"}},{"type":"text","text":"` + strings.Repeat("This is what I have seen. ", 9) + `"}]},{"role":"assistant","content":"Yes."},{"role":"user","content":"And now?"}]}`},
		{"nested: parts within parts, deeper than an API takes", Anthropic, `{"messages":[{"role":"user","content":"x"},{"role":"assistant","content":[{"type":"tool_use","id":"a","name":"f","input":{}}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"a","content":[{"type":"document","source":{"type":"content","content":[{"type":"document","source":{"type":"content","content":[{"type":"document","source":{"type":"content","content":[{"type":"text","text":"deep"}]}}]}}]}}]}]}]}`},
		{"no ids: a server may give no ids, and objects for arguments", OpenAI, `[{"role":"assistant","tool_calls":[{"function":{"name":"f","arguments":{"a": 1}}},{"function":{"name":"g"}}]},{"role":"tool","content":"one"},{"role":"tool","content":"two"},{"role":"user","content":"x"}]`},
		{"anthropic document: a document of text is text, and one that is a file is estimated", Anthropic, `[{"role":"user","content":[{"type":"document","title":"T","source":{"type":"text","data":"text"}},{"type":"document","source":{"type":"url","url":"http://e.org/p"}},
			{"type":"document","source":{"type":"content","content":[{"type":"text","text":"c"}]}}]}]`},
		{"responses: reasoning stays with what follows from it; parallel calls at the end are all pinned", Responses, `{"instructions":"I","input":[{"role":"user","content":"q"},{"type":"reasoning","summary":[{"type":"summary_text","text":"s"}]},{"type":"message","role":"assistant","content":[{"type":"output_text","text":"m"}]},
			{"type":"function_call","call_id":"1","name":"f","arguments":"a"},{"role":"user","content":"w"},
			{"type":"function_call","call_id":"2","name":"g","arguments":"b"},{"type":"function_call","call_id":"3","name":"h","arguments":"c"},
			{"type":"function_call_output","call_id":"2","output":"G"},{"type":"function_call_output","call_id":"3","output":"H"}]}`},
		{"result of the model: the API refuses it, and it answers no call", Anthropic, `[{"role":"user","content":"q"},{"role":"assistant","content":[{"type":"tool_result","tool_use_id":"a","content":"r"}]}]`},
		{"image of a tool: the API makes it in a call of its own", Responses, `[{"role":"user","content":"q"},{"type":"image_generation_call","id":"ig_1","status":"completed","result":"aGk="}]`},
		{"empty name: a member whose name is empty is no system prompt", OpenAI, `{"":"s","messages":[{"role":"user","content":"x"}]}`},
		{"origins: those of the roles and of tools", OpenAI, `{"tools":[{}],"messages":[{"role":"developer","content":"d"},{"role":"user","content":"u"},
		{"role":"assistant","content":"a"},{"role":"assistant","tool_calls":[{"id":"1","function":{"name":"f"}}]}]}`},
		{"times, none: times that are made up are seconds since 1970, in the order of the messages", OpenAI, `[{"role":"user","content":"x"},{"role":"user","content":"x"},{"role":"user","content":"x"}]`},
		{"times, some: a message without a time comes right behind the one before it, or right before the first that has one", OpenAI, `[{"role":"user","content":"x"},{"role":"user","content":"x","timestamp":"2026-01-02T03:04:05+01:00"},{"role":"user","content":"x"},{"role":"user","content":"x","created_at":1767323046}]`},
		{"times, numbers: seconds may have fractions, and large numbers are milliseconds", OpenAI, `[{"role":"user","content":"x","created":1.5},{"role":"user","content":"x","timestamp":1767323046123}]`},
		{"times, years: times of the first and the last year of four digits are not used, since those next to them may have another number of digits", OpenAI, `[{"role":"user","content":"x","timestamp":"0002-01-02T03:04:05Z"},{"role":"user","content":"x","timestamp":"0001-12-31T03:04:05Z"},{"role":"user","content":"x","timestamp":"9998-01-02T03:04:05Z"},{"role":"user","content":"x","timestamp":"9999-01-02T03:04:05Z"}]`},
		{"not a time: what is no time is not used", OpenAI, `[{"role":"user","content":"x","timestamp":"yesterday"},{"role":"user","content":"x","timestamp":1e300},{"role":"user","content":"x","timestamp":{}},{"role":"user","content":"x","timestamp":-99999999999}]`},
	} {
		add(row.why, row.f, []byte(row.body), WithMarks(sameMark{}), 18, 12)
	}
	golden(t, "windows.txt", got.String())
}
