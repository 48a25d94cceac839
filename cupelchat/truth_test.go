package cupelchat_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupel/pipeline"
	"github.com/wollax/cupel-go/cupel/placer"
	"github.com/wollax/cupel-go/cupel/scorer"
	"github.com/wollax/cupel-go/cupel/slicer"
	"github.com/wollax/cupel-go/cupelchat"
	"github.com/wollax/cupel-go/cupelchat/agent"
)

// counted returns the tokens of a body, read again.
func counted(t *testing.T, f cupelchat.Format, body []byte) int {
	t.Helper()
	c, err := cupelchat.Read(body, f, cupel.HeuristicCounter{})
	require.NoError(t, err, "%.2000s", body)
	return total(c.Items())
}

func total(items []*cupel.ContextItem) int {
	tokens := 0
	for _, item := range items {
		tokens += item.Tokens()
	}
	return tokens
}

// choosers are a pipeline and the preset.
func choosers(t *testing.T) map[string]cupelchat.Chooser {
	t.Helper()
	p, err := pipeline.New(pipeline.Config{Scorer: scorer.Recency{}, Slicer: slicer.Greedy{}, Placer: placer.Chronological{}})
	require.NoError(t, err)
	return map[string]cupelchat.Chooser{"pipeline": p, "preset": agent.New(nil)}
}

// TestTruth has parts that forms keep: what the report says is what the body has.
func TestTruth(t *testing.T) {
	words := strings.Repeat("There is a parcel in Hamburg, and nothing more. ", 60)
	said := fmt.Sprintf(`{"type":"text","text":%q}`, words)
	images := strings.Repeat(`{"type":"image","source":{"type":"url","url":"https://example.org/i.png"}},`, 10) + said
	unknown := `{"type":"hologram","data":"` + strings.Repeat("0123456789", 900) + `"},` + said
	result := `{"type":"mcp_tool_use","id":"m","name":"f","server_name":"s","input":{}},{"type":"mcp_tool_result","tool_use_id":"m","content":[` + said + said[:0] + `]},` + said
	for name, content := range map[string]string{"images": images, "unknown": unknown, "mcp": result} {
		role, more := "user", "assistant"
		if name == "mcp" {
			role, more = more, role
		}
		text := `[{"role":"user","content":"Look."},{"role":"assistant","content":"I do."},{"role":"` + role + `","content":[` + content + `]},
			{"role":"` + more + `","content":` + string(quote(words)) + `},{"role":"assistant","content":"Yes."},{"role":"user","content":"And now?"}]`
		if name == "mcp" {
			require.Empty(t, cupelchat.Check([]byte(text), cupelchat.Anthropic))
		}
		c, err := cupelchat.Read([]byte(text), cupelchat.Anthropic, cupel.HeuristicCounter{})
		require.NoError(t, err)
		fixed, ok := c.Items()[2].MetadataInt("fixed")
		require.True(t, ok, name)
		require.GreaterOrEqual(t, fixed, 500, name)
		assert.Less(t, fixed, c.Items()[2].Tokens(), name)
		for which, chooser := range choosers(t) {
			for target := 60; target < total(c.Items()); target += 397 {
				w, err := c.Select(t.Context(), chooser, budget(t, target))
				require.NoError(t, err)
				body, err := w.Body()
				require.NoError(t, err)
				got := counted(t, cupelchat.Anthropic, body)
				reported := total(w.Items)
				require.LessOrEqual(t, got, target, "%s, %s", name, which)
				require.LessOrEqual(t, got, reported, "%s, %s", name, which)
				require.GreaterOrEqual(t, got, reported-12, "%s, %s", name, which)
			}
		}
	}
}

func quote(text string) []byte {
	data, _ := json.Marshal(text) //nolint:errchkjson // a text can be marshaled
	return data
}

// A request that cannot fit is an error that says what is too large.
func TestTooLarge(t *testing.T) {
	c, err := cupelchat.Read([]byte(`{"system":"`+strings.Repeat("rule ", 100)+`","messages":[{"role":"user","content":[{"type":"text","text":"a"},{"type":"image","source":{"type":"url","url":"u"}}]}]}`), cupelchat.Anthropic, cupel.HeuristicCounter{})
	require.NoError(t, err)
	for name, chooser := range choosers(t) {
		limit := budget(t, 1000)
		_, err = c.Select(t.Context(), chooser, limit)
		large, ok := errors.AsType[*cupelchat.TooLargeError](err)
		require.True(t, ok, "%s: error %v, want that the request is too large", name, err)
		require.ErrorIs(t, err, pipeline.ErrPinnedExceedsBudget, name)
		assert.Equal(t, 1000, large.Budget)
		assert.Equal(t, "messages[0]", large.Parts[0].Path)
		assert.GreaterOrEqual(t, large.Parts[0].Tokens, 1600)
		assert.Equal(t, "system", large.Parts[1].Path)
		require.ErrorAs(t, c.TooLarge(limit, pipeline.ErrOverflow), &large)
		require.NotErrorAs(t, c.TooLarge(limit, errors.ErrUnsupported), &large, "another error")
		assert.Contains(t, err.Error(), "more than the budget of 1,000; these cannot be shortened: messages[0] (media")
	}
}
