package cli

import (
	"crypto/rand"
	"crypto/subtle"
	"html/template"
	"net/http"
	"slices"
	"strings"
	"sync"

	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupelchat"
	"github.com/wollax/cupel-go/cupelinspect"
	"github.com/wollax/cupel-go/cupelsession"
)

// The page of a proxy keeps the sessions that were used last, and their last
// turns.
const (
	mostWatched      = 16
	mostWatchedTurns = 12
	pagePath         = "/cupel/"
)

// pages shows the sessions of a proxy to anyone with the token.
type pages struct {
	token   string
	budget  cupel.ContextBudget
	counter cupel.TokenCounter

	mu       sync.Mutex
	sessions []*watched // the one that was used last at the end
}

// watched is a session on the page.
type watched struct {
	Name          string
	Turns         int
	Given, Sent   int     // tokens of the last request
	Cost, Without float64 // of all turns, in tokens of plain input
	turns         []cupelsession.Exchange
}

func newPages() *pages { return &pages{token: rand.Text()} }

// add shows a turn.
func (p *pages) add(e cupelsession.Exchange) {
	p.mu.Lock()
	defer p.mu.Unlock()
	at := slices.IndexFunc(p.sessions, func(w *watched) bool { return w.Name == e.Session })
	w := &watched{Name: e.Session}
	if at >= 0 {
		w = p.sessions[at]
		p.sessions = slices.Delete(p.sessions, at, at+1)
	}
	p.sessions = append(p.sessions, w)
	if len(p.sessions) > mostWatched {
		p.sessions = slices.Delete(p.sessions, 0, 1)
	}
	w.Turns++
	w.Given, w.Sent = e.Turn.Given(), e.Turn.Estimate
	w.Cost, w.Without = w.Cost+e.Turn.Cache.Cost, w.Without+e.Turn.Cache.Without
	w.turns = append(w.turns, e)
	if len(w.turns) > mostWatchedTurns {
		w.turns = slices.Delete(w.turns, 0, 1)
	}
}

// before serves the page, and leaves all other paths to the next.
func (p *pages) before(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasPrefix(r.URL.Path, pagePath) {
			p.ServeHTTP(w, r)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// ServeHTTP shows the list of sessions, and each of them with its turns.
func (p *pages) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	token, session, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, pagePath), "/")
	if subtle.ConstantTimeCompare([]byte(token), []byte(p.token)) != 1 {
		http.NotFound(w, r)
		return
	}
	h := w.Header()
	h.Set("Cache-Control", "no-store")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("X-Frame-Options", "DENY")
	h.Set("Content-Type", "text/html; charset=utf-8")
	p.mu.Lock()
	defer p.mu.Unlock()
	if session == "" {
		_ = listOfSessions.Execute(w, p.sessions) // the reader is gone
		return
	}
	at := slices.IndexFunc(p.sessions, func(w *watched) bool { return w.Name == session })
	if at < 0 {
		http.NotFound(w, r)
		return
	}
	var turns []*cupelinspect.Selection
	for _, e := range p.sessions[at].turns {
		shown, err := p.shown(e)
		if err != nil {
			http.Error(w, message(err), http.StatusInternalServerError)
			return
		}
		turns = append(turns, shown)
	}
	if err := cupelinspect.WriteHTML(w, "Session "+session, turns...); err != nil {
		http.Error(w, message(err), http.StatusInternalServerError)
	}
}

// shown returns the page's selection of a turn: the sent part of each message
// that came.
func (p *pages) shown(e cupelsession.Exchange) (*cupelinspect.Selection, error) {
	report := e.Turn.Report()
	options := []cupelinspect.Option{cupelinspect.WithRequest(e.Sent)}
	conversation, err := cupelchat.Read(e.Given, e.Format, p.counter)
	if err == nil && len(conversation.Items()) == report.TotalCandidates {
		options = append(options, cupelinspect.WithCandidates(conversation.Items(), nil))
	}
	return cupelinspect.FromReport(report, p.budget, options...)
}

var listOfSessions = template.Must(template.New("sessions").Parse(`<!doctype html>
<html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>Sessions</title>
<style>:root{color-scheme:light dark}body{font:1rem/1.5 system-ui,sans-serif;max-width:60rem;margin:2rem auto;padding:0 1rem}table{border-collapse:collapse}td,th{padding:.2rem 1rem .2rem 0;text-align:right}td:first-child,th:first-child{text-align:left}</style>
<h1>Sessions</h1>
{{if .}}<table><tr><th>session</th><th>turns</th><th>tokens given</th><th>sent</th><th>cost</th><th>without Cupel</th></tr>
{{range .}}<tr><td><a href="{{.Name}}">{{.Name}}</a></td><td>{{.Turns}}</td><td>{{.Given}}</td><td>{{.Sent}}</td><td>{{printf "%.0f" .Cost}}</td><td>{{printf "%.0f" .Without}}</td></tr>
{{end}}</table><p>The cost is in tokens of plain input, over all turns, as the provider's cache has it.</p>{{else}}<p>No conversation has come yet.</p>{{end}}
</html>
`))
