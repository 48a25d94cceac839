package corpus

import (
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"slices"
	"strings"

	"github.com/wollax/cupel-go/cupel/observe"
	"github.com/wollax/cupel-go/cupelrecord"
)

// segmentMagic begins each segment of package cupelrecord.
const segmentMagic = "\xff\x06\x00\x00S2sTwO"

// runs yields the candidates of each run of a segment as a conversation. The number of an
// error is that of the run.
func runs(segment io.Reader, yield func(Line, error) bool) {
	n := 0
	for run, err := range new(cupelrecord.Reader).Read(segment) {
		n++
		var line Line
		if err == nil {
			line, err = conversation(run)
		}
		if err != nil {
			line.Number = n
		}
		if !yield(line, err) {
			return
		}
	}
}

// conversation returns the candidates of a run as messages of OpenAI's Chat Completions,
// from the metadata of package cupelchat. Other candidates are left out.
func conversation(run *cupelrecord.Run) (Line, error) {
	const parts = observe.PartContent | observe.PartMetadata
	for _, key := range []string{"role", "tool", "tool_call_id"} {
		if run.Trace == "" || run.Shows&parts != parts || !slices.Contains(run.Metadata, key) {
			return Line{}, errors.New("the record lacks a trace, contents, or the metadata role, tool, tool_call_id")
		}
	}
	messages := []message{}
	for _, item := range run.Items {
		m := message{Content: item.Content()}
		m.Role, _ = item.MetadataText("role")
		m.Answers, _ = item.MetadataText("tool_call_id")
		if m.Content == "(empty)" {
			m.Content = ""
		}
		switch tools, _ := item.MetadataText("tool"); m.Role {
		case "", "tools", "reasoning":
			continue
		case "tool":
		default:
			m.call(strings.Split(tools, ", "))
		}
		messages = append(messages, m)
	}
	text, err := json.Marshal(map[string]any{"id": run.Trace, "messages": messages})
	rank := fmt.Sprintf("%012d %08x", len(text), crc32.ChecksumIEEE(text))
	return Line{Text: text, Conversation: run.Trace, Rank: rank}, err
}

// message is a message of OpenAI's Chat Completions.
type message struct {
	Role    string `json:"role"`
	Content string `json:"content"`
	Answers string `json:"tool_call_id,omitempty"`
	Calls   []call `json:"tool_calls,omitempty"`
}

type call struct {
	ID       string `json:"id"`
	Type     string `json:"type"`
	Function struct {
		Name      string `json:"name"`
		Arguments string `json:"arguments"`
	} `json:"function"`
}

// call moves the calls of tools from the end of the content, which has one on a line.
func (m *message) call(tools []string) {
	ids := strings.Split(m.Answers, ", ")
	m.Answers = ""
	for m.Content != "" {
		at := strings.LastIndexByte(m.Content, '\n')
		name, arguments, found := strings.Cut(m.Content[at+1:], "(")
		if !found || !slices.Contains(tools, name) {
			return
		}
		c := call{Type: "function"}
		c.Function.Name, c.Function.Arguments = name, strings.TrimSuffix(arguments, ")")
		if last := len(ids) - 1; last >= 0 {
			c.ID, ids = ids[last], ids[:last]
		}
		m.Calls = slices.Insert(m.Calls, 0, c)
		m.Content = m.Content[:max(at, 0)]
	}
}
