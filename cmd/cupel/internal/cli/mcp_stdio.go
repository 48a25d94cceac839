package cli

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// stdio is the transport over standard input and output. The SDK's own ends at the
// first line that is no message, and drops the requests that are running when the
// input ends; this one answers both.
type stdio struct {
	in  io.Reader
	out io.Writer
}

// Connect implements [mcp.Transport].
func (s stdio) Connect(ctx context.Context) (mcp.Connection, error) {
	out := &messageWriter{out: s.out}
	inner := &mcp.IOTransport{
		Reader:        io.NopCloser(&messageReader{in: bufio.NewReader(s.in), out: out}),
		Writer:        out,
		MaxLineLength: -1, // messageReader has the limit
	}
	connection, err := inner.Connect(ctx)
	if err != nil {
		return nil, err
	}
	return &answering{Connection: connection}, nil
}

// messageWriter writes messages as a whole, and each at once.
type messageWriter struct {
	mu  sync.Mutex
	out io.Writer
}

func (w *messageWriter) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	n, err := w.out.Write(p)
	if buffered, ok := w.out.(interface{ Flush() error }); ok && err == nil {
		err = buffered.Flush()
	}
	return n, err
}

func (w *messageWriter) Close() error { return nil }

// messageReader reads the lines that are messages, and answers the others.
type messageReader struct {
	in   *bufio.Reader
	out  io.Writer
	rest []byte // of a line
}

func (r *messageReader) Read(p []byte) (int, error) {
	for len(r.rest) == 0 {
		line, ended := r.line()
		if line = bytes.TrimSpace(line); len(line) > 0 {
			if code, err := check(line); err == nil {
				r.rest = append(line, '\n')
			} else if err := r.refuse(code, err); err != nil {
				return 0, err
			}
		}
		if ended != nil && len(r.rest) == 0 {
			return 0, ended
		}
	}
	n := copy(p, r.rest)
	r.rest = r.rest[n:]
	return n, nil
}

// line reads a line. Of one that is too long, it returns a byte too many.
func (r *messageReader) line() (line []byte, err error) {
	for {
		part, err := r.in.ReadSlice('\n')
		line = append(line, part[:min(len(part), maxRequest+1-len(line))]...)
		if !errors.Is(err, bufio.ErrBufferFull) {
			return line, err
		}
	}
}

// check fails for a line that is not a message, with the code of the answer. Lists of
// messages are of older versions of the protocol.
func check(line []byte) (code int, err error) {
	switch {
	case len(line) > maxRequest:
		return jsonrpc.CodeInvalidRequest, fmt.Errorf("the message has more than %d MiB: name a file in place of candidates", maxRequest>>20)
	case !json.Valid(line):
		return jsonrpc.CodeParseError, errors.New("the line is not JSON: write each message on one line")
	}
	if _, err := jsonrpc.DecodeMessage(line); err != nil {
		return jsonrpc.CodeInvalidRequest, fmt.Errorf("this is no message of JSON-RPC 2.0: %w", err)
	}
	return 0, nil
}

// refuse answers what has no id that could be read.
func (r *messageReader) refuse(code int, why error) error {
	answer := map[string]any{"jsonrpc": "2.0", "id": nil, "error": map[string]any{"code": code, "message": why.Error()}}
	return json.NewEncoder(r.out).Encode(answer)
}

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
