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

	"github.com/google/jsonschema-go/jsonschema"
	"github.com/modelcontextprotocol/go-sdk/mcp"
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
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = tools.root.Close() })
	near, far := mcp.NewInMemoryTransports()
	if _, err := tools.server().Connect(t.Context(), far, nil); err != nil {
		t.Fatal(err)
	}
	client, err := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, nil).Connect(t.Context(), near, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = client.Close() })
	return client
}

// call calls a tool with arguments in JSON.
func call(t *testing.T, client *mcp.ClientSession, tool, arguments string) (text string, failed bool) {
	t.Helper()
	result, err := client.CallTool(t.Context(), &mcp.CallToolParams{Name: tool, Arguments: json.RawMessage(arguments)})
	if err != nil {
		t.Fatalf("%s: %v", tool, err)
	}
	content, ok := result.Content[0].(*mcp.TextContent)
	if !ok || len(result.Content) != 1 {
		t.Fatalf("%s: content %v, want one text", tool, result.Content)
	}
	return content.Text, result.IsError
}

// baked is a conversation with a number that no float64 has.
const baked = `{"model": "gpt-4o", "user_id": 12345678901234567891, "messages": [
	{"role": "system", "content": "You bake."},
	{"role": "user", "content": "Look up the loaves."},
	{"role": "assistant", "content": null, "tool_calls": [{"id": "c1", "type": "function", "function": {"name": "orders", "arguments": "{\"day\": 1}"}}]},
	{"role": "tool", "tool_call_id": "c1", "content": "LOAVES"},
	{"role": "assistant", "content": "They are in the oven."},
	{"role": "user", "content": "And the rolls?"}]}`

func TestMCP(t *testing.T) {
	folder(t, map[string]string{
		"chat.json": strings.Replace(baked, "LOAVES", strings.Repeat("45 rye loaves, id r-17. ", 40), 1),
		"chat.gz":   zipped(t, baked), "log.txt": strings.Repeat("oven.go:17: error E7 at valve 3\n", 50),
	})
	client := calls(t, mcpFlags{})
	tools, err := client.ListTools(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	outputs := make(map[string]*jsonschema.Resolved)
	for _, tool := range tools.Tools {
		text, err := json.Marshal([]any{tool.InputSchema, tool.OutputSchema})
		if err != nil || strings.Contains(string(text), `"type":[`) || tool.Description == "" || !tool.Annotations.ReadOnlyHint {
			t.Errorf("%s: %v, %s; want a single type everywhere, and a tool that only reads", tool.Name, err, text)
		}
		schema := new(jsonschema.Schema)
		if text, err = json.Marshal(tool.OutputSchema); err == nil {
			err = json.Unmarshal(text, schema)
		}
		if err != nil {
			t.Fatal(err)
		}
		if outputs[tool.Name], err = schema.Resolve(nil); err != nil {
			t.Fatal(err)
		}
	}
	if len(outputs) != 4 {
		t.Errorf("tools are %v, want four", outputs)
	}
	for _, tt := range []struct {
		tool, arguments string
		has             string
		why             string
	}{
		{"select", `{"candidates": ` + baked + `, "budget": "8k"}`, `"user_id":12345678901234567891`, "numbers stay as they are written"},
		{"select", `{"file": "chat.gz", "budget": 8000}`, `"dropped":[],"notes":[]}`, "a file, and nothing to say"},
		{"select", `{"file": "chat.json", "budget": 50, "reserve": "10", "policy": "chat"}`, `"title":"orders(day=1): 960 B"`, "what is out has a title"},
		{"select", `{"candidates": "{\"content\": \"a\"}\n{\"content\": \"b\"}", "budget": 10, "policy": "rag"}`, `{"window":[{`, "lines of items"},
		{"select", `{"candidates": [{"content": "a"}, {"content": ""}, {"content": "b"}], "budget": 10, "policy": "rag", "skip_invalid": true}`, "skipped an item that is not valid", "an item is skipped"},
		{"select", `{"candidates": [{"content": "the oven is hot"}, {"content": "b", "tokens": 4}], "budget": 5, "policy": "relevance", "query": "hot ovens"}`, `the oven is hot`, "a question"},
		{"why_not", `{"file": "chat.json", "budget": 50, "policy": "chat", "candidate": "orders(day=1): 960 B"}`, `"tokens":414,"rank":`, "by its title"},
		{"min_budget", `{"file": "chat.json"}`, `{"pinned":`, "without a candidate"},
		{"min_budget", `{"file": "chat.json", "candidate": "They are*"}`, `"candidate":{"found":true,`, "of a conversation"},
		{"min_budget", `{"candidates": [{"content": "a", "tokens": 7}, {"content": "b", "tokens": 9}], "policy": "chat", "candidate": "a", "reserve": 3}`, `{"pinned":3,"all":19,"candidate":{"found":true,"tokens":10,"exact":true,`, "of a list"},
		{"outline", `{"file": "log.txt", "tokens": 30}`, `"kind":"log","tokens":`, "of a file"},
		{"outline", `{"text": "short", "tokens": 30}`, `{"outline":"short",`, "of a text that fits"},
		{"outline", `{"text": "{\"customer_identification_number\": \"ABC-12345-XYZ\"}", "tokens": 4}`, `{"outline":"…","kind":"json","tokens":1,`, "nothing of it fits, and an empty outline would be that of an empty text"},
	} {
		text, failed := call(t, client, tt.tool, tt.arguments)
		if failed || !strings.Contains(text, tt.has) {
			t.Errorf("%s %s: got %s, want %s: %s", tt.tool, tt.arguments, text, tt.has, tt.why)
			continue
		}
		var value map[string]any
		if err := json.Unmarshal([]byte(text), &value); err != nil {
			t.Error(err)
		} else if err := outputs[tt.tool].Validate(value); err != nil {
			t.Errorf("%s %s: %v", tt.tool, tt.arguments, err)
		}
	}
}

// TestMCPErrors: an error is a result that says what to do.
func TestMCPErrors(t *testing.T) {
	folder(t, map[string]string{"shop/chat.json": baked, "secret.json": baked, "mine.json": everything, "shop/cut.gz": "\x1f\x8b"})
	client := calls(t, mcpFlags{root: "shop"})
	for _, tt := range []struct{ tool, arguments, want, why string }{
		{"select", `{"bugdet": 5}`, `no argument is named "bugdet" (did you mean budget?); there are budget, candidates, file, format, policy, query, reserve, skip_invalid`, "a slip"},
		{"select", `{}`, "the arguments do not fit their schema: ", "something is missing"},
		{"select", `{"budget": 5}`, "give either candidates or file: a list of messages, a request, or a list of items", "nothing to choose from"},
		{"select", `{"budget": 5, "file": "chat.json", "candidates": []}`, "give either candidates or file", "two things"},
		{"select", `{"budget": "1e9", "file": "chat.json"}`, `"1e9" is not a number: 1 was understood, "e9" after it was not: write 8000,`, "as the command says it"},
		{"select", `{"budget": 5, "file": "../secret.json"}`, "path escapes from parent; the server reads files below shop", "a file elsewhere"},
		{"select", `{"budget": 5, "file": "nothing.json"}`, "no such file or directory; the server reads files below shop", "no file"},
		{"select", `{"budget": 5, "file": "cut.gz"}`, "cut.gz: what gzip compressed cannot be read", "a broken file"},
		{"select", `{"budget": 5, "file": "chat.json", "policy": "../mine.json"}`, `the policy "../mine.json" is a file: give a preset, or start the server with that file`, "a policy of the model's"},
		{"select", `{"budget": 5, "file": "chat.json", "policy": "-"}`, `the policy "-" is a file`, "the standard input is the protocol's"},
		{"select", `{"budget": 5, "file": "chat.json", "policy": "caht"}`, `(did you mean chat?)`, "a slip again"},
		{"select", `{"budget": 5, "candidates": [{"content": "a", "tokens": 9, "pinned": true}], "policy": "chat"}`,
			"Pinned items require 9 tokens, but only 5 are available\n        9  a\n  Give a budget of at least 9", "what does not fit, and what would"},
		{"select", `{"budget": 5, "candidates": [{"content": "a"}, {"content": "b", "tokens": true}]}`, "skip_invalid leaves such items out", "the name of the argument, not of the flag"},
		{"select", `{"budget": 5, "reserve": "50%", "file": "chat.json"}`, `reserve: "50%" is not a number: 50 was understood, "%" after it was not: write 8000, 3,000 or 8k`, "a share of what?"},
		{"select", `{"budget": null, "file": "chat.json"}`, `budget: "null" is neither`, "the argument is named, not a schema"},
		{"select", `{"budget": 5, "reserve": "x", "file": "chat.json"}`, `reserve: "x" is not a number: write 8000, 3,000 or 8k`, "each is"},
		{"select", `{"budget": 5, "file": "."}`, ". is not a file", "a folder"},
		{"select", `{"budget": -5, "file": "chat.json"}`, "budget must be at least 0, got -5", "a negative budget"},
		{"why_not", `{"budget": 5, "file": "chat.json", "candidate": ""}`, "give the content of a candidate", "no candidate"},
		{"min_budget", `{"file": "chat.json", "candidate": "croissant"}`, `candidate: none of 6 candidates matches`, "none with this content"},
		{"outline", `{"tokens": 5}`, "give either text or file", "nothing to reduce"},
		{"outline", `{"text": "a", "tokens": "half"}`, `"half" is not a number`, "as budgets are"},
		{"outline", `{"text": "a", "tokens": 0}`, "tokens must be a number of at least 1", "an outline of nothing"},
	} {
		if text, failed := call(t, client, tt.tool, tt.arguments); !failed || strings.Contains(text, "statat") || !strings.Contains(text, tt.want) || strings.Contains(text, "--") {
			t.Errorf("%s %s: got %s, want %s: %s", tt.tool, tt.arguments, text, tt.want, tt.why)
		}
	}
	if code, _, stderr := start(t, "mcp", "--root", "nowhere"); code != exitUsage || !strings.HasPrefix(stderr, "cupel: --root: ") {
		t.Errorf("exit code %d: %s", code, stderr)
	}
	if code, _, stderr := start(t, "mcp", "-p", "caht"); code != exitUsage || !strings.Contains(stderr, "did you mean chat?") {
		t.Errorf("exit code %d: %s", code, stderr)
	}
	mine := strings.Replace(everything, "PLACER", "chronological", 1)
	if err := os.WriteFile("mine.json", []byte(mine), 0o600); err != nil {
		t.Fatal(err)
	}
	client = calls(t, mcpFlags{root: "shop", policy: "mine.json"})
	if text, failed := call(t, client, "select", `{"budget": 500, "file": "chat.json"}`); failed {
		t.Errorf("with a policy of the server: %s", text)
	}
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
		{"42", refused + "-32600", "no object"},
		{`{"jsonrpc":"1.0","id":5,"method":"ping"}`, refused + "-32600", "another protocol"},
		{`{"jsonrpc":"2.0","id":{},"method":"ping"}`, refused + "-32600", "no id"},
		{"[]", refused + "-32600", "a list of nothing"},
		{`[{"jsonrpc":"2.0","id":5,"method":"ping"},{"jsonrpc":"2.0","id":5,"method":"ping"}]`, refused + "-32600", "one id twice"},
		{`[{"jsonrpc":"2.0","id":5,"method":"ping"},{"jsonrpc":"2.0","id":6,"method":"ping"}]`, `[{"jsonrpc":"2.0","id":5,"result":{}},{"jsonrpc":"2.0","id":6,"result":{}}]`, "a list, as older versions have it"},
		{`[{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":7}},{"jsonrpc":"2.0","id":5,"method":"ping"},{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":8}}]`, `[{"jsonrpc":"2.0","id":5,"result":{}}]`, "notifications in a list have no answer"},
		{`[{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":7}},{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":8}}]`, "", "a list of notifications"},
		{`{"jsonrpc":"2.0","id":5,"method":"ping"}`, `{"jsonrpc":"2.0","id":5,"result":{}}`, "a request"},
		{`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}`, "", "a request is cancelled"},
		{"", "", "an empty line"},
		{`{"pad":"` + strings.Repeat("x", maxRequest) + `"}`, refused + `-32600,"message":"the message has more than 64 MiB`, "more than fits"},
	} {
		input := `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}
{"jsonrpc":"2.0","method":"notifications/initialized"}
` + tt.line + "\n" + `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"min_budget","arguments":{"file":"chat.json","candidate":"They are*"}}}`
		var out, stderr strings.Builder
		env := Environment{Stdin: strings.NewReader(input), Stdout: &out, Stderr: &stderr, Getenv: func(string) string { return "" }, Clock: time.Now}
		if code := Main(t.Context(), []string{"mcp", "--encoding", "heuristic"}, env); code != exitOK || stderr.Len() > 0 {
			t.Errorf("%s: exit code %d: %s", tt.why, code, stderr.String())
		}
		answers := "\n" + out.String()
		for _, want := range []string{`{"jsonrpc":"2.0","id":0,"result":`, `{"jsonrpc":"2.0","id":1,"`, tt.want} {
			if want != "" && !strings.Contains(answers, "\n"+want) {
				t.Errorf("%s: no answer that begins with %s in %s", tt.why, want, answers)
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
		if _, err := io.WriteString(ask, request+"\n"); err != nil {
			t.Fatal(err)
		}
		line, err := lines.ReadString('\n')
		if err != nil || !json.Valid([]byte(line)) || !strings.HasPrefix(line, `{"jsonrpc":"2.0","id":`) {
			t.Fatalf("%v: %q is no message of the protocol", err, line)
		}
	}
	if err := ask.Close(); err != nil {
		t.Fatal(err)
	}
	if code := <-ended; code != exitOK {
		t.Errorf("exit code %d", code)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	env.Stdin, env.Stdout = strings.NewReader(""), t.Output()
	if code := Main(ctx, []string{"mcp"}, env); code != exitInterrupted {
		t.Errorf("interrupted: exit code %d", code)
	}
}
