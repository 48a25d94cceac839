package cupelsession_test

import (
	"context"
	"encoding/json"
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
			c, failed := newChat(strings.Repeat("go on ", 500)), 0
			for n := range 8 {
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

// sealed are parameters that cannot be read back.
type sealed string

func (s sealed) MarshalJSON() ([]byte, error) { return []byte(s), nil }

// What fails around a request says so, and an answer without a usage is an answer.
func TestFitFails(t *testing.T) {
	s := session(t, agent.New(nil), cupelsession.Config{})
	counter := cupel.HeuristicCounter{}
	_, err := cupelsession.Fit(t.Context(), s, func() {}, cupelchat.OpenAI, budget(t, 600), counter)
	require.ErrorContains(t, err, "unsupported type")
	body, err := json.Marshal(twenty().request())
	require.NoError(t, err)
	_, err = cupelsession.Fit(t.Context(), s, sealed(body), cupelchat.OpenAI, budget(t, 600), counter)
	require.Error(t, err)
	_, err = cupelsession.Fit(t.Context(), s, twenty().request(), cupelchat.OpenAI, budget(t, 1), counter)
	large, _ := errors.AsType[*cupelchat.TooLargeError](err)
	require.Equal(t, 1, large.Budget)
	r, err := cupelsession.Fit(t.Context(), s, twenty().request(), cupelchat.OpenAI, budget(t, 600), counter)
	require.NoError(t, err)
	_, err = r.Answered([]byte(`{}`))
	require.NoError(t, err)
	require.Contains(t, fmt.Sprint(r.Notes), "the response has none")
	require.Equal(t, 1, s.Turns())
	require.Contains(t, state(t, s), `"model":"m"`, "the request names it")
	_, err = cupelsession.Request[int]{}.Answered([]byte(`{}`))
	require.ErrorContains(t, err, "was not proposed")
}

// Whichever call of the counter fails, a transport sends the request as it came.
func TestTransportCounts(t *testing.T) {
	body := requestOf(cupelchat.OpenAI, "find it", 4)
	for at := range 100 { // in reading and choosing
		p, fails := &provider{}, &failsAt{at: 1 + at}
		tr, client, url := transport(t, p, func(c *cupelsession.TransportConfig) { c.Counter, c.Chooser = fails, newest(t) })
		post(t, client, url+paths[cupelchat.OpenAI], body, "k")
		require.Equal(t, cupelsession.TransportStats{Failed: 1}, tr.Stats(), "call %d", at)
		require.Equal(t, []string{body}, p.bodies)
	}
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
	most, _ := cupelsession.Limits()
	defer func(was int) { *most = was }(*most)
	*most = 70_000
	long := strings.Repeat(" ", 100_000)
	for _, tt := range []struct {
		f          cupelchat.Format
		kind, text string
		want       int
		why        string
	}{
		{cupelchat.Gemini, "application/json", `[{"candidates":[]},{"usageMetadata":{"promptTokenCount":70}}]`, 70, "Gemini streams a list"},
		{cupelchat.Anthropic, "text/event-stream", "event: message_start\ndata: {\"type\":\"message_start\",\"message\":{\"usage\":{\"input_tokens\":70}}}\n\ndata: {\"usage\":\ndata: \"usage\"}\ndata: 5\n", 70, "lines that are no objects are no events"},
		{cupelchat.Ollama, "application/x-ndjson", "{\"done\":false}\n{\"done\":true,\"prompt_eval_count\":70}", 70, "the last line need not end"},
		{cupelchat.Ollama, "application/x-ndjson", "{\"prompt_eval_count\":70}\n{\"prompt_eval_count\":1" + long + "}", 70, "a line that is too long is no event"},
		{cupelchat.Ollama, "application/x-ndjson", long + "\n{\"prompt_eval_count\":70" + long[:69_975] + "}\n", 70, "the next one is, and may have the length that is kept"},
		{cupelchat.Ollama, "application/json", long + long + long + "{\"prompt_eval_count\":70}", 0, "the end of an answer that is too long says nothing"},
		{cupelchat.Gemini, "application/json", "[", 0, "the list is cut short"},
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
