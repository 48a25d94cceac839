package cupelinspect

import (
	"bytes"
	"net/http"
	"strconv"
)

// Handler serves the page that [WriteHTML] writes, at "/" and for GET and HEAD
// alone, with the content security policy as a header too. The page is made
// once, at the start. It fails as WriteHTML does.
//
// Whoever listens beyond the loopback interface shows every candidate to
// whoever asks. A server on the loopback interface should answer requests for
// its own host names only, since any web site may have a name of its own point
// there; the handler does not know them.
func Handler(title string, selections ...*Selection) (http.Handler, error) {
	var page bytes.Buffer
	if err := WriteHTML(&page, title, selections...); err != nil {
		return nil, err
	}
	a, err := loadAssets()
	if err != nil {
		return nil, err
	}
	return &handler{page.Bytes(), a.policy + "; frame-ancestors 'none'"}, nil
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
		http.Error(w, "there is nothing here but /", http.StatusNotFound)
	case r.Method != http.MethodGet && r.Method != http.MethodHead:
		header.Set("Allow", "GET, HEAD")
		http.Error(w, "only GET and HEAD are answered", http.StatusMethodNotAllowed)
	default:
		header.Set("Content-Type", "text/html; charset=utf-8")
		header.Set("Content-Length", strconv.Itoa(len(h.page)))
		if r.Method == http.MethodHead {
			return
		}
		_, _ = w.Write(h.page) // whoever asked may have gone
	}
}
