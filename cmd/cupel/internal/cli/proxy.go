package cli

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"math"
	"net"
	"net/http"
	"net/http/httputil"
	"net/netip"
	"net/url"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/wollax/cupel-go/cupelchat"
	"github.com/wollax/cupel-go/cupelsession"
	"github.com/wollax/cupel-go/cupelsession/sessionpage"
)

// proxyFlags are the flags of newProxy.
type proxyFlags struct {
	budgetFlags
	listen, upstream string
	policy, encoding string
	rules            []string
	strict           bool
	maxBody          int
	record           string
	page             bool
}

// newProxy returns the command that fits the requests of other programs.
func newProxy(env *Environment) *cobra.Command {
	var flags proxyFlags
	command := &cobra.Command{
		Use:   "proxy",
		Short: "Fit the requests of agents on their way to the provider",
		Long: `proxy listens on this machine, fits each request of a conversation into the budget,
and sends it to the provider. An agent in any language uses it by its base URL:

  ANTHROPIC_BASE_URL=http://127.0.0.1:8787
  OPENAI_BASE_URL=http://127.0.0.1:8787/v1

The beginning of a conversation stays as it was sent, so that the provider's prompt
cache finds it. Headers and keys are passed on, and never printed or kept. Requests
that are not conversations, are signed (Bedrock) or cannot be made to fit pass
unchanged. The header Cupel-Tokens of a response has the tokens before and after
fitting.`,
		Example: `  cupel proxy --budget 60k
  cupel proxy -b 60k --upstream http://127.0.0.1:8000 --rule 'latest=3 tool=read_*'
  cupel proxy -b 60k --listen unix:/run/cupel.sock`,
		Args: cobra.NoArgs,
		RunE: func(command *cobra.Command, _ []string) error {
			return flags.run(command.Context(), env)
		},
	}
	flags.register(command)
	set := command.Flags()
	set.StringVar(&flags.listen, "listen", "127.0.0.1:8787", "`address` of this machine, or unix:PATH")
	set.StringVar(&flags.upstream, "upstream", "", "`URL` of the provider (default: by the path of the request)")
	set.StringVarP(&flags.policy, "policy", "p", agentPolicy, "`name` of a preset or of a policy file (.json, .toml); see cupel policies")
	set.StringArrayVar(&flags.rules, "rule", nil, "a `rule` for messages, as in cupel run; may be repeated")
	set.BoolVar(&flags.strict, "strict", false, "refuse requests that cannot be made to fit")
	set.Func("max-body", "most `bytes` to read from a request; larger ones are sent unchanged (default: 64 MiB)", amount(&flags.maxBody, 1))
	set.StringVar(&flags.record, "record", "", "`folder` that keeps the conversations for cupel replay, up to 1 GiB; they may contain secrets")
	set.BoolVar(&flags.page, "page", false, "serve a page of the current sessions, turn by turn")
	encodingFlag(command, &flags.encoding)
	return command
}

func (f *proxyFlags) run(ctx context.Context, env *Environment) error {
	if f.budget == 0 {
		return usagef("give a --budget, such as -b 60k: each request may be for another model")
	}
	transport, shown, err := f.transport(env)
	if err != nil {
		return err
	}
	to, err := f.provider()
	if err != nil {
		return err
	}
	listener, err := f.open(ctx)
	if err != nil {
		return err
	}
	handler, token := forwarding(to, transport), rand.Text()
	if f.page {
		handler = withPage(shown, token, handler)
	}
	server := &http.Server{Handler: guarded(handler), ReadHeaderTimeout: 10 * time.Second, ErrorLog: log.New(io.Discard, "", 0)}
	stopped := context.AfterFunc(ctx, func() { _ = server.Close() })
	defer stopped()
	if f.page {
		note(env, "the page is http://"+listener.Addr().String()+pagePath+token+"/")
	}
	note(env, "listening on "+listener.Addr().String())
	err = server.Serve(listener)
	stats := transport.Stats()
	note(env, fmt.Sprintf("requests fitted: %d, sent unchanged: %d, impossible to fit: %d, sent again with less: %d; sessions dropped for newer ones: %d",
		stats.Fitted, stats.Forwarded, stats.Failed, stats.Retried, stats.Evicted))
	if errors.Is(err, http.ErrServerClosed) {
		return ctx.Err()
	}
	return err
}

// transport returns the transport that fits the requests, and the pages of its sessions.
func (f *proxyFlags) transport(env *Environment) (*cupelsession.Transport, *sessionpage.Pages, error) {
	budget, err := f.make()
	if err != nil {
		return nil, nil, err
	}
	counter, err := counterNamed(f.encoding)
	if err != nil {
		return nil, nil, err
	}
	c, err := new(question).chooser(env, f.policy, counter)
	if err != nil {
		return nil, nil, err
	}
	rules, err := parseRules(slices.Concat(f.rules, env.pins))
	if err != nil {
		return nil, nil, err
	}
	if c.file != nil {
		rules = append(slices.Clip(c.file.Rules), rules...)
	}
	config := cupelsession.TransportConfig{
		Budget: budget, Counter: counter, Chooser: c.ofMessages(), Session: c.file.config(), Strict: f.strict, MaxBody: int64(f.maxBody),
		Options: []cupelchat.Option{cupelchat.WithRules(rules...)},
	}
	var store *cupelsession.FolderStore
	if f.record != "" {
		if store, err = cupelsession.NewFolderStore(f.record, mostRecorded, math.MaxInt64); err != nil {
			return nil, nil, usagef("--record: %w", err)
		}
	}
	shown := sessionpage.New(budget, counter)
	config.Exchanged = func(e cupelsession.Exchange) {
		if f.page {
			shown.Add(e)
		}
		if store == nil {
			return
		}
		if err := recordExchange(store, e); err != nil {
			note(env, "a conversation was not recorded: "+err.Error())
		}
	}
	transport, err := cupelsession.NewTransport(config)
	if err != nil {
		return nil, nil, codedError{err, exitUsage}
	}
	return transport, shown, nil
}

// mostRecorded is how many bytes of requests a folder keeps. The oldest conversations go
// first.
const mostRecorded = 1 << 30

// recordExchange keeps the latest request of a session, for cupel replay. This request has
// the whole conversation.
func recordExchange(store *cupelsession.FolderStore, e cupelsession.Exchange) error {
	var line bytes.Buffer
	if err := json.Compact(&line, e.Given); err != nil {
		return err
	}
	return store.Put(context.Background(), e.Session, e.Format.String(), line.String()+"\n")
}

// open listens on a loopback address, or on a socket that belongs to the user.
func (f *proxyFlags) open(ctx context.Context) (net.Listener, error) {
	var listening net.ListenConfig
	network, address := "tcp", f.listen
	path, isSocket := strings.CutPrefix(f.listen, "unix:")
	if isSocket {
		network, address = "unix", path
	} else if host, _, err := net.SplitHostPort(address); err != nil || !isLoopback(host) {
		return nil, usagef("--listen: want a loopback address such as 127.0.0.1:8787, or unix:PATH, got %q: requests carry keys", address)
	}
	listener, err := listening.Listen(ctx, network, address)
	if err == nil && isSocket {
		if err = os.Chmod(path, 0o600); err != nil {
			err = errors.Join(err, listener.Close())
		}
	}
	if err != nil {
		return nil, usagef("--listen: %w", err)
	}
	return listener, nil
}

func isLoopback(host string) bool {
	address, err := netip.ParseAddr(strings.Trim(host, "[]"))
	return host == "localhost" || err == nil && address.IsLoopback()
}

// provider returns the function that finds the provider of a request.
func (f *proxyFlags) provider() (func(*http.Request) *url.URL, error) {
	if f.upstream == "" {
		return providerOf, nil
	}
	to, err := url.Parse(f.upstream)
	if err != nil || to.Host == "" || to.User != nil || to.RawQuery != "" {
		return nil, usagef("--upstream: want a URL such as https://api.example.com")
	}
	if to.Scheme != "https" && !(to.Scheme == "http" && isLoopback(to.Hostname())) {
		return nil, usagef("--upstream: want https, or http to a loopback address: requests carry keys")
	}
	return func(*http.Request) *url.URL { return to }, nil
}

// providerOf finds the provider by the path of a request. It returns nil for unknown
// paths.
func providerOf(r *http.Request) *url.URL {
	var host string
	switch path := r.URL.Path; {
	case strings.HasPrefix(path, "/v1beta/"), strings.HasPrefix(path, "/v1alpha/"), strings.Contains(path, "enerateContent"):
		host = "generativelanguage.googleapis.com"
	case strings.HasPrefix(path, "/v1/") && (strings.HasPrefix(path, "/v1/messages") || r.Header.Get("Anthropic-Version") != ""):
		host = "api.anthropic.com"
	case strings.HasPrefix(path, "/v1/"):
		host = "api.openai.com"
	case strings.HasPrefix(path, "/api/"):
		return &url.URL{Scheme: "http", Host: "127.0.0.1:11434"}
	default:
		return nil
	}
	return &url.URL{Scheme: "https", Host: host}
}

// forwarding sends requests to their provider. It prints no URL and no error of one:
// Gemini's keys are in the query.
func forwarding(to func(*http.Request) *url.URL, transport http.RoundTripper) http.Handler {
	proxy := &httputil.ReverseProxy{
		Rewrite: func(r *httputil.ProxyRequest) {
			target := to(r.In)
			r.SetURL(target)
			r.Out.Host = target.Host
		},
		Transport:     transport,
		FlushInterval: -1, // each event as it comes
		ErrorLog:      log.New(io.Discard, "", 0),
		ErrorHandler: func(w http.ResponseWriter, _ *http.Request, _ error) {
			http.Error(w, "cupel: the provider did not answer", http.StatusBadGateway)
		},
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if to(r) == nil {
			http.Error(w, "cupel: no provider is known for this path; name one with --upstream", http.StatusNotFound)
			return
		}
		proxy.ServeHTTP(w, r)
	})
}

// guarded refuses requests that no program on this machine sends: requests for other
// hosts, which a web page makes by giving this address a name of its own, and requests
// of web pages.
func guarded(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		host := r.Host
		if name, _, err := net.SplitHostPort(host); err == nil {
			host = name
		}
		switch {
		case r.Method == http.MethodConnect, r.URL.Host != "":
			http.Error(w, "cupel: this is not a proxy for other hosts; use its address as the base URL", http.StatusBadRequest)
		case !isLoopback(host):
			http.Error(w, "cupel: the host must be a loopback address", http.StatusForbidden)
		case r.Header.Get("Origin") != "":
			http.Error(w, "cupel: web pages may not use this proxy", http.StatusForbidden)
		default:
			next.ServeHTTP(w, r)
		}
	})
}
