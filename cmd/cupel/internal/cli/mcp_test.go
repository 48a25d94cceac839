package cli

import (
	"bufio"
	"cmp"
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
	flags.encoding = cmp.Or(flags.encoding, "heuristic")
	tools, err := flags.tools(env)
	require.NoError(t, err)
	t.Cleanup(tools.close)
	in, ask := io.Pipe()
	answers, out := io.Pipe()
	ended := make(chan error)
	go func() { ended <- tools.serve(context.WithoutCancel(t.Context()), in, out) }()
	client, err := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, nil).Connect(t.Context(), &mcp.IOTransport{Reader: answers, Writer: ask}, nil)
	require.NoError(t, err)
	t.Cleanup(func() {
		_ = client.Close()
		require.NoError(t, <-ended)
	})
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

// shop is a folder that tools read: with code, a log, a conversation, and what they must
// not read.
func shop(t *testing.T) {
	t.Helper()
	folder(t, map[string]string{
		"shop/bake.go":          "package shop\n\n// Oven bakes the loaves at a temperature.\nfunc Oven(temperature int) {}\n\n// Sell sells one.\nfunc Sell() {}\n",
		"shop/half.json":        "\"half of a text",
		"shop/tea.go":           "package shop\n\n// Brew makes tea.\nfunc Brew() {}\n",
		"shop/chat.json":        strings.Replace(baked, "LOAVES", strings.Repeat("45 rye loaves, id r-17. ", 40), 1),
		"shop/app.log":          strings.Repeat("INFO all is well\n", 200) + "ERROR oven.go:17: valve E7 is stuck\n" + strings.Repeat("INFO all is well\n", 200),
		"shop/.env":             "TOKEN=oven-secret\n",
		"shop/id_rsa":           "oven-secret\n",
		"shop/server.PEM":       "oven-secret\n",
		"shop/.config/key":      "oven-secret\n",
		"secret.txt":            "oven-secret\n",
		"sessions/a/1.jsonl":    `{"sessionId":"s","uuid":"1","type":"user","message":{"role":"user","content":"Look up the loaves."},"timestamp":"2026-01-01T00:00:00Z"}` + "\n" + `{"sessionId":"s","uuid":"2","type":"assistant","message":{"role":"assistant","content":[{"type":"text","text":"45 rye loaves."}]},"timestamp":"2026-01-01T00:00:01Z"}` + "\n",
		"sessions/a/notes.txt":  "no session\n",
		"sessions/.b/1.jsonl":   "{}\n",
		"sessions/broken.jsonl": "{\n",
	})
	require.NoError(t, os.Symlink("../secret.txt", "shop/out.txt"))
	require.NoError(t, os.Symlink(".env", "shop/inside.txt"))
	require.NoError(t, os.Symlink(".config", "shop/git"))
	t.Setenv("GIT_CEILING_DIRECTORIES", ".")
}

func TestMCP(t *testing.T) {
	shop(t)
	client := calls(t, mcpFlags{root: "shop", sessions: "sessions"})
	tools, err := client.ListTools(t.Context(), nil)
	require.NoError(t, err)
	require.Len(t, tools.Tools, 5)
	schemas, err := json.Marshal(tools)
	require.NoError(t, err)
	require.Less(t, len(schemas), 6_000, "a client reads them in each conversation")
	for _, tool := range tools.Tools {
		require.True(t, tool.Annotations.ReadOnlyHint, tool.Name)
	}
	for _, tt := range []struct {
		tool, arguments string
		has             string
		why             string
	}{
		{"pick_files", `{"task": "Where is the temperature of the oven set?"}`, "\nBest files, with their best lines:\nbake.go: 3 Oven", "the file and the line"},
		{"pick_files", `{"task": "oven"}`, "skipped files: 2 that are hidden, 2 that hold keys, 3 that are links", "what is not read is counted"},
		{"pick_files", `{"task": "tea", "tokens": 1}`, "0 shown with 0 tokens", "no part fits, and the files are named all the same"},
		{"outline_file", `{"path": "app.log", "tokens": 30}`, "ERROR oven.go:17", "the error comes first"},
		{"outline_file", `{"path": "tea.go"}`, "func Brew() {}", "it fits"},
		{"read_log", `{"path": "tea.go", "question": "Which package?"}`, "\n\n1: package shop\n", "the first line"},
		{"read_log", `{"path": "app.log", "question": "Which valve is stuck?", "tokens": 40}`, "app.log: 401 lines: 2 shown with 16 tokens, 399 not shown\n\n…\n200: INFO all is well\n201: ERROR oven.go:17: valve E7 is stuck\n", "the line with its number, and the one before it"},
		{"fit_messages", `{"messages": ` + baked + `, "tokens": 8000}`, "6 messages, 59 tokens: all fit a budget of 8,000\n", "everything fits"},
		{"fit_messages", `{"messages": ` + baked + `, "tokens": 8000}`, `"user_id":12345678901234567891`, "numbers stay as they are written"},
		{"fit_messages", `{"file": "chat.json", "tokens": 120}`, "6 → 5 messages, 463 → 119 tokens", "a file, and a long result"},
		{"fit_messages", `{"messages": "[{\"role\": \"user\", \"content\": \"tea\"}]", "tokens": 50}`, "1 message, 5 tokens", "JSON in a text"},
		{"explain_session", `{}`, "\n2 sessions, 2 other files skipped\na/1.jsonl\nbroken.jsonl\n", "the sessions there are"},
		{"explain_session", `{"session": "a/1.jsonl"}`, "message 2, assistant, 8 tokens, whole: 45 rye loaves.", "each message"},
		{"explain_session", `{"session": "a/1.jsonl", "find": "Look"}`, ": all fit a budget of 20,000\nmessage 1, user", "a text"},
		{"explain_session", `{"session": "a/1.jsonl", "find": "nowhere"}`, "No message has the text.", "no message has it"},
	} {
		text, failed := call(t, client, tt.tool, tt.arguments)
		require.False(t, failed, text)
		require.Contains(t, "\n"+text, tt.has, tt.why)
		require.NotContains(t, text, "oven-secret")
	}
}

// TestMCPErrors: an error is a result that says what to do.
func TestMCPErrors(t *testing.T) {
	shop(t)
	client := calls(t, mcpFlags{root: "shop", sessions: "sessions"})
	for _, tt := range []struct{ tool, arguments, want, why string }{
		{"pick_files", `{}`, "the question is empty", "nothing to look for"},
		{"pick_files", `{"tsak": "oven"}`, `unknown field "tsak"`, "a slip"},
		{"pick_files", `[]`, "the arguments cannot be read: all together must be an object, got array", "a list"},
		{"pick_files", `{"task": "oven", "tokens": "many"}`, "tokens must be a whole number, got string", "no names of Go"},
		{"pick_files", `{"task": 4.5}`, "task must be a text, got number", "a number"},
		{"pick_files", `{"task": "oven", "max_tokens": 1e30}`, "max_tokens must be a whole number, got number 1e30", "more than an int holds"},
		{"read_log", `{"path": "app.log", "question": "x", "tokens": 1000000000000}`, "tokens must be from 1 to 10,000,000, got 1000000000000", "no answer is so long"},
		{"read_log", `{"path": "nothing.log", "page": -1}`, "page must be at least 1, got -1", "before the file is read"},
		{"outline_file", `{"path": "../secret.txt"}`, "path escapes from parent; give a path below the folder of the server", "a file elsewhere"},
		{"outline_file", `{"path": "out.txt"}`, "as are files that are links", "a link that leads out"},
		{"outline_file", `{"path": "inside.txt"}`, "as are files that are links", "a link to a hidden file"},
		{"outline_file", `{"path": "git/key"}`, "as are files that are links", "a link on the way"},
		{"fit_messages", `{"tokens": 5, "file": ".env"}`, "as are files that are hidden", "a hidden file"},
		{"outline_file", `{"path": "a/../.config/key"}`, "as are files that are hidden", "a hidden folder"},
		{"read_log", `{"path": "id_rsa", "question": "x"}`, "as are files that hold keys", "a key"},
		{"read_log", `{"path": "server.PEM"}`, "as are files that hold keys", "a key in capitals"},
		{"read_log", `{"path": "nothing.log"}`, "\nnothing.log: no such file or directory", "no file"},
		{"read_log", `{"path": "."}`, "as are files that are not regular files", "a folder"},
		{"read_log", `{"path": "app.log"}`, "the question is empty", "nothing to look for"},
		{"read_log", `{"path": "app.log", "question": "x", "tokens": -1}`, "tokens must be from 1 to 10,000,000, got -1", "less than nothing"},
		{"read_log", `{"path": "app.log", "question": "valve", "max_tokens": 99}`, "max_tokens must be at least 100, got 99", "no room to say anything"},
		{"read_log", `{"path": "app.log", "question": "valve", "max_tokens": 1}`, "max_tokens must be at least 100, got 1", "an error stays whole"},
		{"outline_file", `{"path": "app.log", "tokens": -1}`, "tokens must be from 1 to 10,000,000, got -1", "less than nothing"},
		{"read_log", `{"path": "app.log", "question": "valve", "page": 2}`, "page must be from 1 to 1, got 2", "there is one page"},
		{"fit_messages", `{"tokens": 5, "file": "half.json"}`, "unexpected end of JSON input", "half of a text"},
		{"fit_messages", `{"tokens": 5}`, "give either messages", "nothing to choose from"},
		{"fit_messages", `{"tokens": 5, "file": "chat.json", "messages": []}`, "give either messages", "two things"},
		{"fit_messages", `{"file": "chat.json"}`, "tokens must be from 1 to 10,000,000, got 0", "no budget"},
		{"fit_messages", `{"tokens": 5, "file": "chat.json"}`, "Give tokens of at least", "what does not fit, and what would"},
		{"fit_messages", `{"tokens": 50, "messages": [{"content": "a"}]}`, "these are not messages (json)", "items"},
		{"explain_session", `{"session": "../shop/chat.json"}`, "path escapes from parent", "a file elsewhere"},
		{"explain_session", `{"session": "broken.jsonl"}`, "line 1", "half of a line"},
	} {
		text, failed := call(t, client, tt.tool, tt.arguments)
		require.True(t, failed, text)
		require.Contains(t, "\n"+text, tt.want, tt.why)
		require.NotContains(t, text, "--")
	}
}

// TestMCPNextPage: the pages of a call are those of one answer, and each has text of it.
func TestMCPNextPage(t *testing.T) {
	folder(t, map[string]string{"line.txt": "first " + strings.Repeat("word ", 300)})
	client := calls(t, mcpFlags{})
	text, _ := call(t, client, "outline_file", `{"path": "line.txt", "max_tokens": 100}`)
	require.Regexp(t, "(?s)first word.*; page 2 goes on", text, "a line that is longer than a page begins on it")
	require.NoError(t, os.Remove("line.txt"))
	text, failed := call(t, client, "outline_file", `{"path": "line.txt", "page": 2, "max_tokens": 100}`)
	require.False(t, failed, text)
	require.Regexp(t, `(?s)word .*\n\[page 2 of`, text)
	text, failed = call(t, client, "outline_file", `{"path": "line.txt", "max_tokens": 100}`)
	require.True(t, failed, text)
}

// TestMCPGone: a folder that is removed under a server is an error.
func TestMCPGone(t *testing.T) {
	folder(t, map[string]string{"gone/a.go": "package gone\n"})
	client := calls(t, mcpFlags{root: "gone"})
	require.NoError(t, os.RemoveAll("gone"))
	text, failed := call(t, client, "pick_files", `{"task": "oven"}`)
	require.True(t, failed, text)
	require.Contains(t, text, "no such file or directory")
}

// TestMCPPages: the pages of an answer are the answer, and no page has more tokens than
// asked for.
func TestMCPPages(t *testing.T) {
	for _, encoding := range []string{"heuristic", encodings[0]} {
		counter, err := counterNamed(encoding)
		require.NoError(t, err)
		inPages(t, &mcpTools{counter: counter})
	}
}

func inPages(t *testing.T, tools *mcpTools) {
	t.Helper()
	for name, text := range map[string]string{
		"lines":          strings.Repeat("one line of a text\n", 300),
		"one line":       strings.Repeat("x", 3_000),
		"wide":           strings.Repeat("東京", 500),
		"broken":         strings.Repeat("\xff\x80", 1_000),
		"lines of lines": strings.Repeat(strings.Repeat("y", 1_000)+"\n\n", 3),
	} {
		whole, pages := "", 0
		for page := 1; ; page++ {
			answer, err := tools.paged(text, mcpPage{MaxTokens: leastAnswer, Page: page})
			if err != nil {
				require.ErrorContains(t, err, "page must be from 1 to", name)
				break
			}
			require.LessOrEqual(t, tools.count(answer), leastAnswer, name)
			end := strings.LastIndex(answer, "\n[page ")
			require.Positive(t, end, name)
			require.True(t, name != "lines" || answer[end-1] == '\n', "it ends with a line")
			whole, pages = whole+answer[:end], pages+1
		}
		require.Equal(t, text, whole, name)
		require.Greater(t, pages, 3, name)
	}
}

// TestMCPBounds: no answer of a tool, and no error, has more tokens than asked for.
func TestMCPBounds(t *testing.T) {
	shop(t)
	require.NoError(t, os.WriteFile("shop/long.txt", []byte(strings.Repeat("oven 東京 {\"a\": [1, 2]} \U0001f35e\t\t\n\n", 1_000)), 0o600))
	client := calls(t, mcpFlags{root: "shop", sessions: "sessions", encoding: encodings[0]})
	counter, err := counterNamed(encodings[0])
	require.NoError(t, err)
	long := strings.Repeat("oven/", 800)
	for tool, arguments := range map[string][]string{
		"pick_files":      {`"task": "oven", "tokens": 20000`, `"task": "` + long + `"`, `"` + long + `": 1`},
		"outline_file":    {`"path": "long.txt", "tokens": 20000`, `"path": "` + long + `"`},
		"read_log":        {`"path": "long.txt", "question": "oven", "tokens": 20000`, `"path": "long.txt", "question": "` + long + `"`},
		"fit_messages":    {`"tokens": 20000, "messages": [{"role": "user", "content": "` + long + `"}]`, `"tokens": 1, "file": "chat.json"`, `"tokens": 5, "messages": "` + long + `"`},
		"explain_session": {`"session": "a/1.jsonl", "find": "` + long + `"`, `"session": "` + long + `"`, ``},
	} {
		for _, rest := range arguments {
			for most, bound := range map[string]int{`"max_tokens": 100`: 100, `"max_tokens": 517, "page": 2`: 517, `"page": 1`: answerTokens} {
				text, _ := call(t, client, tool, strings.Replace("{"+most+", "+rest+"}", ", }", "}", 1))
				tokens, err := counter.CountTokens(text)
				require.NoError(t, err)
				require.LessOrEqual(t, tokens, bound, "%s %.80s %s", tool, rest, most)
			}
		}
	}
}

// TestMCPAnswers: every line is answered, what is no message too, and so are the
// requests that are running when the input ends.
func TestMCPAnswers(t *testing.T) {
	folder(t, map[string]string{"chat.json": baked})
	const refused = `{"jsonrpc":"2.0","id":null,"error":{"code":`
	require.Equal(t, 67_108_864, new(Environment).mostInput(maxRequest))
	for _, tt := range []struct {
		line, want string // what the answer to the line begins with, or "" for none
		why        string
	}{
		{`{"jsonrpc": "2.0", "id": 5, "method": `, refused + "-32700", "half of a message"},
		{"\xff\xfe", refused + "-32700", "no text"},
		{"4", refused + "-32600", "no object"},
		{`{"jsonrpc":"1.0","id":5,"method":"ping"}`, refused + "-32600", "another protocol"},
		{`{"jsonrpc":"2.0","id":{},"method":"ping"}`, refused + "-32600", "no id"},
		{`{"jsonrpc":"2.0","id":null,"method":"ping"}`, refused + "-32600", "an empty id"},
		{`{"jsonrpc":"2.0","id":9,"method":"tools/call","params":["ping"]}`, `{"jsonrpc":"2.0","id":9,"error":{"code":-32602`, "the client waits for an answer with its id"},
		{`{"jsonrpc":"2.0","id":"7","method":"tools/call","params":{"name":5}}`, `{"jsonrpc":"2.0","id":"7","error":{"code":-32602`, "a number as a name"},
		{`{"jsonrpc":"2.0","method":"ping","params":[]}`, refused + "-32600", "no id to answer to"},
		{`{"jsonrpc":"1.0","id":7,"method":"ping","params":[]}`, refused + "-32600", "another protocol"},
		{`{"jsonrpc":"2.0","id":7,"params":[]}`, refused + "-32600", "no method"},
		{`{"jsonrpc":"2.0","id":7,"result":{}}`, "", "an answer"},
		{`{"jsonrpc":"2.0","id":[1],"method":"ping"}`, refused + "-32600", "a list as an id"},
		{`{"jsonrpc":"2.0","id":5,"method":"<` + strings.Repeat("x", 5000) + `"}`, `{"jsonrpc":"2.0","id":5,"error":{"code":-32601,"message":"no method is named \"<x`, "an unknown method"},
		{`{"jsonrpc":"2.0","id":-5,"method":"tools/call","params":{"name":"` + strings.Repeat("x", 5000) + `"}}`, `{"jsonrpc":"2.0","id":-5,"error":{"code":-32602,"message":"no tool is named`, "an unknown tool"},
		{"[]", refused + "-32600", "a list of nothing"},
		{`[{"jsonrpc":"2.0","id":5,"method":"ping"}]`, refused + "-32600", "a list, as older versions had it"},
		{`{"jsonrpc":"2.0","id":5,"method":"ping"}`, `{"jsonrpc":"2.0","id":5,"result":{}}`, "a request"},
		{`{"jsonrpc":"2.0","id":5,"method":"initialize","params":{"protocolVersion":"2025-03-26"}}`, `{"jsonrpc":"2.0","id":5,"result":{"capabilities":{"tools":{}},"instructions":"Reads repositories, logs and conversations in few tokens. To find code, call pick_files before searching.","protocolVersion":"2025-11-25"`, "a version with requests in batches"},
		{`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}`, "", "a request is cancelled"},
		{"", "", "an empty line"},
		{`{"pad":"` + strings.Repeat("x", 9_000) + `"}`, refused + `-32600,"message":"the message has more than 9000 bytes`, "more than fits"},
	} {
		input := `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}
{"jsonrpc":"2.0","method":"notifications/initialized"}
` + tt.line + "\n" + `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"fit_messages","arguments":{"file":"chat.json","tokens":500}}}`
		var out, stderr strings.Builder
		env := Environment{Stdin: strings.NewReader(input), Stdout: &out, Stderr: &stderr, maxInput: 9_000, Getenv: func(string) string { return "" }, Clock: time.Now}
		require.Equal(t, exitOK, Main(t.Context(), []string{"mcp", "--encoding", "heuristic"}, env), stderr.String())
		require.Empty(t, stderr.String())
		answers := "\n" + out.String()
		require.NotContains(t, answers, strings.Repeat("x", 1000), "an answer quotes no long request")
		if tt.want == "" {
			require.Equal(t, 3, strings.Count(answers, "\n"), tt.why)
		}
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
	for _, row := range []struct{ request, want string }{
		{`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}`, ""},
		{`{"jsonrpc":"2.0","id":2,"method":"tools/list"}`, ""},
		{`{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"fit_messages"}}`, "give either messages"},
	} {
		_, err := io.WriteString(ask, row.request+"\n")
		require.NoError(t, err)
		line, err := lines.ReadString('\n')
		require.NoError(t, err)
		require.Regexp(t, `^{"jsonrpc":"2\.0","id":`, line)
		require.Contains(t, line, row.want)
	}
	require.NoError(t, ask.Close())
	require.Equal(t, exitOK, <-ended)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	env.Stdin, env.Stdout = strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"read_log","arguments":{"path":"mcp.go","question":"x"}}}`), t.Output()
	require.Equal(t, exitInterrupted, Main(ctx, []string{"mcp"}, env))
}
