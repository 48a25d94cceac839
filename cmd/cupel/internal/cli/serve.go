package cli

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// serve serves a page on a loopback address until ctx is done, and then returns
// nil.
func serve(ctx context.Context, env *Environment, address string, page http.Handler) error {
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return usagef("--serve: %w; give an address such as %s", err, anyPort)
	}
	ip := net.ParseIP(host)
	if host != "localhost" && (ip == nil || !ip.IsLoopback()) {
		return usageError{errNotLoopback}
	}
	if _, err := strconv.ParseUint(port, 10, 16); err != nil {
		return usagef("--serve: %q is not a port", port)
	}
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", address)
	if err != nil {
		return usagef("--serve: %w", err)
	}
	server := &http.Server{
		Handler:           guard(page),
		ReadHeaderTimeout: 10 * time.Second,
		BaseContext:       func(net.Listener) context.Context { return ctx },
	}
	fmt.Fprintf(env.Stderr, "cupel: serving http://%s/; interrupt to stop\n", listener.Addr())
	stop := context.AfterFunc(ctx, func() { _ = server.Close() })
	defer stop()
	if err := server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}

// guard answers only requests whose host is a loopback name: a foreign page whose
// domain resolves to this machine (DNS rebinding) must not read the window.
func guard(page http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		host := r.Host
		if name, _, err := net.SplitHostPort(host); err == nil {
			host = name
		}
		if ip := net.ParseIP(strings.Trim(host, "[]")); host != "localhost" && (ip == nil || !ip.IsLoopback()) {
			http.Error(w, "this page is available on the machine that serves it only", http.StatusForbidden)
			return
		}
		page.ServeHTTP(w, r)
	})
}
