package cupelsession_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"github.com/wollax/cupel-go/cupelchat"
	"github.com/wollax/cupel-go/cupelsession"
)

// provider stands in for the APIs: it refuses what they refuse, and more tokens than it
// has room for, and answers with its usage.
type provider struct {
	mu     sync.Mutex
	limit  int // tokens that it takes, or 0
	stream bool
	bodies []string
	keys   []string
}

func (p *provider) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return
	}
	p.mu.Lock()
	p.bodies, p.keys = append(p.bodies, string(body)), append(p.keys, r.Header.Get("X-Api-Key"))
	limit := p.limit
	p.mu.Unlock()
	if tokens := len(body) / 4; limit > 0 && tokens > limit {
		w.WriteHeader(http.StatusBadRequest)
		_, _ = fmt.Fprintf(w, `{"type":"error","error":{"type":"invalid_request_error","message":"prompt is too long: %d tokens > %d maximum"}}`, tokens, limit)
		return
	}
	text := fmt.Sprintf(`{"choices":[{"message":{"role":"assistant","content":"ok"}}],"usage":{"prompt_tokens":%d,"input_tokens":%d,"output_tokens":1},"usageMetadata":{"promptTokenCount":%d},"prompt_eval_count":%d}`, len(body)/4, len(body)/4, len(body)/4, len(body)/4)
	if p.stream {
		w.Header().Set("Content-Type", "text/event-stream; charset=utf-8")
		text = "event: a\ndata: {\"type\":\"ping\"}\n\nevent: b\r\ndata: " + text + "\r\n\r\ndata: [DONE]\n\n"
	}
	_, _ = io.WriteString(w, text)
}

// requestOf is a request of a format with so many exchanges, with tools or without.
func requestOf(f cupelchat.Format, task string, exchanges int) string {
	long := strings.Repeat("a line of the log, and what it says\n", 30)
	var list []any
	say := func(role, text string) {
		switch f {
		case cupelchat.Gemini:
			list = append(list, map[string]any{"role": strings.Replace(role, "assistant", "model", 1), "parts": []any{map[string]any{"text": text}}})
		default:
			list = append(list, map[string]any{"role": role, "content": text})
		}
	}
	say("user", task)
	for n := range exchanges {
		say("assistant", fmt.Sprintf("finding %d of %s: %s", n, task, long))
		say("user", fmt.Sprintf("step %d", n))
	}
	name := map[cupelchat.Format]string{cupelchat.Gemini: "contents", cupelchat.Responses: "input"}[f]
	if name == "" {
		name = "messages"
	}
	request := map[string]any{name: list}
	if f != cupelchat.Gemini {
		request["model"], request["max_tokens"] = "m", 100
	}
	if f == cupelchat.Responses || f == cupelchat.Ollama {
		delete(request, "max_tokens")
	}
	data, err := json.Marshal(request)
	if err != nil {
		panic(err)
	}
	return string(data)
}

// post sends a request as a client does, and returns the answer.
func post(t testing.TB, client *http.Client, url, body, key string) (string, *http.Response) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url, strings.NewReader(body))
	require.NoError(t, err)
	r.Header.Set("X-Api-Key", key)
	response, err := client.Do(r)
	require.NoError(t, err)
	text, err := io.ReadAll(response.Body)
	require.NoError(t, err)
	require.NoError(t, response.Body.Close())
	return string(text), response
}

// transport returns a client whose requests are fitted, and the server that it asks.
func transport(t testing.TB, p *provider, change func(*cupelsession.TransportConfig)) (*cupelsession.Transport, *http.Client, string) {
	t.Helper()
	server := httptest.NewServer(p)
	t.Cleanup(server.Close)
	config := cupelsession.TransportConfig{Budget: budget(t, 1000)}
	if change != nil {
		change(&config)
	}
	tr, err := cupelsession.NewTransport(config)
	require.NoError(t, err)
	return tr, &http.Client{Transport: tr}, server.URL
}

var paths = map[cupelchat.Format]string{
	cupelchat.OpenAI: "/v1/chat/completions", cupelchat.Responses: "/v1/responses", cupelchat.Anthropic: "/v1/messages",
	cupelchat.Gemini: "/v1beta/models/gemini-2.5-pro:generateContent", cupelchat.Ollama: "/api/chat",
}

// In every format a growing conversation is one session, whose requests are what the API
// takes and within the budget, streamed or not.
func TestTransport(t *testing.T) {
	for f, path := range paths {
		for _, stream := range []bool{false, true} {
			var exchanges []cupelsession.Exchange
			if stream {
				path = strings.Replace(path, ":g", ":streamG", 1)
			}
			p := &provider{stream: stream}
			tr, client, url := transport(t, p, func(c *cupelsession.TransportConfig) {
				c.Budget = budget(t, 1200)
				c.Exchanged = func(e cupelsession.Exchange) { exchanges = append(exchanges, e) }
			})
			for n := range 8 {
				answer, response := post(t, client, url+path, requestOf(f, "find it", n), "k")
				require.Contains(t, answer, `"usage"`)
				turn := exchanges[n].Turn
				require.Equal(t, fmt.Sprintf("%d -> %d", turn.Given(), turn.Estimate), response.Header.Get("Cupel-Tokens"))
			}
			require.Equal(t, cupelsession.TransportStats{Fitted: 8}, tr.Stats(), "%s %t", f, stream)
			require.Len(t, exchanges, 8)
			cached := 0
			for n, e := range exchanges {
				require.Equal(t, exchanges[0].Session, e.Session)
				require.Equal(t, f, e.Format)
				require.Equal(t, p.bodies[n], string(e.Sent))
				require.Empty(t, cupelchat.Check(e.Sent, f))
				require.Equal(t, len(e.Sent)/4, e.Usage.Input, "%s %t", f, stream)
				require.LessOrEqual(t, e.Turn.Estimate, 1300) // calibrated by the provider's count
				cached += e.Turn.Cache.Read + e.Turn.Cache.Written
			}
			require.Equal(t, cupelsession.CacheFor(f).MinTokens == 1024, cached > 0, "%s has the cache of its provider", f)
			require.Less(t, len(p.bodies[7]), 8000)
			require.NotEqual(t, exchanges[7].Given, exchanges[7].Sent)
		}
	}
}

// What is no conversation is sent as it came.
func TestTransportForwards(t *testing.T) {
	large := requestOf(cupelchat.OpenAI, "find it", 8)
	for _, test := range []struct {
		name, path, body string
		want             cupelsession.TransportStats
		why              string
	}{
		{"count", "/v1/messages/count_tokens", large, cupelsession.TransportStats{Forwarded: 1}, "it counts, and answers nothing"},
		{"batch", "/v1/messages/batches", `{}`, cupelsession.TransportStats{Forwarded: 1}, "it has many requests"},
		{"kept by the provider", "/v1/responses", `{"previous_response_id":"r","input":"go on"}`, cupelsession.TransportStats{Forwarded: 1}, "the provider has the conversation"},
		{"Bedrock", "/model/m/converse", large, cupelsession.TransportStats{Forwarded: 1}, "its body is signed"},
		{"rubbish", "/v1/chat/completions", `{"messages":`, cupelsession.TransportStats{Failed: 1}, "the provider says what is wrong"},
		{"too small a budget", "/v1/chat/completions", `{"messages":[{"role":"system","content":"` + strings.Repeat("rule ", 2000) + `"},{"role":"user","content":"x"}]}`, cupelsession.TransportStats{Failed: 1}, "the system prompt cannot be cut"},
	} {
		p := &provider{}
		tr, client, url := transport(t, p, nil)
		_, response := post(t, client, url+test.path, test.body, "k")
		require.Equal(t, test.body, p.bodies[0], "%s: %s", test.name, test.why)
		require.Equal(t, test.want, tr.Stats(), "%s: %s", test.name, test.why)
		require.Empty(t, response.Header.Get("Cupel-Tokens"))
	}
}

// TestTransportTurn compares a turn that appends to 400 messages of 1 kB with reading the
// body once by json.Unmarshal: it takes at most one and a half times as long.
func TestTransportTurn(t *testing.T) {
	if testing.Short() {
		t.Skip("make test-full runs this: it measures time")
	}
	sent := 0
	tr, client, _ := transport(t, &provider{}, func(c *cupelsession.TransportConfig) {
		c.Budget = budget(t, 60_000)
		c.Base = roundTripper(func(r *http.Request) (*http.Response, error) {
			n, err := io.Copy(io.Discard, r.Body)
			sent = int(n)
			return &http.Response{StatusCode: http.StatusOK, Header: http.Header{}, Body: io.NopCloser(strings.NewReader(`{"usage":{"input_tokens":9}}`)), Request: r}, err
		})
	})
	for _, f := range []cupelchat.Format{cupelchat.OpenAI, cupelchat.Anthropic} {
		var turn, reading least
		for n := range 30 {
			body := requestOf(f, "find it", 400+n)
			reading.of(func() {
				var value any
				require.NoError(t, json.Unmarshal([]byte(body), &value))
			})
			turn.of(func() { post(t, client, "http://provider"+paths[f], body, "k") })
			require.Less(t, sent, len(body)*3/4)
		}
		t.Logf("%s: %v, and json.Unmarshal %v", f, turn, reading)
		require.LessOrEqual(t, turn, reading*3/2, f)
	}
	require.EqualValues(t, 60, tr.Stats().Fitted)
}

// Strictly, what cannot be made to fit is an answer in the form of the API.
func TestStrictTransport(t *testing.T) {
	for f, want := range map[cupelchat.Format]string{
		cupelchat.OpenAI: `"code":"context_length_exceeded"`, cupelchat.Responses: `"code":"context_length_exceeded"`, cupelchat.Anthropic: `"type":"error"`,
		cupelchat.Gemini: `"status":"INVALID_ARGUMENT"`, cupelchat.Ollama: `{"error":"`,
	} {
		p := &provider{}
		_, client, url := transport(t, p, func(c *cupelsession.TransportConfig) { c.Strict = true })
		answer, response := post(t, client, url+paths[f], `{"messages":5,"contents":5,"input":5}`, "k")
		require.Equal(t, http.StatusBadRequest, response.StatusCode)
		require.Contains(t, answer, want)
		require.EqualValues(t, len(answer), response.ContentLength)
		require.Equal(t, http.Header{"Content-Type": {"application/json"}, "Content-Length": {fmt.Sprint(len(answer))}}, response.Header)
		require.Empty(t, p.bodies)
	}
}

// A provider that counts more than was estimated says so, and the request is sent once
// more with less. The session keeps to that.
func TestTransportTriesAgain(t *testing.T) {
	p := &provider{limit: 350}
	tr, client, url := transport(t, p, nil)
	answer, _ := post(t, client, url+paths[cupelchat.Anthropic], requestOf(cupelchat.Anthropic, "find it", 8), "k")
	require.Contains(t, answer, `"usage"`)
	require.Equal(t, cupelsession.TransportStats{Fitted: 1, Retried: 1}, tr.Stats())
	post(t, client, url+paths[cupelchat.Anthropic], requestOf(cupelchat.Anthropic, "find it", 9), "k")
	require.Equal(t, cupelsession.TransportStats{Fitted: 2, Retried: 1}, tr.Stats(), "the session has the smaller budget")
}

// Where nothing smaller can be made, the answer of the provider is the caller's.
func TestTransportGivesUp(t *testing.T) {
	p := &provider{limit: 10}
	tr, client, url := transport(t, p, nil)
	rule := strings.Repeat("Be brief. ", 250) // the system prompt is never shortened
	answer, response := post(t, client, url+paths[cupelchat.OpenAI], `{"messages":[{"role":"system","content":"`+rule+`"},{"role":"user","content":"Hi!"}]}`, "k")
	require.Contains(t, answer, "prompt is too long")
	require.Equal(t, http.StatusBadRequest, response.StatusCode)
	require.NotEmpty(t, response.Header.Get("Cupel-Tokens"))
	require.Len(t, p.bodies, 1)
	require.Equal(t, cupelsession.TransportStats{Fitted: 1}, tr.Stats())
}

// Each provider says in its own words that a request is too long. Where it names what it
// counted and its limit, the second request is as much smaller as that.
func TestTransportReadsRefusals(t *testing.T) {
	for _, tt := range []struct {
		status  int
		message string
		tries   int
		most    float64 // of the first request's bytes, in the second
		why     string
	}{
		{400, `maximum context length is 400 tokens. Your messages resulted in 800 tokens.`, 2, .55, "OpenAI"},
		{400, `maximum context length is 400 tokens. You requested 800 (780, 12345678901234567890)`, 2, .55, "OpenAI names parts of its count"},
		{400, `{"error":{"message":"Your input exceeds the context window of this model."}}`, 2, .75, "OpenAI's Responses name no numbers"},
		{413, `{"error":{"message":"prompt is too long: 900 tokens > 230 maximum"}}`, 2, .3, "Anthropic, another status, and a quarter of the size"},
		{400, `The input token count (1000) exceeds the maximum number of tokens allowed (500).`, 2, .55, "Gemini"},
		{400, `{"error":"input length 800 exceeds 400"}`, 2, .55, "Ollama"},
		{400, `{"error":{"message":"prompt is too long: 8000 tokens > 2000 maximum"}}`, 2, .75, "numbers this far apart are not a count and its limit"},
		{400, `{"message":"tool_use ids were found without tool_result blocks"}`, 1, 1, "another mistake"},
		{429, `{"error":{"message":"prompt is too long: 900 tokens > 450 maximum"}}`, 1, 1, "a limit of the rate, which less does not help"},
		{500, `{"error":{"message":"context_length_exceeded"}}`, 1, 1, "the server's fault"},
	} {
		t.Run(tt.why, func(t *testing.T) {
			var sizes []int
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				body, _ := io.ReadAll(r.Body)
				sizes = append(sizes, len(body))
				w.WriteHeader(tt.status)
				_, _ = io.WriteString(w, tt.message)
			}))
			defer server.Close()
			_, client, _ := transport(t, &provider{}, func(c *cupelsession.TransportConfig) {
				c.Exchanged = func(cupelsession.Exchange) { t.Error("a refusal is no answer") }
			})
			answer, response := post(t, client, server.URL+paths[cupelchat.Anthropic], requestOf(cupelchat.Anthropic, "find it", 8), "k")
			require.Equal(t, tt.message, answer, "the last answer is the caller's")
			require.Equal(t, tt.status, response.StatusCode)
			require.Len(t, sizes, tt.tries)
			require.LessOrEqual(t, float64(sizes[len(sizes)-1]), tt.most*float64(sizes[0]))
			require.Greater(t, float64(sizes[len(sizes)-1]), tt.most/2*float64(sizes[0]))
		})
	}
}

// Sessions belong to a key, a model and a beginning; forks have their own, and so have
// equal conversations that go on differently.
func TestTransportSessions(t *testing.T) {
	var names []string
	p := &provider{}
	tr, client, url := transport(t, p, func(c *cupelsession.TransportConfig) {
		c.MaxSessions = 4
		c.Exchanged = func(e cupelsession.Exchange) { names = append(names, e.Session) }
	})
	request := func(task string, n int) string { return requestOf(cupelchat.OpenAI, task, n) }
	for _, step := range []struct {
		body, key string
		as        int // the step that has the same session, or this one
		why       string
	}{
		{request("a", 1), "k", 0, "the first"},
		{request("a", 2), "k", 0, "it goes on"},
		{request("b", 1), "k", 2, "another task"},
		{request("a", 2), "other", 3, "another key"},
		{strings.Replace(request("a", 2), `"m"`, `"n"`, 1), "k", 4, "another model"},
		{request("a", 3), "k", 0, "it goes on between the others"},
		{strings.Replace(request("a", 3), "finding 1", "another finding", 1), "k", 6, "a fork before its end; the oldest session goes"},
		{strings.Replace(request("a", 3), "step 2", "step 2, again", 1), "k", 0, "the newest message was edited"},
		{request("b", 2), "k?key=1", 8, "its session is gone"},
		{request("b", 2), "k?key=2", 9, "another key in the address"},
		{request("c", 0), "k", 10, "the fork goes"},
		{request("d", 0), "k", 11, "the oldest session, which was the first, goes"},
		{request("b", 3), "k?key=1", 8, "it is there"},
	} {
		key, query, _ := strings.Cut(step.key, "?")
		post(t, client, url+paths[cupelchat.OpenAI]+"?"+query, step.body, key)
		require.Equal(t, names[step.as], names[len(names)-1], step.why)
		if step.as == len(names)-1 {
			require.NotContains(t, names[:len(names)-1], names[step.as], step.why)
		}
	}
	require.Equal(t, int64(5), tr.Stats().Evicted, "four of nine sessions stay")
}

// A fork is a session of its own while another request has not been answered.
func TestTransportForksSessionsInUse(t *testing.T) {
	var names []string
	p := &provider{}
	tr, client, url := transport(t, p, func(c *cupelsession.TransportConfig) {
		c.MaxSessions = 1
		c.Exchanged = func(e cupelsession.Exchange) { names = append(names, e.Session) }
	})
	body := requestOf(cupelchat.OpenAI, "a", 3)
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url+paths[cupelchat.OpenAI], strings.NewReader(body))
	require.NoError(t, err)
	r.Header.Set("X-Api-Key", "k")
	open, err := client.Do(r)
	require.NoError(t, err)
	post(t, client, url+paths[cupelchat.OpenAI], body, "k")
	post(t, client, url+paths[cupelchat.OpenAI], body, "k")
	require.Zero(t, tr.Stats().Evicted, "one is in use, the other is the newest")
	require.NoError(t, open.Body.Close(), "the caller reads nothing of the answer")
	post(t, client, url+paths[cupelchat.OpenAI], body, "k")
	require.Len(t, names, 4)
	require.NotEqual(t, names[0], names[2])
	require.Regexp(t, `^[0-9a-f]{8}-\d$`, names[0])
	require.Equal(t, []string{names[0], names[0], names[2], names[2]}, names, "one fork; then the first, which is free again")
	require.EqualValues(t, 1, tr.Stats().Evicted)
}

// failing is a base whose requests fail.
type failing struct{}

func (failing) RoundTrip(*http.Request) (*http.Response, error) { return nil, errors.New("no route") }

// stuck is a body that cannot be closed.
type stuck struct{ io.Reader }

func (stuck) Close() error { return errors.New("stuck") }

func TestTransportErrors(t *testing.T) {
	tr, _, _ := transport(t, &provider{}, func(c *cupelsession.TransportConfig) { c.Base = failing{} })
	ask := func(ctx context.Context, body io.Reader) error {
		r, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://localhost/v1/chat/completions", body)
		require.NoError(t, err)
		_, err = tr.RoundTrip(r)
		return err
	}
	body := requestOf(cupelchat.OpenAI, "a", 8)
	for range 2 { // the session is free again
		require.ErrorContains(t, ask(t.Context(), strings.NewReader(body)), "no route")
	}
	require.ErrorContains(t, ask(t.Context(), iotest.ErrReader(errors.New("cut"))), "cut")
	require.ErrorContains(t, ask(t.Context(), stuck{strings.NewReader(body)}), "stuck")
	for _, change := range []func(r *http.Request){
		func(r *http.Request) { r.Method = http.MethodPut }, func(r *http.Request) { r.Body = nil }, func(r *http.Request) { r.Header.Set("Content-Encoding", "gzip") },
	} {
		r := httptest.NewRequest(http.MethodPost, "/v1/chat/completions", strings.NewReader(body))
		change(r)
		_, err := tr.RoundTrip(r)
		require.ErrorContains(t, err, "no route")
	}
	require.Equal(t, cupelsession.TransportStats{Fitted: 2, Forwarded: 3}, tr.Stats())
	open := new(endless)
	_, err := (*cupelsession.Transport)(nil).RoundTrip(httptest.NewRequest(http.MethodPost, "/", open))
	require.ErrorContains(t, err, "is empty")
	require.True(t, open.closed.Load())
	tr, _, _ = transport(t, &provider{}, func(c *cupelsession.TransportConfig) { c.Base, c.Strict = failing{}, true })
	canceled, cancel := context.WithCancel(t.Context())
	cancel()
	require.ErrorContains(t, ask(canceled, strings.NewReader(body)), "no route", "the base says what has ended")
	for name, config := range map[string]cupelsession.TransportConfig{
		"Budget": {}, "MaxBody": {Budget: budget(t, 9), MaxBody: -1}, "MaxSessions": {Budget: budget(t, 9), MaxSessions: -1}, "LowWater": {Budget: budget(t, 9), Session: cupelsession.Config{LowWater: 2}},
	} {
		_, err := cupelsession.NewTransport(config)
		var wrong *cupelsession.ConfigError
		require.ErrorAs(t, err, &wrong)
		require.Equal(t, name, wrong.Field)
	}
}

// Many clients at once share one transport: each gets its own answers, and no request is
// left out.
func TestTransportWithManyClients(t *testing.T) {
	p := &provider{}
	tr, client, url := transport(t, p, nil)
	var all sync.WaitGroup
	for n := range 64 {
		all.Go(func() {
			key := fmt.Sprint("key ", n%8)
			for turn := range 3 {
				post(t, client, url+paths[cupelchat.Anthropic], requestOf(cupelchat.Anthropic, fmt.Sprint("task ", n), turn), key)
			}
		})
	}
	all.Wait()
	require.Equal(t, cupelsession.TransportStats{Fitted: 3 * 64}, tr.Stats())
	for i, body := range p.bodies {
		var task int
		_, after, _ := strings.Cut(body, `task `)
		_, err := fmt.Sscan(after[:strings.IndexByte(after, '"')], &task)
		require.NoError(t, err)
		require.Equal(t, fmt.Sprint("key ", task%8), p.keys[i], "a request has the key of its client")
	}

}

// A request of MaxBody is fitted, and a larger one is sent as it came, without being kept.
// What is sent says how long it is, and can be sent again.
func TestTransportBodies(t *testing.T) {
	body := requestOf(cupelchat.OpenAI, "find it", 8)
	for most, want := range map[int]cupelsession.TransportStats{len(body): {Fitted: 1}, len(body) - 1: {Forwarded: 1}, 1000: {Forwarded: 1}} {
		given := strings.NewReader(body)
		tr, _, _ := transport(t, &provider{}, func(c *cupelsession.TransportConfig) {
			c.MaxBody = int64(most)
			c.Base = roundTripper(func(r *http.Request) (*http.Response, error) {
				require.LessOrEqual(t, len(body)-given.Len(), most+1, "read before any is sent")
				require.Equal(t, want.Forwarded > 0, r.Header.Get("Accept-Encoding") == "br", "the base decodes what it asks for itself")
				text, err := io.ReadAll(r.Body)
				require.NoError(t, err)
				require.True(t, want.Fitted > 0 || string(text) == body)
				again, err := r.GetBody()
				require.NoError(t, err)
				require.NoError(t, iotest.TestReader(again, text))
				require.EqualValues(t, len(text), r.ContentLength)
				return &http.Response{StatusCode: http.StatusOK, Body: io.NopCloser(strings.NewReader("{}")), Header: http.Header{}}, nil
			})
		})
		r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://provider"+paths[cupelchat.OpenAI], given)
		require.NoError(t, err)
		r.Header.Set("Accept-Encoding", "br")
		_, err = tr.RoundTrip(r)
		require.NoError(t, err)
		require.Equal(t, want, tr.Stats())
	}
}

// Whatever happens to a request, the next one may take the place of its session.
func TestTransportReplacesSessions(t *testing.T) {
	testTransportReplaces(t, 1)
	_, most := cupelsession.Limits()
	defer func(was int) { *most = was }(*most)
	*most = 1 // byte of conversations
	testTransportReplaces(t, 0)
}

func testTransportReplaces(t *testing.T, most int) {
	t.Helper()
	var answer *http.Response
	exchanged := 0
	tr, _, _ := transport(t, &provider{}, func(c *cupelsession.TransportConfig) {
		c.MaxSessions = most
		c.Base = roundTripper(func(r *http.Request) (*http.Response, error) {
			if answer == nil {
				return nil, errOnce
			}
			return answer, nil
		})
		c.Exchanged = func(cupelsession.Exchange) { exchanged++ }
	})
	said := func(status int, end error) *http.Response {
		body := io.NopCloser(io.MultiReader(strings.NewReader(`{"usage":{"prompt_tokens":9}}`), iotest.ErrReader(end)))
		return &http.Response{StatusCode: status, Header: http.Header{}, Body: body}
	}
	for n, row := range []struct {
		task      string
		answer    *http.Response
		read      int // bytes, before the answer is closed if they are not all
		exchanged int // until then
		why       string
	}{
		{strings.Repeat("too long ", 3000), said(200, io.EOF), 99, 0, "it cannot be made to fit, and is sent as it is"},
		{"b", nil, 0, 0, "it does not reach the provider"},
		{"c", said(500, io.EOF), 99, 0, "it is not answered"},
		{"d", &http.Response{StatusCode: http.StatusOK, Header: http.Header{}}, 0, 0, "the answer is empty"},
		{"e", said(200, io.EOF), 99, 1, "it is read, and not closed"},
		{"f", said(200, io.EOF), 3, 2, "the client leaves"},
		{"g", said(200, errOnce), 99, 3, "the provider is killed"},
		{"h", said(200, io.EOF), 0, 4, "it has the place of the one before"},
	} {
		answer = row.answer
		body := strings.Replace(requestOf(cupelchat.OpenAI, row.task, 1), `"user"`, `"system"`, 1)
		response, err := tr.RoundTrip(httptest.NewRequest(http.MethodPost, paths[cupelchat.OpenAI], strings.NewReader(body)))
		require.Equal(t, answer == nil, err != nil, row.why)
		require.EqualValues(t, n, tr.Stats().Evicted, row.why)
		if answer == nil || response.Body == nil {
			continue
		}
		text, err := io.ReadAll(io.LimitReader(iotest.OneByteReader(response.Body), int64(row.read)))
		require.Len(t, text, min(row.read, 29))
		if row.read < 99 {
			require.NoError(t, response.Body.Close())
			require.NoError(t, response.Body.Close(), "again")
		}
		require.Equal(t, row.task == "g", err != nil)
		require.Equal(t, row.exchanged, exchanged, row.why)
	}
}

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// endless is a body that is read until it is closed.
type endless struct{ closed atomic.Bool }

func (e *endless) Read(p []byte) (int, error) {
	if e.closed.Load() {
		return 0, http.ErrBodyReadAfterClose
	}
	return copy(p, `{"usage":`), nil
}

func (e *endless) Close() error {
	e.closed.Store(true)
	return nil
}

// A body may be closed while it is read, as a client does that waits no longer.
func TestTransportClosesBodiesBeingRead(t *testing.T) {
	_, client, _ := transport(t, &provider{}, func(c *cupelsession.TransportConfig) {
		c.Base = roundTripper(func(r *http.Request) (*http.Response, error) {
			return &http.Response{StatusCode: http.StatusOK, Header: http.Header{}, Body: new(endless), Request: r}, nil
		})
	})
	response, err := client.Post("http://provider"+paths[cupelchat.OpenAI], "application/json", strings.NewReader(requestOf(cupelchat.OpenAI, "a", 1)))
	require.NoError(t, err)
	reading := make(chan bool)
	var reader sync.WaitGroup
	reader.Go(func() {
		close(reading)
		_, err := io.Copy(io.Discard, response.Body)
		assert.ErrorIs(t, err, http.ErrBodyReadAfterClose)
	})
	<-reading
	require.NoError(t, response.Body.Close())
	reader.Wait()
}
