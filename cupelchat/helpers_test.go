package cupelchat

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupel/pipeline"
	"github.com/wollax/cupel-go/cupel/placer"
	"github.com/wollax/cupel-go/cupel/strategy"
)

// bytesCounter counts a token for each byte, so that expected numbers can be
// worked out by looking at the text.
type bytesCounter struct{}

func (bytesCounter) CountTokens(text string) (int, error) { return len(text), nil }

// fixtures are the conversations of testdata.
var fixtures = map[string]Format{
	"openai-chat.json":           OpenAI,
	"openai-legacy.json":         OpenAI,
	"openai-messages.jsonl":      OpenAI,
	"openai-responses.json":      Responses,
	"openai-responses-text.json": Responses,
	"anthropic.json":             Anthropic,
	"anthropic-messages.json":    Anthropic,
	"gemini.json":                Gemini,
	"bedrock.json":               Bedrock,
	"ollama.json":                Ollama,
}

func fixture(t testing.TB, name string) []byte {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", name))
	require.NoError(t, err)
	return data
}

func read(t testing.TB, f Format, data []byte, opts ...Option) *Conversation {
	t.Helper()
	c, err := Read(data, f, bytesCounter{}, opts...)
	require.NoError(t, err)
	return c
}

var update = flag.Bool("update", false, "write the golden files")

// golden compares a text with that of a file in testdata.
func golden(t *testing.T, name, got string) {
	t.Helper()
	file := filepath.Join("testdata", name)
	if *update {
		require.NoError(t, os.WriteFile(file, []byte(got), 0o600))
	}
	want, err := os.ReadFile(file)
	require.NoError(t, err)
	require.Equal(t, strings.ReplaceAll(string(want), "\r\n", "\n"), got)
}

// form says what a test wants of a unit: -1 for out, 0 for all of it, or one of
// its smaller forms.
type form func(unit *cupel.ContextItem) int

// chooser returns a pipeline that selects what want says, and nothing that is not
// pinned otherwise.
func chooser(t testing.TB, want form) *pipeline.Pipeline {
	t.Helper()
	p, err := pipeline.New(pipeline.Config{
		Scorer: strategy.ScorerFunc(func(*cupel.ContextItem, []*cupel.ContextItem) float64 { return 1 }),
		Slicer: strategy.SlicerFunc(func(_ context.Context, items []cupel.ScoredItem, _ cupel.SliceBudget) (strategy.Selection, error) {
			var s strategy.Selection
			for i, item := range items {
				switch n := want(item.Item); {
				case n == 0:
					s.Indices = append(s.Indices, i)
				case n > 0:
					s.Smaller = append(s.Smaller, strategy.SmallerForm{Index: i, Form: n})
				}
			}
			return s, nil
		}),
		Placer:   placer.Chronological{},
		Overflow: pipeline.OverflowProceed,
	})
	require.NoError(t, err)
	return p
}

func budget(t testing.TB, tokens int) cupel.ContextBudget {
	t.Helper()
	b, err := cupel.NewContextBudget(tokens, tokens)
	require.NoError(t, err)
	return b
}

// body selects what want says, and returns what is written with the notes: nothing if
// no message is left. What is written, read again, has the lines of what was selected.
func body(t testing.TB, c *Conversation, want form) (string, []string) {
	t.Helper()
	w, err := c.Select(t.Context(), chooser(t, want), budget(t, 1e6))
	if errors.Is(err, errEmpty) {
		return "", nil
	}
	require.NoError(t, err)
	text, err := w.Body()
	require.NoError(t, err)
	again, err := Read(text, c.format, bytesCounter{})
	require.NoError(t, err)
	require.Equal(t, linesOf(w.Items), linesOf(again.Items()), "%s", text)
	return string(text), w.Notes
}

// linesOf returns the lines of items that say something, but for those of one that has no
// tokens since another one says the same.
func linesOf(items []*cupel.ContextItem) []string {
	var lines []string
	for _, item := range items {
		if item.Tokens() > 0 && item.Content() != "(empty)" {
			lines = append(lines, strings.Split(item.Content(), "\n")...)
		}
	}
	lines = slices.DeleteFunc(lines, func(line string) bool { return line == "" })
	slices.Sort(lines)
	return lines
}

func everything(*cupel.ContextItem) int { return 0 }

// object is a message as encoding/json has it.
type object = map[string]any

// messagesOf returns the messages of a body.
func messagesOf(t testing.TB, f Format, text string) []object {
	t.Helper()
	var value any
	if err := json.Unmarshal([]byte(text), &value); err != nil {
		list := []any{}
		for line := range strings.Lines(text) {
			if strings.TrimSpace(line) == "" {
				continue
			}
			var message any
			require.NoError(t, json.Unmarshal([]byte(line), &message), text)
			list = append(list, message)
		}
		value = list
	}
	if request, ok := value.(object); ok {
		if value = request[formats[f].rules.list]; value == nil {
			value = []any{request}
		}
	}
	if text, ok := value.(string); ok {
		return []object{{"role": "user", "content": text}}
	}
	var messages []object
	for _, message := range value.([]any) {
		messages = append(messages, message.(object))
	}
	return messages
}

// brokenRules are the rules that a body breaks. Those of calls and results are one:
// which of them an API names first depends on what else is there.
func brokenRules(f Format, body []byte) []string {
	var names []string
	for _, v := range Check(body, f) {
		rule := v.Rule
		if strings.Contains(rule, "call") || strings.Contains(rule, "result") {
			rule = "calls and results"
		}
		if !slices.Contains(names, rule) {
			names = append(names, rule)
		}
	}
	return names
}
