package cupelsession_test

import (
	"math"
	"net/http"
	"net/http/httptest"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupelchat"
	"github.com/wollax/cupel-go/cupelchat/agent"
	"github.com/wollax/cupel-go/cupelsession"
)

// No method of a zero or nil value panics: it returns an error that says what is missing.
func TestZeroValues(t *testing.T) {
	for _, value := range []any{
		new(cupelsession.Session), (*cupelsession.Session)(nil), new(cupelsession.Turn), (*cupelsession.Turn)(nil), cupelsession.Request[int]{},
		new(cupelsession.Transport), new(cupelsession.MemoryStore), new(cupelsession.FolderStore), cupelsession.CacheModel{},
		new(cupelchat.Conversation), (*cupelchat.Conversation)(nil), new(cupelchat.Window), (*cupelchat.Window)(nil), cupelchat.Request[int]{},
		new(cupelchat.TooLargeError), new(cupelsession.HistoryError), new(cupelsession.StateError), new(cupelsession.UsageError), new(cupelsession.ConfigError),
	} {
		v := reflect.ValueOf(value)
		for i := range v.NumMethod() {
			var given []reflect.Value
			for in := range v.Method(i).Type().Ins() {
				given = append(given, reflect.Zero(in))
			}
			if name := v.Type().Method(i).Name; name == "RoundTrip" {
				given[0] = reflect.ValueOf(httptest.NewRequest(http.MethodPost, "/v1/messages", nil))
			}
			call := v.Method(i).Call
			if v.Method(i).Type().IsVariadic() {
				call = v.Method(i).CallSlice
			}
			assert.NotPanics(t, func() { call(given) }, "%T.%s", value, v.Type().Method(i).Name)
		}
	}
	var s *cupelsession.Session
	_, _, err := s.Body(t.Context(), nil, cupel.ContextBudget{})
	require.ErrorContains(t, err, "make sessions with New")
	require.ErrorContains(t, new(cupelsession.Turn).Commit(cupelsession.Usage{}), "was not proposed")
}

// Keys that look like those of a second occurrence are none.
func TestKeysOfOccurrences(t *testing.T) {
	config := cupelsession.Config{Key: func(i *cupel.ContextItem) string { return strings.Fields(i.Content())[0] }}
	items := []*cupel.ContextItem{item(t, "a#1 x", 5), item(t, "a y", 5), item(t, "a z", 5), item(t, "a#1 w", 5)}
	s := session(t, newest(t), config)
	commit(t, next(t, s, items, 50))
	other := session(t, newest(t), config)
	require.NoError(t, other.UnmarshalJSON([]byte(state(t, s))))
	if got, want := next(t, other, items, 50), next(t, s, items, 50); says(got) != says(want) || got.KeptTokens != 20 || want.KeptTokens != 20 {
		t.Errorf("window %q, %d tokens kept, and %q, %d kept in another process; want 20", says(want), want.KeptTokens, says(got), got.KeptTokens)
	}
}

// What a provider cannot have read or written is not said of it.
func TestImpossibleUsage(t *testing.T) {
	items := numbered(t, 8)
	cache := cupelsession.CacheModel{Read: .1, Write: 1.25, Sure: time.Hour, Likely: time.Hour}
	for _, usage := range []cupelsession.Usage{
		{Input: 50, Read: -7, Cached: true},
		{Input: 50, Written: -7, Cached: true},
		{Input: 50, Read: 10, Written: 45, Cached: true},
		{Input: math.MinInt, Read: math.MaxInt, Written: math.MaxInt, Cached: true},
	} {
		s := session(t, newest(t), cupelsession.Config{Cache: cache})
		commit(t, next(t, s, items[:4], 100))
		turn := next(t, s, items[:5], 100)
		if err := turn.Commit(usage); err != nil || len(turn.Notes) > 0 {
			t.Errorf("%+v: error %v, notes %q, want none", usage, err, turn.Notes)
		}
		assert.Equal(t, 50, next(t, s, items[:6], 100).Cache.Read, "%+v", usage)
	}
}

// Fit takes the model from the request: another model has nothing in its cache, and
// has its own shortest prefix.
func TestFitNamesTheModel(t *testing.T) {
	s := session(t, agent.New(nil), cupelsession.Config{Cache: cupelsession.CacheModel{
		Read: .1, Write: 1.25, Sure: time.Hour, Likely: time.Hour, Breakpoints: 4, Models: []cupelsession.ModelCache{{Name: "long", MinTokens: 1e6}},
	}})
	var messages []any
	for n, test := range []struct {
		member, model string
		read, written bool
		why           string
	}{
		{"model", "a", false, true, "the first turn"},
		{"model", "a", true, true, "the same model"},
		{"model", "b", false, true, "another model"},
		{"modelId", "b", true, true, "as Bedrock names it"},
		{"model", "long", false, false, "its prefixes are longer"},
	} {
		messages = append(messages, map[string]any{"role": "user", "content": strings.Repeat("hello ", 500)})
		params := map[string]any{test.member: test.model, "max_tokens": 5, "messages": messages}
		request, err := cupelsession.Fit(t.Context(), s, params, cupelchat.Anthropic, budget(t, 5000), cupel.HeuristicCounter{})
		require.NoError(t, err)
		if c := request.Cache; c.Read > 0 != test.read || c.Written > 0 != test.written || request.Params[test.member] != test.model {
			t.Errorf("turn %d of %v: %+v (%s)", n, request.Params[test.member], c, test.why)
		}
		commit(t, request.Turn)
	}
}
