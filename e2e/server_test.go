package e2e

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"os/exec"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// patience is how long a test waits for an event, which takes far less than a second on an
// idle machine, or for a server to start: Phoenix takes ten. It only ends what is stuck.
const patience = 3 * time.Minute

// server is a running Jaeger or Prometheus.
type server struct {
	cmd   *exec.Cmd
	log   *logBuffer
	ended chan struct{}
}

// startServer starts a command and waits until the address answers with 200. The
// command ends with the test if its context is the test's.
func startServer(t *testing.T, name, ready string, cmd *exec.Cmd) *server {
	t.Helper()
	s := &server{cmd: cmd, log: &logBuffer{}, ended: make(chan struct{})}
	cmd.Stdout, cmd.Stderr = s.log, s.log
	require.NoError(t, cmd.Start())
	go func() {
		_ = cmd.Wait() // it is killed
		close(s.ended)
	}()
	t.Cleanup(func() {
		<-s.ended
		if t.Failed() {
			t.Logf("%s said:\n%s", name, s.log)
		}
	})
	eventually(t, name+" is ready", func() error {
		select {
		case <-s.ended:
			t.Fatalf("%s ended:\n%s", name, s.log)
		default:
		}
		_, err := get(t.Context(), ready)
		return err
	})
	return s
}

// canListen reports whether this system has an address of the loopback interface.
func canListen(t *testing.T, host string) bool {
	t.Helper()
	var config net.ListenConfig
	l, err := config.Listen(t.Context(), "tcp", net.JoinHostPort(host, "0"))
	if err != nil {
		return false
	}
	return l.Close() == nil
}

// freePorts returns unused addresses of the loopback interface.
func freePorts(t *testing.T, n int) []string {
	t.Helper()
	var ports []string
	var listeners []net.Listener
	for range n {
		var config net.ListenConfig
		l, err := config.Listen(t.Context(), "tcp", "127.0.0.1:0")
		require.NoError(t, err)
		listeners = append(listeners, l)
		ports = append(ports, l.Addr().String())
	}
	for _, l := range listeners { // after all have been chosen, so that they differ
		require.NoError(t, l.Close())
	}
	return ports
}

func get(ctx context.Context, address string) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, address, http.NoBody)
	if err != nil {
		return nil, err
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return nil, err
	}
	defer func() { _ = response.Body.Close() }()
	body, err := io.ReadAll(response.Body)
	if err == nil && response.StatusCode != http.StatusOK {
		err = fmt.Errorf("%s: %s: %.500s", address, response.Status, body)
	}
	return body, err
}

// eventually asks again and again until there is no error.
func eventually(t *testing.T, what string, check func() error) {
	t.Helper()
	deadline := time.Now().Add(patience)
	for {
		err := check()
		if err == nil {
			return
		}
		require.False(t, time.Now().After(deadline), "waited %s until %s: %v", patience, what, err)
		time.Sleep(50 * time.Millisecond)
	}
}

// logBuffer is a buffer for several writers.
type logBuffer struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (b *logBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.Write(p)
}

func (b *logBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.String()
}
