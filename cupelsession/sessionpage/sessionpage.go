// Package sessionpage shows the sessions of a [cupelsession.Transport] as web pages: a list
// with their costs, and the turns of each, side by side.
//
//	pages := sessionpage.New(budget, counter)
//	transport, err := cupelsession.NewTransport(cupelsession.TransportConfig{
//		Budget: budget, Counter: counter, Exchanged: pages.Add,
//	})
//	http.Handle("/sessions/", http.StripPrefix("/sessions", pages))
//
// The transport gives each [cupelsession.Exchange] to the [Pages].
package sessionpage

import (
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

// The bounds of [Pages].
const (
	MostSessions = 16 // that were used last
	MostTurns    = 12 // of each session, the newest
)

// Pages is an [http.Handler] that serves the list of sessions at / and each session at
// its name, without a network of its own. It keeps up to [MostSessions] with up to
// [MostTurns] in memory.
//
// The pages have whole requests, which may contain secrets. Pages asks for no password:
// serve it on a loopback address, under a path that is hard to guess. Its methods may be
// called by several goroutines.
type Pages struct {
	budget  cupel.ContextBudget
	counter cupel.TokenCounter

	mu       sync.Mutex
	sessions []*session // the one that was used last at the end
}

// session is a session on the page.
type session struct {
	Name          string
	Turns         int
	Given, Sent   int     // tokens of the last request
	Cost, Without float64 // of all turns, in tokens of plain input
	turns         []cupelsession.Exchange
}

// New returns pages without a session, for a transport with this budget and counter.
func New(budget cupel.ContextBudget, counter cupel.TokenCounter) *Pages {
	return &Pages{budget: budget, counter: counter}
}

// Add shows a turn. A [cupelsession.TransportConfig] takes it as Exchanged. An exchange
// without a turn is left out.
func (p *Pages) Add(e cupelsession.Exchange) {
	if e.Turn == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	s := &session{Name: e.Session}
	if at := p.find(e.Session); at >= 0 {
		s = p.sessions[at]
		p.sessions = slices.Delete(p.sessions, at, at+1)
	}
	p.sessions = append(p.sessions, s)
	if len(p.sessions) > MostSessions {
		p.sessions = slices.Delete(p.sessions, 0, 1)
	}
	s.Turns++
	s.Given, s.Sent = e.Turn.Given(), e.Turn.Estimate
	s.Cost, s.Without = s.Cost+e.Turn.Cache.Cost, s.Without+e.Turn.Cache.Without
	s.turns = append(s.turns, e)
	if len(s.turns) > MostTurns {
		s.turns = slices.Delete(s.turns, 0, 1)
	}
}

// find returns the position of a session, or -1.
func (p *Pages) find(name string) int {
	return slices.IndexFunc(p.sessions, func(s *session) bool { return s.Name == name })
}

// ServeHTTP implements [http.Handler].
func (p *Pages) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	h.Set("Cache-Control", "no-store")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("X-Frame-Options", "DENY")
	h.Set("Content-Type", "text/html; charset=utf-8")
	p.mu.Lock()
	defer p.mu.Unlock()
	name := strings.TrimPrefix(r.URL.Path, "/")
	if name == "" {
		_ = listOfSessions.Execute(w, p.sessions) // the reader is gone
		return
	}
	at := p.find(name)
	if at < 0 {
		http.NotFound(w, r)
		return
	}
	var turns []*cupelinspect.Selection
	for _, e := range p.sessions[at].turns {
		shown, err := p.shown(e)
		if err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		turns = append(turns, shown)
	}
	_ = cupelinspect.WriteHTML(w, "Session "+name, turns...) // as above: a session has as many turns as a page may have
}

// shown returns the page's selection of a turn: the sent part of each message
// that came.
func (p *Pages) shown(e cupelsession.Exchange) (*cupelinspect.Selection, error) {
	report := e.Turn.Report()
	options := []cupelinspect.Option{cupelinspect.WithRequest(e.Sent)}
	conversation, _ := cupelchat.Read(e.Given, e.Format, p.counter) // nil has no items
	if items := conversation.Items(); len(items) == report.TotalCandidates {
		options = append(options, cupelinspect.WithCandidates(items, nil))
	}
	return cupelinspect.FromReport(report, p.budget, options...)
}

// listOfSessions is the page of all sessions.
var listOfSessions = template.Must(template.New("sessions").Parse(`<!doctype html>
<html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>Sessions</title>
<style>:root{color-scheme:light dark}body{font:1rem/1.5 system-ui,sans-serif;max-width:60rem;margin:2rem auto;padding:0 1rem}table{border-collapse:collapse}td,th{padding:.2rem 1rem .2rem 0;text-align:right}td:first-child,th:first-child{text-align:left}</style>
<h1>Sessions</h1>
{{if .}}<table><tr><th>session</th><th>turns</th><th>tokens given</th><th>sent</th><th>cost</th><th>without Cupel</th></tr>
{{range .}}<tr><td><a href="{{.Name}}">{{.Name}}</a></td><td>{{.Turns}}</td><td>{{.Given}}</td><td>{{.Sent}}</td><td>{{printf "%.0f" .Cost}}</td><td>{{printf "%.0f" .Without}}</td></tr>
{{end}}</table><p>The cost is in tokens of plain input, over all turns, as the provider's cache has it.</p>{{else}}<p>No conversation has come yet.</p>{{end}}
</html>
`))
