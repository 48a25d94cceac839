package sessionpage

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupelchat/agent"
	"github.com/wollax/cupel-go/cupelsession"
)

var counter = cupel.HeuristicCounter{}

func budget(t *testing.T) cupel.ContextBudget {
	t.Helper()
	b, err := cupel.NewContextBudget(1000, 1000)
	require.NoError(t, err)
	return b
}

// got returns what a handler answers.
func got(h http.Handler, path string) *httptest.ResponseRecorder {
	w := httptest.NewRecorder()
	h.ServeHTTP(w, httptest.NewRequest(http.MethodGet, path, http.NoBody))
	return w
}

// TestPages sends a conversation of two turns through a transport.
func TestPages(t *testing.T) {
	p := New(budget(t), counter)
	require.Contains(t, got(p, "/").Body.String(), "No conversation has come yet.")
	provider := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "{}") }))
	defer provider.Close()
	transport, err := cupelsession.NewTransport(cupelsession.TransportConfig{Budget: budget(t), Counter: counter, Chooser: agent.New(counter), Exchanged: func(e cupelsession.Exchange) {
		p.Add(e)
		e.Session, e.Given = "other", []byte(`{"messages":[{"role":"user","content":"not of this turn"}]}`)
		p.Add(e)
	}})
	require.NoError(t, err)
	client := http.Client{Transport: transport}
	for range 2 {
		body := `{"model":"m","messages":[{"role":"user","content":"<script>alert(1)</script>"},{"role":"assistant","content":"` + strings.Repeat("words of it ", 600) + `"},{"role":"user","content":"and on"}]}`
		response, err := client.Post(provider.URL+"/v1/chat/completions", "application/json", strings.NewReader(body))
		require.NoError(t, err)
		_, err = io.Copy(io.Discard, response.Body)
		require.NoError(t, err)
		require.NoError(t, response.Body.Close())
	}
	list := got(p, "/")
	h := list.Header()
	require.Equal(t, []string{"no-store", "no-referrer", "DENY", "text/html; charset=utf-8"}, []string{h.Get("Cache-Control"), h.Get("Referrer-Policy"), h.Get("X-Frame-Options"), h.Get("Content-Type")})
	require.Contains(t, list.Body.String(), "<td>2</td><td>1883</td><td>509</td>", "two turns of one session")
	require.Equal(t, 2, strings.Count(list.Body.String(), "<a href="), "a line for each session")
	_, name, _ := strings.Cut(list.Body.String(), `<a href="`)
	name, _, _ = strings.Cut(name, `"`)
	turns := got(p, "/"+name).Body.String()
	require.Contains(t, turns, "Session "+name)
	require.Contains(t, turns, "7.2 kB<td>1865<td>cut", "what came, besides what was sent")
	require.NotContains(t, turns, "<script>alert", "contents are data")
	require.Contains(t, got(p, "/other").Body.String(), "7.2 kB<td>491<td>cut", "what was sent, if another conversation came")
	require.Equal(t, http.StatusNotFound, got(p, "/another").Code)
}

// TestPagesAreBounded: the sessions that were used last stay, with their last turns.
func TestPagesAreBounded(t *testing.T) {
	p, turn := New(budget(t), counter), new(cupelsession.Turn)
	turn.Cache.Cost, turn.Cache.Without = 2, 3
	const many = 3*MostSessions + 1
	for n := range many {
		for range MostTurns + 1 {
			p.Add(cupelsession.Exchange{Session: fmt.Sprint(n), Turn: turn})
		}
	}
	p.Add(cupelsession.Exchange{Session: fmt.Sprint(many - 2), Turn: turn})
	p.Add(cupelsession.Exchange{Session: "without a turn"})
	require.Len(t, p.sessions, MostSessions)
	last := p.sessions[MostSessions-1]
	require.Equal(t, fmt.Sprint(many-2), last.Name)
	require.Equal(t, MostTurns+2, last.Turns)
	require.Equal(t, []float64{2 * float64(last.Turns), 3 * float64(last.Turns)}, []float64{last.Cost, last.Without})
	for _, s := range p.sessions {
		require.Len(t, s.turns, MostTurns)
	}
	require.Equal(t, http.StatusOK, got(p, "/"+last.Name).Code, "turns of zero values")
}
