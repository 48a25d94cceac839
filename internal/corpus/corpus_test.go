package corpus_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/require"

	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupel/observe"
	"github.com/wollax/cupel-go/cupelrecord"
	"github.com/wollax/cupel-go/internal/corpus"
)

var errRead = errors.New("not connected")

// TestLines: text and the same compressed have the same lines. Row by row, the lines with
// their numbers, and the error with its own.
func TestLines(t *testing.T) {
	long := strings.Repeat("long ", 1<<15)
	for _, row := range []struct {
		why, text string
		want      []corpus.Line
		failed    int
	}{
		{"nothing", "", nil, 0},
		{"shorter than a magic number, with no newline", "a", []corpus.Line{{Text: []byte("a"), Number: 1}}, 0},
		{"blank lines count", "\n a\r\n \n\tb\n", []corpus.Line{{Text: []byte("a"), Number: 2}, {Text: []byte("b"), Number: 4}}, 0},
		{"each of the joined files begins with a mark", "\ufeffa\n\ufeff b", []corpus.Line{{Text: []byte("a"), Number: 1}, {Text: []byte("b"), Number: 2}}, 0},
		{"a line is longer than the buffer", long + "\nb", []corpus.Line{{Text: []byte(strings.TrimSpace(long)), Number: 1}, {Text: []byte("b"), Number: 2}}, 0},
		{"an error cuts a line", "a\nb", []corpus.Line{{Text: []byte("a"), Number: 1}}, 2},
		{"a segment that is none", "\xff\x06\x00\x00S2sTwO\x00", nil, 1},
	} {
		var compressed bytes.Buffer
		zipping := gzip.NewWriter(&compressed)
		_, err := io.WriteString(zipping, row.text)
		require.NoError(t, err)
		require.NoError(t, zipping.Flush())
		if row.failed == 0 {
			require.NoError(t, zipping.Close())
		}
		for _, text := range []string{row.text, compressed.String()} {
			in := corpus.Source{Reader: strings.NewReader(text)}
			if row.failed > 0 {
				in.Reader = io.MultiReader(in.Reader, iotest.ErrReader(errRead))
			}
			var lines []corpus.Line
			failed := 0
			for line, err := range corpus.Lines(corpus.Uncompressed(&in)) {
				require.Zero(t, failed, "an error is the last")
				if err != nil {
					failed = line.Number
					continue
				}
				lines = append(lines, line)
			}
			require.Equal(t, row.want, lines, row.why)
			require.Equal(t, row.failed, failed, row.why)
			if row.failed > 1 { // a segment ends where it is damaged
				require.Equal(t, errRead, in.Err, row.why)
			}
			for _, err := range corpus.Lines(corpus.Uncompressed(strings.NewReader(text))) {
				require.True(t, err == nil || row.want == nil, row.why)
				break
			}
		}
	}
	in := corpus.Source{Reader: strings.NewReader("\x1f\x8b\x08")}
	_, err := io.ReadAll(corpus.Uncompressed(&in))
	require.EqualError(t, err, "the gzip data cannot be read: unexpected EOF")
	require.NoError(t, in.Err, "the reader ended as it should")
}

// TestRuns: a recorded run is a conversation of the messages that its candidates were, and
// a record that lacks what that takes is an error with its number.
func TestRuns(t *testing.T) {
	said := func(content string, about map[string]any) *cupel.ContextItem {
		item, err := cupel.NewContextItem(content, 1, cupel.WithMetadata(about))
		require.NoError(t, err)
		return item
	}
	items := []*cupel.ContextItem{
		said("a note of no message", nil),
		said("find, read", map[string]any{"role": "tools"}),
		said("Let me think.", map[string]any{"role": "reasoning"}),
		said("(empty)", map[string]any{"role": "user"}),
		said("I look.\nelse(1)\nfind({\"a\": (1)})\nread(2)", map[string]any{"role": "assistant", "tool": "find, read", "tool_call_id": "1, 2"}),
		said("read(3)\nread(4)", map[string]any{"role": "assistant", "tool": "read", "tool_call_id": "4"}),
		said("read(5)", map[string]any{"role": "tool", "tool": "read", "tool_call_id": "2"}),
	}
	const want = `{"id": "a", "messages": [
		{"role": "user", "content": ""},
		{"role": "assistant", "content": "I look.\nelse(1)", "tool_calls": [
			{"id": "1", "type": "function", "function": {"name": "find", "arguments": "{\"a\": (1)}"}},
			{"id": "2", "type": "function", "function": {"name": "read", "arguments": "2"}}]},
		{"role": "assistant", "content": "", "tool_calls": [
			{"id": "", "type": "function", "function": {"name": "read", "arguments": "3"}},
			{"id": "4", "type": "function", "function": {"name": "read", "arguments": "4"}}]},
		{"role": "tool", "content": "read(5)", "tool_call_id": "2"}]}`
	segment := func(id string, show observe.Part, metadata ...string) string {
		folder := t.TempDir()
		recorder, err := cupelrecord.New(cupelrecord.Config{
			Sink: cupelrecord.Folder(folder), Trace: func(context.Context) string { return id },
			Redaction: observe.Redaction{Show: show, Metadata: metadata},
		})
		require.NoError(t, err)
		budget, err := cupel.NewContextBudget(100, 50)
		require.NoError(t, err)
		for _, offered := range [][]*cupel.ContextItem{items[:4], items} {
			_, trace := recorder.StartRun(t.Context(), observe.RunInfo{Items: offered, Budget: budget})
			trace.EndRun(t.Context(), observe.RunEnd{Decisions: make([]observe.Decision, len(offered))})
		}
		require.NoError(t, recorder.Close(t.Context()))
		names, err := filepath.Glob(folder + "/*")
		require.NoError(t, err)
		text, err := os.ReadFile(names[0])
		require.NoError(t, err)
		return string(text)
	}
	const both = observe.PartContent | observe.PartMetadata
	var runs []corpus.Line
	for line, err := range corpus.Lines(strings.NewReader(segment("a", both, "role", "tool", "tool_call_id"))) {
		require.NoError(t, err)
		runs = append(runs, line)
	}
	require.Len(t, runs, 2)
	require.JSONEq(t, want, string(runs[1].Text))
	require.Equal(t, "a", runs[1].Conversation)
	require.Zero(t, runs[1].Number)
	require.Greater(t, runs[1].Rank, runs[0].Rank, "the longer one")
	for why, text := range map[string]string{
		"no trace":    segment("", both, "role", "tool", "tool_call_id"),
		"no contents": segment("a", observe.PartMetadata, "role", "tool", "tool_call_id"),
		"no metadata": segment("a", observe.PartContent),
		"no call ids": segment("a", both, "role", "tool"),
	} {
		numbers := []int{}
		for line, err := range corpus.Lines(strings.NewReader(text)) {
			require.EqualError(t, err, "the record lacks a trace, contents, or the metadata role, tool, tool_call_id", why)
			numbers = append(numbers, line.Number)
		}
		require.Equal(t, []int{1, 2}, numbers, why)
	}
}
