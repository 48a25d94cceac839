package transcript

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/internal/rawjson"
)

// bytesCounter counts a token for each byte, so that expected numbers can be
// worked out by looking at the text.
type bytesCounter struct{}

func (bytesCounter) CountTokens(text string) (int, error) { return len(text), nil }

// fixtures are the transcripts of testdata.
var fixtures = map[string]API{
	"openai-chat.json":           Chat,
	"openai-legacy.json":         Chat,
	"openai-messages.jsonl":      Chat,
	"openai-responses.json":      Responses,
	"openai-responses-text.json": Responses,
	"anthropic.json":             Messages,
	"anthropic-messages.json":    Messages,
}

func fixture(t testing.TB, name string) []byte {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// source is the text of a transcript; one that is no JSON value has a message on
// each line.
func source(t testing.TB, api API, data []byte) Source {
	t.Helper()
	text, err := rawjson.NewText(data)
	if err != nil {
		t.Fatal(err)
	}
	s := Source{API: api}
	if s.Value, err = text.Value(); err != nil || bytes.HasPrefix(bytes.TrimSpace(data), []byte(`{"role"`)) {
		s.Value = rawjson.Value{}
		if s.Lines, err = text.Lines(); err != nil {
			t.Fatal(err)
		}
	}
	return s
}

func read(t testing.TB, api API, data []byte, options Options) *Transcript {
	t.Helper()
	options.Counter = bytesCounter{}
	transcript, err := Read(source(t, api, data), options)
	if err != nil {
		t.Fatal(err)
	}
	return transcript
}

func write(t testing.TB, transcript *Transcript, window []*cupel.ContextItem, room int) (string, []string) {
	t.Helper()
	var out bytes.Buffer
	notes, err := transcript.Write(&out, Selection{Window: window, Room: room, Deduplicated: true})
	if err != nil {
		t.Fatal(err)
	}
	return out.String(), notes
}

// object is a message as encoding/json has it.
type object = map[string]any

// messagesOf returns the messages of a transcript.
func messagesOf(t testing.TB, api API, text string) []object {
	t.Helper()
	var value any
	if err := json.Unmarshal([]byte(text), &value); err != nil {
		value = nil
		list := []any{}
		for line := range strings.Lines(text) {
			if strings.TrimSpace(line) == "" {
				continue
			}
			var message any
			if err := json.Unmarshal([]byte(line), &message); err != nil {
				t.Fatalf("neither JSON nor JSON Lines: %s", text)
			}
			list = append(list, message)
		}
		value = list
	}
	if request, ok := value.(object); ok {
		if value = request[api.list()]; value == nil {
			value = []any{request}
		}
	}
	if text, ok := value.(string); ok {
		return []object{{"role": "user", "content": text}}
	}
	var messages []object
	for _, message := range value.([]any) {
		messages = append(messages, message.(object))
	}
	return messages
}

// refused says why an API would refuse messages, by rules that are written down
// here a second time. Those of the list in forgiven are the fixture's own.
func refused(api API, messages []object) []string {
	switch api {
	case Chat:
		return refusedByChat(messages)
	case Responses:
		return refusedByResponses(messages)
	default:
		return refusedByAnthropic(messages)
	}
}

func refusedByChat(messages []object) (reasons []string) {
	var open []string // ids of calls that wait
	for i, m := range messages {
		if m["role"] == "tool" || m["role"] == "function" {
			id := fmt.Sprint(m["tool_call_id"], m["name"])
			at := slices.Index(open, id)
			if at < 0 {
				reasons = append(reasons, fmt.Sprintf("message %d returns what has no call", i))
				continue
			}
			open = slices.Delete(open, at, at+1)
			continue
		}
		if len(open) > 0 {
			reasons = append(reasons, fmt.Sprintf("message %d comes before the results of %v", i, open))
		}
		open = nil
		calls, _ := m["tool_calls"].([]any)
		for _, c := range calls {
			open = append(open, fmt.Sprint(c.(object)["id"], nil))
		}
		if f, ok := m["function_call"].(object); ok {
			open = append(open, fmt.Sprint(nil, f["name"]))
		}
	}
	if len(open) > 0 {
		reasons = append(reasons, fmt.Sprintf("no results of %v", open))
	}
	return reasons
}

func refusedByResponses(messages []object) (reasons []string) {
	calls := map[any]bool{} // whether there was a result
	for i, m := range messages {
		kind, _ := m["type"].(string)
		if kind == "reasoning" {
			if i+1 == len(messages) || messages[i+1]["role"] == "user" || strings.HasSuffix(fmt.Sprint(messages[i+1]["type"]), "_output") {
				reasons = append(reasons, fmt.Sprintf("reasoning %d without what follows from it", i))
			}
		}
		id, paired := m["call_id"]
		switch {
		case !paired:
		case strings.HasSuffix(kind, "_output"):
			if _, ok := calls[id]; !ok {
				reasons = append(reasons, fmt.Sprintf("item %d returns what has no call", i))
			}
			calls[id] = true
		default:
			calls[id] = false
		}
	}
	for id, answered := range calls {
		if !answered {
			reasons = append(reasons, fmt.Sprintf("no result of %v", id))
		}
	}
	return reasons
}

func refusedByAnthropic(messages []object) (reasons []string) {
	blocks := func(m object, kind, id string) (ids []any) {
		list, _ := m["content"].([]any)
		for _, block := range list {
			if b := block.(object); b["type"] == kind {
				ids = append(ids, b[id])
			}
		}
		return ids
	}
	var calls []any
	for i, m := range messages {
		want := []string{"user", "assistant"}[i%2]
		if m["role"] != want {
			reasons = append(reasons, fmt.Sprintf("message %d has the role %v, want %s", i, m["role"], want))
		}
		if list, ok := m["content"].([]any); ok && len(list) == 0 || m["content"] == "" {
			reasons = append(reasons, fmt.Sprintf("message %d is empty", i))
		}
		results := blocks(m, "tool_result", "tool_use_id")
		if !slices.Equal(results, calls) {
			reasons = append(reasons, fmt.Sprintf("message %d has the results %v, want %v", i, results, calls))
		}
		calls = blocks(m, "tool_use", "id")
	}
	if len(calls) > 0 {
		reasons = append(reasons, fmt.Sprintf("no results of %v", calls))
	}
	return reasons
}
