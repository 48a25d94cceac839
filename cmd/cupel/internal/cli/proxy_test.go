package cli

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// startProxy runs cupel proxy until the test ends, and returns its address, what it has
// printed, and what stops it: that returns what it has printed since.
func startProxy(t *testing.T, args ...string) (address, printed string, stop func() string) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	t.Cleanup(cancel)
	said, stderr := io.Pipe()
	ended := make(chan int, 1)
	go func() {
		code := Main(ctx, append([]string{"proxy", "-b", "500", "--encoding", "heuristic"}, args...), Environment{
			Stdin: strings.NewReader(""), Stdout: io.Discard, Stderr: stderr, Getenv: func(string) string { return "" },
		})
		_ = stderr.Close()
		ended <- code
	}()
	lines := bufio.NewReader(said)
	for address == "" {
		line, err := lines.ReadString('\n')
		require.NoError(t, err)
		printed += line
		_, address, _ = strings.Cut(strings.TrimSpace(line), "listening on ")
	}
	return address, printed, func() string {
		cancel()
		rest, err := io.ReadAll(lines)
		require.NoError(t, err)
		require.Equal(t, exitInterrupted, <-ended)
		require.Contains(t, string(rest), "\ncupel: interrupted\n")
		return string(rest)
	}
}

// asked is what reached the provider.
type asked struct {
	host, path, key, origin, body string
}

func TestProxy(t *testing.T) {
	requests := make(chan asked, 9)
	event := make(chan bool)
	provider := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		requests <- asked{r.Host, r.URL.String(), r.Header.Get("Authorization"), r.Header.Get("X-Forwarded-For"), string(body)}
		if strings.HasSuffix(r.URL.Path, "/redirect") {
			http.Redirect(w, r, "http://192.0.2.1/", http.StatusFound)
			return
		}
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = io.WriteString(w, "data: {\"choices\":[]}\n\n")
		w.(http.Flusher).Flush()
		<-event
		_, _ = io.WriteString(w, "data: {\"usage\":{\"prompt_tokens\":9}}\n\n")
	}))
	defer provider.Close()
	to, err := url.Parse(provider.URL)
	require.NoError(t, err)
	address, printed, stop := startProxy(t, "--listen", "127.0.0.1:0", "--upstream", provider.URL+"/base", "--rule", "latest=1 role=user")
	require.NotContains(t, printed, "the page")
	chat := `{"model":"m","messages":[{"role":"user","content":"` + strings.Repeat("say it again ", 100) + `"},{"role":"assistant","content":"` + strings.Repeat("long answer ", 500) + `"},{"role":"user","content":"go on"}]}`
	ask := func(path, body string) *http.Response {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://"+address+path, strings.NewReader(body))
		require.NoError(t, err)
		r.Header.Set("Authorization", "Bearer secret")
		response, err := http.DefaultTransport.RoundTrip(r)
		require.NoError(t, err)
		return response
	}

	response := ask("/v1/chat/completions?key=secret", chat)
	got := <-requests
	require.Equal(t, to.Host, got.host)
	require.Equal(t, "/base/v1/chat/completions?key=secret", got.path)
	require.Equal(t, "Bearer secret", got.key, "keys are passed on")
	require.Empty(t, got.origin, "nothing is added that says where the request is from")
	require.Less(t, len(got.body), 3000)
	require.Contains(t, got.body, "go on")
	require.Contains(t, response.Header.Get("Cupel-Tokens"), " -> ")
	lines := bufio.NewReader(response.Body)
	line, err := lines.ReadString('\n')
	require.NoError(t, err)
	require.Contains(t, line, "choices", "the first event comes before the second is there")
	close(event)
	rest, err := io.ReadAll(lines)
	require.NoError(t, err)
	require.Contains(t, string(rest), "usage")
	require.NoError(t, response.Body.Close())

	response = ask("/cupel/redirect", "{}")
	<-requests
	require.Equal(t, http.StatusFound, response.StatusCode, "redirects are the caller's")
	require.NoError(t, response.Body.Close())

	said := stop()
	require.Contains(t, said, "requests fitted: 1, sent unchanged: 1, impossible to fit: 0, sent again with less: 0; sessions dropped for newer ones: 0\n")
	require.NotContains(t, said, "secret")
}

// Programs on this machine alone are served.
func TestProxyRefuses(t *testing.T) {
	address, _, stop := startProxy(t, "--listen", "127.0.0.1:0", "--upstream", "http://127.0.0.1:1", "--strict")
	for _, test := range []struct {
		name, request string
		status        int
		why           string
	}{
		{"another host", "GET /v1/models HTTP/1.1\r\nHost: evil.example\r\n\r\n", http.StatusForbidden, "a page's name may lead here"},
		{"origin", "GET /v1/models HTTP/1.1\r\nHost: localhost\r\nOrigin: http://evil.example\r\n\r\n", http.StatusForbidden, "pages send it"},
		{"null origin", "GET /v1/models HTTP/1.1\r\nHost: localhost\r\nOrigin: null\r\n\r\n", http.StatusForbidden, "so do files"},
		{"absolute", "GET http://evil.example/ HTTP/1.1\r\nHost: evil.example\r\n\r\n", http.StatusBadRequest, "it is no proxy for the web"},
		{"connect", "CONNECT evil.example:443 HTTP/1.1\r\nHost: localhost\r\n\r\n", http.StatusBadRequest, "nor for tunnels"},
		{"no messages", "POST /v1/chat/completions HTTP/1.1\r\nHost: localhost\r\nContent-Length: 14\r\n\r\n{\"messages\":5}", http.StatusBadRequest, "they cannot be made to fit"},
		{"provider down", "GET /v1/models HTTP/1.1\r\nHost: [::1]:8787\r\n\r\n", http.StatusBadGateway, "the answer says so"},
	} {
		conn, err := net.Dial("tcp", address)
		require.NoError(t, err)
		_, err = io.WriteString(conn, test.request)
		require.NoError(t, err)
		response, err := http.ReadResponse(bufio.NewReader(conn), nil)
		require.NoError(t, err, test.name)
		require.Equal(t, test.status, response.StatusCode, "%s: %s", test.name, test.why)
		require.Empty(t, response.Header.Get("Access-Control-Allow-Origin"))
		require.NoError(t, response.Body.Close())
		require.NoError(t, conn.Close())
	}
	stop()
}

// A socket serves containers, and belongs to the user.
func TestProxySocket(t *testing.T) {
	provider := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "{}") }))
	defer provider.Close()
	path := filepath.Join(t.TempDir(), "s")
	_, _, stop := startProxy(t, "--listen", "unix:"+path, "--upstream", provider.URL)
	info, err := os.Stat(path)
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o600), info.Mode().Perm())
	client := &http.Client{Transport: &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "unix", path)
	}}}
	response, err := client.Get("http://localhost/v1/models")
	require.NoError(t, err)
	require.Equal(t, http.StatusOK, response.StatusCode)
	require.NoError(t, response.Body.Close())
	stop()
}

func TestProxyFlags(t *testing.T) {
	refusals(t, "", []refusal{
		{"no budget", "proxy", exitUsage, "cupel: give a --budget, such as -b 60k", "it has no default"},
		{"any address", "proxy -b 9 --listen 0.0.0.0:8787", exitUsage, "want a loopback address", "requests carry keys"},
		{"every address", "proxy -b 9 --listen :8787", exitUsage, "want a loopback address", "no host is any host"},
		{"a name", "proxy -b 9 --listen example.com:1", exitUsage, "want a loopback address", "it may be any address"},
		{"plain http", "proxy -b 9 --upstream http://api.example.com", exitUsage, "want https", "keys would be readable"},
		{"half a URL", "proxy -b 9 --upstream http://[::1", exitUsage, "want a URL", "it cannot be read"},
		{"no URL", "proxy -b 9 --upstream api.example.com", exitUsage, "want a URL", "it has no scheme"},
		{"credentials", "proxy -b 9 --upstream https://a:b@example.com", exitUsage, "want a URL", "keys are the caller's"},
		{"query", "proxy -b 9 --upstream https://example.com?key=a", exitUsage, "want a URL", "paths follow it"},
		{"port", "proxy -b 9 --listen 127.0.0.1:99999", exitUsage, "--listen:", "there is none such"},
		{"reserve", "proxy -b 9 --reserve 10", exitUsage, "--reserve must be at most --budget (9), got 10", "as for run"},
		{"body", "proxy -b 9 --max-body 0", exitUsage, `argument "0" for "--max-body"`, "no request is so small"},
		{"record", "proxy -b 9 --record proxy.go", exitUsage, "--record:", "it is a file"},
		{"encoding", "proxy -b 9 --encoding none", exitUsage, `"none"`, "as for run"},
		{"rule", "proxy -b 9 --rule pin", exitUsage, `"pin" is unknown`, "as for run"},
		{"no session", "proxy -b 9 -p nothing", exitUsage, "no policy is named", "as for run"},
	})
	for _, test := range []struct{ path, header, want string }{
		{"/v1/messages", "", "https://api.anthropic.com"},
		{"/v1/models", "", "https://api.openai.com"},
		{"/v1/models", "2023-06-01", "https://api.anthropic.com"},
		{"/v1/chat/completions", "", "https://api.openai.com"},
		{"/v1beta/models/g:generateContent", "", "https://generativelanguage.googleapis.com"},
		{"/v1alpha/models", "", "https://generativelanguage.googleapis.com"},
		{"/v1/models/g:streamGenerateContent", "", "https://generativelanguage.googleapis.com"},
		{"/api/chat", "", "http://127.0.0.1:11434"},
		{"/other", "", "<nil>"},
	} {
		r := httptest.NewRequest(http.MethodPost, test.path, nil)
		r.Header.Set("Anthropic-Version", test.header)
		got := "<nil>"
		if to := providerOf(r); to != nil {
			got = fmt.Sprint(to)
		}
		require.Equal(t, test.want, got, test.path)
	}
	w := httptest.NewRecorder()
	forwarding(providerOf, nil).ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/other", nil))
	require.Equal(t, http.StatusNotFound, w.Code)
}

// Recorded conversations are what cupel replay reads, in files of the user alone, and on
// a page for who has its token.
func TestProxyRecords(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "conversations")
	provider := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "{}") }))
	defer provider.Close()
	address, printed, stop := startProxy(t, "--listen", "127.0.0.1:0", "--upstream", provider.URL, "--record", dir, "--page")
	messages := `{"role":"user","content":"where is crypto.go?"}`
	for n := range 3 {
		response, err := http.Post("http://"+address+"/v1/chat/completions", "application/json", strings.NewReader(`{"model":"m",
"messages":[`+messages+`]}`))
		require.NoError(t, err)
		_, err = io.Copy(io.Discard, response.Body)
		require.NoError(t, err)
		require.NoError(t, response.Body.Close())
		messages += fmt.Sprintf(`,{"role":"assistant","content":"crypto.go %d"},{"role":"user","content":"and now?"}`, n)
	}
	_, page, found := strings.Cut(strings.Split(printed, "\n")[0], "the page is ")
	require.True(t, found, printed)
	for url, status := range map[string]int{
		page: http.StatusOK, page + "other": http.StatusNotFound, "http://" + address + "/cupel/guessed/": http.StatusNotFound, "http://" + address + "/cupel/": http.StatusNotFound,
	} {
		response, err := http.Get(url)
		require.NoError(t, err)
		text, err := io.ReadAll(response.Body)
		require.NoError(t, err)
		require.NoError(t, response.Body.Close())
		require.Equal(t, status, response.StatusCode, url)
		require.Equal(t, status == http.StatusOK, strings.Contains(string(text), "<td>3</td>"), "%s: three turns", url)
	}
	require.NotContains(t, stop(), "not recorded")
	files, err := filepath.Glob(filepath.Join(dir, "*", "*"))
	require.NoError(t, err)
	require.Len(t, files, 1, "one for each session")
	for name, mode := range map[string]os.FileMode{dir: 0o700, files[0]: 0o600} {
		info, err := os.Stat(name)
		require.NoError(t, err)
		require.Equal(t, mode, info.Mode().Perm())
	}
	code, stdout, stderr := fed(t, "", "replay", "--data", files[0], "-p", "newest", "--share", "0.5")
	require.Equal(t, exitOK, code, stderr)
	require.Contains(t, stdout, "1 conversation")
}
