package e2e

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/wollax/cupel-go/cupelchat"
)

// model plays the providers: it calls a tool in each answer but the last.
type model struct {
	mu      sync.Mutex
	answers map[string]int // of an agent, which its format and streaming name
	bodies  []string
	wrong   []string
}

// lastTurn is the one whose answer calls no tool.
const lastTurn = 10

// formats are those of the paths.
var formats = map[string]cupelchat.Format{
	"/v1/messages": cupelchat.Anthropic, "/v1/chat/completions": cupelchat.OpenAI, "/v1/responses": cupelchat.Responses,
}

func (m *model) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	var request struct{ Stream bool }
	if err == nil {
		err = json.Unmarshal(body, &request)
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	f, known := formats[r.URL.Path]
	if err != nil || !known {
		m.wrong = append(m.wrong, fmt.Sprint(r.URL.Path, ": ", err))
	}
	for _, v := range cupelchat.Check(body, f) {
		m.wrong = append(m.wrong, fmt.Sprintf("%v: %v in %s", f, v, body))
	}
	m.bodies = append(m.bodies, string(body))
	agent := fmt.Sprint(f, request.Stream)
	m.answers[agent]++
	turn := m.answers[agent]
	id := fmt.Sprint("call_", turn)
	answers := map[cupelchat.Format]func(http.ResponseWriter, string, int, bool, bool){
		cupelchat.Anthropic: answerMessages, cupelchat.OpenAI: answerChat, cupelchat.Responses: answerResponses,
	}
	w.Header().Set("Content-Type", "application/json")
	if request.Stream {
		w.Header().Set("Content-Type", "text/event-stream")
	}
	answers[f](w, id, len(body)/4, turn == lastTurn, request.Stream)
}

func answerMessages(w http.ResponseWriter, id string, tokens int, last, stream bool) {
	block, delta, stop := fmt.Sprintf(`{"type":"tool_use","id":%q,"name":"log","input":{}}`, id), `{"type":"input_json_delta","partial_json":"{}"}`, "tool_use"
	if last {
		block, delta, stop = `{"type":"text","text":"It is E7."}`, `{"type":"text_delta","text":"It is E7."}`, "end_turn"
	}
	head := fmt.Sprintf(`"id":"m","type":"message","role":"assistant","model":"m","stop_sequence":null,"usage":{"input_tokens":%d,"output_tokens":1}`, tokens)
	if !stream {
		_, _ = fmt.Fprintf(w, `{%s,"content":[%s],"stop_reason":%q}`, head, block, stop)
		return
	}
	for _, event := range []string{
		fmt.Sprintf(`{"type":"message_start","message":{%s,"content":[],"stop_reason":null}}`, head),
		fmt.Sprintf(`{"type":"content_block_start","index":0,"content_block":%s}`, strings.Replace(block, "It is E7.", "", 1)),
		fmt.Sprintf(`{"type":"content_block_delta","index":0,"delta":%s}`, delta),
		`{"type":"content_block_stop","index":0}`,
		fmt.Sprintf(`{"type":"message_delta","delta":{"stop_reason":%q,"stop_sequence":null},"usage":{"output_tokens":1}}`, stop),
		`{"type":"message_stop"}`,
	} {
		var kind struct{ Type string }
		_ = json.Unmarshal([]byte(event), &kind)
		_, _ = fmt.Fprintf(w, "event: %s\ndata: %s\n\n", kind.Type, event)
	}
}

func answerChat(w http.ResponseWriter, id string, tokens int, last, stream bool) {
	said, finish := fmt.Sprintf(`"content":null,"tool_calls":[{"index":0,"id":%q,"type":"function","function":{"name":"log","arguments":"{}"}}]`, id), "tool_calls"
	if last {
		said, finish = `"content":"It is E7."`, "stop"
	}
	usage := fmt.Sprintf(`"usage":{"prompt_tokens":%d,"completion_tokens":1,"total_tokens":%d}`, tokens, tokens+1)
	if !stream {
		_, _ = fmt.Fprintf(w, `{"id":"c","object":"chat.completion","created":1,"model":"m","choices":[{"index":0,"finish_reason":%q,"message":{"role":"assistant",%s}}],%s}`, finish, said, usage)
		return
	}
	head := `"id":"c","object":"chat.completion.chunk","created":1,"model":"m"`
	_, _ = fmt.Fprintf(w, "data: {%s,\"choices\":[{\"index\":0,\"delta\":{\"role\":\"assistant\",%s},\"finish_reason\":%q}]}\n\ndata: {%s,\"choices\":[],%s}\n\ndata: [DONE]\n\n", head, said, finish, head, usage)
}

func answerResponses(w http.ResponseWriter, id string, tokens int, last, stream bool) {
	item := fmt.Sprintf(`{"type":"function_call","id":"fc_%s","call_id":%q,"name":"log","arguments":"{}","status":"completed"}`, id, id)
	if last {
		item = `{"type":"message","id":"msg_1","role":"assistant","status":"completed","content":[{"type":"output_text","text":"It is E7.","annotations":[]}]}`
	}
	response := func(status, output string) string {
		return fmt.Sprintf(`{"id":"r","object":"response","created_at":1,"model":"m","status":%q,"output":[%s],"parallel_tool_calls":true,"tool_choice":"auto","tools":[],"usage":{"input_tokens":%d,"input_tokens_details":{"cached_tokens":0},"output_tokens":1,"output_tokens_details":{"reasoning_tokens":0},"total_tokens":%d}}`, status, output, tokens, tokens+1)
	}
	if !stream {
		_, _ = io.WriteString(w, response("completed", item))
		return
	}
	for n, event := range []string{
		`"response.created","response":` + response("in_progress", ""),
		`"response.output_item.added","output_index":0,"item":` + item,
		`"response.output_item.done","output_index":0,"item":` + item,
		`"response.completed","response":` + response("completed", item),
	} {
		_, _ = fmt.Fprintf(w, "event: %s\ndata: {\"sequence_number\":%d,\"type\":%s}\n\n", strings.Split(event, `"`)[1], n, event)
	}
}

// TestPythonThroughProxy runs agents with the packages of OpenAI and Anthropic for Python
// to the end of their task, through cupel proxy at a fraction of their conversations. It
// runs where CUPEL_E2E_PYTHON names a Python with the packages of scripts/chat-types.txt,
// as make chat-types does.
func TestPythonThroughProxy(t *testing.T) {
	python := os.Getenv("CUPEL_E2E_PYTHON")
	if python == "" {
		t.Skip("NOT TESTED: make chat-types runs agents in Python through cupel proxy")
	}
	binary := filepath.Join(t.TempDir(), "cupel")
	if out, err := exec.CommandContext(t.Context(), "go", "build", "-o", binary, "github.com/wollax/cupel-go/cmd/cupel").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	m := &model{answers: make(map[string]int)}
	server := httptest.NewServer(m)
	defer server.Close()
	const budget = 1500
	proxy := exec.CommandContext(t.Context(), binary, "proxy", "--listen", "127.0.0.1:0", "--upstream", server.URL, "--encoding", "heuristic", "-b", fmt.Sprint(budget))
	stderr, err := proxy.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := proxy.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = proxy.Wait() }) // it is killed
	lines, address := bufio.NewScanner(stderr), ""
	for address == "" && lines.Scan() {
		_, address, _ = strings.Cut(lines.Text(), "listening on ")
	}
	go func() { _, _ = io.Copy(io.Discard, stderr) }()
	out, err := exec.CommandContext(t.Context(), python, "../scripts/proxy.py", "http://"+address).CombinedOutput() //nolint:gosec // the caller's
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	var want strings.Builder
	for _, agent := range []string{"messages", "chat", "responses"} {
		for _, how := range []string{"whole", "streamed"} {
			fmt.Fprintf(&want, "%s %s %d It is E7.\n", agent, how, lastTurn)
		}
	}
	if string(out) != want.String() {
		t.Errorf("the agents say\n%swant\n%s", out, &want)
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if len(m.wrong) > 0 {
		t.Errorf("%d requests that an API refuses, such as %s", len(m.wrong), m.wrong[0])
	}
	for _, body := range m.bodies {
		if tokens := len(body) / 4; tokens > 2*budget { // JSON is no text: its keys and quotes are counted here too
			t.Errorf("a request has %d tokens: %.300s", tokens, body)
		}
	}
}
