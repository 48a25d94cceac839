package cli

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/wollax/cupel-go/cmd/cupel/internal/terminal"
)

// The codes of errors of JSON-RPC.
const (
	codeParse   = -32700
	codeRequest = -32600
	codeMethod  = -32601
	codeParams  = -32602
)

// protocols are the versions of the Model Context Protocol that the server speaks, the
// newest first. They do not differ in the parts that the server uses. 2025-03-26 is left
// out, since it has requests in batches.
var protocols = []string{"2025-11-25", "2025-06-18", "2024-11-05"}

// rpcRequest is a message of the client.
type rpcRequest struct {
	Version string          `json:"jsonrpc"`
	ID      json.RawMessage `json:"id"` // nil of a notification
	Method  string          `json:"method"`
	Params  struct {
		Protocol  string          `json:"protocolVersion"`
		Name      string          `json:"name"`
		Arguments json.RawMessage `json:"arguments"`
	} `json:"params"`
}

// rpcAnswer is the answer to a request.
type rpcAnswer struct {
	Version string          `json:"jsonrpc"`
	ID      json.RawMessage `json:"id"` // null if the request has none that can be read
	Result  any             `json:"result,omitempty"`
	Error   *rpcError       `json:"error,omitempty"`
}

// rpcError is the reason why a request has no result.
type rpcError struct {
	Code    int    `json:"code"`
	Message string `json:"message"`
}

// refuse returns an error that quotes little of the client's text.
func refuse(code int, format string, args ...any) *rpcError {
	return &rpcError{code, terminal.Excerpt(fmt.Sprintf(format, args...), 200)}
}

// serve answers the requests on a stream, a line for each, until it ends.
func (t *mcpTools) serve(ctx context.Context, in io.Reader, out io.Writer) error {
	lines, most := bufio.NewReader(in), t.env.mostInput(maxRequest)
	for {
		line, ended := readLine(lines, most)
		if answer := t.answer(ctx, bytes.TrimSpace(line)); answer != nil {
			encoder := json.NewEncoder(out)
			encoder.SetEscapeHTML(false)
			if err := errors.Join(encoder.Encode(answer), flush(out)); err != nil {
				return err
			}
		}
		switch {
		case ctx.Err() != nil: // an interrupt also counts if the input ended first
			return ctx.Err()
		case errors.Is(ended, io.EOF):
			return nil
		case ended != nil:
			return ended
		}
	}
}

// flush writes the contents of a buffered writer.
func flush(w io.Writer) error {
	if buffered, ok := w.(interface{ Flush() error }); ok {
		return buffered.Flush()
	}
	return nil
}

// readLine reads a line. If the line is too long, it returns one byte more
// than allowed.
func readLine(in *bufio.Reader, most int) (line []byte, err error) {
	for {
		part, err := in.ReadSlice('\n')
		line = append(line, part[:min(len(part), most+1-len(line))]...)
		if !errors.Is(err, bufio.ErrBufferFull) {
			return line, err
		}
	}
}

// answer returns the answer to a line, or nil for one that needs none.
func (t *mcpTools) answer(ctx context.Context, line []byte) *rpcAnswer {
	answer := &rpcAnswer{Version: "2.0", ID: json.RawMessage("null")}
	if len(line) == 0 {
		return nil
	}
	if most := t.env.mostInput(maxRequest); len(line) > most {
		answer.Error = refuse(codeRequest, "the message has more than %d bytes: name a file in place of messages", most)
		return answer
	}
	request := new(rpcRequest)
	switch err := json.Unmarshal(line, request); {
	case !json.Valid(line):
		answer.Error = refuse(codeParse, "the line is not JSON: write each message on one line")
	case err != nil && request.Version == "2.0" && request.Method != "" && isID(request.ID): // the client waits for an answer with its id
		answer.ID = request.ID
		answer.Error = refuse(codeParams, "params must be an object, and its name a string")
	case err != nil, request.Version != "2.0", request.ID != nil && !isID(request.ID):
		answer.Error = refuse(codeRequest, "this is not a JSON-RPC 2.0 request whose id is a number or a string")
	case request.ID == nil, request.Method == "": // a notification; and an answer, though nothing was asked
		return nil
	default:
		answer.ID = request.ID
		answer.Result, answer.Error = t.result(ctx, request)
	}
	return answer
}

// isID reports whether the JSON of an id is a number or a text.
func isID(id json.RawMessage) bool {
	return len(id) > 0 && (id[0] == '"' || id[0] == '-' || id[0] >= '0' && id[0] <= '9')
}

// result returns the result of a request.
func (t *mcpTools) result(ctx context.Context, request *rpcRequest) (any, *rpcError) {
	switch request.Method {
	case "initialize":
		protocol := request.Params.Protocol
		if !slices.Contains(protocols, protocol) {
			protocol = protocols[0]
		}
		return map[string]any{
			"protocolVersion": protocol,
			"capabilities":    map[string]any{"tools": struct{}{}},
			"serverInfo":      map[string]string{"name": "cupel", "title": "Cupel", "version": version()},
			"instructions":    "Reads repositories, logs and conversations in few tokens. To find code, call pick_files before searching.",
		}, nil
	case "ping":
		return struct{}{}, nil
	case "tools/list":
		return map[string]any{"tools": t.list}, nil
	case "tools/call":
		named := func(tool *mcpTool) bool { return tool.Name == request.Params.Name }
		if i := slices.IndexFunc(t.list, named); i >= 0 {
			return t.list[i].call(ctx, request.Params.Arguments), nil
		}
		return nil, refuse(codeParams, "no tool is named %q", request.Params.Name)
	}
	return nil, refuse(codeMethod, "no method is named %q", cmp.Or(request.Method, "none"))
}
