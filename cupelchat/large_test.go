package cupelchat

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupel/pipeline"
	"github.com/wollax/cupel-go/cupel/placer"
	"github.com/wollax/cupel-go/cupel/scorer"
	"github.com/wollax/cupel-go/cupel/slicer"
)

// TestNothingIsTooLarge has texts of 28 kB in each place that is pinned. Each
// request fits a window of 600 tokens, with the beginning of what the user said.
func TestNothingIsTooLarge(t *testing.T) {
	long := strings.Repeat("Find the parcel of Ann in Hamburg, and say where it is. ", 500)
	short := []string{"Mend cupel/item.go."}
	task, calls := randomTurn{role: "user", texts: short}, randomTurn{role: "assistant", calls: []string{"t7", "t8"}}
	system, results := randomTurn{role: "system", texts: short}, randomTurn{role: "user", results: []string{"t7", "t8"}}
	many := randomTurn{role: "assistant"}
	for i := range 8 {
		many.calls = append(many.calls, fmt.Sprint("t", 400+3*i)) // 800 lines each
	}
	tests := map[string][]randomTurn{
		"task":      {system, {role: "user", texts: []string{long}}, calls, results},
		"last":      {system, task, calls, results, {role: "assistant", texts: short}, {role: "user", texts: []string{long}}},
		"both":      {{role: "user", texts: []string{long}}, {role: "assistant", texts: short}, {role: "user", texts: []string{long}}},
		"result":    {task, {role: "assistant", calls: []string{"t1500"}}, {role: "user", results: []string{"t1500"}}},
		"results":   {system, task, many, {role: "user", results: many.calls}},
		"arguments": {system, task, calls, results},
	}
	chooser, err := pipeline.New(pipeline.Config{Scorer: scorer.Recency{}, Slicer: slicer.Greedy{}, Placer: placer.Chronological{}})
	require.NoError(t, err)
	for name, turns := range tests {
		for _, f := range writable {
			data, err := json.Marshal(render(turns, f))
			require.NoError(t, err)
			if name == "arguments" {
				text := strings.ReplaceAll(string(data), `{\"id\":\"t7\"}`, `{\"id\":\"`+long+`\",\"n\":[1,2]}`)
				data = []byte(strings.ReplaceAll(text, `{"id":"t7"}`, `{"id":"`+long+`","n":[1,2]}`))
			}
			require.Empty(t, Check(data, f), "%s, %s", f, name)
			c, err := Read(data, f, cupel.HeuristicCounter{})
			require.NoError(t, err)
			for _, target := range []int{600, 5000} {
				text := fits(t, c, chooser, target)
				keeps := "Mend cupel/item.go."
				switch name {
				case "task", "last", "both":
					keeps = long[:300]
				case "arguments":
					keeps = "characters left out]"
				}
				if name == "arguments" && target == 5000 {
					assert.GreaterOrEqual(t, len(text), 12_000, "%s", f)
				}
				assert.Contains(t, text, keeps, "%s, %s", f, name)
				assert.NotContains(t, text, `left out]",[`, "%s, %s", f, name)
			}
			budget := budget(t, 600)
			items, _, err := c.ItemsFor(nil, budget)
			require.NoError(t, err)
			assert.LessOrEqual(t, totalOf(items, true), 600, "%s, %s", f, name)
		}
	}
}

func totalOf(items []*cupel.ContextItem, pinned bool) (tokens int) {
	for _, item := range items {
		if item.Pinned() || !pinned {
			tokens += item.Tokens()
		}
	}
	return tokens
}

// fits selects a window, and holds it to the budget, by its own count and read again,
// and to what the API takes.
func fits(t *testing.T, c *Conversation, chooser Chooser, target int) string {
	t.Helper()
	w, err := c.Select(t.Context(), chooser, budget(t, target))
	require.NoError(t, err, "%s at %d", c.format, target)
	text, err := w.Body()
	require.NoError(t, err)
	require.Empty(t, Check(text, c.format), "%s at %d in %.3000s", c.format, target, text)
	again, err := Read(text, c.format, c.counter)
	require.NoError(t, err)
	require.LessOrEqual(t, totalOf(again.items, false), target, "%s: %.3000s", c.format, text)
	require.NotEmpty(t, messagesOf(t, c.format, string(text)))
	return string(text)
}

// An error says how many parts it does not name, and counts the smallest.
func TestTooLargeParts(t *testing.T) {
	c := read(t, OpenAI, []byte(`[{"role":"user","content":[{"type":"image_url","image_url":{"url":"u"}}]}]`), WithMediaTokens(1))
	var e *TooLargeError
	require.ErrorAs(t, c.TooLarge(budget(t, 0), pipeline.ErrOverflow), &e)
	require.Equal(t, []FixedPart{{"messages[0]", "media, thinking and the like", 1}}, e.Parts)
	e.Parts = slices.Repeat(e.Parts, 3)
	require.Equal(t, "cupel: the window has no message in a budget of 7 tokens", (&TooLargeError{Budget: 7, Err: errEmpty}).Error())
	require.Regexp(t, `1 token\)$`, e.Error())
	e.Parts = slices.Repeat(e.Parts[:1], 4)
	require.Regexp(t, `1 token\), and 1 more$`, e.Error())
}

// Pinned messages are as long as the room allows.
func TestPinsTakeTheirRoom(t *testing.T) {
	last := strings.Repeat("word ", 60)
	user := func(parts string) string {
		return `[{"role":"user","content":[` + parts + `{"type":"text","text":"task"}]},{"role":"assistant","content":"answer"},{"role":"user","content":"` + last + `"}]`
	}
	for _, tt := range []struct {
		text  string
		room  int
		notes int
		why   string
	}{
		{user(""), 8 + 304, 0, "they just fit"},
		{user(`{"type":"image_url","image_url":{"url":"u"}},`), 500, 1, "the image goes, and the newest message has the room of both"},
		{`[{"role":"user","content":"` + last + `"}]`, 304, 0, "there is nothing else"},
	} {
		items, notes, err := read(t, OpenAI, []byte(tt.text), WithMediaTokens(1000)).ItemsFor(newest(t), budget(t, tt.room))
		require.NoError(t, err)
		require.Equal(t, last, items[len(items)-1].Content(), tt.why)
		require.Len(t, notes, tt.notes, "%s: %q", tt.why, notes)
	}
	_, _, err := read(t, OpenAI, []byte(`[{"role":"assistant","content":"nobody asks"}]`)).ItemsFor(newest(t), budget(t, 9))
	require.NoError(t, err)
}

// Words and arguments may become shorter, and media go that are in a list of an older
// message.
func TestTextsOf(t *testing.T) {
	image := `[{"type":"image_url","image_url":{"url":"u"}}]`
	c := read(t, OpenAI, []byte(`[{"role":"user","content":`+image+`},{"role":"assistant","audio":{"id":"a"}},{"role":"assistant","content":`+image+`,"tool_calls":[{"function":{"name":"f","arguments":"{}"}}]},{"role":"tool","content":"b"}]`))
	var texts []int
	for i := range c.entries {
		texts = append(texts, len((&squeeze{Conversation: *c}).textsOf(i)))
	}
	require.Equal(t, []int{1, 0, 1, 1}, texts)
}

// The cost of a form that a caller wrote is that of what it changes.
func TestCostOfForms(t *testing.T) {
	const short = `f({"q":"a…[15 characters left out]"})`
	for _, row := range []struct {
		message, form string
		less          int
		why           string
	}{
		{`{"role":"assistant","content":"Look.","audio":{"id":"a"}}`, "L", len("ook."), "a sound that no list has does not go away"},
		{`{"role":"assistant","content":"Look.","refusal":"No."}`, "L", len("ook."), "nor do other words that no list has"},
		{`{"role":"user","content":[{"type":"text","text":"Look."},{"type":"text","text":"There."}]}`, "", len("Look.There.") - len(leftOut), "all words, which leave a sign"},
		{`{"role":"user","content":[{"type":"image_url","image_url":{"url":"u"}}]}`, "L", 100 - len("L"), "words in place of an image"},
		{`{"role":"assistant","content":null,"tool_calls":[{"id":"a","type":"function","function":{"name":"f","arguments":"{}"}}]}`, "L\nf({})", 0, "words that have no place"},
		{`{"role":"assistant","content":null,"tool_calls":[{"id":"a","type":"function","function":{"name":"f","arguments":"{\"q\":\"a long question\"}"}}]}`, short, len(`{"q":"a long question"}`) - len(short) + len("f()"), "arguments that are shorter"},
		{`{"role":"assistant","tool_calls":[{"function":{"name":"f","arguments":"{}"}},{"function":{"name":"f","arguments":"{\"q\":\"a long question\"}"}}]}`, "f({})\n" + short, len(`{"q":"a long question"}`) - len(short) + len("f()"), "those of one call of two"},
	} {
		c := read(t, OpenAI, []byte("["+row.message+"]"), WithMediaTokens(100))
		tokens, err := c.cost(0, row.form)
		require.NoError(t, err)
		require.Equal(t, c.entries[0].tokens-row.less, tokens, row.why)
	}
}

// A shortened text is shorter, and is cut between characters.
func TestShortString(t *testing.T) {
	long := strings.Repeat("éa", 30)
	for most := range len(long) {
		got := shortString(long, most)
		require.True(t, got == long || len(got) < len(long) && utf8.ValidString(got), got)
	}
}

// The error of a counter reaches the caller, whichever text it is for.
func TestCounterFailsAtAnyText(t *testing.T) {
	long := strings.Repeat("Find the parcel of Ann in Hamburg, and say where it is. ", 40)
	image := `{"type":"image","source":{"type":"url","url":"u"}}`
	body := []byte(`{"messages":[{"role":"user","content":"` + long + `"},{"role":"assistant","content":"No."},{"role":"user","content":[` + image + `,{"type":"text","text":"` + long + `"}]},
		{"role":"assistant","content":[{"type":"tool_use","id":"a","name":"f","input":{"q":"` + long + `"}}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"a","content":"` + long + `"}]},
		{"role":"assistant","content":"No."},{"role":"user","content":"` + long + `"}]}`)
	for name, use := range map[string]func(*Conversation) error{
		"Select":   func(c *Conversation) error { return second(c.Select(t.Context(), newest(t), budget(t, 1500))) },
		"ItemsFor": func(c *Conversation) error { return third(c.ItemsFor(newest(t), budget(t, 1500))) },
		"With":     func(c *Conversation) error { return second(c.With(WithMarks(sameMark{}))) },
		"Compose": func(c *Conversation) error {
			return third(c.Compose([]Piece{{Candidates: []int{6}, Content: "Find."}}, 1500))
		},
		"Fit": func(c *Conversation) error {
			return second(Fit(t.Context(), json.RawMessage(body), Anthropic, newest(t), budget(t, 1500), c.counter, WithMediaTokens(20)))
		},
	} {
		for fails := 1; ; fails++ {
			counter := &failsAt{at: fails}
			c, err := Read(body, Anthropic, counter, WithMediaTokens(20), WithPins(true, true, 2))
			if err == nil {
				err = use(c)
			}
			if counter.n < fails {
				require.NoError(t, err)
				break
			}
			require.ErrorIs(t, err, errCounter, "%s, count %d", name, fails)
		}
	}
}

func second[A any](_ A, err error) error        { return err }
func third[A, B any](_ A, _ B, err error) error { return err }

// failsAt is a counter that fails once.
type failsAt struct{ n, at int }

func (f *failsAt) CountTokens(text string) (int, error) {
	if f.n++; f.n == f.at {
		return 0, errCounter
	}
	return len(text) / 2, nil
}

// sameMark gives each content a mark.
type sameMark struct{}

func (sameMark) Mark(string, string) string { return "[r1]" }
