package cli

import (
	"crypto/subtle"
	"net/http"
	"strings"
)

// pagePath begins the addresses of the page.
const pagePath = "/cupel/"

// withPage serves the page to anyone with the token, and leaves all other paths to the
// next.
func withPage(page http.Handler, token string, next http.Handler) http.Handler {
	page = http.StripPrefix(pagePath+token, page)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		below, isPage := strings.CutPrefix(r.URL.Path, pagePath)
		given, _, _ := strings.Cut(below, "/")
		switch {
		case !isPage:
			next.ServeHTTP(w, r)
		case subtle.ConstantTimeCompare([]byte(given), []byte(token)) != 1:
			http.NotFound(w, r)
		default:
			page.ServeHTTP(w, r)
		}
	})
}
