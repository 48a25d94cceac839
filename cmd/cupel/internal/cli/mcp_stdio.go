package cli

import (
	"context"
	"errors"
	"io"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// stdio is the transport over standard input and output. The SDK's own drops the
// requests that are running when the input ends; this one answers them.
type stdio struct {
	in  io.Reader
	out io.Writer
}

// Connect implements [mcp.Transport].
func (s stdio) Connect(ctx context.Context) (mcp.Connection, error) {
	inner := &mcp.IOTransport{Reader: io.NopCloser(s.in), Writer: flushing{s.out}, MaxLineLength: maxRequest}
	connection, err := inner.Connect(ctx)
	if err != nil {
		return nil, err
	}
	return &answering{Connection: connection}, nil
}

// flushing writes each message at once.
type flushing struct{ io.Writer }

// Write implements [io.Writer].
func (w flushing) Write(p []byte) (int, error) {
	n, err := w.Writer.Write(p)
	if buffered, ok := w.Writer.(interface{ Flush() error }); ok && err == nil {
		err = buffered.Flush()
	}
	return n, err
}

// Close implements [io.Closer]. The process closes its standard output.
func (flushing) Close() error { return nil }

// answering is a connection whose input ends when the requests are answered.
type answering struct {
	mcp.Connection
	running sync.WaitGroup
}

// Read implements [mcp.Connection].
func (a *answering) Read(ctx context.Context) (jsonrpc.Message, error) {
	message, err := a.Connection.Read(ctx)
	if request, ok := message.(*jsonrpc.Request); ok && request.IsCall() {
		a.running.Add(1)
	}
	if !errors.Is(err, io.EOF) {
		return message, err
	}
	answered := make(chan struct{})
	go func() {
		a.running.Wait()
		close(answered)
	}()
	select {
	case <-answered:
		return message, err
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// Write implements [mcp.Connection].
func (a *answering) Write(ctx context.Context, message jsonrpc.Message) error {
	if _, ok := message.(*jsonrpc.Response); ok {
		defer a.running.Done()
	}
	return a.Connection.Write(ctx, message)
}
