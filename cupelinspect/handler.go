package cupelinspect

import (
	"bytes"
	"net/http"
	"strconv"
)

// Handler returns a handler that serves the page of [WriteHTML] at "/", for GET
// and HEAD only, with the content security policy also as a header. It builds
// the page once, and returns the same errors as WriteHTML.
//
// The page contains every candidate: a server that listens beyond the loopback
// interface shows them to anyone who can connect. A server on the loopback
// interface should answer only requests for its own host names, since any web
// site can point a name at that address. The handler does not check the host.
func Handler(title string, selections ...*Selection) (http.Handler, error) {
	var page bytes.Buffer
	if err := WriteHTML(&page, title, selections...); err != nil {
		return nil, err
	}
	return &handler{page.Bytes(), loadAssets().policy + "; frame-ancestors 'none'"}, nil
}

type handler struct {
	page   []byte
	policy string
}

// ServeHTTP implements http.Handler.
func (h *handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	header := w.Header()
	header.Set("Content-Security-Policy", h.policy)
	header.Set("X-Content-Type-Options", "nosniff")
	header.Set("X-Frame-Options", "DENY")
	header.Set("Referrer-Policy", "no-referrer")
	header.Set("Cross-Origin-Opener-Policy", "same-origin")
	header.Set("Cross-Origin-Resource-Policy", "same-origin")
	header.Set("Cache-Control", "no-store")
	switch {
	case r.URL.Path != "/":
		http.Error(w, "not found: the only page is /", http.StatusNotFound)
	case r.Method != http.MethodGet && r.Method != http.MethodHead:
		header.Set("Allow", "GET, HEAD")
		http.Error(w, "method not allowed: use GET or HEAD", http.StatusMethodNotAllowed)
	default:
		header.Set("Content-Type", "text/html; charset=utf-8")
		header.Set("Content-Length", strconv.Itoa(len(h.page)))
		if r.Method == http.MethodHead {
			return
		}
		_, _ = w.Write(h.page) // the client may have disconnected
	}
}
