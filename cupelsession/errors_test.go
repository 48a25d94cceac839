package cupelsession_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupel/pipeline"
	"github.com/wollax/cupel-go/cupelchat"
	"github.com/wollax/cupel-go/cupelchat/agent"
	"github.com/wollax/cupel-go/cupelsession"
)

// failsAt is a counter, and a chooser, that fails once.
type failsAt struct {
	cupelchat.Chooser
	n, at int
}

var errOnce = errors.New("not this time")

func (f *failsAt) fail() error {
	if f.n++; f.n == f.at {
		return errOnce
	}
	return nil
}

func (f *failsAt) CountTokens(text string) (int, error) {
	tokens, _ := cupel.HeuristicCounter{}.CountTokens(text)
	return tokens, f.fail()
}

func (f *failsAt) RunReport(ctx context.Context, items []*cupel.ContextItem, budget cupel.ContextBudget, opts ...pipeline.RunOption) ([]*cupel.ContextItem, *cupel.SelectionReport, error) {
	if err := f.fail(); err != nil {
		return nil, nil, err
	}
	return f.Chooser.RunReport(ctx, items, budget, opts...)
}

// The error of a counter or a chooser reaches the caller, whichever call fails, and leaves
// no trace: the session goes on as one that never failed.
func TestCallsThatFail(t *testing.T) {
	for _, part := range []string{"counter", "preset's counter", "chooser"} {
		want := ""
		for at := 0; ; at += 1 + at/2 { // later turns are alike
			fails := &failsAt{Chooser: agent.New(nil), at: at}
			counter, chooser := cupel.TokenCounter(cupel.HeuristicCounter{}), cupelchat.Chooser(agent.New(nil))
			switch part {
			case "counter":
				counter = fails
			case "chooser":
				chooser = fails
			default:
				chooser = agent.New(fails)
			}
			s, err := cupelsession.New(chooser, cupelsession.Config{Cache: cupelsession.AnthropicCache, Clock: func() time.Time { return time.Unix(1e9, 0) }})
			require.NoError(t, err)
			c, failed := newChat("go"), 0
			for n := range 12 {
				c.call("read", fmt.Sprintf(`{"path": "f%d"}`, n), strings.Repeat(fmt.Sprintf("func f%d() {}\n", n), 30))
				before := state(t, s)
				r, err := cupelsession.Fit(t.Context(), s, c.request(), cupelchat.OpenAI, budget(t, 600), counter)
				if err != nil {
					failed++
					require.ErrorIs(t, err, errOnce)
					require.Equal(t, before, state(t, s))
					r, err = cupelsession.Fit(t.Context(), s, c.request(), cupelchat.OpenAI, budget(t, 600), counter)
				}
				require.NoError(t, err)
				commit(t, r.Turn)
			}
			if at == 0 {
				want = state(t, s)
			}
			require.Equal(t, want, state(t, s), "%s: call %d", part, at)
			if fails.n < at {
				break
			}
			if at > 0 && part != "counter" { // a conversation that cannot be read on is read from its beginning
				require.Equal(t, 1, failed, "%s: call %d", part, at)
			}
		}
	}
	_, err := session(t, newest(t), cupelsession.Config{}).Next(t.Context(), numbered(t, 9), budget(t, 50), cupelsession.WithChooser(&failsAt{at: 1}), cupelsession.WithChooser(nil))
	require.ErrorIs(t, err, errOnce, "the turn has its own chooser")
}

// TestCacheNamed: the command's names of caches are those that it lists.
func TestCacheNamed(t *testing.T) {
	for name, want := range cupelsession.Caches() {
		model, err := cupelsession.CacheNamed(name)
		require.NoError(t, err)
		require.Equal(t, want, model)
	}
	_, err := cupelsession.CacheNamed("none ")
	require.EqualError(t, err, `cupelsession: "none " is unknown; want one of anthropic, anthropic-1h, gemini, none, openai, openai-breakpoints`)
}

// Texts of a store belong to a session.
func TestMemoryStore(t *testing.T) {
	memory := &cupelsession.MemoryStore{}
	for _, session := range []string{"a", "b"} {
		require.NoError(t, memory.Put(t.Context(), session, "k", "text of "+session))
	}
	require.NoError(t, memory.Delete(t.Context(), "a"))
	_, err := memory.Get(t.Context(), "a", "k")
	require.ErrorIs(t, err, fs.ErrNotExist)
	text, err := memory.Get(t.Context(), "b", "k")
	require.NoError(t, err)
	require.Equal(t, "text of b", text)
}

// TestUsageOfAnswers: the usage is found in any form in which a provider answers, and an
// answer without one does no harm.
func TestUsageOfAnswers(t *testing.T) {
	var names []string
	for _, tt := range []struct {
		f          cupelchat.Format
		kind, text string
		want       int
		why        string
	}{
		{cupelchat.Gemini, "application/json", `[{"candidates":[]},{"usageMetadata":{"promptTokenCount":70}}]`, 70, "Gemini streams a list"},
		{cupelchat.Anthropic, "text/event-stream", "event: message_start\ndata: {\"type\":\"message_start\",\"message\":{\"usage\":{\"input_tokens\":70}}}\n\ndata: {\"usage\":\ndata: \"usage\"}\n", 70, "lines that are no JSON are no events"},
		{cupelchat.Ollama, "application/x-ndjson", "{\"done\":false}\n{\"done\":true,\"prompt_eval_count\":70}", 70, "the last line need not end"},
		{cupelchat.Ollama, "application/x-ndjson", strings.Repeat("x", 32<<20+1) + "\n{\"done\":true,\"prompt_eval_count\":70}\n", 70, "a line that is too long is no event"},
	} {
		var got cupelsession.Exchange
		_, client, _ := transport(t, &provider{}, func(c *cupelsession.TransportConfig) {
			c.Exchanged = func(e cupelsession.Exchange) { got = e }
			c.Base = roundTripper(func(*http.Request) (*http.Response, error) {
				return &http.Response{StatusCode: http.StatusOK, Header: http.Header{"Content-Type": {tt.kind}}, Body: io.NopCloser(strings.NewReader(tt.text))}, nil
			})
		})
		answer, _ := post(t, client, "http://localhost"+paths[tt.f], requestOf(tt.f, "find it", 1), "k")
		require.Len(t, answer, len(tt.text))
		require.NotNil(t, got.Turn, tt.why)
		require.Equal(t, tt.want, got.Usage.Input, tt.why)
		require.NotContains(t, names, got.Session, "a name says nothing of the conversation, which is the same in two transports")
		names = append(names, got.Session)
	}
}
