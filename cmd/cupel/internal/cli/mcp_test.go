package cli

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/require"
)

// calls returns a client of a server that reads files in the working directory.
func calls(t *testing.T, flags mcpFlags) *mcp.ClientSession {
	t.Helper()
	env := &Environment{Stdin: strings.NewReader(""), Stdout: t.Output(), Stderr: t.Output(), Getenv: func(string) string { return "" }, Clock: time.Now}
	if flags.root == "" {
		flags.root = "."
	}
	if flags.policy == "" {
		flags.policy = agentPolicy
	}
	flags.encoding = "heuristic"
	tools, err := flags.tools(env)
	require.NoError(t, err)
	t.Cleanup(func() { _ = tools.root.Close() })
	near, far := mcp.NewInMemoryTransports()
	_, err = tools.server().Connect(t.Context(), far, nil)
	require.NoError(t, err)
	client, err := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, nil).Connect(t.Context(), near, nil)
	require.NoError(t, err)
	t.Cleanup(func() { _ = client.Close() })
	return client
}

// call calls a tool with arguments in JSON.
func call(t *testing.T, client *mcp.ClientSession, tool, arguments string) (text string, failed bool) {
	t.Helper()
	result, err := client.CallTool(t.Context(), &mcp.CallToolParams{Name: tool, Arguments: json.RawMessage(arguments)})
	require.NoError(t, err, tool)
	require.Len(t, result.Content, 1)
	content, ok := result.Content[0].(*mcp.TextContent)
	require.True(t, ok)
	return content.Text, result.IsError
}

func TestMCP(t *testing.T) {
	folder(t, map[string]string{
		"chat.json": strings.Replace(baked, "LOAVES", strings.Repeat("45 rye loaves, id r-17. ", 40), 1),
		"chat.gz":   zipped(t, baked), "log.txt": strings.Repeat("oven.go:17: error E7 at valve 3\n", 50),
	})
	client := calls(t, mcpFlags{})
	tools, err := client.ListTools(t.Context(), nil)
	require.NoError(t, err)
	require.Len(t, tools.Tools, 2)
	for _, tool := range tools.Tools {
		require.True(t, tool.Annotations.ReadOnlyHint, tool.Name)
		require.NotEmpty(t, tool.Description)
	}
	for _, tt := range []struct {
		tool, arguments string
		has             string
		why             string
	}{
		{"select", `{"candidates": ` + baked + `, "budget": 8000}`, `"user_id":12345678901234567891`, "numbers stay as they are written"},
		{"select", `{"file": "chat.gz", "budget": 8000}`, `"dropped":[],"notes":[]}`, "a file, and nothing to say"},
		{"select", `{"file": "chat.json", "budget": 50, "reserve": 10, "policy": "chat"}`, `"title":"orders(day=1): 960 B"`, "what is out has a title"},
		{"select", `{"candidates": "{\"content\": \"a\"}\n{\"content\": \"b\"}", "budget": 10, "policy": "rag"}`, `{"window":[{`, "lines of items"},
		{"select", `{"candidates": [{"content": "a"}, {"content": ""}, {"content": "b"}], "budget": 10, "policy": "rag", "skip_invalid": true}`, "skipped 1 item that cannot be read", "an item is skipped"},
		{"select", `{"candidates": [{"content": "the oven is hot"}, {"content": "b", "tokens": 4}], "budget": 5, "policy": "relevance", "query": "hot ovens"}`, `the oven is hot`, "a question"},
		{"outline", `{"file": "log.txt", "tokens": 30}`, `"kind":"log","tokens":`, "of a file"},
		{"outline", `{"text": "short", "tokens": 30}`, `{"outline":"short",`, "of a text that fits"},
		{"outline", `{"text": "{\"customer_identification_number\": \"ABC-12345-XYZ\"}", "tokens": 4}`, `{"outline":"…","kind":"json","tokens":1,`, "nothing of it fits, and an empty outline would be that of an empty text"},
	} {
		text, failed := call(t, client, tt.tool, tt.arguments)
		require.False(t, failed, text)
		require.Contains(t, text, tt.has, tt.why)
	}
}

// TestMCPErrors: an error is a result that says what to do.
func TestMCPErrors(t *testing.T) {
	folder(t, map[string]string{"shop/chat.json": baked, "secret.json": baked, "mine.json": everything, "shop/cut.gz": "\x1f\x8b"})
	client := calls(t, mcpFlags{root: "shop"})
	for _, tt := range []struct{ tool, arguments, want, why string }{
		{"select", `{}`, "budget", "something is missing"},
		{"select", `{"budget": 5}`, "give either candidates or file: a list of messages, a request, or a list of items", "nothing to choose from"},
		{"select", `{"budget": 5, "file": "chat.json", "candidates": []}`, "give either candidates or file", "two things"},
		{"select", `{"budget": 5, "file": "../secret.json"}`, "path escapes from parent; the server reads files below shop", "a file elsewhere"},
		{"select", `{"budget": 5, "file": "nothing.json"}`, "no such file or directory; the server reads files below shop", "no file"},
		{"select", `{"budget": 5, "file": "cut.gz"}`, "cut.gz: what gzip compressed cannot be read", "a broken file"},
		{"select", `{"budget": 5, "file": "chat.json", "policy": "../mine.json"}`, `the policy "../mine.json" is a file: give a preset, or start the server with that file`, "a policy of the model's"},
		{"select", `{"budget": 5, "file": "chat.json", "policy": "-"}`, `the policy "-" is a file`, "the standard input is the protocol's"},
		{"select", `{"budget": 5, "file": "chat.json", "policy": "caht"}`, `no policy is named "caht"`, "a slip again"},
		{"select", `{"budget": 5, "candidates": [{"content": "a", "tokens": 9, "pinned": true}], "policy": "chat"}`,
			"Pinned items require 9 tokens, but only 5 are available\n        9  a\n  Give a budget of at least 9", "what does not fit, and what would"},
		{"select", `{"budget": 5, "candidates": [{"content": "a"}, {"content": "b", "tokens": true}]}`, "skip_invalid leaves such items out", "the name of the argument, not of the flag"},
		{"select", `{"budget": 5, "file": "."}`, ".: it is not a file", "a folder"},
		{"select", `{"budget": -5, "file": "chat.json"}`, "budget must be at least 0, got -5", "a negative budget"},
		{"outline", `{"tokens": 5}`, "give either text or file", "nothing to reduce"},
		{"outline", `{"text": "a", "tokens": 0}`, "tokens must be at least 1", "an outline of nothing"},
	} {
		text, failed := call(t, client, tt.tool, tt.arguments)
		require.True(t, failed, text)
		require.Contains(t, text, tt.want, tt.why)
		require.NotContains(t, text, "--")
	}
	mine := strings.Replace(everything, "PLACER", "chronological", 1)
	require.NoError(t, os.WriteFile("mine.json", []byte(mine), 0o600))
	client = calls(t, mcpFlags{root: "shop", policy: "mine.json"})
	text, failed := call(t, client, "select", `{"budget": 500, "file": "chat.json"}`)
	require.False(t, failed, "with a policy of the server: %s", text)
}

// TestMCPAnswers: every line is answered, what is no message too, and so are the
// requests that are running when the input ends.
func TestMCPAnswers(t *testing.T) {
	folder(t, map[string]string{"chat.json": baked})
	const refused = `{"error":{"code":`
	for _, tt := range []struct {
		line, want string // what the answer to the line begins with, or "" for none
		why        string
	}{
		{`{"jsonrpc": "2.0", "id": 5, "method": `, refused + "-32700", "half of a message"},
		{"\xff\xfe", refused + "-32700", "no text"},
		{"4", refused + "-32600", "no object"},
		{`{"jsonrpc":"1.0","id":5,"method":"ping"}`, refused + "-32600", "another protocol"},
		{`{"jsonrpc":"2.0","id":{},"method":"ping"}`, refused + "-32600", "no id"},
		{"[]", refused + "-32600", "a list of nothing"},
		{`[{"jsonrpc":"2.0","id":5,"method":"ping"}]`, refused + "-32600", "a list, as older versions had it"},
		{`{"jsonrpc":"2.0","id":5,"method":"ping"}`, `{"jsonrpc":"2.0","id":5,"result":{}}`, "a request"},
		{`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}`, "", "a request is cancelled"},
		{"", "", "an empty line"},
		{`{"pad":"` + strings.Repeat("x", maxRequest) + `"}`, refused + `-32600,"message":"the message has more than 64 MiB`, "more than fits"},
	} {
		input := `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}
{"jsonrpc":"2.0","method":"notifications/initialized"}
` + tt.line + "\n" + `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"select","arguments":{"file":"chat.json","policy":"chat","budget":50}}}`
		var out, stderr strings.Builder
		env := Environment{Stdin: strings.NewReader(input), Stdout: &out, Stderr: &stderr, Getenv: func(string) string { return "" }, Clock: time.Now}
		require.Equal(t, exitOK, Main(t.Context(), []string{"mcp", "--encoding", "heuristic"}, env), stderr.String())
		require.Empty(t, stderr.String())
		answers := "\n" + out.String()
		for _, want := range []string{`{"jsonrpc":"2.0","id":0,"result":`, `{"jsonrpc":"2.0","id":1,"`, tt.want} {
			if want != "" {
				require.Contains(t, answers, "\n"+want, tt.why)
			}
		}
	}
}

// TestMCPStreams: standard output has the protocol alone, and the end of the input
// is the end.
func TestMCPStreams(t *testing.T) {
	in, ask := io.Pipe()
	answers, out := io.Pipe()
	env := Environment{Stdin: in, Stdout: out, Stderr: t.Output(), Getenv: func(string) string { return "" }, Clock: time.Now}
	ended := make(chan int)
	go func() { ended <- Main(t.Context(), []string{"mcp"}, env) }()
	lines := bufio.NewReader(answers)
	for _, request := range []string{
		`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}`,
		`{"jsonrpc":"2.0","id":2,"method":"tools/list"}`,
	} {
		_, err := io.WriteString(ask, request+"\n")
		require.NoError(t, err)
		line, err := lines.ReadString('\n')
		require.NoError(t, err)
		require.True(t, strings.HasPrefix(line, `{"jsonrpc":"2.0","id":`), line)
	}
	require.NoError(t, ask.Close())
	require.Equal(t, exitOK, <-ended)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	env.Stdin, env.Stdout = strings.NewReader(""), t.Output()
	require.Equal(t, exitInterrupted, Main(ctx, []string{"mcp"}, env))
}
