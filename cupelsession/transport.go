package cupelsession

import (
	"bytes"
	"cmp"
	"crypto/rand"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"

	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupelchat"
	"github.com/wollax/cupel-go/cupelchat/agent"
)

// TransportConfig configures a [Transport].
type TransportConfig struct {
	// Budget is the budget of each request.
	Budget cupel.ContextBudget
	// Counter counts tokens. nil means [cupel.HeuristicCounter].
	Counter cupel.TokenCounter
	// Chooser chooses the windows. nil means the preset of package cupelchat/agent.
	Chooser Chooser
	// Session configures the sessions. A zero Cache means the cache of the
	// request's provider.
	Session Config
	// Options are passed to reading conversations, such as
	// [cupelchat.WithRules].
	Options []cupelchat.Option
	// Base sends the requests. nil means [http.DefaultTransport].
	Base http.RoundTripper
	// Strict answers a request that cannot be made to fit with an error in the form of
	// its API. The default sends it as it is.
	Strict bool
	// MaxBody is how many bytes of a request are read. Larger ones are sent as they are.
	// 0 means 64 MiB.
	MaxBody int64
	// MaxSessions is how many sessions are kept, with 256 MiB of conversations at most;
	// the one that was used least recently goes first. 0 means 256.
	MaxSessions int
	// Exchanged, if not nil, is called after each request that was fitted and answered,
	// before the caller reads the end of the answer. It must not change its arguments.
	Exchanged func(Exchange)
}

// Exchange is a request that a [Transport] has fitted.
type Exchange struct {
	Session string // names the session, and reveals nothing about it
	Format  cupelchat.Format
	Given   []byte // the request as it came
	Sent    []byte
	Turn    *Turn
	Usage   Usage
}

// TransportStats counts what a [Transport] did with requests.
type TransportStats struct {
	Fitted    int64 // requests that were read, and sent as their session chose
	Forwarded int64 // requests that are no conversations, or were too large to read
	Failed    int64 // requests that could not be read or made to fit
	Retried   int64 // requests that were refused as too long, and sent again with less
	Evicted   int64 // sessions that were dropped for newer ones
}

// Transport is an [http.RoundTripper] that fits the requests of conversations into a
// budget, in sessions that it finds by the beginnings of the conversations. It
// recognizes requests to OpenAI's Chat Completions and Responses, Anthropic's Messages,
// Gemini and Ollama by their paths. It sends all others unchanged, such as requests that
// name a previous response, and Bedrock's, whose signature covers the body.
//
// A Transport reads only the usage of a response, also from streams, and passes the
// response on unchanged. Responses to fitted requests have the header Cupel-Tokens
// with the tokens before and after. If the provider answers that the request is too
// long, Transport fits it again for less, and sends it once more.
//
// A Transport is safe for concurrent use. It keeps no credentials. They only enter
// the salted hash that finds a session, so that two keys share nothing.
type Transport struct {
	config   TransportConfig
	salt     [32]byte
	sessions sessions

	fitted, forwarded, failed, retried atomic.Int64
}

// NewTransport returns a transport. It fails with a [ConfigError].
func NewTransport(config TransportConfig) (*Transport, error) {
	if config.Counter == nil {
		config.Counter = cupel.HeuristicCounter{}
	}
	if config.Chooser == nil {
		config.Chooser = agent.New(config.Counter)
	}
	if config.Base == nil {
		config.Base = http.DefaultTransport
	}
	switch {
	case config.Budget.MaxTokens() <= 0:
		return nil, &ConfigError{"Budget", "has no tokens"}
	case config.MaxBody < 0:
		return nil, &ConfigError{"MaxBody", "must be at least 0"}
	case config.Session.Store != nil:
		return nil, &ConfigError{"Session.Store", "cannot be used: a transport does not answer tool calls"}
	case config.MaxSessions < 0:
		return nil, &ConfigError{"MaxSessions", "must be at least 0"}
	}
	if _, err := New(config.Chooser, config.Session); err != nil {
		return nil, err
	}
	config.MaxBody = cmp.Or(config.MaxBody, 64<<20)
	t := &Transport{config: config}
	_, _ = rand.Read(t.salt[:]) // it never fails
	t.sessions.most = cmp.Or(config.MaxSessions, 256)
	return t, nil
}

// Stats returns the counts so far.
func (t *Transport) Stats() TransportStats {
	return TransportStats{t.fitted.Load(), t.forwarded.Load(), t.failed.Load(), t.retried.Load(), t.sessions.evicted.Load()}
}

// fitting is a request that is being fitted.
type fitting struct {
	*Transport
	request      *http.Request
	format       cupelchat.Format
	given, sent  []byte
	conversation *cupelchat.Conversation
	caller       [sha256.Size]byte    // hash of the credentials
	known        []*cupel.ContextItem // of an earlier conversation
	keys         []string             // of these
	slot         *slot
	turn         *Turn
	budget       cupel.ContextBudget
}

var errNoTransport = &ConfigError{"Transport", "is empty: make transports with NewTransport"}

// RoundTrip sends a request, and fits it first if it is a conversation. It
// implements [http.RoundTripper].
func (t *Transport) RoundTrip(r *http.Request) (*http.Response, error) {
	if t == nil || t.config.Base == nil {
		if r.Body != nil {
			_ = r.Body.Close()
		}
		return nil, errNoTransport
	}
	format, ok := formatOf(r)
	if !ok {
		t.forwarded.Add(1)
		return t.config.Base.RoundTrip(r)
	}
	r = r.Clone(r.Context()) // the caller's request keeps its body
	given, whole, err := readAll(r, t.config.MaxBody)
	if err != nil {
		return nil, err
	}
	if !whole {
		t.forwarded.Add(1)
		return t.config.Base.RoundTrip(r)
	}
	f := &fitting{Transport: t, request: r, format: format, given: given, budget: t.config.Budget}
	switch err := f.fit(); {
	case errors.Is(err, cupelchat.ErrElsewhere):
		t.forwarded.Add(1)
		return t.config.Base.RoundTrip(r)
	case err != nil:
		t.failed.Add(1)
		if t.config.Strict && r.Context().Err() == nil {
			return refusal(r, format, err), nil
		}
		return t.config.Base.RoundTrip(r)
	}
	response, err := f.send()
	if err != nil {
		f.leave()
		return nil, err
	}
	return response, nil
}

// formatOf returns the format of a request, if it may be a conversation.
func formatOf(r *http.Request) (cupelchat.Format, bool) {
	path := r.URL.Path
	verb := path[strings.LastIndexByte(path, ':')+1:]
	switch {
	case r.Method != http.MethodPost || r.Body == nil || r.Header.Get("Content-Encoding") != "":
		return 0, false
	case strings.HasSuffix(path, "/chat/completions"):
		return cupelchat.OpenAI, true
	case strings.HasSuffix(path, "/responses"):
		return cupelchat.Responses, true
	case strings.HasSuffix(path, "/messages"):
		return cupelchat.Anthropic, true
	case verb == "generateContent", verb == "streamGenerateContent":
		return cupelchat.Gemini, true
	case strings.HasSuffix(path, "/api/chat"):
		return cupelchat.Ollama, true
	}
	return 0, false
}

// readAll reads the body of a request, and puts it back. It reports false for a body
// of more than most bytes, and then reads only its beginning.
func readAll(r *http.Request, most int64) (body []byte, whole bool, err error) {
	body, err = io.ReadAll(io.LimitReader(r.Body, most+1))
	if err != nil {
		return nil, false, errors.Join(fmt.Errorf("cupelsession: reading the request: %w", err), r.Body.Close())
	}
	rest := r.Body
	if int64(len(body)) > most {
		r.Body = struct {
			io.Reader
			io.Closer
		}{io.MultiReader(bytes.NewReader(body), rest), rest}
		return nil, false, nil
	}
	setBody(r, body)
	return body, true, rest.Close()
}

func setBody(r *http.Request, body []byte) {
	r.Body, r.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
	r.GetBody = func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(body)), nil }
}

// fit finds the session of the request, and makes the body to send.
func (f *fitting) fit() (err error) {
	f.caller = f.hashOfCaller()
	var earlier *cupelchat.Conversation
	earlier, f.known, f.keys = f.sessions.earlier(f)
	opts := append(slices.Clip(f.config.Options), cupelchat.WithEarlier(earlier))
	if f.conversation, err = cupelchat.Read(f.given, f.format, f.config.Counter, opts...); err != nil {
		return err
	}
	if f.slot, err = f.find(); err != nil {
		return err
	}
	if f.slot.budget != nil {
		f.budget = *f.slot.budget
	}
	if err = f.propose(); err != nil {
		f.leave()
	}
	return err
}

// propose makes the body for the budget.
func (f *fitting) propose() (err error) {
	f.sent, f.turn, err = f.slot.session.Body(f.request.Context(), f.conversation, f.budget, WithModel(f.conversation.Model()))
	return err
}

// send sends the fitted request. If the provider rejects it as too long, send
// tries once more with less.
func (f *fitting) send() (*http.Response, error) {
	f.fitted.Add(1)
	for again := true; ; again = false {
		r := f.request.Clone(f.request.Context())
		setBody(r, f.sent)
		r.Header.Del("Content-Length")
		r.Header.Del("Accept-Encoding") // the base decodes what it asks for, and usage can be read
		response, err := f.config.Base.RoundTrip(r)
		if err != nil {
			return nil, err
		}
		if again {
			if less := tooLong(response); less > 0 && f.shrink(less) {
				f.retried.Add(1)
				_ = response.Body.Close()
				continue
			}
		}
		response.Header.Set("Cupel-Tokens", fmt.Sprintf("%d -> %d", f.turn.Given(), f.turn.Estimate))
		f.follow(response)
		return response, nil
	}
}

// shrink proposes a body for a share of the budget, which the session keeps from now
// on. It reports false if nothing smaller can be sent.
func (f *fitting) shrink(share float64) bool {
	smaller, _ := f.budget.Resize(f.budget.MaxTokens(), int(share*float64(min(f.budget.TargetTokens(), f.turn.Estimate)))) // it is valid
	before := *f
	f.budget = smaller
	if f.propose() != nil || len(f.sent) >= len(before.sent) {
		*f = before // the caller gets the first answer
		return false
	}
	f.sessions.narrow(f.slot, smaller)
	return true
}

// follow reads the usage of a response while the caller reads it, and commits the turn
// at its end.
func (f *fitting) follow(response *http.Response) {
	if response.StatusCode != http.StatusOK || response.Body == nil {
		f.leave()
		return
	}
	response.Body = &answer{
		ReadCloser: response.Body,
		usage:      newUsageReader(f.format, response.Header.Get("Content-Type")),
		done:       f.answered,
	}
}

// answered commits the turn of a request that was answered.
func (f *fitting) answered(events []any) {
	usage, _ := UsageOf(f.format, events...) // some servers report none
	if f.turn.Commit(usage) == nil && f.config.Exchanged != nil {
		f.config.Exchanged(Exchange{f.slot.name, f.format, f.given, f.sent, f.turn, usage})
	}
	f.leave()
}

// leave lets other requests use the session.
func (f *fitting) leave() { f.sessions.leave(f.slot) }

// refusal is the answer to a request that cannot be made to fit, in the form of its API.
func refusal(r *http.Request, f cupelchat.Format, err error) *http.Response {
	form := `{"error":{"message":%s,"type":"invalid_request_error","code":"context_length_exceeded"}}`
	switch f { //nolint:exhaustive // compatible servers use OpenAI's form
	case cupelchat.Anthropic:
		form = `{"type":"error","error":{"type":"invalid_request_error","message":%s}}`
	case cupelchat.Gemini:
		form = `{"error":{"code":400,"message":%s,"status":"INVALID_ARGUMENT"}}`
	case cupelchat.Ollama:
		form = `{"error":%s}`
	}
	reason, _ := json.Marshal(err.Error()) //nolint:errchkjson // a string
	text := fmt.Sprintf(form, reason)
	return &http.Response{
		Status: "400 Bad Request", StatusCode: http.StatusBadRequest, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1, Request: r,
		Header: http.Header{"Content-Type": {"application/json"}, "Content-Length": {strconv.Itoa(len(text))}},
		Body:   io.NopCloser(strings.NewReader(text)), ContentLength: int64(len(text)),
	}
}

var _ http.RoundTripper = (*Transport)(nil)
