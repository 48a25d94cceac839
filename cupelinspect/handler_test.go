package cupelinspect_test

import (
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"

	"github.com/wollax/cupel-go/cupelinspect"
)

func TestHandler(t *testing.T) {
	s := inspect(t, newPipeline(t, nil), everyReason(t), newBudget(t, 100, 80))
	page := write(t, "served", s)
	handler, err := cupelinspect.Handler("served", s)
	if err != nil {
		t.Fatal(err)
	}
	tests := []struct {
		method, target string
		status         int
		body           string
		why            string
	}{
		{"GET", "/", 200, page, "the page"},
		{"GET", "/?a=b", 200, page, "queries mean nothing"},
		{"HEAD", "/", 200, "", "its headers"},
		{"POST", "/", 405, "method not allowed: use GET or HEAD\n", "there is nothing to change"},
		{"OPTIONS", "/", 405, "method not allowed: use GET or HEAD\n", "nor to negotiate"},
		{"GET", "/favicon.ico", 404, "not found: the only page is /\n", "one page"},
		{"GET", "/index.html", 404, "not found: the only page is /\n", "one page"},
		{"GET", "/../", 404, "not found: the only page is /\n", "one page"},
	}
	for _, tt := range tests {
		t.Run(tt.method+" "+tt.target, func(t *testing.T) {
			w := httptest.NewRecorder()
			handler.ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), tt.method, tt.target, http.NoBody))
			if w.Code != tt.status || w.Body.String() != tt.body {
				t.Errorf("%s: got %d, %.80q; want %d, %.80q", tt.why, w.Code, w.Body, tt.status, tt.body)
			}
			want := map[string]string{
				"Content-Security-Policy":      strings.Join(policyOf(t, page), "; ") + "; frame-ancestors 'none'",
				"X-Content-Type-Options":       "nosniff",
				"X-Frame-Options":              "DENY",
				"Referrer-Policy":              "no-referrer",
				"Cross-Origin-Opener-Policy":   "same-origin",
				"Cross-Origin-Resource-Policy": "same-origin",
				"Cache-Control":                "no-store",
			}
			switch tt.status {
			case 200:
				want["Content-Type"], want["Content-Length"] = "text/html; charset=utf-8", strconv.Itoa(len(page))
			case 405:
				want["Allow"] = "GET, HEAD"
			}
			for name, value := range want {
				if got := w.Header().Get(name); got != value {
					t.Errorf("%s is %q; want %q", name, got, value)
				}
			}
		})
	}
	if h, err := cupelinspect.Handler(""); h != nil || err == nil {
		t.Errorf("without a selection: %v, %v; want an error", h, err)
	}
}
