package cupelsession_test

import (
	"net/http"
	"net/http/httptest"
	"reflect"
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
	require.Zero(t, new(cupelsession.Turn).Given())
}
