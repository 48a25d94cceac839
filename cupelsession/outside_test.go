package cupelsession_test

import (
	"net/http"
	"net/http/httptest"
	"reflect"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupelchat"
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
